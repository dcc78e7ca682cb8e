/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Cycles an AM entity takes for a PDU: sending (SDU in, PDU out), receiving in several orders,
 * acting on a STATUS PDU, and all of it together.
 *
 * A batch is 2048 SDUs, the window of 12-bit SNs. Timed are the calls the nodes make; what stands
 * for port, PHY and upper layer is not: filling buffers, copying PDUs to the receiver's, freeing
 * what was sent and delivered. A row fails when an SDU is lost or stays unacknowledged.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/result.h"
#include "core/meta.h"
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"

#define BATCH 2048
#define BURST 64
#define PULL 256 /* what mac_slot takes at once */
#define ROOM 2048
#define HEADER_MAX RLC_AMD_HEADER_MAX

enum part { PART_TX, PART_RX, PART_STATUS, PART_ALL };
enum order { IN_ORDER, REVERSE, SWAPPED_EDGES, RANDOM, ORDERS };

static const char *const part_names[] = {"tx", "rx", "status", "tx+rx"};
static const char *const order_names[] = {"in_order", "reverse", "swapped_edges", "random"};

struct bench {
	struct l2_pools pools;
	struct rte_mempool *air; /* the receiver's buffers */
	struct rlc_tx tx;
	struct rlc_rx rx;
	uint64_t rx_drops[RLC_RX_DROPS], tx_drops[RLC_TX_DROPS];
	struct rlc_rx_counts counts;
	struct rlc_tx_pull_stats stats;
	enum part part;
	enum order order;
	unsigned bytes;
	uint32_t rnd;
	uint64_t clock_cycles, cycles; /* of reading the clock twice; of the timed calls */
	uint64_t now_ns;
	bool lost;
	struct rte_mbuf *sdus[BATCH], *pdus[2 * BATCH], *air_pdus[2 * BATCH];
	struct harness_window windows[HARNESS_WINDOWS_MAX];
};

/* --- what is timed ---------------------------------------------------------------------------- */

static void
timed(struct bench *b, enum part part, uint64_t since)
{
	uint64_t cycles = rte_rdtsc_precise() - since;

	if (part == b->part || b->part == PART_ALL)
		b->cycles += cycles - RTE_MIN(cycles, b->clock_cycles);
}

/* SDUs in and PDUs out, a burst after the other as they come. @return PDUs. */
static unsigned
transmit(struct bench *b)
{
	uint64_t start = rte_rdtsc_precise();
	unsigned n = 0;

	for (unsigned i = 0; i < BATCH; i += PULL) {
		uint32_t grant = UINT32_MAX / 2;

		for (unsigned k = i; k < i + PULL; k += BURST)
			rlc_tx_push(&b->tx, b->sdus + k, BURST, b->now_ns, b->tx_drops);
		n += rlc_tx_pull(&b->tx, &grant, b->pdus + n, PULL + 1, b->now_ns, &b->stats);
	}
	timed(b, PART_TX, start);
	return n;
}

/* `n` PDUs become SDUs in place. @return how many. */
static unsigned
receive(struct bench *b, unsigned n)
{
	uint64_t start = rte_rdtsc_precise();
	unsigned k = 0;

	for (unsigned i = 0; i < n; i += BURST)
		k += rlc_rx_receive(&b->rx, b->air_pdus + i, RTE_MIN(n - i, BURST), b->air_pdus + k,
				    &b->counts, b->now_ns);
	timed(b, PART_RX, start);
	return k;
}

/* --- what is not ------------------------------------------------------------------------------ */

static bool
make_sdus(struct bench *b)
{
	if (rte_pktmbuf_alloc_bulk(b->pools.proto, b->sdus, BATCH))
		return false;
	for (unsigned i = 0; i < BATCH; i++) {
		struct rte_mbuf *m = b->sdus[i];

		*ap_meta(m) = (struct ap_meta){0};
		m->data_len = (uint16_t)b->bytes;
		m->pkt_len = b->bytes;
		*rte_pktmbuf_mtod(m, uint32_t *) = i; /* PDCP has just written its header */
	}
	return true;
}

static uint32_t
rnd(struct bench *b)
{
	b->rnd = b->rnd * 1664525 + 1013904223;
	return b->rnd >> 8;
}

static void
swap(struct rte_mbuf **p, unsigned i, unsigned k)
{
	struct rte_mbuf *m = p[i];

	p[i] = p[k];
	p[k] = m;
}

static void
put_in_order(struct bench *b, struct rte_mbuf **p, unsigned n)
{
	for (unsigned i = 0; b->order == REVERSE && i < n / 2; i++)
		swap(p, i, n - 1 - i);
	if (b->order == SWAPPED_EDGES)
		swap(p, 0, n - 1);
	for (unsigned i = n - 1; b->order == RANDOM && i > 0; i--)
		swap(p, i, rnd(b) % (i + 1));
}

/* What the PHY does: data PDUs come in other buffers. STATUS PDUs are none of the batch's. */
static bool
carry(struct bench *b, unsigned n)
{
	if (n != BATCH || rte_pktmbuf_alloc_bulk(b->air, b->air_pdus, n))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *from = b->pdus[i], *to = b->air_pdus[i];

		memcpy(rte_pktmbuf_mtod(to, void *), rte_pktmbuf_mtod(from, void *),
		       HEADER_MAX + sizeof(uint32_t));
		to->data_len = from->data_len;
		to->pkt_len = from->pkt_len;
		*ap_meta(to) = (struct ap_meta){0};
	}
	put_in_order(b, b->air_pdus, n);
	rte_pktmbuf_free_bulk(b->pdus, n);
	return true;
}

/* The STATUS PDU comes back and is acted on. @return whether it acknowledged everything. */
static bool
acknowledge(struct bench *b)
{
	struct rte_mbuf *m;
	uint32_t grant = UINT16_MAX;
	uint64_t start;

	start = rte_rdtsc_precise();
	if (rlc_tx_pull(&b->tx, &grant, &m, 1, b->now_ns, &b->stats) != 1)
		return false;
	rlc_rx_receive(&b->rx, &m, 1, &m, &b->counts, b->now_ns);
	rlc_tx_slot(&b->tx, b->now_ns);
	timed(b, PART_STATUS, start);
	return rlc_tx_held(&b->tx) == 0;
}

/* @return false when an SDU was lost. */
static bool
batch(struct bench *b)
{
	uint64_t seen = 0;
	unsigned n;

	b->now_ns += 125000;
	if (!make_sdus(b) || !carry(b, transmit(b)))
		return false;
	n = receive(b, BATCH);
	for (unsigned i = 0; i < n; i++)
		seen += *rte_pktmbuf_mtod(b->air_pdus[i], uint32_t *);
	rte_pktmbuf_free_bulk(b->air_pdus, n);
	return n == BATCH && seen == (uint64_t)BATCH * (BATCH - 1) / 2 && acknowledge(b);
}

/* --- measuring -------------------------------------------------------------------------------- */

static long
switches(void)
{
	struct rusage u = {0};

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static struct harness_result
measure(struct bench *b, double seconds)
{
	const uint64_t clean = harness_frame_least(20);
	const uint64_t end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	unsigned n = 0;

	b->lost = false;
	while (n < HARNESS_WINDOWS_MAX && !b->lost && (n < 6 || rte_rdtsc() < end)) {
		struct harness_window *w = &b->windows[n++];
		long before = switches();

		b->cycles = 0;
		w->frame_before = harness_frame();
		b->lost = !batch(b);
		w->frame_after = harness_frame();
		w->preempted = switches() != before;
		w->value = (double)b->cycles / BATCH;
	}
	/* The first window warmed caches and branch predictors. */
	harness_classify(b->windows + 1, n - 1, clean);
	return harness_summary(b->windows + 1, n - 1);
}

static int
entity_up(struct bench *b, enum rlc_sn_len bits)
{
	const struct rlc_tx_cfg tx = {
		.mode = RLC_AM,
		.sn_FieldLength = bits,
		.queue_sdus = 2 * BATCH,
		.lcid = 4,
		.pools = &b->pools,
		.am = {.t_PollRetransmit_ms = 10, .pollPDU = 64, .maxRetxThreshold = 32},
	};
	struct rlc_rx_cfg rx = {.mode = RLC_AM, .sn_FieldLength = bits, .t_Reassembly_ms = 5};
	int ret = rlc_tx_init(&b->tx, &tx);

	if (ret < 0)
		return ret;
	rx.am = rlc_tx_am_link(&b->tx);
	b->counts.drops = b->rx_drops;
	return rlc_rx_init(&b->rx, &rx);
}

/** srsRAN Project, 1500 B; NaN where there is no figure. */
static double
peer_ns(const struct bench *b)
{
	if (b->bytes != 1500)
		return NAN;
	switch (b->part) {
	case PART_TX:
		return 479;
	case PART_RX:
		return b->order == IN_ORDER ? 353 : b->order == RANDOM ? NAN : 118000;
	case PART_STATUS:
		return 157000.0 / BATCH;
	case PART_ALL:
		break;
	}
	return NAN;
}

static void
row(struct bench *b, enum rlc_sn_len bits, const struct harness_result *c, struct bench_result *r)
{
	const bool ordered = b->part == PART_RX || b->part == PART_ALL;
	const double ns = c->median * 1e9 / (double)rte_get_tsc_hz();

	bench_row(r);
	bench_str(r, "direction", part_names[b->part]);
	bench_int(r, "bytes", b->bytes);
	bench_str(r, "order", ordered ? order_names[b->order] : "-");
	bench_int(r, "sn_bits", bits);
	bench_num(r, "cycles_per_pdu", c->median, 1);
	bench_num(r, "cycles_min", c->min, 1);
	bench_num(r, "cycles_max", c->max, 1);
	bench_num(r, "ns_per_pdu", ns, 1);
	bench_num(r, "peer_ns", peer_ns(b), 0);
	bench_num(r, "peer_over_ours", peer_ns(b) / ns, 1);
	bench_num(r, "gbps", b->bytes * 8 / c->median * (double)rte_get_tsc_hz() / 1e9, 1);
	bench_int(r, "batch", BATCH);
	bench_num(r, "us_per_batch", ns * BATCH / 1000, 1);
	bench_int(r, "windows_clean", c->windows_clean);
	bench_int(r, "windows", c->windows);
	bench_bool(r, "lossless", !b->lost);
}

/* @return 0, 1 when something was lost, or -errno. */
static int
measure_size(struct bench *b, unsigned bytes, enum rlc_sn_len bits, double seconds,
	     struct bench_result *r)
{
	static const struct {
		enum part part;
		enum order order;
	} rows[] = {{PART_TX, IN_ORDER},      {PART_RX, IN_ORDER}, {PART_RX, REVERSE},
		    {PART_RX, SWAPPED_EDGES}, {PART_RX, RANDOM},   {PART_STATUS, IN_ORDER},
		    {PART_ALL, IN_ORDER}};
	int bad = 0;

	b->bytes = bytes;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct harness_result c;
		int ret = entity_up(b, bits);

		if (ret < 0)
			return ret;
		b->part = rows[i].part;
		b->order = rows[i].order;
		c = measure(b, seconds);
		row(b, bits, &c, r);
		if (b->lost)
			fprintf(stderr, "bench rlc-am: %s, %s, %u B: SDUs were lost\n",
				part_names[b->part], order_names[b->order], bytes);
		bad |= b->lost;
		rlc_tx_fini(&b->tx);
		rlc_rx_fini(&b->rx);
	}
	return bad;
}

static bool
make_pools(struct bench *b)
{
	const uint16_t room = RTE_PKTMBUF_HEADROOM + ROOM;

	b->pools.proto = rte_pktmbuf_pool_create("bench_am_sdu", 8191, 256, 0, room, 0);
	b->air = rte_pktmbuf_pool_create("bench_am_air", 8191, 256, 0, room, 0);
	b->pools.hdr =
		rte_pktmbuf_pool_create("bench_am_hdr", 1023, 64, 0, RTE_PKTMBUF_HEADROOM + 128, 0);
	b->pools.ind = rte_pktmbuf_pool_create("bench_am_ind", 1023, 64, 0, 0, 0);
	return b->pools.proto && b->air && b->pools.hdr && b->pools.ind;
}

static void
free_pools(struct bench *b)
{
	rte_mempool_free(b->pools.proto);
	rte_mempool_free(b->air);
	rte_mempool_free(b->pools.hdr);
	rte_mempool_free(b->pools.ind);
}

static uint64_t
clock_cycles(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t start = rte_rdtsc_precise();

		least = RTE_MIN(least, rte_rdtsc_precise() - start);
	}
	return least;
}

static int
measure_sizes(struct bench *b, const struct bench_uints *sizes, unsigned bits, double seconds,
	      struct bench_result *r)
{
	int bad = 0;

	for (unsigned i = 0; i < sizes->n; i++) {
		int one = -EINVAL;

		if (sizes->v[i] >= 16 && sizes->v[i] <= ROOM)
			one = measure_size(b, sizes->v[i], (enum rlc_sn_len)bits, seconds, r);
		if (one < 0) {
			fprintf(stderr, "bench rlc-am: %u B, SNs of %u bits: %s\n", sizes->v[i],
				bits, strerror(-one));
			return one;
		}
		bad |= one;
	}
	return bad;
}

int
bench_rlc_am(int argc, char **argv)
{
	struct bench_common common = {.seconds = 0.3};
	struct bench_uints sizes = {{1024, 1500}, 2};
	unsigned bits = 18;
	const struct bench_opt own[] = {
		{"sizes", BENCH_OPT_UINTS, &sizes, "SDU sizes, 16..2048 B [1024,1500]"},
		{"sn-bits", BENCH_OPT_UINT, &bits, "12 or 18 [18]"},
		{NULL, 0, NULL, NULL},
	};
	struct bench *b;
	struct bench_result *r;
	int ret = bench_options(argc, argv,
				"RLC AM: cycles a PDU, sending, receiving and acknowledging; each "
				"row measured for --seconds (0.3).",
				&common, own);

	if (ret != 0)
		return ret > 0 ? 0 : 2;
	if (ap_ext_offset < 0 && ap_meta_register() < 0)
		return 1;
	b = rte_zmalloc("bench_rlc_am", sizeof(*b), RTE_CACHE_LINE_SIZE);
	r = b ? bench_result_open("rlc-am", common.json) : NULL;
	if (r == NULL) {
		rte_free(b);
		return 1;
	}
	b->clock_cycles = clock_cycles();
	ret = make_pools(b) ? measure_sizes(b, &sizes, bits, common.seconds, r) : -ENOMEM;
	if (ret == -ENOMEM)
		fprintf(stderr, "bench rlc-am: out of memory\n");
	free_pools(b);
	rte_free(b);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
