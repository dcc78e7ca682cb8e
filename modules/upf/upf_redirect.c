/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_redirect.h"

#include <stdio.h>
#include <string.h>

#include "codec/be.h"
#include "codec/flow.h"
#include "modules/dpi/dpi_parse.h"
#include "modules/upf/upf_packet.h"

#define TCP_HDR_BYTES 20
#define TTL 64
#define WINDOW 0xffff
#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_TIMESTAMPS 8
#define TIMESTAMPS_BYTES 10

enum { FIN = 0x01, SYN = 0x02, RST = 0x04, PSH = 0x08, ACK = 0x10 };

/** Where TCP is in a packet, and how long it is there; the header, options included, is whole. */
struct segment {
	const uint8_t *tcp;
	uint32_t hdr;     /**< octets of the header */
	uint32_t payload; /**< octets of the segment */
	uint32_t there;   /**< of these */
};

/** @return whether it is TCP, and not a fragment that is not the first. */
static bool
segment_find(const uint8_t *ip, uint32_t len, struct flow *f, struct segment *s)
{
	int at = flow_decode(ip, len, f);
	uint32_t bytes;

	if (at < 0 || f->proto != IP_PROTO_TCP || f->later || len - (uint32_t)at < TCP_HDR_BYTES)
		return false;
	bytes = f->version == 4 ? be16_get(ip + 2) : IP6_HDR_BYTES + (uint32_t)be16_get(ip + 4);
	s->tcp = ip + at;
	s->hdr = (s->tcp[12] >> 4) * 4U;
	if (s->hdr < TCP_HDR_BYTES || bytes < (uint32_t)at + s->hdr || len < (uint32_t)at + s->hdr)
		return false;
	s->payload = bytes - (uint32_t)at - s->hdr;
	s->there = len - (uint32_t)at - s->hdr;
	if (s->there > s->payload)
		s->there = s->payload;
	return true;
}

bool
upf_redirect_passes(const uint8_t *ip, uint32_t len)
{
	struct segment s;
	struct flow f;

	return segment_find(ip, len, &f, &s) && s.payload == 0;
}

/** RFC 9293 §3.1, RFC 7323 §3.2. */
static void
timestamps_read(const struct segment *s, struct upf_request *r)
{
	uint32_t at = TCP_HDR_BYTES;

	while (at < s->hdr && s->tcp[at] != OPTION_END) {
		if (s->tcp[at] == OPTION_NOP) {
			at++;
			continue;
		}
		if (s->hdr - at < 2 || s->tcp[at + 1] < 2 || s->tcp[at + 1] > s->hdr - at)
			return;
		if (s->tcp[at] == OPTION_TIMESTAMPS && s->tcp[at + 1] == TIMESTAMPS_BYTES) {
			r->timestamps = true;
			r->ts_value = be32_get(s->tcp + at + 2);
			r->ts_echo = be32_get(s->tcp + at + 6);
		}
		at += s->tcp[at + 1];
	}
}

bool
upf_request_read(const uint8_t *ip, uint32_t len, struct upf_request *r)
{
	uint8_t host[DPI_HOST_MAX], flags;
	struct dpi_name name;
	struct segment s;
	struct flow f;

	*r = (struct upf_request){0};
	if (!segment_find(ip, len, &f, &s))
		return false;
	flags = s.tcp[13];
	/* Data that comes with a SYN comes again (RFC 7413 §4.2.2). */
	if (s.payload == 0 || flags & (SYN | RST) || !(flags & ACK))
		return false;
	r->v6 = f.version == 6;
	memcpy(r->src, f.src, sizeof(r->src));
	memcpy(r->dst, f.dst, sizeof(r->dst));
	r->src_port = f.ports[0];
	r->dst_port = f.ports[1];
	r->seq = be32_get(s.tcp + 4);
	r->ack = be32_get(s.tcp + 8);
	r->next = r->seq + s.payload + (flags & FIN);
	timestamps_read(&s, r);
	r->http = dpi_http(s.tcp + s.hdr, s.there, host, &name) != DPI_NONE;
	return r->http;
}

bool
upf_redirect_url_ok(const char *url)
{
	size_t n = strlen(url);

	if (n == 0 || n > UPF_REDIRECT_URL_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (url[i] <= ' ' || url[i] > '~')
			return false;
	}
	return true;
}

unsigned
upf_redirect_text(const char *url, char out[UPF_REDIRECT_TEXT_MAX])
{
	return (unsigned)snprintf(out, UPF_REDIRECT_TEXT_MAX,
				  "HTTP/1.1 302 Found\r\n"
				  "Location: %s\r\n"
				  "Content-Length: 0\r\n"
				  "Cache-Control: no-store\r\n"
				  "Connection: close\r\n"
				  "\r\n",
				  url);
}

/** Puts checksum and IP header around `bytes` octets of TCP. @return octets of the packet. */
static unsigned
packet_end(uint8_t *out, bool v6, const uint8_t *src, const uint8_t *dst, unsigned bytes)
{
	struct ip_hdr h = {.version = v6 ? 6 : 4, .proto = IP_PROTO_TCP};
	uint8_t *tcp = out + (v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES);
	uint16_t sum;

	memcpy(h.src, src, sizeof(h.src));
	memcpy(h.dst, dst, sizeof(h.dst));
	sum = (uint16_t)~ip_sum_fold(ip_sum(ip_pseudo_sum(&h, bytes), tcp, bytes));
	memcpy(tcp + 16, &sum, sizeof(sum));
	return upf_packet_ip(out, v6, src, dst, IP_PROTO_TCP, TTL, bytes) + bytes;
}

/** A header without options and checksum. */
static void
tcp_put(uint8_t *tcp, uint16_t from, uint16_t to, uint32_t seq, uint32_t ack, uint8_t flags)
{
	memset(tcp, 0, TCP_HDR_BYTES);
	be16_put(tcp, from);
	be16_put(tcp + 2, to);
	be32_put(tcp + 4, seq);
	be32_put(tcp + 8, ack);
	tcp[12] = TCP_HDR_BYTES / 4 << 4;
	tcp[13] = flags;
}

unsigned
upf_redirect_answer(const struct upf_request *r, const char *text, unsigned len,
		    uint8_t out[UPF_REDIRECT_ANSWER_MAX])
{
	uint8_t *tcp = out + (r->v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES);
	unsigned hdr = TCP_HDR_BYTES;

	tcp_put(tcp, r->dst_port, r->src_port, r->ack, r->next, FIN | PSH | ACK);
	be16_put(tcp + 14, WINDOW);
	/* Where both agreed on timestamps a segment without them may be dropped, RFC 7323 §3.2. */
	if (r->timestamps) {
		tcp[hdr] = OPTION_NOP;
		tcp[hdr + 1] = OPTION_NOP;
		tcp[hdr + 2] = OPTION_TIMESTAMPS;
		tcp[hdr + 3] = TIMESTAMPS_BYTES;
		be32_put(tcp + hdr + 4, r->ts_echo);
		be32_put(tcp + hdr + 8, r->ts_value);
		hdr += 12;
		tcp[12] = (uint8_t)(hdr / 4 << 4);
	}
	memcpy(tcp + hdr, text, len);
	return packet_end(out, r->v6, r->dst, r->src, hdr + len);
}

unsigned
upf_redirect_reset(const struct upf_request *r, uint8_t out[UPF_REDIRECT_RESET_MAX])
{
	tcp_put(out + (r->v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES), r->src_port, r->dst_port, r->seq,
		r->ack, RST | ACK);
	return packet_end(out, r->v6, r->src, r->dst, TCP_HDR_BYTES);
}
