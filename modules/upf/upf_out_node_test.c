/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_out as a node: packets of one flow leave in the order they came, whatever happens to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_path_test.h"

#define T0 (100 * AP_NS_PER_S)
#define MS AP_NS_PER_MS
#define N3_PORT 0
#define KEPT 80 /* packets of a session that wait: more than the buffer lets go at once */

static struct test_node *forward, *out;

static int
setup(void **state)
{
	path_setup(state);
	bed.upf.net->cfg.pool = bed.pkt;
	bed.cfg.buffer_packets = KEPT;
	bed.cfg.buffer_session_packets = KEPT;
	forward = path_node("upf_forward");
	out = path_node("upf_out");
	bed.w.charger->wheel = forward->worker.wheel;
	return 0;
}

static int
teardown(void **state)
{
	upf_buffer_gone(bed.w.buffer, &bed.s);
	test_node_balance(forward);
	test_node_balance(out);
	path_node_free(out);
	path_node_free(forward);
	return path_teardown(state);
}

static void
know_gnb(uint64_t now_ns)
{
	net_know(bed.upf.net, N3, false, gnb_4, net_peer_mac, now_ns);
}

/* What upf_forward made goes on to upf_out, as it would in one walk. */
static void
pass_on(void)
{
	struct rte_mbuf **m;
	uint16_t n = test_node_take(forward, UPF_FORWARD_OUT, &m);

	test_node_visit(out, m, n);
}

static void
send(uint8_t from, uint8_t to)
{
	for (; from < to; from++) {
		struct rte_mbuf *m = path_packet(1, false, 100, from);

		test_node_visit(forward, &m, 1);
		pass_on();
	}
}

static void
clock_to(uint64_t now_ns)
{
	test_node_clock(forward, now_ns);
	pass_on();
	test_node_clock(out, now_ns);
}

/* G-PDUs that left by N3, requests for link addresses apart: `n` of them, marked from `first`. */
static void
left(uint8_t first, uint16_t n)
{
	struct rte_mbuf **m;
	uint16_t all = test_node_take(out, N3_PORT, &m), found = 0;

	for (uint16_t i = 0; i < all; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(m[i], const uint8_t *);

		if (be16_get(p + 12) == ETH_TYPE_IP4) {
			assert_memory_equal(p, net_peer_mac, 6);
			assert_int_equal(p[m[i]->data_len - 1], (uint8_t)(first + found++));
		}
	}
	assert_int_equal(found, n);
	rte_pktmbuf_free_bulk(m, all);
}

/* A UE was paged behind a gNB nobody has sent to: all it waited for comes, and then the rest. */
static void
a_drain_waits_for_the_gnb(void **state)
{
	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	send(0, KEPT - 2);
	assert_int_equal(upf_buffer_held(bed.w.buffer), KEPT - 2);
	path_far(1, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	send(KEPT - 2, KEPT - 1); /* behind those in the buffer */
	clock_to(T0 + MS);
	left(0, 0);
	send(KEPT - 1, KEPT);
	clock_to(T0 + 2 * MS);
	assert_int_equal(upf_buffer_held(bed.w.buffer), 0);
	left(0, 0);
	assert_int_equal(out->n.type->held(&out->n), KEPT);
	know_gnb(T0 + 3 * MS);
	send(KEPT, KEPT + 5); /* before anyone looked after what waits */
	left(0, KEPT + 5);
	clock_to(T0 + 5 * MS);
	left(0, 0);
	assert_int_equal(out->n.type->held(&out->n), 0);
}

/* Nobody sends any more: the timer lets them go. */
static void
a_drain_needs_no_further_packet(void **state)
{
	(void)state;
	send(0, 5);
	left(0, 0);
	know_gnb(T0 + MS);
	clock_to(T0 + 3 * MS);
	left(0, 5);
}

/* A packet that takes the long way, as one by which a neighbour is probed, overtakes nobody. */
static void
the_long_way_keeps_the_order(void **state)
{
	struct rte_mbuf *m[8], **ready;
	uint16_t n;

	(void)state;
	know_gnb(T0);
	for (unsigned i = 0; i < RTE_DIM(m); i++)
		m[i] = path_packet(1, false, 100, (uint8_t)i);
	test_node_visit(forward, m, RTE_DIM(m));
	n = test_node_take(forward, UPF_FORWARD_OUT, &ready);
	assert_int_equal(n, RTE_DIM(m));
	rte_mbuf_refcnt_update(ready[3], 1); /* a buffer others read: its header goes before it */
	test_node_visit(out, ready, n);
	rte_mbuf_refcnt_update(m[3], -1);
	n = test_node_take(out, N3_PORT, &ready);
	assert_int_equal(n, RTE_DIM(m));
	for (uint16_t i = 0; i < n; i++) {
		const struct rte_mbuf *last = rte_pktmbuf_lastseg(ready[i]);

		assert_int_equal(ready[i]->nb_segs, i == 3 ? 2 : 1);
		assert_int_equal(
			*rte_pktmbuf_mtod_offset(last, const uint8_t *, last->data_len - 1), i);
	}
	rte_pktmbuf_free_bulk(ready, n);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_drain_waits_for_the_gnb),
		TEST(a_drain_needs_no_further_packet),
		TEST(the_long_way_keeps_the_order),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
