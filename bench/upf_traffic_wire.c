/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>

#include "bench/upf_dns.h"
#include "bench/upf_traffic_wire.h"
#include "codec/gtpu.h"
#include "codec/ip.h"

#define MAGIC 0x46475041u /* "APGF", the direction added */
#define TTL 64
#define VARIANTS 16
#define VARIANT_STEP 66 /**< even: sums are of words */
#define OUTER_HEAD (IP4_HDR_BYTES + UDP_HDR_BYTES)
#define END "\r\n\r\n"
#define END_BYTES 4

/* In an IPv4 header. */
#define IP_BYTES 2
#define IP_ID 4
#define IP_TTL 8
#define IP_SUM 10
#define IP_SRC 12
#define IP_DST 16

/* In a TCP header. */
#define TCP_SUM 16
#define TCP_OPTION 20
#define TCP_TEST 24
#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_PSH 0x08
#define TCP_ACK 0x10

static void
put16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

static void
put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

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
	p[IP_TTL] = TTL;
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

static inline uint32_t
gnb_ip(const struct upf_traffic_wire *w, uint32_t session)
{
	return w->cfg.gnb_ip + rte_cpu_to_be_32(session % UPF_WIRE_GNBS);
}

/** Lengths of an outer header round `bytes`, and its TEID. */
static inline void
outer_fill(uint8_t *ip, uint16_t bytes, uint32_t teid)
{
	ip_put16(ip + IP_BYTES, bytes + UPF_WIRE_OUTER);
	ip_put16(ip + IP4_HDR_BYTES + 4, bytes + UPF_WIRE_OUTER - IP4_HDR_BYTES);
	ip_put16(ip + OUTER_HEAD + 2, bytes + UPF_WIRE_OUTER - OUTER_HEAD - 8);
	put32(ip + OUTER_HEAD + 4, teid);
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
	outer_fill(ip, bytes, s->teid);
	put32(ip + IP_SRC, gnb_ip(w, session));
	put16(ip + IP_SUM, ip_header_sum(ip));
	return ETH_HDR_BYTES + UPF_WIRE_OUTER;
}

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
	outer_fill(want + ETH_HDR_BYTES, bytes, upf_wire_gnb_teid(session));
	put32(want + ETH_HDR_BYTES + IP_DST, gnb_ip(w, session));
	/* The sender's choice: identification, TTL, and the UDP source port. */
	memcpy(want + ETH_HDR_BYTES + IP_ID, ip + IP_ID, 2);
	want[ETH_HDR_BYTES + IP_TTL] = ip[IP_TTL];
	memcpy(want + ETH_HDR_BYTES + IP_SUM, ip + IP_SUM, 2);
	memcpy(want + ETH_HDR_BYTES + IP4_HDR_BYTES, ip + IP4_HDR_BYTES, 2);
	return ip[IP_TTL] != 0 && memcmp(p, want, ETH_HDR_BYTES + UPF_WIRE_OUTER) == 0 &&
	       ip_sum_fold(ip_sum_words(0, ip, IP4_HDR_BYTES / 4)) == 0xFFFF;
}

/** CRC-32C over the test header less its own place. */
static inline uint32_t
test_crc(const struct upf_traffic_wire *w, const uint64_t word[4])
{
	return gen_crc(gen_crc(gen_crc(gen_crc(w->seed, word[0]), word[1]), word[2]),
		       word[3] & UINT32_MAX);
}

static void
test_put(const struct upf_traffic_wire *w, uint8_t *p, enum upf_wire_direction d,
	 const struct upf_traffic_test *t)
{
	uint64_t word[4] = {(MAGIC + d) | (uint64_t)t->place << 32, t->seq,
			    t->number | (uint64_t)t->at << 32, t->now};

	word[3] |= (uint64_t)test_crc(w, word) << 32;
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

/** Whether the test header is at the end. @param port of the server */
static inline bool
ends_in_test(enum upf_wire_direction d, uint16_t port)
{
	return d == UPF_WIRE_UP && port != UPF_LOAD_PORT_UDP;
}

/** Headers of the inner packet up to the data, but for TCP's checksum. @return their octets */
static uint16_t
head_put(const struct upf_traffic_wire *w, uint8_t *p, const struct upf_traffic_flow *flow,
	 const struct upf_traffic_packet *k, const struct upf_wire_session *s,
	 const struct upf_traffic_test *t, uint8_t ttl)
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
		if (ends_in_test(k->direction, flow->server_port))
			return IP4_HDR_BYTES + UDP_HDR_BYTES;
		test_put(w, l4 + UDP_HDR_BYTES, k->direction, t);
		return IP4_HDR_BYTES + UDP_HDR_BYTES + UPF_TRAFFIC_TEST;
	}
	tcp_put(l4, flow, k);
	test_put(w, l4 + TCP_TEST, k->direction, t);
	return UPF_TRAFFIC_SHORT;
}

static inline uint32_t
stretch(uint64_t seq)
{
	return (uint32_t)(seq % VARIANTS * VARIANT_STEP);
}

/** A request from octet `from` on: its beginning, the value of a header, and the end. */
static void
request_put(const struct upf_traffic_wire *w, uint8_t *p, const struct upf_traffic_flow *flow,
	    uint32_t from, uint32_t len, uint64_t seq)
{
	const struct upf_load_name *name = &w->flows->load->names[flow->name];
	const uint32_t begin = name->request_len - from;

	memcpy(p, name->request + from, begin);
	memcpy(p + begin, w->filler + stretch(seq), len - begin - END_BYTES);
	memcpy(p + len - END_BYTES, END, END_BYTES);
}

static bool
is_request(const struct upf_traffic_packet *k)
{
	return k->part == UPF_TRAFFIC_REQUEST || k->part == UPF_TRAFFIC_REST;
}

/** Data of a request's packet. */
static void
request_part_put(const struct upf_traffic_wire *w, uint8_t *p, const struct upf_traffic_flow *flow,
		 const struct upf_traffic_packet *k, uint32_t len, uint64_t seq)
{
	if (k->part == UPF_TRAFFIC_REQUEST && flow->split)
		memcpy(p, w->flows->load->names[flow->name].request, len);
	else
		request_put(w, p, flow, k->part == UPF_TRAFFIC_REST ? UPF_TRAFFIC_CUT : 0, len,
			    seq);
}

/** All that is behind the UDP header where the test header is at the end. */
static void
datagram_put(const struct upf_traffic_wire *w, uint8_t *p, const struct upf_traffic_flow *flow,
	     const struct upf_traffic_packet *k, uint32_t len, const struct upf_traffic_test *t)
{
	const struct upf_load_name *name = &w->flows->load->names[flow->name];
	const uint32_t before = len - UPF_TRAFFIC_TEST;

	if (k->part == UPF_TRAFFIC_QUERY)
		upf_dns_put(p, len, name->host, name->host_len, (uint16_t)t->seq, UPF_TRAFFIC_TEST);
	else if (k->part == UPF_TRAFFIC_DATAGRAM)
		gen_copy(p, w->pattern + stretch(t->seq), before);
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

/** RFC 9293 §3.1, over pseudo header, header and data. */
static uint16_t
tcp_sum(const struct upf_traffic_wire *w, const uint8_t *ip, const uint8_t *data,
	const struct upf_traffic_packet *k, uint64_t seq)
{
	const uint32_t len = k->bytes - UPF_TRAFFIC_SHORT;
	uint64_t sum = ip_sum_words(0, ip + IP_SRC, 2);

	sum += rte_cpu_to_be_16(IP_PROTO_TCP);
	sum += rte_cpu_to_be_16((uint16_t)(k->bytes - IP4_HDR_BYTES));
	sum = ip_sum_words(sum, ip + IP4_HDR_BYTES, UPF_TRAFFIC_TCP_HEAD / 4);
	if (is_request(k))
		sum = ip_sum(sum, data, len);
	else
		sum += pattern_sum(w, stretch(seq), len);
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
	const uint16_t head = head_put(w, ip, &t->flow, k, s, &test, TTL);

	if (is_request(k))
		request_part_put(w, ip + head, &t->flow, k, k->bytes - head, seq);
	else if (t->flow.udp && ends_in_test(k->direction, t->flow.server_port))
		datagram_put(w, ip + head, &t->flow, k, k->bytes - head, &test);
	else
		gen_copy(ip + head, w->pattern + stretch(seq), k->bytes - head);
	if (!t->flow.udp)
		put16(ip + IP4_HDR_BYTES + TCP_SUM, tcp_sum(w, ip, ip + head, k, seq));
	return link + k->bytes;
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
	if (ip[9] == IP_PROTO_UDP && ends_in_test(d, ip_get16(ip + IP4_HDR_BYTES + 2)))
		at = bytes - UPF_TRAFFIC_TEST;
	if (bytes < at + UPF_TRAFFIC_TEST)
		return UPF_WIRE_FOREIGN;
	memcpy(word, p + at, sizeof(word));
	if ((uint32_t)word[0] != MAGIC + d)
		return UPF_WIRE_FOREIGN;
	t->place = (uint32_t)(word[0] >> 32);
	t->seq = word[1];
	t->number = (uint32_t)word[2];
	t->at = (uint16_t)(word[2] >> 32);
	t->now = (uint32_t)word[3];
	return word[3] >> 32 == test_crc(w, word) && t->place < w->flows->nb_places
		       ? UPF_WIRE_GOOD
		       : UPF_WIRE_CORRUPTED;
}

static bool
data_good(const struct upf_traffic_wire *w, const uint8_t *data,
	  const struct upf_traffic_flow *flow, const struct upf_traffic_packet *k, uint32_t len,
	  const struct upf_traffic_test *t)
{
	uint8_t want[UPF_WIRE_BYTES_MAX + GEN_BLOCK];

	if (is_request(k))
		request_part_put(w, want, flow, k, len, t->seq);
	else if (flow->udp && ends_in_test(k->direction, flow->server_port))
		datagram_put(w, want, flow, k, len, t);
	else
		return gen_same(data, w->pattern + stretch(t->seq), len);
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
	    (ip[IP_TTL] != TTL && ip[IP_TTL] != TTL - 1) ||
	    !link_good(w, p, d, flow->session, k.bytes))
		return UPF_WIRE_CORRUPTED;
	head = head_put(w, want, flow, &k, s, t, ip[IP_TTL]);
	if (!data_good(w, ip + head, flow, &k, k.bytes - head, t))
		return UPF_WIRE_CORRUPTED;
	if (!flow->udp)
		put16(want + IP4_HDR_BYTES + TCP_SUM, tcp_sum(w, want, ip + head, &k, t->seq));
	return memcmp(ip, want, head) == 0 ? UPF_WIRE_GOOD : UPF_WIRE_CORRUPTED;
}
