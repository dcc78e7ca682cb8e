/* SPDX-License-Identifier: BSD-3-Clause */
/** Governors `adaptive` and `slot-aware`: Algorithm 1 and the foresight of power_slot.h at work. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_power_intrinsics.h>

#include "core/clock.h"
#include "modules/power/power.h"

/** A kick ends a sleep in any case: its time-out is a precaution, and need not come often. */
#define SLOT_AWARE_TIMEOUTS 10

int
power_lcore_create(struct ap_worker *w, const struct ap_cfg_power *cfg, unsigned cpu,
		   struct ap_error *err)
{
	struct power_lcore *l = rte_zmalloc("power", sizeof(*l) + w->nb_rxqs * sizeof(l->rxqs[0]),
					    RTE_CACHE_LINE_SIZE);
	int rc;

	if (l == NULL)
		return ap_error_set(err, "lcore %s: out of memory", w->name);
	power_report_begin();
	w->governor_state = l;
	l->cfg = cfg;
	if (cfg->table != NULL) {
		l->table = power_table_load(cfg->table, w->deployment, err);
		if (l->table == NULL)
			return -EINVAL;
	}
	rc = power_pstates_open(&l->pstates, cfg->backend, cpu, l->table, err);
	if (rc == 0)
		power_pstates_limit(&l->pstates, w->priority, cfg->normal_mhz);
	l->time.since_ns = ap_clock_ns();
	return rc;
}

void
power_lcore_destroy(struct ap_worker *w)
{
	struct power_lcore *l = w->governor_state;

	w->governor_state = NULL;
	if (l == NULL)
		return;
	power_pstates_close(&l->pstates);
	power_table_free(l->table);
	rte_free(l);
}

/** Timers are to be punctual: the kernel's usual slack of 50 us would be most of a nap. */
static void
begin(struct ap_worker *w)
{
	(void)w;
	prctl(PR_SET_TIMERSLACK, 1UL);
}

static void
wait_until(uint64_t tsc)
{
	while ((int64_t)(tsc - rte_rdtsc()) > 0)
		rte_pause();
}

/** `model`: what the walk would have taken longer in the present P-state. */
static uint64_t
slow_down(struct ap_worker *w, const struct power_lcore *l, uint32_t work, uint64_t tsc)
{
	uint64_t more = (tsc - w->walk_tsc) * l->pstates.slower[l->pstates.now] >> 16, end;

	if (more == 0)
		return tsc;
	wait_until(tsc + more);
	end = rte_rdtsc();
	*(work ? &w->busy_cycles : &w->idle_cycles) += end - tsc;
	return end;
}

static void
pause_for(struct ap_worker *w, struct power_lcore *l, uint32_t us)
{
	uint64_t start = rte_rdtsc(), end = start + us * (rte_get_tsc_hz() / 1000000);
	uint64_t ns;

	/* TPAUSE (WAITPKG) where the CPU has it. */
	if (w->tpause)
		rte_power_pause(end);
	wait_until(end);
	ns = ap_clock_from_tsc(rte_rdtsc() - start);
	w->power.paused_ns += ns;
	l->window.idle_ns += ns;
	l->time.paused[l->pstates.now] += ns;
}

/** @return whether it slept */
static bool
sleep_until(struct ap_worker *w, struct power_lcore *l, uint64_t now_ns, uint64_t until_ns)
{
	struct ap_slept s;
	unsigned depth;

	/* Slots that have begun already say nothing. */
	if (w->slot_ns > now_ns)
		until_ns = RTE_MIN(until_ns, w->slot_ns - RTE_MIN(power_slot_guard(&l->slot),
								  w->slot_ns - now_ns));
	l->time.asleep_since_ns = now_ns;
	s = ap_governor_sleep(w, until_ns);
	l->time.asleep_since_ns = 0;
	if (s.ns == 0)
		return false;
	/* Packets that come while the thread is late to get up do not make it punctual. */
	if (!s.woken || s.late_ns > 0)
		power_slot_slept(&l->slot, s.late_ns);
	l->window.idle_ns += s.ns;
	depth = l->table ? power_table_cstate(l->table, s.ns) : 0;
	l->time.asleep[l->pstates.now] += s.ns;
	l->time.cstate[depth] += s.ns;
	w->power.deep += depth > 0;
	return true;
}

/** What the polls of this walk brought, and what to make of it. */
static struct power_verdict
pass(struct ap_worker *w, struct power_lcore *l)
{
	for (unsigned i = 0; i < w->nb_rxqs; i++) {
		struct ap_rxq *q = &w->rxqs[i];

		/* Of a node with several queues a walk polls one. */
		if (q != &q->node->rxqs[q->node->rxq])
			continue;
		power_adaptive_poll(l->cfg, &l->rxqs[i], q->taken, q->count);
		q->taken = 0;
	}
	return power_adaptive_decide(l->cfg, l->rxqs, w->nb_rxqs);
}

/** Time of the old state, once it has changed to `now`. */
static void
state_changed(struct ap_worker *w, struct power_lcore *l, unsigned was, uint64_t now_ns)
{
	l->time.in_state[was] += now_ns - l->time.since_ns;
	l->time.since_ns = now_ns;
	w->power.steps_up += l->pstates.now < was;
	w->power.steps_down += l->pstates.now > was;
}

static void
set_state(struct ap_worker *w, struct power_lcore *l, enum power_step step, uint64_t now_ns)
{
	unsigned was = l->pstates.now;

	if (step != POWER_KEEP && power_pstates_step(&l->pstates, step))
		state_changed(w, l, was, now_ns);
	if (power_adaptive_scale_down(l->cfg, &l->window, now_ns) && step == POWER_KEEP) {
		was = l->pstates.now;
		if (power_pstates_down(&l->pstates))
			state_changed(w, l, was, now_ns);
	}
}

static uint64_t
adaptive_after_walk(struct ap_worker *w, uint32_t work, uint64_t tsc)
{
	struct power_lcore *l = w->governor_state;
	struct power_verdict v;
	uint64_t now;

	tsc = slow_down(w, l, work, tsc);
	now = ap_clock_from_tsc(tsc);
	v = pass(w, l);
	l->window.passes++;
	l->window.packets += work;
	set_state(w, l, v.step, now);
	if (v.pause_us > 0)
		pause_for(w, l, v.pause_us);
	else if (v.sleep)
		sleep_until(w, l, now, now + l->cfg->timeout_ms * AP_NS_PER_MS);
	else
		return tsc;
	return rte_rdtsc();
}

/** Idle as Algorithm 1 says, unless it is known when the next packets come. */
static uint64_t
foresee(struct ap_worker *w, struct power_lcore *l, struct power_verdict v, uint64_t now)
{
	uint64_t until = now + SLOT_AWARE_TIMEOUTS * l->cfg->timeout_ms * AP_NS_PER_MS;

	switch (power_slot_idle(l->cfg, &l->slot, now, &until)) {
	case POWER_SLOT_SLEEP:
		if (sleep_until(w, l, now, until))
			power_slot_spend(&l->slot);
		break;
	case POWER_SLOT_POLL:
		if (v.pause_us > 0 || v.sleep)
			pause_for(w, l, l->cfg->pause_us);
		break;
	case POWER_SLOT_UNKNOWN:
		if (v.pause_us > 0)
			pause_for(w, l, v.pause_us);
		else if (v.sleep && sleep_until(w, l, now, until))
			power_slot_spend(&l->slot);
	}
	return rte_rdtsc();
}

static uint64_t
slot_aware_after_walk(struct ap_worker *w, uint32_t work, uint64_t tsc)
{
	struct power_lcore *l = w->governor_state;
	uint32_t taken = 0;
	struct power_verdict v;
	uint64_t now;

	for (unsigned i = 0; i < w->nb_rxqs; i++)
		taken += w->rxqs[i].taken;
	/* When the walk began: slowed down or not, they came before. */
	if (taken > 0)
		power_slot_packets(l->cfg, &l->slot, w->now_ns);
	tsc = slow_down(w, l, work, tsc);
	now = ap_clock_from_tsc(tsc);
	v = pass(w, l);
	l->window.passes++;
	l->window.packets += work;
	set_state(w, l, v.step, now);
	return taken > 0 ? tsc : foresee(w, l, v, now);
}

void
power_lcore_switch(struct ap_worker *w, enum ap_cfg_governor governor)
{
	struct power_lcore *l = w->governor_state;

	set_state(w, l, POWER_HIGHEST, ap_clock_ns());
	memset(l->rxqs, 0, w->nb_rxqs * sizeof(l->rxqs[0]));
	memset(&l->window, 0, sizeof(l->window));
	l->slot = (struct power_slot){.late_ns = l->slot.late_ns,
				      .usual_ns = l->slot.usual_ns,
				      .poll_64 = l->slot.poll_64};
	w->governor = ap_governor_find(governor, false);
}

static const struct ap_governor adaptive = {
	.name = "adaptive",
	.help = "P-states by how full queues are, pause and sleep by empty polls (S3, Algorithm 1)",
	.sleeps = true,
	.create = power_lcore_create,
	.destroy = power_lcore_destroy,
	.begin = begin,
	.poll = power_report_poll,
	.report = power_report,
	.after_walk = adaptive_after_walk,
};

static const struct ap_governor slot_aware = {
	.name = "slot-aware",
	.help = "adaptive, and sleeps between bursts until just before the next",
	.sleeps = true,
	.create = power_lcore_create,
	.destroy = power_lcore_destroy,
	.begin = begin,
	.poll = power_report_poll,
	.report = power_report,
	.after_walk = slot_aware_after_walk,
};

AP_GOVERNOR_REGISTER(adaptive)
AP_GOVERNOR_REGISTER(slot_aware)
