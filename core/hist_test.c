/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "core/hist.h"

#define SAMPLES 20000

static uint64_t data[SAMPLES];
static struct ap_hist hist, other;

static int
clear(void **state)
{
	(void)state;
	ap_hist_reset(&hist);
	ap_hist_reset(&other);
	srand(7);
	return 0;
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/** 1 ns .. 137 s, each octave as likely as the other. */
static uint64_t
log_uniform(void)
{
	uint64_t bits = (uint64_t)rand() << 31 | (uint64_t)rand();

	return 1 + (bits & (AP_HIST_LIMIT_NS / 2 - 1) >> rand() % 36);
}

static void
percentiles_match_sorted_data(void **state)
{
	static const double percents[] = {0, 1, 10, 25, 50, 75, 90, 99, 99.9, 100};

	(void)state;
	for (unsigned i = 0; i < SAMPLES; i++) {
		data[i] = log_uniform();
		ap_hist_record(&hist, data[i]);
	}
	qsort(data, SAMPLES, sizeof(data[0]), ascending);
	for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		unsigned rank = (unsigned)(percents[i] * SAMPLES / 100.0 + 0.9999);
		double want = (double)data[rank ? rank - 1 : 0];
		double got = (double)ap_hist_percentile(&hist, percents[i]);

		assert_true(__builtin_fabs(got - want) <= want * 0.004 + 0.5);
	}
	assert_int_equal(hist.count, SAMPLES);
	assert_int_equal(hist.max_ns, data[SAMPLES - 1]);
}

static void
every_value_is_within_one_percent(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < AP_HIST_LIMIT_NS; ns += 1 + ns / 700) {
		ap_hist_reset(&hist);
		ap_hist_record(&hist, ns);
		ap_hist_record(&hist, AP_HIST_LIMIT_NS);
		double got = (double)ap_hist_percentile(&hist, 50);

		assert_true(__builtin_fabs(got - (double)ns) <= (double)ns * 0.01);
	}
}

static void
edges_of_the_range(void **state)
{
	(void)state;
	assert_int_equal(ap_hist_percentile(&hist, 50), 0);
	assert_true(ap_hist_mean(&hist) == 0.0);
	ap_hist_record(&hist, 0);
	assert_int_equal(ap_hist_percentile(&hist, 100), 0);
	ap_hist_record(&hist, UINT64_MAX >> 1);
	assert_int_equal(ap_hist_percentile(&hist, 100), UINT64_MAX >> 1);
	assert_int_equal(ap_hist_bucket(UINT64_MAX), AP_HIST_BUCKETS - 1);
	assert_int_equal(ap_hist_bucket(AP_HIST_LIMIT_NS - 1), AP_HIST_BUCKETS - 1);
	assert_int_equal(ap_hist_bucket(127), 127);
	assert_int_equal(ap_hist_bucket(128), 128);
	assert_int_equal(ap_hist_bucket(255), 255);
	assert_int_equal(ap_hist_bucket(256), 256);
	assert_int_equal(ap_hist_bucket(257), 256);
}

static void
merge_is_recording_into_one(void **state)
{
	static struct ap_hist both;

	(void)state;
	ap_hist_reset(&both);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ns = log_uniform();

		ap_hist_record(i % 2 ? &hist : &other, ns);
		ap_hist_record(&both, ns);
	}
	ap_hist_merge(&hist, &other);
	assert_memory_equal(&hist, &both, sizeof(both));
}

static void
subtract_leaves_the_interval(void **state)
{
	static struct ap_hist before, after;

	(void)state;
	ap_hist_record_n(&hist, 1000000, 50);
	ap_hist_snapshot(&hist, &before);
	ap_hist_record_n(&hist, 2000, 100);
	ap_hist_snapshot(&hist, &after);
	ap_hist_subtract(&after, &before);
	assert_int_equal(after.count, 100);
	assert_true(ap_hist_mean(&after) == 2000.0);
	assert_true(after.max_ns >= 2000 && after.max_ns < 2020);
	assert_true(labs((long)ap_hist_percentile(&after, 99) - 2000) <= 20);

	ap_hist_snapshot(&hist, &before);
	ap_hist_record(&hist, 3000000);
	ap_hist_snapshot(&hist, &after);
	ap_hist_subtract(&after, &before);
	assert_int_equal(after.max_ns, 3000000);
	ap_hist_snapshot(&hist, &after);
	ap_hist_subtract(&after, &hist);
	assert_int_equal(after.count, 0);
	assert_int_equal(after.max_ns, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(percentiles_match_sorted_data, clear),
		cmocka_unit_test_setup(every_value_is_within_one_percent, clear),
		cmocka_unit_test_setup(edges_of_the_range, clear),
		cmocka_unit_test_setup(merge_is_recording_into_one, clear),
		cmocka_unit_test_setup(subtract_leaves_the_interval, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
