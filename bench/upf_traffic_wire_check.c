/* SPDX-License-Identifier: BSD-3-Clause */
/* What came out: which packet of which flow it says it is, and whether every octet is as it must
 * be. */
#include <string.h>

#include "bench/upf_traffic_wire_impl.h"

/** As link_put(), of what comes out. */
static bool
link_good(const struct upf_traffic_wire *w, const uint8_t *p, enum upf_wire_direction d,
	  uint32_t session, uint16_t bytes)
{
	const uint8_t *ip = p + ETH_HDR_BYTES;
	uint8_t want[64];

	if (d == UPF_WIRE_UP)
		return memcmp(p, w->want[d], ETH_HDR_BYTES) == 0;
	memcpy(want, w->want[d], sizeof(want));
	upf_traffic_wire_outer_fill(want + ETH_HDR_BYTES, bytes, upf_wire_gnb_teid(session));
	put32(want + ETH_HDR_BYTES + IP_DST, upf_traffic_wire_gnb_ip(w, session));
	/* The sender's choice: identification, TTL, and the UDP source port. */
	memcpy(want + ETH_HDR_BYTES + IP_ID, ip + IP_ID, 2);
	want[ETH_HDR_BYTES + IP_TTL] = ip[IP_TTL];
	memcpy(want + ETH_HDR_BYTES + IP_SUM, ip + IP_SUM, 2);
	memcpy(want + ETH_HDR_BYTES + IP4_HDR_BYTES, ip + IP4_HDR_BYTES, 2);
	return ip[IP_TTL] != 0 && memcmp(p, want, ETH_HDR_BYTES + UPF_WIRE_OUTER) == 0 &&
	       ip_sum_fold(ip_sum_words(0, ip, IP4_HDR_BYTES / 4)) == 0xFFFF;
}

/** @return the inner packet of a frame that was sent in direction `d` and came out. */
static inline const uint8_t *
inner(enum upf_wire_direction d, const uint8_t *p)
{
	return p + ETH_HDR_BYTES + (d == UPF_WIRE_DOWN ? UPF_WIRE_OUTER : 0);
}

enum upf_wire_verdict
upf_traffic_wire_read(const struct upf_traffic_wire *w, enum upf_wire_direction d, const uint8_t *p,
		      uint32_t bytes, struct upf_traffic_test *t)
{
	const uint8_t *ip = inner(d, p);
	const uint32_t before = (uint32_t)(ip - p) + IP4_HDR_BYTES;
	uint32_t at;
	uint64_t word[4];

	if (bytes < before + UDP_HDR_BYTES + UPF_TRAFFIC_TEST)
		return UPF_WIRE_FOREIGN;
	at = before + (ip[9] == IP_PROTO_TCP ? TCP_TEST : UDP_HDR_BYTES);
	if (ip[9] == IP_PROTO_UDP &&
	    upf_traffic_wire_ends_in_test(d, ip_get16(ip + IP4_HDR_BYTES + 2)))
		at = bytes - UPF_TRAFFIC_TEST;
	if (bytes < at + UPF_TRAFFIC_TEST)
		return UPF_WIRE_FOREIGN;
	memcpy(word, p + at, sizeof(word));
	if ((uint32_t)word[0] != UPF_TRAFFIC_WIRE_MAGIC + d)
		return UPF_WIRE_FOREIGN;
	t->place = (uint32_t)(word[0] >> 32);
	t->seq = word[1];
	t->number = (uint32_t)word[2];
	t->at = (uint16_t)(word[2] >> 32);
	t->now = (uint32_t)word[3];
	return word[3] >> 32 == upf_traffic_wire_test_crc(w, word) && t->place < w->flows->nb_places
		       ? UPF_WIRE_GOOD
		       : UPF_WIRE_CORRUPTED;
}

static bool
data_good(const struct upf_traffic_wire *w, const uint8_t *data,
	  const struct upf_traffic_flow *flow, const struct upf_traffic_packet *k, uint32_t len,
	  const struct upf_traffic_test *t)
{
	uint8_t want[UPF_WIRE_BYTES_MAX + GEN_BLOCK];

	if (upf_traffic_wire_is_request(k))
		upf_traffic_wire_request_put(w, want, flow, k, len, t->seq);
	else if (flow->udp && upf_traffic_wire_ends_in_test(k->direction, flow->server_port))
		upf_traffic_wire_datagram_put(w, want, flow, k, len, t);
	else
		return gen_same(data, w->pattern + upf_traffic_wire_stretch(t->seq), len);
	return memcmp(data, want, len) == 0;
}

enum upf_wire_verdict
upf_traffic_wire_check(const struct upf_traffic_wire *w, enum upf_wire_direction d,
		       const uint8_t *p, uint32_t bytes, const struct upf_traffic_test *t,
		       const struct upf_traffic_flow *flow, const struct upf_wire_session *s)
{
	const uint8_t *ip = inner(d, p);
	struct upf_traffic_packet k;
	uint8_t want[UPF_TRAFFIC_SHORT];
	uint16_t head;

	if (t->at >= flow->packets)
		return UPF_WIRE_CORRUPTED;
	k = upf_traffic_packet(w->flows, flow, t->at);
	if (k.direction != d || bytes != (uint32_t)(ip - p) + k.bytes ||
	    (ip[IP_TTL] != UPF_TRAFFIC_WIRE_TTL && ip[IP_TTL] != UPF_TRAFFIC_WIRE_TTL - 1) ||
	    !link_good(w, p, d, flow->session, k.bytes))
		return UPF_WIRE_CORRUPTED;
	head = upf_traffic_wire_head_put(w, want, flow, &k, s, t, ip[IP_TTL]);
	if (!data_good(w, ip + head, flow, &k, k.bytes - head, t))
		return UPF_WIRE_CORRUPTED;
	if (!flow->udp)
		put16(want + IP4_HDR_BYTES + TCP_SUM,
		      upf_traffic_wire_tcp_sum(w, want, ip + head, &k, t->seq));
	return memcmp(ip, want, head) == 0 ? UPF_WIRE_GOOD : UPF_WIRE_CORRUPTED;
}
