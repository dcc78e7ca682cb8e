/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control thread keeps: ids, events, an arena, peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h wants the above before it. */
#include <cmocka.h>

#include <errno.h>

#include "modules/upf/upf_control_rig.h"
#include "tests/support/test_eal.h"

#define IDS 20000

static void
ids_are_found_listed_and_go(void **state)
{
	struct upf_ids t;
	uint64_t ids[100], after = 0, seen = 0;
	int nb;

	(void)state;
	assert_int_equal(upf_ids_init(&t), 0);
	assert_null(upf_ids_find(&t, 0));
	/* Ids of one SMF are dense, those of others far away. */
	for (uint64_t i = 1; i <= IDS; i++)
		upf_ids_add(&t, i % 3 ? i : i << 40)->handle = (uint32_t)i;
	for (uint64_t i = 1; i <= IDS; i += 2)
		upf_ids_del(&t, upf_ids_find(&t, i % 3 ? i : i << 40));
	assert_int_equal(t.nb, IDS / 2);
	for (uint64_t i = 1; i <= IDS; i++) {
		const struct upf_id *e = upf_ids_find(&t, i % 3 ? i : i << 40);

		assert_int_equal(e != NULL, i % 2 == 0);
		assert_int_equal(e ? e->handle : i, i);
	}
	while ((nb = upf_ids_list(&t, after, ids, 100)) > 0)
		for (int i = 0; i < nb; i++, seen++) {
			assert_true(ids[i] > after);
			after = ids[i];
		}
	assert_int_equal(seen, IDS / 2);
	upf_ids_fini(&t);
}

static void
list_passes_by_what_went(void **state)
{
	struct upf_ids t;
	uint64_t ids[2];

	(void)state;
	upf_ids_init(&t);
	for (uint64_t i = 1; i <= 5; i++)
		upf_ids_add(&t, i);
	assert_int_equal(upf_ids_list(&t, 0, ids, 2), 2);
	upf_ids_del(&t, upf_ids_find(&t, 3));
	assert_int_equal(upf_ids_list(&t, ids[1], ids, 2), 2);
	assert_int_equal(ids[0], 4);
	assert_int_equal(upf_ids_list(&t, 5, ids, 2), 0);
	upf_ids_fini(&t);
}

static uint64_t
number_of(const struct ctl_packed *p)
{
	Airpath__Upf__V1__Answer *a;
	uint64_t number;

	assert_non_null(p);
	a = airpath__upf__v1__answer__unpack(NULL, p->bytes, p->data);
	number = a->event->number;
	airpath__upf__v1__answer__free_unpacked(a, NULL);
	return number;
}

static void
event_add(struct ctl_events *e)
{
	Airpath__Upf__V1__Answer a = AIRPATH__UPF__V1__ANSWER__INIT;
	Airpath__Upf__V1__Event event = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__Inactivity i = AIRPATH__UPF__V1__INACTIVITY__INIT;

	event.body_case = AIRPATH__UPF__V1__EVENT__BODY_INACTIVITY;
	event.inactivity = &i;
	event.number = e->next;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_EVENT;
	a.event = &event;
	ctl_events_add(e, ctl_pack(&a.base));
}

static void
events_stay_until_acknowledged(void **state)
{
	struct ctl_events e;

	(void)state;
	ctl_events_init(&e, UPF_EVENTS_MAX);
	for (unsigned i = 0; i < 3; i++)
		event_add(&e);
	assert_int_equal(number_of(ctl_events_peek(&e)), 1);
	e.sent += 2;
	ctl_events_ack(&e, 1);
	assert_int_equal(number_of(ctl_events_peek(&e)), 3);
	ctl_events_rewind(&e);
	assert_int_equal(number_of(ctl_events_peek(&e)), 2);
	/* What was never sent cannot have arrived. */
	ctl_events_ack(&e, 1000);
	assert_int_equal(number_of(ctl_events_peek(&e)), 2);
	assert_int_equal(e.lost, 0);
	ctl_events_fini(&e);
}

static void
newest_events_are_kept(void **state)
{
	struct ctl_events e;

	(void)state;
	ctl_events_init(&e, UPF_EVENTS_MAX);
	for (unsigned i = 0; i < UPF_EVENTS_MAX + 10; i++)
		event_add(&e);
	assert_int_equal(e.lost, 10);
	assert_int_equal(number_of(ctl_events_peek(&e)), 11);
	ctl_events_fini(&e);
}

static void
arena_is_bounded_and_comes_back(void **state)
{
	struct ctl_arena a;

	(void)state;
	ctl_arena_init(&a);
	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < 5000; i++) {
			uint8_t *p = ctl_arena_alloc(&a, i);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % 16, 0);
			memset(p, 0xA5, i);
		}
		assert_non_null(ctl_arena_alloc(&a, 3 * CTL_ARENA_CHUNK));
		assert_null(ctl_arena_alloc(&a, CTL_ARENA_MAX));
		assert_null(ctl_arena_alloc(&a, SIZE_MAX - 4));
		ctl_arena_reset(&a);
	}
	ctl_arena_fini(&a);
}

/* --- peers ------------------------------------------------------------------------------------ */

static void
peers_are_shared_and_rest(void **state)
{
	struct rig *rig = rig_make(1, 16, true);
	struct upf_peers *p;
	struct upf_peer_key key = {
		.ip = {192, 168, 1, 7}, .port = 2152, .octets = 4, .interface = N3, .gtpu = true};
	struct upf_peer_key key6 = {.octets = 16, .interface = N9, .port = 2152, .gtpu = true};
	const struct upf_peer *peer;
	int a, b;

	(void)state;
	assert_non_null(rig);
	p = &rig->upf.peers;
	a = upf_peer_get(p, &key, 1);
	assert_true(a > 0);
	assert_int_equal(upf_peer_get(p, &key, 1), a);
	peer = &p->peer[a];
	assert_int_equal(peer->udp, IP4_HDR_BYTES);
	assert_memory_equal(peer->header + 12, n3_4, 4);
	assert_memory_equal(peer->header + 16, key.ip, 4);
	assert_int_equal(be16_get(peer->header + 22), 2152);
	assert_int_equal(ip_checksum(peer->header, IP4_HDR_BYTES), 0);
	key.tos = 0xB8;
	key.tos_mask = 0xFC;
	b = upf_peer_get(p, &key, 1);
	assert_true(b > 0 && b != a);
	assert_int_equal(p->peer[b].header[1], 0xB8);
	/* n9 has no IPv6 address; there is no interface 9. */
	assert_int_equal(upf_peer_get(p, &key6, 1), -EINVAL);
	key6.interface = 9;
	assert_int_equal(upf_peer_get(p, &key6, 1), -EINVAL);
	key6.interface = N3;
	assert_true(upf_peer_get(p, &key6, 1) > 0);
	upf_peer_put(p, (unsigned)a, 1);
	assert_int_equal(peer->refs, 1);
	upf_peer_put(p, (unsigned)a, 1);
	upf_peer_put(p, (unsigned)b, 1);
	assert_int_equal(p->live, 1);
	rig_free(rig);
}

static void
peers_run_out(void **state)
{
	struct rig *rig = rig_make(1, 16, true);
	struct upf_peers *p = &rig->upf.peers;
	struct upf_peer_key key = {.port = 2152, .octets = 4, .interface = N6, .gtpu = true};
	const uint64_t later = 10 * UPF_PEER_REST_NS;
	int last = 0;

	(void)state;
	/* By the gateway, so that they need no neighbour each. */
	for (uint32_t i = 1; i < UPF_PEERS_MAX; i++) {
		be32_put(key.ip, 0x08000000 + i);
		last = upf_peer_get(p, &key, later);
		assert_true(last > 0);
	}
	be32_put(key.ip, 0x09000000);
	assert_int_equal(upf_peer_get(p, &key, later), -ENOSPC);
	upf_peer_put(p, (unsigned)last, later);
	assert_int_equal(upf_peer_get(p, &key, later + 1), -ENOSPC);
	assert_int_equal(upf_peer_get(p, &key, later + UPF_PEER_REST_NS), last);
	rig_free(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_found_listed_and_go),
		cmocka_unit_test(list_passes_by_what_went),
		cmocka_unit_test(events_stay_until_acknowledged),
		cmocka_unit_test(newest_events_are_kept),
		cmocka_unit_test(arena_is_bounded_and_comes_back),
		cmocka_unit_test(peers_are_shared_and_rest),
		cmocka_unit_test(peers_run_out),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
