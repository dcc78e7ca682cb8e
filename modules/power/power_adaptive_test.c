/* SPDX-License-Identifier: BSD-3-Clause */
/** Algorithm 1 as a table: polls of one queue over time, and what its state and hints become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/clock.h"
#include "modules/power/power_adaptive.h"

/** The paper's constants, which are also the defaults of a deployment. */
static const struct ap_cfg_power paper = {
	.empty_polls_pause = 10,
	.empty_polls_sleep = 300,
	.pause_us = 1,
	.sleep_us = 300,
	.count_low = 32,
	.count_mid = 64,
	.count_high = 96,
	.trend_low = 3,
	.trend_mid = 250,
	.trend_step = 10000,
	.scale_down_ms = 100,
	.scale_down_idle_percent = 25,
	.scale_down_packets = 32,
};

struct row {
	const char *why;
	uint32_t times; /**< this poll comes so often in a row */
	uint32_t taken, count;
	/* after the last of them */
	uint32_t empty, idle_us, trend;
	enum power_step hint;
};

static void
run_table(const struct ap_cfg_power *cfg, const struct row *rows, unsigned n)
{
	struct power_rxq q = {0};

	for (unsigned i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		for (uint32_t k = 0; k < r->times; k++) {
			q.freq_hint = POWER_KEEP; /* each pass */
			power_adaptive_poll(cfg, &q, r->taken, r->count);
		}
		if (q.empty_poll_cnt != r->empty || q.idle_hint_us != r->idle_us ||
		    q.trend != r->trend || q.freq_hint != r->hint)
			fail_msg("row %u (%s): empty %u idle %u trend %u hint %u, want %u %u %u %u",
				 i, r->why, q.empty_poll_cnt, q.idle_hint_us, q.trend, q.freq_hint,
				 r->empty, r->idle_us, r->trend, r->hint);
	}
}

static void
test_idle_hints(void **state)
{
	static const struct row rows[] = {
		{"line 5: counted, no hint yet", 9, 0, 0, 9, 0, 0, POWER_KEEP},
		{"line 6: the tenth", 1, 0, 0, 10, 1, 0, POWER_KEEP},
		{"line 7: still below 300", 289, 0, 0, 299, 1, 0, POWER_KEEP},
		{"line 10: the 300th", 1, 0, 0, 300, 300, 0, POWER_KEEP},
		{"and on", 5000, 0, 0, 5300, 300, 0, POWER_KEEP},
		{"line 12, and the hint goes", 1, 1, 0, 0, 0, 0, POWER_KEEP},
		{"it begins anew", 9, 0, 0, 9, 0, 0, POWER_KEEP},
		{"with ten", 1, 0, 0, 10, 1, 0, POWER_KEEP},
		{"a packet at hint 1 us", 1, 32, 0, 0, 0, 0, POWER_KEEP},
	};

	(void)state;
	run_table(&paper, rows, sizeof(rows) / sizeof(rows[0]));
}

static void
test_frequency_hints(void **state)
{
	static const struct row rows[] = {
		{"32 is not above 32", 1, 32, 32, 0, 0, 0, POWER_KEEP},
		{"line 19: above 32", 1, 32, 33, 0, 0, 3, POWER_KEEP},
		{"64 is not above 64", 1, 32, 64, 0, 0, 6, POWER_KEEP},
		{"line 17: above 64", 1, 32, 65, 0, 0, 256, POWER_KEEP},
		{"96 is not above 96", 1, 32, 96, 0, 0, 506, POWER_KEEP},
		{"line 15: above 96 forgets the trend", 1, 32, 97, 0, 0, 0, POWER_HIGHEST},
		{"a short queue leaves it", 1, 32, 5, 0, 0, 0, POWER_KEEP},
		{"39 times 250", 39, 32, 80, 0, 0, 9750, POWER_KEEP},
		{"empty polls leave it", 4, 0, 0, 4, 0, 9750, POWER_KEEP},
		{"83 times 3 more: 9999", 83, 32, 40, 0, 0, 9999, POWER_KEEP},
		{"line 21: 10002", 1, 32, 40, 0, 0, 0, POWER_NEXT},
		{"3333 times 3: 9999", 3333, 32, 33, 0, 0, 9999, POWER_KEEP},
		{"line 21", 1, 32, 33, 0, 0, 0, POWER_NEXT},
		{"40 times 250: exactly 10000", 40, 32, 66, 0, 0, 0, POWER_NEXT},
		{"9750 once more", 39, 32, 66, 0, 0, 9750, POWER_KEEP},
		{"lost at a long queue", 1, 32, 4096, 0, 0, 0, POWER_HIGHEST},
	};

	(void)state;
	run_table(&paper, rows, sizeof(rows) / sizeof(rows[0]));
}

static void
test_constants_are_configuration(void **state)
{
	struct ap_cfg_power own = paper;
	static const struct row rows[] = {
		{"pause from the second", 2, 0, 0, 2, 5, 0, POWER_KEEP},
		{"sleep from the fourth", 2, 0, 0, 4, 900, 0, POWER_KEEP},
		{"above 8", 1, 1, 9, 0, 0, 1, POWER_KEEP},
		{"above 16", 1, 1, 17, 0, 0, 0, POWER_NEXT},
		{"above 24", 1, 1, 25, 0, 0, 0, POWER_HIGHEST},
	};

	(void)state;
	own.empty_polls_pause = 2;
	own.empty_polls_sleep = 4;
	own.pause_us = 5;
	own.sleep_us = 900;
	own.count_low = 8;
	own.count_mid = 16;
	own.count_high = 24;
	own.trend_low = 1;
	own.trend_mid = 19;
	own.trend_step = 20;
	run_table(&own, rows, sizeof(rows) / sizeof(rows[0]));
}

struct verdict_row {
	const char *why;
	struct power_rxq q[3];
	unsigned n;
	struct power_verdict want;
};

/** Lines 23 to 32: the least idle hint, the greatest frequency hint. */
static void
test_the_lcore_decides(void **state)
{
	static const struct verdict_row rows[] = {
		{"polls on", {{0, 0, 0, POWER_KEEP}}, 1, {POWER_KEEP, 0, false}},
		{"pauses", {{10, 1, 0, POWER_KEEP}}, 1, {POWER_KEEP, 1, false}},
		{"sleeps", {{300, 300, 0, POWER_KEEP}}, 1, {POWER_KEEP, 0, true}},
		{"one queue that is busy keeps it awake",
		 {{300, 300, 0, POWER_KEEP}, {0, 0, 0, POWER_KEEP}, {20, 1, 0, POWER_KEEP}},
		 3,
		 {POWER_KEEP, 0, false}},
		{"one that was busy has it pause",
		 {{300, 300, 0, POWER_KEEP}, {20, 1, 0, POWER_KEEP}},
		 2,
		 {POWER_KEEP, 1, false}},
		{"all of them idle",
		 {{300, 300, 0, POWER_KEEP}, {301, 300, 0, POWER_KEEP}},
		 2,
		 {POWER_KEEP, 0, true}},
		{"the greatest hint",
		 {{0, 0, 0, POWER_NEXT}, {0, 0, 0, POWER_HIGHEST}, {0, 0, 0, POWER_KEEP}},
		 3,
		 {POWER_HIGHEST, 0, false}},
		{"next", {{0, 0, 0, POWER_KEEP}, {0, 0, 0, POWER_NEXT}}, 2, {POWER_NEXT, 0, false}},
		{"nothing to poll", {{0}}, 0, {POWER_KEEP, 0, true}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verdict_row r = rows[i];
		struct power_verdict v = power_adaptive_decide(&paper, r.q, r.n);

		if (v.step != r.want.step || v.pause_us != r.want.pause_us ||
		    v.sleep != r.want.sleep)
			fail_msg("row %u (%s): step %u pause %u sleep %u", i, r.why, v.step,
				 v.pause_us, v.sleep);
		for (unsigned k = 0; k < r.n; k++) /* for one pass only */
			assert_int_equal(r.q[k].freq_hint, POWER_KEEP);
	}
}

/** What is not in the print: a step down every 100 ms at most. */
static void
test_scale_down(void **state)
{
	const uint64_t ms = AP_NS_PER_MS;
	struct power_window w = {0};

	(void)state;
	assert_false(power_adaptive_scale_down(&paper, &w, 5 * ms)); /* begins */
	w.passes = 100;
	w.packets = 100 * 64;
	assert_false(power_adaptive_scale_down(&paper, &w, 104 * ms));
	assert_false(power_adaptive_scale_down(&paper, &w, 105 * ms)); /* busy all the time */
	assert_int_equal(w.passes, 0);
	w.passes = 100;
	w.packets = 100 * 32 - 1; /* less than a burst a pass */
	assert_true(power_adaptive_scale_down(&paper, &w, 205 * ms));
	w.passes = 100;
	w.packets = 100 * 32;
	assert_false(power_adaptive_scale_down(&paper, &w, 305 * ms));
	w.passes = 100;
	w.packets = 100 * 64;
	w.idle_ns = 25 * ms; /* a quarter of the time */
	assert_true(power_adaptive_scale_down(&paper, &w, 405 * ms));
	w.passes = 100;
	w.packets = 100 * 64;
	w.idle_ns = 25 * ms - 1;
	assert_false(power_adaptive_scale_down(&paper, &w, 505 * ms));
	assert_false(power_adaptive_scale_down(&paper, &w, 506 * ms)); /* not due */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_hints),
		cmocka_unit_test(test_frequency_hints),
		cmocka_unit_test(test_constants_are_configuration),
		cmocka_unit_test(test_the_lcore_decides),
		cmocka_unit_test(test_scale_down),
	};

	return cmocka_run_group_tests_name("power_adaptive", tests, NULL, NULL);
}
