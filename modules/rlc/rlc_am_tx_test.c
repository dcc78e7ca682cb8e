/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity, TS 38.322 §5.2.3.1: PDUs, the window, polls. */
#include "modules/rlc/rlc_am_tx_rig.h"

static void
on_delivered(void *arg, const uint8_t *sdu, uint32_t bytes)
{
	(void)arg;
	assert_int_equal(*sdu, (uint8_t)told++);
	assert_true(bytes > 0);
}

static void
golden_headers(void **state)
{
	static const uint8_t first12[] = {0x80, 0x00, 'a', 'b', 'c'};
	static const uint8_t polled12[] = {0xc0, 0x01, 'a', 'b', 'c'};
	static const uint8_t polled18[] = {0xc0, 0x00, 0x00, 'a', 'b', 'c'};
	struct rte_mbuf *m[2];

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	m[0] = packet("abc", 3);
	m[1] = packet("abc", 3);
	assert_int_equal(rlc_tx_push(&tx, m, 2, 0, drops), 2);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 10);
	assert_int_equal(pull(100), 2);
	assert_packet(pdus[0], first12, 5);
	assert_packet(pdus[1], polled12, 5); /* nothing is left to send */
	discard(2);
	down();
	up(RLC_SN_18, (struct rlc_am_cfg){0});
	m[0] = packet("abc", 3);
	assert_int_equal(rlc_tx_push(&tx, m, 1, 0, drops), 1);
	assert_int_equal(pull(100), 1);
	assert_packet(pdus[0], polled18, 6);
	discard(1);
	down();
}

static void
poll_by_pdu_and_byte(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.pollPDU = 3});
	push(9, 10);
	assert_int_equal(pull(14 * 8), 8);
	for (unsigned i = 0; i < 8; i++)
		expect(i, &(struct rlc_amd){.sn = i, .p = i == 2 || i == 5}, i, 10);
	down();
	up(RLC_SN_12, (struct rlc_am_cfg){.pollByte = 25});
	push(9, 10);
	assert_int_equal(pull(14 * 8), 8);
	for (unsigned i = 0; i < 8; i++)
		expect(i, &(struct rlc_amd){.sn = i, .p = i == 2 || i == 5}, i, 10);
	assert_int_equal(tx.am->PDU_WITHOUT_POLL, 2);
	assert_int_equal(tx.am->BYTE_WITHOUT_POLL, 20);
	assert_int_equal(tx.am->POLL_SN, 5);
	down();
}

static void
segments_at_every_grant(void **state)
{
	(void)state;
	for (uint32_t grant = 3; grant < 60; grant++) {
		uint32_t so = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		push(1, 40);
		while (so < 40) {
			struct rlc_amd h = {.sn = 0, .so = (uint16_t)so};
			uint32_t header = so ? 4 : 2, n;

			if (rlc_mac_fitting(grant) <= header) {
				assert_int_equal(pull(grant), 0);
				break;
			}
			n = RTE_MIN(rlc_mac_fitting(grant) - header, 40 - so);
			h.si = so ? (so + n == 40 ? RLC_SI_LAST : RLC_SI_MIDDLE)
				  : (n == 40 ? RLC_SI_COMPLETE : RLC_SI_FIRST);
			h.p = so + n == 40;
			assert_int_equal(pull(grant), 1);
			expect(0, &h, 0, n);
			so += n;
		}
		down();
	}
}

static void
shared_and_chained_sdus(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 2};
	struct rte_mbuf *m[2], *direct;

	(void)state;
	up(RLC_SN_18, (struct rlc_am_cfg){0});
	direct = sdu_make(0, 40, 1);
	m[0] = rte_pktmbuf_clone(direct, pools.ind);
	*ap_meta(m[0]) = (struct ap_meta){0};
	m[1] = sdu_make(1, 40, 3);
	assert_int_equal(rlc_tx_push(&tx, m, 2, 0, drops), 2);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(pull(1000), 2);
		expect(0, &(struct rlc_amd){.sn = 0}, 0, 40);
		expect(1, &(struct rlc_amd){.sn = 1, .p = true}, 1, 40);
		status(2, &all, round == 0);
	}
	assert_int_equal(rlc_tx_held(&tx), 0);
	rte_pktmbuf_free(direct);
	down();
}

static void
full_window_stalls_and_polls(void **state)
{
	static const struct rlc_nack first = {.sn = 0, .range = 1};
	unsigned sent = 0, n;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(RLC_AM_WINDOW_12 + 3, 4);
	while ((n = pull(100)) > 0) {
		struct rlc_amd h;

		assert_true(rlc_amd_decode(rte_pktmbuf_mtod(pdus[n - 1], uint8_t *), 6, RLC_SN_12,
					   &h) > 0);
		sent += n;
		assert_int_equal(h.p, sent == RLC_AM_WINDOW_12);
		discard(n);
	}
	assert_int_equal(sent, RLC_AM_WINDOW_12);
	assert_true(rlc_tx_bytes_waiting(&tx) > 0);
	/* All but the first are received: the window stays where it is, and a poll is sent. */
	status(RLC_AM_WINDOW_12, &first, 1);
	assert_int_equal(rlc_tx_held(&tx), 1 + 3);
	assert_int_equal(pull(1000), 1);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 4);
	status(RLC_AM_WINDOW_12, NULL, 0);
	assert_int_equal(pull(1000), 3);
	expect(0, &(struct rlc_amd){.sn = 2048}, 2048, 4);
	expect(1, &(struct rlc_amd){.sn = 2049}, 2049, 4);
	expect(2, &(struct rlc_amd){.sn = 2050, .p = true}, 2050, 4);
	down();
}

static void
sn_wraps(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.upper = {.delivered = on_delivered}});
	for (unsigned i = 0; i < 3 * 4096 / 32; i++) {
		push(32, 4);
		assert_int_equal(pull(10000), 32);
		discard(32);
		status(next_id & 4095, NULL, 0);
		assert_int_equal(rlc_tx_held(&tx), 0);
	}
	assert_int_equal(told, 3 * 4096);
	assert_int_equal(rlc_tx_room(&tx, next_id), 4096);
	down();
}

static void
discard_leaves_no_gap(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(2, 4);
	assert_int_equal(pull(8), 1);
	discard(1);
	assert_int_equal(rlc_tx_slot(&tx, 600 * MS), 1);
	push(1, 4);
	assert_int_equal(rlc_tx_slot(&tx, 0), 0);
	assert_int_equal(pull(100), 1);
	expect(0, &(struct rlc_amd){.sn = 1, .p = true}, 2, 4);
	/* What was sent is kept, however old it gets. */
	assert_int_equal(rlc_tx_held(&tx), 2);
	down();
}

static struct rte_mbuf *taken[8];
static unsigned nb_taken;

static void
take(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	(void)arg;
	(void)enter_us;
	taken[nb_taken++] = m;
}

static void
reestablishment_hands_back_what_is_unconfirmed(void **state)
{
	static const uint32_t ids[] = {0, 2, 3, 4};
	static const struct rlc_nack first = {.sn = 0, .range = 1};
	struct rte_mbuf *flying;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(5, 40);
	assert_int_equal(pull(44 * 3 + 20), 4);
	flying = pdus[0];
	rte_pktmbuf_free_bulk(pdus + 1, 3);
	status(2, &first, 1);
	nb_taken = 0;
	assert_int_equal(rlc_tx_take_unconfirmed(&tx, take, NULL), 4);
	assert_int_equal(nb_taken, 4);
	for (unsigned i = 0; i < 4; i++) {
		static uint8_t buf[65536];

		assert_int_equal(flatten(taken[i], buf), 40);
		for (unsigned k = 0; k < 40; k++)
			assert_int_equal(buf[k], sdu_byte(ids[i], k));
		assert_true(taken[i] != flying);
		assert_int_equal(rte_mbuf_refcnt_read(taken[i]), 1);
		rte_pktmbuf_free(taken[i]);
	}
	rte_pktmbuf_free(flying);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(tx.am->TX_Next, 0);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	down();
}

static void
impossible_configurations(void **state)
{
	struct rlc_tx_cfg cfg = {.mode = RLC_AM,
				 .sn_FieldLength = RLC_SN_6,
				 .queue_sdus = 16,
				 .pools = &pools,
				 .am = {.t_PollRetransmit_ms = 10, .maxRetxThreshold = 4}};

	(void)state;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
	cfg.sn_FieldLength = RLC_SN_12;
	cfg.am.maxRetxThreshold = 33;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
	cfg.am.maxRetxThreshold = 4;
	cfg.am.t_PollRetransmit_ms = 0;
	assert_int_equal(rlc_tx_init(&tx, &cfg), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_headers),
		cmocka_unit_test(poll_by_pdu_and_byte),
		cmocka_unit_test(segments_at_every_grant),
		cmocka_unit_test(shared_and_chained_sdus),
		cmocka_unit_test(full_window_stalls_and_polls),
		cmocka_unit_test(sn_wraps),
		cmocka_unit_test(discard_leaves_no_gap),
		cmocka_unit_test(reestablishment_hands_back_what_is_unconfirmed),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests_name("rlc_am_tx", tests, rlc_test_setup, NULL);
}
