/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a cut costs, and what no cut can avoid: cycles a packet of ring_out and ring_in between
 * two CPUs, by burst, and cycles to move bytes from one core to another.
 */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/move.h"
#include "bench/result.h"
#include "core/eal.h"
#include "core/run.h"

#define DEPLOYMENT "deploy/gen-cut.yaml"
#define WINDOW_MS 5

static const char *const move_names[MOVE_KINDS] = {
	[MOVE_LOCAL] = "local",
	[MOVE_READ] = "read",
	[MOVE_WRITE] = "write",
	[MOVE_READ_WRITE] = "read+write",
};

struct hop {
	struct ap_config *cfg;
	struct ap_plan *plan;
	struct ap_run *run;
	struct harness_window out[HARNESS_WINDOWS_MAX];
	struct harness_window in[HARNESS_WINDOWS_MAX];
	double packets_per_visit;
	unsigned n;
};

static void
frame_on_worker(struct ap_worker *w, void *arg)
{
	(void)w;
	*(uint64_t *)arg = harness_frame();
}

/** The slower of the two lcores' frames. @return 0 or -ETIMEDOUT. */
static int
frame_both(struct ap_run *run, uint64_t *cycles)
{
	*cycles = 0;
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		uint64_t one = 0;
		int rc = ap_worker_run(&run->workers[i], frame_on_worker, &one);

		if (rc < 0)
			return rc;
		*cycles = RTE_MAX(*cycles, one);
	}
	return 0;
}

static double
cycles_between(const struct ap_account_row *a, const struct ap_account_row *b)
{
	return b->objs == a->objs ? 0
				  : (double)(b->cycles - a->cycles) / (double)(b->objs - a->objs);
}

static int
hop_window(struct hop *h, unsigned n)
{
	const struct ap_cut *cut = h->plan->cuts[0];
	struct ap_account_row out0, in0, out1, in1;
	uint64_t before, after;
	int rc = frame_both(h->run, &before);

	if (rc < 0)
		return rc;
	ap_account_node(cut->out, &out0);
	ap_account_node(cut->in, &in0);
	rte_delay_us_sleep(WINDOW_MS * 1000);
	ap_account_node(cut->out, &out1);
	ap_account_node(cut->in, &in1);
	rc = frame_both(h->run, &after);
	h->out[n] = (struct harness_window){cycles_between(&out0, &out1), before, after, 0, 0};
	h->in[n] = (struct harness_window){cycles_between(&in0, &in1), before, after, 0, 0};
	h->packets_per_visit = in1.calls == in0.calls ? 0
						      : (double)(in1.objs - in0.objs) /
								(double)(in1.calls - in0.calls);
	return rc;
}

static int
hop_up(struct hop *h, const char *file, unsigned burst, struct ap_error *err)
{
	h->cfg = ap_config_load(file, err);
	if (h->cfg == NULL)
		return -EINVAL;
	h->cfg->burst = burst;
	h->cfg->stats = AP_CFG_ON;
	h->plan = ap_plan_make(h->cfg, err);
	if (h->plan != NULL && h->plan->nb_cuts != 1)
		return ap_error_set(err, "%s: one cut is measured, this has %u", file,
				    h->plan->nb_cuts);
	return h->plan == NULL ? -EINVAL : 0;
}

static void
hop_down(struct hop *h)
{
	ap_plan_free(h->plan);
	ap_config_free(h->cfg);
	free(h);
}

/** @return 0, 1 when the books did not balance, or -errno. */
static int
hop_measure(struct hop *h, double seconds, struct ap_error *err)
{
	uint64_t end = rte_rdtsc() + (uint64_t)(seconds * (double)rte_get_tsc_hz());
	uint64_t clean = harness_frame_least(20);
	struct ap_account total;
	int rc;

	h->run = ap_run_create(h->cfg, h->plan, err);
	if (h->run == NULL)
		return -EINVAL;
	rc = ap_run_start(h->run, err);
	while (rc == 0 && h->n < HARNESS_WINDOWS_MAX && (h->n < 6 || rte_rdtsc() < end))
		rc = hop_window(h, h->n++);
	ap_run_quiesce(h->run, 1000);
	ap_run_stop(h->run);
	ap_account_total(h->plan, &total, err);
	ap_run_destroy(h->run);
	harness_classify(h->out + 1, h->n - 1, clean);
	harness_classify(h->in + 1, h->n - 1, clean);
	return rc < 0 ? rc : !total.balanced;
}

static void
row_common(struct bench_result *r, const struct harness_result *x)
{
	bench_num(r, "cycles_min", x->min, 1);
	bench_num(r, "cycles_max", x->max, 1);
	bench_int(r, "windows_clean", x->windows_clean);
	bench_int(r, "windows", x->windows);
}

static int
hop_row(const char *file, unsigned burst, double seconds, struct bench_result *r)
{
	struct hop *h = calloc(1, sizeof(*h));
	struct ap_error err = {0};
	struct harness_result out, in;
	int rc;

	if (h == NULL)
		return -ENOMEM;
	rc = hop_up(h, file, burst, &err);
	if (rc == 0)
		rc = hop_measure(h, seconds, &err);
	if (rc != 0) {
		fprintf(stderr, "bench cut: %s\n", err.text);
		hop_down(h);
		return rc;
	}
	out = harness_summary(h->out + 1, h->n - 1);
	in = harness_summary(h->in + 1, h->n - 1);
	bench_row(r);
	bench_str(r, "what", "hop");
	bench_str(r, "kind", "ring_out + ring_in");
	bench_int(r, "burst", burst);
	bench_num(r, "bytes", NAN, 0);
	bench_num(r, "cycles", out.median + in.median, 1);
	bench_num(r, "ring_out_cycles", out.median, 1);
	bench_num(r, "ring_in_cycles", in.median, 1);
	bench_num(r, "packets_per_visit", h->packets_per_visit, 1);
	in.min += out.min;
	in.max += out.max;
	row_common(r, &in);
	hop_down(h);
	return 0;
}

static void
move_row(enum move_kind kind, unsigned bytes, double seconds, struct bench_result *r)
{
	struct harness_result x =
		move_measure(kind, bytes, seconds, rte_get_next_lcore(-1, true, false));

	bench_row(r);
	bench_str(r, "what", "move");
	bench_str(r, "kind", move_names[kind]);
	bench_num(r, "burst", NAN, 0);
	bench_int(r, "bytes", bytes);
	bench_num(r, "cycles", x.median, 1);
	row_common(r, &x);
}

static int
eal_up(const char *file)
{
	struct ap_error err = {0};
	struct ap_config *cfg = ap_config_load(file, &err);
	struct ap_plan *plan = cfg ? ap_plan_make(cfg, &err) : NULL;
	int rc = plan ? ap_eal_start(plan, &err) : -EINVAL;

	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	ap_plan_free(plan);
	ap_config_free(cfg);
	return rc;
}

int
bench_cut(int argc, char **argv)
{
	struct bench_common common = {.seconds = 1};
	struct bench_uints bursts = {{8, 32, 64, 256}, 4}, bytes = {{64, 256, 1024}, 3};
	const char *file = bench_deployment(NULL, DEPLOYMENT);
	const struct bench_opt own[] = {
		{"bursts", BENCH_OPT_UINTS, &bursts, "packets that cross at once, 1..512"},
		{"bytes", BENCH_OPT_UINTS, &bytes, "sizes of what is moved, B"},
		{NULL, 0, NULL, NULL},
	};
	struct bench_result *r;
	int rc = bench_options(argc, argv,
			       "What a cut between two CPUs costs a packet, and what moving bytes "
			       "from core to core costs at least; each row measured for --seconds.",
			       &common, own);

	if (rc != 0)
		return rc > 0 ? 0 : 2;
	for (unsigned i = 0; i < bursts.n; i++)
		if (bursts.v[i] < 1 || bursts.v[i] > 512) {
			fprintf(stderr, "bench cut: --bursts: %u must be 1..512\n", bursts.v[i]);
			return 2;
		}
	if (eal_up(file) < 0)
		return 1;
	r = bench_result_open("cut", common.json);
	if (r == NULL)
		return 1;
	for (unsigned i = 0; i < bursts.n && rc == 0; i++)
		rc = hop_row(file, bursts.v[i], common.seconds, r);
	for (unsigned b = 0; b < bytes.n && rc == 0; b++)
		for (enum move_kind kind = 0; kind < MOVE_KINDS; kind++)
			move_row(kind, bytes.v[b], common.seconds, r);
	if (bench_result_close(r) < 0)
		rc = -EIO;
	rte_eal_cleanup();
	return rc != 0;
}
