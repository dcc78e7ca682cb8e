/* SPDX-License-Identifier: BSD-3-Clause */
/** Going to sleep and getting up. Worker thread. */
#include "core/clock.h"
#include "core/governor.h"
#include "core/node.h"
#include "core/port.h"
#include "core/worker.h"

static void
interrupts(const struct ap_worker *w, bool on)
{
	for (unsigned i = 0; i < w->nb_rxqs; i++) {
		const struct ap_rxq *q = &w->rxqs[i];

		if (q->wake == AP_WAKE_INTERRUPT)
			ap_port_interrupt(q->node->arg, q->queue, on);
	}
}

static bool
something_waits(const struct ap_worker *w, uint64_t now_ns)
{
	if (atomic_load_explicit(&w->stop, memory_order_relaxed) ||
	    atomic_load_explicit(&w->call, memory_order_relaxed) != NULL)
		return true;
	for (unsigned i = 0; i < w->nb_rxqs; i++) {
		const struct ap_rxq *q = &w->rxqs[i];

		if (q->node->type->waiting && q->node->type->waiting(q->node, q->queue, now_ns) > 0)
			return true;
	}
	return false;
}

/** No later than a timer, nor than it takes to look at what cannot wake. */
static uint64_t
limit(const struct ap_worker *w, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t timer = ap_wheel_next(w->wheel);

	if (timer < until_ns)
		until_ns = timer;
	for (unsigned i = 0; i < w->nb_rxqs; i++)
		if (w->rxqs[i].wake == AP_WAKE_TIME && until_ns > now_ns + AP_SLEEP_BLIND_NS)
			until_ns = now_ns + AP_SLEEP_BLIND_NS;
	return until_ns;
}

struct ap_slept
ap_governor_sleep(struct ap_worker *w, uint64_t until_ns)
{
	struct ap_slept out = {0};
	uint64_t now = ap_clock_ns(), end;

	until_ns = limit(w, now, until_ns);
	if (until_ns < now + AP_SLEEP_LEAST_NS)
		return out;
	ap_sleep_begin(w->sleep);
	interrupts(w, true);
	if (something_waits(w, now)) {
		ap_sleep_cancel(w->sleep);
		interrupts(w, false);
		w->power.not_slept++;
		return out;
	}
	out.woken = ap_sleep_wait(w->sleep, until_ns - now);
	interrupts(w, false);
	end = ap_clock_ns();
	out.ns = end - now;
	out.late_ns = end > until_ns ? end - until_ns : 0;
	w->power.sleeps++;
	w->power.slept_ns += out.ns;
	return out;
}
