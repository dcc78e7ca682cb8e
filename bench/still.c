/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>

#include "bench/still.h"
#include "core/clock.h"
#include "core/walk.h"
#include "core/wheel.h"

#define IDLE_WALKS 4 /**< a port's queues are polled in turn */

double
still_walk(struct ap_worker *w)
{
	uint64_t cycles = 0, packets = 0, start = rte_rdtsc(), end;
	unsigned idle = 0;

	do {
		w->now_ns = ap_clock_from_tsc(start);
		w->work = ap_wheel_run(w->wheel, w->now_ns);
		(w->stats ? ap_walk_stats : ap_walk_plain)(w->graph);
		end = rte_rdtsc();
		cycles += w->work ? end - start : 0;
		packets += w->work;
		idle = w->work ? 0 : idle + 1;
		start = end;
	} while (idle < IDLE_WALKS);
	return packets ? (double)cycles / (double)packets : 0;
}
