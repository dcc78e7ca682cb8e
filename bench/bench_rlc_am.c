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
#include "bench/rlc_am_bed.h"
#include "core/meta.h"

static const char *const part_names[] = {"tx", "rx", "status", "tx+rx"};
static const char *const order_names[] = {"in_order", "reverse", "swapped_edges", "random"};

static long
switches(void)
{
	struct rusage u = {0};

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static struct harness_result
measure(struct rlc_am_bed *b, double seconds)
{
	static struct harness_window windows[HARNESS_WINDOWS_MAX];
	const uint64_t clean = harness_frame_least(20);
	const uint64_t end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	unsigned n = 0;

	b->lost = false;
	while (n < HARNESS_WINDOWS_MAX && !b->lost && (n < 6 || rte_rdtsc() < end)) {
		struct harness_window *w = &windows[n++];
		long before = switches();

		b->cycles = 0;
		w->frame_before = harness_frame();
		b->lost = !rlc_am_bed_batch(b);
		w->frame_after = harness_frame();
		w->preempted = switches() != before;
		w->value = (double)b->cycles / RLC_AM_BED_BATCH;
	}
	/* The first window warmed caches and branch predictors. */
	harness_classify(windows + 1, n - 1, clean);
	return harness_summary(windows + 1, n - 1);
}

/** srsRAN Project, 1500 B; NaN where there is no figure. */
static double
peer_ns(const struct rlc_am_bed *b)
{
	if (b->bytes != 1500)
		return NAN;
	switch (b->part) {
	case RLC_AM_BED_TX:
		return 479;
	case RLC_AM_BED_RX:
		return b->order == RLC_AM_BED_IN_ORDER ? 353
		       : b->order == RLC_AM_BED_RANDOM ? NAN
						       : 118000;
	case RLC_AM_BED_STATUS:
		return 157000.0 / RLC_AM_BED_BATCH;
	case RLC_AM_BED_ALL:
		break;
	}
	return NAN;
}

static void
row(struct rlc_am_bed *b, enum rlc_sn_len bits, const struct harness_result *c,
    struct bench_result *r)
{
	const bool ordered = b->part == RLC_AM_BED_RX || b->part == RLC_AM_BED_ALL;
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
	bench_int(r, "batch", RLC_AM_BED_BATCH);
	bench_num(r, "us_per_batch", ns * RLC_AM_BED_BATCH / 1000, 1);
	bench_int(r, "windows_clean", c->windows_clean);
	bench_int(r, "windows", c->windows);
	bench_bool(r, "lossless", !b->lost);
}

/* @return 0, 1 when something was lost, or -errno. */
static int
measure_size(struct rlc_am_bed *b, unsigned bytes, enum rlc_sn_len bits, double seconds,
	     struct bench_result *r)
{
	static const struct {
		enum rlc_am_bed_part part;
		enum rlc_am_bed_order order;
	} rows[] = {{RLC_AM_BED_TX, RLC_AM_BED_IN_ORDER}, {RLC_AM_BED_RX, RLC_AM_BED_IN_ORDER},
		    {RLC_AM_BED_RX, RLC_AM_BED_REVERSE},  {RLC_AM_BED_RX, RLC_AM_BED_SWAPPED_EDGES},
		    {RLC_AM_BED_RX, RLC_AM_BED_RANDOM},   {RLC_AM_BED_STATUS, RLC_AM_BED_IN_ORDER},
		    {RLC_AM_BED_ALL, RLC_AM_BED_IN_ORDER}};
	int bad = 0;

	b->bytes = bytes;
	for (unsigned i = 0; i < RTE_DIM(rows); i++) {
		struct harness_result c;
		int ret = rlc_am_bed_entities(b, bits);

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

static int
measure_sizes(struct rlc_am_bed *b, const struct bench_uints *sizes, unsigned bits, double seconds,
	      struct bench_result *r)
{
	int bad = 0;

	for (unsigned i = 0; i < sizes->n; i++) {
		int one = -EINVAL;

		if (sizes->v[i] >= 16 && sizes->v[i] <= RLC_AM_BED_ROOM)
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
	struct rlc_am_bed *b;
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
	ret = rlc_am_bed_make(b) ? measure_sizes(b, &sizes, bits, common.seconds, r) : -ENOMEM;
	if (ret == -ENOMEM)
		fprintf(stderr, "bench rlc-am: out of memory\n");
	rlc_am_bed_free(b);
	rte_free(b);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
