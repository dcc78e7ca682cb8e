/* SPDX-License-Identifier: BSD-3-Clause */
/** What slot-aware expects of traffic: bursts in slots, their jitter, gaps, and other traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rte_common.h>

#include "core/clock.h"
#include "modules/power/power_slot.h"

#define US AP_NS_PER_US
#define SLOT (500 * US)
#define T0 (1000000 * US)

static const struct ap_cfg_power learns = {.slot_wakeups_percent = 100},
				 told = {.slot_us = 500, .slot_wakeups_percent = 100};

/** A burst of `polls` polls, 1 us each, from `at`, which the lcore sees begin. @return its end. */
static uint64_t
send(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t at, unsigned polls)
{
	uint64_t until;

	power_slot_idle(cfg, s, at - US, &until);
	for (unsigned i = 0; i < polls; i++)
		power_slot_packets(cfg, s, at + i * US);
	return at + (polls - 1) * US;
}

static struct power_slot
locked(const struct ap_cfg_power *cfg)
{
	struct power_slot s = {0};

	power_slot_slept(&s, 30 * US);
	for (unsigned k = 0; k < 6; k++)
		send(cfg, &s, T0 + k * SLOT, 50);
	return s;
}

/** An lcore that does as it is advised. */
struct lcore {
	const struct ap_cfg_power *cfg;
	struct power_slot s;
	uint64_t t, awake_ns;
	unsigned sleeps, waited; /**< waited: bursts that came while it slept */
};

/**
 * Until a burst that comes at `at` is over.
 * @param late that sleeps end, whatever ends them
 */
static void
play(struct lcore *l, uint64_t at, unsigned polls, uint64_t late)
{
	uint64_t until, start = l->t, slept = 0;

	while (l->t < at) {
		if (power_slot_idle(l->cfg, &l->s, l->t, &until) == POWER_SLOT_SLEEP) {
			uint64_t wake = RTE_MIN(until, at) + late;

			power_slot_spend(&l->s);
			if (until <= at || wake > until)
				power_slot_slept(&l->s, wake > until ? wake - until : 0);
			l->sleeps++;
			l->waited += wake > at;
			slept += wake - l->t;
			l->t = wake;
		} else {
			l->t += US;
		}
	}
	for (; polls > 0; polls--, l->t += US)
		power_slot_packets(l->cfg, &l->s, l->t);
	l->awake_ns += l->t - start - slept;
}

static struct lcore
rested(const struct ap_cfg_power *cfg)
{
	struct lcore l = {.cfg = cfg, .s = locked(cfg), .t = T0 + 5 * SLOT + 50 * US};

	return l;
}

static void
test_nothing_is_known_at_first(void **state)
{
	struct power_slot s = {0};
	uint64_t until;

	(void)state;
	assert_int_equal(power_slot_idle(&learns, &s, T0, &until), POWER_SLOT_UNKNOWN);
	/* The first gives a time, the second a period, then they begin to count. */
	for (unsigned k = 0; k < 5; k++) {
		send(&learns, &s, T0 + k * SLOT, 10);
		assert_int_equal(power_slot_idle(&learns, &s, T0 + k * SLOT + 100 * US, &until),
				 POWER_SLOT_UNKNOWN);
	}
	send(&learns, &s, T0 + 5 * SLOT, 10);
	assert_int_equal(s.period_ns, SLOT);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 5 * SLOT + 100 * US, &until),
			 POWER_SLOT_SLEEP);
}

static void
test_sleeps_until_just_before_the_next_burst(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t last = T0 + 5 * SLOT + 49 * US, until = 0;

	(void)state;
	/* The burst may go on: 5 us. */
	assert_int_equal(power_slot_idle(&learns, &s, last + 4 * US, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&learns, &s, last + 5 * US, &until), POWER_SLOT_SLEEP);
	assert_int_equal(s.jitter_ns, 0);
	assert_int_equal(until, T0 + 6 * SLOT - power_slot_guard(&s));
	assert_in_range(power_slot_guard(&s), 30 * US, 31 * US);
	/* A nap of less than 20 us is not worth it; nor is one around the burst. */
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT - 52 * US, &until),
			 POWER_SLOT_SLEEP);
	/* Algorithm 1 may find the time for one, but only one. */
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT - 49 * US, &until),
			 POWER_SLOT_UNKNOWN);
	power_slot_spend(&s);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT - 49 * US, &until),
			 POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT + 20 * US, &until),
			 POWER_SLOT_POLL);
	/* It stays out: the next is a slot later. */
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 6 * SLOT + 21 * US, &until),
			 POWER_SLOT_SLEEP);
	assert_int_equal(until, T0 + 7 * SLOT - power_slot_guard(&s));
}

static void
test_wakes_earlier_where_sleeps_end_late(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t before = power_slot_guard(&s);

	(void)state;
	power_slot_slept(&s, 130 * US); /* a deep C-state */
	assert_int_equal(power_slot_guard(&s), before + 20 * US);
	for (unsigned i = 0; i < 100; i++)
		power_slot_slept(&s, 130 * US);
	assert_in_range(power_slot_guard(&s), 129 * US, 150 * US);
	before = power_slot_guard(&s);
	for (unsigned i = 0; i < 600; i++)
		power_slot_slept(&s, 0); /* down slowly */
	assert_int_equal(power_slot_guard(&s), before - 30 * US);
	power_slot_slept(&s, UINT64_MAX); /* a thread that lost its CPU for long says nothing */
	assert_int_equal(power_slot_guard(&s), before - 30 * US);
	for (unsigned i = 0; i < 20000; i++) /* one of 800 late is what it accepts ... */
		power_slot_slept(&s, i % 800 ? 20 * US : 130 * US);
	assert_in_range(power_slot_guard(&s), 19 * US, 60 * US);
	for (unsigned i = 0; i < 20000; i++) /* ... one of 200 is not: p99 would show it */
		power_slot_slept(&s, i % 200 ? 20 * US : 130 * US);
	assert_in_range(power_slot_guard(&s), 115 * US, 155 * US);
	for (unsigned i = 0; i < 20000; i++) /* what nothing helps against has an end */
		power_slot_slept(&s, 900 * US);
	assert_int_equal(power_slot_guard(&s), 200 * US);
}

static void
test_jitter_widens_the_guard(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t before = power_slot_guard(&s);

	(void)state;
	for (unsigned k = 6; k < 40; k++)
		send(&learns, &s, T0 + k * SLOT + (k % 2 ? 20 * US : 0), 10);
	assert_true(s.hits > 30); /* still as expected */
	assert_in_range(s.period_ns, SLOT - 10 * US, SLOT + 10 * US);
	assert_in_range(power_slot_guard(&s), before + 10 * US, before + 60 * US);
}

/** Slots without packets are no surprise; traffic that has ended is forgotten. */
static void
test_skipped_slots(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t until;

	(void)state;
	send(&learns, &s, T0 + 9 * SLOT, 10);
	assert_true(s.hits >= 5);
	assert_int_equal(s.period_ns, SLOT);
	for (unsigned k = 10; k < 17; k++)
		assert_int_equal(power_slot_idle(&learns, &s, T0 + k * SLOT + 100 * US, &until),
				 POWER_SLOT_SLEEP);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 17 * SLOT + 100 * US, &until),
			 POWER_SLOT_UNKNOWN);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 9000 * SLOT, &until),
			 POWER_SLOT_UNKNOWN);
}

static void
test_a_configured_slot_is_kept(void **state)
{
	struct power_slot s = locked(&told);
	uint64_t until;

	(void)state;
	assert_int_equal(power_slot_idle(&told, &s, T0 + 5 * SLOT + 100 * US, &until),
			 POWER_SLOT_SLEEP);
	send(&told, &s, T0 + 5 * SLOT + 250 * US, 1); /* a stray one */
	assert_int_equal(power_slot_idle(&told, &s, T0 + 5 * SLOT + 300 * US, &until),
			 POWER_SLOT_SLEEP);
	for (unsigned k = 6; k < 9; k++)
		send(&told, &s, T0 + k * SLOT + 250 * US, 1); /* no more at slots */
	assert_int_equal(s.period_ns, SLOT);
	assert_int_equal(power_slot_idle(&told, &s, T0 + 8 * SLOT + 400 * US, &until),
			 POWER_SLOT_SLEEP);
	assert_int_equal(until, T0 + 9 * SLOT + 250 * US - power_slot_guard(&s));
}

/** Packets between bursts are taken and change nothing, even when they are learned first. */
static void
test_strays(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t until;

	(void)state;
	for (unsigned k = 6; k < 60; k++) {
		send(&learns, &s, T0 + k * SLOT, 20);
		send(&learns, &s, T0 + k * SLOT + 150 * US, 1);
	}
	assert_int_equal(s.period_ns, SLOT);
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 59 * SLOT + 160 * US, &until),
			 POWER_SLOT_SLEEP);
	assert_int_equal(until, T0 + 60 * SLOT - power_slot_guard(&s));

	s = (struct power_slot){0}; /* a pause of 50 us in the first burst is no period */
	send(&learns, &s, T0, 10);
	send(&learns, &s, T0 + 60 * US, 10);
	for (unsigned k = 1; k < 8; k++)
		send(&learns, &s, T0 + k * SLOT, 10);
	assert_int_equal(s.period_ns, SLOT);
	assert_true(s.hits >= 4);
}

/** Traffic without a rhythm is Algorithm 1's. */
static void
test_no_rhythm(void **state)
{
	struct power_slot s = {0};
	uint64_t at = T0, until;
	uint32_t random = 1;
	unsigned by_chance = 0;

	(void)state;
	for (unsigned k = 0; k < 10000; k++) {
		random = random * 1664525 + 1013904223;
		at += (20 + (random >> 22)) * US; /* 20..1043 us */
		send(&learns, &s, at, 1);
		by_chance += s.hits >= 4;
	}
	assert_in_range(by_chance, 0, 200); /* of 10000 */
	at = T0;
	s = (struct power_slot){0};
	for (unsigned k = 0; k < 1000; k++, at += 2 * US) { /* a steady stream has no bursts */
		power_slot_packets(&learns, &s, at);
		assert_int_equal(power_slot_idle(&learns, &s, at + US, &until), POWER_SLOT_UNKNOWN);
	}
}

/** Slept over, a burst came when it was expected for all one knows. */
static void
test_a_burst_that_was_slept_over(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t until;

	(void)state;
	for (unsigned k = 6; k < 60; k++) {
		power_slot_idle(&learns, &s, T0 + k * SLOT - 200 * US, &until);
		power_slot_packets(&learns, &s, T0 + k * SLOT + 30 * US);
	}
	assert_int_equal(power_slot_idle(&learns, &s, T0 + 59 * SLOT + 100 * US, &until),
			 POWER_SLOT_SLEEP);
	assert_int_equal(until, T0 + 60 * SLOT - power_slot_guard(&s));
}

/** Who goes to sleep within a burst soon waits for as long as its packets stay out. */
static void
test_a_burst_with_gaps(void **state)
{
	struct power_slot s = locked(&told);
	unsigned asleep = 0;
	uint64_t until, at = 0;

	(void)state;
	for (unsigned k = 6; k < 100; k++) {
		uint64_t more = send(&told, &s, T0 + k * SLOT, 10) + 12 * US;
		bool sleeps = power_slot_idle(&told, &s, more - US, &until) == POWER_SLOT_SLEEP &&
			      until > more;

		asleep += sleeps;
		if (sleeps)
			power_slot_spend(&s);
		at = more + (sleeps ? 30 * US : 0);
		power_slot_packets(&told, &s, at);
	}
	assert_in_range(asleep, 1, 3);
	assert_in_range(s.hits, 90, 110); /* no gap was taken for a burst of its own */
	assert_int_equal(s.strays, 0);
	assert_int_equal(power_slot_idle(&told, &s, at + 11 * US, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&told, &s, at + 18 * US, &until), POWER_SLOT_SLEEP);
	/* What comes much later is not worth waiting for. */
	for (unsigned k = 100; k < 2000; k++) {
		send(&told, &s, T0 + k * SLOT, 10);
		power_slot_spend(&s);
		power_slot_packets(&told, &s, T0 + k * SLOT + 180 * US);
		at = T0 + k * SLOT + 180 * US;
	}
	assert_int_equal(power_slot_idle(&told, &s, at + 5 * US, &until), POWER_SLOT_SLEEP);
}

/** One sleep a slot, awake for the burst and the guard, and no burst waits. */
static void
test_one_sleep_a_slot(void **state)
{
	const unsigned slots = 2000;

	(void)state;
	for (unsigned polls = 10; polls <= 400; polls *= 2) {
		struct lcore l = rested(&told);

		for (unsigned k = 6; k < 6 + slots; k++)
			play(&l, T0 + k * SLOT + k % 3 * US, polls, 15 * US);
		assert_int_equal(l.waited, 0);
		assert_in_range(l.sleeps, slots - 1, slots);
		assert_in_range(l.awake_ns / slots, polls * US, (polls + 50) * US);
	}
}

/** Fewer where that is asked for: the lcore stays awake through the slots between. */
static void
test_a_budget_of_wake_ups(void **state)
{
	const struct ap_cfg_power frugal = {
		.slot_us = 500, .slot_wakeups_percent = 90, .slot_naps = true};
	struct lcore l = rested(&frugal);

	(void)state;
	for (unsigned k = 6; k < 1006; k++)
		play(&l, T0 + k * SLOT, 50, 15 * US);
	assert_in_range(l.sleeps, 895, 902);
	assert_int_equal(l.waited, 0);
	/* Packets that end sleeps do not make them more. */
	l.sleeps = 0;
	for (unsigned k = 1006; k < 2006; k++) {
		play(&l, T0 + k * SLOT, 50, 15 * US);
		play(&l, T0 + k * SLOT + 150 * US, 1, 15 * US);
	}
	assert_in_range(l.sleeps, 800, 902);
}

/** Never more sleeps than Algorithm 1 would make, but from the beginning of what is slept through.
 */
static void
test_fewer_sleeps_than_algorithm_1(void **state)
{
	const struct ap_cfg_power usual = {.slot_us = 500,
					   .slot_wakeups_percent = 95,
					   .slot_nap_percent = 25,
					   .pause_us = 1,
					   .empty_polls_sleep = 300};
	struct lcore l = rested(&usual);

	(void)state;
	for (unsigned k = 6; k < 1006; k++)
		play(&l, T0 + k * SLOT, 100, 15 * US); /* it would, 100 us before the next */
	assert_in_range(l.sleeps, 940, 952);
	assert_in_range(l.awake_ns / 1000, 120 * US, 180 * US);
	assert_in_range(l.s.poll_64 / 64, 900, 1000);
	l.sleeps = 0;
	for (unsigned k = 1006; k < 2006; k++) /* it would not */
		play(&l, T0 + k * SLOT, 210, 15 * US);
	assert_in_range(l.sleeps, 0, 3);
	for (unsigned k = 2006; k < 3006; k++) /* every other time */
		play(&l, T0 + k * SLOT, k % 2 ? 210 : 50, 15 * US);
	assert_in_range(l.sleeps, 470, 480);
	assert_in_range(l.waited, 0, 3); /* what the guard is learned from */
}

/** Where bursts leave too little of the slot it stays awake. */
static void
test_short_naps_are_not_begun(void **state)
{
	const struct ap_cfg_power quarter = {
		.slot_us = 500, .slot_wakeups_percent = 100, .slot_nap_percent = 25};
	struct lcore l = rested(&quarter);

	(void)state;
	for (unsigned k = 6; k < 106; k++)
		play(&l, T0 + k * SLOT, 300, 15 * US); /* 200 us less 30 of guard and 5 */
	assert_in_range(l.sleeps, 99, 100);
	l.sleeps = 0;
	for (unsigned k = 106; k < 206; k++)
		play(&l, T0 + k * SLOT, 350, 15 * US);
	assert_int_equal(l.sleeps, 1); /* after the last of the short bursts */
}

/** Bursts that come at another time from now on, earlier or later, are soon expected there. */
static void
test_a_phase_that_changes(void **state)
{
	static const uint64_t shifts[] = {40, 68, 150, 249, 251, 300, 430, 470};

	(void)state;
	for (unsigned i = 0; i < 2 * RTE_DIM(shifts); i++) {
		const struct ap_cfg_power *cfg = i % 2 ? &told : &learns;
		struct lcore l = rested(cfg);
		uint64_t t1 = T0 + shifts[i / 2] * US;

		for (unsigned k = 6; k < 30; k++)
			play(&l, t1 + k * SLOT, 10, 15 * US);
		l.sleeps = l.waited = 0;
		for (unsigned k = 30; k < 130; k++)
			play(&l, t1 + k * SLOT, 10, 15 * US);
		assert_int_equal(l.waited, 0);
		assert_in_range(l.sleeps, 99, 100);
		assert_in_range(l.s.next_ns, t1 + 130 * SLOT - 15 * US, t1 + 130 * SLOT + 15 * US);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known_at_first),
		cmocka_unit_test(test_sleeps_until_just_before_the_next_burst),
		cmocka_unit_test(test_wakes_earlier_where_sleeps_end_late),
		cmocka_unit_test(test_jitter_widens_the_guard),
		cmocka_unit_test(test_skipped_slots),
		cmocka_unit_test(test_a_configured_slot_is_kept),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_no_rhythm),
		cmocka_unit_test(test_a_burst_that_was_slept_over),
		cmocka_unit_test(test_a_burst_with_gaps),
		cmocka_unit_test(test_one_sleep_a_slot),
		cmocka_unit_test(test_a_budget_of_wake_ups),
		cmocka_unit_test(test_fewer_sleeps_than_algorithm_1),
		cmocka_unit_test(test_short_naps_are_not_begun),
		cmocka_unit_test(test_a_phase_that_changes),
	};

	return cmocka_run_group_tests_name("power_slot", tests, NULL, NULL);
}
