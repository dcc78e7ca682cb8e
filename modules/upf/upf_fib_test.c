/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "modules/upf/upf_fib.h"

static struct upf_fib_route
route4(uint32_t address, uint8_t bits, uint16_t hop)
{
	struct upf_fib_route r = {.prefix = {.bits = bits}, .hop = hop};

	for (unsigned i = 0; i < 4; i++)
		r.prefix.address[i] = (uint8_t)(address >> (24 - 8 * i));
	return r;
}

static void
longest_prefix_wins(void **state)
{
	const struct upf_fib_route routes[] = {
		route4(0, 0, 1),           route4(0x0A000000, 8, 2),  route4(0x0A010000, 16, 3),
		route4(0x0A0101FF, 32, 4), route4(0xFFFFFF00, 24, 5), route4(0x0A010000, 24, 6),
		route4(0x0B000000, 8, 7),  route4(0x0B000000, 8, 8),
	};
	struct upf_fib r;

	(void)state;
	assert_int_equal(upf_fib_build(&r, routes, 8), 0);
	assert_int_equal(upf_fib_find4(&r, 0x01020304), 1);
	assert_int_equal(upf_fib_find4(&r, 0x0A020304), 2);
	assert_int_equal(upf_fib_find4(&r, 0x0A010200), 3);
	assert_int_equal(upf_fib_find4(&r, 0x0A0101FF), 4);
	assert_int_equal(upf_fib_find4(&r, 0x0A0100FF), 6);
	assert_int_equal(upf_fib_find4(&r, 0xFFFFFFFF), 5);
	assert_int_equal(upf_fib_find4(&r, 0x0B000001), 8); /* the last of equal ones */
	assert_int_equal(upf_fib_find4(&r, 0x0C000000), 1);
	upf_fib_free(&r);
	assert_int_equal(upf_fib_find4(&r, 0x0A0101FF), UPF_NO_ROUTE);
}

static void
nothing_matches_nothing(void **state)
{
	const struct upf_fib_route bad = {.prefix = {.bits = 33}}, one = route4(0x80000000, 1, 0);
	const uint8_t any[16] = {0x20};
	struct upf_fib r;

	(void)state;
	assert_int_equal(upf_fib_build(&r, NULL, 0), 0);
	assert_int_equal(upf_fib_find4(&r, 1), UPF_NO_ROUTE);
	assert_int_equal(upf_fib_find6(&r, any), UPF_NO_ROUTE);
	upf_fib_free(&r);
	assert_int_equal(upf_fib_build(&r, &bad, 1), -EINVAL);
	assert_int_equal(upf_fib_build(&r, &one, 1), 0);
	assert_int_equal(upf_fib_find4(&r, 0x7FFFFFFF), UPF_NO_ROUTE);
	assert_int_equal(upf_fib_find4(&r, 0x80000000), 0);
	upf_fib_free(&r);
}

/** What a walk over all prefixes finds. */
static uint16_t
plain(const struct upf_fib_route *routes, unsigned nb, const uint8_t *address, bool v6)
{
	uint16_t hop = UPF_NO_ROUTE;
	int best = -1;

	for (unsigned i = 0; i < nb; i++)
		if (routes[i].prefix.v6 == v6 && (int)routes[i].prefix.bits >= best &&
		    upf_prefix_has(&routes[i].prefix, address)) {
			best = routes[i].prefix.bits;
			hop = routes[i].hop;
		}
	return hop;
}

static void
agrees_with_a_plain_walk(void **state)
{
	struct upf_fib_route routes[60];
	struct upf_fib r;
	uint8_t a[16];

	(void)state;
	srand(7);
	for (unsigned round = 0; round < 300; round++) {
		unsigned nb = (unsigned)rand() % 60;

		for (unsigned i = 0; i < nb; i++) {
			struct upf_net_prefix *p = &routes[i].prefix;

			p->v6 = rand() & 1;
			p->bits = (uint8_t)(rand() % (p->v6 ? 129 : 33));
			for (unsigned k = 0; k < 16; k++) /* few values: they nest */
				p->address[k] = rand() % 3 ? 0xFF * (rand() & 1) : (uint8_t)rand();
			routes[i].hop = (uint16_t)i;
		}
		assert_int_equal(upf_fib_build(&r, routes, nb), 0);
		for (unsigned i = 0; i < 200; i++) {
			for (unsigned k = 0; k < 16; k++)
				a[k] = rand() % 3 ? 0xFF * (rand() & 1) : (uint8_t)rand();
			assert_int_equal(upf_fib_find4(&r, (uint32_t)a[0] << 24 | a[1] << 16 |
								   a[2] << 8 | a[3]),
					 plain(routes, nb, a, false));
			assert_int_equal(upf_fib_find6(&r, a), plain(routes, nb, a, true));
		}
		upf_fib_free(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_prefix_wins),
		cmocka_unit_test(nothing_matches_nothing),
		cmocka_unit_test(agrees_with_a_plain_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
