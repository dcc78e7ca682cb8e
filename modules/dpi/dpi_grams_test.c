/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <hs/hs.h>

#include "modules/dpi/dpi_grams.h"

static uint64_t seed = 1;

static unsigned
draw(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

struct filter {
	struct dpi_sieve *sieve; /* NULL: none */
	struct dpi_grams *grams;
};

static bool
build(const struct dpi_expression *e, uint32_t nb, bool literal, struct filter *f)
{
	struct dpi_need need;

	assert_int_equal(dpi_grams_need(e, nb, literal, &need), 0);
	assert_int_equal(dpi_sieve_make(&need, nb, &f->sieve), 0);
	assert_int_equal(dpi_grams_build(e, nb, literal, f->sieve, &f->grams), 0);
	assert_true((f->sieve == NULL) == (f->grams == NULL));
	return f->grams != NULL;
}

static void
destroy(struct filter *f)
{
	dpi_grams_free(f->grams);
	dpi_sieve_free(f->sieve);
}

static bool
may(const struct filter *f, const char *text)
{
	const unsigned len = (unsigned)strlen(text);
	/* It ends where memory that may be read does, for the sanitizer to see. */
	uint8_t *copy = malloc(len + DPI_SIEVE_BEHIND);
	const struct dpi_text of = {.at = copy, .len = len};
	bool yes;

	memcpy(copy, text, len);
	memset(copy + len, 'a', DPI_SIEVE_BEHIND);
	yes = dpi_grams_may(f->grams, (struct dpi_hits){.sieve = f->sieve,
							.text = &of,
							.bits = dpi_sieve_hits(f->sieve, &of, 0)});
	free(copy);
	return yes;
}

static void
required(void **state)
{
	static const char *const t[][2] = {
		{"/shop/[a-z]{1,8}/[0-9]+", "/shop/"},
		{"abc\\.def", "abc.def"},
		{"colou?rful", "colo"},
		{"colorfu?l", "colorf"},
		{"ab+cdef", "cdef"},
		{"abcd+ef", "abcd"},
		{"ab{2}cd", "cd"},
		{"xy(a|b|cdefg)*zzz", "zzz"},
		{"(?:long|er)abc[[:alpha:])]*de", "abc"},
		{"a[]b]cd", "cd"},
		{"a[^]b]cde+?", "cde"},
		{"^ab$", "ab"},
		{"ab\\d+cde", "cde"},
		{"", ""},
		/* alternatives, and what is not looked into */
		{"abcd|efgh", ""},
		{"(?i)abcd", ""},
		{"abcd(?=efgh)", ""},
		{"abcd\\x41", ""},
		{"\\Qab\\Ecd", ""},
		{"a[[.x]a|b[cd]efgh", ""},
		{"abcd{,3}", ""},
		{"(abcd", ""},
		{"abcd\\", ""},
		{"[abcd", ""},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const size_t len = dpi_grams_required(t[i][0], out);

		if (len != strlen(t[i][1]) || memcmp(out, t[i][1], len) != 0)
			print_error("%s: %.*s\n", t[i][0], (int)len, out);
		assert_int_equal(len, strlen(t[i][1]));
		assert_memory_equal(out, t[i][1], len);
	}
}

#define TEXTS 300
#define TEXT_MAX 80

static void
word(char *to, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		to[i] = (char)('a' + draw(26));
	to[len] = '\0';
}

/** Every text in any place of a longer one is let through; nearly all others are not. */
static void
texts(void **state)
{
	static char of[TEXTS][TEXT_MAX];
	struct dpi_expression e[TEXTS];

	(void)state;
	for (unsigned least = DPI_GRAM_MIN; least < 20; least++) {
		struct filter f;
		unsigned passed = 0;

		for (unsigned i = 0; i < TEXTS; i++) {
			word(of[i], least + draw(i + 1) % 20);
			e[i] = (struct dpi_expression){.text = of[i], .id = i};
		}
		assert_true(build(e, TEXTS, true, &f));
		for (unsigned i = 0; i < TEXTS; i++) {
			char text[3 * TEXT_MAX];

			word(text, draw(30));
			strcat(text, of[i]);
			word(text + strlen(text), draw(30));
			assert_true(may(&f, text));
			word(text, 40);
			passed += may(&f, text);
		}
		assert_in_range(passed, 0, TEXTS / 3);
		destroy(&f);
	}
}

static void
none(void **state)
{
	const struct dpi_expression e[] = {{.text = "long enough"}, {.text = "abc"}};
	struct filter f;

	(void)state;
	assert_false(build(e, 2, true, &f));
	assert_int_equal(dpi_sieve_memory(f.sieve), 0);
	assert_false(build(e, 0, true, &f));
	assert_true(build(e, 1, true, &f));
	assert_false(may(&f, "another text"));
	assert_true(may(&f, "a long enough text"));
	destroy(&f);
}

/* An expression of a few letters, and everything in it that may change what is required. */
static void
expression(char *to)
{
	static const char *const parts[] = {
		"a",           "b",     "ab",     "ba",    "aba",   "\\.",   ".",         "[ab]",
		"[^a]",        "(a|b)", "(?:ab)", "(b",    ")",     "|",     "?",         "*",
		"+",           "{2}",   "{1,}",   "{0,2}", "\\w",   "A",     "^",         "$",
		"[[:alpha:]]", "+?",    "??",     "[]a]",  "[\\]]", "\\x61", "\\Qa|b\\E", "(?i)",
	};

	*to = '\0';
	for (unsigned n = 1 + draw(10); n > 0; n--)
		strcat(to, parts[draw(draw(3) ? 5 : sizeof(parts) / sizeof(parts[0]))]);
}

static int
matched(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *arg)
{
	(void)id;
	(void)from;
	(void)to;
	(void)flags;
	*(bool *)arg = true;
	return 1;
}

/** Whatever Vectorscan finds is let through. */
static void
expressions(void **state)
{
	unsigned compared = 0, refused = 0;

	(void)state;
	for (unsigned k = 0; k < 1500; k++) {
		char text[256];
		struct dpi_expression e = {.text = text, .caseless = draw(2)};
		hs_compile_error_t *error;
		hs_scratch_t *scratch = NULL;
		struct filter f;
		hs_database_t *db;

		expression(text);
		if (!build(&e, 1, false, &f))
			continue;
		if (hs_compile(text, HS_FLAG_DOTALL | (e.caseless ? HS_FLAG_CASELESS : 0),
			       HS_MODE_BLOCK, NULL, &db, &error) != HS_SUCCESS) {
			hs_free_compile_error(error);
			destroy(&f);
			continue;
		}
		assert_int_equal(hs_alloc_scratch(db, &scratch), HS_SUCCESS);
		for (unsigned i = 0; i < 200; i++) {
			char from[40];
			bool found = false;

			for (unsigned n = 0; n < sizeof(from) - 1; n++)
				from[n] = ".aaabbbbA"[draw(9)];
			from[draw(sizeof(from))] = '\0';
			hs_scan(db, from, (unsigned)strlen(from), 0, scratch, matched, &found);
			if (found && !may(&f, from))
				print_error("%s in %s\n", text, from);
			assert_true(!found || may(&f, from));
			compared += found;
			refused += !may(&f, from);
		}
		hs_free_scratch(scratch);
		hs_free_database(db);
		destroy(&f);
	}
	assert_true(compared > 1000);
	assert_true(refused > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(required),
		cmocka_unit_test(texts),
		cmocka_unit_test(none),
		cmocka_unit_test(expressions),
	};

	return cmocka_run_group_tests_name("dpi_grams", tests, NULL, NULL);
}
