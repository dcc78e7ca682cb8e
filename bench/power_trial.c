/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "bench/power_trial.h"
#include "bench/upf_bed_impl.h"
#include "core/clock.h"
#include "modules/power/power.h"
#include "modules/power/power_rapl.h"

#define WARM_MS 250     /* P-states step down every 100 ms, and the slot has to be learned */
#define CAPACITY_PART 4 /* of a trial's time */

struct moment {
	struct upf_frame gen;
	uint64_t waited_ns;
	uint64_t ns, good, sent, refused, corrupted;
	uint64_t busy, all;
	struct power_sample s[AP_LCORES_MAX];
};

static uint64_t
load(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void
moment_take(const struct upf_bed *b, struct moment *m)
{
	const struct upf_gen_counters *c = &b->gen.flow[UPF_WIRE_DOWN].c;

	m->busy = m->all = 0;
	for (unsigned i = 0; i < b->plan->nb_lcores; i++) {
		const struct ap_worker *w = &b->run->workers[i];

		power_sample_take(w, &m->s[i]);
		m->busy += w->busy_cycles;
		m->all += w->busy_cycles + w->idle_cycles;
	}
	m->good = load(&c->good);
	m->sent = load(&c->sent);
	m->refused = load(&c->refused);
	m->corrupted = load(&c->corrupted) + load(&c->duplicated);
	m->ns = ap_clock_ns();
}

/** Of the calling thread: how long it wanted a CPU that others had, ns. */
static void
waited_on_worker(struct ap_worker *w, void *arg)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	uint64_t ran, waited;

	(void)w;
	if (f == NULL)
		return;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
		*(uint64_t *)arg += waited;
	fclose(f);
}

static int
disturbances_take(struct upf_bed *b, struct moment *m)
{
	int rc = 0;

	m->waited_ns = 0;
	upf_gen_frame(&b->gen, &m->gen);
	for (unsigned i = 0; i < b->plan->nb_lcores && rc == 0; i++)
		rc = upf_bed_call(b, i, waited_on_worker, &m->waited_ns);
	return rc;
}

static void
governor_on_worker(struct ap_worker *w, void *arg)
{
	power_lcore_switch(w, *(const enum ap_cfg_governor *)arg);
}

static int
governor_set(struct upf_bed *b, enum ap_cfg_governor governor)
{
	int rc = 0;

	for (unsigned i = 0; i < b->plan->nb_lcores && rc == 0; i++)
		rc = upf_bed_call(b, i, governor_on_worker, &governor);
	return rc;
}

static void
rate_set(struct upf_bed *b, struct gen_rate rate, uint64_t slot_ns)
{
	atomic_store(&b->gen.slot_ns, slot_ns);
	atomic_store(&b->gen.refuse, true);
	upf_gen_rate(&b->gen, UPF_WIRE_DOWN, rate);
}

static void
figures(const struct upf_bed *b, const struct moment *a, const struct moment *e,
	struct power_trial_result *r)
{
	r->watts = 0;
	for (unsigned i = 0; i < b->plan->nb_lcores; i++) {
		const struct ap_worker *w = &b->run->workers[i];
		const struct power_lcore *l = w->governor_state;
		struct power_figures f;

		power_figures(w, l->table, &a->s[i], &e->s[i], &f);
		r->cpu_percent += f.cpu_percent / b->plan->nb_lcores;
		r->wakeups_per_s += f.wakeups_per_s;
		r->mhz += f.mhz / b->plan->nb_lcores;
		r->watts += f.watts;
	}
	r->mpps = (double)(e->good - a->good) / (double)(e->ns - a->ns) * 1e3;
	r->busy_percent = e->all > a->all
				  ? 100.0 * (double)(e->busy - a->busy) / (double)(e->all - a->all)
				  : 0;
}

/** The generator never sleeps: time it did not have was somebody else's. */
static uint64_t
gen_waited_ns(const struct upf_frame *a, const struct upf_frame *e)
{
	uint64_t wall = e->wall_ns - a->wall_ns, had = e->cpu_ns - a->cpu_ns;

	return wall > had ? wall - had : 0;
}

/** Stops, waits for what is inside, and counts what never came out. @return 0 or -errno */
static int
settle(struct upf_bed *b, const struct moment *a, struct power_trial_result *r)
{
	const struct upf_gen_counters *c = &b->gen.flow[UPF_WIRE_DOWN].c;
	uint64_t given_up = load(&c->given_up);
	int rc = upf_bed_settle(b);

	r->sent = (double)(load(&c->sent) - a->sent);
	r->lost = (double)(load(&c->refused) - a->refused + load(&c->given_up) - given_up);
	r->corrupted = load(&c->corrupted) + load(&c->duplicated) - a->corrupted;
	return rc;
}

int
power_trial_run(struct upf_bed *b, const struct power_trial *t, struct power_trial_result *r)
{
	static struct ap_hist before, after;
	static struct moment a, e;
	struct ap_hist *live = &b->gen.flow[UPF_WIRE_DOWN].delay;
	struct power_rapl rapl;
	int rc = governor_set(b, t->governor);

	*r = (struct power_trial_result){0};
	if (rc < 0)
		return rc;
	rate_set(b, (struct gen_rate){t->pps > 0 ? GEN_RATE_PPS : GEN_RATE_STOP, t->pps},
		 t->slot_ns);
	rte_delay_us_sleep(WARM_MS * 1000);
	ap_hist_snapshot(live, &before);
	power_rapl_open(&rapl, POWER_RAPL_ROOT);
	rc = disturbances_take(b, &a);
	moment_take(b, &a);
	rte_delay_us_sleep((unsigned)(t->seconds * 1e6));
	moment_take(b, &e);
	r->package_watts = power_rapl_read(&rapl) * 1e9 / (double)(e.ns - a.ns);
	ap_hist_snapshot(live, &after);
	if (rc == 0)
		rc = disturbances_take(b, &e);
	if (rc == 0)
		rc = settle(b, &a, r);
	r->disturbed_ms = (double)(e.waited_ns - a.waited_ns + gen_waited_ns(&a.gen, &e.gen)) / 1e6;
	figures(b, &a, &e, r);
	ap_hist_subtract(&after, &before);
	r->delay_us_p50 = after.count ? (double)ap_hist_percentile(&after, 50) / 1e3 : NAN;
	r->delay_us_p99 = after.count ? (double)ap_hist_percentile(&after, 99) / 1e3 : NAN;
	return rc;
}

static int
compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

void
power_trial_middle(const struct power_trial_result *r, unsigned n, struct power_trial_result *out)
{
	static const size_t figures[] = {
		offsetof(struct power_trial_result, mpps),
		offsetof(struct power_trial_result, cpu_percent),
		offsetof(struct power_trial_result, wakeups_per_s),
		offsetof(struct power_trial_result, mhz),
		offsetof(struct power_trial_result, watts),
		offsetof(struct power_trial_result, package_watts),
		offsetof(struct power_trial_result, busy_percent),
		offsetof(struct power_trial_result, delay_us_p50),
		offsetof(struct power_trial_result, delay_us_p99),
		offsetof(struct power_trial_result, sent),
		offsetof(struct power_trial_result, lost),
		offsetof(struct power_trial_result, disturbed_ms),
	};
	double v[POWER_TRIES_MAX];

	*out = r[0];
	for (unsigned f = 0; f < RTE_DIM(figures); f++) {
		for (unsigned i = 0; i < n; i++)
			v[i] = *(const double *)((const char *)&r[i] + figures[f]);
		qsort(v, n, sizeof(v[0]), compare);
		*(double *)((char *)out + figures[f]) = v[(n - 1) / 2];
		if (figures[f] == offsetof(struct power_trial_result, delay_us_p99)) {
			out->delay_us_p99_least = v[0];
			out->delay_us_p99_most = v[n - 1];
		}
	}
	for (unsigned i = 1; i < n; i++)
		out->corrupted += r[i].corrupted;
}

double
power_trial_capacity(struct upf_bed *b, double seconds)
{
	static struct moment a, e;
	int rc = governor_set(b, AP_GOVERNOR_BUSY);

	if (rc < 0)
		return rc;
	rate_set(b, (struct gen_rate){GEN_RATE_MAX, 0}, 0);
	rte_delay_us_sleep(WARM_MS * 1000);
	moment_take(b, &a);
	rte_delay_us_sleep((unsigned)(seconds / CAPACITY_PART * 1e6));
	moment_take(b, &e);
	rc = upf_bed_settle(b);
	return rc < 0 ? rc : (double)(e.good - a.good) * 1e9 / (double)(e.ns - a.ns);
}

const char *
power_trial_idle(const struct upf_bed *b, char *buf, size_t size)
{
	return power_idle_name(&b->run->workers[0], buf, size);
}

const char *
power_trial_table(const struct upf_bed *b)
{
	return ((const struct power_lcore *)b->run->workers[0].governor_state)->table->name;
}
