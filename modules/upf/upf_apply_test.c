/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions come, change and go: slots, what carries over, what a plain one takes of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "modules/upf/upf.h"
#include "modules/upf/upf_do.h"
#include "modules/upf/upf_msg.h"
#include "test_eal.h"
#include "test_upf.h"

#define HANDLE 0x12300101U /* bucket 0x123, slot 1, generation 1 */
#define UE 0x0A2D0001U

static struct test_unit u;
static struct test_message msg;

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
be(uint32_t ip4)
{
	uint8_t p[4];
	uint32_t v;

	be32_put(p, ip4);
	memcpy(&v, p, sizeof(v));
	return v;
}

static void
plain_session(void **state)
{
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(u.tables->sessions, 1);
	assert_int_equal(upf_index_ip4(u.index, TEST_CORE_INTERFACE, be(UE)), HANDLE);
	s = upf_by_handle(u.tables, HANDLE);
	assert_non_null(s);
	assert_ptr_equal(upf_by_teid(u.tables, HANDLE), s);
	assert_int_equal(s->id, 77);
	assert_int_equal(s->nb_lanes, 2);
	assert_ptr_equal(s->lanes, s->inline_lanes);
	assert_int_equal(s->only_up, 1);
	assert_int_equal(s->only_down, 2);
	assert_int_equal(s->only_qfi, 0xFF);
	assert_int_equal(s->up_interfaces, 1 << TEST_ACCESS_INTERFACE);
	assert_int_equal(s->ue_ip4, be(UE));
	assert_int_equal(s->lanes[0].flags & ~UPF_LANE_URR, UPF_LANE_FORWARD | UPF_LANE_METER |
								    UPF_LANE_CHECK_SOURCE |
								    UPF_LANE_ANY_QFI);
	assert_int_equal(s->lanes[1].flags & ~UPF_LANE_URR,
			 UPF_LANE_FORWARD | UPF_LANE_METER | UPF_LANE_ANY_QFI | UPF_LANE_DOWN |
				 UPF_LANE_OUTER | UPF_LANE_PSC);
	assert_true(s->lanes[0].flags & UPF_LANE_URR);
	assert_int_equal(s->lanes[0].interface, TEST_CORE_INTERFACE);
	assert_int_equal(s->lanes[1].interface, TEST_ACCESS_INTERFACE);
	assert_int_equal(s->lanes[1].teid, 0x1234);
	assert_int_equal(s->lanes[1].peer, 3);
	assert_int_equal(s->lanes[1].qfi, 9);
	assert_int_equal(u.peers, 1);
	assert_int_equal(test_delete(&u, HANDLE, 76), -ENOENT);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), -ENOENT);
	assert_null(upf_by_teid(u.tables, HANDLE));
	assert_int_equal(upf_index_ip4(u.index, TEST_CORE_INTERFACE, be(UE)), 0);
}

static void
stale_generations_are_unknown(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (uint32_t g = 0; g <= UPF_GENERATION_MAX; g++) {
		uint32_t teid = (HANDLE & ~0xFFU) | g;

		assert_int_equal(upf_by_teid(u.tables, teid) != NULL, teid == HANDLE);
		assert_int_equal(upf_by_handle(u.tables, teid) != NULL, teid == HANDLE);
	}
	assert_null(upf_by_teid(u.tables, HANDLE + 0x100)); /* next slot: never used */
	/* The slot's next session, before the old one went: refused, and nothing changed. */
	test_plain(&msg, 78, HANDLE + 1, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	assert_int_equal(upf_by_teid(u.tables, HANDLE)->id, 77);
	assert_int_equal(upf_index_ip4(u.index, TEST_CORE_INTERFACE, be(UE + 1)), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_null(upf_by_teid(u.tables, HANDLE));
	assert_int_equal(upf_by_teid(u.tables, HANDLE + 1)->id, 78);
	assert_int_equal(test_delete(&u, HANDLE + 1, 78), 0);
}

static void
further_tunnels_are_aliases(void **state)
{
	uint32_t other = HANDLE + 0x500, third = HANDLE + 0x600;
	struct upf_session *s, *a;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	/* N9: downlink packets come in a tunnel of their own. */
	test_pdr(&msg, 3, 50, UPF_CORE, test_tunnel(&msg, other), 2);
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_teid(u.tables, HANDLE);
	a = upf_by_teid(u.tables, other);
	assert_non_null(a);
	assert_ptr_not_equal(a, s);
	assert_true(a->flags & UPF_SESSION_ALIAS);
	assert_ptr_equal(upf_slot_session(a), s);
	assert_ptr_equal(upf_slot_session(s), s);
	assert_null(upf_by_handle(u.tables, other));
	/* Lanes by precedence: PDR 3 first. */
	assert_int_equal(a->only_up, 1);
	assert_int_equal(s->only_up, 2);
	assert_int_equal(a->up_interfaces,
			 1 << TEST_CORE_INTERFACE | 1 << TEST_OTHER_CORE_INTERFACE);
	assert_int_equal(s->nb_lanes, 3);
	assert_ptr_not_equal(s->lanes, s->inline_lanes);
	/* Another session may not take the alias's slot, nor an alias another's. */
	test_plain(&msg, 78, other, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	/* The tunnel goes, another comes. */
	test_plain(&msg, 77, HANDLE, UE);
	test_pdr(&msg, 3, 50, UPF_CORE, test_tunnel(&msg, third), 2);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_null(upf_by_teid(u.tables, other));
	assert_ptr_equal(upf_slot_session(upf_by_teid(u.tables, third)), s);
	test_plain(&msg, 78, other, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), 0);
	test_plain(&msg, 79, HANDLE + 0x700, UE + 2);
	test_tunnel(&msg, other);
	assert_int_equal(test_set(&u, &msg.m), -EEXIST);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_null(upf_by_teid(u.tables, third));
	assert_int_equal(test_delete(&u, other, 78), 0);
}

static void
a_session_without_a_tunnel_of_its_slot(void **state)
{
	(void)state;
	test_message(&msg, 77, HANDLE, UE);
	test_far(&msg, 1, 0, 0);
	test_pdr(&msg, 1, 1, UPF_CORE, 0, 1)->match_ue_destination = true;
	msg.m.pdrs[0]->match_ip4 = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_null(upf_by_teid(u.tables, HANDLE));
	assert_non_null(upf_by_handle(u.tables, HANDLE));
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

/* --- carry over ------------------------------------------------------------------------------- */

static bool
passes(struct upf_lane *lane, uint32_t bytes)
{
	return rte_meter_srtcm_color_blind_check(&lane->meter, lane->profile, u.now, bytes) !=
	       RTE_COLOR_RED;
}

static void
tokens_stay_through_changes(void **state)
{
	struct upf_session *s;
	struct upf_lane *lane;
	unsigned nb = 0;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.qers[0]->burst_bytes = 10000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	while (passes(&s->lanes[0], 1000))
		nb++;
	assert_int_equal(nb, 10);
	/* A modification at the same instant grants nothing; nor does one that shares the QER. */
	msg.m.version = 2;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_false(passes(&s->lanes[0], 1000));
	assert_true(passes(&s->lanes[1], 10000));
	test_name_qer(&msg, test_pdr(&msg, 3, 7, UPF_ACCESS, 1, 1), 1);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_false(s->lanes[0].flags & UPF_LANE_METER); /* PDR 3 */
	assert_true(s->lanes[0].flags & UPF_LANE_MORE);
	assert_true(s->lanes[1].flags & UPF_LANE_MORE);
	assert_true(s->rules->qers[0].meter[UPF_UL].tc < 1000);
	/* Its own again, and 8 ms later: 100 Mbps x 8 ms = 100,000 octets, of which 10,000 fit. */
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.qers[0]->burst_bytes = 10000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	lane = &s->lanes[0];
	assert_true(lane->flags & UPF_LANE_METER);
	assert_false(passes(lane, 1000));
	u.now += 8000000;
	for (nb = 0; passes(lane, 1000); nb++)
		;
	assert_int_equal(nb, 10);
	/* A new QER begins full, a smaller burst takes the excess. */
	msg.m.qers[0]->id = 2;
	msg.m.pdrs[0]->qer_ids[0] = msg.m.pdrs[1]->qer_ids[0] = 2;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_true(passes(lane, 1000));
	msg.m.qers[0]->burst_bytes = 5000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (nb = 0; passes(lane, 1000); nb++)
		;
	assert_int_equal(nb, 5);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
tokens_stay_when_a_gbr_comes(void **state)
{
	struct upf_session *s;
	struct upf_qer *qer;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.qers[0]->burst_bytes = 10000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_true(passes(&s->lanes[0], 9000));
	msg.m.qers[0]->gbr = test_take(&msg, sizeof(*msg.m.qers[0]->gbr));
	airpath__upf__v1__rate__init(msg.m.qers[0]->gbr);
	msg.m.qers[0]->gbr->ul_kbps = 50000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	qer = &s->rules->qers[0];
	assert_non_null(qer->gbr);
	assert_int_equal(qer->gbr->meter[UPF_UL].tp, 1000);
	assert_null(qer->gbr->profile[UPF_DL]);
	assert_true(s->lanes[0].flags & UPF_LANE_MORE);
	assert_true(s->lanes[1].flags & UPF_LANE_METER);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
usage_goes_on(void **state)
{
	struct upf_session *s;
	struct upf_usage_report out[2];

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	s->lanes[0].packets += 3;
	s->lanes[0].bytes += 300;
	/* PDR 2 turns first, PDR 1 is replaced by 3; the URR stays. */
	msg.m.pdrs[1]->precedence = 1;
	msg.m.pdrs[0]->id = 3;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(s->lanes[0].packets, 0);
	assert_true(s->lanes[0].flags & UPF_LANE_DOWN);
	s->lanes[0].packets += 1;
	s->lanes[0].bytes += 50;
	assert_int_equal(upf_urr_take(&s->rules->accounts, 0, UPF_TRIGGER_IMMER, u.now, out), 1);
	assert_int_equal(out[0].bytes[UPF_UL], 300);
	assert_int_equal(out[0].packets[UPF_UL], 3);
	assert_int_equal(out[0].bytes[UPF_DL], 50);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
usage_of_before_a_restart_goes_on(void **state)
{
	struct upf_usage_report out[2];
	Airpath__Upf__V1__Usage *usage;
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	usage = msg.m.urrs[0]->carry = test_take(&msg, sizeof(*usage));
	airpath__upf__v1__usage__init(usage);
	usage->ul_bytes = 1000;
	usage->dl_bytes = 2000;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(upf_urr_take(&s->rules->accounts, 0, UPF_TRIGGER_IMMER, u.now, out), 1);
	assert_int_equal(out[0].bytes[UPF_UL], 1000);
	assert_int_equal(out[0].bytes[UPF_DL], 2000);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

/* Reports of URRs that go are taken before the new rules come, so what refuses these comes first.
 */
static void
a_refused_change_takes_no_usage(void **state)
{
	struct upf_worker w = {.tables = u.tables, .charger = &u.charger};
	struct upf_usage_report removed[4], reports[4], out[2];
	struct upf_msg m = {.kind = UPF_MSG_SET, .id = 77, .handle = HANDLE};
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 78, HANDLE + 0x500, UE + 1);
	assert_int_equal(test_set(&u, &msg.m), 0);
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	s->lanes[0].packets = 3;
	s->lanes[0].bytes = 300;
	/* Without its URR, and with a tunnel of another session. */
	msg.m.urrs[0]->id = 2;
	msg.m.pdrs[0]->urr_ids[0] = msg.m.pdrs[1]->urr_ids[0] = 2;
	test_tunnel(&msg, HANDLE + 0x500);
	m.rules = upf_compile(u.compiler, &msg.m, &u.error);
	m.removed = removed;
	m.reports = reports;
	m.query_all = true;
	upf_do(&w, &m, u.now);
	assert_int_equal(m.error, -EEXIST);
	assert_int_equal(m.status, UPF_STATUS_RULE_FAILED);
	assert_int_equal(m.nb_removed + m.nb_reports, 0);
	upf_rules_free(u.compiler, m.rules);
	assert_int_equal(upf_urr_take(&s->rules->accounts, 0, UPF_TRIGGER_IMMER, u.now, out), 1);
	assert_int_equal(out[0].bytes[UPF_UL], 300);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(test_delete(&u, HANDLE + 0x500, 78), 0);
}

/* --- many ------------------------------------------------------------------------------------- */

static size_t
memory(void)
{
	struct rte_malloc_socket_stats stats;
	struct mallinfo2 heap = mallinfo2();

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return heap.uordblks + heap.hblkhd + stats.heap_allocsz_bytes;
}

/* The n-th session as an agent with one pool makes it. */
static uint32_t
handle_of(unsigned n, uint16_t *slots)
{
	uint8_t p[4];
	unsigned bucket;

	be32_put(p, UE + n);
	bucket = upf_bucket_ip4(p);
	return upf_teid(bucket, slots[bucket]++, 1);
}

static void
a_plain_session_takes_1_kib(void **state)
{
	static uint16_t slots[UPF_BUCKETS];
	const unsigned nb = 20000;
	uint8_t pool[4] = {10, 45, 0, 0};
	size_t before = memory(), used;

	(void)state;
	memset(slots, 0, sizeof(slots));
	assert_int_equal(upf_index_pool(u.index, pool, 4, 16, TEST_CORE_INTERFACE), 0);
	for (unsigned n = 0; n < nb; n++) {
		test_plain(&msg, n + 1, handle_of(n, slots), UE + n);
		assert_int_equal(test_set(&u, &msg.m), 0);
	}
	used = memory() - before;
	print_message("%u plain sessions (QER and URR): %zu octets each, %zu of them rules; "
		      "%u chunks\n",
		      nb, used / nb,
		      malloc_usable_size(upf_by_handle(u.tables, msg.m.handle)->rules),
		      u.tables->nb_chunks);
	assert_true(used / nb <= 1024);
	assert_int_equal(upf_compiler_profiles(u.compiler), 2);
	assert_int_equal(upf_compiler_sets(u.compiler), 2);
	memset(slots, 0, sizeof(slots));
	for (unsigned n = 0; n < nb; n++)
		assert_int_equal(test_delete(&u, handle_of(n, slots), n + 1), 0);
}

static void
every_session_is_found(void **state)
{
	static uint16_t slots[UPF_BUCKETS];
	const unsigned nb = 30000;

	(void)state;
	memset(slots, 0, sizeof(slots));
	for (unsigned n = 0; n < nb; n++) {
		test_plain(&msg, n + 1, handle_of(n, slots), UE + n);
		assert_int_equal(test_set(&u, &msg.m), 0);
	}
	assert_int_equal(u.tables->sessions, nb);
	memset(slots, 0, sizeof(slots));
	for (unsigned n = 0; n < nb; n++) {
		uint32_t handle = handle_of(n, slots);

		assert_int_equal(upf_by_teid(u.tables, handle)->id, n + 1);
		assert_int_equal(upf_index_ip4(u.index, TEST_CORE_INTERFACE, be(UE + n)), handle);
		assert_int_equal(test_delete(&u, handle, n + 1), 0);
		assert_null(upf_by_teid(u.tables, handle));
	}
}

static void
other_workers_slots_are_refused(void **state)
{
	struct upf_owner_map owners;
	struct upf_tables *t;

	(void)state;
	assert_int_equal(upf_owner_map_init(&owners, 3, 128), 0);
	t = upf_tables_create(&owners, 1, 0);
	for (uint32_t bucket = 0; bucket < UPF_BUCKETS; bucket++) {
		uint32_t handle = upf_teid(bucket, bucket % 7, 1);
		int ret = upf_tables_prepare(t, handle);

		assert_int_equal(ret, owners.worker[bucket] == 1 ? 0 : -EINVAL);
		assert_int_equal(upf_slot(t, handle) != NULL, ret == 0);
		if (ret == 0)
			assert_int_equal(upf_slot(t, handle)->id, 0);
	}
	upf_tables_destroy(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_session, setup, teardown),
		cmocka_unit_test_setup_teardown(stale_generations_are_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(further_tunnels_are_aliases, setup, teardown),
		cmocka_unit_test_setup_teardown(a_session_without_a_tunnel_of_its_slot, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tokens_stay_through_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(tokens_stay_when_a_gbr_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(usage_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(usage_of_before_a_restart_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_change_takes_no_usage, setup, teardown),
		cmocka_unit_test_setup_teardown(a_plain_session_takes_1_kib, setup, teardown),
		cmocka_unit_test_setup_teardown(every_session_is_found, setup, teardown),
		cmocka_unit_test(other_workers_slots_are_refused),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
