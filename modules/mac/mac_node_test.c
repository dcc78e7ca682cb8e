/* SPDX-License-Identifier: BSD-3-Clause */
/* mac_slot → mac_build → mac_demux: what RLC gave comes out, in order, and the books balance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/mac/mac_build.h"
#include "modules/mac/mac_rx.h"
#include "modules/mac/mac_tx.h"
#include "test_eal.h"
#include "test_node.h"

#define CARRIERS 2
#define LCID 4

static struct l2 l2;
static struct rlc_tx rlc;
static struct mac_tx tx;
static struct mac_rx rx;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	l2.pools.proto = test_pool("proto", 2047, 2048);
	l2.pools.phy = test_pool("phy", 255, 9216);
	l2.pools.hdr = test_pool("hdr", 1023, 128);
	l2.pools.ind = rte_pktmbuf_pool_create("ind", 2047, 0, 0, 0, 0);
	return l2.pools.proto && l2.pools.phy && l2.pools.hdr && l2.pools.ind ? 0 : -1;
}

static void
make_l2(enum l2_direction direction)
{
	const struct rlc_tx_cfg r = {.mode = RLC_TM,
				     .queue_sdus = 1024,
				     .lcid = LCID,
				     .discard_ms = 100,
				     .pools = &l2.pools};
	const struct mac_tx_lc_cfg lc = {.rlc = &rlc, .lcid = LCID, .priority = 1};
	const struct mac_tx_cfg t = {.direction = direction,
				     .nb_carriers = CARRIERS,
				     .nb_lcs = 1,
				     .lcs = &lc,
				     .hdr = l2.pools.hdr};
	struct mac_rx_cfg m = {.direction = direction, .ind = l2.pools.ind};

	m.bearer_of_lcid[LCID] = 7;
	for (unsigned i = 0; i <= L2_LCID_MAX; i++)
		if (i != LCID)
			m.bearer_of_lcid[i] = L2_NO_BEARER;
	assert_int_equal(rlc_tx_init(&rlc, &r), 0);
	assert_int_equal(mac_tx_init(&tx, &t), 0);
	assert_int_equal(mac_rx_init(&rx, &m), 0);
	memset(&l2.slots, 0, sizeof(l2.slots));
	l2.mac_tx = &tx;
	l2.mac_rx = &rx;
	l2.nb_carriers = CARRIERS;
}

static void
free_l2(void)
{
	rlc_tx_fini(&rlc);
	assert_pool_full(l2.pools.proto);
	assert_pool_full(l2.pools.phy);
	assert_pool_full(l2.pools.hdr);
	assert_pool_full(l2.pools.ind);
}

static void
feed(uint32_t first, uint32_t nb, uint64_t now_ns)
{
	uint64_t drops[RLC_TX_DROPS] = {0};

	for (uint32_t i = first; i < first + nb; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(l2.pools.proto);
		uint16_t bytes = (uint16_t)(4 + i * 37 % 1400);

		*ap_meta(m) = (struct ap_meta){0};
		memset(rte_pktmbuf_append(m, bytes), (int)i, bytes);
		memcpy(rte_pktmbuf_mtod(m, void *), &i, 4);
		assert_int_equal(rlc_tx_push(&rlc, &m, 1, now_ns, drops), 1);
	}
}

static void
finish(struct test_node *t)
{
	if (t->n.type->fini)
		t->n.type->fini(&t->n);
	test_node_balance(t);
	test_node_free(t);
}

static struct test_node *
make_builder(enum mac_strategy strategy, uint32_t carrier)
{
	static struct mac_build_cfg cfg;
	struct test_node *t = test_node_make("mac_build", &l2);

	cfg = (struct mac_build_cfg){.strategy = strategy, .fragment_bytes = 3000};
	t->n.arg = &cfg;
	t->n.index = carrier;
	assert_int_equal(t->n.type->init(&t->n), 0);
	return t;
}

/** Fragments of whole TBs on the builder's edge become one chain a TB, as fapi_rx hands them over.
 */
static uint16_t
assemble(struct test_node *build, struct rte_mbuf **tbs)
{
	struct rte_mbuf **frags;
	uint16_t nb = test_node_take(build, 0, &frags), nb_tbs = 0;

	for (uint16_t i = 0; i < nb; i++) {
		if (ap_meta(frags[i])->flags & AP_M_FRAG_FIRST)
			tbs[nb_tbs++] = frags[i];
		else
			rte_pktmbuf_chain(tbs[nb_tbs - 1], frags[i]);
	}
	for (uint16_t i = 0; i < nb_tbs; i++)
		assert_int_equal(tbs[i]->pkt_len, ap_ext(tbs[i])->tb_bytes);
	return nb_tbs;
}

/** Checks the next SDUs on mac_demux's edge. @return the id expected next. */
static uint32_t
check_sdus(struct test_node *demux, uint8_t carrier, uint32_t next)
{
	struct rte_mbuf **sdus;
	uint16_t nb = test_node_take(demux, 0, &sdus);

	for (uint16_t i = 0; i < nb; i++, next++) {
		uint32_t id;
		const void *p = rte_pktmbuf_read(sdus[i], 0, 4, &id);

		assert_memory_equal(p, &next, 4);
		assert_int_equal(sdus[i]->pkt_len, 4 + next * 37 % 1400);
		assert_int_equal(ap_meta(sdus[i])->bearer, 7);
		assert_int_equal(ap_meta(sdus[i])->carrier, carrier);
	}
	rte_pktmbuf_free_bulk(sdus, nb);
	return next;
}

static void
through(enum l2_direction direction, enum mac_strategy strategy)
{
	struct test_node *slot, *build[CARRIERS], *demux;
	uint32_t next = 0;

	make_l2(direction);
	slot = test_node_make("mac_slot", &l2);
	for (uint32_t c = 0; c < CARRIERS; c++)
		build[c] = make_builder(strategy, c);
	demux = test_node_make("mac_demux", &l2);
	feed(0, 600, 0);
	for (uint32_t s = 0; s < 10; s++) {
		const struct slot_grant g = {
			.sfn = 1, .slot = (uint16_t)s, .tb_bytes = {30000, 20000}};

		assert_true(slot_box_put(&l2.slots, &g));
		do {
			slot->worker.now_ns += 1000;
			test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
		} while (mac_tx_busy(&tx));
		for (uint32_t c = 0; c < CARRIERS; c++) {
			struct rte_mbuf **pkts, *tbs[4];
			uint16_t nb = test_node_take(slot, c, &pkts);

			test_node_visit(build[c], pkts, nb);
			nb = assemble(build[c], tbs);
			assert_int_equal(nb, 1);
			test_node_visit(demux, tbs, nb);
			next = check_sdus(demux, (uint8_t)c, next);
		}
	}
	assert_int_equal(next, 600);
	assert_int_equal(tx.slots, 10);
	finish(slot);
	finish(build[0]);
	finish(build[1]);
	finish(demux);
	free_l2();
}

static void
sdus_survive_every_strategy(void **state)
{
	(void)state;
	for (unsigned s = 0; s < MAC_STRATEGIES; s++) {
		through(L2_UPLINK, s);
		through(L2_DOWNLINK, s);
	}
}

/** Three slots wait: the newest is served, two are missed, and the next is unharmed. */
static void
late_slots_are_missed(void **state)
{
	struct test_node *slot;
	struct rte_mbuf **pkts;
	uint16_t nb;

	(void)state;
	make_l2(L2_UPLINK);
	slot = test_node_make("mac_slot", &l2);
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	assert_int_equal(test_node_take(slot, 0, &pkts), 0);
	for (uint16_t s = 0; s < 3; s++)
		slot_box_put(&l2.slots, &(struct slot_grant){.slot = s, .tb_bytes = {100}});
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	nb = test_node_take(slot, 0, &pkts);
	assert_int_equal(nb, 2);
	assert_int_equal(rte_pktmbuf_mtod(pkts[0], struct mac_tb_mark *)->slot, 2);
	rte_pktmbuf_free_bulk(pkts, nb);
	assert_int_equal(tx.slots, 1);
	assert_int_equal(tx.slots_missed, 2);
	slot_box_put(&l2.slots, &(struct slot_grant){.slot = 3, .tb_bytes = {0, 100}});
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	nb = test_node_take(slot, 1, &pkts);
	assert_int_equal(nb, 2);
	rte_pktmbuf_free_bulk(pkts, nb);
	finish(slot);
	free_l2();
}

static void
expired_sdus_and_missing_marks_have_names(void **state)
{
	unsigned left = rte_mempool_avail_count(l2.pools.hdr);
	struct rte_mbuf *hoard[1023];
	struct test_node *slot;

	(void)state;
	make_l2(L2_UPLINK);
	slot = test_node_make("mac_slot", &l2);
	feed(0, 5, 0);
	feed(5, 2, 90 * AP_NS_PER_MS);
	slot->worker.now_ns = 150 * AP_NS_PER_MS;
	assert_int_equal(rte_pktmbuf_alloc_bulk(l2.pools.hdr, hoard, left), 0);
	slot_box_put(&l2.slots, &(struct slot_grant){.tb_bytes = {100, 100}});
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	assert_int_equal(slot->n.drops[0], 5);
	assert_int_equal(slot->n.drops[1], 2);
	assert_string_equal(slot->n.type->drops[0], "discard_timer");
	assert_string_equal(slot->n.type->drops[1], "tb_no_mark");
	assert_int_equal(rlc_tx_held(&rlc), 2);
	rte_pktmbuf_free_bulk(hoard, left);
	finish(slot);
	free_l2();
}

#define UES 3

static struct rlc_tx rlcs[UES];
static struct mac_tx txs[UES];
static struct mac_rx rxs[UES];

static void
make_ues(void)
{
	for (uint16_t u = 0; u < UES; u++) {
		const struct rlc_tx_cfg r = {
			.mode = RLC_TM, .queue_sdus = 64, .lcid = LCID, .pools = &l2.pools};
		const struct mac_tx_lc_cfg lc = {.rlc = &rlcs[u], .lcid = LCID, .priority = 1};
		const struct mac_tx_cfg t = {.direction = L2_UPLINK,
					     .nb_carriers = CARRIERS,
					     .nb_lcs = 1,
					     .lcs = &lc,
					     .sr = {.trans_max = 4, .rnti = (uint16_t)(0x100 + u)},
					     .hdr = l2.pools.hdr};
		struct mac_rx_cfg m = {.direction = L2_UPLINK,
				       .rnti = (uint16_t)(0x100 + u),
				       .spares = u ? &rxs[0].own : NULL,
				       .ind = l2.pools.ind};

		for (unsigned i = 0; i <= L2_LCID_MAX; i++)
			m.bearer_of_lcid[i] = i == LCID ? 7U + u : L2_NO_BEARER;
		assert_int_equal(rlc_tx_init(&rlcs[u], &r), 0);
		assert_int_equal(mac_tx_init(&txs[u], &t), 0);
		assert_int_equal(mac_rx_init(&rxs[u], &m), 0);
	}
	memset(&l2.slots, 0, sizeof(l2.slots));
	l2.mac_tx = txs;
	l2.mac_rx = rxs;
	l2.fapi_tx = calloc(1, sizeof(struct fapi_tx));
	assert_int_equal(fapi_tx_init(l2.fapi_tx, &(struct fapi_tx_cfg){.hdr = l2.pools.hdr}), 0);
	l2.nb_carriers = CARRIERS;
	l2.nb_ues = UES;
	l2.rnti = 0x100;
}

static void
feed_ue(uint32_t u, uint32_t word)
{
	uint64_t drops[RLC_TX_DROPS] = {0};
	struct rte_mbuf *m = rte_pktmbuf_alloc(l2.pools.proto);

	*ap_meta(m) = (struct ap_meta){0};
	memcpy(rte_pktmbuf_append(m, 4), &word, 4);
	assert_int_equal(rlc_tx_push(&rlcs[u], &m, 1, 0, drops), 1);
}

/**
 * Two of three UEs are granted, one of them on both carriers: each one's data comes out in its own
 * TB, of its RNTI, and at the other end as its bearer. The third one asks to be scheduled. A TB of
 * nobody has a name.
 */
static void
several_ues_have_their_own(void **state)
{
	struct slot_grant g[2] = {{.ue = 2, .rnti = 0x102, .tb_bytes = {60, 60}},
				  {.ue = 0, .rnti = 0x100, .tb_bytes = {0, 60}}};
	struct test_node *slot, *build[CARRIERS], *demux;
	struct rte_mbuf **pkts, *tbs[4];
	uint32_t seen[UES] = {0};
	uint16_t nb;

	(void)state;
	make_ues();
	slot = test_node_make("mac_slot", &l2);
	demux = test_node_make("mac_demux", &l2);
	for (uint32_t c = 0; c < CARRIERS; c++)
		build[c] = make_builder(MAC_GATHER, c);
	for (uint32_t u = 0; u < UES; u++)
		for (uint32_t i = 0; i < 3; i++)
			feed_ue(u, u << 8 | i);
	assert_true(slot_box_put_slot(&l2.slots, g, 2));
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	nb = test_node_take(slot, MAC_SLOT_EDGE_SR, &pkts);
	assert_int_equal(nb, 1);
	assert_int_equal(be16_get(rte_pktmbuf_mtod_offset(pkts[0], uint8_t *, FAPI_HDR_LEN + 4)),
			 0x101);
	rte_pktmbuf_free_bulk(pkts, nb);
	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint16_t owner[CARRIERS][2] = {{0x102}, {0x102, 0x100}};
		uint16_t tb = 0;

		nb = test_node_take(slot, c, &pkts);
		for (uint16_t i = 0; i < nb; i++)
			if (ap_meta(pkts[i])->flags == AP_M_TB_START)
				assert_int_equal(
					rte_pktmbuf_mtod(pkts[i], struct mac_tb_mark *)->rnti,
					owner[c][tb++]);
		assert_int_equal(tb, c + 1);
		test_node_visit(build[c], pkts, nb);
		nb = assemble(build[c], tbs);
		assert_int_equal(nb, tb);
		for (uint16_t i = 0; i < nb; i++)
			ap_ext(tbs[i])->spare = owner[c][i]; /* as fapi_rx gives it */
		test_node_visit(demux, tbs, nb);
		nb = test_node_take(demux, 0, &pkts);
		for (uint16_t i = 0; i < nb; i++) {
			const uint32_t u = ap_meta(pkts[i])->bearer - 7;
			uint32_t word;

			assert_true(u < UES);
			memcpy(&word, rte_pktmbuf_mtod(pkts[i], void *), 4);
			assert_int_equal(word, u << 8 | seen[u]++);
		}
		rte_pktmbuf_free_bulk(pkts, nb);
	}
	assert_int_equal(seen[0], 3);
	assert_int_equal(seen[1], 0);
	assert_int_equal(seen[2], 3);
	tbs[0] = rte_pktmbuf_alloc(l2.pools.proto);
	rte_pktmbuf_append(tbs[0], 10);
	*ap_meta(tbs[0]) = (struct ap_meta){0};
	ap_ext(tbs[0])->spare = 0x103;
	test_node_visit(demux, tbs, 1);
	assert_int_equal(demux->n.drops[MAC_RX_OTHER_RNTI], 1);
	finish(slot);
	finish(build[0]);
	finish(build[1]);
	finish(demux);
	for (uint32_t u = 0; u < UES; u++)
		rlc_tx_fini(&rlcs[u]);
	free(l2.fapi_tx);
	l2.fapi_tx = NULL;
	l2.nb_ues = 0;
	free_l2();
}

/** A gNB's DL_TTI.request goes before the TB that it announces, untouched. */
static void
a_frame_keeps_its_place(void **state)
{
	struct test_node *slot, *build;
	struct rte_mbuf *in[8], **out, *frame;
	uint16_t nb;

	(void)state;
	make_l2(L2_DOWNLINK);
	slot = test_node_make("mac_slot", &l2);
	build = make_builder(MAC_SCATTER, 0);
	slot_box_put(&l2.slots, &(struct slot_grant){.tb_bytes = {100}});
	test_node_visit(slot, (struct rte_mbuf *[]){NULL}, 0);
	nb = test_node_take(slot, 0, &out);
	assert_int_equal(nb, 2);
	frame = rte_pktmbuf_alloc(l2.pools.phy);
	memset(rte_pktmbuf_append(frame, 40), 0xA5, 40);
	*ap_meta(frame) = (struct ap_meta){.flags = AP_M_CONTROL};
	in[0] = frame;
	memcpy(in + 1, out, nb * sizeof(*out));
	test_node_visit(build, in, (uint16_t)(nb + 1));
	nb = test_node_take(build, 0, &out);
	assert_int_equal(nb, 2);
	assert_ptr_equal(out[0], frame);
	assert_int_equal(frame->pkt_len, 40);
	assert_int_equal(ap_meta(frame)->flags, AP_M_CONTROL);
	assert_int_equal(ap_meta(out[1])->flags, AP_M_FRAG_FIRST | AP_M_FRAG_LAST);
	rte_pktmbuf_free_bulk(out, nb);
	finish(slot);
	finish(build);
	free_l2();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sdus_survive_every_strategy),
		cmocka_unit_test(late_slots_are_missed),
		cmocka_unit_test(expired_sdus_and_missing_marks_have_names),
		cmocka_unit_test(several_ues_have_their_own),
		cmocka_unit_test(a_frame_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
