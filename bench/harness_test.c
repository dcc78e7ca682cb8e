/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka needs the headers above. */
#include <cmocka.h>

#include "bench/harness.h"
#include "bench/json.h"
#include "bench/result.h"
#include "test_eal.h"

static void
test_frame_is_steady(void **state)
{
	uint64_t least = harness_frame_least(50);

	(void)state;
	/* A dependent multiplication and addition take at least 2 cycles on anything we run on. */
	assert_true(least > HARNESS_FRAME_ROUNDS);
	assert_true(harness_frame_clean(1000));
	assert_true(harness_frame_clean(1049));
	assert_false(harness_frame_clean(1051));
}

static void
test_classify(void **state)
{
	struct harness_window w[] = {
		{10, 1000, 1010}, {11, 1000, 1060}, {12, 1100, 1000},
		{13, 1049, 1001}, {90, 5000, 9000},
	};

	(void)state;
	assert_int_equal(harness_classify(w, 5, 1000), 2);
	assert_true(w[0].clean);
	assert_false(w[1].clean);
	assert_false(w[2].clean);
	assert_true(w[3].clean);
	w[0].preempted = true;
	assert_int_equal(harness_classify(w, 5, 1000), 1);
	w[0].preempted = false;
	/* A window's own loops can show that the calibration was disturbed. */
	w[0].frame_before = 900;
	assert_int_equal(harness_classify(w, 5, 1000), 0);
}

static void
test_summary(void **state)
{
	struct harness_window w[] = {
		{30, .clean = true}, {10, .clean = true}, {1}, {20, .clean = true}, {99},
	};
	struct harness_result r = harness_summary(w, 5);

	(void)state;
	assert_int_equal(r.windows, 5);
	assert_int_equal(r.windows_clean, 3);
	assert_true(r.median == 20 && r.min == 10 && r.max == 30);
	w[0].clean = false;
	r = harness_summary(w, 5);
	assert_int_equal(r.windows_clean, 2);
	assert_true(r.median == 25);
	/* None clean: all are used, and the count says so. */
	for (unsigned i = 0; i < 5; i++)
		w[i].clean = false;
	r = harness_summary(w, 5);
	assert_int_equal(r.windows_clean, 0);
	assert_true(r.median == 20 && r.min == 1 && r.max == 99);
	r = harness_summary(w, 0);
	assert_int_equal(r.windows, 0);
}

static uint64_t
spin(void *arg)
{
	uint64_t end = rte_rdtsc() + *(uint64_t *)arg;

	while (rte_rdtsc() < end)
		;
	return 10;
}

static uint64_t
nothing(void *arg)
{
	(void)arg;
	return 0;
}

/** The caller's windows stay in order, and only clean ones count while there are any. */
static void
test_over(void **state)
{
	struct {
		double mpps;
		bool clean;
		double busy;
	} w[] = {{9, false, 1}, {3, true, 7},  {1, true, 5},
		 {2, true, 9},  {8, false, 2}, {4, true, 6}};
	struct harness_result r = harness_over(&w->mpps, &w->clean, sizeof(*w), 6);

	(void)state;
	assert_int_equal(r.windows, 6);
	assert_int_equal(r.windows_clean, 4);
	assert_true(r.median == 2.5);
	assert_true(r.min == 1);
	assert_true(r.max == 4);
	r = harness_over(&w->busy, &w->clean, sizeof(*w), 4);
	assert_int_equal(r.windows_clean, 3);
	assert_true(r.median == 7);
	assert_true(w[0].mpps == 9);
	assert_true(w[5].mpps == 4);
	for (unsigned i = 0; i < 6; i++)
		w[i].clean = false;
	r = harness_over(&w->mpps, &w->clean, sizeof(*w), 5);
	assert_int_equal(r.windows_clean, 0);
	assert_true(r.median == 3);
	assert_true(r.max == 9);
	r = harness_over(&w->mpps, &w->clean, sizeof(*w), 0);
	assert_int_equal(r.windows, 0);
	assert_true(r.median == 0);
}

static void
test_run(void **state)
{
	uint64_t cycles = 100000;
	struct harness_result r = harness_run(spin, &cycles, 0.01), rate;

	(void)state;
	assert_true(r.windows >= 5);
	assert_true(r.min >= 10000 && r.median >= r.min && r.max >= r.median);
	rate = harness_rate(&r);
	assert_true(rate.min <= rate.median && rate.median <= rate.max);
	assert_true(fabs(rate.median * r.median / (double)rte_get_tsc_hz() - 1) < 1e-9);
	r = harness_run(nothing, NULL, 0.001);
	assert_int_equal(r.windows, 0);
}

static char *
slurp(const char *path)
{
	static char buf[8192];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	buf[fread(buf, 1, sizeof(buf) - 1, f)] = '\0';
	fclose(f);
	return buf;
}

static void
test_json(void **state)
{
	char path[] = "/tmp/harness_test_XXXXXX";
	int fd = mkstemp(path);
	struct json j = {.f = fdopen(fd, "w")};

	(void)state;
	json_object(&j, NULL);
	json_str(&j, "s", "a\"b\\c\n");
	json_str(&j, "null", NULL);
	json_int(&j, "i", -5);
	json_num(&j, "d", 0.25);
	json_num(&j, "hz", 2100000000.0);
	json_num(&j, "nan", NAN);
	json_bool(&j, "b", true);
	json_array(&j, "empty");
	json_array_end(&j);
	json_array(&j, "a");
	json_int(&j, NULL, 1);
	json_int(&j, NULL, 2);
	json_array_end(&j);
	json_object_end(&j);
	fclose(j.f);
	assert_string_equal(slurp(path),
			    "{\n \"s\": \"a\\\"b\\\\c\\u000a\",\n \"null\": null,\n \"i\": -5,\n"
			    " \"d\": 0.25,\n \"hz\": 2100000000,\n \"nan\": null,\n \"b\": true,\n"
			    " \"empty\": [],\n \"a\": [\n  1,\n  2\n ]\n}\n");
	unlink(path);
}

static void
test_result(void **state)
{
	char path[] = "/tmp/harness_test_XXXXXX";
	struct bench_result *r;
	char *text;

	(void)state;
	close(mkstemp(path));
	r = bench_result_open("self", path);
	assert_non_null(r);
	bench_emulation(r, "made up");
	bench_emulation(r, "made up");
	bench_row(r);
	bench_str(r, "mode", "copy");
	bench_num(r, "mpps", 1.5, 2);
	bench_json_only(r, true);
	bench_int(r, "windows", 7);
	bench_row(r);
	bench_str(r, "mode", "none");
	bench_num(r, "mpps", NAN, 2);
	assert_int_equal(bench_result_close(r), 0);
	text = slurp(path);
	assert_non_null(strstr(text, "\"bench\": \"self\""));
	assert_non_null(strstr(text, "\"emulations\": [\n   \"made up\"\n  ]"));
	assert_non_null(strstr(text, "\"mpps\": 1.5,\n   \"windows\": 7\n"));
	assert_non_null(strstr(text, "\"mpps\": null\n"));
	unlink(path);
	assert_null(bench_result_open("self", "/nowhere/at/all.json"));
}

static void
test_options(void **state)
{
	struct bench_common common = {.seconds = 2};
	struct bench_uints sizes = {0};
	unsigned n = 3;
	bool flag = false;
	const struct bench_opt own[] = {
		{"sizes", BENCH_OPT_UINTS, &sizes, "sizes"},
		{"n", BENCH_OPT_UINT, &n, "a number"},
		{"flag", BENCH_OPT_FLAG, &flag, "a flag"},
		{NULL, 0, NULL, NULL},
	};
	char *good[] = {"x",      "--seconds", "0.5", "--sizes=64,128,1518",
			"--flag", "--json",    "-",   NULL};
	char *help[] = {"x", "--help", NULL};
	char *bad[][4] = {{"x", "--n", "-1", NULL},       {"x", "--n", "1x", NULL},
			  {"x", "--sizes", "1,,2", NULL}, {"x", "--seconds", "0", NULL},
			  {"x", "--nosuch", "1", NULL},   {"x", "operand", NULL, NULL}};

	(void)state;
	assert_int_equal(bench_options(7, good, "about", &common, own), 0);
	assert_true(common.seconds == 0.5);
	assert_string_equal(common.json, "-");
	assert_true(flag);
	assert_int_equal(sizes.n, 3);
	assert_int_equal(sizes.v[2], 1518);
	assert_int_equal(bench_options(2, help, "about", &common, own), 1);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(bench_options(i < 5 ? 3 : 2, bad[i], "about", &common, own), -22);
	assert_int_equal(n, 3);
}

static int
setup(void **state)
{
	(void)state;
	return test_eal_init();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_is_steady),
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
