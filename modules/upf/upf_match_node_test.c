/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_match: by TEID and address, shortcuts and full lookup, what goes to upf_local, drops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_net_test.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_scans.h"
#include "test_eal.h"
#include "test_node.h"
#include "test_upf.h"

#define HANDLE 0x12300101U
#define OTHER (HANDLE + 0x500) /* a further tunnel */
#define UE 0x0A2D0002U
#define FOREIGN 0xDEAD0000U

static struct rte_mempool *pool;
static struct test_unit u;
static struct test_message msg;
static struct ap_cfg_upf cfg;
static struct upf upf;
static struct upf_worker w;
static struct test_node *match, *flow;

static int
setup(void **state)
{
	(void)state;
	test_unit_open(&u);
	upf = (struct upf){.cfg = &cfg, .nb_workers = 1, .workers = &w, .index = u.index};
	cfg = (struct ap_cfg_upf){.flows = 1024, .session_flows = 100, .dpi = {.scans = 8}};
	w = (struct upf_worker){.upf = &upf,
				.tables = u.tables,
				.charger = &u.charger,
				.flows = upf_flows_create(cfg.flows),
				.scans = upf_scans_create(cfg.dpi.scans)};
	flow = test_node_make("upf_flow", &upf);
	match = test_node_make("upf_match", &upf);
	match->worker.now_ns = 7 * AP_NS_PER_S;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	if (upf_by_handle(u.tables, HANDLE))
		assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	test_node_balance(match);
	test_node_free(match);
	test_node_balance(flow);
	test_node_free(flow);
	upf_flows_destroy(w.flows);
	upf_scans_destroy(w.scans);
	test_unit_close(&u);
	assert_pool_full(pool);
	return 0;
}

static struct rte_mbuf *
packet(uint8_t rx, uint32_t teid, uint8_t interface, uint32_t src, uint32_t dst, int qfi)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct net_frame f = {.at = 0};
	uint8_t from[4], to[4];

	be32_put(from, src);
	be32_put(to, dst);
	net_ip(&f, false, from, to, 17, 80);
	memset(f.b + f.at, 0, 80);
	memcpy(rte_pktmbuf_append(m, 100), f.b, 100);
	*upf_arrival(m) = (struct upf_arrival){.teid = teid,
					       .qfi = qfi < 0 ? 0 : (uint8_t)qfi & 0x3F,
					       .rx = rx | (qfi < 0 ? 0 : UPF_RX_QFI),
					       .interface = interface};
	return m;
}

static struct rte_mbuf *
up(uint32_t teid, uint32_t src)
{
	return packet(UPF_RX_TUNNEL, teid, TEST_ACCESS_INTERFACE, src, 0x08080808, 9);
}

static struct rte_mbuf *
down(uint32_t dst)
{
	return packet(0, 0, TEST_CORE_INTERFACE, 0x08080808, dst, -1);
}

static void
forget_counts(struct test_node *t)
{
	memset(t->n.drops, 0, sizeof(t->n.drops));
	t->n.in = t->n.made = 0;
	memset(t->n.out, 0, sizeof(t->n.out));
}

/* One packet. @return its lane; -1: for upf_local; -2 - drop reason, here or at upf_flow */
static int
one(struct rte_mbuf *m)
{
	struct rte_mbuf **out;
	int lane;

	forget_counts(match);
	forget_counts(flow);
	test_node_visit(match, &m, 1);
	test_node_balance(match);
	test_node_visit(flow, (struct rte_mbuf **)match->edges[UPF_MATCH_FLOW]->objs,
			match->edges[UPF_MATCH_FLOW]->idx);
	match->edges[UPF_MATCH_FLOW]->idx = 0;
	if (test_node_take(match, UPF_MATCH_POLICE, &out) == 1 ||
	    test_node_take(flow, UPF_FLOW_POLICE, &out) == 1) {
		assert_ptr_equal(upf_matched_session(out[0]), upf_by_handle(u.tables, HANDLE));
		lane = upf_matched_lane(out[0]);
		rte_pktmbuf_free(out[0]);
		return lane;
	}
	if (test_node_take(match, UPF_MATCH_LOCAL, &out) == 1) {
		rte_pktmbuf_free(out[0]);
		return -1;
	}
	for (int i = 0; i < match->n.type->nb_drops; i++)
		if (match->n.drops[i] + (i < flow->n.type->nb_drops ? flow->n.drops[i] : 0) != 0)
			return -2 - i;
	fail_msg("the packet is nowhere");
	return 0;
}

static int
dropped(const char *reason)
{
	for (int i = 0; i < match->n.type->nb_drops; i++)
		if (strcmp(match->n.type->drops[i], reason) == 0)
			return -2 - i;
	fail_msg("no drop %s", reason);
	return 0;
}

static void
plain_session_both_ways(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(up(HANDLE, UE)), 0);
	assert_int_equal(one(down(UE)), 1);
	/* The handle that steering found. */
	assert_int_equal(one(packet(0, HANDLE, TEST_CORE_INTERFACE, 1, UE, -1)), 1);
}

static void
unknown_ones_go_to_local(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(up(HANDLE + 1, UE)), -1);     /* another generation */
	assert_int_equal(one(up(HANDLE + 0x100, UE)), -1); /* a slot never used */
	assert_int_equal(one(up(0, UE)), -1);
	assert_int_equal(one(down(UE + 1)), -1);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
	assert_int_equal(one(up(HANDLE, UE)), -1);
	assert_int_equal(one(down(UE)), -1);
	/* A handle of steering's that went meanwhile. */
	assert_int_equal(one(packet(0, HANDLE, TEST_CORE_INTERFACE, 1, UE, -1)), -1);
}

static void
spoofed_sources_are_dropped(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(up(HANDLE, UE + 1)), dropped("spoofed"));
	assert_int_equal(one(up(HANDLE, 0)), dropped("spoofed"));
	/* Where the PDR asks for no source all may pass. */
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.version = 2;
	msg.m.pdrs[0]->match_ue_source = false;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(up(HANDLE, UE + 1)), 0);
}

static void
uplink_qfi_is_verified(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.pdrs[0]->qfis = 1 << 5;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, HANDLE, TEST_ACCESS_INTERFACE, UE, 1, 5)), 0);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, HANDLE, TEST_ACCESS_INTERFACE, UE, 1, 6)),
			 dropped("wrong_qfi"));
	assert_int_equal(one(packet(UPF_RX_TUNNEL, HANDLE, TEST_ACCESS_INTERFACE, UE, 1, -1)),
			 dropped("wrong_qfi"));
}

static void
other_interfaces_have_no_pdr(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, HANDLE, TEST_OTHER_CORE_INTERFACE, UE, 1, 9)),
			 dropped("no_pdr"));
	assert_int_equal(one(packet(0, 0, TEST_OTHER_CORE_INTERFACE, 1, UE, -1)), -1);
}

static void
filters_decide_between_lanes(void **state)
{
	Airpath__Upf__V1__Filter *f;
	Airpath__Upf__V1__Pdr *pdr;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	pdr = test_pdr(&msg, 3, 10, UPF_ACCESS, 1, 1);
	pdr->match_ue_source = pdr->match_ip4 = true;
	f = test_filter(&msg, pdr);
	f->protocol = 17;
	f->destination = test_prefix(&msg, test_ip4(&msg, 0x09090900), 24);
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(
		one(packet(UPF_RX_TUNNEL, HANDLE, TEST_ACCESS_INTERFACE, UE, 0x09090901, 9)), 0);
	assert_int_equal(
		one(packet(UPF_RX_TUNNEL, HANDLE, TEST_ACCESS_INTERFACE, UE, 0x08090901, 9)), 1);
	assert_int_equal(one(down(UE)), 2);
	/* Those that had a choice took it by their flow, the others did without. */
	assert_int_equal(w.flows->stats.live, 2);
}

static void
further_and_foreign_tunnels(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	test_pdr(&msg, 3, 200, UPF_CORE, test_tunnel(&msg, OTHER), 2);
	test_pdr(&msg, 4, 201, UPF_CORE, test_tunnel(&msg, FOREIGN), 2);
	msg.m.tunnels[2]->foreign = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, OTHER, TEST_CORE_INTERFACE, 1, UE, 9)), 2);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, FOREIGN, TEST_CORE_INTERFACE, 1, UE, 9)), 3);
	assert_int_equal(one(packet(UPF_RX_TUNNEL, FOREIGN + 1, TEST_CORE_INTERFACE, 1, UE, 9)),
			 -1);
}

static void
end_markers_find_their_tunnel(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	test_pdr(&msg, 3, 200, UPF_CORE, test_tunnel(&msg, OTHER), 2);
	assert_int_equal(test_set(&u, &msg.m), 0);
	m = packet(UPF_RX_TUNNEL | UPF_RX_END_MARKER, OTHER, TEST_CORE_INTERFACE, 1, 1, -1);
	rte_pktmbuf_adj(m, 100);
	assert_int_equal(one(m), 2);
	m = packet(UPF_RX_TUNNEL | UPF_RX_END_MARKER, HANDLE, TEST_ACCESS_INTERFACE, 1, 1, -1);
	rte_pktmbuf_adj(m, 100);
	assert_int_equal(one(m), dropped("no_tunnel"));
	m = packet(UPF_RX_TUNNEL | UPF_RX_END_MARKER, HANDLE + 1, TEST_ACCESS_INTERFACE, 1, 1, -1);
	rte_pktmbuf_adj(m, 100);
	assert_int_equal(one(m), -1);
}

static void
what_is_no_ip_packet_is_malformed(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (uint16_t n = 0; n < 20; n++) {
		m = up(HANDLE, UE);
		rte_pktmbuf_trim(m, 100 - n);
		assert_int_equal(one(m), dropped("malformed"));
		m = down(UE);
		rte_pktmbuf_trim(m, 100 - n);
		assert_int_equal(one(m), dropped("malformed"));
	}
}

static void
activity_is_noted(void **state)
{
	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.inactivity_s = 5;
	assert_int_equal(test_set(&u, &msg.m), 0);
	assert_int_equal(one(up(HANDLE, UE)), 0);
	assert_int_equal(upf_by_handle(u.tables, HANDLE)->active_s, 7);
}

/* A vector larger than a pass: order stays, each goes its way, the books balance. */
static void
long_vectors(void **state)
{
	struct rte_mbuf *m[300], **out;
	uint16_t n, at = 0;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (unsigned i = 0; i < 300; i++) {
		m[i] = i % 3 == 0   ? up(HANDLE, UE)
		       : i % 3 == 1 ? down(UE)
				    : up(HANDLE, UE + i % 2 + (i % 5 == 0 ? 1 : 0));
		rte_pktmbuf_mtod(m[i], uint8_t *)[99] = (uint8_t)i;
	}
	test_node_visit(match, m, 300);
	n = test_node_take(match, UPF_MATCH_POLICE, &out);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t mark = rte_pktmbuf_mtod(out[i], uint8_t *)[99];

		if (i > 0)
			assert_in_range((uint8_t)(mark - at), 1, 3);
		at = mark;
	}
	rte_pktmbuf_free_bulk(out, n);
	assert_int_equal(n + match->n.drops[1], 300);
}

/* Whatever upf_in may hand over, and what it would not: each packet ends somewhere, once. */
static void
random_packets_all_end_somewhere(void **state)
{
	uint64_t x = 4711, matched = 0, local = 0;
	struct rte_mbuf *m[64], **out;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	test_pdr(&msg, 3, 10, UPF_CORE, test_tunnel(&msg, OTHER), 2);
	test_filter(&msg, msg.m.pdrs[2])->protocol = 17;
	test_pdr(&msg, 4, 201, UPF_CORE, test_tunnel(&msg, FOREIGN), 2);
	msg.m.tunnels[2]->foreign = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	for (unsigned round = 0; round < 2000; round++) {
		for (unsigned i = 0; i < 64; i++) {
			static const uint32_t teids[] = {HANDLE, OTHER, FOREIGN, HANDLE + 1, 0};
			uint8_t *p;

			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			m[i] = packet((uint8_t)((x >> 58) << 2) | (x >> 59 & 1 ? UPF_RX_TUNNEL : 0),
				      teids[(x >> 40) % 5], 1 + (x >> 36) % 3, x >> 35 & 1 ? UE : 1,
				      x >> 34 & 1 ? UE : 2, (int)(x >> 50 & 0x3F));
			p = rte_pktmbuf_mtod(m[i], uint8_t *);
			for (unsigned k = 0; k < (x >> 33 & 1 ? 6 : 0); k++)
				p[(x >> 3 * k) % 60] = (uint8_t)(x >> (8 + 5 * k));
			rte_pktmbuf_trim(m[i], (x >> 32 & 3) == 0 ? (x >> 20) % 101 : 0);
		}
		test_node_visit(match, m, 64);
		for (unsigned e = UPF_MATCH_POLICE; e <= UPF_MATCH_LOCAL; e++) {
			uint16_t n = test_node_take(match, e, &out);

			*(e == UPF_MATCH_POLICE ? &matched : &local) += n;
			for (uint16_t i = 0; e == UPF_MATCH_POLICE && i < n; i++)
				assert_in_range(upf_matched_lane(out[i]), 0, 3);
			rte_pktmbuf_free_bulk(out, n);
		}
	}
	test_node_balance(match);
	assert_true(matched > 1000 && local > 1000);
	for (unsigned i = 0; i < match->n.type->nb_drops; i++)
		if (match->n.drops[i] == 0 && strcmp(match->n.type->drops[i], "wrong_qfi") != 0 &&
		    strcmp(match->n.type->drops[i], "macs") != 0 &&
		    strcmp(match->n.type->drops[i], "no_mbuf") != 0)
			fail_msg("nothing was dropped as %s", match->n.type->drops[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(plain_session_both_ways),
		TEST(unknown_ones_go_to_local),
		TEST(spoofed_sources_are_dropped),
		TEST(uplink_qfi_is_verified),
		TEST(other_interfaces_have_no_pdr),
		TEST(filters_decide_between_lanes),
		TEST(further_and_foreign_tunnels),
		TEST(end_markers_find_their_tunnel),
		TEST(what_is_no_ip_packet_is_malformed),
		TEST(activity_is_noted),
		TEST(long_vectors),
		TEST(random_packets_all_end_somewhere),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("match", 511, 512);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
