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
#include "modules/dpi/dpi_texts.h"

#define TEXTS 60
#define TEXT_MAX 100

static uint64_t seed = 1;

static unsigned
draw(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

static void
word(char *to, unsigned len, unsigned letters)
{
	for (unsigned i = 0; i < len; i++)
		to[i] = (char)('a' + draw(letters));
	to[len] = '\0';
}

static uint32_t
walk(const struct dpi_expression *e, const char *text)
{
	for (uint32_t i = 0; i < TEXTS; i++) {
		const char *at = strstr(text, e[i].text);

		if (at != NULL && (!e[i].every || at == text))
			return i;
	}
	return DPI_TEXT_NONE;
}

static struct dpi_sieve *
sieve_of(const struct dpi_expression *e, uint32_t nb)
{
	struct dpi_need need;
	struct dpi_sieve *sieve;
	struct dpi_grams *g;

	assert_int_equal(dpi_grams_need(e, nb, true, &need), 0);
	assert_int_equal(dpi_sieve_make(&need, nb, &sieve), 0);
	assert_int_equal(dpi_grams_build(e, nb, true, sieve, &g), 0);
	dpi_grams_free(g);
	return sieve;
}

static uint32_t
find(const struct dpi_texts *t, const struct dpi_sieve *sieve, const char *text)
{
	const unsigned len = (unsigned)strlen(text);
	/* It ends where memory that may be read does, for the sanitizer to see. */
	uint8_t *copy = malloc(len + DPI_SIEVE_BEHIND);
	const struct dpi_text of = {.at = copy, .len = len};
	struct dpi_hits hits = {.sieve = sieve, .text = &of};
	uint32_t id;

	memcpy(copy, text, len);
	memset(copy + len, 'a', DPI_SIEVE_BEHIND);
	hits.bits = dpi_sieve_hits(sieve, &of, 0);
	dpi_texts_prefetch(t, hits);
	id = dpi_texts_find(t, hits);
	free(copy);
	return id;
}

/** Texts alike in few letters, parts of each other and twice the same, beside a plain walk. */
static void
same_as_walk(void **state)
{
	static char of[TEXTS][TEXT_MAX];
	unsigned found = 0, indices = 0, unknown = 0;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		const unsigned letters = 2 + draw(8), least = DPI_GRAM_MIN + draw(16);
		struct dpi_expression e[TEXTS];
		struct dpi_sieve *sieve;
		struct dpi_texts *t;

		for (unsigned i = 0; i < TEXTS; i++) {
			word(of[i], least + draw(20), letters);
			if (i > 0 && draw(8) == 0)
				strcpy(of[i], of[draw(i)]);
			e[i] = (struct dpi_expression){
				.text = of[i], .id = i, .every = draw(3) == 0};
		}
		sieve = sieve_of(e, TEXTS);
		assert_int_equal(dpi_texts_build(sieve, e, TEXTS, &t), 0);
		for (unsigned k = 0; t != NULL && k < 500; k++) {
			char text[3 * TEXT_MAX];
			uint32_t is, should;

			word(text, draw(2) ? draw(40) : 0, letters);
			if (draw(4) != 0)
				strcat(text, of[draw(TEXTS)]);
			word(text + strlen(text), draw(40), letters);
			is = find(t, sieve, text);
			should = walk(e, text);
			if (is != DPI_TEXT_UNKNOWN)
				assert_int_equal(is, should);
			found += is < TEXTS;
			unknown += is == DPI_TEXT_UNKNOWN;
		}
		indices += t != NULL;
		dpi_texts_free(t);
		dpi_sieve_free(sieve);
	}
	assert_true(indices > 20);
	assert_true(found > 5000);
	assert_true(unknown < found);
}

/** A search stays short. */
static void
crowds(void **state)
{
	struct dpi_expression e[TEXTS];
	char text[2048] = "";
	struct dpi_sieve *sieve;
	struct dpi_texts *t;

	(void)state;
	for (unsigned i = 0; i < TEXTS; i++)
		e[i] = (struct dpi_expression){.text = "the same text", .id = i};
	sieve = sieve_of(e, TEXTS);
	assert_int_equal(dpi_texts_build(sieve, e, TEXTS, &t), 0);
	assert_null(t);
	assert_int_equal(dpi_texts_build(sieve, e, 1, &t), 0);
	assert_non_null(t);
	for (unsigned i = 0; i < 100; i++)
		strcat(text, "the same test ");
	assert_int_equal(find(t, sieve, text), DPI_TEXT_UNKNOWN);
	assert_int_equal(find(t, sieve, "the same text"), 0);
	assert_true(dpi_texts_memory(t) > 64);
	dpi_texts_free(t);
	dpi_sieve_free(sieve);
	assert_int_equal(dpi_texts_build(NULL, e, 1, &t), 0);
	assert_null(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_walk),
		cmocka_unit_test(crowds),
	};

	return cmocka_run_group_tests_name("dpi_texts", tests, NULL, NULL);
}
