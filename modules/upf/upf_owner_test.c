/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_byteorder.h>
#include <rte_thash.h>

#include "modules/upf/upf_owner.h"

#define S 1000000000ULL

/* What a port makes of `words` 32-bit words, network order, under our key. */
static uint32_t
toeplitz(const uint8_t *input, unsigned words)
{
	uint8_t key[UPF_RSS_KEY_BYTES];
	uint32_t tuple[8];

	upf_rss_key(key);
	for (unsigned i = 0; i < words; i++) {
		memcpy(&tuple[i], input + 4 * i, 4);
		tuple[i] = rte_be_to_cpu_32(tuple[i]);
	}
	return rte_softrss(tuple, words, key);
}

static void
fill_random(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(rand() >> 7);
}

static void
bucket_is_the_toeplitz_hash(void **state)
{
	uint8_t in[16];

	(void)state;
	for (unsigned x = 0; x <= UINT16_MAX; x++) {
		memcpy(in, (uint8_t[]){0, 0, (uint8_t)(x >> 8), (uint8_t)x}, 4);
		assert_int_equal(upf_hash16((uint16_t)x), toeplitz(in, 1) & 0xFFFF);
	}
	srand(1);
	for (unsigned i = 0; i < 100000; i++) {
		fill_random(in, 8);
		assert_int_equal(upf_bucket_ip4(in), toeplitz(in, 1) % UPF_BUCKETS);
		assert_int_equal(upf_bucket_prefix6(in), toeplitz(in, 2) % UPF_BUCKETS);
	}
}

/* A port hashes the field it is told to where it stands: source uplink, destination downlink. */
static void
both_directions_meet(void **state)
{
	uint8_t up[16] = {0}, down[16] = {0}, ab[8], ba[8];

	(void)state;
	srand(2);
	for (unsigned i = 0; i < 10000; i++) {
		fill_random(up, 4);
		memcpy(down + 4, up, 4);
		assert_int_equal(toeplitz(up, 2), toeplitz(down, 2));
		assert_int_equal(toeplitz(down, 2) % UPF_BUCKETS, upf_bucket_ip4(up));
		/* IPv6: the /64 of the source, or of the destination 16 octets on. */
		fill_random(up, 8);
		memset(down, 0, sizeof(down));
		memcpy(down + 8, up, 8);
		assert_int_equal(toeplitz(down, 4) % UPF_BUCKETS, upf_bucket_prefix6(up));
		memset(up, 0, sizeof(up));
		memset(down, 0, sizeof(down));
		/* And a hash of both addresses does not depend on their order. */
		fill_random(ab, 8);
		memcpy(ba, ab + 4, 4);
		memcpy(ba + 4, ab, 4);
		assert_int_equal(toeplitz(ab, 2), toeplitz(ba, 2));
	}
}

static void
addresses_of_a_pool_spread_evenly(void **state)
{
	static unsigned ip4[UPF_BUCKETS], prefix[UPF_BUCKETS];

	(void)state;
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		ip4[upf_bucket_ip4((uint8_t[]){10, 60, (uint8_t)(i >> 8), (uint8_t)i})]++;
		prefix[upf_bucket_prefix6((uint8_t[]){0x20, 0x01, 0x0d, 0xb8, 0, 1,
						      (uint8_t)(i >> 8), (uint8_t)i})]++;
	}
	for (unsigned b = 0; b < UPF_BUCKETS; b++) {
		assert_int_equal(ip4[b], (UINT16_MAX + 1) / UPF_BUCKETS);
		assert_int_equal(prefix[b], (UINT16_MAX + 1) / UPF_BUCKETS);
	}
}

static void
bucket_of_a_session(void **state)
{
	const uint8_t ip4[4] = {10, 60, 0, 1}, prefix[8] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1};

	(void)state;
	assert_int_equal(upf_session_bucket(ip4, NULL), upf_bucket_ip4(ip4));
	assert_int_equal(upf_session_bucket(NULL, prefix), upf_bucket_prefix6(prefix));
	assert_int_equal(upf_session_bucket(ip4, prefix), upf_bucket_ip4(ip4));
	assert_int_equal(upf_session_bucket(NULL, NULL), -ENOENT);
}

static void
map_follows_the_redirection_table(void **state)
{
	static struct upf_owner_map map;
	unsigned of[7] = {0};

	(void)state;
	assert_int_equal(upf_owner_map_init(&map, 7, 128), 0);
	for (unsigned b = 0; b < UPF_BUCKETS; b++) {
		assert_int_equal(map.worker[b], b % 128 % 7);
		of[map.worker[b]]++;
	}
	for (unsigned w = 0; w < 7; w++)
		assert_in_range(of[w], UPF_BUCKETS / 128 * 18, UPF_BUCKETS / 128 * 19);
	/* Another count of workers is another owner, and the same TEID. */
	assert_int_equal(upf_owner_of_teid(&map, upf_teid(130, 5, 1)), 2);
	assert_int_equal(upf_owner_map_init(&map, 2, UPF_BUCKETS), 0);
	assert_int_equal(upf_owner_of_teid(&map, upf_teid(130, 5, 1)), 0);
	assert_int_equal(upf_owner_map_init(&map, UPF_WORKERS_MAX, 256), 0);
	assert_int_equal(map.worker[255], 255);
	assert_int_equal(upf_owner_map_init(&map, 0, 128), -EINVAL);
	assert_int_equal(upf_owner_map_init(&map, 2, 100), -EINVAL);
	assert_int_equal(upf_owner_map_init(&map, 4, 2), -EINVAL);
	assert_int_equal(upf_owner_map_init(&map, 2, 2 * UPF_BUCKETS), -EINVAL);
	assert_int_equal(upf_owner_map_init(&map, UPF_WORKERS_MAX + 1, 512), -EINVAL);
}

static void
teid_fields(void **state)
{
	uint32_t teid = upf_teid(0xABC, 0xDEF, 0x12);

	(void)state;
	assert_int_equal(teid, 0xABCDEF12);
	assert_int_equal(upf_teid_bucket(teid), 0xABC);
	assert_int_equal(upf_teid_slot(teid), 0xDEF);
	assert_int_equal(upf_teid_generation(teid), 0x12);
}

static void
freed_teids_rest(void **state)
{
	struct upf_teids *t = upf_teids_create(2, 1);
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(upf_teids_alloc(t, 0, 0, &a), 0);
	assert_int_equal(a, upf_teid(0, 0, 1)); /* not 0 */
	assert_int_equal(upf_teids_alloc(t, 0, 0, &b), 0);
	assert_int_equal(b, upf_teid(0, 1, 1));
	assert_int_equal(upf_teids_alloc(t, 0, 0, &c), -ENOSPC);
	assert_int_equal(upf_teids_free(t, a, 5 * S), 0);
	assert_int_equal(upf_teids_state(t, a), UPF_TEID_STALE);
	assert_int_equal(upf_teids_free(t, b, 6 * S), 0);
	assert_int_equal(upf_teids_alloc(t, 0, 35 * S - 1, &c), -EAGAIN);
	assert_int_equal(upf_teids_alloc(t, 0, 35 * S, &c), 0);
	assert_int_equal(c, upf_teid(0, 0, 2));
	assert_int_equal(upf_teids_alloc(t, 0, 36 * S - 1, &b), -EAGAIN);
	/* Never less than 30 s, whatever the clock's grain inside. */
	assert_int_equal(upf_teids_alloc(t, 1, 0, &a), 0);
	assert_int_equal(upf_teids_alloc(t, 1, 0, &b), 0);
	assert_int_equal(upf_teids_free(t, a, 1), 0);
	assert_int_equal(upf_teids_alloc(t, 1, 30 * S, &a), -EAGAIN);
	assert_int_equal(upf_teids_alloc(t, 1, 30 * S + S / 1000, &a), 0);
	/* The other buckets go their own ways. */
	assert_int_equal(upf_teids_alloc(t, UPF_BUCKETS - 1, 0, &b), 0);
	assert_int_equal(upf_teid_bucket(b), UPF_BUCKETS - 1);
	assert_int_equal(upf_teids_alloc(t, UPF_BUCKETS, 0, &b), -EINVAL);
	assert_int_equal(upf_teids_live(t), 4);
	upf_teids_destroy(t);
}

static void
stale_generations_are_told(void **state)
{
	struct upf_teids *t = upf_teids_create(1, 250);
	uint32_t teid = 0, was;
	uint64_t now = 0;

	(void)state;
	assert_int_equal(upf_teids_state(t, upf_teid(3, 0, 250)), UPF_TEID_UNKNOWN);
	for (unsigned i = 0; i < 600; i++, now += UPF_TEID_REST_NS) {
		was = teid;
		assert_int_equal(upf_teids_alloc(t, 3, now, &teid), 0);
		assert_int_equal(upf_teid_generation(teid), (249 + i) % 255 + 1);
		assert_int_equal(upf_teids_state(t, teid), UPF_TEID_LIVE);
		if (i > 0) {
			assert_int_equal(upf_teids_state(t, was), UPF_TEID_STALE);
			assert_int_equal(upf_teids_free(t, was, now), -ENOENT);
		}
		assert_int_equal(upf_teids_free(t, teid, now), 0);
		assert_int_equal(upf_teids_free(t, teid, now), -ENOENT);
	}
	assert_int_equal(upf_teids_state(t, upf_teid(3, 0, 0)), UPF_TEID_UNKNOWN);
	assert_int_equal(upf_teids_state(t, upf_teid(3, 1, 1)), UPF_TEID_UNKNOWN);
	upf_teids_destroy(t);
}

static void
claimed_after_a_restart(void **state)
{
	struct upf_teids *t = upf_teids_create(4, 7);
	uint32_t teid;

	(void)state;
	assert_int_equal(upf_teids_claim(t, upf_teid(9, 2, 200), 0), 0);
	assert_int_equal(upf_teids_claim(t, upf_teid(9, 2, 201), 0), -EEXIST);
	assert_int_equal(upf_teids_claim(t, upf_teid(9, 1, 100), 0), 0);
	assert_int_equal(upf_teids_claim(t, upf_teid(9, 4, 1), 0), -EINVAL);
	assert_int_equal(upf_teids_claim(t, upf_teid(9, 3, 0), 0), -EINVAL);
	/* Slot 0 may have been freed just before: it rests; slot 3 is beyond all claimed. */
	assert_int_equal(upf_teids_alloc(t, 9, 1 * S, &teid), 0);
	assert_int_equal(teid, upf_teid(9, 3, 7));
	assert_int_equal(upf_teids_alloc(t, 9, 1 * S, &teid), -EAGAIN);
	assert_int_equal(upf_teids_alloc(t, 9, 30 * S, &teid), 0);
	assert_int_equal(teid, upf_teid(9, 0, 7));
	assert_int_equal(upf_teids_free(t, upf_teid(9, 1, 100), 30 * S), 0);
	assert_int_equal(upf_teids_alloc(t, 9, 60 * S, &teid), 0);
	assert_int_equal(teid, upf_teid(9, 1, 101));
	assert_int_equal(upf_teids_live(t), 4);
	upf_teids_destroy(t);
	assert_null(upf_teids_create(0, 1));
	assert_null(upf_teids_create(UPF_SLOTS + 1, 1));
	assert_null(upf_teids_create(1, 0));
	assert_null(upf_teids_create(1, UPF_GENERATION_MAX + 1));
}

static void
any_bucket_by_turns(void **state)
{
	struct upf_teids *t = upf_teids_create(1, 1);
	static bool seen[UPF_BUCKETS];
	uint32_t teid, last = 0;

	(void)state;
	for (unsigned i = 0; i < UPF_BUCKETS; i++) {
		int b = upf_teids_any_bucket(t, 0);

		assert_in_range(b, 0, UPF_BUCKETS - 1);
		assert_false(seen[b]);
		seen[b] = true;
		assert_int_equal(upf_teids_alloc(t, (unsigned)b, 0, &last), 0);
	}
	assert_int_equal(upf_teids_any_bucket(t, 0), -ENOSPC);
	assert_int_equal(upf_teids_free(t, last, 0), 0);
	assert_int_equal(upf_teids_any_bucket(t, 29 * S), -ENOSPC);
	assert_int_equal(upf_teids_any_bucket(t, 30 * S), upf_teid_bucket(last));
	assert_int_equal(upf_teids_alloc(t, upf_teid_bucket(last), 30 * S, &teid), 0);
	upf_teids_destroy(t);
}

/* Random calls on one bucket against a table of what was said of each slot. */
static void
agrees_with_the_model(void **state)
{
	enum { SLOTS = 6 };
	struct upf_teids *t = upf_teids_create(SLOTS, 1);
	uint64_t freed[SLOTS] = {0}, now = 0;
	uint32_t live[SLOTS] = {0}, teid;
	bool used[SLOTS] = {false};

	(void)state;
	srand(3);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned slot = (unsigned)rand() % SLOTS, free_slots = 0, ready = 0;
		int ret;

		now += (uint64_t)(rand() % 9) * S;
		for (unsigned s = 0; s < SLOTS; s++) {
			free_slots += !live[s];
			ready += !live[s] && (!used[s] || now >= freed[s] + UPF_TEID_REST_NS);
		}
		switch (rand() % 5) {
		case 0:
		case 1:
			ret = upf_teids_alloc(t, 77, now, &teid);
			assert_int_equal(ret, !free_slots ? -ENOSPC : !ready ? -EAGAIN : 0);
			if (ret < 0)
				break;
			slot = upf_teid_slot(teid);
			assert_int_equal(live[slot], 0);
			assert_true(!used[slot] || now >= freed[slot] + UPF_TEID_REST_NS);
			live[slot] = teid;
			used[slot] = true;
			break;
		case 2:
			teid = upf_teid(77, slot, 1 + (unsigned)rand() % UPF_GENERATION_MAX);
			ret = upf_teids_claim(t, teid, now);
			assert_int_equal(ret, live[slot] ? -EEXIST : 0);
			if (ret < 0)
				break;
			for (unsigned s = 0; s < slot; s++) {
				freed[s] = used[s] ? freed[s] : now;
				used[s] = true;
			}
			live[slot] = teid;
			used[slot] = true;
			break;
		default:
			ret = upf_teids_free(t, live[slot] ? live[slot] : upf_teid(77, slot, 1),
					     now);
			assert_int_equal(ret, live[slot] ? 0 : -ENOENT);
			if (ret == 0)
				freed[slot] = now;
			live[slot] = 0;
		}
	}
	upf_teids_destroy(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bucket_is_the_toeplitz_hash),
		cmocka_unit_test(both_directions_meet),
		cmocka_unit_test(addresses_of_a_pool_spread_evenly),
		cmocka_unit_test(bucket_of_a_session),
		cmocka_unit_test(map_follows_the_redirection_table),
		cmocka_unit_test(teid_fields),
		cmocka_unit_test(freed_teids_rest),
		cmocka_unit_test(stale_generations_are_told),
		cmocka_unit_test(claimed_after_a_restart),
		cmocka_unit_test(any_bucket_by_turns),
		cmocka_unit_test(agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
