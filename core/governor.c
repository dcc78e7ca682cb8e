/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include <rte_pause.h>

#include "core/worker.h"

/** Walks with work before the CPU is offered to the lcores that share it. */
#define YIELD_EVERY 8

static void
busy_after_walk(struct ap_worker *w, uint32_t work)
{
	(void)w;
	if (work == 0)
		rte_pause();
}

static void
yield_after_walk(struct ap_worker *w, uint32_t work)
{
	if (work == 0 || ++w->yields >= YIELD_EVERY) {
		w->yields = 0;
		sched_yield();
	}
}

static const struct ap_governor busy = {
	.name = "busy",
	.help = "polls without pause",
	.after_walk = busy_after_walk,
};

static const struct ap_governor yield = {
	.name = "yield",
	.help = "gives the CPU away after an empty walk, for lcores that share one",
	.after_walk = yield_after_walk,
};

const struct ap_governor *
ap_governor_find(enum ap_cfg_governor kind, bool shared)
{
	if (kind == AP_GOVERNOR_AUTO)
		return shared ? &yield : &busy;
	return kind == AP_GOVERNOR_YIELD ? &yield : &busy;
}
