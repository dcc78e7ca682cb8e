/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "core/clock.h"
#include "modules/power/power_slot.h"

#define GAP_NS 20000ULL   /**< without packets for so long: what comes is another burst */
#define SETTLE_NS 5000ULL /**< a burst goes on for at least so long after packets ... */
#define SETTLE_MOST_NS 40000ULL
#define SETTLE_UP_NS 4000ULL
#define SETTLE_DOWN_NS 20ULL
#define NAP_NS 20000ULL        /**< shorter ones cost more than they save */
#define GRACE_NS 20000ULL      /**< a burst may be so late */
#define LATE_FIRST_NS 60000ULL /**< until the first sleep has ended */
#define LATE_MOST_NS 300000ULL
#define LATE_UP_NS 20000ULL
#define LATE_DOWN_NS 100ULL
#define LEARNED 4    /**< bursts as expected before the lcore relies on it ... */
#define TOLD 1       /**< ... and where it was told the period */
#define STRAY 2      /**< what a burst at another time counts; one as expected takes 1 back */
#define STRAYS 8     /**< and it begins anew */
#define FORGIVEN 8   /**< bursts that stay out before it does no more */
#define SKIPPED 16   /**< periods without a burst between two that still count as expected */
#define TOLERANCE 16 /**< share of a period that a burst may be off */

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/** Moves `old` toward `sample` by 1/2^shift of the way. */
static uint64_t
toward(uint64_t old, uint64_t sample, unsigned shift)
{
	return sample > old ? old + ((sample - old) >> shift) : old - ((old - sample) >> shift);
}

static uint64_t
settle(const struct power_slot *s)
{
	return RTE_MAX(s->settle_ns, SETTLE_NS);
}

/** Until the period is certain, none may be left out: short ones fit everything. */
static bool
punctual(const struct power_slot *s, uint64_t start, uint64_t periods)
{
	return periods >= 1 && periods <= (s->hits < s->sure ? 1 : SKIPPED) &&
	       distance(start, s->burst_ns + periods * s->period_ns) <=
		       RTE_MAX(s->period_ns / TOLERANCE, GRACE_NS / 2);
}

static void
begin_anew(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t start)
{
	if (cfg->slot_us == 0)
		s->period_ns = s->burst_ns != 0 ? start - s->burst_ns : 0;
	s->hits = 0;
	s->strays = 0;
	s->jitter_ns = 0;
	s->burst_ns = start;
	s->next_ns = start + s->period_ns;
}

static void
burst(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t start, bool exact)
{
	uint64_t since = start - s->burst_ns, periods, expected;

	s->sure = cfg->slot_us ? TOLD : LEARNED;
	if (cfg->slot_us != 0)
		s->period_ns = cfg->slot_us * AP_NS_PER_US;
	periods = s->period_ns ? (since + s->period_ns / 2) / s->period_ns : 0;
	/* A burst that falters is still the one that began. Who sleeps in the middle of it makes
	 * the rest of it late: next time it is to wait for longer. */
	if (periods == 0 && s->burst_ns != 0 && (cfg->slot_us != 0 || s->hits >= s->sure)) {
		if (!exact && start < s->last_ns + SETTLE_MOST_NS)
			s->settle_ns = RTE_MIN(settle(s) + SETTLE_UP_NS, SETTLE_MOST_NS);
		return;
	}
	if (s->burst_ns == 0 || !punctual(s, start, periods)) {
		/* Some packets come when they like; the rhythm may go on beneath. */
		s->strays += STRAY;
		if (s->hits < s->sure || s->strays >= STRAYS)
			begin_anew(cfg, s, start);
		return;
	}
	expected = s->burst_ns + periods * s->period_ns;
	s->hits++;
	s->strays -= s->strays > 0;
	s->misses = 0;
	s->settle_ns = RTE_MAX(settle(s) - SETTLE_DOWN_NS, SETTLE_NS);
	s->jitter_ns = toward(s->jitter_ns, distance(start, expected), 3);
	if (cfg->slot_us == 0)
		s->period_ns = toward(s->period_ns, since / periods, 3);
	/* One that was slept over says less of when it came. */
	s->burst_ns = toward(expected, start, exact ? 1 : 3);
	s->next_ns = s->burst_ns + s->period_ns;
}

void
power_slot_packets(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t now_ns,
		   bool woken)
{
	uint64_t late = s->late_ns ? s->late_ns : LATE_FIRST_NS;

	/* What ended a sleep came before, but after what was there before the sleep. */
	if (woken)
		burst(cfg, s, RTE_MAX(now_ns - RTE_MIN(late, now_ns), s->last_ns), false);
	else if (now_ns - s->last_ns >= GAP_NS)
		burst(cfg, s, now_ns, true);
	s->last_ns = now_ns;
}

void
power_slot_slept(struct power_slot *s, uint64_t late_ns)
{
	/* A thread that lost its CPU for long says nothing: no guard would have helped. */
	if (late_ns > LATE_MOST_NS)
		return;
	if (s->late_ns == 0)
		s->late_ns = late_ns + LATE_DOWN_NS;
	/* Where steps up and down balance, 200 of 201 sleeps end in time: a late one delays all
	 * packets of a slot, so more of them would show in the 99th percentile. */
	if (late_ns > s->late_ns)
		s->late_ns = RTE_MIN(s->late_ns + LATE_UP_NS, LATE_MOST_NS);
	else
		s->late_ns -= RTE_MIN(s->late_ns - 1, LATE_DOWN_NS);
}

uint64_t
power_slot_guard(const struct power_slot *s)
{
	return (s->late_ns ? s->late_ns : LATE_FIRST_NS) + 2 * s->jitter_ns;
}

enum power_slot_advice
power_slot_idle(struct power_slot *s, uint64_t now_ns, uint64_t *until_ns)
{
	const uint64_t guard = power_slot_guard(s), grace = GRACE_NS + 4 * s->jitter_ns;

	if (s->hits == 0 || s->hits < s->sure)
		return POWER_SLOT_UNKNOWN;
	if (now_ns > s->next_ns + grace) {
		uint64_t passed = (now_ns - grace - s->next_ns) / s->period_ns + 1;

		s->next_ns += passed * s->period_ns;
		s->misses += (uint32_t)RTE_MIN(passed, (uint64_t)FORGIVEN);
		if (s->misses >= FORGIVEN) {
			s->hits = 0;
			return POWER_SLOT_UNKNOWN;
		}
	}
	if (now_ns - s->last_ns < settle(s) || now_ns + guard + NAP_NS > s->next_ns)
		return POWER_SLOT_POLL;
	*until_ns = s->next_ns - guard;
	return POWER_SLOT_SLEEP;
}
