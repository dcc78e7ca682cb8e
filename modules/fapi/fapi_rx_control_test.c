/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are not data: grants and slots, CRCs, CQIs, answers to downlink TBs. */
#include "modules/fapi/fapi_rx_rig.h"

static void
deliver_slot(uint16_t sfn, uint16_t slot, uint64_t now)
{
	const struct nfapi_p7 h = {.message_id = FAPI_SLOT_INDICATION};
	struct rte_mbuf *m;
	uint8_t p[4];

	fapi_slot_put(p, (struct fapi_slot){sfn, slot});
	m = frame(&h, p, sizeof(p));
	/* a wire pads it to 60 B */
	memset(rte_pktmbuf_append(m, 60 - RX_HDR - 4), 0, 60 - RX_HDR - 4);
	deliver(&m, 1, now);
}

static void
deliver_grant(uint16_t message_id, uint8_t carrier, uint16_t sfn, uint16_t slot, uint32_t bytes)
{
	const struct nfapi_p7 h = {.message_id = message_id, .phy_id = carrier};
	const struct fapi_grant g = {.rnti = 0x4601, .tb_bytes = bytes};
	uint8_t p[FAPI_UL_TTI_LEN(1)];
	struct rte_mbuf *m;
	int len = message_id == FAPI_UL_TTI_REQUEST
			  ? fapi_ul_tti_encode(p, sizeof(p), (struct fapi_slot){sfn, slot}, &g, 1)
			  : fapi_dl_tti_encode(p, sizeof(p), (struct fapi_slot){sfn, slot}, &g, 1);

	m = frame(&h, p, (uint16_t)len);
	deliver(&m, 1, 0);
}

static void
grants_reach_the_slot_box(void **state)
{
	struct slot_grant g;

	(void)state;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1023, 79, 195000);
	deliver_grant(FAPI_DL_TTI_REQUEST, 1, 1023, 79, 64000);
	assert_false(slot_box_get(&b.slots, &g));
	deliver_slot(1023, 79, 12345);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.enter_ns, 12345);
	assert_int_equal(g.sfn, 1023);
	assert_int_equal(g.slot, 79);
	assert_int_equal(g.rnti, 0x4601);
	assert_int_equal(g.tb_bytes[0], 195000);
	assert_int_equal(g.tb_bytes[1], 64000);
	/* the next slot is across the SFN's end, and without grants */
	deliver_slot(0, 0, 1);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	assert_int_equal(b.rx.slots_lost, 0);
	deliver_slot(0, 4, 2);
	assert_int_equal(b.rx.slots_lost, 3);
	assert_int_equal(b.rx.slots_in, 3);
	assert_int_equal(b.rx.grants_in, 2);
	assert_int_equal(b.rx.grants_lost, 0);
}

static void
grants_of_others_are_left(void **state)
{
	struct slot_grant g;

	(void)state;
	b.rx.rnti = 0x4602;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 1000);
	deliver_slot(1, 1, 0);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	assert_int_equal(b.rx.grants_other, 1);
	assert_int_equal(b.rx.grants_in, 0);
	assert_int_equal(b.rx.grants_lost, 0);
}

/** A slot's grants of many UEs and carriers come out by UE, and the box keeps slots apart. */
static void
grants_of_many_ues(void **state)
{
	const uint16_t slots[] = {3, 4};
	struct slot_grant g = {0};

	(void)state;
	b.rx.rnti = 0x4600;
	b.rx.nb_ues = 40;
	for (unsigned s = 0; s < 2; s++) {
		for (uint8_t carrier = 0; carrier < 2; carrier++) {
			struct fapi_grant many[41];
			uint8_t p[FAPI_UL_TTI_LEN(RTE_DIM(many))];
			const struct nfapi_p7 h = {.phy_id = carrier,
						   .message_id = FAPI_UL_TTI_REQUEST};
			struct rte_mbuf *m;

			for (uint16_t i = 0; i < RTE_DIM(many); i++)
				many[i] =
					(struct fapi_grant){.rnti = (uint16_t)(0x4600 + 40 - i),
							    .handle = i,
							    .tb_bytes = 1000U * (carrier + 1) + i};
			assert_int_equal(fapi_ul_tti_encode(p, sizeof(p),
							    (struct fapi_slot){1, slots[s]}, many,
							    RTE_DIM(many)),
					 sizeof(p));
			m = frame(&h, p, sizeof(p));
			deliver(&m, 1, 0);
		}
		deliver_slot(1, slots[s], 5);
	}
	assert_int_equal(b.rx.grants_other, 4); /* RNTI 0x4628 is nobody's */
	assert_int_equal(b.rx.grants_in, 160);
	assert_int_equal(b.rx.grants_lost, 0);
	assert_int_equal(slot_box_count(&b.slots), 80);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 40; i++) {
			assert_true(slot_box_get(&b.slots, &g));
			assert_int_equal(g.ue, 39 - i);
			assert_int_equal(g.rnti, 0x4600 + g.ue);
			assert_int_equal(g.slot, slots[s]);
			assert_int_equal(g.enter_ns, 5);
			assert_int_equal(g.more, 39 - i);
			assert_int_equal(g.tb_bytes[0], 1000 + 40 - g.ue);
			assert_int_equal(g.tb_bytes[1], 2000 + 40 - g.ue);
			assert_int_equal(g.tb[1].handle, 40 - g.ue);
		}
}

static void
grants_are_lost_with_a_count(void **state)
{
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	struct slot_grant g;
	struct rte_mbuf *m;
	uint8_t p[FAPI_ERROR_INDICATION_LEN];

	(void)state;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 1000);
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 2000); /* second for the carrier */
	assert_int_equal(b.rx.grants_lost, 1);
	deliver_slot(1, 2, 0); /* slot 1 was never indicated */
	assert_int_equal(b.rx.grants_lost, 2);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	deliver_slot(1, 80, 0); /* numerology 3 has 80 */
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
	for (unsigned i = 0; i < SLOT_BOX_SIZE + 1; i++)
		deliver_slot((uint16_t)(2 + i / 80), (uint16_t)(i % 80), 0);
	assert_int_equal(b.slots.missed, 1);
	fapi_error_put(p, &(struct fapi_error){{3, 4}, 0x84, 8});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	assert_int_equal(b.rx.errors_in, 1);
	assert_int_equal(b.rx.error.code, 8);
}

static struct mac_tb_box box;

/** A message of the PHY to a gNB, whose UEs are 0x4601 to 0x4603. */
static void
deliver_crcs(uint16_t carrier, struct fapi_slot at, const struct fapi_crc *c, unsigned nb)
{
	const struct nfapi_p7 h = {.phy_id = carrier, .message_id = FAPI_CRC_INDICATION};
	uint8_t p[FAPI_CRC_INDICATION_LEN(4)];
	struct rte_mbuf *m;
	int len = fapi_crc_indication_encode(p, sizeof(p), at, c, nb);

	assert_true(len > 0);
	m = frame(&h, p, (uint16_t)len);
	deliver(&m, 1, 0);
}

static void
crcs_reach_the_box(void **state)
{
	static const struct fapi_crc c[4] = {
		{.rnti = 0x4601, .harq_id = 3, .ul_cqi = 100},
		{.rnti = 0x4603, .harq_id = 9, .ul_cqi = 100, .failed = true},
		{.rnti = 0x4604, .ul_cqi = 100},
		{.rnti = 0x4602, .harq_id = 5, .ul_cqi = FAPI_CQI_INVALID, .failed = true},
	};
	static const struct mac_tb_news expected[] = {
		{1000, 0, 79, 1, 3, MAC_TB_DECODED},
		{1000, 2, 79, 1, 9, MAC_TB_FAILED},
		{1000, 1, 79, 1, 5, MAC_TB_NOT_SENT},
		{7, 0, 8, 0, 0, MAC_TB_REFUSED},
	};
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	uint8_t p[FAPI_ERROR_INDICATION_LEN];
	struct mac_tb_news n;
	struct rte_mbuf *m;

	(void)state;
	deliver_crcs(1, (struct fapi_slot){1000, 79}, c, 4); /* a UE has no use for it */
	assert_int_equal(b.drops[FAPI_RX_UNKNOWN_MESSAGE], 1);
	memset(&box, 0, sizeof(box));
	b.rx.box = &box;
	b.rx.rnti = 0x4601;
	b.rx.nb_ues = 3;
	deliver_crcs(1, (struct fapi_slot){1000, 79}, c, 4);
	assert_int_equal(b.rx.crcs_in, 4);
	assert_int_equal(b.rx.crcs_other, 1);
	fapi_error_put(p, &(struct fapi_error){{7, 8}, FAPI_UL_TTI_REQUEST, 3});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	fapi_error_put(p, &(struct fapi_error){{7, 8}, FAPI_DL_TTI_REQUEST, 3});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(mac_tb_box_get(&box, &n));
		assert_memory_equal(&n, &expected[i], sizeof(n));
	}
	assert_false(mac_tb_box_get(&box, &n));
	deliver_crcs(0, (struct fapi_slot){1, 80}, c, 1); /* numerology 3 has 80 */
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
	for (unsigned i = 0; i < MAC_TB_BOX / 4 + 1; i++)
		for (unsigned k = 0; k < 4; k++)
			deliver_crcs(0, (struct fapi_slot){1, 1}, c, 1);
	assert_int_equal(box.full, 4);
}

static void
cqis_reach_the_scheduler(void **state)
{
	static const struct fapi_cqi c[] = {{0, 0x4603, 7}, {0, 0x4604, 9}, {0, 0x4601, 0}};
	const struct nfapi_p7 h = {.message_id = FAPI_UCI_INDICATION};
	static struct mac_ul ul[3];
	uint8_t p[FAPI_UCI_INDICATION_LEN(3)];

	(void)state;
	assert_int_equal(fapi_uci_indication_encode(p, sizeof(p), (struct fapi_slot){1, 2}, c, 3),
			 sizeof(p));
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = frame(&h, p, sizeof(p));

		deliver(&m, 1, 0); /* a UE has no use for it */
		b.rx.ul = ul;
		b.rx.rnti = 0x4601;
		b.rx.nb_ues = 3;
	}
	assert_int_equal(b.drops[FAPI_RX_UNKNOWN_MESSAGE], 1);
	assert_int_equal(b.rx.cqis_in, 3);
	assert_int_equal(b.rx.cqis_other, 1);
	assert_int_equal(mac_ul_cqi(&ul[0]), 0);
	assert_int_equal(mac_ul_cqi(&ul[1]), MAC_CQI_MAX); /* said nothing */
	assert_int_equal(mac_ul_cqi(&ul[2]), 7);
}

/** An answer comes k1 slots behind its TB, here over the end of a frame and of the SFN. */
static void
answers_reach_the_box(void **state)
{
	static const struct fapi_harq a[] = {{0, 0x4603, FAPI_HARQ_ACK},
					     {0, 0x4604, FAPI_HARQ_ACK},
					     {0, 0x4601, FAPI_HARQ_NACK},
					     {0, 0x4602, FAPI_HARQ_DTX}};
	static const struct {
		uint16_t ue;
		enum mac_tb_verdict v;
	} expected[] = {
		{2, MAC_TB_DECODED}, {0, MAC_TB_FAILED}, {1, MAC_TB_DTX}, {0, MAC_TB_REFUSED}};
	const struct nfapi_p7 h = {.message_id = FAPI_UCI_INDICATION, .phy_id = 1};
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	uint8_t p[FAPI_UCI_HARQ_INDICATION_LEN(4)], e[FAPI_ERROR_INDICATION_LEN];
	static struct mac_ul ul[3];
	struct mac_tb_news n;
	struct rte_mbuf *m;

	(void)state;
	memset(&box, 0, sizeof(box));
	b.rx.box = &box;
	b.rx.ul = ul;
	b.rx.rnti = 0x4601;
	b.rx.nb_ues = 3;
	fapi_uci_harq_encode(p, sizeof(p), (struct fapi_slot){0, 3}, a, 4);
	for (unsigned i = 0; i < 2; i++) {
		m = frame(&h, p, sizeof(p));
		deliver(&m, 1, 0);
		fapi_error_put(e, &(struct fapi_error){{1023, 79}, FAPI_TX_DATA_REQUEST, 8});
		m = frame(&err, e, sizeof(e));
		deliver(&m, 1, 0);
		b.rx.k1 = 4; /* before, nobody asked for answers */
	}
	assert_int_equal(b.rx.answers_in, 4);
	assert_int_equal(b.rx.answers_other, 1);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(mac_tb_box_get(&box, &n));
		assert_true(n.downlink);
		assert_int_equal(n.sfn, 1023);
		assert_int_equal(n.slot, 79);
		assert_int_equal(n.carrier, i < 3);
		assert_int_equal(n.ue, expected[i].ue);
		assert_int_equal(n.verdict, expected[i].v);
	}
	assert_false(mac_tb_box_get(&box, &n));
	be16_put(p + 2, 80); /* numerology 3 has 80 slots */
	m = frame(&h, p, sizeof(p));
	deliver(&m, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_bench(grants_reach_the_slot_box), with_bench(grants_of_others_are_left),
		with_bench(grants_of_many_ues),        with_bench(grants_are_lost_with_a_count),
		with_bench(crcs_reach_the_box),        with_bench(cqis_reach_the_scheduler),
		with_bench(answers_reach_the_box),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
