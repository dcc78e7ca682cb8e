/* SPDX-License-Identifier: BSD-3-Clause */
/** What governors came to: for people, programs, telemetry. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "core/clock.h"
#include "core/telemetry.h"
#include "modules/power/power.h"
#include "modules/power/power_rapl.h"

#define RAPL_EVERY_NS (10 * AP_NS_PER_S)

/* Of the machine; control and telemetry threads. */
static pthread_mutex_t rapl_lock = PTHREAD_MUTEX_INITIALIZER;
static struct power_rapl rapl;
static uint64_t rapl_since_ns, rapl_read_ns;

/** @return mean watts of all packages since the first lcore was set up, or NaN. */
static double
package_watts(void)
{
	uint64_t now = ap_clock_ns();
	double joules;

	pthread_mutex_lock(&rapl_lock);
	joules = power_rapl_read(&rapl);
	rapl_read_ns = now;
	pthread_mutex_unlock(&rapl_lock);
	return now > rapl_since_ns ? joules * 1e9 / (double)(now - rapl_since_ns) : NAN;
}

void
power_report_begin(void)
{
	pthread_mutex_lock(&rapl_lock);
	power_rapl_open(&rapl, POWER_RAPL_ROOT);
	rapl_since_ns = rapl_read_ns = ap_clock_ns();
	pthread_mutex_unlock(&rapl_lock);
}

void
power_report_poll(struct ap_worker *w)
{
	(void)w;
	if (rapl.packages > 0 && ap_clock_ns() - rapl_read_ns > RAPL_EVERY_NS)
		package_watts();
}

void
power_sample_take(const struct ap_worker *w, struct power_sample *s)
{
	const struct power_lcore *l = w->governor->sleeps ? w->governor_state : NULL;

	*s = (struct power_sample){.cpu_ns = ap_worker_cpu_ns(w),
				   .sleeps = w->power.sleeps,
				   .paused_ns = w->power.paused_ns,
				   .slept_ns = w->power.slept_ns};
	if (l != NULL) {
		s->time = l->time;
		s->pstate = l->pstates.now;
	}
	s->ns = ap_clock_ns();
}

/** Time in a P-state up to a sample. */
static double
in_state(const struct power_sample *s, unsigned i)
{
	uint64_t ns = s->time.in_state[i];

	if (i == s->pstate && s->time.since_ns != 0 && s->ns > s->time.since_ns)
		ns += s->ns - s->time.since_ns;
	return (double)ns;
}

/** The sleep that a sample fell into, as far as it has come. */
static double
sleeping(const struct power_sample *s)
{
	return s->time.asleep_since_ns != 0 && s->ns > s->time.asleep_since_ns
		       ? (double)(s->ns - s->time.asleep_since_ns)
		       : 0;
}

static double
asleep_in(const struct power_sample *s, unsigned i)
{
	return (double)s->time.asleep[i] + (i == s->pstate ? sleeping(s) : 0);
}

static double
in_cstate(const struct power_sample *s, const struct power_table *t, unsigned i)
{
	const double now = sleeping(s);

	return (double)s->time.cstate[i] +
	       (now > 0 && power_table_cstate(t, (uint64_t)now) == i ? now : 0);
}

/** Energy of the period in nW s, and the mean frequency while awake. */
static void
states(const struct power_lcore *l, const struct power_table *t, const struct power_sample *a,
       const struct power_sample *b, struct power_figures *f)
{
	double awake = 0, cycles = 0, energy = 0;

	for (unsigned i = 0; i < POWER_STATES_MAX; i++) {
		double all = in_state(b, i) - in_state(a, i);
		double paused = (double)(b->time.paused[i] - a->time.paused[i]);
		double up = RTE_MAX(0.0, all - (asleep_in(b, i) - asleep_in(a, i)));
		/* A CPU whose frequencies the table does not list: its slowest is the nearest. */
		unsigned k = t ? RTE_MIN(i, t->pstates_count - 1) : 0;

		if (i < l->pstates.nb) {
			awake += up;
			cycles += up * l->pstates.mhz[i];
		}
		if (t == NULL)
			continue;
		energy += t->pstates[k].watts *
			  (RTE_MAX(0.0, up - paused) + RTE_MIN(up, paused) * t->pause_share);
		if (i < t->cstates_count)
			energy += t->cstates[i].watts * (in_cstate(b, t, i) - in_cstate(a, t, i));
	}
	f->mhz = l->pstates.nb == 0 ? NAN
		 : awake > 0        ? cycles / awake
				    : l->pstates.mhz[l->pstates.now];
	f->watts = t ? energy / (double)(b->ns - a->ns) : NAN;
}

void
power_figures(const struct ap_worker *w, const struct power_table *table,
	      const struct power_sample *a, const struct power_sample *b, struct power_figures *f)
{
	const struct power_lcore *l = w->governor->sleeps ? w->governor_state : NULL;
	double ns = (double)(b->ns - a->ns), cpu = (double)(b->cpu_ns - a->cpu_ns);

	*f = (struct power_figures){
		.seconds = ns / 1e9,
		.cpu_percent = 100 * cpu / ns,
		.wakeups_per_s = (double)(b->sleeps - a->sleeps) * 1e9 / ns,
		.mhz = NAN,
		.watts = NAN,
	};
	if (l != NULL) {
		states(l, l->table ? l->table : table, a, b, f);
	} else if (table != NULL) {
		/* Nobody touches P-states: P0 while it has its CPU. */
		cpu = RTE_MIN(cpu, ns);
		f->mhz = table->pstates[0].mhz;
		f->watts =
			(table->pstates[0].watts * cpu + table->cstates[0].watts * (ns - cpu)) / ns;
	}
}

const char *
power_idle_name(const struct ap_worker *w, char *buf, size_t size)
{
	unsigned kinds = 0;
	size_t len;

	if (!w->governor->sleeps) {
		snprintf(buf, size, "%s",
			 strcmp(w->governor->name, "yield") == 0 ? "yield" : "none");
		return buf;
	}
	len = (size_t)snprintf(buf, size, "%s", w->tpause ? "tpause" : "pause");
	for (unsigned i = 0; i < w->nb_rxqs; i++)
		kinds |= 1U << w->rxqs[i].wake;
	for (enum ap_wake k = AP_WAKE_TIME; k <= AP_WAKE_INTERRUPT && len < size; k++)
		if (kinds & 1U << k)
			len += (size_t)snprintf(buf + len, size - len, ", %s", ap_wake_name(k));
	return buf;
}

const char *
power_priority_effect(const struct ap_worker *w, char *buf, size_t size)
{
	const struct power_lcore *l = w->governor->sleeps ? w->governor_state : NULL;

	if (w->priority == AP_PRIORITY_NONE)
		return NULL;
	if (l == NULL || l->pstates.nb == 0)
		snprintf(buf, size, "no effect");
	else
		snprintf(buf, size, "up to %u MHz%s", l->pstates.mhz[l->pstates.ceiling],
			 l->pstates.sst_bf ? " (SST-BF)" : "");
	return buf;
}

static const char *
priority_name(const struct ap_worker *w)
{
	return w->priority == AP_PRIORITY_HIGH ? "high" : "normal";
}

/** A number of JSON; NaN is null. */
static void
put(FILE *f, const char *key, double value)
{
	if (isnan(value))
		fprintf(f, ", \"%s\": null", key);
	else
		fprintf(f, ", \"%s\": %.6g", key, value);
}

void
power_report(const struct ap_worker *w, uint64_t since_ns, FILE *f, bool json)
{
	const struct power_lcore *l = w->governor_state;
	struct power_sample a = {.ns = since_ns}, b;
	struct power_figures x;
	double package = package_watts();
	char idle[96], effect[48];
	const bool priority = power_priority_effect(w, effect, sizeof(effect)) != NULL;

	power_sample_take(w, &b);
	power_figures(w, NULL, &a, &b, &x);
	power_idle_name(w, idle, sizeof(idle));
	if (json) {
		fprintf(f,
			"{\"lcore\": \"%s\", \"governor\": \"%s\", \"pstates\": \"%s\", "
			"\"idle\": \"%s\"",
			w->name, w->governor->name, power_pstates_name(&l->pstates), idle);
		if (priority)
			fprintf(f, ", \"priority\": \"%s\", \"priority_effect\": \"%s\"",
				priority_name(w), effect);
		put(f, "cpu_time_percent", x.cpu_percent);
		put(f, "wakeups_per_s", x.wakeups_per_s);
		put(f, "freq_mhz", x.mhz);
		put(f, "power_watts", x.watts);
		fprintf(f, ", \"power_source\": \"%s\"", isnan(x.watts) ? "none" : "modelled");
		put(f, "package_watts_measured", package);
		fprintf(f, "}");
		return;
	}
	fprintf(f,
		"power: lcore %s: governor %s, P-states %s, idle by %s; CPU time %.1f %%, %.0f "
		"wake-ups/s",
		w->name, w->governor->name, power_pstates_name(&l->pstates), idle, x.cpu_percent,
		x.wakeups_per_s);
	if (!isnan(x.mhz))
		fprintf(f, ", %.0f MHz", x.mhz);
	if (!isnan(x.watts))
		fprintf(f, ", %.2f W modelled (%s)", x.watts, l->table->name);
	if (!isnan(package))
		fprintf(f, "; all packages %.1f W measured", package);
	if (priority)
		fprintf(f, "; priority %s: %s", priority_name(w), effect);
	fprintf(f, "\n");
	if (l->pstates.backend == AP_PSTATES_MODEL)
		fprintf(f, "power: lcore %s: P-states are emulated: pauses slow the worker down\n",
			w->name);
}

/** Telemetry has no fractions: they are strings. */
static void
tell_number(struct rte_tel_data *d, const char *key, double value)
{
	char text[32];

	if (isnan(value))
		return;
	snprintf(text, sizeof(text), "%.6g", value);
	rte_tel_data_add_dict_string(d, key, text);
}

static struct rte_tel_data *
tell_lcore(const struct ap_worker *w, uint64_t since_ns)
{
	const struct power_lcore *l = w->governor->sleeps ? w->governor_state : NULL;
	struct rte_tel_data *d = rte_tel_data_alloc();
	struct power_sample a = {.ns = since_ns}, b;
	struct power_figures x;
	char idle[96], effect[48];

	if (d == NULL)
		return NULL;
	power_sample_take(w, &b);
	power_figures(w, NULL, &a, &b, &x);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "lcore", w->name);
	rte_tel_data_add_dict_string(d, "governor", w->governor->name);
	rte_tel_data_add_dict_string(d, "idle", power_idle_name(w, idle, sizeof(idle)));
	if (power_priority_effect(w, effect, sizeof(effect)) != NULL) {
		rte_tel_data_add_dict_string(d, "priority", priority_name(w));
		rte_tel_data_add_dict_string(d, "priority_effect", effect);
	}
	tell_number(d, "cpu_time_percent", x.cpu_percent);
	if (l == NULL)
		return d;
	rte_tel_data_add_dict_string(d, "pstates", power_pstates_name(&l->pstates));
	rte_tel_data_add_dict_u64(d, "sleeps", w->power.sleeps);
	rte_tel_data_add_dict_u64(d, "sleeps_not_begun", w->power.not_slept);
	rte_tel_data_add_dict_u64(d, "steps_up", w->power.steps_up);
	rte_tel_data_add_dict_u64(d, "steps_down", w->power.steps_down);
	tell_number(d, "wakeups_per_s", x.wakeups_per_s);
	tell_number(d, "freq_mhz", x.mhz);
	tell_number(d, "power_watts", x.watts);
	rte_tel_data_add_dict_string(d, "power_source", isnan(x.watts) ? "none" : "modelled");
	tell_number(d, "package_watts_measured", package_watts());
	return d;
}

static int
tell(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	(void)params;
	rte_tel_data_start_dict(d);
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		const struct ap_worker *w = &run->workers[i];
		struct rte_tel_data *one = tell_lcore(w, run->started_ns);

		char key[16];

		if (one == NULL)
			return -ENOMEM;
		strlcpy(key, w->name, sizeof(key));
		for (char *c = key; *c; c++)
			if (!isalnum((unsigned char)*c))
				*c = '_'; /* other characters may not stand in a key */
		rte_tel_data_add_dict_container(d, key, one, 0);
	}
	return 0;
}

RTE_INIT(power_telemetry)
{
	ap_telemetry_add(
		"/airpath/power", tell,
		"Governor, CPU time, wake-ups, frequency and watts of every worker, JSON.");
}
