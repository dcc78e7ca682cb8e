/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/rlc/rlc_test.h"
#include "modules/rlc/rlc_tx.h"

#define MS AP_NS_PER_MS

static uint64_t drops[RLC_TX_DROPS];
static struct rlc_tx_pull_stats stats;

static void
start(struct rlc_tx *e, enum rlc_mode mode, enum rlc_sn_len bits, uint32_t discard_ms)
{
	const struct rlc_tx_cfg cfg = {
		.mode = mode,
		.sn_FieldLength = bits,
		.queue_sdus = 64,
		.discard_ms = discard_ms,
		.bearer = 7,
		.lcid = 4,
		.pools = &pools,
	};

	memset(drops, 0, sizeof(drops));
	memset(&stats, 0, sizeof(stats));
	assert_int_equal(rlc_tx_init(e, &cfg), 0);
}

static void
push(struct rlc_tx *e, struct rte_mbuf *m, uint64_t now)
{
	assert_int_equal(rlc_tx_push(e, &m, 1, now, drops), 1);
}

static struct rte_mbuf *
pull(struct rlc_tx *e, uint32_t grant)
{
	struct rte_mbuf *pdu;

	return rlc_tx_pull(e, &grant, &pdu, 1, 0, &stats) ? pdu : NULL;
}

static void
config_is_checked(void **state)
{
	const struct rlc_tx_cfg good = {
		.mode = RLC_UM, .sn_FieldLength = RLC_SN_6, .queue_sdus = 100, .pools = &pools};
	struct rlc_tx_cfg cfg;
	struct rlc_tx e;

	(void)state;
	assert_int_equal(rlc_tx_init(&e, &good), 0);
	assert_int_equal(rlc_tx_room(&e, 0), 128);
	rlc_tx_fini(&e);
	cfg = good, cfg.mode = RLC_NONE;
	assert_int_equal(rlc_tx_init(&e, &cfg), -EINVAL);
	cfg = good, cfg.sn_FieldLength = RLC_SN_18;
	assert_int_equal(rlc_tx_init(&e, &cfg), -EINVAL);
	cfg = good, cfg.queue_sdus = 0;
	assert_int_equal(rlc_tx_init(&e, &cfg), -EINVAL);
	cfg = good, cfg.discard_ms = UINT32_MAX;
	assert_int_equal(rlc_tx_init(&e, &cfg), -EINVAL);
}

/* A complete UM SDU: one zero byte in the headroom, no SN, no other mbuf. */
static void
complete_um(void **state)
{
	struct rte_mbuf *m = packet("\xaa\xbb", 2);
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_UM, RLC_SN_12, 0);
	ap_meta(m)->qfi = 9;
	ap_meta(m)->flags = AP_M_TIMED | AP_M_FRAG_LAST;
	push(&e, m, 0);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 3);
	assert_null(pull(&e, 4));
	assert_ptr_equal(pull(&e, 5), m);
	assert_packet(m, "\0\xaa\xbb", 3);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(ap_meta(m)->bearer, 7);
	assert_int_equal(ap_meta(m)->lcid, 4);
	assert_int_equal(ap_meta(m)->qfi, 9);
	assert_int_equal(ap_meta(m)->flags, AP_M_TIMED);
	assert_int_equal(e.um.TX_Next, 0);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 0);
	rte_pktmbuf_free(m);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* Somebody else reads the buffer: its headroom must stay as it is. */
static void
shared_sdu_gets_a_header_segment(void **state)
{
	struct rte_mbuf *m = packet("\xee\xaa\xbb", 3);
	struct rte_mbuf *view = rte_pktmbuf_clone(m, pools.ind);
	struct rte_mbuf *shared = m, *pdu;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_UM, RLC_SN_6, 0);
	rte_pktmbuf_adj(m, 1);
	rte_pktmbuf_adj(view, 1);
	*ap_meta(view) = (struct ap_meta){.flags = AP_M_TIMED};
	ap_ext(view)->enter_ns = 77;
	push(&e, view, 0);
	push(&e, shared, 0);
	for (int i = 0; i < 2; i++) {
		pdu = pull(&e, 100);
		assert_packet(pdu, "\0\xaa\xbb", 3);
		assert_int_equal(pdu->nb_segs, 2);
		assert_int_equal(ap_meta(pdu)->lcid, 4);
		assert_int_equal(ap_ext(pdu)->enter_ns, i == 0 ? 77 : 0);
		assert_int_equal(*(rte_pktmbuf_mtod(m, uint8_t *) - 1), 0xee);
		rte_pktmbuf_free(pdu);
	}
	rlc_tx_fini(&e);
	assert_no_leak();
}

static void
push_drops_by_name(void **state)
{
	struct rte_mbuf *hdrs[4095], *sdus[70], *view;
	struct rlc_tx e, none = {0};
	uint32_t submitted = 0;
	struct rte_mbuf *m;

	(void)state;
	start(&e, RLC_UM, RLC_SN_6, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pools.hdr, hdrs, 4095), 0);
	m = packet("x", 1);
	view = rte_pktmbuf_clone(m, pools.ind);
	submitted++;
	assert_int_equal(rlc_tx_push(&e, &view, 1, 0, drops), 0);
	rte_pktmbuf_free_bulk(hdrs, 4095);
	rte_pktmbuf_free(m);

	sdus[0] = packet(NULL, 0);
	for (int i = 1; i < 70; i++)
		sdus[i] = sdu_make(i, 10, 1);
	sdus[1]->pkt_len = RLC_SDU_MAX + 1;
	submitted += 70;
	assert_int_equal(rlc_tx_push(&e, sdus, 70, 0, drops), 62);
	assert_int_equal(drops[RLC_TX_NO_MBUF], 1);
	assert_int_equal(drops[RLC_TX_SDU_EMPTY], 1);
	assert_int_equal(drops[RLC_TX_SDU_OVERSIZE], 1);
	assert_int_equal(drops[RLC_TX_QUEUE_FULL], 6);
	assert_int_equal(rlc_tx_held(&e), 62);

	/* What was dropped must not take room for ever. */
	assert_int_equal(rlc_tx_room(&e, submitted), 2);
	rte_pktmbuf_free(pull(&e, 100));
	assert_int_equal(rlc_tx_room(&e, submitted), 3);
	assert_int_equal(rlc_tx_room(&e, submitted + 3), 0);
	assert_int_equal(rlc_tx_room(&e, submitted + 4), 0);
	rlc_tx_fini(&e);

	m = packet("x", 1);
	assert_int_equal(rlc_tx_push(&none, &m, 1, 0, drops), 0);
	assert_int_equal(drops[RLC_TX_NO_BEARER], 1);
	assert_int_equal(rlc_tx_pull(&none, &(uint32_t){9}, &m, 1, 0, &stats), 0);
	rlc_tx_fini(&none);
	assert_no_leak();
}

static void
room_survives_the_wrap(void **state)
{
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_TM, 0, 0);
	e.queue.head = e.queue.tail = e.queue.tail_seen = e.queue.head_seen = UINT32_MAX - 1;
	e.lost = 1;
	for (uint32_t i = 0; i < 5; i++)
		push(&e, sdu_make(i, 10, 1), 0);
	assert_int_equal(rlc_tx_room(&e, UINT32_MAX + 5), 59);
	for (uint32_t i = 0; i < 5; i++)
		rte_pktmbuf_free(pull(&e, 100));
	assert_int_equal(rlc_tx_room(&e, UINT32_MAX + 5), 64);
	rlc_tx_fini(&e);
	assert_no_leak();
}

static void
tm_never_segments(void **state)
{
	struct rte_mbuf *m = packet("abc", 3);
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_TM, 0, 0);
	push(&e, m, 0);
	assert_null(pull(&e, 4));
	assert_int_equal(rlc_tx_bytes_waiting(&e), 3);
	assert_ptr_equal(pull(&e, 5), m);
	assert_packet(m, "abc", 3);
	rte_pktmbuf_free(m);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* L takes one byte up to 255 B and two from 256 B: a pull must leave exactly what MAC needs. */
static void
grant_counts_mac_subheaders(void **state)
{
	struct rte_mbuf *pdus[8];
	uint32_t grant = 255 + 2 + 256 + 3 + 2;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_TM, 0, 0);
	push(&e, sdu_make(1, 255, 1), 0);
	push(&e, sdu_make(2, 256, 1), 0);
	push(&e, sdu_make(3, 1, 1), 0);
	assert_int_equal(rlc_tx_pull(&e, &grant, pdus, 8, 0, &stats), 2);
	assert_int_equal(grant, 2);
	rte_pktmbuf_free_bulk(pdus, 2);
	grant = 3;
	assert_int_equal(rlc_tx_pull(&e, &grant, pdus, 8, 0, &stats), 1);
	assert_int_equal(grant, 0);
	rte_pktmbuf_free_bulk(pdus, 1);
	rlc_tx_fini(&e);
	assert_no_leak();

	assert_int_equal(rlc_mac_fitting(0), 0);
	for (uint32_t g = 3; g < 600; g++) {
		uint32_t fit = rlc_mac_fitting(g);

		assert_true(fit + rlc_mac_overhead(fit) <= g);
		assert_true(fit + 1 + rlc_mac_overhead(fit + 1) > g);
	}
}

/* `want` is a soft limit: the PDU that crosses it goes out whole, nothing is cut for it. */
static void
want_stops_without_segmenting(void **state)
{
	struct rte_mbuf *pdus[8];
	uint32_t grant = 1000;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_UM, RLC_SN_12, 0);
	for (uint32_t i = 0; i < 5; i++)
		push(&e, sdu_make(i, 97, 1), 0);
	assert_int_equal(rlc_tx_pull_some(&e, &grant, 101, pdus, 8, 0, &stats), 2);
	assert_int_equal(grant, 800);
	rte_pktmbuf_free_bulk(pdus, 2);
	assert_int_equal(rlc_tx_pull_some(&e, &grant, 0, pdus, 8, 0, &stats), 0);
	assert_int_equal(rlc_tx_pull_some(&e, &grant, 1, pdus, 8, 0, &stats), 1);
	rte_pktmbuf_free_bulk(pdus, 1);
	assert_int_equal(rlc_tx_pull(&e, &grant, pdus, 1, 0, &stats), 1);
	rte_pktmbuf_free_bulk(pdus, 1);
	assert_int_equal(stats.segments, 0);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* discardTimer: exact, 0 is never, a clock read slightly earlier on this lcore is no age. */
static void
discard_by_age(void **state)
{
	const uint64_t t0 =
		(1ULL << 32) * 1000 - 500 * 1000; /* the µs stamp wraps during the test */
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_UM, RLC_SN_6, 10);
	push(&e, sdu_make(0, 20, 1), t0);
	push(&e, sdu_make(1, 20, 1), t0 + MS);
	assert_int_equal(rlc_tx_discard_expired(&e, t0 - MS), 0);
	assert_int_equal(rlc_tx_discard_expired(&e, t0 + 10 * MS - 1000), 0);
	assert_int_equal(rlc_tx_discard_expired(&e, t0 + 10 * MS), 1);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 21);
	assert_int_equal(rlc_tx_pull(&e, &(uint32_t){100}, &(struct rte_mbuf *){NULL}, 1,
				     t0 + 11 * MS, &stats),
			 0);
	assert_int_equal(stats.discarded, 1);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 0);
	rlc_tx_fini(&e);

	start(&e, RLC_UM, RLC_SN_6, 0);
	push(&e, sdu_make(0, 20, 1), 0);
	assert_int_equal(rlc_tx_discard_expired(&e, 1000 * 1000 * MS), 0);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* TS 38.322 §5.4: discard only "if neither the RLC SDU nor a segment thereof has been submitted".
 */
static void
discard_spares_a_segmented_sdu(void **state)
{
	struct rte_mbuf *pdus[4];
	uint32_t grant = 10;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_UM, RLC_SN_6, 10);
	push(&e, sdu_make(0, 20, 1), 0);
	push(&e, sdu_make(1, 20, 1), 0);
	assert_int_equal(rlc_tx_pull(&e, &grant, pdus, 4, 0, &stats), 1);
	rte_pktmbuf_free(pdus[0]);
	grant = 100;
	assert_int_equal(rlc_tx_pull(&e, &grant, pdus, 4, 20 * MS, &stats), 1);
	assert_int_equal(stats.discarded, 1);
	assert_int_equal(*rte_pktmbuf_mtod(pdus[0], uint8_t *) >> 6, RLC_SI_LAST);
	rte_pktmbuf_free(pdus[0]);
	rlc_tx_fini(&e);
	assert_no_leak();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config_is_checked),
		cmocka_unit_test(complete_um),
		cmocka_unit_test(shared_sdu_gets_a_header_segment),
		cmocka_unit_test(push_drops_by_name),
		cmocka_unit_test(room_survives_the_wrap),
		cmocka_unit_test(tm_never_segments),
		cmocka_unit_test(grant_counts_mac_subheaders),
		cmocka_unit_test(want_stops_without_segmenting),
		cmocka_unit_test(discard_by_age),
		cmocka_unit_test(discard_spares_a_segmented_sdu),
	};

	return cmocka_run_group_tests_name("rlc_tx", tests, rlc_test_setup, NULL);
}
