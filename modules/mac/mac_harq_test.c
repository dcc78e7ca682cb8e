/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "codec/mac.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/mac/mac_build.h"
#include "modules/mac/mac_harq.h"
#include "test_eal.h"

#define FRAGMENT 500
#define TB 1600
#define FRAMES 4 /* of a TB */
#define FRAME_MAX (FRAGMENT + FAPI_HDR_FIRST_LEN)

static struct l2_pools pools;
static struct mac_build b;
static struct fapi_tx fapi;
static struct rte_mbuf *out[256];
static struct mac_build_run run;
static uint8_t first[TB], again[TB];
static uint16_t mark_ue;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	pools.proto = test_pool("proto", 1023, 2048);
	pools.phy = test_pool("phy", 255, 2048);
	pools.hdr = test_pool("hdr", 1023, 128);
	pools.ind = rte_pktmbuf_pool_create("ind", 1023, 0, 0, 0, 0);
	return pools.proto && pools.phy && pools.hdr && pools.ind ? 0 : -1;
}

static void
start(enum mac_strategy strategy, uint32_t ues, uint32_t processes)
{
	const struct mac_build_cfg cfg = {.strategy = strategy,
					  .fragment_bytes = FRAGMENT,
					  .harq_processes = processes,
					  .harq_ues = ues};
	const struct fapi_tx_cfg tx = {.frame_bytes = FRAME_MAX, .hdr = pools.hdr};

	assert_int_equal(mac_build_init(&b, &cfg, &pools, 0), 0);
	assert_int_equal(fapi_tx_init(&fapi, &tx), 0);
}

static void
stop(void)
{
	mac_build_fini(&b);
	assert_pool_full(pools.proto);
	assert_pool_full(pools.phy);
	assert_pool_full(pools.hdr);
	assert_pool_full(pools.ind);
}

static struct rte_mbuf *
mark(uint8_t flags, uint8_t process, uint16_t handle)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pools.hdr);
	struct mac_tb_mark *k = (struct mac_tb_mark *)(void *)rte_pktmbuf_append(m, 96);

	*k = (struct mac_tb_mark){.tb_bytes = TB,
				  .slot = handle % 10,
				  .ue = mark_ue,
				  .handle = handle,
				  .harq_process = process};
	*ap_meta(m) = (struct ap_meta){.flags = flags};
	return m;
}

static void
build(struct rte_mbuf **in, uint16_t nb)
{
	run = (struct mac_build_run){.out = out, .max = RTE_DIM(out)};
	mac_build(&b, in, nb, &run);
}

/** A new TB of five SDUs of 300 B and padding. */
static void
new_tb(uint8_t process, uint16_t handle, uint8_t fill)
{
	struct rte_mbuf *in[7] = {mark(AP_M_TB_START, process, handle)};

	for (unsigned i = 1; i < 6; i++) {
		in[i] = rte_pktmbuf_alloc(pools.proto);
		memset(rte_pktmbuf_append(in[i], 300), fill + (int)i, 300);
		*ap_meta(in[i]) = (struct ap_meta){.lcid = 4};
	}
	in[6] = mark(AP_M_TB_END, process, handle);
	build(in, 7);
	assert_int_equal(run.nb_out, FRAMES);
}

static void
retx(uint8_t process, uint16_t handle)
{
	struct rte_mbuf *in[1] = {mark(AP_M_TB_RETX, process, handle)};

	build(in, 1);
}

/** What was built leaves as frames; the PHY reads them to `tb` and frees them. */
static void
to_phy(uint8_t *tb, uint16_t handle)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	uint8_t frame[FRAME_MAX];
	struct fapi_tx_pdu pdu;
	struct fapi_data d;
	uint32_t at = 0;

	assert_int_equal(run.nb_out, FRAMES);
	assert_int_equal(fapi_tx_burst(&fapi, out, FRAMES, 0, drops), FRAMES);
	for (unsigned i = 0; i < FRAMES; i++) {
		uint32_t hl = i ? FAPI_HDR_LEN : FAPI_HDR_FIRST_LEN;
		const uint8_t *p = rte_pktmbuf_read(out[i], 0, out[i]->pkt_len, frame);

		assert_int_equal(rte_mbuf_check(out[i], 1, &(const char *){NULL}), 0);
		if (i == 0) {
			fapi_data_decode(p + FAPI_HDR_LEN, FAPI_DATA_LEN, &d);
			fapi_tx_pdu_decode(p + FAPI_HDR_LEN + FAPI_DATA_LEN, FAPI_DATA_PDU_LEN,
					   &pdu);
			assert_int_equal(d.at.slot, handle % 10);
			assert_int_equal(pdu.index, handle);
			assert_int_equal(pdu.tb_bytes, TB);
		}
		memcpy(tb + at, p + hl, out[i]->pkt_len - hl);
		at += out[i]->pkt_len - hl;
	}
	assert_int_equal(at, TB);
	rte_pktmbuf_free_bulk(out, FRAMES);
}

static void
sent_again_byte_for_byte(void **state)
{
	(void)state;
	for (enum mac_strategy s = 0; s < MAC_STRATEGIES; s++) {
		start(s, 1, 16);
		new_tb(3, 11, 7);
		to_phy(first, 11);
		for (uint16_t k = 0; k < 9; k++) {
			retx(3, 20 + k);
			assert_int_equal(run.made, FRAMES);
			to_phy(again, 20 + k);
			assert_memory_equal(first, again, TB);
		}
		stop();
	}
}

/*
 * The network holds a TB that is only late for lost, as often as it likes: it may ask more often
 * than it takes a TB to fail for good, and has the TB until it toggles NDI.
 */
static void
kept_until_new_data(void **state)
{
	(void)state;
	start(MAC_SCATTER, 1, 16);
	new_tb(3, 1, 7);
	to_phy(first, 1);
	for (uint16_t k = 0; k < 100; k++) {
		retx(3, 2 + k);
		to_phy(again, 2 + k);
		assert_memory_equal(first, again, TB);
	}
	new_tb(3, 200, 70);
	to_phy(again, 200);
	assert_memory_not_equal(first, again, TB);
	memcpy(first, again, TB);
	retx(3, 201);
	to_phy(again, 201);
	assert_memory_equal(first, again, TB);
	stop();
}

/** What was acknowledged is given back at once; the other TB stays. */
static void
flushed_when_acknowledged(void **state)
{
	const struct mac_tb_release r[] = {
		{.ue = 0, .process = 3}, {.ue = 9, .process = 1}, {.ue = 0, .process = 16}};
	unsigned kept;

	(void)state;
	start(MAC_SCATTER, 1, 16);
	new_tb(3, 1, 7);
	to_phy(first, 1);
	kept = rte_mempool_in_use_count(pools.proto);
	assert_int_equal(kept, 5);
	new_tb(4, 2, 70);
	to_phy(first, 2);
	for (unsigned i = 0; i < 2; i++) { /* the second time there is nothing */
		struct rte_mbuf *in[1] = {mark(AP_M_TB_RETX, 0, 0)};
		struct mac_tb_mark *k = rte_pktmbuf_mtod(in[0], struct mac_tb_mark *);

		k->tb_bytes = 0;
		k->ce_bytes = sizeof(r);
		memcpy(k->ce, r, sizeof(r));
		build(in, 1);
		assert_int_equal(run.nb_out, 0);
		assert_int_equal(run.in_drops, 0);
		assert_int_equal(rte_mempool_in_use_count(pools.proto), kept);
	}
	retx(3, 3);
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	retx(4, 4);
	to_phy(again, 4);
	assert_memory_equal(first, again, TB);
	stop();
}

static void
ues_are_apart(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	start(MAC_SCATTER, 3, 2);
	mark_ue = 2;
	new_tb(1, 1, 10);
	to_phy(first, 1);
	mark_ue = 1;
	new_tb(1, 2, 90);
	to_phy(again, 2);
	assert_memory_not_equal(first, again, TB);
	mark_ue = 2;
	retx(1, 3);
	to_phy(again, 3);
	assert_memory_equal(first, again, TB);
	mark_ue = 0;
	retx(1, 4);
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	mark_ue = 3; /* not there */
	m = mark(AP_M_TB_RETX, 1, 5);
	build(&m, 1);
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	mark_ue = 0;
	stop();
}

/* The PHY has not freed the first transmission yet when the second leaves. */
static void
two_copies_under_way(void **state)
{
	struct rte_mbuf *one[FRAMES];
	uint64_t drops[FAPI_TX_DROPS] = {0};

	(void)state;
	start(MAC_SCATTER, 1, 16);
	new_tb(0, 1, 50);
	assert_int_equal(fapi_tx_burst(&fapi, out, FRAMES, 0, drops), FRAMES);
	memcpy(one, out, sizeof(one));
	retx(0, 2);
	to_phy(again, 2);
	memcpy(out, one, sizeof(one));
	for (unsigned i = 0, at = 0; i < FRAMES; i++) {
		uint32_t hl = i ? FAPI_HDR_LEN : FAPI_HDR_FIRST_LEN;
		uint8_t frame[FRAME_MAX];
		const uint8_t *p = rte_pktmbuf_read(one[i], 0, one[i]->pkt_len, frame);

		assert_memory_equal(p + hl, again + at, one[i]->pkt_len - hl);
		at += one[i]->pkt_len - hl;
	}
	rte_pktmbuf_free_bulk(one, FRAMES);
	stop();
}

static void
new_data_flushes_its_process_alone(void **state)
{
	(void)state;
	start(MAC_SCATTER, 1, 2);
	new_tb(0, 1, 10);
	to_phy(first, 1);
	new_tb(1, 2, 90);
	to_phy(again, 2);
	new_tb(1, 3, 120);
	to_phy(again, 3);
	retx(0, 4);
	to_phy(again, 4);
	assert_memory_equal(first, again, TB);
	stop();
}

static void
abandoned_tbs_are_not_kept(void **state)
{
	struct rte_mbuf *in[3];

	(void)state;
	start(MAC_SCATTER, 1, 2);
	in[0] = mark(AP_M_TB_START, 0, 1);
	for (unsigned i = 1; i < 3; i++) {
		in[i] = rte_pktmbuf_alloc(pools.proto);
		memset(rte_pktmbuf_append(in[i], 1000), 0, 1000);
		*ap_meta(in[i]) = (struct ap_meta){.lcid = 4};
	}
	build(in, 3); /* 2 × 1000 B are more than the TB: it is abandoned */
	assert_true(run.drops[MAC_BUILD_OVERRUN] > 0);
	rte_pktmbuf_free_bulk(out, run.nb_out);
	retx(0, 2);
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	stop();
}

static void
marks_that_cannot_be(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	start(MAC_SCATTER, 1, 2);
	retx(1, 1); /* nothing was sent */
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	retx(7, 1); /* no such process */
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	new_tb(1, 2, 10);
	to_phy(first, 2);
	m = mark(AP_M_TB_RETX, 1, 3);
	rte_pktmbuf_mtod(m, struct mac_tb_mark *)->tb_bytes = TB - 1;
	build(&m, 1); /* another size */
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	m = mark(AP_M_TB_RETX, 1, 3);
	run = (struct mac_build_run){.out = out, .max = FRAMES - 1};
	mac_build(&b, &m, 1, &run);
	assert_int_equal(run.drops[MAC_BUILD_OUT_FULL], 1);
	assert_int_equal(run.nb_out, 0);
	stop();
	start(MAC_SCATTER, 1, 0);
	retx(0, 1); /* HARQ is off */
	assert_int_equal(run.drops[MAC_BUILD_HARQ_EMPTY], 1);
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sent_again_byte_for_byte),
		cmocka_unit_test(kept_until_new_data),
		cmocka_unit_test(flushed_when_acknowledged),
		cmocka_unit_test(ues_are_apart),
		cmocka_unit_test(two_copies_under_way),
		cmocka_unit_test(new_data_flushes_its_process_alone),
		cmocka_unit_test(abandoned_tbs_are_not_kept),
		cmocka_unit_test(marks_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
