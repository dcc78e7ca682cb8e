/* SPDX-License-Identifier: BSD-3-Clause */
/** When timers wait: after a stall, until what came meanwhile was taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/worker.h"

#define US 1000ULL

/** A walk `gap` ns after the one before, which took `work` packets. */
static bool
next(struct ap_worker *w, uint64_t gap, uint32_t work)
{
	w->work = work;
	return ap_worker_behind(w, w->now_ns + gap);
}

static void
timers_run_in_every_walk(void **state)
{
	struct ap_worker w = {.now_ns = 1};

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_false(next(&w, i * 100 * US, i));
	assert_int_equal(w.now_ns, 1 + 99 * 50 * 100 * US);
}

static void
behind_a_stall_what_came_is_first(void **state)
{
	struct ap_worker w = {.now_ns = 1};

	(void)state;
	assert_true(next(&w, AP_WORKER_STALL_NS + 1, 0));
	assert_true(next(&w, US, 64));
	assert_true(next(&w, US, 64));
	assert_false(next(&w, US, 0)); /* all was taken */
	assert_false(next(&w, US, 64));
}

static void
timers_do_not_wait_for_ever(void **state)
{
	struct ap_worker w = {.now_ns = 1};
	unsigned waited = 0, ran = 0;

	(void)state;
	/* Packets without end, and a CPU that is gone behind every walk. */
	for (unsigned i = 0; i < 10 * (AP_WORKER_CATCH_UP + 1); i++)
		*(next(&w, 2 * AP_WORKER_STALL_NS, 64) ? &waited : &ran) += 1;
	assert_int_equal(ran, 10);
	assert_int_equal(waited, 10 * AP_WORKER_CATCH_UP);
	/* Without packets they miss one walk a stall. */
	for (unsigned i = 0; i < 10; i++) {
		assert_true(next(&w, 2 * AP_WORKER_STALL_NS, 0));
		assert_false(next(&w, 2 * AP_WORKER_STALL_NS, 0));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_run_in_every_walk),
		cmocka_unit_test(behind_a_stall_what_came_is_first),
		cmocka_unit_test(timers_do_not_wait_for_ever),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
