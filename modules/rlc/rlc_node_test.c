/* SPDX-License-Identifier: BSD-3-Clause */
/* The RLC nodes: runs of bearers, edges, drops, the shared timer, and the books. */
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_test.h"
#include "modules/rlc/rlc_tx.h"
#include "test_node.h"

#define BEARERS 3
#define MS AP_NS_PER_MS

static struct l2 l2;

/** Bearers 0 and 1 have UM entities, 2 has none; queues of 4; t-Reassembly 10 and 20 ms. */
static void
make_l2(void)
{
	l2 = (struct l2){.nb_bearers = BEARERS, .pools = pools};
	l2.rlc_tx = aligned_alloc(RTE_CACHE_LINE_SIZE, BEARERS * sizeof(*l2.rlc_tx));
	l2.rlc_rx = aligned_alloc(RTE_CACHE_LINE_SIZE, BEARERS * sizeof(*l2.rlc_rx));
	memset(l2.rlc_tx, 0, BEARERS * sizeof(*l2.rlc_tx));
	memset(l2.rlc_rx, 0, BEARERS * sizeof(*l2.rlc_rx));
	for (uint32_t i = 0; i < 2; i++) {
		const struct rlc_tx_cfg tx = {.mode = RLC_UM,
					      .sn_FieldLength = RLC_SN_6,
					      .queue_sdus = 4,
					      .bearer = i,
					      .lcid = (uint8_t)(4 + i),
					      .pools = &l2.pools};
		const struct rlc_rx_cfg rx = {.mode = RLC_UM,
					      .sn_FieldLength = RLC_SN_6,
					      .t_Reassembly_ms = 10 * (i + 1),
					      .bearer = i};

		assert_int_equal(rlc_tx_init(&l2.rlc_tx[i], &tx), 0);
		assert_int_equal(rlc_rx_init(&l2.rlc_rx[i], &rx), 0);
	}
}

static void
free_l2(void)
{
	for (uint32_t i = 0; i < BEARERS; i++) {
		rlc_tx_fini(&l2.rlc_tx[i]);
		rlc_rx_fini(&l2.rlc_rx[i]);
	}
	free(l2.rlc_tx);
	free(l2.rlc_rx);
	assert_no_leak();
}

static struct rte_mbuf *
pdu(uint32_t bearer, const char *bytes, uint16_t len)
{
	struct rte_mbuf *m = packet(bytes, len);

	ap_meta(m)->bearer = bearer;
	return m;
}

/** Edge 0 has packets whose first byte spells `bytes`; they are freed. */
static void
expect(struct test_node *t, const char *bytes)
{
	struct rte_mbuf **p;
	uint16_t n = test_node_take(t, 0, &p);

	assert_int_equal(n, strlen(bytes));
	for (uint16_t i = 0; i < n; i++)
		assert_int_equal(*rte_pktmbuf_mtod(p[i], char *), bytes[i]);
	rte_pktmbuf_free_bulk(p, n);
	test_node_balance(t);
}

static void
tx_queues_by_bearer(void **state)
{
	static const uint32_t bearers[] = {0, 0, 1, 0, 0, 0, 2, 1, BEARERS, 1};
	struct test_node *t;
	struct rte_mbuf *p[10];

	(void)state;
	make_l2();
	t = test_node_make("rlc_tx", &l2);
	for (int i = 0; i < 10; i++)
		p[i] = pdu(bearers[i], "x", 1);
	test_node_visit(t, p, 10);
	test_node_balance(t);
	assert_int_equal(t->n.used, 7);
	assert_int_equal(t->n.drops[RLC_TX_QUEUE_FULL], 1);
	assert_int_equal(t->n.drops[RLC_TX_NO_BEARER], 2);
	assert_int_equal(rlc_tx_held(&l2.rlc_tx[0]), 4);
	assert_int_equal(rlc_tx_held(&l2.rlc_tx[1]), 3);
	test_node_free(t);
	free_l2();
}

static void
rx_keeps_order_over_runs(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[9];

	(void)state;
	make_l2();
	t = test_node_make("rlc_rx", &l2);
	p[0] = pdu(0, "\0a", 2);
	p[1] = pdu(0, "\x40s", 2); /* first segment, kept */
	p[2] = pdu(1, "\0b", 2);
	p[3] = pdu(2, "\0?", 2);
	p[4] = pdu(0, "\x80\0\1t", 4); /* last segment */
	p[5] = pdu(BEARERS, "\0?", 2);
	p[6] = pdu(1, "\0", 1);
	p[7] = pdu(1, "\0c", 2);
	p[8] = pdu(1, "\xc0\0\0x", 4);
	test_node_visit(t, p, 9);
	expect(t, "absc");
	assert_int_equal(t->n.used, 2);
	assert_int_equal(t->n.made, 1);
	assert_int_equal(t->n.drops[RLC_RX_NO_BEARER], 2);
	assert_int_equal(t->n.drops[RLC_RX_SDU_EMPTY], 1);
	assert_int_equal(t->n.drops[RLC_RX_SI_SO], 1);
	/* All complete: the stream moves whole. */
	for (int i = 0; i < 9; i++)
		p[i] = pdu(i / 5, "\0d", 2);
	test_node_visit(t, p, 9);
	expect(t, "ddddddddd");
	test_node_free(t);
	free_l2();
}

static void
rx_one_timer_serves_all_bearers(void **state)
{
	struct test_node *t;
	struct rte_mbuf *p[2];

	(void)state;
	make_l2();
	t = test_node_make("rlc_rx", &l2);
	test_node_clock(t, 1 * MS);
	p[0] = pdu(1, "\xc0\0\1x", 4); /* due at 21 ms */
	p[1] = pdu(0, "\xc0\0\1x", 4); /* due at 11 ms */
	test_node_visit(t, p, 2);
	expect(t, "");
	assert_int_equal(t->n.type->held(&t->n), 2);
	test_node_clock(t, 11 * MS + 10000);
	test_node_balance(t);
	assert_int_equal(t->n.drops[RLC_RX_T_REASSEMBLY], 1);
	assert_true(ap_timer_armed(&t->n.timer));
	p[0] = pdu(0, "\xc1\0\1x", 4); /* due at 30 ms, after the other bearer */
	test_node_clock(t, 20 * MS);
	test_node_visit(t, p, 1);
	test_node_clock(t, 21 * MS + 10000);
	assert_int_equal(t->n.drops[RLC_RX_T_REASSEMBLY], 2);
	test_node_clock(t, 30 * MS + 20000);
	assert_int_equal(t->n.drops[RLC_RX_T_REASSEMBLY], 3);
	assert_false(ap_timer_armed(&t->n.timer));
	assert_int_equal(t->n.type->held(&t->n), 0);
	test_node_balance(t);
	test_node_free(t);
	free_l2();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tx_queues_by_bearer),
		cmocka_unit_test(rx_keeps_order_over_runs),
		cmocka_unit_test(rx_one_timer_serves_all_bearers),
	};

	return cmocka_run_group_tests_name("rlc_node", tests, rlc_test_setup, NULL);
}
