/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "core/clock.h"
#include "modules/power/power_slot.h"

#define GAP_NS 20000ULL   /**< without packets for so long: what comes is another burst */
#define LOOK_NS 8000ULL   /**< who looked so shortly before saw it begin */
#define SETTLE_NS 5000ULL /**< a burst goes on for at least so long after packets ... */
#define SETTLE_MOST_NS 40000ULL
#define SETTLE_UP_NS 4000ULL
#define SETTLE_DOWN_NS 10ULL
#define NAP_NS 20000ULL        /**< shorter sleeps cost more than they save */
#define GRACE_NS 20000ULL      /**< a burst may be so late */
#define LATE_FIRST_NS 60000ULL /**< until the first sleep has ended */
#define LATE_MOST_NS 200000ULL
#define LATE_COUNTS_NS 2000000ULL /**< who lost its CPU for longer learns nothing from it */
#define LATE_UP_NS 20000ULL
#define LATE_DOWN_NS 50ULL
#define USUAL_UP_NS 2000ULL /**< what is not usual counts little */
#define LEARNED 4           /**< bursts as expected before the lcore relies on it ... */
#define TOLD 1              /**< ... and where it was told the period */
#define STRAY 2      /**< what a burst at another time counts; one as expected takes 1 back ... */
#define INSTEAD 4    /**< ... and one in place of the expected one */
#define STRAYS 8     /**< and it begins anew */
#define FORGIVEN 8   /**< bursts that stay out before it does no more */
#define SKIPPED 16   /**< periods without a burst between two that still count as expected */
#define TOLERANCE 16 /**< share of a period that a burst may be off */
#define BUDGET_MOST 200
#define POLL_MOST_NS 4000ULL /**< an empty poll and its pause: longer ones were disturbed */

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
	s->misses = 0;
	s->jitter_ns = 0;
	s->burst_ns = start;
	s->next_ns = start + s->period_ns;
}

static void
earn(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t sleeps)
{
	s->budget = (int32_t)RTE_MIN(s->budget + (int64_t)(sleeps * cfg->slot_wakeups_percent),
				     (int64_t)BUDGET_MOST);
}

/** @return after how long without packets Algorithm 1 sleeps here, ns. */
static uint64_t
patience(const struct ap_cfg_power *cfg, const struct power_slot *s)
{
	return RTE_MAX((uint64_t)s->poll_64 / 64, cfg->pause_us * AP_NS_PER_US) *
	       cfg->empty_polls_sleep;
}

/** As expected: `expected` is when, `exact` whether the lcore saw it begin at `start`. */
static void
hit(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t start, uint64_t expected,
    uint64_t periods, bool exact)
{
	s->hits++;
	s->strays -= s->strays > 0;
	s->misses = 0;
	s->settle_ns = RTE_MAX(settle(s) - SETTLE_DOWN_NS, SETTLE_NS);
	if (cfg->slot_naps)
		earn(cfg, s, 1);
	if (exact)
		s->jitter_ns = toward(s->jitter_ns, distance(start, expected), 3);
	if (cfg->slot_us == 0)
		s->period_ns = toward(s->period_ns, (start - s->burst_ns) / periods, 3);
	/* What is sent at the beginning of a slot may be late, and is never early. */
	s->burst_ns = toward(expected, start, start < expected ? 1 : 3);
	s->next_ns = s->burst_ns + s->period_ns;
}

static void
burst(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t start, bool exact)
{
	uint64_t since = start - s->burst_ns, periods;

	periods = s->period_ns ? (since + s->period_ns / 2) / s->period_ns : 0;
	/* A burst that falters is still the one that began. Who sleeps in the middle of it makes
	 * the rest of it late: next time it is to wait for longer. */
	if (periods == 0 && s->burst_ns != 0 && (cfg->slot_us != 0 || s->hits >= s->sure)) {
		if (s->slept && start < s->last_ns + SETTLE_MOST_NS)
			s->settle_ns = RTE_MIN(settle(s) + SETTLE_UP_NS, SETTLE_MOST_NS);
		return;
	}
	if (s->burst_ns != 0 && punctual(s, start, periods)) {
		hit(cfg, s, start, s->burst_ns + periods * s->period_ns, periods, exact);
		return;
	}
	/* Some packets come when they like; the rhythm may go on beneath. */
	s->strays += s->misses > 0 ? INSTEAD : STRAY;
	if (s->hits < s->sure || s->strays >= STRAYS)
		begin_anew(cfg, s, start);
}

/** Of packets that came between `s->looked_ns` and `now_ns`: when, as far as one can tell. */
static uint64_t
slept_over(const struct power_slot *s, uint64_t now_ns)
{
	uint64_t usual = s->usual_ns ? s->usual_ns : LATE_FIRST_NS / 4;

	if (s->hits > 0 && s->next_ns > s->looked_ns && s->next_ns <= now_ns)
		return s->next_ns;
	return RTE_MAX(now_ns - RTE_MIN(usual, now_ns), s->looked_ns);
}

void
power_slot_packets(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t now_ns)
{
	const uint64_t looked = RTE_MAX(s->looked_ns, s->last_ns);
	const bool exact = now_ns - looked <= LOOK_NS;

	s->sure = cfg->slot_us ? TOLD : LEARNED;
	if (cfg->slot_us != 0)
		s->period_ns = cfg->slot_us * AP_NS_PER_US;
	if (now_ns - s->last_ns >= GAP_NS || !exact) {
		uint64_t start = exact ? now_ns : slept_over(s, now_ns);

		if (!cfg->slot_naps && start - s->last_ns >= patience(cfg, s))
			earn(cfg, s, 1);
		burst(cfg, s, start, exact);
	}
	s->last_ns = now_ns;
	s->slept = false;
}

void
power_slot_slept(struct power_slot *s, uint64_t late_ns)
{
	/* A thread that lost its CPU for long says nothing: no guard would have helped. */
	if (late_ns > LATE_COUNTS_NS)
		return;
	if (s->late_ns == 0) {
		s->late_ns = RTE_MIN(late_ns + LATE_DOWN_NS, LATE_MOST_NS);
		s->usual_ns = late_ns;
	}
	s->usual_ns = toward(s->usual_ns, RTE_MIN(late_ns, 2 * s->usual_ns + USUAL_UP_NS), 4);
	/* Where steps up and down balance, 400 of 401 sleeps end in time: a late one delays all
	 * packets of a slot, so more of them would show in the 99th percentile. What cannot be
	 * waited for counts too: earlier ends are shorter sleeps, from which CPUs wake sooner. */
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

/** Moves on from bursts that did not come. @return false: there is nothing to expect any more */
static bool
expect(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t now_ns)
{
	const uint64_t grace = GRACE_NS + 4 * s->jitter_ns;
	uint64_t passed;

	if (now_ns <= s->next_ns + grace)
		return true;
	passed = (now_ns - grace - s->next_ns) / s->period_ns + 1;
	s->next_ns += passed * s->period_ns;
	passed = RTE_MIN(passed, (uint64_t)FORGIVEN);
	s->misses += (uint32_t)passed;
	if (cfg->slot_naps)
		earn(cfg, s, passed);
	if (s->misses < FORGIVEN)
		return true;
	s->hits = 0;
	return false;
}

enum power_slot_advice
power_slot_idle(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t now_ns,
		uint64_t *until_ns)
{
	const uint64_t guard = power_slot_guard(s),
		       nap = RTE_MAX(s->period_ns * cfg->slot_nap_percent / 100, NAP_NS);

	/* Two looks in a row with no sleep between. */
	if (s->looked_ns > s->last_ns && now_ns - s->looked_ns < POLL_MOST_NS)
		s->poll_64 += (uint32_t)(now_ns - s->looked_ns) - s->poll_64 / 64;
	s->looked_ns = now_ns;
	if (s->hits == 0 || s->hits < s->sure || !expect(cfg, s, now_ns))
		return POWER_SLOT_UNKNOWN;
	if (now_ns - s->last_ns < settle(s))
		return POWER_SLOT_POLL;
	if (s->budget < 100)
		return s->misses > 0 ? POWER_SLOT_UNKNOWN : POWER_SLOT_POLL;
	/* Algorithm 1 may find the time for the sleep that there was no room for. */
	if (now_ns + guard + nap > s->next_ns)
		return s->slept || cfg->slot_naps ? POWER_SLOT_POLL : POWER_SLOT_UNKNOWN;
	*until_ns = s->next_ns - guard;
	return POWER_SLOT_SLEEP;
}

void
power_slot_spend(struct power_slot *s)
{
	s->budget = RTE_MAX(s->budget - 100, -BUDGET_MOST);
	s->slept = true;
}
