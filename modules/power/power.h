/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_H
#define AIRPATH_MODULES_POWER_H

/** The governors' state of an lcore, and what it comes to in watts and MHz. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/run.h"
#include "core/worker.h"
#include "modules/power/power_adaptive.h"
#include "modules/power/power_pstates.h"
#include "modules/power/power_slot.h"
#include "modules/power/power_table.h"

/** Where the time of an lcore went, ns. Writer: the lcore. */
struct power_residency {
	uint64_t since_ns;                   /**< of the present P-state */
	uint64_t in_state[POWER_STATES_MAX]; /**< up to `since_ns`, idle or not */
	uint64_t paused[POWER_STATES_MAX];   /**< of that, running PAUSE */
	uint64_t asleep[POWER_STATES_MAX];   /**< of that, given away */
	uint64_t cstate[POWER_STATES_MAX];   /**< asleep, by how deep */
	uint64_t asleep_since_ns;            /**< what is in none of these yet; 0: awake */
};

/** ap_worker.governor_state of `adaptive` and `slot-aware`. */
struct power_lcore {
	/* constant */
	const struct ap_cfg_power *cfg;
	struct power_table *table; /**< NULL: watts are not modelled */
	/* lcore: rw */
	struct power_pstates pstates;
	struct power_window window;
	struct power_slot slot;
	struct power_residency time;
	struct power_rxq rxqs[]; /**< as ap_worker.rxqs */
};

/** Control thread. `slot-aware` and `adaptive` differ in what they make of idle passes alone. */
int power_lcore_create(struct ap_worker *w, const struct ap_cfg_power *cfg, unsigned cpu,
		       struct ap_error *err);
void power_lcore_destroy(struct ap_worker *w);

/**
 * Has an lcore whose governor keeps a struct power_lcore go on with another one, from P0. Worker
 * thread (ap_worker_run()): what benches compare governors by.
 */
void power_lcore_switch(struct ap_worker *w, enum ap_cfg_governor governor);

/* --- what came of it; any thread ---------------------------------------------------------------
 */

/** Counters of an lcore at a moment; two make a period. */
struct power_sample {
	uint64_t ns;
	uint64_t cpu_ns; /**< CPU time of the worker's thread, from the OS */
	uint64_t sleeps;
	uint64_t paused_ns, slept_ns;
	struct power_residency time;
	unsigned pstate;
};

void power_sample_take(const struct ap_worker *w, struct power_sample *s);

/** An lcore in a period. */
struct power_figures {
	double seconds;
	double cpu_percent;
	double wakeups_per_s;
	double mhz;   /**< mean while awake; NaN: nobody sets P-states */
	double watts; /**< modelled; NaN: no table */
};

/** @param table of an lcore whose governor has none of its own; may be NULL */
void power_figures(const struct ap_worker *w, const struct power_table *table,
		   const struct power_sample *a, const struct power_sample *b,
		   struct power_figures *f);

/** Of struct ap_governor. */
void power_report_poll(struct ap_worker *w);
void power_report(const struct ap_worker *w, uint64_t since_ns, FILE *f, bool json);

/** An lcore is set up: from now on package energy counts. Control thread. */
void power_report_begin(void);

/**
 * @return what the lcore's priority comes to, "up to 2200 MHz" or "no effect", or NULL where no
 * lcore has a priority. Lives in `buf`.
 */
const char *power_priority_effect(const struct ap_worker *w, char *buf, size_t size);

/** @return how the lcore idles, e.g. "pause, eventfd". Lives in `buf`. */
const char *power_idle_name(const struct ap_worker *w, char *buf, size_t size);

#endif
