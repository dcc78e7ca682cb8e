/* SPDX-License-Identifier: BSD-3-Clause */
/** Trials on the test bed of upf_bed.h: windows between fixed loops, as harness.h says. */
#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>

#include "bench/harness.h"
#include "bench/upf_bed_impl.h"
#include "core/clock.h"

#define WINDOW_MS 4 /* a thread that must share its CPU keeps it for about so long */
#define WARM_MS 40
#define SAMPLE_NS 20000 /* time reading the counters may take */
#define SAMPLE_TRIES 50
#define WINDOWS_MAX 4096
#define SHARE_CLEAN 0.97 /* the control threads want a little */

/** Counters at one moment. */
struct sample {
	uint64_t ns;
	uint64_t good;
	uint64_t busy[AP_LCORES_MAX], idle[AP_LCORES_MAX];
	uint64_t gen_busy, gen_all;
};

struct window {
	double mpps, busy, cycles, generator;
	bool clean;
};

static uint64_t
load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/** Tries again when this thread lost its CPU in between: counters and time must belong together. */
static void
take_sample(const struct upf_bed *b, struct sample *s)
{
	for (unsigned tries = 0; tries < SAMPLE_TRIES; tries++) {
		uint64_t before = ap_clock_ns();

		for (unsigned i = 0; i < b->plan->nb_lcores; i++) {
			s->busy[i] = b->run->workers[i].busy_cycles;
			s->idle[i] = b->run->workers[i].idle_cycles;
		}
		s->good = 0;
		for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
			s->good += load(&b->gen.flow[d].c.good);
		s->gen_busy = load(&b->gen.busy_cycles);
		s->gen_all = load(&b->gen.all_cycles);
		s->ns = ap_clock_ns();
		if (s->ns - before <= SAMPLE_NS)
			break;
	}
}

/** Of every CPU of the measurement: the generator's, then the lcores'. */
struct frames {
	struct upf_frame f[1 + AP_LCORES_MAX];
};

static void
frame_on_worker(struct ap_worker *w, void *arg)
{
	(void)w;
	upf_frame_take(arg);
}

static int
frames_take(struct upf_bed *b, struct frames *f)
{
	int rc = 0;

	upf_gen_frame(&b->gen, &f->f[0]);
	for (unsigned i = 0; i < b->plan->nb_lcores && rc == 0; i++)
		rc = upf_bed_call(b, i, frame_on_worker, &f->f[1 + i]);
	return rc;
}

/** @return whether all CPUs ran at clean speed at both ends, and nobody else had them between */
static bool
frames_clean(const struct upf_bed *b, const struct frames *a, const struct frames *e)
{
	bool clean = true;

	for (unsigned i = 0; i <= b->plan->nb_lcores; i++)
		clean &= harness_frame_clean(a->f[i].cycles) &&
			 harness_frame_clean(e->f[i].cycles) &&
			 upf_frame_share(&a->f[i], &e->f[i]) >= SHARE_CLEAN;
	return clean;
}

static struct window
window_of(const struct upf_bed *b, const struct sample *s, const struct sample *e)
{
	double packets = (double)(e->good - s->good);
	double all = (double)(e->gen_all - s->gen_all);
	struct window w = {
		.mpps = packets / (double)(e->ns - s->ns) * 1e3,
		.generator = all > 0 ? 100 * (double)(e->gen_busy - s->gen_busy) / all : 0,
	};

	for (unsigned i = 0; i < b->plan->nb_lcores; i++) {
		double busy = (double)(e->busy[i] - s->busy[i]);

		all = busy + (double)(e->idle[i] - s->idle[i]);
		w.busy = RTE_MAX(w.busy, all > 0 ? 100 * busy / all : 0);
		w.cycles += packets > 0 ? busy / packets : 0;
	}
	return w;
}

/** Fills the trial's medians. */
static void
summarize(const struct window *w, unsigned n, struct upf_bed_trial *t)
{
#define OVER(what) harness_over(&w->what, &w->clean, sizeof(*w), n)
	const struct harness_result mpps = OVER(mpps);

	t->windows = mpps.windows;
	t->windows_clean = mpps.windows_clean;
	t->mpps = mpps.median;
	t->mpps_min = mpps.min;
	t->mpps_max = mpps.max;
	t->busy_percent = OVER(busy).median;
	t->cycles_per_packet = OVER(cycles).median;
	t->generator_percent = OVER(generator).median;
#undef OVER
}

void
upf_bed_losses(const struct upf_bed *b, struct upf_bed_trial *t, bool begin)
{
	const uint64_t sign = begin ? -1ULL : 1;

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		const struct upf_gen_counters *c = &b->gen.flow[d].c;

		t->sent += sign * load(&c->sent);
		t->lost += sign * load(&c->given_up);
		t->corrupted += sign * load(&c->corrupted);
		t->duplicated += sign * load(&c->duplicated);
		t->reordered += sign * load(&c->reordered);
	}
	t->foreign += sign * load(&b->gen.foreign);
}

/** Of both directions together. */
static void
delays(const struct upf_bed *b, struct ap_hist *h)
{
	static struct ap_hist down;

	ap_hist_snapshot(&b->gen.flow[UPF_WIRE_UP].delay, h);
	ap_hist_snapshot(&b->gen.flow[UPF_WIRE_DOWN].delay, &down);
	ap_hist_merge(h, &down);
}

void
upf_bed_rates(struct upf_bed *b, unsigned directions, double pps)
{
	double share = directions == (UPF_BED_UP | UPF_BED_DOWN) ? pps / 2 : pps;
	struct gen_rate rate = {pps > 0 ? GEN_RATE_PPS : GEN_RATE_MAX, share};

	/* With flows one rate is that of both. */
	if (b->cfg.dpi) {
		directions = UPF_BED_UP;
		rate.value = pps;
	}
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		if (directions & 1U << d)
			upf_gen_rate(&b->gen, d, rate);
}

/** @return windows measured, or -errno */
static int
windows_take(struct upf_bed *b, double seconds, struct window *windows)
{
	uint64_t end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	struct ap_error err;
	int rc = 0, n = 0;

	while (rc == 0 && n < WINDOWS_MAX && (n == 0 || ap_clock_ns() < end)) {
		struct frames before, after;
		struct sample s, e;

		rc = frames_take(b, &before);
		if (rc < 0)
			break;
		take_sample(b, &s);
		rte_delay_us_sleep(WINDOW_MS * 1000);
		take_sample(b, &e);
		rc = frames_take(b, &after);
		windows[n] = window_of(b, &s, &e);
		windows[n++].clean = rc == 0 && frames_clean(b, &before, &after);
		if (rc == 0 && b->agent && upf_agent_idle(b->agent, &err) < 0) {
			fprintf(stderr, "bench upf: %s\n", err.text);
			rc = -EIO;
		}
	}
	return rc < 0 ? rc : n;
}

int
upf_bed_trial(struct upf_bed *b, unsigned directions, double pps, double seconds,
	      struct upf_bed_trial *t)
{
	static struct ap_hist before, after;
	static struct window windows[WINDOWS_MAX];
	int n, rc;

	*t = (struct upf_bed_trial){.offered_pps = pps};
	upf_bed_losses(b, t, true);
	upf_bed_rates(b, directions, pps);
	rte_delay_us_sleep(WARM_MS * 1000);
	delays(b, &before);
	n = windows_take(b, seconds, windows);
	delays(b, &after);
	rc = upf_bed_settle(b);
	upf_bed_losses(b, t, false);
	if (n < 0 || rc < 0)
		return n < 0 ? n : rc;
	summarize(windows, (unsigned)n, t);
	ap_hist_subtract(&after, &before);
	t->delay_us_p50 = (double)ap_hist_percentile(&after, 50) / 1e3;
	t->delay_us_p99 = (double)ap_hist_percentile(&after, 99) / 1e3;
	t->delay_us_mean = ap_hist_mean(&after) / 1e3;
	t->generator_limited = t->busy_percent < 90 && (pps <= 0 || t->mpps * 1e6 < 0.98 * pps);
	return 0;
}
