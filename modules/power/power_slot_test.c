/* SPDX-License-Identifier: BSD-3-Clause */
/** What slot-aware expects of traffic: bursts in slots, their jitter, gaps, and other traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/clock.h"
#include "modules/power/power_slot.h"

#define US AP_NS_PER_US
#define SLOT (500 * US)
#define T0 (1000000 * US)

static const struct ap_cfg_power learns, told = {.slot_us = 500};

/** A burst of `polls` polls, 1 us each, from `at`. @return its end. */
static uint64_t
send(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t at, unsigned polls)
{
	for (unsigned i = 0; i < polls; i++)
		power_slot_packets(cfg, s, at + i * US, false);
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

static void
test_nothing_is_known_at_first(void **state)
{
	struct power_slot s = {0};
	uint64_t until;

	(void)state;
	assert_int_equal(power_slot_idle(&s, T0, &until), POWER_SLOT_UNKNOWN);
	/* The first gives a time, the second a period, then they begin to count. */
	for (unsigned k = 0; k < 5; k++) {
		send(&learns, &s, T0 + k * SLOT, 10);
		assert_int_equal(power_slot_idle(&s, T0 + k * SLOT + 100 * US, &until),
				 POWER_SLOT_UNKNOWN);
	}
	send(&learns, &s, T0 + 5 * SLOT, 10);
	assert_int_equal(s.period_ns, SLOT);
	assert_int_equal(power_slot_idle(&s, T0 + 5 * SLOT + 100 * US, &until), POWER_SLOT_SLEEP);
}

static void
test_sleeps_until_just_before_the_next_burst(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t last = T0 + 5 * SLOT + 49 * US, until = 0;

	(void)state;
	/* The burst may go on: 5 us. */
	assert_int_equal(power_slot_idle(&s, last + 4 * US, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&s, last + 5 * US, &until), POWER_SLOT_SLEEP);
	assert_int_equal(s.jitter_ns, 0);
	assert_int_equal(until, T0 + 6 * SLOT - power_slot_guard(&s));
	assert_in_range(power_slot_guard(&s), 30 * US, 31 * US);
	/* A nap of less than 20 us is not worth it; nor is one around the burst. */
	assert_int_equal(power_slot_idle(&s, T0 + 6 * SLOT - 52 * US, &until), POWER_SLOT_SLEEP);
	assert_int_equal(power_slot_idle(&s, T0 + 6 * SLOT - 49 * US, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&s, T0 + 6 * SLOT, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&s, T0 + 6 * SLOT + 20 * US, &until), POWER_SLOT_POLL);
	/* It stays out: the next is a slot later. */
	assert_int_equal(power_slot_idle(&s, T0 + 6 * SLOT + 21 * US, &until), POWER_SLOT_SLEEP);
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
	for (unsigned i = 0; i < 300; i++)
		power_slot_slept(&s, 0); /* down slowly */
	assert_int_equal(power_slot_guard(&s), before - 30 * US);
	power_slot_slept(&s, UINT64_MAX); /* a thread that lost its CPU for long says nothing */
	power_slot_slept(&s, 301 * US);
	assert_int_equal(power_slot_guard(&s), before - 30 * US);
	for (unsigned i = 0; i < 10000; i++) /* one of 400 late is what it accepts ... */
		power_slot_slept(&s, i % 400 ? 20 * US : 130 * US);
	assert_in_range(power_slot_guard(&s), 19 * US, 60 * US);
	for (unsigned i = 0; i < 10000; i++) /* ... one of 100 is not: p99 would show it */
		power_slot_slept(&s, i % 100 ? 20 * US : 130 * US);
	assert_in_range(power_slot_guard(&s), 115 * US, 155 * US);
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
		assert_int_equal(power_slot_idle(&s, T0 + k * SLOT + 100 * US, &until),
				 POWER_SLOT_SLEEP);
	assert_int_equal(power_slot_idle(&s, T0 + 17 * SLOT + 100 * US, &until),
			 POWER_SLOT_UNKNOWN);
	assert_int_equal(power_slot_idle(&s, T0 + 9000 * SLOT, &until), POWER_SLOT_UNKNOWN);
}

static void
test_a_configured_slot_is_kept(void **state)
{
	struct power_slot s = locked(&told);
	uint64_t until;

	(void)state;
	assert_int_equal(power_slot_idle(&s, T0 + 5 * SLOT + 100 * US, &until), POWER_SLOT_SLEEP);
	send(&told, &s, T0 + 5 * SLOT + 250 * US, 1); /* a stray one */
	assert_int_equal(power_slot_idle(&s, T0 + 5 * SLOT + 300 * US, &until), POWER_SLOT_SLEEP);
	for (unsigned k = 6; k < 9; k++)
		send(&told, &s, T0 + k * SLOT + 250 * US, 1); /* no more at slots */
	assert_int_equal(s.period_ns, SLOT);
	assert_int_equal(power_slot_idle(&s, T0 + 8 * SLOT + 400 * US, &until), POWER_SLOT_UNKNOWN);
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
	assert_int_equal(power_slot_idle(&s, T0 + 59 * SLOT + 160 * US, &until), POWER_SLOT_SLEEP);
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
		power_slot_packets(&learns, &s, at, false);
		assert_int_equal(power_slot_idle(&s, at + US, &until), POWER_SLOT_UNKNOWN);
	}
}

/** Seen after a sleep, a burst is older than it looks: it must not pull the clock along. */
static void
test_a_burst_that_was_slept_over(void **state)
{
	struct power_slot s = locked(&learns);
	uint64_t until;

	(void)state;
	for (unsigned k = 6; k < 60; k++)
		power_slot_packets(&learns, &s, T0 + k * SLOT + 30 * US, true);
	assert_int_equal(power_slot_idle(&s, T0 + 59 * SLOT + 100 * US, &until), POWER_SLOT_SLEEP);
	assert_in_range(until, T0 + 60 * SLOT - 40 * US, T0 + 60 * SLOT - 20 * US);
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
		bool sleeps =
			power_slot_idle(&s, more - US, &until) == POWER_SLOT_SLEEP && until > more;

		asleep += sleeps;
		at = more + (sleeps ? 30 * US : 0);
		power_slot_packets(&told, &s, at, sleeps);
	}
	assert_in_range(asleep, 1, 3);
	assert_in_range(s.hits, 90, 110); /* no gap was taken for a burst of its own */
	assert_int_equal(s.strays, 0);
	assert_int_equal(power_slot_idle(&s, at + 11 * US, &until), POWER_SLOT_POLL);
	assert_int_equal(power_slot_idle(&s, at + 18 * US, &until), POWER_SLOT_SLEEP);
	/* What comes much later is not worth waiting for. */
	for (unsigned k = 100; k < 1000; k++) {
		send(&told, &s, T0 + k * SLOT, 10);
		power_slot_packets(&told, &s, T0 + k * SLOT + 180 * US, true);
		at = T0 + k * SLOT + 180 * US;
	}
	assert_int_equal(power_slot_idle(&s, at + 5 * US, &until), POWER_SLOT_SLEEP);
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
	};

	return cmocka_run_group_tests_name("power_slot", tests, NULL, NULL);
}
