/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * S4.3: cycles to build a TB out of N subPDUs, by strategy; against N at 5000 B (figure 8 of
 * the paper) and against the TB size at 20 subPDUs (figure 9).
 *
 * What is timed is what the mac_build node does: from RLC PDUs in cache between two marks to
 * the finished TB, subheaders and padding included, in one buffer as in the paper. Making the
 * PDUs and freeing the TB are not; `cycles_with_free` adds the latter, which the copying
 * strategies have partly done already. Every strategy's bytes are compared with a TB written
 * here byte by byte.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/mac_point.h"
#include "bench/result.h"
#include "core/meta.h"
#include "modules/mac/mac_build.h"

#define WINDOW_US 100
#define OUT_MAX (MAC_POINT_TB_MAX / 64 + 1)

static const char *const strategy_names[MAC_STRATEGIES] = {
	[MAC_SCATTER] = "scatter",
	[MAC_GATHER] = "gather",
	[MAC_SCHEME1] = "scheme1",
	[MAC_SCHEME2] = "scheme2",
};

/* In the order of the table. */
static const enum mac_strategy order[MAC_STRATEGIES] = {MAC_SCHEME1, MAC_SCHEME2, MAC_GATHER,
							MAC_SCATTER};

/** One strategy at one point. */
struct timing {
	struct mac_build builder;
	struct harness_window build[HARNESS_WINDOWS_MAX];
	struct harness_window with_free[HARNESS_WINDOWS_MAX];
	struct harness_result cycles;
	struct harness_result cycles_with_free;
	bool identical;
};

struct bench {
	struct l2_pools pools;
	uint64_t clock_cycles; /**< what reading the TSC twice takes */
	struct timing t[MAC_STRATEGIES];
	struct mac_build_run run;
	struct rte_mbuf *in[MAC_POINT_SUBPDUS_MAX + 2];
	struct rte_mbuf *out[OUT_MAX];
};

static void
build(struct bench *b, struct timing *t, const struct mac_point *p)
{
	b->run = (struct mac_build_run){.out = b->out, .max = OUT_MAX};
	mac_build(&t->builder, b->in, (uint16_t)(p->subpdus + 2), &b->run);
}

static bool
verify(struct bench *b, struct timing *t, const struct mac_point *p)
{
	static uint8_t want[MAC_POINT_TB_MAX], copy[MAC_POINT_TB_MAX];
	uint32_t at = 0;
	bool same = true;

	mac_point_expect(p, want);
	if (!mac_point_input(p, &b->pools, b->in, true))
		return false;
	build(b, t, p);
	for (uint32_t i = 0; i < b->run.nb_out; i++) {
		uint32_t n = b->out[i]->pkt_len;
		const void *bytes = rte_pktmbuf_read(b->out[i], 0, n, copy);

		same = same && at + n <= p->tb_bytes && memcmp(bytes, want + at, n) == 0;
		at += n;
	}
	rte_pktmbuf_free_bulk(b->out, b->run.nb_out);
	return same && at == p->tb_bytes;
}

/** Window `n`: as many TBs as fit its time. @return false when a pool ran dry. */
static bool
window(struct bench *b, struct timing *t, const struct mac_point *p, unsigned n)
{
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000000 * WINDOW_US;
	uint64_t built = 0, freed = 0, t0, t1, t2;
	struct harness_window *w = &t->build[n];
	long before = harness_switches();
	unsigned tbs = 0;

	w->frame_before = harness_frame();
	do {
		if (!mac_point_input(p, &b->pools, b->in, false))
			return false;
		t0 = rte_rdtsc_precise();
		build(b, t, p);
		t1 = rte_rdtsc_precise();
		rte_pktmbuf_free_bulk(b->out, b->run.nb_out);
		t2 = rte_rdtsc_precise();
		built += t1 - t0 - RTE_MIN(b->clock_cycles, t1 - t0);
		freed += t2 - t1 - RTE_MIN(b->clock_cycles, t2 - t1);
		tbs++;
	} while (t2 < end);
	w->frame_after = harness_frame();
	w->preempted = harness_switches() != before;
	w->value = (double)built / tbs;
	t->with_free[n] = *w;
	t->with_free[n].value = (double)(built + freed) / tbs;
	return true;
}

static void
summarize(struct timing *t, unsigned n, uint64_t clean)
{
	/* The first window warmed caches and branch predictors. */
	harness_classify(t->build + 1, n - 1, clean);
	harness_classify(t->with_free + 1, n - 1, clean);
	t->cycles = harness_summary(t->build + 1, n - 1);
	t->cycles_with_free = harness_summary(t->with_free + 1, n - 1);
}

/** Windows of the four strategies take turns: a busy neighbour then hits them alike. */
static int
measure(struct bench *b, const struct mac_point *p, double seconds)
{
	uint64_t clean = harness_frame_least(20);
	uint64_t end =
		rte_rdtsc() + (uint64_t)(seconds * MAC_STRATEGIES * (double)rte_get_tsc_hz());
	unsigned n = 0;

	while (n < HARNESS_WINDOWS_MAX && (n < 6 || rte_rdtsc() < end)) {
		for (unsigned s = 0; s < MAC_STRATEGIES; s++)
			if (!window(b, &b->t[s], p, n))
				return -ENOMEM;
		n++;
	}
	for (unsigned s = 0; s < MAC_STRATEGIES; s++)
		summarize(&b->t[s], n, clean);
	return 0;
}

/**
 * The paper's scheme 1 / scheme 2: "similar performance up to 50", "about 37%" at 100, read as
 * 37 % less time; no difference over TB sizes. NaN where it has no figure.
 */
static double
paper_ratio(const struct mac_point *p)
{
	if (p->subpdus <= 50)
		return 1.0;
	return p->subpdus == 100 ? 1 / (1 - 0.37) : NAN;
}

static void
print_point(struct bench_result *r, const struct mac_point *p, const struct timing *t)
{
	double ratio = t[MAC_SCHEME1].cycles.median / t[MAC_SCHEME2].cycles.median;

	for (unsigned i = 0; i < MAC_STRATEGIES; i++) {
		const struct timing *x = &t[order[i]];
		bool scheme = order[i] == MAC_SCHEME1 || order[i] == MAC_SCHEME2;

		bench_row(r);
		bench_str(r, "strategy", strategy_names[order[i]]);
		bench_int(r, "subpdus", p->subpdus);
		bench_int(r, "tb_bytes", p->tb_bytes);
		bench_num(r, "cycles", x->cycles.median, 0);
		bench_num(r, "cycles_min", x->cycles.min, 0);
		bench_num(r, "cycles_max", x->cycles.max, 0);
		bench_num(r, "cycles_per_subpdu", x->cycles.median / p->subpdus, 1);
		bench_num(r, "cycles_with_free", x->cycles_with_free.median, 0);
		bench_num(r, "scheme1_over_scheme2", scheme ? ratio : NAN, 2);
		bench_num(r, "paper_scheme1_over_scheme2", scheme ? paper_ratio(p) : NAN, 2);
		bench_int(r, "windows_clean", x->cycles.windows_clean);
		bench_int(r, "windows", x->cycles.windows);
		bench_bool(r, "identical", x->identical);
	}
}

/** @return 0, 1 when some bytes differed, or -errno. */
static int
measure_point(struct bench *b, const struct mac_point *p, double seconds, struct bench_result *r)
{
	unsigned made = 0;
	int bad = 0, ret = 0;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%u subPDUs, %u B   ", p->subpdus, p->tb_bytes);
	for (; made < MAC_STRATEGIES && ret == 0; made++) {
		const struct mac_build_cfg cfg = {made, p->fragment_bytes};
		struct timing *t = &b->t[made];

		ret = mac_build_init(&t->builder, &cfg, &b->pools, 0);
		if (ret < 0)
			break;
		t->identical = verify(b, t, p);
		if (!t->identical) {
			fprintf(stderr, "bench mac-build: %s: wrong bytes at %u subPDUs, %u B\n",
				strategy_names[made], p->subpdus, p->tb_bytes);
			bad = 1;
		}
	}
	if (ret == 0)
		ret = measure(b, p, seconds);
	while (made-- > 0)
		mac_build_fini(&b->t[made].builder);
	if (ret < 0)
		return ret;
	print_point(r, p, b->t);
	return bad;
}

static bool
make_pools(struct l2_pools *pools)
{
	pools->proto = rte_pktmbuf_pool_create("bench_mac_sdu", 4095, 256, 0,
					       RTE_PKTMBUF_HEADROOM + MAC_POINT_SDU_ROOM, 0);
	pools->phy = rte_pktmbuf_pool_create("bench_mac_tb", 255, 32, 0,
					     RTE_PKTMBUF_HEADROOM + MAC_POINT_TB_MAX, 0);
	pools->hdr = rte_pktmbuf_pool_create("bench_mac_hdr", 1023, 64, 0,
					     RTE_PKTMBUF_HEADROOM + 128, 0);
	pools->ind = rte_pktmbuf_pool_create("bench_mac_ind", 1023, 64, 0, 0, 0);
	return pools->proto && pools->phy && pools->hdr && pools->ind;
}

static void
free_pools(struct l2_pools *pools)
{
	rte_mempool_free(pools->proto);
	rte_mempool_free(pools->phy);
	rte_mempool_free(pools->hdr);
	rte_mempool_free(pools->ind);
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

/** Measures a list of points, then gives them up at the first that cannot be built. */
static int
measure_list(struct bench *b, const struct bench_uints *subpdus, const struct bench_uints *sizes,
	     unsigned fragment_bytes, double seconds, struct bench_result *r)
{
	int ret = 0;

	for (unsigned c = 0; c < subpdus->n; c++)
		for (unsigned s = 0; s < sizes->n; s++) {
			struct mac_point p;
			int one = -EINVAL;

			if (subpdus->v[c] >= 1 && subpdus->v[c] <= MAC_POINT_SUBPDUS_MAX &&
			    sizes->v[s] <= MAC_POINT_TB_MAX &&
			    mac_point_init(&p, subpdus->v[c], sizes->v[s], fragment_bytes))
				one = measure_point(b, &p, seconds, r);
			if (one < 0) {
				fprintf(stderr, "bench mac-build: %u subPDUs in %u B: %s\n",
					subpdus->v[c], sizes->v[s], strerror(-one));
				return one;
			}
			ret |= one;
		}
	return ret;
}

int
bench_mac_build(int argc, char **argv)
{
	struct bench_common common = {.seconds = 0.05};
	struct bench_uints counts = {{1, 2, 5, 10, 20, 50, 75, 100, 150, 200}, 10};
	struct bench_uints sizes = {{1000, 2000, 5000, 10000, 20000, 30000, 40000, 50000, 60000},
				    9};
	const struct bench_uints paper_size = {{5000}, 1}, paper_count = {{20}, 1};
	unsigned fragment = MAC_POINT_TB_MAX;
	const struct bench_opt own[] = {
		{"subpdus", BENCH_OPT_UINTS, &counts, "subPDUs in a TB of 5000 B"},
		{"sizes", BENCH_OPT_UINTS, &sizes, "TB sizes with 20 subPDUs, B"},
		{"fragment", BENCH_OPT_UINT, &fragment, "TB bytes in one buffer, 64..65000"},
		{NULL, 0, NULL, NULL},
	};
	struct bench *b;
	struct bench_result *r;
	int ret = bench_options(argc, argv,
				"S4.3: cycles to build a TB, four strategies, each row measured "
				"for --seconds (0.05).",
				&common, own);

	if (ret != 0)
		return ret > 0 ? 0 : 2;
	if (ap_ext_offset < 0 && ap_meta_register() < 0)
		return 1;
	b = calloc(1, sizeof(*b));
	r = b ? bench_result_open("mac-build", common.json) : NULL;
	if (r == NULL) {
		free(b);
		return 1;
	}
	b->clock_cycles = clock_cycles();
	ret = make_pools(&b->pools) ? 0 : -ENOMEM;
	if (ret == 0)
		ret = measure_list(b, &counts, &paper_size, fragment, common.seconds, r);
	if (ret >= 0)
		ret |= measure_list(b, &paper_count, &sizes, fragment, common.seconds, r);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%30s\r", "");
	if (ret == -ENOMEM)
		fprintf(stderr, "bench mac-build: out of memory\n");
	free_pools(&b->pools);
	free(b);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
