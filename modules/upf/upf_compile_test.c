/* SPDX-License-Identifier: BSD-3-Clause */
/* From messages to rules: order, shortcuts, what is shared, and what is refused by which name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test_eal.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
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

static struct upf_rules *
compile(void)
{
	struct upf_rules *r = upf_compile(u.compiler, &msg.m, &u.error);

	if (!r)
		print_message("%s\n", u.error.text);
	return r;
}

static void
plain(void)
{
	test_plain(&msg, 77, HANDLE, UE);
}

#define refused(k, i)                                                                              \
	do {                                                                                       \
		assert_null(upf_compile(u.compiler, &msg.m, &u.error));                            \
		assert_int_equal(u.error.status, AIRPATH__UPF__V1__STATUS__RULE_FAILED);           \
		assert_int_equal(u.error.kind, AIRPATH__UPF__V1__RULE_KIND__RULE_##k);             \
		assert_int_equal(u.error.id, i);                                                   \
		assert_int_not_equal(u.error.text[0], 0);                                          \
		/* Nothing is kept. */                                                             \
		assert_int_equal(u.peers, 0);                                                      \
		assert_int_equal(upf_compiler_sets(u.compiler), 0);                                \
		assert_int_equal(upf_compiler_profiles(u.compiler), 0);                            \
		plain();                                                                           \
	} while (0)

static void
dangling_references_are_refused(void **state)
{
	(void)state;
	plain();
	msg.m.pdrs[1]->far_id = 9;
	refused(PDR, 2);
	msg.m.pdrs[0]->qer_ids[0] = 9;
	refused(PDR, 1);
	msg.m.pdrs[1]->urr_ids[0] = 9;
	refused(PDR, 2);
	msg.m.pdrs[0]->tunnel = 2;
	refused(PDR, 1);
	msg.m.pdrs[0]->interface = 4;
	refused(PDR, 1);
	msg.m.pdrs[0]->interface = 40;
	refused(PDR, 1);
	msg.m.fars[1]->bar_id = 3;
	refused(FAR, 2);
	msg.m.fars[0]->forwarding->interface = 9;
	refused(FAR, 1);
	msg.m.fars[0]->forwarding = NULL;
	refused(FAR, 1);
	msg.m.urrs[0]->has_quota_far = true;
	msg.m.urrs[0]->quota_far_id = 9;
	refused(URR, 1);
	msg.m.core_interface = 7;
	refused(NONE, 0);
	u.no_peers = true;
	refused(FAR, 2);
	u.no_peers = false;
}

static void
numbers_out_of_range_are_refused(void **state)
{
	Airpath__Upf__V1__Filter *f;

	(void)state;
	plain();
	msg.m.id = 0;
	refused(NONE, 0);
	msg.m.handle &= ~0xFFU;
	refused(NONE, 0);
	msg.m.pdrs[0]->id = 0;
	refused(PDR, 0);
	msg.m.pdrs[0]->id = 65536;
	refused(PDR, 65536);
	msg.m.pdrs[0]->source = (Airpath__Upf__V1__InterfaceType)-1;
	refused(PDR, 1);
	msg.m.pdrs[0]->id = 2;
	refused(PDR, 2);
	test_far(&msg, 2, 0, 0);
	refused(FAR, 2);
	test_qer(&msg, 1, 1, 1);
	refused(QER, 1);
	test_urr(&msg, 1);
	refused(URR, 1);
	msg.m.tunnels[0]->teid = 0;
	refused(NONE, 0);
	msg.m.tunnels[0]->teid = 0x12300200;
	refused(NONE, 0);
	test_tunnel(&msg, HANDLE);
	refused(NONE, 0);
	msg.m.ue_ip4.len = 3;
	refused(NONE, 0);
	msg.m.ue_ip6 = test_bytes(&msg, "1234567", 8);
	refused(NONE, 0);
	msg.m.fars[1]->forwarding->peer.len = 5;
	refused(FAR, 2);
	msg.m.fars[1]->forwarding->tos = 256;
	refused(FAR, 2);
	msg.m.qers[0]->qfi = 64;
	refused(QER, 1);
	msg.m.qers[0]->gbr = test_take(&msg, sizeof(*msg.m.qers[0]->gbr));
	airpath__upf__v1__rate__init(msg.m.qers[0]->gbr);
	msg.m.qers[0]->gbr->ul_kbps = 100001;
	refused(QER, 1);
	f = test_filter(&msg, msg.m.pdrs[0]);
	f->protocol = 257;
	refused(PDR, 1);
	f = test_filter(&msg, msg.m.pdrs[1]);
	f->source = test_prefix(&msg, test_ip4(&msg, UE), 33);
	refused(PDR, 2);
	f = test_filter(&msg, msg.m.pdrs[1]);
	TEST_ADD(&msg, f->source_ports, f->n_source_ports, Airpath__Upf__V1__PortRange,
		 airpath__upf__v1__port_range__init);
	f->source_ports[0]->first = 5;
	f->source_ports[0]->last = 4;
	refused(PDR, 2);
	f = test_filter(&msg, msg.m.pdrs[1]);
	TEST_ADD(&msg, f->source_ports, f->n_source_ports, Airpath__Upf__V1__PortRange,
		 airpath__upf__v1__port_range__init);
	f->source_ports[0]->last = 65536;
	refused(PDR, 2);
}

static void
limits(void **state)
{
	struct upf_rules *r;

	(void)state;
	plain();
	for (unsigned id = 3; id <= UPF_RULES_MAX; id++) {
		test_pdr(&msg, id, id % 7, UPF_ACCESS, 1, 1);
		test_far(&msg, id, 0, 0);
		test_urr(&msg, id);
		test_qer(&msg, id, id, id);
	}
	test_urr(&msg, 2);
	test_qer(&msg, 2, 2, 2);
	r = compile();
	assert_non_null(r);
	assert_int_equal(r->nb_lanes, 256);
	assert_int_equal(r->accounts.nb_urrs, 256);
	for (unsigned i = 1; i < r->nb_lanes; i++)
		assert_true(r->pdrs[i - 1].precedence < r->pdrs[i].precedence ||
			    (r->pdrs[i - 1].precedence == r->pdrs[i].precedence &&
			     r->pdrs[i - 1].id < r->pdrs[i].id));
	upf_rules_free(u.compiler, r);
	test_pdr(&msg, 999, 1, UPF_ACCESS, 1, 1);
	refused(NONE, 0);
	for (unsigned i = 0; i < UPF_PDR_QERS_MAX; i++)
		test_name_qer(&msg, msg.m.pdrs[0], 1);
	refused(PDR, 1);
	for (unsigned i = 0; i < UPF_PDR_URRS_MAX; i++)
		test_name_urr(&msg, msg.m.pdrs[0], 1);
	refused(PDR, 1);
	for (unsigned i = 0; i <= UPF_FRAMED_MAX; i++) {
		Airpath__Upf__V1__Pdr *pdr = msg.m.pdrs[0];

		TEST_ADD(&msg, pdr->framed_routes, pdr->n_framed_routes, Airpath__Upf__V1__Prefix,
			 airpath__upf__v1__prefix__init);
		pdr->framed_routes[i] = test_prefix(&msg, test_ip4(&msg, 0x0B000000 + i), 32);
	}
	refused(PDR, 1);
	for (unsigned i = 0; i < UPF_TUNNELS_MAX; i++)
		test_tunnel(&msg, HANDLE + 0x100 + i * 0x100);
	refused(NONE, 0);
}

static void
shortcuts_are_taken_where_nothing_is_to_decide(void **state)
{
	struct upf_rules *r;

	(void)state;
	plain();
	r = compile();
	assert_int_equal(r->tunnels[0].only, 1);
	assert_int_equal(r->only_down, 2);
	assert_int_equal(r->down_interfaces,
			 1 << TEST_CORE_INTERFACE | 1 << TEST_OTHER_CORE_INTERFACE);
	upf_rules_free(u.compiler, r);
	/* A filter, several QFIs, a second PDR, an address not named: look. */
	test_filter(&msg, msg.m.pdrs[0]);
	r = compile();
	assert_int_equal(r->tunnels[0].only, 0);
	assert_int_equal(r->only_down, 2);
	upf_rules_free(u.compiler, r);
	plain();
	msg.m.pdrs[0]->qfis = 3;
	r = compile();
	assert_int_equal(r->tunnels[0].only, 0);
	upf_rules_free(u.compiler, r);
	msg.m.pdrs[0]->qfis = 1ULL << 63;
	r = compile();
	assert_int_equal(r->tunnels[0].only, 1);
	assert_int_equal(r->tunnels[0].only_qfi, 63);
	upf_rules_free(u.compiler, r);
	plain();
	test_pdr(&msg, 3, 1000, UPF_CORE, 0, 2);
	r = compile();
	assert_int_equal(r->only_down, 0);
	assert_int_equal(r->tunnels[0].only, 1);
	upf_rules_free(u.compiler, r);
	plain();
	msg.m.ue_ip6 = test_ip6(&msg, 0x20010DB800000001ULL, 0);
	r = compile();
	assert_int_equal(r->only_down, 0);
	assert_int_equal(r->tunnels[0].only, 0);
	upf_rules_free(u.compiler, r);
	/* The PDR is of another interface than the address. */
	plain();
	msg.m.pdrs[1]->interface = TEST_OTHER_CORE_INTERFACE;
	r = compile();
	assert_int_equal(r->only_down, 0);
	upf_rules_free(u.compiler, r);
	plain();
	msg.m.pdrs[1]->interface = TEST_CORE_INTERFACE;
	r = compile();
	assert_int_equal(r->only_down, 2);
	assert_int_equal(r->down_interfaces, 1 << TEST_CORE_INTERFACE);
	upf_rules_free(u.compiler, r);
}

static uint32_t
flags_of(const struct upf_rules *r, unsigned pdr)
{
	return r->lanes[upf_rules_find_pdr(r, pdr)].flags;
}

static void
qers_of_one_pdr_are_in_its_lane(void **state)
{
	struct upf_rules *r;
	Airpath__Upf__V1__Pdr *pdr;

	(void)state;
	plain();
	r = compile();
	assert_null(r->qers[0].meter);
	assert_true(flags_of(r, 1) & UPF_LANE_METER && flags_of(r, 2) & UPF_LANE_METER);
	assert_false((flags_of(r, 1) | flags_of(r, 2)) & UPF_LANE_MORE);
	upf_rules_free(u.compiler, r);
	/* A session's AMBR: of several PDRs. */
	pdr = test_pdr(&msg, 3, 1, UPF_ACCESS, 1, 1);
	test_name_qer(&msg, pdr, 1);
	r = compile();
	assert_non_null(r->qers[0].meter);
	assert_true(flags_of(r, 1) & UPF_LANE_MORE && flags_of(r, 3) & UPF_LANE_MORE);
	assert_false((flags_of(r, 1) | flags_of(r, 3)) & UPF_LANE_METER);
	assert_true(flags_of(r, 2) & UPF_LANE_METER);
	upf_rules_free(u.compiler, r);
	/* Two QERs, of which one limits: its bucket can be in the lane. */
	plain();
	test_qer(&msg, 2, 0, 0)->mbr = NULL;
	test_name_qer(&msg, msg.m.pdrs[0], 2);
	r = compile();
	assert_true(flags_of(r, 1) & UPF_LANE_METER);
	upf_rules_free(u.compiler, r);
	/* Both limit. */
	plain();
	test_qer(&msg, 2, 5000, 0);
	test_name_qer(&msg, msg.m.pdrs[0], 2);
	r = compile();
	assert_true(flags_of(r, 1) & UPF_LANE_MORE);
	assert_false(flags_of(r, 1) & UPF_LANE_METER);
	assert_non_null(r->qers[0].meter);
	assert_non_null(r->qers[1].meter);
	assert_false(flags_of(r, 1) & UPF_LANE_GATE_CLOSED);
	upf_rules_free(u.compiler, r);
	/* An MBR of 0 blocks, as a closed gate; beyond any port none limits. */
	plain();
	msg.m.qers[0]->mbr->ul_kbps = 0;
	msg.m.qers[0]->mbr->dl_kbps = 0xFFFFFFFFFFULL;
	r = compile();
	assert_true(flags_of(r, 1) & UPF_LANE_GATE_CLOSED);
	assert_false(flags_of(r, 2) & (UPF_LANE_GATE_CLOSED | UPF_LANE_METER));
	upf_rules_free(u.compiler, r);
	plain();
	msg.m.qers[0]->gate_dl_closed = true;
	msg.m.qers[0]->rqi = true;
	r = compile();
	assert_false(flags_of(r, 1) & UPF_LANE_GATE_CLOSED);
	assert_true(flags_of(r, 2) & UPF_LANE_GATE_CLOSED);
	assert_true(flags_of(r, 2) & UPF_LANE_RQI);
	upf_rules_free(u.compiler, r);
}

/* What a profile lets through in `seconds` of packets at twice the rate, above the burst. */
static uint64_t
passed(struct rte_meter_srtcm_profile *p, uint64_t kbps, unsigned seconds, uint32_t bytes)
{
	struct rte_meter_srtcm m = {.time = 0, .tc = p->cbs};
	uint64_t gap_ps = bytes * 8ULL * 1000000000ULL / kbps / 2, sum = 0;

	for (uint64_t t = 0; t / 1000 < seconds * 1000000000ULL; t += gap_ps)
		if (rte_meter_srtcm_color_blind_check(&m, p, t / 1000, bytes) != RTE_COLOR_RED)
			sum += bytes;
	return sum - p->cbs;
}

static void
rates_are_kept(void **state)
{
	static const uint64_t kbps[] = {64, 1000, 33333, 1000000, 9876543, 100000000};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(kbps); i++) {
		unsigned seconds = kbps[i] < 1000 ? 100 : 1;
		uint32_t bytes = kbps[i] > 1000000 ? 9000 : 1400;
		struct upf_rules *r;
		uint64_t want = kbps[i] * 125 * seconds, got;

		plain();
		msg.m.qers[0]->mbr->ul_kbps = kbps[i];
		r = compile();
		got = passed(r->lanes[0].profile, kbps[i], seconds, bytes);
		assert_in_range(got, want - want / 200 - bytes, want + want / 200 + bytes);
		/* The default burst: 20 ms, at least 16 KiB. */
		assert_int_equal(r->lanes[0].profile->cbs,
				 RTE_MAX(kbps[i] * 20 / 8, (uint64_t)16384));
		upf_rules_free(u.compiler, r);
	}
}

static void
far_and_what_leaves(void **state)
{
	struct upf_rules *r;
	Airpath__Upf__V1__Far *far;
	Airpath__Upf__V1__Bar *bar;

	(void)state;
	plain();
	far = msg.m.fars[1];
	far->buffer = far->notify_cp = true;
	far->forward = false;
	bar = TEST_RULE(&msg, bars, Bar, bar);
	bar->id = far->bar_id = 5;
	bar->packets = 10;
	/* No interface is named: the first of the type. */
	msg.m.fars[0]->forwarding->interface = 0;
	TEST_ADD(&msg, far->duplicates, far->n_duplicates, Airpath__Upf__V1__Forwarding,
		 airpath__upf__v1__forwarding__init);
	*far->duplicates[0] = *far->forwarding;
	msg.m.fars[0]->forwarding->tos = 0xB8;
	msg.m.fars[0]->forwarding->tos_mask = 0xFC;
	r = compile();
	assert_int_equal(u.peers, 2);
	assert_int_equal(flags_of(r, 2) & (UPF_LANE_FORWARD | UPF_LANE_BUFFER | UPF_LANE_NOTIFY),
			 UPF_LANE_BUFFER | UPF_LANE_NOTIFY);
	assert_true(flags_of(r, 2) & UPF_LANE_MORE);
	assert_int_equal(r->fars[1].bar, 1);
	assert_int_equal(r->bars[0].packets, 10);
	assert_int_equal(r->fars[1].nb_duplicates, 1);
	assert_int_equal(r->fars[1].duplicates[0].peer, 3);
	assert_int_equal(r->fars[0].to.interface, TEST_CORE_INTERFACE);
	assert_int_equal(r->fars[0].to.tos, 0xB8);
	assert_true(flags_of(r, 1) & UPF_LANE_MORE);
	upf_rules_free(u.compiler, r);
	plain();
	msg.m.fars[0]->drop = true;
	r = compile();
	assert_int_equal(flags_of(r, 1) & (UPF_LANE_FORWARD | UPF_LANE_BUFFER | UPF_LANE_NOTIFY),
			 0);
	upf_rules_free(u.compiler, r);
}

static void
urrs(void **state)
{
	Airpath__Upf__V1__Urr *m;
	struct upf_rules *r;
	struct upf_urr *urr;

	(void)state;
	plain();
	r = compile();
	assert_null(r->accounts.urrs[0].more);
	assert_null(r->accounts.before);
	assert_int_equal(r->accounts.urrs[0].volume_quota.total, UPF_NO_LIMIT);
	upf_rules_free(u.compiler, r);
	m = msg.m.urrs[0];
	m->volume_threshold = test_take(&msg, sizeof(*m->volume_threshold));
	airpath__upf__v1__volume__init(m->volume_threshold);
	m->volume_threshold->has_downlink = true;
	m->volume_threshold->downlink = 1000;
	m->has_time_quota = true;
	m->monitoring_unix_s = 1700000000;
	m->triggers = UPF_TRIGGER_VOLTH;
	m->has_quota_far = true;
	m->quota_far_id = 2;
	m->n_linked_urr_ids = 2;
	m->linked_urr_ids = test_take(&msg, 8);
	m->linked_urr_ids[0] = 44; /* removed since */
	m->linked_urr_ids[1] = 2;
	test_urr(&msg, 2)->before_qos = true;
	test_name_urr(&msg, msg.m.pdrs[0], 2);
	r = compile();
	urr = &r->accounts.urrs[0];
	assert_int_equal(urr->volume_threshold.of[UPF_DL], 1000);
	assert_int_equal(urr->volume_threshold.total, UPF_NO_LIMIT);
	assert_int_equal(urr->triggers, UPF_TRIGGER_VOLTH);
	assert_int_equal(urr->flags, UPF_URR_VOLUME | UPF_URR_QUOTA_FAR);
	assert_int_equal(urr->more->time_quota_ns, 0);
	assert_int_equal(urr->more->event_quota, UPF_NO_LIMIT);
	assert_int_equal(urr->more->monitoring_unix_ms, 1700000000000ULL);
	assert_int_equal(urr->more->quota_far, 1);
	assert_int_equal(urr->more->nb_linked, 1);
	assert_int_equal(urr->more->linked[0], 1);
	/* One counts before the QERs, the other after: twice. */
	assert_non_null(r->accounts.before);
	assert_true(flags_of(r, 1) & UPF_LANE_MORE);
	upf_rules_free(u.compiler, r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dangling_references_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_out_of_range_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(limits, setup, teardown),
		cmocka_unit_test_setup_teardown(shortcuts_are_taken_where_nothing_is_to_decide,
						setup, teardown),
		cmocka_unit_test_setup_teardown(qers_of_one_pdr_are_in_its_lane, setup, teardown),
		cmocka_unit_test_setup_teardown(rates_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(far_and_what_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(urrs, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
