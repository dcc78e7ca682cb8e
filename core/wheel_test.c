/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rte_common.h>

#include "core/wheel.h"
#include "test_eal.h"

#define TICK 10000

struct probe {
	struct ap_timer t;
	uint64_t fired_at;
	unsigned count;
	struct ap_wheel *wheel;
	uint64_t rearm_ns; /**< 0: stay quiet */
};

static void
probe_fire(struct ap_timer *t, uint64_t now)
{
	struct probe *p = container_of(t, struct probe, t);

	p->fired_at = now;
	p->count++;
	if (p->rearm_ns)
		ap_timer_set(p->wheel, t, now + p->rearm_ns);
}

static void
test_never_early_fires_once(void **state)
{
	struct ap_wheel *w = ap_wheel_create(TICK, 0);
	struct probe p = {.t = {.fire = probe_fire}};
	(void)state;

	ap_timer_set(w, &p.t, 25000);
	for (uint64_t now = 0; now < 25000; now += 100)
		assert_int_equal(ap_wheel_run(w, now), 0);
	assert_int_equal(ap_wheel_run(w, 25000), 1);
	assert_false(ap_timer_armed(&p.t));
	assert_int_equal(ap_wheel_run(w, 26000), 0);
	assert_int_equal(p.count, 1);
	ap_wheel_destroy(w);
}

static void
test_far_deadline_survives_turns(void **state)
{
	struct ap_wheel *w = ap_wheel_create(TICK, 0);
	struct probe p = {.t = {.fire = probe_fire}};
	uint64_t deadline = 5000ULL * TICK + 1;
	(void)state;

	ap_timer_set(w, &p.t, deadline);
	for (uint64_t now = 0; now < deadline; now += TICK)
		assert_int_equal(ap_wheel_run(w, now), 0);
	assert_int_equal(ap_wheel_next(w), deadline);
	assert_int_equal(ap_wheel_run(w, deadline), 1);
	assert_int_equal(ap_wheel_next(w), UINT64_MAX);
	ap_wheel_destroy(w);
}

static void
test_long_pause_fires_all(void **state)
{
	struct ap_wheel *w = ap_wheel_create(TICK, 0);
	struct probe p[100] = {0};
	(void)state;

	for (unsigned i = 0; i < 100; i++) {
		p[i].t.fire = probe_fire;
		ap_timer_set(w, &p[i].t, 1 + i * 777777);
	}
	assert_int_equal(ap_wheel_run(w, 3600ULL * 1000000000), 100);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(p[i].count, 1);
	ap_wheel_destroy(w);
}

static void
test_cancel_move_and_past(void **state)
{
	struct ap_wheel *w = ap_wheel_create(TICK, 1000000);
	struct probe a = {.t = {.fire = probe_fire}}, b = a, c = a;
	(void)state;

	ap_timer_set(w, &a.t, 1500000);
	ap_timer_cancel(w, &a.t);
	ap_timer_set(w, &b.t, 1200000);
	ap_timer_set(w, &b.t, 1900000);
	ap_timer_set(w, &c.t, 5); /* the past: fires on the next run */
	assert_int_equal(ap_wheel_run(w, 1000000), 1);
	assert_int_equal(c.count, 1);
	assert_int_equal(ap_wheel_run(w, 1899999), 0);
	assert_int_equal(ap_wheel_run(w, 1900000), 1);
	assert_int_equal(a.count, 0);
	ap_wheel_destroy(w);
}

static void
test_rearm_inside_fire(void **state)
{
	struct ap_wheel *w = ap_wheel_create(TICK, 0);
	struct probe p = {.t = {.fire = probe_fire}, .wheel = w, .rearm_ns = 1000};
	(void)state;

	ap_timer_set(w, &p.t, 1000);
	for (uint64_t now = 0; now <= 10000; now += 1000)
		ap_wheel_run(w, now);
	assert_int_equal(p.count, 10);
	ap_wheel_destroy(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_early_fires_once),
		cmocka_unit_test(test_far_deadline_survives_turns),
		cmocka_unit_test(test_long_pause_fires_all),
		cmocka_unit_test(test_cancel_move_and_past),
		cmocka_unit_test(test_rearm_inside_fire),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("wheel", tests, NULL, NULL);
}
