/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as they go in. */
#include <string.h>

#include "bench/upf_dns.h"
#include "bench/upf_traffic_wire_impl.h"

#define END "\r\n\r\n"
#define END_BYTES 4

/* In a TCP header. */
#define TCP_OPTION 20
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_PSH 0x08
#define TCP_ACK 0x10

static void
eth_put(uint8_t *p, const uint8_t *to, const uint8_t *from)
{
	memcpy(p, to, 6);
	memcpy(p + 6, from, 6);
	ip_put16(p + 12, ETH_TYPE_IP4);
}

/** Outer header between two addresses; 0 and lengths are left to each packet. */
static void
outer_put(uint8_t *p, enum upf_wire_direction d, uint32_t src, uint32_t dst)
{
	memset(p, 0, UPF_WIRE_OUTER);
	p[0] = 0x45;
	p[IP_TTL] = UPF_TRAFFIC_WIRE_TTL;
	p[9] = IP_PROTO_UDP;
	put32(p + IP_SRC, src);
	put32(p + IP_DST, dst);
	ip_put16(p + IP4_HDR_BYTES, GTPU_PORT);
	ip_put16(p + IP4_HDR_BYTES + 2, GTPU_PORT);
	gtpu_gpdu_psc_put(p + OUTER_HEAD, 0, 0, d == UPF_WIRE_UP ? PSC_UL : PSC_DL, UPF_WIRE_QFI,
			  false);
}

static void
patterns_init(struct upf_traffic_wire *w)
{
	uint64_t random = 1;

	for (unsigned i = 0; i < sizeof(w->pattern); i++) {
		random = upf_load_mix(random);
		w->pattern[i] = (uint8_t)random;
		w->filler[i] = (uint8_t)('a' + (random >> 8) % 26);
	}
	for (unsigned i = 0; i < sizeof(w->pattern); i += 2) {
		uint16_t word;

		memcpy(&word, w->pattern + i, sizeof(word));
		w->sums[i / 2 + 1] = w->sums[i / 2] + word;
	}
}

void
upf_traffic_wire_init(struct upf_traffic_wire *w, const struct upf_wire_cfg *cfg,
		      const struct upf_traffic *flows, const struct upf_quic *quic)
{
	memset(w, 0, sizeof(*w));
	w->cfg = *cfg;
	w->flows = flows;
	w->quic = quic;
	w->seed = (uint32_t)upf_load_mix(flows->cfg.seed);
	patterns_init(w);
	eth_put(w->link[UPF_WIRE_UP], cfg->n3_mac, cfg->gnb_mac);
	outer_put(w->link[UPF_WIRE_UP] + ETH_HDR_BYTES, UPF_WIRE_UP, 0, cfg->n3_ip);
	eth_put(w->link[UPF_WIRE_DOWN], cfg->n6_mac, cfg->net_mac);
	eth_put(w->want[UPF_WIRE_UP], cfg->net_mac, cfg->n6_mac);
	eth_put(w->want[UPF_WIRE_DOWN], cfg->gnb_mac, cfg->n3_mac);
	outer_put(w->want[UPF_WIRE_DOWN] + ETH_HDR_BYTES, UPF_WIRE_DOWN, cfg->n3_ip, 0);
}

static inline uint16_t
ip_header_sum(const uint8_t *ip)
{
	return (uint16_t)~ip_sum_fold(ip_sum_words(0, ip, IP4_HDR_BYTES / 4));
}

/** Ethernet and what else stands before the inner packet. @return its octets */
static uint16_t
link_put(const struct upf_traffic_wire *w, uint8_t *p, enum upf_wire_direction d, uint32_t session,
	 const struct upf_wire_session *s, uint16_t bytes)
{
	uint8_t *ip = p + ETH_HDR_BYTES;

	memcpy(p, w->link[d], sizeof(w->link[d]));
	if (d == UPF_WIRE_DOWN)
		return ETH_HDR_BYTES;
	upf_traffic_wire_outer_fill(ip, bytes, s->teid);
	put32(ip + IP_SRC, upf_traffic_wire_gnb_ip(w, session));
	put16(ip + IP_SUM, ip_header_sum(ip));
	return ETH_HDR_BYTES + UPF_WIRE_OUTER;
}

static void
test_put(const struct upf_traffic_wire *w, uint8_t *p, enum upf_wire_direction d,
	 const struct upf_traffic_test *t)
{
	uint64_t word[4] = {(UPF_TRAFFIC_WIRE_MAGIC + d) | (uint64_t)t->place << 32, t->seq,
			    t->number | (uint64_t)t->at << 32, t->now};

	word[3] |= (uint64_t)upf_traffic_wire_test_crc(w, word) << 32;
	memcpy(p, word, sizeof(word));
}

/** Ports, which UDP's header begins with as TCP's does. */
static void
ports_put(uint8_t *p, enum upf_wire_direction d, const struct upf_traffic_flow *flow)
{
	ip_put16(p, d == UPF_WIRE_UP ? flow->ue_port : flow->server_port);
	ip_put16(p + 2, d == UPF_WIRE_UP ? flow->server_port : flow->ue_port);
}

static uint8_t
tcp_flags(const struct upf_traffic_packet *k)
{
	static const uint8_t of_part[] = {
		[UPF_TRAFFIC_SYN] = TCP_SYN,
		[UPF_TRAFFIC_SYN_ACK] = TCP_SYN | TCP_ACK,
		[UPF_TRAFFIC_ACK] = TCP_ACK,
		[UPF_TRAFFIC_REQUEST] = TCP_PSH | TCP_ACK,
		[UPF_TRAFFIC_REST] = TCP_PSH | TCP_ACK,
		[UPF_TRAFFIC_DATA] = TCP_PSH | TCP_ACK,
	};

	return of_part[k->part] | (k->fin ? TCP_FIN : 0);
}

static void
tcp_put(uint8_t *p, const struct upf_traffic_flow *flow, const struct upf_traffic_packet *k)
{
	static const uint8_t option[4] = {253, UPF_TRAFFIC_TEST + 4, 'A', 'P'};

	ports_put(p, k->direction, flow);
	put32(p + 4, rte_cpu_to_be_32(k->seq));
	put32(p + 8, rte_cpu_to_be_32(k->ack));
	p[12] = UPF_TRAFFIC_TCP_HEAD / 4 << 4;
	p[13] = tcp_flags(k);
	ip_put16(p + 14, 0xFFFF);
	put32(p + TCP_SUM, 0); /* and no urgent pointer */
	memcpy(p + TCP_OPTION, option, sizeof(option));
}

uint16_t
upf_traffic_wire_head_put(const struct upf_traffic_wire *w, uint8_t *p,
			  const struct upf_traffic_flow *flow, const struct upf_traffic_packet *k,
			  const struct upf_wire_session *s, const struct upf_traffic_test *t,
			  uint8_t ttl)
{
	const bool up = k->direction == UPF_WIRE_UP;
	uint8_t *l4 = p + IP4_HDR_BYTES;

	memset(p, 0, IP4_HDR_BYTES);
	p[0] = 0x45;
	ip_put16(p + IP_BYTES, k->bytes);
	p[IP_TTL] = ttl;
	p[9] = flow->udp ? IP_PROTO_UDP : IP_PROTO_TCP;
	put32(p + IP_SRC, up ? s->ue : flow->server);
	put32(p + IP_DST, up ? flow->server : s->ue);
	put16(p + IP_SUM, ip_header_sum(p));
	if (flow->udp) {
		ports_put(l4, k->direction, flow);
		ip_put16(l4 + 4, k->bytes - IP4_HDR_BYTES);
		ip_put16(l4 + 6, 0);
		if (upf_traffic_wire_ends_in_test(k->direction, flow->server_port))
			return IP4_HDR_BYTES + UDP_HDR_BYTES;
		test_put(w, l4 + UDP_HDR_BYTES, k->direction, t);
		return IP4_HDR_BYTES + UDP_HDR_BYTES + UPF_TRAFFIC_TEST;
	}
	tcp_put(l4, flow, k);
	test_put(w, l4 + TCP_TEST, k->direction, t);
	return UPF_TRAFFIC_SHORT;
}

/** A request from octet `from` on: its beginning, the value of a header, and the end. */
static void
request_put(const struct upf_traffic_wire *w, uint8_t *p, const struct upf_traffic_flow *flow,
	    uint32_t from, uint32_t len, uint64_t seq)
{
	const struct upf_load_name *name = &w->flows->load->names[flow->name];
	const uint32_t begin = name->request_len - from;

	memcpy(p, name->request + from, begin);
	memcpy(p + begin, w->filler + upf_traffic_wire_stretch(seq), len - begin - END_BYTES);
	memcpy(p + len - END_BYTES, END, END_BYTES);
}

void
upf_traffic_wire_request_put(const struct upf_traffic_wire *w, uint8_t *p,
			     const struct upf_traffic_flow *flow,
			     const struct upf_traffic_packet *k, uint32_t len, uint64_t seq)
{
	if (k->part == UPF_TRAFFIC_REQUEST && flow->split)
		memcpy(p, w->flows->load->names[flow->name].request, len);
	else
		request_put(w, p, flow, k->part == UPF_TRAFFIC_REST ? UPF_TRAFFIC_CUT : 0, len,
			    seq);
}

void
upf_traffic_wire_datagram_put(const struct upf_traffic_wire *w, uint8_t *p,
			      const struct upf_traffic_flow *flow,
			      const struct upf_traffic_packet *k, uint32_t len,
			      const struct upf_traffic_test *t)
{
	const struct upf_load_name *name = &w->flows->load->names[flow->name];
	const uint32_t before = len - UPF_TRAFFIC_TEST;

	if (k->part == UPF_TRAFFIC_QUERY)
		upf_dns_put(p, len, name->host, name->host_len, (uint16_t)t->seq, UPF_TRAFFIC_TEST);
	else if (k->part == UPF_TRAFFIC_DATAGRAM)
		gen_copy(p, w->pattern + upf_traffic_wire_stretch(t->seq), before);
	else
		memcpy(p,
		       upf_quic_datagram(w->quic, flow->name, k->part == UPF_TRAFFIC_INITIAL_REST),
		       before);
	test_put(w, p + before, k->direction, t);
}

/** Of `len` octets of the pattern; an odd one counts as the first of a word. */
static uint64_t
pattern_sum(const struct upf_traffic_wire *w, uint32_t at, uint32_t len)
{
	uint64_t sum = w->sums[(at + len) / 2] - w->sums[at / 2];

	return len & 1 ? ip_sum(sum, w->pattern + at + len - 1, 1) : sum;
}

uint16_t
upf_traffic_wire_tcp_sum(const struct upf_traffic_wire *w, const uint8_t *ip, const uint8_t *data,
			 const struct upf_traffic_packet *k, uint64_t seq)
{
	const uint32_t len = k->bytes - UPF_TRAFFIC_SHORT;
	uint64_t sum = ip_sum_words(0, ip + IP_SRC, 2);

	sum += rte_cpu_to_be_16(IP_PROTO_TCP);
	sum += rte_cpu_to_be_16((uint16_t)(k->bytes - IP4_HDR_BYTES));
	sum = ip_sum_words(sum, ip + IP4_HDR_BYTES, UPF_TRAFFIC_TCP_HEAD / 4);
	if (upf_traffic_wire_is_request(k))
		sum = ip_sum(sum, data, len);
	else
		sum += pattern_sum(w, upf_traffic_wire_stretch(seq), len);
	return (uint16_t)~ip_sum_fold(sum);
}

uint16_t
upf_traffic_wire_build(const struct upf_traffic_wire *w, uint8_t *p,
		       const struct upf_traffic_turn *t, const struct upf_wire_session *s,
		       uint64_t seq, uint32_t now)
{
	const struct upf_traffic_packet *k = &t->packet;
	const struct upf_traffic_test test = {t->place, t->number, t->at, now, seq};
	const uint16_t link = link_put(w, p, k->direction, t->flow.session, s, k->bytes);
	uint8_t *ip = p + link;
	const uint16_t head =
		upf_traffic_wire_head_put(w, ip, &t->flow, k, s, &test, UPF_TRAFFIC_WIRE_TTL);

	if (upf_traffic_wire_is_request(k))
		upf_traffic_wire_request_put(w, ip + head, &t->flow, k, k->bytes - head, seq);
	else if (t->flow.udp && upf_traffic_wire_ends_in_test(k->direction, t->flow.server_port))
		upf_traffic_wire_datagram_put(w, ip + head, &t->flow, k, k->bytes - head, &test);
	else
		gen_copy(ip + head, w->pattern + upf_traffic_wire_stretch(seq), k->bytes - head);
	if (!t->flow.udp)
		put16(ip + IP4_HDR_BYTES + TCP_SUM,
		      upf_traffic_wire_tcp_sum(w, ip, ip + head, k, seq));
	return link + k->bytes;
}
