/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "modules/gen/gen_impl.h"

#define RATE_VALUE_BITS 62 /* of gen.rate; the kind stands above */
#define RATE_SCALE 1000.0  /* a rate is kept in thousandths */

#define SEQ_BITS_TOTAL (1u << 22) /* of all flows' windows together */
#define SEQ_WINDOW_MIN 256u
#define SEQ_WINDOW_MAX 65536u

void
gen_cfg_imix(struct gen_cfg *cfg)
{
	uint16_t small = cfg->ipv6 ? GEN_IP6_BYTES_MIN : 64;

	cfg->sizes[0] = (struct gen_size){small, small, 7};
	cfg->sizes[1] = (struct gen_size){570, 570, 4};
	cfg->sizes[2] = (struct gen_size){1518, 1518, 1};
	cfg->nb_sizes = 3;
}

static bool
is_zero(const uint8_t *address)
{
	static const uint8_t zero[16];

	return memcmp(address, zero, sizeof(zero)) == 0;
}

/** Benchmarking addresses: 198.18.0.0/15 (RFC 2544 §C.2.2), 2001:2::/48 (RFC 5180 §8). */
static void
fill_addresses(struct gen_cfg *c)
{
	static const uint8_t src4[16] = {198, 18, 0, 1}, dst4[16] = {198, 19, 0, 1};
	static const uint8_t src6[16] = {0x20, 0x01, 0x00, 0x02, [15] = 1};
	static const uint8_t dst6[16] = {0x20, 0x01, 0x00, 0x02, [7] = 1, [15] = 1};

	if (is_zero(c->src))
		memcpy(c->src, c->ipv6 ? src6 : src4, sizeof(c->src));
	if (is_zero(c->dst))
		memcpy(c->dst, c->ipv6 ? dst6 : dst4, sizeof(c->dst));
}

static void
fill_defaults(struct gen_cfg *c)
{
	c->addresses = c->addresses ? c->addresses : 1;
	c->flows = c->flows ? c->flows : 1;
	c->flow_run = c->flow_run ? c->flow_run : 1;
	c->src_port = c->src_port ? c->src_port : 49152;
	c->dst_port = c->dst_port ? c->dst_port : 9000;
	c->burst = c->burst ? c->burst : 64;
	c->catch_up_us = c->catch_up_us ? c->catch_up_us : 100;
	c->seed = c->seed ? c->seed : 1;
	if (c->nb_sizes == 0)
		c->sizes[c->nb_sizes++] = (struct gen_size){1024, 1024, 1};
	fill_addresses(c);
}

static int
check_sizes(const struct gen_cfg *c, struct ap_error *err)
{
	uint16_t least = c->ipv6 ? GEN_IP6_BYTES_MIN : GEN_IP4_BYTES_MIN;

	if (c->nb_sizes > GEN_SIZES_MAX)
		return ap_error_set(err, "%s: more than %u sizes", c->name, GEN_SIZES_MAX);
	for (unsigned i = 0; i < c->nb_sizes; i++) {
		const struct gen_size *s = &c->sizes[i];

		if (s->min < least || s->max < s->min || s->max > GEN_IP_BYTES_MAX)
			return ap_error_set(err, "%s: size %u..%u is not within %u..%u B of IPv%d",
					    c->name, s->min, s->max, least, GEN_IP_BYTES_MAX,
					    c->ipv6 ? 6 : 4);
		if (s->weight < 1 || s->weight > 255)
			return ap_error_set(err, "%s: weight %u of size %u is not within 1..255",
					    c->name, s->weight, s->min);
	}
	return 0;
}

static int
check(const struct gen_cfg *c, struct ap_error *err)
{
	if (c->flows > GEN_FLOWS_MAX)
		return ap_error_set(err, "%s: %u flows; at most %u", c->name, c->flows,
				    GEN_FLOWS_MAX);
	if ((c->flows - 1) / c->addresses + c->src_port > UINT16_MAX)
		return ap_error_set(err,
				    "%s: %u flows need more source ports than %u..65535; "
				    "spread them over more addresses",
				    c->name, c->flows, c->src_port);
	if (c->burst > GEN_BURST_MAX)
		return ap_error_set(err, "%s: burst %u; at most %u", c->name, c->burst,
				    GEN_BURST_MAX);
	if (c->catch_up_us > 1000000)
		return ap_error_set(err, "%s: catch-up %u us; at most 1000000", c->name,
				    c->catch_up_us);
	if (gen_pace_check(c->rate) < 0)
		return ap_error_set(err,
				    "%s: rate %g is not within 1..1e9 packets/s or "
				    "1e5..1e12 bit/s",
				    c->name, c->rate.value);
	if (c->nb_dscps > GEN_MARKS_MAX || c->nb_qfis > GEN_MARKS_MAX)
		return ap_error_set(err, "%s: more than %u DSCPs or QFIs", c->name, GEN_MARKS_MAX);
	for (unsigned i = 0; i < c->nb_dscps; i++)
		if (c->dscps[i] > 63)
			return ap_error_set(err, "%s: DSCP %u; at most 63", c->name, c->dscps[i]);
	for (unsigned i = 0; i < c->nb_qfis; i++)
		if (c->qfis[i] > 63)
			return ap_error_set(err, "%s: QFI %u; at most 63", c->name, c->qfis[i]);
	return c->replay ? 0 : check_sizes(c, err);
}

/** @return largest IP packet the pool's mbufs take, whose last block may be written whole. */
static uint32_t
room_for_ip(const struct gen *g)
{
	uint32_t room;

	if (g->cfg.pool == NULL)
		return GEN_IP_BYTES_MAX;
	room = rte_pktmbuf_data_room_size(g->cfg.pool);
	room -= RTE_MIN(room, (uint32_t)RTE_PKTMBUF_HEADROOM);
	room = RTE_ALIGN_FLOOR(room, (uint32_t)GEN_BLOCK);
	return RTE_MIN(room - RTE_MIN(room, (uint32_t)g->l2_bytes), (uint32_t)GEN_IP_BYTES_MAX);
}

static int
content_init(struct gen *g, struct ap_error *err)
{
	uint32_t room = room_for_ip(g);
	int rc;

	if (g->cfg.replay) {
		rc = gen_replay_load(&g->replay, g->cfg.replay, (uint16_t)room, err);
		g->tx.sizes = g->replay.sizes;
		g->tx.nb_sizes = g->replay.nb_packets;
		return rc;
	}
	for (unsigned i = 0; i < g->cfg.nb_sizes; i++)
		if (g->cfg.sizes[i].max > room)
			return ap_error_set(err,
					    "%s: %u B do not fit the pool's mbufs, which take "
					    "%u B of IP",
					    g->cfg.name, g->cfg.sizes[i].max, room);
	return gen_sizes_init(g);
}

/** What one sending and one verifying lcore own. */
static int
halves_init(struct gen *g)
{
	uint32_t window =
		RTE_MIN(RTE_MAX(rte_align32prevpow2(SEQ_BITS_TOTAL / g->cfg.flows), SEQ_WINDOW_MIN),
			SEQ_WINDOW_MAX);
	size_t words = window / 64;

	g->tx.seq = rte_calloc("gen_tx_seq", g->cfg.flows, sizeof(*g->tx.seq), 0);
	g->rx.seqs = rte_calloc("gen_rx_seq", g->cfg.flows, sizeof(*g->rx.seqs), 0);
	g->rx.bitmaps = rte_calloc("gen_bitmaps", g->cfg.flows * words, sizeof(uint64_t), 0);
	if (g->tx.seq == NULL || g->rx.seqs == NULL || g->rx.bitmaps == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->cfg.flows; i++)
		g->rx.seqs[i] =
			(struct gen_seq){.window = window, .bitmap = g->rx.bitmaps + i * words};
	g->rx.l2_bytes = g->l2_bytes;
	g->tx.run_left = g->cfg.flow_run;
	g->tx.left = g->cfg.packets ? g->cfg.packets : UINT64_MAX;
	g->tx.rate_word = UINT64_MAX;
	return 0;
}

static uint64_t
fresh_rearm(void)
{
	struct rte_mbuf m = {
		.data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = RTE_MBUF_PORT_INVALID};
	uint64_t rearm;

	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&rearm, &m.rearm_data, sizeof(rearm));
	return rearm;
}

struct gen *
gen_create(const struct gen_cfg *cfg, struct ap_error *err)
{
	struct gen_cfg filled = *cfg;
	struct gen *g;
	int rc;

	fill_defaults(&filled);
	if (check(&filled, err) < 0)
		return NULL;
	g = rte_zmalloc("gen", sizeof(*g), RTE_CACHE_LINE_SIZE);
	if (g == NULL) {
		ap_error_set(err, "%s: no memory for the generator", cfg->name);
		return NULL;
	}
	g->cfg = filled;
	g->l2_bytes = cfg->ethernet ? ETH_HDR_BYTES : 0;
	g->ip_bytes = cfg->ipv6 ? IP6_HDR_BYTES : IP4_HDR_BYTES;
	g->rearm = fresh_rearm();
	gen_set_rate(g, filled.rate);
	rc = gen_pattern_init(g);
	rc = rc < 0 ? rc : gen_flows_init(g);
	rc = rc < 0 ? rc : content_init(g, err);
	rc = rc < 0 ? rc : halves_init(g);
	if (rc == -ENOMEM)
		ap_error_set(err, "%s: no memory for %u flows", filled.name, filled.flows);
	if (rc < 0) {
		gen_destroy(g);
		return NULL;
	}
	return g;
}

void
gen_destroy(struct gen *g)
{
	if (g == NULL)
		return;
	gen_replay_free(&g->replay);
	rte_free(g->rx.bitmaps);
	rte_free(g->rx.seqs);
	rte_free(g->tx.seq);
	rte_free(g->size_table);
	rte_free(g->flows);
	rte_free(g->pattern_sums);
	rte_free(g->pattern);
	rte_free(g);
}

int
gen_set_rate(struct gen *g, struct gen_rate rate)
{
	if (gen_pace_check(rate) < 0)
		return -EINVAL;
	atomic_store_explicit(&g->rate,
			      (uint64_t)rate.kind << RATE_VALUE_BITS |
				      (uint64_t)(rate.value * RATE_SCALE),
			      memory_order_relaxed);
	return 0;
}

struct gen_rate
gen_rate_decode(uint64_t word)
{
	return (struct gen_rate){
		.kind = (enum gen_rate_kind)(word >> RATE_VALUE_BITS),
		.value = (double)(word & ((1ULL << RATE_VALUE_BITS) - 1)) / RATE_SCALE,
	};
}

void
gen_stats_read(const struct gen *g, struct gen_stats *s)
{
	*s = (struct gen_stats){
		.rx_good = gen_counted(&g->rx.good),
		.rx_bytes = gen_counted(&g->rx.bytes),
		.rx_corrupted = gen_counted(&g->rx.corrupted),
		.rx_duplicate = gen_counted(&g->rx.duplicate),
		.rx_reordered = gen_counted(&g->rx.reordered),
		.rx_late = gen_counted(&g->rx.late),
		.rx_foreign = gen_counted(&g->rx.foreign),
		.rx_lost = gen_counted(&g->rx.lost),
	};
	s->tx_no_mbuf = gen_counted(&g->tx.no_mbuf);
	s->tx_behind_ns = gen_counted(&g->tx.behind_ns);
	s->tx_bytes = gen_counted(&g->tx.bytes);
	s->tx_packets = gen_counted(&g->tx.packets);
}

void
gen_latency_read(const struct gen *g, struct ap_hist *copy)
{
	ap_hist_snapshot(&g->rx.latency, copy);
}

bool
gen_done(const struct gen *g)
{
	return g->cfg.packets != 0 && gen_counted(&g->tx.packets) >= g->cfg.packets;
}
