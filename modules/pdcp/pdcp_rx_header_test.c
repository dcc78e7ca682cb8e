/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving PDCP entity, headers: RCVD_COUNT of a PDU (TS 38.323 §5.2.2.1), and what is no data. */
#include "modules/pdcp/pdcp_rx_rig.h"

/** An SN beyond the window at HFN 0 belongs to no COUNT, and never to HFN -1. */
static void
hfn_zero_has_no_past(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	receive(&e, 0, 2048);
	receive(&e, 0, 4095);
	assert_int_equal(drops[PDCP_RX_OUT_OF_WINDOW], 2);
	assert_int_equal(e.RX_NEXT, 0);
	receive(&e, 0, 2047);
	assert_int_equal(e.RX_NEXT, 2048);
	assert_int_equal(e.held, 1);
	stop(&e);
}

static void
hfn_follows_the_window(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	/* SN(RX_DELIV) = 4000: SNs below 4000 - 2048 are of the next HFN. */
	start(&e, &cfg, 3 * 4096 + 4000);
	receive(&e, 0, 4 * 4096 + 1951);
	assert_int_equal(e.RX_NEXT, 4 * 4096 + 1952);
	receive(&e, 0, 3 * 4096 + 1952);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);
	/* SN(RX_DELIV) = 10: SNs from 10 + 2048 on are of the previous HFN. */
	start(&e, &cfg, 3 * 4096 + 10);
	receive(&e, 0, 2 * 4096 + 2058);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	receive(&e, 0, 3 * 4096 + 2057);
	assert_int_equal(e.RX_NEXT, 3 * 4096 + 2058);
	stop(&e);
}

static void
count_never_wraps(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *p[3];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, PDCP_COUNT_END - 2);
	for (uint32_t i = 0; i < 3; i++)
		p[i] = pdu(&e, (uint32_t)-2 + i);
	pdcp_rx_receive(&e, p, 3, 0, &sink);
	expect(2, (uint32_t)-2, (uint32_t)-1);
	assert_int_equal(drops[PDCP_RX_OUT_OF_WINDOW], 1);
	assert_true(e.RX_DELIV == PDCP_COUNT_END);
	receive(&e, 0, (uint32_t)-1);
	assert_int_equal(drops[PDCP_RX_OLD], 1);
	stop(&e);
}

static void
control_pdus(void **state)
{
	static const uint8_t pdus[][6] = {
		{0x00, 0, 0, 0, 1, 0x80}, {0x10, 0xfc}, {0x20}, {0x70}, {0x00, 0, 0}, {0x8f, 0xff},
	};
	static const uint16_t len[] = {6, 2, 1, 1, 3, 2};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	for (unsigned i = 0; i < RTE_DIM(len); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(m, len[i]), pdus[i], len[i]);
		pdcp_rx_receive(&e, &m, 1, 0, &sink);
	}
	assert_int_equal(used, 1);
	assert_int_equal(e.status_reports, 1);
	assert_int_equal(drops[PDCP_RX_CONTROL_UNSUPPORTED], 2);
	assert_int_equal(drops[PDCP_RX_RESERVED], 1);
	assert_int_equal(drops[PDCP_RX_SHORT], 2);
	expect(0);
	stop(&e);
}

/** A reassembled SDU may have its header spread over segments. */
static void
header_across_segments(void **state)
{
	struct pdcp_rx_cfg cfg = config(18, 50);
	struct rte_mbuf *m[2];
	struct pdcp_rx e;

	(void)state;
	start(&e, &cfg, 0);
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *tail = pdu(&e, i), *head = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(head, 2), rte_pktmbuf_mtod(tail, void *), 2);
		rte_pktmbuf_adj(tail, 2);
		*ap_meta(head) = (struct ap_meta){.bearer = 5};
		rte_pktmbuf_chain(head, tail);
		m[i] = head;
	}
	pdcp_rx_receive(&e, m, 2, 0, &sink);
	expect(2, 0, 1);
	stop(&e);
}

static void
srb_loses_its_mac_i(void **state)
{
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct rte_mbuf *m;
	struct pdcp_rx e;

	(void)state;
	cfg.srb = true;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 2; i++) {
		m = pdu(&e, i);
		memset(rte_pktmbuf_append(m, 4), 0xee, 4); /* NIA0 does not look at it */
		pdcp_rx_receive(&e, &m, 1, 0, &sink);
	}
	expect(2, 0, 1);
	m = pdu(&e, 2);
	pdcp_rx_receive(&e, &m, 1, 0, &sink);
	assert_int_equal(drops[PDCP_RX_SHORT], 1);
	stop(&e);
}

/** A flow in order, ciphered: new keys are asked for there as well. */
static void
count_threshold_is_told_of_secured_pdus(void **state)
{
	static const struct pdcp_crypto crypto = {.verify = starve};
	struct pdcp_rx_cfg cfg = config(12, 50);
	struct pdcp_rx e;

	(void)state;
	cfg.crypto = &crypto;
	cfg.count_notify = 3;
	start(&e, &cfg, 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(pdcp_rx_wants_keys(&e), i > 3);
		receive_secured(&e, i);
		expect(1, i);
	}
	stop(&e);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hfn_zero_has_no_past),
		cmocka_unit_test(hfn_follows_the_window),
		cmocka_unit_test(count_never_wraps),
		cmocka_unit_test(count_threshold_is_told_of_secured_pdus),
		cmocka_unit_test(control_pdus),
		cmocka_unit_test(header_across_segments),
		cmocka_unit_test(srb_loses_its_mac_i),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
