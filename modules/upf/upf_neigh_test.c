/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include <cmocka.h>

#include "modules/upf/upf_neigh.h"
#include "test_eal.h"

#define S 1000000000ULL

static struct upf_neighs t;
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};

static struct upf_neigh_key
key4(uint32_t n)
{
	struct upf_neigh_key k = {.interface = 1};

	memcpy(k.address, &n, 4);
	return k;
}

static uint64_t
word(int index)
{
	return atomic_load(&t.entry[index].word);
}

static int
up(void **state)
{
	(void)state;
	return upf_neighs_init(&t, 64);
}

static int
down(void **state)
{
	(void)state;
	upf_neighs_fini(&t);
	return 0;
}

static void
resolved_probed_and_given_up(void **state)
{
	const struct upf_neigh_key k = key4(1);
	int i = upf_neigh_get(&t, &k, false, S);
	uint64_t now = S;
	uint8_t got[6];

	(void)state;
	assert_int_equal(upf_neigh_find(&t, &k), i);
	assert_int_equal(upf_neigh_state(word(i)), UPF_NEIGH_INCOMPLETE);
	/* One asks a second, of however many want to. */
	assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_ASK_MULTICAST);
	assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_QUIET);
	upf_neigh_learn(&t, (uint32_t)i, mac, now);
	assert_true(upf_neigh_usable(word(i)));
	upf_neigh_mac(word(i), got);
	assert_memory_equal(got, mac, 6);
	assert_int_equal(upf_neigh_probe(&t.entry[i], now + 29 * S), UPF_NEIGH_QUIET);
	now += 30 * S;
	for (unsigned n = 0; n < UPF_NEIGH_TRIES; n++, now += S) {
		assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_ASK_UNICAST);
		assert_true(upf_neigh_usable(word(i)));
	}
	for (unsigned n = 0; n < UPF_NEIGH_TRIES; n++, now += S) {
		assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_ASK_MULTICAST);
		assert_int_equal(upf_neigh_state(word(i)), UPF_NEIGH_INCOMPLETE);
	}
	assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_QUIET);
	assert_int_equal(upf_neigh_state(word(i)), UPF_NEIGH_FAILED);
	now += S;
	assert_int_equal(upf_neigh_probe(&t.entry[i], now), UPF_NEIGH_ASK_MULTICAST);
	assert_int_equal(upf_neigh_state(word(i)), UPF_NEIGH_INCOMPLETE);
}

static void
an_answer_ends_the_doubt(void **state)
{
	const struct upf_neigh_key k = key4(1);
	int i = upf_neigh_get(&t, &k, false, S);

	(void)state;
	upf_neigh_learn(&t, (uint32_t)i, mac, S);
	upf_neigh_doubt(&t, (uint32_t)i, 2 * S);
	assert_int_equal(upf_neigh_probe(&t.entry[i], 2 * S), UPF_NEIGH_ASK_UNICAST);
	upf_neigh_learn(&t, (uint32_t)i, mac, 2 * S);
	assert_int_equal(upf_neigh_probe(&t.entry[i], 31 * S), UPF_NEIGH_QUIET);
	for (unsigned n = 0; n < UPF_NEIGH_TRIES; n++)
		assert_int_equal(upf_neigh_probe(&t.entry[i], (32 + n) * S), UPF_NEIGH_ASK_UNICAST);
	assert_int_equal(upf_neigh_probe(&t.entry[i], 40 * S), UPF_NEIGH_ASK_MULTICAST);
}

static void
static_ones_stay(void **state)
{
	const uint8_t other[6] = {2, 2, 2, 2, 2, 2};
	const struct upf_neigh_key k = key4(1);
	int i;

	(void)state;
	assert_int_equal(upf_neigh_set_static(&t, &k, mac), 0);
	i = upf_neigh_find(&t, &k);
	upf_neigh_learn(&t, (uint32_t)i, other, S);
	assert_int_equal(word(i) & 0xFFFFFFFFFFFF, 0x090000000002);
	assert_int_equal(upf_neigh_probe(&t.entry[i], 1ULL << 62), UPF_NEIGH_QUIET);
}

/** A full table gives idle entries away under a new generation, and never pinned ones. */
static void
idle_entries_are_given_away(void **state)
{
	struct upf_neigh_key k = key4(0), first;
	int pinned = upf_neigh_get(&t, &k, true, S), i = 0;
	unsigned n, full = 0;

	(void)state;
	first = k = key4(1000);
	i = upf_neigh_get(&t, &first, false, S);
	upf_neigh_learn(&t, (uint32_t)i, mac, S);
	for (n = 1; n < 200; n++) {
		struct upf_neigh_key more = key4(n);
		int at = upf_neigh_get(&t, &more, false, S);

		if (at >= 0)
			upf_neigh_learn(&t, (uint32_t)at, mac, S);
		full += at == -ENOSPC;
	}
	assert_true(full > 100);
	assert_int_equal(upf_neigh_find(&t, &first), i);
	for (n = 200; n < 2000; n++) {
		struct upf_neigh_key more = key4(n);

		upf_neigh_get(&t, &more, false, 100 * S);
	}
	k = key4(0);
	assert_int_equal(upf_neigh_find(&t, &k), pinned);
	assert_int_equal(upf_neigh_find(&t, &first), -ENOENT);
	assert_int_not_equal(upf_neigh_generation(word(i)), 1);
}

static void
families_and_interfaces_differ(void **state)
{
	struct upf_neigh_key a = key4(1), b = a, c = a;

	(void)state;
	b.v6 = true;
	c.interface = 2;
	assert_int_not_equal(upf_neigh_get(&t, &a, false, S), upf_neigh_get(&t, &b, false, S));
	assert_int_not_equal(upf_neigh_get(&t, &a, false, S), upf_neigh_get(&t, &c, false, S));
	/* Octets behind an IPv4 address do not count. */
	a.address[9] = 7;
	assert_int_equal(upf_neigh_find(&t, &a), upf_neigh_get(&t, &a, false, S));
}

#define THREADS 4
#define ROUNDS 20000

static _Atomic unsigned turns;

static void *
many(void *arg)
{
	unsigned seed = *(unsigned *)arg;

	for (unsigned r = 0; r < ROUNDS; r++) {
		struct upf_neigh_key k = key4((seed = seed * 1103515245 + 12345) >> 16 & 0xFF);
		int i;

		i = upf_neigh_get(&t, &k, false, (1 + r / 100) * 100 * S);
		if (i >= 0 && upf_neigh_find(&t, &k) == i)
			atomic_fetch_add(&turns, 1);
	}
	return NULL;
}

/** After threads raced for entries no address has two. */
static void
racing_threads_agree(void **state)
{
	pthread_t threads[THREADS];
	unsigned seeds[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		seeds[i] = i * 77 + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, many, &seeds[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(turns > ROUNDS);
	for (uint32_t i = 0; i <= t.mask; i++)
		for (uint32_t j = i + 1; j <= t.mask; j++) {
			const struct upf_neigh *a = &t.entry[i], *b = &t.entry[j];

			assert_true(upf_neigh_state(a->word) == UPF_NEIGH_FREE ||
				    upf_neigh_state(b->word) == UPF_NEIGH_FREE ||
				    a->key[0] != b->key[0] || a->key[2] != b->key[2]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(resolved_probed_and_given_up, up, down),
		cmocka_unit_test_setup_teardown(an_answer_ends_the_doubt, up, down),
		cmocka_unit_test_setup_teardown(static_ones_stay, up, down),
		cmocka_unit_test_setup_teardown(idle_entries_are_given_away, up, down),
		cmocka_unit_test_setup_teardown(families_and_interfaces_differ, up, down),
		cmocka_unit_test_setup_teardown(racing_threads_agree, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
