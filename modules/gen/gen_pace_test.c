/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "modules/gen/gen_pace.h"

#define CATCH_UP_NS 100000

/** Visits every `step_ns` or a bit later for `seconds`. @return IP bytes sent; *packets too. */
static double
run(struct gen_pace *p, uint32_t bytes, uint32_t step_ns, double seconds, uint64_t *packets)
{
	uint64_t start = p->last_ns, now = start;

	*packets = 0;
	while (now < start + (uint64_t)(seconds * 1e9)) {
		now += step_ns + (uint32_t)rand() % (step_ns / 2 + 1);
		gen_pace_refill(p, now);
		for (; gen_pace_due(p); ++*packets)
			gen_pace_spend(p, bytes);
	}
	return (double)*packets * bytes / ((double)(now - start) / 1e9);
}

static void
packet_rate_is_exact(void **state)
{
	static const double rates[] = {1000, 1e6, 3333333.3, 14.88e6, 1e8};
	struct gen_pace p = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t packets;
		double bytes_s;

		gen_pace_set(&p, (struct gen_rate){GEN_RATE_PPS, rates[i]}, 12345, CATCH_UP_NS);
		bytes_s = run(&p, 100, 700, rates[i] > 1e7 ? 0.02 : 0.5, &packets);
		/* One packet may leave at once, before its time was earned. */
		assert_true(__builtin_fabs(bytes_s / 100 / rates[i] - 1) < 1e-4 + 2.0 / packets);
		assert_int_equal(p.behind_ns, 0);
	}
}

static void
bit_rate_is_exact_for_any_size(void **state)
{
	static const double rates[] = {1e7, 1e9, 24.24e9, 400e9};
	static const uint32_t sizes[] = {60, 1024, 9600};
	struct gen_pace p = {0};
	uint64_t packets;

	(void)state;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			gen_pace_set(&p, (struct gen_rate){GEN_RATE_BPS, rates[i]}, 1, CATCH_UP_NS);
			double bits = run(&p, sizes[k], 900, 0.02, &packets) * 8;

			assert_true(__builtin_fabs(bits / rates[i] - 1) < 1e-4 + 2.0 / packets);
		}
}

static void
pause_is_not_made_good_beyond_the_limit(void **state)
{
	struct gen_pace p = {0};
	uint64_t sent = 0;

	(void)state;
	gen_pace_set(&p, (struct gen_rate){GEN_RATE_PPS, 1e6}, 0, CATCH_UP_NS);
	gen_pace_refill(&p, 5000000000);
	for (; gen_pace_due(&p); sent++)
		gen_pace_spend(&p, 64);
	assert_true(sent >= 100 && sent <= 101);
	assert_true(p.behind_ns >= 4999800000 && p.behind_ns <= 4999900001);
}

static void
slowest_rate_does_not_overflow(void **state)
{
	struct gen_pace p = {0};
	uint64_t packets;

	(void)state;
	gen_pace_set(&p, (struct gen_rate){GEN_RATE_PPS, 1}, 0, CATCH_UP_NS);
	run(&p, 9600, 50000, 10.5, &packets);
	assert_int_equal(packets, 11);
	assert_int_equal(p.behind_ns, 0);
}

static void
refund_undoes_spend(void **state)
{
	struct gen_pace p = {0}, before;

	(void)state;
	gen_pace_set(&p, (struct gen_rate){GEN_RATE_BPS, 3e9}, 0, CATCH_UP_NS);
	gen_pace_refill(&p, 1000);
	before = p;
	gen_pace_spend(&p, 777);
	assert_int_not_equal(p.budget, before.budget);
	gen_pace_refund(&p, 777);
	assert_int_equal(p.budget, before.budget);
}

static void
unlimited_is_always_due(void **state)
{
	struct gen_pace p = {0};

	(void)state;
	gen_pace_set(&p, (struct gen_rate){GEN_RATE_MAX, 0}, 0, CATCH_UP_NS);
	for (unsigned i = 0; i < 1000000; i++)
		gen_pace_spend(&p, 9600);
	assert_true(gen_pace_due(&p));
	gen_pace_refill(&p, UINT64_MAX / 2);
	assert_int_equal(p.behind_ns, 0);
}

static void
out_of_range_rates_are_refused(void **state)
{
	(void)state;
	assert_int_equal(gen_pace_check((struct gen_rate){GEN_RATE_PPS, 0.5}), -EINVAL);
	assert_int_equal(gen_pace_check((struct gen_rate){GEN_RATE_PPS, 1e10}), -EINVAL);
	assert_int_equal(gen_pace_check((struct gen_rate){GEN_RATE_BPS, 100}), -EINVAL);
	assert_int_equal(gen_pace_check((struct gen_rate){GEN_RATE_BPS, __builtin_nan("")}),
			 -EINVAL);
	assert_int_equal(gen_pace_check((struct gen_rate){(enum gen_rate_kind)9, 1}), -EINVAL);
	assert_int_equal(gen_pace_check((struct gen_rate){GEN_RATE_STOP, 0}), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_rate_is_exact),
		cmocka_unit_test(bit_rate_is_exact_for_any_size),
		cmocka_unit_test(pause_is_not_made_good_beyond_the_limit),
		cmocka_unit_test(slowest_rate_does_not_overflow),
		cmocka_unit_test(refund_undoes_spend),
		cmocka_unit_test(unlimited_is_always_due),
		cmocka_unit_test(out_of_range_rates_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
