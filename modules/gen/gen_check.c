/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "modules/gen/gen_impl.h"

#define HEAD_BYTES_MAX (ETH_HDR_BYTES + GEN_IP6_BYTES_MIN)
#define PREFETCH_MBUF 12
#define PREFETCH_SEGMENT 8
#define PREFETCH_DATA 4

/** Compares payload that lies in several segments, from byte `at` of the packet to its end. */
static bool
same_in_chain(const struct rte_mbuf *m, uint32_t at, const uint8_t *want)
{
	for (; m != NULL; m = m->next) {
		if (at >= m->data_len) {
			at -= m->data_len;
			continue;
		}
		if (!gen_same(rte_pktmbuf_mtod_offset(m, const uint8_t *, at), want,
			      m->data_len - at))
			return false;
		want += m->data_len - at;
		at = 0;
	}
	return true;
}

/** IPv4 and UDP header of a packet of `bytes`, as flow `f` sends them. */
static inline bool
ip4_holds(const uint8_t *ip, uint32_t bytes, const struct gen_flow *f)
{
	uint32_t ports, udp_rest;

	memcpy(&ports, ip + IP4_HDR_BYTES, sizeof(ports));
	memcpy(&udp_rest, ip + IP4_HDR_BYTES + 4, sizeof(udp_rest));
	/* Length, and no checksum. */
	return ip_sum_fold(ip_sum_words(0, ip, IP4_HDR_BYTES / 4)) == 0xffff && ports == f->ports &&
	       udp_rest == rte_cpu_to_be_16((uint16_t)(bytes - IP4_HDR_BYTES)) &&
	       ip_get16(ip + 2) == bytes;
}

/** IPv6 and UDP header. The payload's share of the checksum follows from its place. */
static inline bool
ip6_holds(const struct gen *g, const uint8_t *ip, uint32_t bytes, const struct gen_flow *f,
	  uint32_t pattern)
{
	const uint8_t *udp = ip + IP6_HDR_BYTES, *sent = f->head + g->l2_bytes;
	uint32_t upper = bytes - IP6_HDR_BYTES;
	uint16_t checksum;

	memcpy(&checksum, udp + 6, sizeof(checksum));
	return ip_get16(ip + 4) == upper && ip_get16(udp + 4) == upper && ip[6] == IP_PROTO_UDP &&
	       memcmp(ip + 8, sent + 8, IP6_HDR_BYTES - 8 + 4) == 0 &&
	       ip_sum_fold(gen_udp6_sum(g, f, upper, udp + UDP_HDR_BYTES, pattern) + checksum) ==
		       0xffff &&
	       /* What a router may change is under no checksum. */
	       ip[0] >> 4 == 6 && (g->cfg.routed || (memcmp(ip, sent, 4) == 0 && ip[7] == sent[7]));
}

/**
 * Whether the IP packet `l2` bytes behind the start of segment `m` is, to the last byte, what
 * gen_tx made.
 * @param len of the packet from `m` on
 * @param p its first HEAD_BYTES_MAX bytes
 */
static __rte_always_inline bool
intact(const struct gen *g, const struct rte_mbuf *m, uint32_t len, const uint8_t *p, uint32_t l2,
       struct gen_test *t, bool ipv6)
{
	const uint32_t ip_bytes = ipv6 ? IP6_HDR_BYTES : IP4_HDR_BYTES;
	const uint32_t payload_at = l2 + ip_bytes + UDP_HDR_BYTES + GEN_TEST_BYTES;
	const struct gen_flow *f;
	uint32_t flow, payload_bytes;
	enum gen_test_is is;

	if (unlikely(len < payload_at ||
		     (l2 && ip_get16(p + ETH_HDR_BYTES - 2) != ip_eth_type(ipv6 ? 6 : 4))))
		return false;
	is = gen_test_decode(p + payload_at - GEN_TEST_BYTES, t, g->check_seed);
	flow = t->flow & ((1u << GEN_FLOW_BITS) - 1);
	payload_bytes = len - payload_at;
	if (unlikely(is != GEN_TEST_INTACT || t->flow >> GEN_FLOW_BITS != g->cfg.stream ||
		     flow >= g->cfg.flows || t->ip_bytes != len - l2 ||
		     t->pattern + payload_bytes > GEN_PATTERN_BYTES))
		return false;
	f = &g->flows[flow];
	if (ipv6 ? !ip6_holds(g, p + l2, t->ip_bytes, f, t->pattern)
		 : !ip4_holds(p + l2, t->ip_bytes, f))
		return false;
	if (likely(m->data_len == len))
		return gen_same(p + payload_at, g->pattern + t->pattern, payload_bytes);
	return same_in_chain(m, payload_at, g->pattern + t->pattern);
}

/** Whether something at this place bears our mark: the magic, or else our UDP ports. */
static bool
marked(const struct gen *g, const uint8_t *p, uint32_t len, uint32_t l2, uint32_t ip_bytes)
{
	uint32_t udp_at = l2 + ip_bytes;
	enum gen_test_is is = GEN_TEST_OTHER;
	struct gen_test t;

	if (len >= udp_at + UDP_HDR_BYTES + GEN_TEST_BYTES)
		is = gen_test_decode(p + udp_at + UDP_HDR_BYTES, &t, g->check_seed);
	if (is != GEN_TEST_OTHER)
		/* Another stream's intact header is another generator's packet. */
		return is == GEN_TEST_CHANGED || t.flow >> GEN_FLOW_BITS == g->cfg.stream;
	return len >= udp_at + UDP_HDR_BYTES && memcmp(p + udp_at, &g->flows[0].ports, 4) == 0;
}

/** A packet that is not intact: ours and changed, or somebody else's? */
static __rte_noinline enum gen_verdict
suspect(const struct gen *g, const uint8_t *p, uint32_t len)
{
	static const uint8_t l2[] = {0, ETH_HDR_BYTES}, ip[] = {IP4_HDR_BYTES, IP6_HDR_BYTES};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 2; k++)
			if (marked(g, p, len, l2[i], ip[k]))
				return GEN_CORRUPTED;
	return GEN_FOREIGN;
}

/** `len` bytes from the start of segment `m`, over as many segments as they take. */
static __rte_noinline void
copy_head(uint8_t *to, const struct rte_mbuf *m, uint32_t len)
{
	for (; len > 0 && m != NULL; m = m->next) {
		uint32_t part = RTE_MIN(len, (uint32_t)m->data_len);

		memcpy(to, rte_pktmbuf_mtod(m, void *), part);
		to += part;
		len -= part;
	}
}

/** The segment where IP starts: a port puts Ethernet in front of a shared buffer as one of its own.
 */
static inline const struct rte_mbuf *
ip_segment(const struct rte_mbuf *m)
{
	return m->data_len == ETH_HDR_BYTES && m->nb_segs > 1 ? m->next : m;
}

/** @param t filled when the packet is ours */
static inline enum gen_verdict
judge(struct gen *g, const struct rte_mbuf *m, struct gen_test *t)
{
	const struct rte_mbuf *ip = ip_segment(m);
	uint8_t copy[HEAD_BYTES_MAX], l2 = g->rx.l2_bytes;
	uint32_t len = m->pkt_len, head;
	const uint8_t *p;

	if (ip != m && ip_get16(rte_pktmbuf_mtod_offset(m, uint8_t *, ETH_HDR_BYTES - 2)) ==
			       ip_eth_type(g->cfg.ipv6 ? 6 : 4)) {
		m = ip;
		len -= ETH_HDR_BYTES;
		l2 = 0;
	}
	head = RTE_MIN(len, (uint32_t)HEAD_BYTES_MAX);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (unlikely(m->data_len < head)) {
		copy_head(copy, m, head);
		p = copy;
	}
	if (g->cfg.ipv6 ? intact(g, m, len, p, l2, t, true) : intact(g, m, len, p, l2, t, false))
		return GEN_OURS;
	l2 = ETH_HDR_BYTES - l2;
	if (intact(g, m, len, p, l2, t, g->cfg.ipv6)) {
		g->rx.l2_bytes = l2;
		return GEN_OURS;
	}
	return suspect(g, p, head);
}

/** Recognises a packet of the capture; `t` gets its number in the endless repetition. */
static enum gen_verdict
judge_replay(const struct gen *g, const struct rte_mbuf *m, struct gen_test *t)
{
	uint8_t copy[ETH_HDR_BYTES];
	uint32_t at = 0, bytes, crc = 0;
	const uint8_t *p =
		m->pkt_len < sizeof(copy) ? NULL : rte_pktmbuf_read(m, 0, sizeof(copy), copy);

	if (p == NULL)
		return GEN_FOREIGN;
	if (ip_get16(p + 12) == ETH_TYPE_IP4 || ip_get16(p + 12) == ETH_TYPE_IP6)
		at = ETH_HDR_BYTES;
	else if (p[0] >> 4 != 4 && p[0] >> 4 != 6)
		return GEN_FOREIGN;
	bytes = m->pkt_len - at;
	for (; m != NULL; m = m->next) {
		if (at < m->data_len)
			crc = gen_replay_crc(crc, rte_pktmbuf_mtod_offset(m, const uint8_t *, at),
					     m->data_len - at);
		at -= RTE_MIN(at, (uint32_t)m->data_len);
	}
	*t = (struct gen_test){.ip_bytes = (uint16_t)bytes};
	return gen_replay_find(&g->replay, gen_replay_key(bytes, crc), g->rx.seqs[0].next,
			       &t->seq) < 0
		       ? GEN_CORRUPTED
		       : GEN_OURS;
}

static inline void
prefetch_ahead(struct rte_mbuf **pkts, uint16_t i, uint16_t n)
{
	if (i + PREFETCH_MBUF < n) {
		rte_prefetch0(pkts[i + PREFETCH_MBUF]);
		/* Freeing looks at `next`. */
		rte_mbuf_prefetch_part2(pkts[i + PREFETCH_MBUF]);
	}
	if (i + PREFETCH_SEGMENT < n)
		rte_prefetch0(ip_segment(pkts[i + PREFETCH_SEGMENT]));
	if (i + PREFETCH_DATA < n) {
		const struct rte_mbuf *m = ip_segment(pkts[i + PREFETCH_DATA]);
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		for (uint32_t at = 0; at < m->data_len; at += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(p + at);
	}
}

/** What a vector adds to the counters, kept in registers until its end. */
struct tally {
	uint64_t good;
	uint64_t bytes;
	uint64_t duplicate;
	uint64_t reordered;
	uint64_t late;
	uint64_t lost;       /* may go down: a reordered packet closes a gap */
	uint64_t same_tx_ns; /* of the run of packets sent at the same time */
	uint64_t run;        /* its length */
};

/** One packet that is ours. */
static inline void
arrive(struct gen_rx *rx, uint32_t flow, const struct gen_test *t, struct tally *c)
{
	uint64_t opened;

	switch (gen_seq_take(&rx->seqs[flow], t->seq, &opened)) {
	case GEN_SEQ_REORDERED:
		c->reordered++;
		c->lost--;
		break;
	case GEN_SEQ_DUPLICATE:
		c->duplicate++;
		return;
	case GEN_SEQ_LATE:
		c->late++;
		return;
	case GEN_SEQ_IN_ORDER:
		c->lost += opened;
		break;
	}
	c->good++;
	c->bytes += t->ip_bytes;
}

/** A burst bears one time, so its packets are recorded at once. */
static inline void
record_run(struct gen_rx *rx, const struct tally *c, uint64_t now)
{
	/* Clocks of two lcores may differ by a few ticks. */
	if (c->run)
		ap_hist_record_n(&rx->latency, now > c->same_tx_ns ? now - c->same_tx_ns : 0,
				 c->run);
}

static void
publish(struct gen_rx *rx, const struct tally *c, const struct gen_arrivals *a)
{
	gen_count(&rx->bytes, c->bytes);
	gen_count(&rx->good, c->good);
	gen_count(&rx->corrupted, a->corrupted);
	gen_count(&rx->foreign, a->foreign);
	gen_count(&rx->duplicate, c->duplicate);
	gen_count(&rx->reordered, c->reordered);
	gen_count(&rx->late, c->late);
	gen_count(&rx->lost, c->lost);
}

struct gen_arrivals
gen_verify(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	const uint32_t flow_mask = (1u << GEN_FLOW_BITS) - 1;
	const bool replay = g->replay.nb_packets != 0;
	struct gen_arrivals a = {0};
	struct gen_rx *rx = &g->rx;
	struct tally c = {0};
	struct gen_test t;

	for (uint16_t i = 0; i < n; i++) {
		enum gen_verdict verdict;

		prefetch_ahead(pkts, i, n);
		verdict = replay ? judge_replay(g, pkts[i], &t) : judge(g, pkts[i], &t);
		if (unlikely(verdict != GEN_OURS)) {
			a.corrupted += verdict == GEN_CORRUPTED;
			a.foreign += verdict == GEN_FOREIGN;
			continue;
		}
		arrive(rx, t.flow & flow_mask, &t, &c);
		if (replay)
			continue;
		if (t.tx_ns != c.same_tx_ns) {
			record_run(rx, &c, now);
			c.same_tx_ns = t.tx_ns;
			c.run = 0;
		}
		c.run++;
	}
	record_run(rx, &c, now);
	a.ours = n - a.corrupted - a.foreign;
	publish(rx, &c, &a);
	return a;
}
