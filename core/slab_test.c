/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/huge.h"
#include "core/slab.h"

#define PIECES 3000

struct piece {
	uint8_t *p;
	size_t bytes;
	uint8_t mark;
};

static uint64_t
next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void
take(struct ap_slab *s, struct piece *one, uint64_t *seed)
{
	one->bytes = next_random(seed) % (1U << (1 + next_random(seed) % 18));
	one->mark = (uint8_t)next_random(seed);
	one->p = ap_slab_alloc(s, one->bytes);
	assert_non_null(one->p);
	assert_int_equal((uintptr_t)one->p % 64, 0);
	for (size_t i = 0; i < one->bytes; i++)
		assert_int_equal(one->p[i], 0);
	memset(one->p, one->mark, one->bytes);
}

static void
give(struct ap_slab *s, struct piece *one)
{
	for (size_t i = 0; i < one->bytes; i++)
		assert_int_equal(one->p[i], one->mark);
	ap_slab_free(s, one->p, one->bytes);
	one->p = NULL;
}

/** Pieces of all sizes stay apart, come zeroed, and are counted. */
static void
pieces_are_whole(void **state)
{
	static struct piece pieces[PIECES];
	struct ap_slab *s = ap_slab_create();
	uint64_t seed = 88172645463325252ULL;
	size_t used = 0;

	(void)state;
	assert_non_null(s);
	for (unsigned i = 0; i < 4 * PIECES; i++) {
		struct piece *one = &pieces[next_random(&seed) % PIECES];

		if (one->p != NULL)
			give(s, one);
		else
			take(s, one, &seed);
	}
	for (unsigned i = 0; i < PIECES; i++)
		used += pieces[i].p != NULL ? pieces[i].bytes : 0;
	assert_int_equal(ap_slab_bytes(), used);
	for (unsigned i = 0; i < PIECES; i++)
		if (pieces[i].p != NULL)
			give(s, &pieces[i]);
	assert_int_equal(ap_slab_bytes(), 0);
	ap_slab_free(s, NULL, 1);
	ap_slab_destroy(s);
}

/** Sizes at the edges: of a line, of a class, of a large page and beyond. */
static void
sizes_at_the_edges(void **state)
{
	static const size_t sizes[] = {0,      1,       64,      65,      512,    513,
				       576,    577,     1024,    1025,    262143, 262144,
				       262145, 2097151, 2097152, 2097153, 5000000};
	struct ap_slab *s = ap_slab_create();
	uint8_t *p[2][sizeof(sizes) / sizeof(sizes[0])];

	(void)state;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			p[k][i] = ap_slab_alloc(s, sizes[i]);
			assert_non_null(p[k][i]);
			memset(p[k][i], (int)(16 * k + i + 1), sizes[i]);
		}
	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			for (size_t b = 0; b < sizes[i]; b += 61)
				assert_int_equal(p[k][i][b], 16 * k + i + 1);
			ap_slab_free(s, p[k][i], sizes[i]);
		}
	ap_slab_destroy(s);
}

static void
large_pages_are_aligned(void **state)
{
	uint8_t *a = ap_huge_alloc(1), *b = ap_huge_alloc(3 * AP_HUGE_PAGE + 1);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal((uintptr_t)a % AP_HUGE_PAGE, 0);
	assert_int_equal((uintptr_t)b % AP_HUGE_PAGE, 0);
	b[4 * AP_HUGE_PAGE - 1] = 1;
	assert_null(ap_huge_alloc(SIZE_MAX - 5));
	ap_huge_free(a, 1);
	ap_huge_free(b, 3 * AP_HUGE_PAGE + 1);
	ap_huge_free(NULL, 7);
}

static void
tables_of_all_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 63, 65, 262143, 262144, 262145, 3000000};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *p = ap_huge_table(sizes[i]);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 64, 0);
		for (size_t b = 0; b < sizes[i]; b++)
			assert_int_equal(p[b], 0);
		memset(p, 0xFF, sizes[i]);
		free(p);
	}
	assert_null(ap_huge_table(SIZE_MAX - 5));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_whole),
		cmocka_unit_test(sizes_at_the_edges),
		cmocka_unit_test(large_pages_are_aligned),
		cmocka_unit_test(tables_of_all_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
