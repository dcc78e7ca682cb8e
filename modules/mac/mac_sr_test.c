/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduling requests, TS 38.321 §5.4.4: when one is sent, how often, and what ends it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/mac/mac_tx.h"
#include "test_eal.h"
#include "test_node.h"

#define MS AP_NS_PER_MS
#define LCS 2
#define RNTI 0x4711
#define GRANTED 100000 /* carries all there is */

static struct l2 l2;
static struct rlc_tx rlc[LCS];
static struct mac_tx tx;
static struct fapi_tx fapi;
static struct test_node *node;
static uint32_t slots;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	l2.pools.proto = test_pool("proto", 511, 2048);
	l2.pools.hdr = test_pool("hdr", 63, 128);
	l2.pools.ind = rte_pktmbuf_pool_create("ind", 511, 0, 0, 0, 0);
	l2.mac_tx = &tx;
	l2.fapi_tx = &fapi;
	l2.nb_carriers = 1;
	return l2.pools.proto && l2.pools.hdr && l2.pools.ind ? 0 : -1;
}

static void
start(uint32_t prohibit_ms, uint32_t trans_max, uint32_t harq)
{
	struct mac_tx_lc_cfg lcs[LCS];
	const struct mac_tx_cfg cfg = {.direction = L2_UPLINK,
				       .nb_carriers = 1,
				       .nb_lcs = LCS,
				       .lcs = lcs,
				       .retxBSR_ms = 80,
				       .periodicBSR_ms = 5,
				       .sr = {trans_max, prohibit_ms, RNTI},
				       .harq_processes = harq,
				       .hdr = l2.pools.hdr};

	for (uint32_t i = 0; i < LCS; i++) {
		const struct rlc_tx_cfg r = {.mode = RLC_UM,
					     .sn_FieldLength = RLC_SN_12,
					     .queue_sdus = 128,
					     .bearer = i,
					     .lcid = (uint8_t)(4 + i),
					     .pools = &l2.pools};

		assert_int_equal(rlc_tx_init(&rlc[i], &r), 0);
		lcs[i] = (struct mac_tx_lc_cfg){.rlc = &rlc[i],
						.lcid = (uint8_t)(4 + i),
						.priority = (uint8_t)(2 - i),
						.lcg = (uint8_t)i};
	}
	assert_int_equal(mac_tx_init(&tx, &cfg), 0);
	assert_int_equal(fapi_tx_init(&fapi, &(struct fapi_tx_cfg){.dst = {0xAA}}), 0);
	memset(&l2.slots, 0, sizeof(l2.slots));
	slots = 0;
	node = test_node_make("mac_slot", &l2);
}

static void
stop(void)
{
	node->n.type->fini(&node->n);
	test_node_balance(node);
	test_node_free(node);
	for (uint32_t i = 0; i < LCS; i++)
		rlc_tx_fini(&rlc[i]);
	assert_pool_full(l2.pools.proto);
	assert_pool_full(l2.pools.hdr);
	assert_pool_full(l2.pools.ind);
}

static void
feed(uint32_t lc, uint32_t nb)
{
	uint64_t drops[RLC_TX_DROPS] = {0};

	for (uint32_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(l2.pools.proto);

		*ap_meta(m) = (struct ap_meta){0};
		memset(rte_pktmbuf_append(m, 500), (int)i, 500);
		assert_int_equal(rlc_tx_push(&rlc[lc], &m, 1, 0, drops), 1);
	}
}

/** A slot of 1 ms. @return whether an SR went to the PHY. */
static bool
slot_at(uint64_t now_ns, struct slot_grant g)
{
	struct rte_mbuf **out;
	uint16_t nb;

	g.slot = (uint16_t)(slots++ % 10);
	assert_true(slot_box_put(&l2.slots, &g));
	node->worker.now_ns = now_ns;
	do
		test_node_visit(node, (struct rte_mbuf *[]){NULL}, 0);
	while (mac_tx_busy(&tx));
	nb = test_node_take(node, 0, &out);
	rte_pktmbuf_free_bulk(out, nb);
	nb = test_node_take(node, MAC_SLOT_EDGE_SR, &out);
	assert_true(nb <= 1);
	rte_pktmbuf_free_bulk(out, nb);
	return nb == 1;
}

static bool
slot(uint64_t now_ns, uint32_t tb_bytes)
{
	return slot_at(now_ns, (struct slot_grant){.tb_bytes = {tb_bytes}});
}

static void
frame_golden(void **state)
{
	static const uint8_t golden[] = {
		0xAA, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x88, 0xB5, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x18, /* SR.request, 24 B */
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0xD0, /* 2000 us */
		0x00, 0x05, 0x00, 0x03, 0x47, 0x11,
	};
	struct rte_mbuf **out;

	(void)state;
	start(0, 4, 0);
	feed(0, 1);
	node->worker.now_ns = 2 * MS;
	slot_box_put(&l2.slots, &(struct slot_grant){.sfn = 5, .slot = 3});
	test_node_visit(node, (struct rte_mbuf *[]){NULL}, 0);
	assert_int_equal(test_node_take(node, MAC_SLOT_EDGE_SR, &out), 1);
	assert_int_equal(out[0]->pkt_len, sizeof(golden));
	assert_memory_equal(rte_pktmbuf_mtod(out[0], void *), golden, sizeof(golden));
	rte_pktmbuf_free(out[0]);
	stop();
}

/** Data asks, a grant ends the asking, and idle slots are silent. */
static void
data_without_grant_asks(void **state)
{
	(void)state;
	start(10, 4, 0);
	for (uint64_t t = 0; t < 20; t++)
		assert_false(slot(t * MS, 0));
	feed(0, 3);
	assert_true(slot(20 * MS, 0));
	for (uint64_t t = 21; t < 30; t++)
		assert_false(slot(t * MS, 0)); /* sr-ProhibitTimer */
	assert_true(slot(30 * MS, 0));
	assert_false(slot(31 * MS, GRANTED));
	assert_int_equal(tx.bsrs, 1);
	for (uint64_t t = 32; t < 60; t++)
		assert_false(slot(t * MS, 0));
	/* Cancelling stopped sr-ProhibitTimer. */
	feed(0, 1);
	assert_true(slot(60 * MS, 0));
	assert_false(slot(61 * MS, GRANTED));
	feed(0, 1);
	assert_true(slot(62 * MS, 0));
	assert_int_equal(tx.srs, 4);
	assert_int_equal(tx.sr_failures, 0);
	stop();
}

/** With a grant in the slot the BSR goes there. */
static void
a_grant_needs_no_request(void **state)
{
	(void)state;
	start(0, 4, 0);
	for (uint64_t t = 0; t < 20; t++) {
		feed(0, 1);
		assert_false(slot(t * MS, 100));
	}
	assert_int_equal(tx.srs, 0);
	assert_true(tx.bsrs > 0);
	stop();
}

/** The network knows: only what is regular asks again, once retxBSR-Timer has expired. */
static void
reported_data_does_not_ask(void **state)
{
	(void)state;
	start(1, 64, 0);
	feed(0, 100);
	assert_true(slot(0, 0));
	assert_false(slot(1 * MS, 1000)); /* the BSR tells of the rest */
	for (uint64_t t = 2; t < 81; t++)
		assert_false(slot(t * MS, 0)); /* periodicBSR-Timer asks for nothing */
	assert_true(slot(81 * MS, 0));
	assert_false(slot(82 * MS, 1000));
	/* "higher priority than … any logical channel containing available UL data" */
	feed(1, 1);
	assert_true(slot(83 * MS, 0));
	stop();
}

static void
trans_max_ends_in_random_access(void **state)
{
	unsigned asked = 0;

	(void)state;
	start(2, 3, 0);
	feed(0, 1);
	for (uint64_t t = 0; t < 50; t++)
		asked += slot(t * MS, 0);
	assert_int_equal(asked, 3);
	assert_int_equal(tx.srs, 3);
	assert_int_equal(tx.sr_failures, 1);
	assert_int_equal(rlc_tx_held(&rlc[0]), 1);
	/* What random access would bring: a grant, and the data goes; then SRs are there again. */
	assert_false(slot(50 * MS, GRANTED));
	assert_int_equal(rlc_tx_held(&rlc[0]), 0);
	feed(0, 1);
	assert_true(slot(51 * MS, 0));
	stop();
}

/** Nobody granted anything: a UE that stayed silent would never be heard again. */
static void
random_access_brings_requests_back(void **state)
{
	unsigned asked = 0;

	(void)state;
	start(2, 3, 0);
	feed(0, 1);
	for (uint64_t t = 0; t < 2 * MAC_RANDOM_ACCESS_MS; t++)
		asked += slot(t * MS, 0);
	assert_int_equal(asked, 6);
	assert_int_equal(tx.sr_failures, 2);
	assert_false(slot(300 * MS, GRANTED));
	assert_int_equal(rlc_tx_held(&rlc[0]), 0);
	stop();
}

/** A TB too small for the BSR that empties the queue, and one that does not. */
static void
tiny_grants(void **state)
{
	(void)state;
	start(0, 64, 0);
	feed(0, 1);
	assert_true(slot(0, 0));
	assert_false(slot(1 * MS, 506)); /* 500 and RLC 1, MAC 3: no BSR fits beside them */
	assert_int_equal(rlc_tx_held(&rlc[0]), 0);
	assert_false(slot(2 * MS, 0));
	feed(0, 1);
	assert_true(slot(3 * MS, 0));
	assert_false(slot(4 * MS, 1)); /* nothing fits */
	assert_true(slot(5 * MS, 0));
	stop();
}

/** "available for a new transmission": a retransmission is no such grant. */
static void
a_retransmission_is_no_grant(void **state)
{
	struct slot_grant g = {.tb_bytes = {600}, .tb = {{.new_data = true}}};

	(void)state;
	start(0, 64, 4);
	feed(0, 1);
	assert_false(slot_at(0, g));
	feed(0, 1);
	assert_true(slot_at(1 * MS, g));
	assert_int_equal(tx.harq_retx, 1);
	stop();
}

static void
no_mbuf_is_told(void **state)
{
	struct rte_mbuf *hoard[63];

	(void)state;
	start(5, 1, 0);
	feed(0, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(l2.pools.hdr, hoard, 63), 0);
	assert_false(slot(0, 0));
	assert_int_equal(node->n.drops[4], 1);
	assert_string_equal(node->n.type->drops[4], "sr_no_mbuf");
	rte_pktmbuf_free_bulk(hoard, 63);
	assert_true(slot(1 * MS, 0)); /* it did not count */
	stop();
}

static void
off_unless_configured(void **state)
{
	(void)state;
	start(0, 0, 0);
	feed(0, 5);
	for (uint64_t t = 0; t < 200; t++)
		assert_false(slot(t * MS, 0));
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_golden),
		cmocka_unit_test(data_without_grant_asks),
		cmocka_unit_test(a_grant_needs_no_request),
		cmocka_unit_test(reported_data_does_not_ask),
		cmocka_unit_test(trans_max_ends_in_random_access),
		cmocka_unit_test(random_access_brings_requests_back),
		cmocka_unit_test(tiny_grants),
		cmocka_unit_test(a_retransmission_is_no_grant),
		cmocka_unit_test(no_mbuf_is_told),
		cmocka_unit_test(off_unless_configured),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
