/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/dpi/dpi_cost.h"

static void
positions_are_counted(void **state)
{
	static const struct {
		const char *text;
		uint64_t positions;
	} cases[] = {
		{"", 0},
		{"abc", 3},
		{"a|bc", 3},
		{"a*b+c?", 3},
		{"[a-z]{3}", 3},
		{"(ab){3,5}c", 11},
		{"(ab){3,}", 6},
		{"((a{10}){10}){10}", 1000},
		{"a{10}{10}", 100},
		{"(a{0,9}|b){2}", 20},
		{"a{0}", 1},
		{"a{,5}", 5},    /* no repeat: 'a', '{', ',', '5', '}' */
		{"a{x}", 4},     /* nor this */
		{"\\(\\{2}", 4}, /* neither is a group or repeat */
		{"[]{9}]", 1},   /* a class of ']', '{', '9', '}' */
		{"[^]a]{4}", 4},
		{"[[:alpha:]{9}]", 1},
		{"[[:]{2}", 2}, /* a class of '[' and ':' */
		{"[\\]]{7}", 7},
		{"\\x{41}{2}", 2},
		{"\\Qa{9}(\\Eb", 6},
		{"\\c({3}", 3},
		{"(?#a{900})b", 1},
		{"(?:ab){2}(?<name>c){2}(?i)(?=d)", 7},
		{"(?P<name>c){2}(?<!x)(?<=y)(?>z)", 5},
		{"a{65535}", 65535},
		{"((((a{65535}){65535}){65535}){65535}){65535}", DPI_COST_MAX},
		{"a{99999999999999999999999}", DPI_COST_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n;
		const char *why;

		if (dpi_cost(cases[i].text, &n, &why) != 0)
			fail_msg("%s: %s", cases[i].text, why);
		if (n != cases[i].positions)
			fail_msg("%s: %ju", cases[i].text, (uintmax_t)n);
	}
}

static void
what_does_not_tell_is_refused(void **state)
{
	static const char *const cases[] = {
		"(",
		"(a",
		"a)",
		"[",
		"[]",
		"[a",
		"a\\",
		"[a\\",
		"\\x{41",
		"(?#a",
		"(?<n",
		"(?",
		"(?i",
		"(*UTF8)",
		"(?x)a",
		"(?xi:a)",
		"(?ix)a",
		"(a))b",
		"(((((((((((((((((((((((((((((((((((((((((((((((((((((((((a",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n;
		const char *why = NULL;

		if (dpi_cost(cases[i], &n, &why) != -EINVAL || !why || why[0] == '\0')
			fail_msg("%s is not refused", cases[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_are_counted),
		cmocka_unit_test(what_does_not_tell_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
