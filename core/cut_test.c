/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rte_ring.h>

#include "core/plan.h"
#include "test_eal.h"
#include "test_node.h"

#define SLOTS 16

static struct rte_mempool *pool;

static struct ap_node from_node;
static uint64_t told; /* packets that the node before the cut was told are lost */

static void
lost(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	assert_ptr_equal(n, &from_node);
	for (uint16_t i = 0; i < nb; i++)
		assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1); /* not freed yet */
	told += nb;
}

static struct ap_cut
cut_make(void)
{
	static const struct ap_node_type type = {.name = "from", .lost = lost};
	static struct ap_plan_node from = {.type = &type, .inst = &from_node};
	struct ap_cut c = {.from = &from, .size = SLOTS};

	c.ring = rte_ring_create("cut", SLOTS, SOCKET_ID_ANY,
				 RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	assert_non_null(c.ring);
	return c;
}

static void
send(struct test_node *out, uint16_t nb)
{
	struct rte_mbuf *pkts[64];

	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, pkts, nb), 0);
	test_node_visit(out, pkts, nb);
	test_node_balance(out);
}

static void
test_full_ring_is_a_named_drop(void **state)
{
	struct test_node *out = test_node_make("ring_out", NULL);
	struct ap_cut c = cut_make();
	struct rte_mbuf *m;

	(void)state;
	out->n.arg = &c;
	send(out, SLOTS + 5);
	assert_string_equal(out->n.type->drops[0], "full");
	assert_int_equal(out->n.drops[0], 5);
	assert_int_equal(out->n.used, SLOTS);
	assert_int_equal(told, 5);
	while (rte_ring_sc_dequeue(c.ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	assert_pool_full(pool);
	rte_ring_free(c.ring);
	test_node_free(out);
}

static void
test_order_survives_the_cut(void **state)
{
	struct test_node *out = test_node_make("ring_out", NULL);
	struct test_node *in = test_node_make("ring_in", NULL);
	struct ap_cut c = cut_make();
	struct rte_mbuf *sent[SLOTS], **got;

	(void)state;
	out->n.arg = in->n.arg = &c;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, sent, SLOTS), 0);
	test_node_visit(out, sent, SLOTS);
	test_node_visit(in, NULL, 0);
	assert_int_equal(test_node_take(in, 0, &got), SLOTS);
	assert_memory_equal(got, sent, sizeof(sent));
	assert_int_equal(in->worker.work, SLOTS);
	test_node_balance(in);
	rte_pktmbuf_free_bulk(sent, SLOTS);
	rte_ring_free(c.ring);
	test_node_free(out);
	test_node_free(in);
}

/** A source may only take what the ring behind it holds, if each becomes `amp` packets. */
static void
test_credit(void **state)
{
	struct test_node *in = test_node_make("ring_in", NULL);
	struct ap_cut from = cut_make();
	struct rte_ring *behind = rte_ring_create("behind", SLOTS, SOCKET_ID_ANY,
						  RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	struct rte_mbuf *m, **got;
	uint16_t amp = 4;

	(void)state;
	in->n.arg = &from;
	in->n.rings = &behind;
	in->n.ring_amp = &amp;
	in->n.nb_rings = 1;
	assert_int_equal(ap_node_credit(&in->n, 100), SLOTS / 4);
	for (unsigned i = 0; i < SLOTS; i++) {
		m = rte_pktmbuf_alloc(pool);
		rte_ring_sp_enqueue(from.ring, m);
	}
	test_node_visit(in, NULL, 0);
	assert_int_equal(test_node_take(in, 0, &got), SLOTS / 4);
	rte_pktmbuf_free_bulk(got, SLOTS / 4);
	for (unsigned i = 0; i < SLOTS - 3; i++)
		rte_ring_sp_enqueue(behind, in);
	test_node_visit(in, NULL, 0); /* 3 free slots: not one packet fits */
	assert_int_equal(test_node_take(in, 0, &got), 0);
	while (rte_ring_sc_dequeue(from.ring, (void **)&m) == 0)
		rte_pktmbuf_free(m);
	assert_pool_full(pool);
	rte_ring_free(from.ring);
	rte_ring_free(behind);
	test_node_free(in);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_ring_is_a_named_drop),
		cmocka_unit_test(test_order_survives_the_cut),
		cmocka_unit_test(test_credit),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("cut", 255, 64);
	return pool ? cmocka_run_group_tests_name("cut", tests, NULL, NULL) : 1;
}
