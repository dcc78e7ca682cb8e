/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "core/wheel.h"

#define WHEEL_SLOTS 1024

LIST_HEAD(timer_list, ap_timer);

struct ap_wheel {
	uint64_t tick_ns;
	uint64_t tick; /**< every timer due before this tick has fired */
	uint32_t armed;
	struct timer_list slots[WHEEL_SLOTS];
};

struct ap_wheel *
ap_wheel_create(uint64_t tick_ns, uint64_t now_ns)
{
	struct ap_wheel *w = rte_zmalloc("ap_wheel", sizeof(*w), RTE_CACHE_LINE_SIZE);

	if (w == NULL)
		return NULL;
	w->tick_ns = tick_ns;
	w->tick = now_ns / tick_ns;
	return w;
}

void
ap_wheel_destroy(struct ap_wheel *w)
{
	rte_free(w);
}

void
ap_timer_cancel(struct ap_wheel *w, struct ap_timer *t)
{
	if (!ap_timer_armed(t))
		return;
	LIST_REMOVE(t, entry);
	t->deadline_ns = 0;
	w->armed--;
}

void
ap_timer_set(struct ap_wheel *w, struct ap_timer *t, uint64_t deadline_ns)
{
	uint64_t tick;

	ap_timer_cancel(w, t);
	t->deadline_ns = RTE_MAX(deadline_ns, 1UL);
	tick = RTE_MAX(deadline_ns / w->tick_ns, w->tick);
	LIST_INSERT_HEAD(&w->slots[tick % WHEEL_SLOTS], t, entry);
	w->armed++;
}

static unsigned
run_slot(struct ap_wheel *w, uint64_t slot, uint64_t now_ns)
{
	struct timer_list due = LIST_HEAD_INITIALIZER(due);
	struct ap_timer *t, *next;
	unsigned fired = 0;

	/* Collected first: a firing timer may arm itself or others in this very slot. */
	for (t = LIST_FIRST(&w->slots[slot]); t; t = next) {
		next = LIST_NEXT(t, entry);
		if (t->deadline_ns > now_ns)
			continue;
		LIST_REMOVE(t, entry);
		LIST_INSERT_HEAD(&due, t, entry);
	}
	while ((t = LIST_FIRST(&due)) != NULL) {
		ap_timer_cancel(w, t);
		t->fire(t, now_ns);
		fired++;
	}
	return fired;
}

unsigned
ap_wheel_run(struct ap_wheel *w, uint64_t now_ns)
{
	uint64_t now_tick = now_ns / w->tick_ns;
	uint64_t first = w->tick, last = now_tick;
	unsigned fired = 0;

	if (w->armed == 0 || now_tick < w->tick) {
		w->tick = RTE_MAX(w->tick, now_tick);
		return 0;
	}
	if (last - first >= WHEEL_SLOTS)
		last = first + WHEEL_SLOTS - 1;
	/* The current tick stays open: timers later in it are looked at again. */
	w->tick = now_tick;
	for (uint64_t tick = first; tick <= last; tick++)
		fired += run_slot(w, tick % WHEEL_SLOTS, now_ns);
	return fired;
}

uint64_t
ap_wheel_next(const struct ap_wheel *w)
{
	uint64_t next = UINT64_MAX;

	if (w->armed == 0)
		return UINT64_MAX;
	for (unsigned i = 0; i < WHEEL_SLOTS; i++) {
		const struct ap_timer *t;

		LIST_FOREACH(t, &w->slots[(w->tick + i) % WHEEL_SLOTS], entry)
		next = RTE_MIN(next, t->deadline_ns);
		if (next != UINT64_MAX && next / w->tick_ns <= w->tick + i)
			break;
	}
	return next;
}
