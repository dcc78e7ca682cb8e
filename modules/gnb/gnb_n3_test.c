/* SPDX-License-Identifier: BSD-3-Clause */
/* The N3 side of role `gnb`: tunnels to bearers and back, octet by octet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/gnb/gnb_rig.h"

#define BEARERS 6
#define BEARER 4 /* of the session's DRB */

static uint32_t rows[BEARERS];
static struct test_node *bearer, *tunnel;

static struct gnb_session_spec
session(enum rig_way way)
{
	struct gnb_session_spec spec = rig_spec(way, RIG_4);

	spec.drbs[0].no_rlc = true;
	spec.drbs[0].is_default = false;
	spec.drbs[0].qfis = 1ULL << 9 | 1ULL << 10;
	spec.drbs[0].du = 0;
	spec.drbs[0].bearer = BEARER;
	return spec;
}

static void
set(const struct gnb_session_spec *spec)
{
	rig_set(spec);
	rows[BEARER] = (uint32_t)(rig_drb(0) - rig.gnb.table->drbs);
}

static int
up(void **state)
{
	if (rig_up(state) < 0)
		return -1;
	memset(rows, 0xff, sizeof(rows));
	rig.gnb.row_of_bearer = rows;
	rig.gnb.nb_bearers = BEARERS;
	bearer = rig_node("gnb_bearer", 0);
	tunnel = rig_node("gnb_tunnel", 0);
	return 0;
}

static int
down(void **state)
{
	struct test_node *all[] = {bearer, tunnel};

	for (unsigned i = 0; i < RTE_DIM(all); i++) {
		test_node_balance(all[i]);
		test_node_free(all[i]);
	}
	return rig_down(state);
}

/** An SDU as sdap_rx leaves it. */
static struct rte_mbuf *
sdu(uint32_t of, uint8_t qfi, size_t n)
{
	struct rig_frame f = {.at = 0};
	struct rte_mbuf *m;

	rig_payload(&f, n);
	m = rig_mbuf(&f);
	*ap_meta(m) = (struct ap_meta){
		.bearer = of, .qfi = qfi, .flags = AP_M_TIMED | AP_M_TB_END | AP_M_RETAINED};
	return m;
}

static void
up_expected(struct rig_frame *f, enum rig_way way, int qfi, size_t n, uint16_t id)
{
	f->at = 0;
	rig_outer(f, way, true, true, 16 + n, id);
	rig_gtpu(f, RIG_TEID_UPF, n, false, qfi, false);
	rig_payload(f, n);
}

static void
a_tunnel_leads_to_its_bearer(void **state)
{
	const enum rig_way ways[] = {RIG_4, RIG_6};
	struct gnb_session_spec spec = session(RIG_4);
	struct rig_frame f, inner = {.at = 0};

	(void)state;
	set(&spec);
	rig_payload(&inner, 60);
	for (unsigned i = 0; i < 4; i++) {
		struct rte_mbuf *m;

		rig_n3_frame(&f, ways[i / 2], rig.teid, 10, i & 1, 60, 5);
		m = rig_mbuf(&f);
		test_node_visit(rig.in, &m, 1);
		assert_true(rig_pass(rig.in, GNB_IN_DRB, rig.drb));
		assert_true(rig_pass(rig.drb, GNB_DRB_DOWN, bearer));
		m = rig_take(bearer, 0);
		assert_non_null(m);
		assert_int_equal(ap_meta(m)->bearer, BEARER);
		assert_int_equal(ap_meta(m)->qfi, (i & 1 ? 0x40 : 0) | 10);
		assert_int_equal(ap_meta(m)->flags & ~AP_M_TIMED, 0);
		rig_expect(m, &inner, 0);
	}
	assert_int_equal(rig_drb(0)->dl_packets, 4);
	assert_int_equal(rig_drb(0)->dl_bytes, 240);
}

/** The DRB goes while a packet is between the two nodes; a flow that no DRB takes does not come so
 * far. */
static void
downlink_without_a_drb(void **state)
{
	struct gnb_session_spec spec = session(RIG_4);
	struct rig_frame f;
	struct rte_mbuf *m;

	(void)state;
	set(&spec);
	for (unsigned i = 0; i < 2; i++) {
		rig_n3_frame(&f, RIG_4, rig.teid, i ? 9 : 11, false, 60, 5);
		m = rig_mbuf(&f);
		test_node_visit(rig.in, &m, 1);
		rig_pass(rig.in, GNB_IN_DRB, rig.drb);
	}
	assert_int_equal(rig_dropped(rig.drb, "no_drb"), 1);
	assert_true(gnb_session_clear(rig.gnb.table, rig.teid));
	assert_true(rig_pass(rig.drb, GNB_DRB_DOWN, bearer));
	assert_int_equal(rig_dropped(bearer, "no_drb"), 1);
	assert_null(rig_take(bearer, 0));
}

static void
a_bearer_leads_to_its_tunnel(void **state)
{
	const enum rig_way ways[] = {RIG_4, RIG_6};
	uint16_t id = 0;

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(ways); i++) {
		struct gnb_session_spec spec = session(ways[i]);
		struct rig_frame f;

		set(&spec);
		for (size_t n = 1; n < 1400; n += 333) {
			struct rte_mbuf *m = sdu(BEARER, 9, n);

			up_expected(&f, ways[i], 9, n, id++);
			test_node_visit(tunnel, &m, 1);
			m = rig_take(tunnel, 0);
			assert_non_null(m);
			assert_int_equal(ap_meta(m)->flags, AP_M_TIMED);
			rig_expect(m, &f, 0);
		}
	}
	assert_int_equal(rig_drb(0)->ul_packets, 2 * 5);
}

/** Behind a buffer that others read, and where fragments are needed: by way of upf_out. */
static void
headers_in_a_segment_of_their_own(void **state)
{
	struct gnb_session_spec spec = session(RIG_4);
	struct rte_mbuf *m, *shared;
	struct rig_frame f;

	(void)state;
	set(&spec);
	shared = m = sdu(BEARER, 10, 200);
	ap_meta(m)->flags = AP_M_TIMED;
	rte_mbuf_refcnt_update(shared, 1);
	up_expected(&f, RIG_4, 10, 200, 0);
	test_node_visit(tunnel, &m, 1);
	m = rig_take(tunnel, GNB_HDR_OUT);
	assert_non_null(m);
	assert_ptr_not_equal(m, shared);
	assert_int_equal(upf_leave(m)->peer, spec.upf);
	assert_int_equal(upf_leave(m)->interface, RIG_N3);
	assert_int_equal(upf_leave(m)->flags, AP_M_TIMED);
	rig_expect(m, &f, 14);
	rte_pktmbuf_free(shared);
	m = sdu(BEARER, 10, 1480);
	up_expected(&f, RIG_4, 10, 1480, 1);
	test_node_visit(tunnel, &m, 1);
	rig_expect(rig_take(tunnel, GNB_HDR_OUT), &f, 14);
}

/** Without an SDAP header the QoS flow is the DRB's. */
static void
the_flow_of_a_drb_without_header(void **state)
{
	struct gnb_session_spec spec = session(RIG_4);
	struct rte_mbuf *m = sdu(BEARER, 63, 40);
	struct rig_frame f;

	(void)state;
	spec.drbs[0].sdap_ul = false;
	spec.drbs[0].qfis = 1ULL << 22;
	set(&spec);
	up_expected(&f, RIG_4, 22, 40, 0);
	test_node_visit(tunnel, &m, 1);
	rig_expect(rig_take(tunnel, 0), &f, 0);
}

static void
uplink_that_cannot_pass(void **state)
{
	struct gnb_session_spec spec = session(RIG_4);
	struct rte_mbuf *m;
	struct {
		uint32_t bearer;
		uint8_t qfi;
		const char *reason;
	} cases[] = {
		{BEARER - 1, 9, "no_context"}, {BEARERS, 9, "no_context"},
		{UINT32_MAX, 9, "no_context"}, {BEARER, 11, "no_drb"},
		{BEARER, 9, "ul_stopped"},     {BEARER, 9, "peer"},
	};

	(void)state;
	set(&spec);
	for (unsigned i = 0; i < RTE_DIM(cases); i++) {
		const uint64_t before = rig_dropped(tunnel, cases[i].reason);
		struct gnb_session *s = gnb_session_at(rig.gnb.table, rig.teid);

		s->flags = strcmp(cases[i].reason, "ul_stopped") ? 0 : GNB_SESSION_UL_STOPPED;
		if (strcmp(cases[i].reason, "peer") == 0)
			s->upf = 0;
		m = sdu(cases[i].bearer, cases[i].qfi, 40);
		test_node_visit(tunnel, &m, 1);
		assert_int_equal(rig_dropped(tunnel, cases[i].reason), before + 1);
	}
	assert_int_equal(rig_drb(0)->drops, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tunnel_leads_to_its_bearer, up, down),
		cmocka_unit_test_setup_teardown(downlink_without_a_drb, up, down),
		cmocka_unit_test_setup_teardown(a_bearer_leads_to_its_tunnel, up, down),
		cmocka_unit_test_setup_teardown(headers_in_a_segment_of_their_own, up, down),
		cmocka_unit_test_setup_teardown(the_flow_of_a_drb_without_header, up, down),
		cmocka_unit_test_setup_teardown(uplink_that_cannot_pass, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	rig.pool = test_pool("pool", 511, 4096);
	rig.ind = test_pool("ind", 63, 0);
	if (rig.pool == NULL || rig.ind == NULL)
		return 1;
	return cmocka_run_group_tests_name("gnb_n3", tests, NULL, NULL);
}
