/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_WHEEL_H
#define AIRPATH_CORE_WHEEL_H

/**
 * Timer wheel: one per lcore, one timer per owner, O(1) set and cancel.
 *
 * The caller owns the clock: nothing here reads time. A timer fires on the first
 * ap_wheel_run() whose `now` is at or past its deadline, never before it.
 * Not thread-safe: one lcore, or the control thread while that lcore is stopped.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct ap_timer;
typedef void (*ap_timer_fn)(struct ap_timer *t, uint64_t now_ns);

struct ap_timer {
	LIST_ENTRY(ap_timer) entry;
	uint64_t deadline_ns; /**< 0 when not armed */
	ap_timer_fn fire;
};

struct ap_wheel;

/** @param tick_ns resolution, ≥ 1000. @return NULL when out of memory. */
struct ap_wheel *ap_wheel_create(uint64_t tick_ns, uint64_t now_ns);
void ap_wheel_destroy(struct ap_wheel *w);

/** Arms `t`, or moves it if armed. A deadline in the past fires on the next run. */
void ap_timer_set(struct ap_wheel *w, struct ap_timer *t, uint64_t deadline_ns);
void ap_timer_cancel(struct ap_wheel *w, struct ap_timer *t);

static inline bool
ap_timer_armed(const struct ap_timer *t)
{
	return t->deadline_ns != 0;
}

/** Fires every due timer; a fired timer is disarmed before its function runs. @return how many. */
unsigned ap_wheel_run(struct ap_wheel *w, uint64_t now_ns);

/** @return ns of the earliest tick that may hold a due timer, or UINT64_MAX when none is armed. */
uint64_t ap_wheel_next(const struct ap_wheel *w);

#endif
