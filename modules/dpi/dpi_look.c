/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/dpi/dpi_look.h"

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "modules/dpi/dpi_parse.h"
#include "modules/dpi/dpi_quic.h"

#define PORT_DNS 53
#define TLS_HANDSHAKE 22

/* What dpi_look_first() remembers, from bit 0: the low half of `base`, whether that is known, how
 * many packets there were. Segments are nearer to the first octet than half a half's range, or far
 * from all that is looked at. */
#define FIRST_BASED (1U << 16)
#define FIRST_PACKETS_SHIFT 17
static_assert(DPI_SCAN_PACKETS <= 1 << (DPI_FIRST_BITS - FIRST_PACKETS_SHIFT), "they fit");

/* What all requests in several segments need comes first. */
struct dpi_scan {
	uint8_t ip_proto;
	uint8_t packets;
	bool based; /* `base` is known */
	uint16_t port;
	uint32_t base; /* TCP: sequence number of the stream's first octet */
	struct dpi_stream stream;
	uint8_t host[DPI_HOST_MAX];
	struct dpi_quic quic;
};
static_assert(sizeof(struct dpi_scan) <= 4608, "a scan is one object of its pool");

size_t
dpi_scan_bytes(void)
{
	return sizeof(struct dpi_scan);
}

/** How far into the stream a sequence number is. */
static inline int32_t
first_offset(uint32_t first, uint32_t seq)
{
	return (int16_t)(uint16_t)(seq - first);
}

void
dpi_scan_begin(struct dpi_scan *scan, uint8_t ip_proto, uint16_t port_of_server, uint32_t first,
	       uint32_t seq)
{
	scan->ip_proto = ip_proto;
	scan->packets = (uint8_t)(first >> FIRST_PACKETS_SHIFT);
	scan->based = first & FIRST_BASED;
	scan->port = port_of_server;
	scan->base = seq - (uint32_t)first_offset(first, seq);
	dpi_stream_begin(&scan->stream);
	if (ip_proto == IPPROTO_UDP) {
		scan->quic.keyed = false;
		scan->quic.cid_len = 0;
	}
}

/** What a TCP stream that begins with these octets tells. */
static enum dpi_verdict
tcp_parse(uint16_t port, const uint8_t *data, uint32_t len, uint8_t *host, struct dpi_name *out)
{
	if (port == PORT_DNS)
		return dpi_dns_tcp(data, len, host, out);
	if (data[0] == TLS_HANDSHAKE)
		return dpi_tls(data, len, host, out);
	return dpi_http(data, len, host, out);
}

/** Tells a stream that cannot grow from one that goes on. */
static enum dpi_verdict
bounded(const struct dpi_scan *s, enum dpi_verdict v)
{
	return v == DPI_MORE && s->stream.have == DPI_SCAN_OCTETS ? DPI_NONE : v;
}

static enum dpi_verdict
tcp_look(struct dpi_scan *s, const struct dpi_segment *g, struct dpi_name *out)
{
	const uint8_t *data = g->data;
	uint32_t len = g->len, had = s->stream.have;
	enum dpi_verdict v;
	int32_t at;

	/* SYN has a sequence number of its own, RFC 9293 §3.4; data may come with it, RFC 7413. */
	if (g->syn || (!s->based && len > 0)) {
		s->base = g->seq + g->syn;
		s->based = true;
	}
	if (len == 0)
		return DPI_MORE;
	at = (int32_t)(g->seq + g->syn - s->base);
	if (at < 0) { /* in front of the stream, as keep-alives are */
		if (len <= (uint32_t)-at)
			return DPI_MORE;
		data += -at;
		len -= (uint32_t)-at;
		at = 0;
	}
	if (at == 0 && had == 0) {
		v = tcp_parse(s->port, data, len, s->host, out);
		if (v != DPI_MORE)
			return v;
		had = len; /* read so far */
	}
	if (dpi_stream_put(&s->stream, (uint32_t)at, data, len) != 0) {
		*out = (struct dpi_name){.proto = DPI_PROTO_NONE};
		return DPI_BAD;
	}
	if (s->stream.have <= had)
		return bounded(s, DPI_MORE);
	return bounded(s, tcp_parse(s->port, s->stream.data, s->stream.have, s->host, out));
}

static enum dpi_verdict
udp_look(struct dpi_scan *s, const struct dpi_segment *g, struct dpi_name *out)
{
	enum dpi_verdict v;

	if (g->len == 0)
		return DPI_MORE;
	if (s->port == PORT_DNS)
		return dpi_dns(g->data, g->len, s->host, out);
	*out = (struct dpi_name){.proto = DPI_QUIC};
	v = dpi_quic_datagram(&s->quic, &s->stream, g->data, g->len);
	if (v != DPI_FOUND)
		return v;
	return bounded(s, dpi_tls_hello(s->stream.data, s->stream.have, s->host, out));
}

enum dpi_verdict
dpi_look(struct dpi_scan *scan, const struct dpi_segment *segment, struct dpi_name *out)
{
	enum dpi_verdict v = DPI_MORE;

	*out = (struct dpi_name){.proto = DPI_PROTO_NONE};
	if (segment->from_ue) {
		if (scan->ip_proto == IPPROTO_TCP)
			v = tcp_look(scan, segment, out);
		else if (scan->ip_proto == IPPROTO_UDP)
			v = udp_look(scan, segment, out);
		else
			v = DPI_NONE;
	}
	if (v == DPI_MORE && ++scan->packets == DPI_SCAN_PACKETS)
		return DPI_NONE;
	return v;
}

static enum dpi_verdict
tcp_first(uint32_t *first, uint16_t port, const struct dpi_segment *g, uint8_t *host,
	  struct dpi_name *out)
{
	const uint32_t seq = g->seq + g->syn;
	enum dpi_verdict v;
	int32_t at;

	/* As in tcp_look(). */
	if (g->syn || (!(*first & FIRST_BASED) && g->len > 0))
		*first = (*first & ~(uint32_t)UINT16_MAX) | FIRST_BASED | (uint16_t)seq;
	if (g->len == 0)
		return DPI_MORE;
	at = first_offset(*first, seq);
	if (at != 0)
		return at < 0 && g->len <= (uint32_t)-at ? DPI_MORE : DPI_KEEP;
	v = tcp_parse(port, g->data, g->len, host, out);
	return v == DPI_MORE ? DPI_KEEP : v;
}

static enum dpi_verdict
udp_first(uint16_t port, const struct dpi_segment *g, uint8_t *host, struct dpi_name *out)
{
	if (g->len == 0)
		return DPI_MORE;
	if (port == PORT_DNS)
		return dpi_dns(g->data, g->len, host, out);
	*out = (struct dpi_name){.proto = DPI_QUIC};
	return dpi_quic_may_be(g->data) ? DPI_KEEP : DPI_NONE;
}

enum dpi_verdict
dpi_look_first(uint32_t *first, uint8_t ip_proto, uint16_t port_of_server,
	       const struct dpi_segment *segment, uint8_t host[DPI_HOST_MAX], struct dpi_name *out)
{
	enum dpi_verdict v = DPI_MORE;

	*out = (struct dpi_name){.proto = DPI_PROTO_NONE};
	if (segment->from_ue) {
		if (ip_proto == IPPROTO_TCP)
			v = tcp_first(first, port_of_server, segment, host, out);
		else if (ip_proto == IPPROTO_UDP)
			v = udp_first(port_of_server, segment, host, out);
		else
			v = DPI_NONE;
	}
	if (v != DPI_MORE)
		return v;
	if (*first >> FIRST_PACKETS_SHIFT == DPI_SCAN_PACKETS - 1)
		return DPI_NONE;
	*first += 1U << FIRST_PACKETS_SHIFT;
	return DPI_MORE;
}
