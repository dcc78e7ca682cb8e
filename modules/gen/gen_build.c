/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "modules/gen/gen_impl.h"

#define PREFETCH_MBUF 8
#define PREFETCH_DATA 2

static uint32_t
next_size(struct gen_tx *tx)
{
	uint32_t bytes = tx->sizes[tx->size_at];

	tx->size_at = tx->size_at + 1 == tx->nb_sizes ? 0 : tx->size_at + 1;
	return bytes;
}

static void
obey_rate(struct gen *g, uint64_t now)
{
	struct gen_tx *tx = &g->tx;
	uint64_t word = gen_counted(&g->rate);

	if (word == tx->rate_word)
		return;
	tx->rate_word = word;
	gen_pace_set(&tx->pace, gen_rate_decode(word), now, g->cfg.catch_up_us * 1000);
}

uint16_t
gen_plan(struct gen *g, uint64_t now, uint16_t max)
{
	struct gen_tx *tx = &g->tx;
	uint64_t behind = tx->pace.behind_ns;
	uint16_t n = 0;

	obey_rate(g, now);
	if (tx->pace.stopped)
		return 0;
	gen_pace_refill(&tx->pace, now);
	if (tx->pace.behind_ns != behind)
		gen_count(&tx->behind_ns, tx->pace.behind_ns - behind);
	if (max > tx->left)
		max = (uint16_t)tx->left;
	while (n < max && gen_pace_due(&tx->pace)) {
		uint32_t bytes = next_size(tx);

		gen_pace_spend(&tx->pace, bytes);
		tx->plan[n++] = (uint16_t)bytes;
	}
	return n;
}

void
gen_unplan(struct gen *g, uint16_t n)
{
	struct gen_tx *tx = &g->tx;

	for (uint16_t i = 0; i < n; i++)
		gen_pace_refund(&tx->pace, tx->plan[i]);
	tx->size_at = (tx->size_at + tx->nb_sizes - n % tx->nb_sizes) % tx->nb_sizes;
	gen_count(&tx->no_mbuf, 1);
}

/** A raw mbuf becomes an empty packet; only its first cache line is written. */
static inline uint8_t *
packet_init(struct rte_mbuf *m, uint64_t rearm, uint32_t bytes, uint8_t qfi)
{
	struct ap_meta meta = {.bearer = UINT32_MAX, .qfi = qfi};

	memcpy(&m->rearm_data, &rearm, sizeof(rearm));
	m->ol_flags = 0;
	m->packet_type = 0;
	m->pkt_len = bytes;
	m->data_len = (uint16_t)bytes;
	m->vlan_tci = 0;
	*ap_meta(m) = meta;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

/** Now and then a packet carries its time of birth to the device under test. */
static inline void
time_packet(struct gen_tx *tx, struct rte_mbuf *m, uint64_t now)
{
	if ((tx->timed++ & (GEN_TIMED_EVERY - 1)) != 0)
		return;
	ap_meta(m)->flags = AP_M_TIMED;
	ap_ext(m)->enter_ns = now;
}

static inline uint32_t
next_flow(struct gen *g)
{
	struct gen_tx *tx = &g->tx;
	uint32_t flow = tx->flow_at;

	if (--tx->run_left == 0) {
		tx->run_left = g->cfg.flow_run;
		tx->flow_at = flow + 1 == g->cfg.flows ? 0 : flow + 1;
	}
	return flow;
}

static inline void
put_memory16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

/** Lengths and checksum of an IPv4 header; over IPv4 the UDP checksum is not used (RFC 768). */
static inline void
finish_ip4(const struct gen_flow *f, uint8_t *l3, uint32_t bytes)
{
	uint16_t total = rte_cpu_to_be_16((uint16_t)bytes);

	put_memory16(l3 + 2, total);
	put_memory16(l3 + 10, (uint16_t)~ip_sum_fold((uint64_t)f->sum + total));
	ip_put16(l3 + IP4_HDR_BYTES + 4, (uint16_t)(bytes - IP4_HDR_BYTES));
}

/** Lengths of an IPv6 packet and the UDP checksum it must have (RFC 8200 §8.1). */
static inline void
finish_ip6(const struct gen *g, const struct gen_flow *f, uint8_t *l3, uint32_t bytes,
	   uint32_t pattern)
{
	uint32_t upper = bytes - IP6_HDR_BYTES;
	const uint8_t *test = l3 + IP6_HDR_BYTES + UDP_HDR_BYTES;
	uint16_t checksum = (uint16_t)~ip_sum_fold(gen_udp6_sum(g, f, upper, test, pattern));

	ip_put16(l3 + 4, (uint16_t)upper);
	ip_put16(l3 + IP6_HDR_BYTES + 4, (uint16_t)upper);
	put_memory16(l3 + IP6_HDR_BYTES + 6, checksum ? checksum : 0xffff);
}

/**
 * What comes back to the pool was last read or written by the lcore that freed it, so all lines of
 * a packet are fetched for writing: at 1 kB this halves the cycles. `bytes` guesses its length.
 */
static inline void
prefetch_ahead(struct rte_mbuf **pkts, uint16_t i, uint16_t n, uint32_t bytes)
{
	if (i + PREFETCH_MBUF < n)
		rte_prefetch0_write(pkts[i + PREFETCH_MBUF]);
	if (i + PREFETCH_DATA < n) {
		uint8_t *p = (uint8_t *)pkts[i + PREFETCH_DATA]->buf_addr + RTE_PKTMBUF_HEADROOM;

		for (uint32_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
			rte_prefetch0_write(p + at);
	}
}

/** `ipv6` is a constant at each call, so that each version gets a loop of its own. */
static __rte_always_inline void
build(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now, bool ipv6)
{
	struct gen_tx *tx = &g->tx;
	const uint32_t l2 = g->l2_bytes;
	const uint32_t test_at = l2 + (ipv6 ? IP6_HDR_BYTES : IP4_HDR_BYTES) + UDP_HDR_BYTES;
	const uint32_t payload_at = test_at + GEN_TEST_BYTES;
	/* Payload is copied by whole aligned blocks, the headers over the start of the first. */
	const uint32_t body_at = payload_at / GEN_BLOCK * GEN_BLOCK;
	const uint32_t stream = (uint32_t)g->cfg.stream << GEN_FLOW_BITS;

	for (uint16_t i = 0; i < n; i++) {
		uint32_t flow = next_flow(g), bytes = tx->plan[i];
		const struct gen_flow *f = &g->flows[flow];
		uint64_t seq = tx->seq[flow]++;
		uint32_t variant = (uint32_t)(seq + flow) % GEN_VARIANTS * GEN_BLOCK;
		struct gen_test t = {
			.flow = stream | flow,
			.seq = seq,
			.tx_ns = now,
			.ip_bytes = (uint16_t)bytes,
			.pattern = (uint16_t)(variant + payload_at - body_at),
		};
		uint8_t *p;

		prefetch_ahead(pkts, i, n, l2 + bytes);
		p = packet_init(pkts[i], g->rearm, l2 + bytes, f->qfi);
		time_packet(tx, pkts[i], now);
		gen_copy(p + body_at, g->pattern + variant, l2 + bytes - body_at);
		/* Only bare IPv4 has payload in the first block; its headers take 28 bytes. */
		if (body_at)
			*(gen_block *)p = *(const gen_block *)f->head;
		else
			memcpy(p, f->head, GEN_BLOCK / 2);
		gen_test_encode(p + test_at, &t, g->check_seed);
		if (ipv6)
			finish_ip6(g, f, p + l2, bytes, t.pattern);
		else
			finish_ip4(f, p + l2, bytes);
	}
}

/** Packets of the capture, in order; the plan has taken their sizes from the same tables. */
static void
build_replay(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct gen_tx *tx = &g->tx;
	const struct gen_replay *r = &g->replay;
	uint32_t at = tx->replay_at;

	for (uint16_t i = 0; i < n; i++) {
		uint32_t bytes = tx->plan[i];
		const uint8_t *from = r->bytes + r->at[at];
		uint8_t *p = packet_init(pkts[i], g->rearm, g->l2_bytes + bytes, g->flows[0].qfi);

		time_packet(tx, pkts[i], now);
		memcpy(p + g->l2_bytes, from, bytes);
		if (g->l2_bytes) {
			memcpy(p, g->flows[0].head, ETH_HDR_BYTES);
			ip_put16(p + ETH_HDR_BYTES - 2, ip_eth_type(from[0] >> 4));
		}
		at = at + 1 == r->nb_packets ? 0 : at + 1;
	}
	tx->replay_at = at;
}

void
gen_build(struct gen *g, struct rte_mbuf **pkts, uint16_t n, uint64_t now)
{
	struct gen_tx *tx = &g->tx;
	uint64_t bytes = 0;

	if (g->replay.nb_packets)
		build_replay(g, pkts, n, now);
	else if (g->cfg.ipv6)
		build(g, pkts, n, now, true);
	else
		build(g, pkts, n, now, false);
	for (uint16_t i = 0; i < n; i++)
		bytes += tx->plan[i];
	tx->left -= n;
	gen_count(&tx->packets, n);
	gen_count(&tx->bytes, bytes);
}
