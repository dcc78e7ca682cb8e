/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modules/dpi/dpi_grams.h"

#define TEXTS 40
#define TEXT_MAX 3000

static uint64_t seed = 1;

static unsigned
draw(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

static void
word(char *to, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		to[i] = (char)('a' + draw(26));
	to[len] = '\0';
}

/* A text where memory that may be read ends, for the sanitizer to see; what is behind is `with`. */
static struct dpi_text
text_make(const char *of, unsigned len, int with)
{
	uint8_t *copy = malloc(len + DPI_SIEVE_BEHIND);

	memcpy(copy, of, len);
	memset(copy + len, with, DPI_SIEVE_BEHIND);
	return (struct dpi_text){.at = copy, .len = len};
}

static void
text_free(struct dpi_text *t)
{
	free((void *)(uintptr_t)t->at);
}

static struct dpi_sieve *
sieve_of(const struct dpi_expression *e, uint32_t nb)
{
	struct dpi_sieve *sieve;
	struct dpi_grams *g;
	struct dpi_need need;

	assert_int_equal(dpi_grams_need(e, nb, true, &need), 0);
	assert_int_equal(dpi_sieve_make(&need, nb, &sieve), 0);
	assert_int_equal(dpi_grams_build(e, nb, true, sieve, &g), 0);
	dpi_grams_free(g);
	return sieve;
}

/* Whether any gram of the whole text is let through, by both ways of asking. */
static bool
any(const struct dpi_sieve *s, const struct dpi_text *t)
{
	bool some = false;
	uint64_t asked;

	dpi_sieve_ask(s, t, 1, &asked);
	assert_int_equal(asked, dpi_sieve_hits(s, t, 0));
	for (unsigned from = 0; from == 0 || from + s->len <= t->len;
	     from += DPI_SIEVE_GRAMS * s->step) {
		const uint64_t hits = dpi_sieve_hits(s, t, from);

		assert_int_equal(hits, dpi_sieve_hits_plain(s, t, from));
		for (unsigned i = 0; i < DPI_SIEVE_GRAMS; i++)
			assert_true(!(hits >> i & 1) || from + i * s->step + s->len <= t->len);
		some |= hits != 0;
	}
	return some;
}

/** A pattern at any place of a text of any length is seen: at its start and end, too. */
static void
every_place(void **state)
{
	static const unsigned least[] = {4, 5, 6, 8, 11, 12, 13, 20, 39, 40, 60};
	static char of[TEXTS][128], text[TEXT_MAX];
	struct dpi_expression e[TEXTS];

	(void)state;
	for (unsigned k = 0; k < sizeof(least) / sizeof(least[0]); k++) {
		struct dpi_sieve *s;

		for (unsigned i = 0; i < TEXTS; i++) {
			word(of[i], least[k] + (i > 0 ? draw(30) : 0));
			e[i] = (struct dpi_expression){
				.text = of[i], .id = i, .caseless = k % 3 == 0};
		}
		s = sieve_of(e, TEXTS);
		assert_int_equal(s->reach, DPI_SIEVE_GRAMS * s->step + s->len);
		for (unsigned before = 0; before < 300; before++) {
			const char *in = of[draw(TEXTS)];
			const unsigned behind = draw(3) ? draw(40) : 0;
			struct dpi_text t;

			word(text, before);
			strcat(text, in);
			word(text + strlen(text), behind);
			t = text_make(text, (unsigned)strlen(text), 0);
			assert_true(any(s, &t));
			text_free(&t);
		}
		dpi_sieve_free(s);
	}
}

/** What is behind a text does not count, nor what is shorter than a gram; few are let through. */
static void
nothing_more(void **state)
{
	static char of[TEXTS][64], text[TEXT_MAX];
	struct dpi_expression e[TEXTS];
	unsigned passed = 0, asked = 0;
	struct dpi_sieve *s;

	(void)state;
	for (unsigned i = 0; i < TEXTS; i++) {
		memset(of[i], 'z', 32);
		word(of[i] + 32, draw(20));
		e[i] = (struct dpi_expression){.text = of[i], .id = i};
	}
	e[0].text = "zzzzzzzzzzzzz";
	s = sieve_of(e, TEXTS);
	for (unsigned len = 0; len < TEXT_MAX - 1; len += len < 300 ? 1 : 97) {
		struct dpi_text t;

		word(text, len);
		for (unsigned i = 0; i < len; i++)
			text[i] = text[i] == 'z' ? 'a' : text[i];
		t = text_make(text, len, 'z');
		passed += any(s, &t);
		asked++;
		text_free(&t);
	}
	assert_in_range(passed, 0, asked / 5);
	dpi_sieve_free(s);
}

/** Hits are told one by one, in order, over the whole of a long text. */
static void
one_by_one(void **state)
{
	const struct dpi_expression e = {.text = "qrstuv"};
	struct dpi_sieve *s = sieve_of(&e, 1);
	static char text[TEXT_MAX];
	unsigned at, last = 0, nb = 0;
	struct dpi_hits hits;
	struct dpi_text t;

	(void)state;
	memset(text, '.', TEXT_MAX - 1);
	for (unsigned i = 0; i < 20; i++)
		memcpy(text + 147 * i, "qrstuv", 6);
	memcpy(text + TEXT_MAX - 7, "qrstuv", 6);
	t = text_make(text, TEXT_MAX - 1, 'q');
	hits = (struct dpi_hits){.sieve = s, .text = &t, .bits = dpi_sieve_hits(s, &t, 0)};
	while (dpi_hits_next(&hits, &at)) {
		assert_true(nb == 0 || at > last);
		assert_memory_not_equal(text + at, "....", 4);
		last = at;
		nb++;
	}
	assert_in_range(nb, 21, 22);
	text_free(&t);
	dpi_sieve_free(s);
}

static void
shapes(void **state)
{
	static const unsigned t[][3] = {{4, 4, 1},   {5, 4, 2},   {6, 4, 3},  {7, 4, 4},
					{9, 6, 4},   {12, 8, 5},  {13, 8, 6}, {39, 8, 32},
					{40, 8, 32}, {100, 8, 32}};
	struct dpi_sieve *s;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct dpi_need need = {.least = t[i][0]};

		assert_int_equal(dpi_sieve_gram(&need), t[i][1]);
		assert_int_equal(dpi_sieve_make(&need, 1000, &s), 0);
		assert_int_equal(s->len, t[i][1]);
		assert_int_equal(s->step, t[i][2]);
		assert_true(dpi_sieve_memory(s) > 1000 * s->step * 2);
		dpi_sieve_free(s);
	}
	assert_int_equal(dpi_sieve_make(&(struct dpi_need){.least = 3}, 1, &s), 0);
	assert_null(s);
	assert_int_equal(dpi_sieve_make(&(struct dpi_need){.least = 30}, 0, &s), 0);
	assert_null(s);
	assert_int_equal(dpi_sieve_memory(NULL), 0);
	dpi_sieve_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place),
		cmocka_unit_test(nothing_more),
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests_name("dpi_sieve", tests, NULL, NULL);
}
