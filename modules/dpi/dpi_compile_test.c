/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The process that compiles patterns. It is this program, started again with what it is to do in
 * its environment.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "modules/dpi/dpi_compile.h"
#include "tests/support/test_eal.h"

#define DO "AIRPATH_TEST_COMPILER" /* what the started program does */
#define SELF "/proc/self/exe"

static const struct dpi_rule rules[] = {
	{DPI_RULE_HOST_PATTERN, 3, 1, "^V[0-9]", {.flags = 0}},
	{DPI_RULE_URL_PATTERN, 2, 0, "http://a.example/x", {.flags = 0}},
	{DPI_RULE_HOST_PATTERN, 1, 0, "tube", {.flags = 0}}, /* compiled first */
	{DPI_RULE_URL_PATTERN, 4, 1, "/[0-9]{3}$", {.flags = 0}},
};

/* --- compilers that misbehave ----------------------------------------------------------------- */

static void
tell(uint32_t what, uint32_t index, uint64_t len)
{
	struct dpi_answer a = {.what = what, .index = index, .len = len};

	if (send(STDIN_FILENO, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Takes all of the request that comes at once: what is asked does not matter. */
static void
read_some(void)
{
	char octets[4096];

	if (recv(STDIN_FILENO, octets, sizeof(octets), 0) <= 0)
		_exit(1);
}

static int
misbehave(const char *what)
{
	if (strcmp(what, "exit") == 0)
		return 1;
	read_some();
	tell(DPI_COMPILES, strcmp(what, "garbage") == 0 ? 9 : 0, 0);
	if (strcmp(what, "spin") == 0)
		for (;;)
			;
	if (strcmp(what, "eat") == 0)
		for (;;) {
			volatile char *p = malloc(1 << 20);

			for (unsigned i = 0; p && i < 1 << 20; i += 4096)
				p[i] = 1;
			usleep(100);
		}
	if (strcmp(what, "abort") == 0)
		raise(SIGKILL);
	if (strcmp(what, "garbage") == 0)
		tell(77, 77, 77);
	if (strcmp(what, "huge") == 0)
		tell(DPI_COMPILED, 0, UINT64_MAX);
	if (strcmp(what, "cut") == 0)
		tell(DPI_COMPILED, 0, 1000);
	if (strcmp(what, "false") == 0) {
		tell(DPI_COMPILED, 0, 8);
		return write(STDIN_FILENO, "no base ", 8) != 8;
	}
	return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

static int
setup(void **state)
{
	(void)state;
	unsetenv(DO);
	dpi_compile_with(SELF);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	dpi_compile_with(NULL);
	/* No process is left, dead or alive. */
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : -1;
}

static uint16_t
find(const struct dpi_set *set, const char *host, const char *path)
{
	struct dpi_name name = {.host = (const uint8_t *)host,
				.host_len = (uint16_t)strlen(host),
				.path = (const uint8_t *)path,
				.path_len = (uint16_t)strlen(path)};
	struct dpi_scratch *scratch = dpi_scratch_alloc(set);
	uint16_t app;

	assert_non_null(scratch);
	app = dpi_set_name(set, scratch, &name);
	dpi_scratch_free(scratch);
	return app;
}

static void
a_process_compiles(void **state)
{
	struct dpi_error err;
	struct dpi_set *set;

	(void)state;
	if (dpi_set_build(rules, 4, NULL, 1, &set, &err) != 0)
		fail_msg("%u: %s", err.rule, err.why);
	assert_int_equal(find(set, "my.tube", ""), 1);
	assert_int_equal(find(set, "v9.tube", ""), 3);
	assert_int_equal(find(set, "v9.org", ""), 3);
	assert_int_equal(find(set, "a.example", "/xyz"), 2);
	assert_int_equal(find(set, "b", "/a.example/xyz"), 0);
	assert_int_equal(find(set, "b.example", "/123"), 4);
	assert_int_equal(find(set, "b.example", "/12"), 0);
	dpi_set_free(set);
}

static void
build_fails(const struct dpi_limits *limits, int code, uint32_t rule, const char *why)
{
	struct dpi_error err;
	struct dpi_set *set;

	assert_int_equal(dpi_set_build(rules, 4, limits, 1, &set, &err), code);
	assert_null(set);
	if (!strstr(err.why, why))
		fail_msg("'%s' does not say '%s'", err.why, why);
	assert_int_equal(err.rule, rule);
}

static void
it_says_what_is_wrong(void **state)
{
	struct dpi_rule bad[] = {rules[0], {DPI_RULE_HOST_PATTERN, 3, 1, "a(b", {.flags = 0}}};
	struct dpi_error err;
	struct dpi_set *set;

	(void)state;
	assert_int_equal(dpi_set_build(bad, 2, NULL, 1, &set, &err), -EINVAL);
	assert_int_equal(err.rule, 1);
	assert_string_equal(err.why, "'(' without ')'");
	bad[1].text = "(((((a{9}){9}){9}){9}){9}){9}";
	assert_int_equal(dpi_set_build(bad, 2, NULL, 1, &set, &err), -E2BIG);
	assert_int_equal(err.rule, 1);
	assert_non_null(strstr(err.why, "531441 characters"));
}

static void
one_that_does_not_finish_is_ended(void **state)
{
	struct dpi_limits limits = dpi_limits_default;

	(void)state;
	setenv(DO, "spin", 1);
	limits.expression_ms = 30;
	build_fails(&limits, -E2BIG, 2, "does not compile in 30 ms");
}

static void
one_that_takes_all_memory_is_ended(void **state)
{
	struct dpi_limits limits = dpi_limits_default;

	(void)state;
	setenv(DO, "eat", 1);
	limits.build_memory = 256 << 20;
	build_fails(&limits, -E2BIG, 2, "more than 268435456 octets");
}

static void
one_that_dies_or_lies_is_an_error(void **state)
{
	static const char *const ways[] = {"abort", "huge", "cut"};

	(void)state;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		setenv(DO, ways[i], 1);
		build_fails(NULL, -EIO, 2, "ended before it was done");
	}
	setenv(DO, "garbage", 1);
	build_fails(NULL, -EIO, DPI_NO_RULE, "ended before it was done");
	setenv(DO, "exit", 1);
	build_fails(NULL, -EIO, DPI_NO_RULE, "ended before it was done");
	setenv(DO, "false", 1);
	build_fails(NULL, -EIO, DPI_NO_RULE, "no database");
	dpi_compile_with("/nonexistent");
	build_fails(NULL, -EIO, DPI_NO_RULE, "/nonexistent: No such file");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_compiles, setup, teardown),
		cmocka_unit_test_setup_teardown(it_says_what_is_wrong, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_does_not_finish_is_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_takes_all_memory_is_ended, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_dies_or_lies_is_an_error, setup, teardown),
	};

	if (argc == 2 && strcmp(argv[1], "dpi-compile") == 0)
		return getenv(DO) ? misbehave(getenv(DO)) : dpi_compile_main();
	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
