/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_debug.h>
#include <rte_pause.h>

#include "core/governor.h"
#include "core/worker.h"

/** Walks with work before the CPU is offered to the lcores that share it. */
#define YIELD_EVERY 8
#define GOVERNORS_MAX 8

static const struct ap_governor *governors[GOVERNORS_MAX];
static unsigned nb_governors;

/** As in the configuration; `auto` is none of them. */
static const char *const names[] = {
	[AP_GOVERNOR_BUSY] = "busy",
	[AP_GOVERNOR_YIELD] = "yield",
	[AP_GOVERNOR_ADAPTIVE] = "adaptive",
	[AP_GOVERNOR_SLOT_AWARE] = "slot-aware",
};

static uint64_t
busy_after_walk(struct ap_worker *w, uint32_t work, uint64_t tsc)
{
	(void)w;
	if (work == 0)
		rte_pause();
	return tsc;
}

static uint64_t
yield_after_walk(struct ap_worker *w, uint32_t work, uint64_t tsc)
{
	if (work == 0 || ++w->yields >= YIELD_EVERY) {
		w->yields = 0;
		sched_yield();
		return rte_rdtsc(); /* what was given away is nobody's time */
	}
	return tsc;
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

AP_GOVERNOR_REGISTER(busy)
AP_GOVERNOR_REGISTER(yield)

void
ap_governor_add(const struct ap_governor *g)
{
	RTE_VERIFY(nb_governors < GOVERNORS_MAX);
	governors[nb_governors++] = g;
}

const struct ap_governor *
ap_governor_find(enum ap_cfg_governor kind, bool shared)
{
	if (kind == AP_GOVERNOR_AUTO)
		return shared ? &yield : &busy;
	for (unsigned i = 0; i < nb_governors; i++)
		if (strcmp(governors[i]->name, names[kind]) == 0)
			return governors[i];
	return NULL;
}

const char *
ap_wake_name(enum ap_wake wake)
{
	static const char *const wakes[] = {
		[AP_WAKE_TIME] = "timed sleep",
		[AP_WAKE_KICK] = "eventfd",
		[AP_WAKE_EPOLL] = "epoll",
		[AP_WAKE_INTERRUPT] = "RX interrupt",
	};

	return wakes[wake];
}
