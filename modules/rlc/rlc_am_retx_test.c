/* SPDX-License-Identifier: BSD-3-Clause */
/* ARQ of the transmitting AM entity, TS 38.322 §5.3: STATUS PDUs and retransmissions. */
#include "modules/rlc/rlc_am_tx_rig.h"

static void
resegments_at_every_grant(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 1};

	(void)state;
	for (uint32_t grant = 7; grant < 60; grant++) {
		uint32_t so = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		push(2, 40);
		assert_int_equal(pull(1000), 2);
		discard(2);
		status(2, &all, 1);
		assert_int_equal(rlc_tx_bytes_waiting(&tx), 42);
		while (so < 40) {
			struct rlc_amd h = {.sn = 0, .so = (uint16_t)so};
			uint32_t n = RTE_MIN(rlc_mac_fitting(grant) - (so ? 4 : 2), 40 - so);

			h.si = so ? (so + n == 40 ? RLC_SI_LAST : RLC_SI_MIDDLE)
				  : (n == 40 ? RLC_SI_COMPLETE : RLC_SI_FIRST);
			h.p = so + n == 40;
			assert_int_equal(pull(grant), 1);
			expect(0, &h, 0, n);
			so += n;
		}
		assert_int_equal(tx.am->counters.retx_bytes, 40);
		assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
		status(2, NULL, 0);
		assert_int_equal(rlc_tx_held(&tx), 0);
		down();
	}
}

static void
only_what_is_missing_is_sent_again(void **state)
{
	static const struct rlc_nack nacks[] = {
		{.sn = 0, .has_so = true, .so_start = 5, .so_end = 8, .range = 1},
		{.sn = 0, .has_so = true, .so_start = 30, .so_end = RLC_STATUS_SO_END, .range = 1},
		{.sn = 2, .has_so = true, .so_start = 35, .so_end = 2, .range = 3},
	};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(6, 40);
	assert_int_equal(pull(1000), 6);
	discard(6);
	status(6, nacks, 3);
	assert_int_equal(tx.am->TX_Next_Ack, 0);
	assert_int_equal(rlc_tx_held(&tx), 4); /* 1 and 5 were received */
	assert_int_equal(pull(1000), 5);
	expect(0, &(struct rlc_amd){.sn = 0, .si = RLC_SI_MIDDLE, .so = 5}, 0, 4);
	expect(1, &(struct rlc_amd){.sn = 0, .si = RLC_SI_LAST, .so = 30}, 0, 10);
	expect(2, &(struct rlc_amd){.sn = 2, .si = RLC_SI_LAST, .so = 35}, 2, 5);
	expect(3, &(struct rlc_amd){.sn = 3, .si = RLC_SI_COMPLETE}, 3, 40);
	expect(4, &(struct rlc_amd){.sn = 4, .si = RLC_SI_FIRST, .p = true}, 4, 3);
	assert_int_equal(tx.am->counters.retx, 5);
	status(6, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(tx.am->TX_Next_Ack, 6);
	down();
}

/* The buffer of an SDU still under way is not touched; one that is back goes out itself. */
static void
buffers_under_way_are_left_alone(void **state)
{
	static const struct rlc_nack all = {.sn = 0, .range = 1};
	struct rte_mbuf *flying;

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(1, 40);
	assert_int_equal(pull(1000), 1);
	flying = pdus[0];
	assert_int_equal(rte_mbuf_refcnt_read(flying), 2);
	rte_pktmbuf_prepend(flying, 3); /* MAC */
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	assert_true(pdus[0] != flying && pdus[0]->nb_segs == 2);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 40);
	assert_int_equal(flying->pkt_len, 45);
	rte_pktmbuf_free(flying);
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	assert_true(pdus[0] == flying && pdus[0]->nb_segs == 1);
	assert_true(ap_meta(flying)->flags & AP_M_RETAINED);
	expect(0, &(struct rlc_amd){.sn = 0, .p = true}, 0, 40);
	/* Acknowledged while under way: freed when it lands. */
	status(1, &all, 1);
	assert_int_equal(pull(1000), 1);
	status(1, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	assert_int_equal(rte_mbuf_refcnt_read(flying), 1);
	rte_pktmbuf_free(flying);
	down();
}

static void
t_poll_retransmit(void **state)
{
	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.t_PollRetransmit_ms = 10});
	push(3, 4);
	assert_int_equal(pull_at(1000, 1 * MS), 3);
	discard(3);
	rlc_tx_slot(&tx, 10 * MS);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	rlc_tx_slot(&tx, 11 * MS);
	assert_true(rlc_tx_bytes_waiting(&tx) > 0); /* an idle bearer asks for a grant */
	assert_int_equal(pull_at(1000, 11 * MS), 1);
	expect(0, &(struct rlc_amd){.sn = 2, .p = true}, 2, 4);
	/* An acknowledgement of POLL_SN stops it, one of others does not. */
	status_at(2, NULL, 0, 12 * MS);
	assert_true(tx.am->poll_deadline_ns == 21 * MS);
	status_at(3, NULL, 0, 13 * MS);
	assert_int_equal(tx.am->poll_deadline_ns, 0);
	rlc_tx_slot(&tx, 500 * MS);
	assert_int_equal(tx.am->counters.poll_timeouts, 1);
	down();
}

static void
retx_count_once_a_status(void **state)
{
	static const struct rlc_nack parts[] = {
		{.sn = 0, .has_so = true, .so_start = 0, .so_end = 3, .range = 1},
		{.sn = 0, .has_so = true, .so_start = 10, .so_end = 13, .range = 1},
	};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.maxRetxThreshold = 2});
	push(1, 40);
	assert_int_equal(pull(1000), 1);
	discard(1);
	for (unsigned i = 0; i < 3; i++) {
		status(1, parts, 2);
		assert_int_equal(tx.am->sdus[0].RETX_COUNT, i);
		status(1, parts, 2); /* waits already */
		assert_int_equal(tx.am->sdus[0].RETX_COUNT, i);
		assert_int_equal(max_retx_told, i == 2);
		assert_int_equal(pull(1000), 2);
		discard(2);
	}
	assert_true(tx.am->max_retx);
	assert_int_equal(tx.am->counters.max_retx, 1);
	status(1, parts, 2); /* the bearer goes on */
	assert_int_equal(pull(1000), 2);
	discard(2);
	status(1, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	down();
}

static void
impossible_status_pdus(void **state)
{
	static const struct rlc_nack above = {.sn = 3, .range = 1};
	static const struct rlc_nack reaches_above = {.sn = 1, .range = 3};
	static const struct rlc_nack descending[] = {{.sn = 2, .range = 1}, {.sn = 1, .range = 1}};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(4, 4);
	assert_int_equal(pull(8 * 3), 3);
	discard(3);
	status(4, NULL, 0); /* SN 3 was never sent */
	status(3, &above, 1);
	status(3, &reaches_above, 1);
	status(3, descending, 2);
	assert_int_equal(tx.am->counters.status_refused, 4);
	assert_int_equal(rlc_tx_held(&tx), 4);
	status(2, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 2);
	status(1, NULL, 0); /* overtaken by the one before */
	assert_int_equal(tx.am->counters.status_old, 1);
	assert_int_equal(tx.am->counters.status_refused, 4);
	down();
}

/* Only a part of SN 1 was sent: nobody can have received it. */
static void
ack_of_an_sdu_in_hand(void **state)
{
	static const struct rlc_nack rest = {
		.sn = 1, .has_so = true, .so_start = 4, .so_end = RLC_STATUS_SO_END, .range = 1};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){0});
	push(2, 40);
	assert_int_equal(pull(44 + 14), 2);
	discard(2);
	assert_int_equal(tx.am->left, 30);
	status(2, NULL, 0);
	assert_int_equal(tx.am->TX_Next_Ack, 1);
	assert_int_equal(rlc_tx_held(&tx), 1);
	status(2, &rest, 1); /* bytes 4 to 9 were sent, the others come first-hand */
	assert_int_equal(tx.am->pending_bytes, 6);
	assert_int_equal(pull(1000), 2);
	expect(0, &(struct rlc_amd){.sn = 1, .si = RLC_SI_MIDDLE, .so = 4}, 1, 6);
	expect(1, &(struct rlc_amd){.sn = 1, .si = RLC_SI_LAST, .so = 10, .p = true}, 1, 30);
	status(2, NULL, 0);
	assert_int_equal(rlc_tx_held(&tx), 0);
	down();
}

/* A report for the peer, as rlc_rx makes one. */
static void
want_status(uint32_t ack_sn, const struct rlc_nack *nacks, uint32_t n)
{
	struct rlc_am_link *l = rlc_tx_am_link(&tx);
	struct rlc_am_report *r = rlc_am_link_draft(l);

	r->ACK_SN = ack_sn;
	r->nb = n;
	r->bytes = 3 + 4 * n;
	for (uint32_t i = 0; i < n; i++)
		r->nacks[i] = nacks[i];
	rlc_am_link_publish(l, true);
}

static void
status_first_then_retransmissions(void **state)
{
	static const struct rlc_nack nack = {.sn = 0, .range = 1};
	static const uint8_t ack_only[] = {0x00, 0x09, 0x00};

	(void)state;
	up(RLC_SN_12, (struct rlc_am_cfg){.t_StatusProhibit_ms = 20});
	push(2, 4);
	assert_int_equal(pull(1000), 2);
	discard(2);
	status(2, &nack, 1);
	push(1, 4);
	want_status(8, NULL, 0);
	want_status(9, NULL, 0); /* replaces it */
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 3 + 6 + 6);
	assert_int_equal(pull(1000), 3);
	assert_packet(pdus[0], ack_only, 3);
	rte_pktmbuf_free(pdus[0]);
	expect(1, &(struct rlc_amd){.sn = 0}, 0, 4);
	expect(2, &(struct rlc_amd){.sn = 2, .p = true}, 2, 4);
	want_status(10, NULL, 0);
	assert_int_equal(pull_at(1000, 19 * MS), 0);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 0);
	rlc_tx_slot(&tx, 20 * MS);
	assert_int_equal(rlc_tx_bytes_waiting(&tx), 3);
	assert_int_equal(pull_at(5, 20 * MS), 1);
	discard(1);
	assert_int_equal(tx.am->counters.status_sent, 2);
	down();
}

static void
status_is_trimmed_to_the_grant(void **state)
{
	struct rlc_nack nacks[40];

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		nacks[i] = (struct rlc_nack){.sn = 2 * i, .range = 1};
	for (uint32_t grant = 3; grant < 100; grant++) {
		const uint32_t fits = RTE_MIN((grant - 2 - 3) / 2, 40U);
		struct rlc_status_iter it;
		struct rlc_nack nack;
		uint32_t n = 0;

		up(RLC_SN_12, (struct rlc_am_cfg){0});
		want_status(100, nacks, 40);
		if (grant < 5) {
			assert_int_equal(pull(grant), 0);
			down();
			continue;
		}
		assert_int_equal(pull(grant), 1);
		assert_true(rlc_status_open(&it, rte_pktmbuf_mtod(pdus[0], uint8_t *),
					    pdus[0]->data_len, RLC_SN_12) > 0);
		while (rlc_status_next(&it, &nack) > 0)
			assert_int_equal(nack.sn, 2 * n++);
		assert_int_equal(n, fits);
		assert_int_equal(it.ack_sn, fits < 40 ? 2 * fits : 100);
		assert_int_equal(tx.am->counters.status_trimmed, fits < 40);
		discard(1);
		down();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resegments_at_every_grant),
		cmocka_unit_test(only_what_is_missing_is_sent_again),
		cmocka_unit_test(buffers_under_way_are_left_alone),
		cmocka_unit_test(t_poll_retransmit),
		cmocka_unit_test(retx_count_once_a_status),
		cmocka_unit_test(impossible_status_pdus),
		cmocka_unit_test(ack_of_an_sdu_in_hand),
		cmocka_unit_test(status_first_then_retransmissions),
		cmocka_unit_test(status_is_trimmed_to_the_grant),
	};

	return cmocka_run_group_tests_name("rlc_am_retx", tests, rlc_test_setup, NULL);
}
