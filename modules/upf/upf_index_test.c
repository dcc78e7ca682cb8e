/* SPDX-License-Identifier: BSD-3-Clause */
/* From addresses, routes and foreign TEIDs to handles, against a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "modules/upf/upf_keys.h"
#include "test_eal.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
#define UE 0x0A2D0001U
#define UE6 0x20010DB800000001ULL
#define CORE TEST_CORE_INTERFACE
#define OTHER TEST_OTHER_CORE_INTERFACE

static struct test_unit u;
static struct test_message msg;
static uint64_t seed = 7;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((seed >> 33) % n);
}

static int
setup(void **state)
{
	(void)state;
	test_unit_open(&u);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	test_unit_close(&u);
	return 0;
}

static uint32_t
ip4(unsigned interface, uint32_t address)
{
	return upf_index_ip4(u.index, interface, rte_cpu_to_be_32(address));
}

static uint32_t
ip6(unsigned interface, uint64_t high, uint64_t low)
{
	uint8_t p[16];

	be32_put(p, (uint32_t)(high >> 32));
	be32_put(p + 4, (uint32_t)high);
	be32_put(p + 8, (uint32_t)(low >> 32));
	be32_put(p + 12, (uint32_t)low);
	return upf_index_ip6(u.index, interface, p);
}

/* --- the hash --------------------------------------------------------------------------------- */

static struct upf_key
key(uint32_t n)
{
	return (struct upf_key){.high = n / 3,
				.low = n % 3,
				.meta = upf_key_meta(UPF_KEY_FRAMED6, 65 + n % 2, 1 + n % 2)};
}

static void
keys_agree_with_a_model(void **state)
{
	enum { N = 6000 };
	static uint32_t model[N];
	struct upf_keys *k = upf_keys_create(0);

	(void)state;
	assert_non_null(k);
	memset(model, 0, sizeof(model));
	for (unsigned step = 0; step < 400000; step++) {
		/* Full and empty by turns. */
		uint32_t n = rnd(N), handle = 1 + rnd(1000);
		bool put = rnd(100) < (step / 50000 % 2 ? 20 : 80);
		struct upf_key at = key(n);

		if (put) {
			assert_int_equal(upf_keys_put(k, &at, handle), 0);
			model[n] = handle;
		} else {
			assert_int_equal(upf_keys_delete(k, &at), model[n] != 0);
			model[n] = 0;
		}
		n = rnd(N);
		at = key(n);
		assert_int_equal(upf_keys_get(k, &at), model[n]);
	}
	for (uint32_t n = 0; n < N; n++) {
		struct upf_key at = key(n);

		assert_int_equal(upf_keys_get(k, &at), model[n]);
	}
	upf_keys_destroy(k);
}

static struct upf_keys *shared;
static volatile bool stop;

static void *
read_keys(void *arg)
{
	uint64_t *missed = arg;

	while (!stop)
		for (uint32_t n = 0; n < 1000; n++) {
			struct upf_key at = key(n);

			*missed += upf_keys_get(shared, &at) != n + 1;
		}
	return NULL;
}

/* While others come and go and the table grows, what stays is always found. */
static void
readers_miss_nothing(void **state)
{
	uint64_t missed = 0;
	pthread_t reader;

	(void)state;
	shared = upf_keys_create(0);
	stop = false;
	for (uint32_t n = 0; n < 1000; n++) {
		struct upf_key at = key(n);

		assert_int_equal(upf_keys_put(shared, &at, n + 1), 0);
	}
	assert_int_equal(pthread_create(&reader, NULL, read_keys, &missed), 0);
	for (unsigned step = 0; step < 300000; step++) {
		struct upf_key at = key(1000 + rnd(1000 + step / 10));

		if (rnd(2))
			assert_int_equal(upf_keys_put(shared, &at, 5), 0);
		else
			upf_keys_delete(shared, &at);
	}
	stop = true;
	pthread_join(reader, NULL);
	assert_int_equal(missed, 0);
	upf_keys_destroy(shared);
}

/* --- addresses -------------------------------------------------------------------------------- */

static void
pooled_and_other_addresses(void **state)
{
	const uint8_t pool[] = {10, 45, 0, 0}, pool6[16] = {0x20, 0x01, 0x0D, 0xB8};
	const uint8_t large[] = {11, 0, 0, 0};

	(void)state;
	/* Hashed, then in a pool that comes later. */
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 64;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(upf_index_head(u.index)->nb_hashed, 2);
	assert_int_equal(upf_index_pool(u.index, pool, 4, 16, CORE), 0);
	assert_int_equal(upf_index_pool(u.index, pool6, 16, 44, CORE), 0);
	assert_int_equal(upf_index_pool(u.index, pool6, 16, 44, CORE), 0);
	assert_int_equal(upf_index_pool(u.index, large, 4, 8, CORE), 0);
	assert_int_equal(upf_index_head(u.index)->nb_pools, 2);
	assert_int_equal(upf_index_pool(u.index, pool, 4, 33, CORE), -EINVAL);
	assert_int_equal(upf_index_pool(u.index, pool, 5, 16, CORE), -EINVAL);
	assert_int_equal(upf_index_pool(u.index, pool, 4, 16, 0), -EINVAL);
	assert_int_equal(ip4(CORE, UE), HANDLE);
	assert_int_equal(ip6(CORE, UE6, 12345), HANDLE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(ip4(CORE, UE), HANDLE);
	/* The next ones are the pool's. */
	test_plain(&msg, 78, HANDLE + 0x100, UE + 1);
	msg.m.ue_ip6 = test_ip6(&msg, UE6 + 1, 0);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(upf_index_head(u.index)->nb_hashed, 2);
	assert_int_equal(ip4(CORE, UE + 1), HANDLE + 0x100);
	assert_int_equal(ip6(CORE, UE6 + 1, 1), HANDLE + 0x100);
	assert_int_equal(ip4(CORE, UE + 2), 0);
	assert_int_equal(ip4(OTHER, UE + 1), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(ip4(CORE, UE), 0);
	assert_int_equal(test_delete(&u, HANDLE + 0x100, 78), 0);
	assert_int_equal(ip4(CORE, UE + 1), 0);
	assert_int_equal(ip6(CORE, UE6 + 1, 1), 0);
}

static void
network_instances_overlap(void **state)
{
	const uint8_t pool[] = {10, 45, 0, 0};

	(void)state;
	for (unsigned pools = 0; pools < 2; pools++) {
		test_plain(&msg, 77, HANDLE, UE);
		assert_int_equal(test_set(&u, &msg.m), 0);
		test_plain(&msg, 78, HANDLE + 0x100, UE);
		assert_int_equal(test_set(&u, &msg.m), -EEXIST);
		msg.m.core_interface = OTHER;
		assert_int_equal(test_set(&u, &msg.m), 0);
		assert_int_equal(ip4(CORE, UE), HANDLE);
		assert_int_equal(ip4(OTHER, UE), HANDLE + 0x100);
		assert_int_equal(test_delete(&u, HANDLE, 77), 0);
		assert_int_equal(ip4(CORE, UE), 0);
		assert_int_equal(ip4(OTHER, UE), HANDLE + 0x100);
		assert_int_equal(test_delete(&u, HANDLE + 0x100, 78), 0);
		assert_int_equal(upf_index_pool(u.index, pool, 4, 16, CORE), 0);
		assert_int_equal(upf_index_pool(u.index, pool, 4, 16, OTHER), 0);
	}
}

static void
an_address_changes(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	test_plain(&msg, 78, HANDLE + 0x100, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), 0);
	/* To one that another has: nothing changes. */
	test_plain(&msg, 77, HANDLE, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	assert_int_equal(ip4(CORE, UE), HANDLE);
	assert_int_equal(ip4(CORE, UE + 1), HANDLE + 0x100);
	test_plain(&msg, 77, HANDLE, UE + 2);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(ip4(CORE, UE), 0);
	assert_int_equal(ip4(CORE, UE + 2), HANDLE);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(test_delete(&u, HANDLE + 0x100, 78), 0);
}

/* --- framed routes ---------------------------------------------------------------------------- */

static void
frame(uint32_t address, unsigned bits)
{
	Airpath__Upf__V1__Pdr *pdr = msg.m.pdrs[1];

	TEST_ADD(&msg, pdr->framed_routes, pdr->n_framed_routes, Airpath__Upf__V1__Prefix,
		 airpath__upf__v1__prefix__init);
	pdr->framed_routes[pdr->n_framed_routes - 1] =
		test_prefix(&msg, test_ip4(&msg, address), bits);
}

static void
framed_routes_by_longest_prefix(void **state)
{
	Airpath__Upf__V1__Pdr *pdr;

	(void)state;
	assert_false(upf_index_has_framed(u.index));
	test_plain(&msg, 77, HANDLE, UE);
	frame(0xAC100000, 12);
	frame(0xAC100105, 32);
	frame(0xAC1001FF, 24); /* host bits do not count */
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_true(upf_index_has_framed(u.index));
	assert_int_equal(upf_by_handle(u.tables, HANDLE)->only_down, 2);
	test_plain(&msg, 78, HANDLE + 0x100, UE + 1);
	frame(0xAC100200, 23);
	frame(0x00000000, 0);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(ip4(CORE, 0xAC100105), HANDLE);
	assert_int_equal(ip4(CORE, 0xAC100106), HANDLE);
	assert_int_equal(ip4(CORE, 0xAC100301), HANDLE + 0x100);
	assert_int_equal(ip4(CORE, 0xAC100401), HANDLE);
	assert_int_equal(ip4(CORE, 0x08080808), HANDLE + 0x100);
	assert_int_equal(ip4(OTHER, 0x08080808), 0);
	assert_int_equal(ip4(CORE, UE), HANDLE); /* its own address goes before any route */
	test_plain(&msg, 79, HANDLE + 0x200, UE + 2);
	frame(0xAC100000, 12);
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	assert_int_equal(ip4(CORE, UE + 2), HANDLE + 0x100); /* by 0.0.0.0/0 */
	/* A route goes. */
	test_plain(&msg, 77, HANDLE, UE);
	frame(0xAC100000, 12);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(ip4(CORE, 0xAC100105), HANDLE);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(ip4(CORE, 0xAC100105), HANDLE + 0x100);
	assert_int_equal(test_delete(&u, HANDLE + 0x100, 78), 0);
	assert_int_equal(ip4(CORE, 0xAC100301), 0);
	/* IPv6, longer than a /64 too; a delegated prefix is found by it. */
	test_plain(&msg, 80, HANDLE, 0);
	msg.m.pdrs[0]->match_ip6 = msg.m.pdrs[1]->match_ip6 = true;
	msg.m.ue_ip6 = test_ip6(&msg, UE6 & ~0xFFULL, 0);
	msg.m.ue_ip6_bits = 56;
	pdr = msg.m.pdrs[1];
	TEST_ADD(&msg, pdr->framed_routes, pdr->n_framed_routes, Airpath__Upf__V1__Prefix,
		 airpath__upf__v1__prefix__init);
	pdr->framed_routes[0] =
		test_prefix(&msg, test_ip6(&msg, 0x2001067C00000000ULL, 7ULL << 32), 96);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(ip6(CORE, UE6 | 0x77, 1), HANDLE);
	assert_int_equal(ip6(CORE, (UE6 | 0x77) + 0x100, 1), 0);
	assert_int_equal(ip6(CORE, 0x2001067C00000000ULL, 7ULL << 32 | 9), HANDLE);
	assert_int_equal(ip6(CORE, 0x2001067C00000000ULL, 8ULL << 32 | 9), 0);
	assert_int_equal(test_delete(&u, HANDLE, 80), 0);
	assert_false(upf_index_has_framed(u.index));
}

static void
random_routes_agree_with_a_model(void **state)
{
	static struct {
		uint32_t address;
		unsigned bits;
	} routes[40];

	(void)state;
	for (unsigned n = 0; n < 40; n++) {
		routes[n].bits = 8 + rnd(25);
		routes[n].address = (0x0A000000 | rnd(1 << 12) << 12 | rnd(8)) &
				    (uint32_t)(~0ULL << (32 - routes[n].bits));
		test_plain(&msg, n + 1, HANDLE + n * 0x100, 0xC0000000 + n);
		frame(routes[n].address, routes[n].bits);
		if (test_set(&u, &msg.m) == -EEXIST)
			routes[n].bits = 99; /* the same twice */
	}
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t address = 0x0A000000 | rnd(1 << 12) << 12 | rnd(8), handle = 0;
		unsigned best = 0;

		for (unsigned n = 0; n < 40; n++)
			if (routes[n].bits <= 32 && routes[n].bits > best &&
			    (address ^ routes[n].address) >> (32 - routes[n].bits) == 0) {
				best = routes[n].bits;
				handle = HANDLE + n * 0x100;
			}
		assert_int_equal(ip4(CORE, address), handle);
	}
	for (unsigned n = 0; n < 40; n++)
		if (routes[n].bits <= 32)
			assert_int_equal(test_delete(&u, HANDLE + n * 0x100, n + 1), 0);
}

/* --- TEIDs of others -------------------------------------------------------------------------- */

static void
foreign_teids(void **state)
{
	struct upf_arrival a = {.rx = UPF_RX_TUNNEL, .teid = 0xDEADBEEF, .interface = 1};
	uint8_t p[20] = {0x45, 0, 0, 20, [9] = 17, [12] = 10, 45, 0, 1, 198, 51, 100, 1};
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.tunnels[0]->teid = 0xDEADBEEF;
	msg.m.tunnels[0]->foreign = true;
	assert_false(upf_index_has_foreign(u.index));
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_true(upf_index_has_foreign(u.index));
	assert_null(upf_by_teid(u.tables, 0xDEADBEEF));
	assert_null(upf_by_teid(u.tables, HANDLE));
	assert_int_equal(upf_index_foreign(u.index, 0xDEADBEEF), HANDLE);
	assert_int_equal(upf_index_foreign(u.index, 0xDEADBEEE), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(upf_match_lane(s, &a, p, sizeof(p)), 0);
	test_plain(&msg, 78, HANDLE + 0x100, UE + 1);
	msg.m.tunnels[0]->teid = 0xDEADBEEF;
	msg.m.tunnels[0]->foreign = true;
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	assert_int_equal(ip4(CORE, UE + 1), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(upf_index_foreign(u.index, 0xDEADBEEF), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_agree_with_a_model),
		cmocka_unit_test(readers_miss_nothing),
		cmocka_unit_test_setup_teardown(pooled_and_other_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(network_instances_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(framed_routes_by_longest_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(random_routes_agree_with_a_model, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_teids, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
