/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving PDCP entity from RCVD_COUNT on, TS 38.323 §5.2.2: reordering, delivery, losses. */
#include "modules/pdcp/pdcp_rx_rig.h"

static void
whole_vectors_in_order(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *p[64];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 4096 - 32);
	for (uint32_t i = 0; i < 64; i++)
		p[i] = pdu(&e, 4096 - 32 + i);
	assert_int_equal(pdcp_rx_in_order(&e, p, 64), 64);
	assert_int_equal(e.RX_DELIV, 4096 + 32);
	assert_int_equal(e.RX_NEXT, 4096 + 32);
	deliver(NULL, p, 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(out[i], 4096 - 32 + i);

	for (uint32_t i = 0; i < 4; i++)
		p[i] = pdu(&e, 4128 + i + (i > 1));
	assert_int_equal(pdcp_rx_in_order(&e, p, 4), 2);
	nb_out = 0;
	deliver(NULL, p, 2);
	expect(2, 4128, 4129);
	pdcp_rx_receive(&e, p + 2, 2, 0, &sink);
	expect(0);
	assert_int_equal(e.held, 2);
	p[0] = pdu(&e, 4133);
	assert_int_equal(pdcp_rx_in_order(&e, p, 1), 0);
	rte_pktmbuf_free(p[0]);
	stop(&e);
}

static void
reordered_and_filled(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 10 * MS, 1);
	receive(&e, 11 * MS, 3);
	expect(0);
	assert_true(e.running);
	assert_int_equal(e.RX_REORD, 2);
	assert_int_equal(e.deadline_ns, 60 * MS);
	receive(&e, 12 * MS, 0);
	expect(2, 0, 1);
	/* RX_DELIV reached RX_REORD: stopped, and started again for the hole at 2. */
	assert_int_equal(e.RX_DELIV, 2);
	assert_int_equal(e.RX_REORD, 4);
	assert_int_equal(e.deadline_ns, 62 * MS);
	receive(&e, 13 * MS, 2);
	expect(2, 2, 3);
	assert_false(e.running);
	assert_true(e.deadline_ns == PDCP_NO_DEADLINE);
	assert_int_equal(e.held, 0);
	stop(&e);
}

static void
t_reordering_gives_up_a_loss(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 1);
	receive(&e, 10 * MS, 2);
	receive(&e, 10 * MS, 5);
	receive(&e, 10 * MS, 7);
	pdcp_rx_expire(&e, 50 * MS - 1, &sink);
	expect(0);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	/* RX_REORD was 2: what is below it, and what follows it without a hole. */
	expect(2, 1, 2);
	assert_int_equal(e.RX_DELIV, 3);
	assert_int_equal(e.RX_REORD, 8);
	assert_int_equal(e.deadline_ns, 100 * MS);
	receive(&e, 60 * MS, 0);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	receive(&e, 60 * MS, 8);
	pdcp_rx_expire(&e, 100 * MS, &sink);
	expect(3, 5, 7, 8);
	assert_int_equal(e.RX_DELIV, 9);
	assert_false(e.running);
	stop(&e);
}

static void
t_reordering_zero_and_infinity(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 0);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 5, 2);
	expect(1, 2);
	assert_int_equal(e.RX_DELIV, 3);
	assert_false(e.running);
	receive(&e, 5, 0);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);

	cfg.t_Reordering = PDCP_T_REORDERING_INFINITY;
	start(&e, &cfg, 0);
	receive(&e, 5, 2);
	assert_true(e.running);
	pdcp_rx_expire(&e, UINT64_MAX - 1, &sink);
	expect(0);
	receive(&e, 5, 0);
	receive(&e, 5, 1);
	expect(3, 0, 1, 2);
	stop(&e);
}

static void
duplicates_are_named(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 0);
	receive(&e, 0, 2);
	receive(&e, 0, 2);
	receive(&e, 0, 0);
	assert_int_equal(drops[PDCP_RX_DUPLICATE], 1);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	assert_int_equal(e.held, 1);
	stop(&e);
}

static void
out_of_order_delivery(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.outOfOrderDelivery = true;
	start(&e, &cfg, 0);
	receive(&e, 0, 0);
	receive(&e, 0, 3);
	receive(&e, 0, 1);
	expect(3, 0, 3, 1);
	assert_int_equal(e.held, 0);
	assert_int_equal(e.RX_DELIV, 2);
	receive(&e, 0, 3);
	assert_int_equal(drops[PDCP_RX_DUPLICATE], 1);
	receive(&e, 0, 2);
	receive(&e, 0, 4);
	expect(2, 2, 4);
	assert_int_equal(e.RX_DELIV, 5);
	receive(&e, 0, 6);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	expect(1, 6);
	assert_int_equal(e.RX_DELIV, 7);
	/* A whole turn of the table later nothing is left of the marks. */
	for (uint32_t c = 7; c < 7 + 2 * 2048; c++)
		receive(&e, 0, c);
	assert_int_equal(nb_out, 2 * 2048);
	stop(&e);
}

static void
small_table_is_named(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.reorder_slots = 8;
	start(&e, &cfg, 100);
	receive(&e, 0, 107);
	receive(&e, 0, 108);
	assert_int_equal(drops[PDCP_RX_REORDER_FULL], 1);
	for (uint32_t c = 100; c < 107; c++)
		receive(&e, 0, c);
	expect(8, 100, 101, 102, 103, 104, 105, 106, 107);
	receive(&e, 0, 108);
	expect(1, 108);
	/* A jump far beyond the table does not stall the bearer. */
	receive(&e, 0, 1000);
	receive(&e, 0, 111);
	assert_int_equal(drops[PDCP_RX_REORDER_FULL], 2);
	pdcp_rx_expire(&e, 50 * MS, &sink);
	expect(1, 111);
	receive(&e, 50 * MS, 1001);
	expect(1, 1001);
	assert_false(e.running);
	stop(&e);
}

static void
refuse_third(struct pdcp_secured *pdus, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		pdus[i].failed = pdus[i].count == 2;
}

/** State moves only after integrity verification: a forged SN changes nothing. */
static void
failed_integrity_moves_nothing(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = refuse_third};
	static struct pdcp_batch b;
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct rte_mbuf *m = pdu(&e, i);
		uint32_t count;

		assert_int_equal(pdcp_rx_in_order(&e, &m, 1), 0);
		assert_true(pdcp_rx_pre_process(&e, m, &count, &sink));
		assert_int_equal(count, i);
		pdcp_batch_add(&b, m, &e, &e.sec, count);
	}
	assert_int_equal(e.RX_NEXT, 0);
	pdcp_rx_verify(&b, 0, &sink);
	expect(2, 0, 1);
	assert_int_equal(drops[PDCP_RX_INTEGRITY], 1);
	assert_int_equal(e.RX_NEXT, 2);
	assert_int_equal(b.nb, 0);
	stop(&e);
}

/** A while without buffers costs its SDUs, not the order or the HFN of what follows. */
static void
no_buffer_moves_the_window(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = starve};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	start(&e, &cfg, 0);
	receive_secured(&e, 0);
	expect(1, 0);
	starved = true;
	for (uint32_t i = 1; i <= 3 * 4096; i++)
		receive_secured(&e, i % 4096);
	starved = false;
	assert_int_equal(drops[PDCP_RX_NO_MBUF], 3 * 4096);
	assert_false(e.running);
	receive_secured(&e, 2);
	starved = true;
	receive_secured(&e, 1);
	starved = false;
	expect(1, 2);
	assert_int_equal(e.RX_DELIV, 3 * 4096 + 3);
	stop(&e);
}

static void
impossible_configurations(void **state)
{
	struct pdcp_rx_cfg cfg;
	struct pdcp_rx e;

	(void)state;
	cfg = config(13, 50);
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(12, 3001);
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(12, 50);
	cfg.reorder_slots = 4096;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg.reorder_slots = 100;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
	cfg = config(18, 50);
	cfg.srb = true;
	assert_int_equal(pdcp_rx_init(&e, &cfg), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_vectors_in_order),
		cmocka_unit_test(reordered_and_filled),
		cmocka_unit_test(t_reordering_gives_up_a_loss),
		cmocka_unit_test(t_reordering_zero_and_infinity),
		cmocka_unit_test(duplicates_are_named),
		cmocka_unit_test(out_of_order_delivery),
		cmocka_unit_test(small_table_is_named),
		cmocka_unit_test(failed_integrity_moves_nothing),
		cmocka_unit_test(no_buffer_moves_the_window),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
