/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "modules/sdap/sdap.h"
#include "test_eal.h"

#define VECTOR 40

static struct rte_mempool *pool;
static struct rte_mempool *hdr; /* two segments */
static uint64_t drops[8];
static uint64_t used;

/* Bearer 0: header both ways. 1: none. 2: uplink only. 3 is no DRB. */
static const struct sdap_drb drbs[] = {
	{.present = true, .sdap_HeaderUL = true, .sdap_HeaderDL = true},
	{.present = true},
	{.present = true, .sdap_HeaderUL = true},
	{.sdap_HeaderUL = true},
};
static const struct sdap_rule rules[] = {{.dscp = 46, .qfi = 5}, {.dscp = 10, .qfi = 7}};
static const struct sdap_mapping mappings[] = {{.qfi = 5, .bearer = 1}, {.qfi = 7, .bearer = 2}};

static struct sdap_cfg
config(enum l2_direction tx, enum l2_direction rx)
{
	memset(drops, 0, sizeof(drops));
	used = 0;
	return (struct sdap_cfg){
		.tx_direction = tx,
		.rx_direction = rx,
		.nb_bearers = RTE_DIM(drbs),
		.drbs = drbs,
		.defaultDRB = 0,
		.default_qfi = 9,
		.hdr = hdr,
	};
}

static struct rte_mbuf *
packet(uint8_t b0, uint8_t b1)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *p;

	assert_non_null(m);
	m->data_len = 20;
	m->pkt_len = 20;
	p = rte_pktmbuf_mtod(m, uint8_t *);
	memset(p, 0xaa, 20);
	p[0] = b0;
	p[1] = b1;
	*ap_meta(m) = (struct ap_meta){.bearer = 77, .flags = AP_M_TIMED};
	return m;
}

static void
expect(struct rte_mbuf *m, uint32_t bearer, uint8_t qfi, int octet)
{
	assert_int_equal(ap_meta(m)->bearer, bearer);
	assert_int_equal(ap_meta(m)->qfi, qfi);
	assert_int_equal(ap_meta(m)->flags, AP_M_TIMED);
	assert_int_equal(m->pkt_len, octet < 0 ? 20 : 21);
	if (octet >= 0)
		assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), octet);
}

static void
default_flow_both_directions(void **state)
{
	static const uint8_t octet[] = {[L2_UPLINK] = 0x89, [L2_DOWNLINK] = 0x09};
	struct rte_mbuf *p[VECTOR];
	struct sdap s;

	(void)state;
	for (enum l2_direction d = L2_UPLINK; d <= L2_DOWNLINK; d++) {
		struct sdap_cfg cfg = config(d, d);

		assert_int_equal(sdap_init(&s, &cfg), 0);
		for (unsigned i = 0; i < VECTOR; i++)
			p[i] = packet(0x45, 46 << 2); /* no rules: DSCP says nothing */
		assert_int_equal(sdap_tx_process(&s, p, VECTOR, drops), VECTOR);
		for (unsigned i = 0; i < VECTOR; i++) {
			expect(p[i], 0, 9, octet[d]);
			ap_meta(p[i])->qfi = 0;
		}
		assert_int_equal(sdap_rx_process(&s, p, VECTOR, drops, &used), VECTOR);
		for (unsigned i = 0; i < VECTOR; i++) {
			expect(p[i], 0, 9, -1);
			assert_int_equal(*rte_pktmbuf_mtod(p[i], uint8_t *), 0x45);
		}
		rte_pktmbuf_free_bulk(p, VECTOR);
		sdap_fini(&s);
	}
	assert_int_equal(used, 0);
	assert_pool_full(pool);
}

static void
rules_choose_flow_and_bearer(void **state)
{
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *p[8];
	struct sdap s;

	(void)state;
	cfg.rules = rules;
	cfg.nb_rules = RTE_DIM(rules);
	cfg.mappings = mappings;
	cfg.nb_mappings = RTE_DIM(mappings);
	assert_int_equal(sdap_init(&s, &cfg), 0);
	p[0] = packet(0x45, 46 << 2);
	p[1] = packet(0x45, 46 << 2 | 3); /* ECN is no part of the DSCP */
	p[2] = packet(0x60 | 46 >> 2, (46 & 3) << 6 | 0x0f);
	p[3] = packet(0x45, 10 << 2);
	p[4] = packet(0x60 | 10 >> 2, (10 & 3) << 6);
	p[5] = packet(0x45, 0);
	p[6] = packet(0x00, 46 << 2); /* not IP */
	p[7] = packet(0x45, 46 << 2);
	rte_pktmbuf_trim(p[7], 19);
	assert_int_equal(sdap_tx_process(&s, p, 8, drops), 8);
	expect(p[0], 1, 5, -1);
	expect(p[1], 1, 5, -1);
	expect(p[2], 1, 5, -1);
	expect(p[3], 2, 7, 0x87);
	expect(p[4], 2, 7, 0x87);
	expect(p[5], 0, 9, 0x89);
	expect(p[6], 0, 9, 0x89);
	assert_int_equal(ap_meta(p[7])->qfi, 9);
	rte_pktmbuf_free_bulk(p, 8);
	sdap_fini(&s);
	assert_pool_full(pool);
}

static void
flow_without_drb_is_named(void **state)
{
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *p[3];
	struct sdap s;

	(void)state;
	cfg.defaultDRB = L2_NO_BEARER;
	cfg.rules = rules;
	cfg.nb_rules = RTE_DIM(rules);
	cfg.mappings = mappings;
	cfg.nb_mappings = 1;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	p[0] = packet(0x45, 0);
	p[1] = packet(0x45, 10 << 2);
	p[2] = packet(0x45, 46 << 2);
	assert_int_equal(sdap_tx_process(&s, p, 3, drops), 1);
	assert_int_equal(drops[SDAP_TX_NO_DRB], 2);
	expect(p[0], 1, 5, -1);
	rte_pktmbuf_free(p[0]);
	sdap_fini(&s);
	assert_pool_full(pool);
}

static void
shared_buffers_get_a_header_segment(void **state)
{
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *owner[3], *p[3];
	struct sdap s;

	(void)state;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	for (unsigned i = 0; i < 3; i++) {
		owner[i] = packet(0x45, 0);
		p[i] = rte_pktmbuf_clone(owner[i], pool);
		*ap_meta(p[i]) = *ap_meta(owner[i]);
	}
	assert_int_equal(sdap_tx_process(&s, p, 3, drops), 2);
	assert_int_equal(drops[SDAP_TX_NO_MBUF], 1);
	for (unsigned i = 0; i < 2; i++) {
		expect(p[i], 0, 9, 0x89);
		assert_int_equal(p[i]->nb_segs, 2);
	}
	rte_pktmbuf_free_bulk(p, 2);
	rte_pktmbuf_free_bulk(owner, 3);
	sdap_fini(&s);
	assert_pool_full(pool);
	assert_pool_full(hdr);
}

static struct rte_mbuf *
received(uint32_t bearer, uint8_t octet, uint16_t len)
{
	struct rte_mbuf *m = packet(octet, 0x45);

	rte_pktmbuf_trim(m, 20 - len);
	ap_meta(m)->bearer = bearer;
	return m;
}

static void
uplink_receiver(void **state)
{
	struct sdap_cfg cfg = config(L2_DOWNLINK, L2_UPLINK);
	struct rte_mbuf *p[9];
	struct sdap s;

	(void)state;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	p[0] = received(0, 0x05, 1);  /* end-marker */
	p[1] = received(0, 0xc6, 20); /* reserved bit set */
	p[2] = received(0, 0x05, 20); /* end-marker with something behind */
	p[3] = received(0, 0x85, 1);
	p[4] = received(0, 0x85, 0);
	p[5] = received(1, 0x45, 20); /* no header */
	p[6] = received(2, 0x87, 20);
	p[7] = received(3, 0x87, 20);
	p[8] = received(4, 0x87, 20);
	assert_int_equal(sdap_rx_process(&s, p, 9, drops, &used), 3);
	assert_int_equal(used, 1);
	assert_int_equal(s.end_markers, 1);
	assert_int_equal(drops[SDAP_RX_MALFORMED], 1);
	assert_int_equal(drops[SDAP_RX_SHORT], 2);
	assert_int_equal(drops[SDAP_RX_NO_DRB], 2);
	assert_int_equal(ap_meta(p[0])->qfi, 6);
	assert_int_equal(p[0]->pkt_len, 19);
	assert_int_equal(p[1]->pkt_len, 20);
	assert_int_equal(ap_meta(p[2])->qfi, 7);
	rte_pktmbuf_free_bulk(p, 3);
	sdap_fini(&s);
	assert_pool_full(pool);
}

static void
downlink_receiver(void **state)
{
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *p[4];
	struct sdap s;

	(void)state;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	p[0] = received(0, 0x05, 20);
	p[1] = received(0, 0xc6, 20); /* RDI and RQI */
	p[2] = received(0, 0x05, 1);
	p[3] = received(2, 0x45, 20); /* header in the uplink only */
	assert_int_equal(sdap_rx_process(&s, p, 4, drops, &used), 3);
	assert_int_equal(used, 0);
	assert_int_equal(s.rdi[6], 1);
	assert_int_equal(s.rqi[6], 1);
	assert_int_equal(s.rdi[5], 0);
	assert_int_equal(drops[SDAP_RX_SHORT], 1);
	assert_int_equal(ap_meta(p[0])->qfi, 5);
	assert_int_equal(ap_meta(p[1])->qfi, 6);
	assert_int_equal(p[2]->pkt_len, 20);
	rte_pktmbuf_free_bulk(p, 3);
	sdap_fini(&s);
	assert_pool_full(pool);
}

/** A downlink PDU of `qfi` with RDI on `bearer`. */
static void
reflected(struct sdap *s, uint32_t bearer, uint8_t qfi, bool rqi)
{
	struct rte_mbuf *m = received(bearer, sdap_dl_octet(true, rqi, qfi), 20);

	assert_int_equal(sdap_rx_process(s, &m, 1, drops, &used), 1);
	rte_pktmbuf_free(m);
}

static void
expect_marker(struct rte_mbuf *m, uint32_t bearer, uint8_t octet)
{
	assert_int_equal(m->pkt_len, 1);
	assert_int_equal(*rte_pktmbuf_mtod(m, uint8_t *), octet);
	assert_int_equal(ap_meta(m)->bearer, bearer);
	rte_pktmbuf_free(m);
}

/** §5.3.2: the end-marker goes where the flow was, if that DRB has UL headers. */
static void
reflective_mapping(void **state)
{
	static const struct sdap_drb all[] = {
		{.present = true, .sdap_HeaderUL = true, .sdap_HeaderDL = true},
		{.present = true, .sdap_HeaderDL = true},
		{.present = true, .sdap_HeaderUL = true, .sdap_HeaderDL = true},
	};
	static const struct sdap_mapping own[] = {{.qfi = 5, .bearer = 1}, {.qfi = 7, .bearer = 2}};
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *p, *markers[SDAP_QFI_MAX + 1];
	struct sdap s;

	(void)state;
	cfg.drbs = all;
	cfg.nb_bearers = RTE_DIM(all);
	cfg.mappings = own;
	cfg.nb_mappings = RTE_DIM(own);
	cfg.default_qfi = 7;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	assert_true(s.reflective);
	assert_false(sdap_tx_remapped(&s));

	reflected(&s, 2, 7, true); /* as it is */
	assert_false(sdap_tx_remapped(&s));
	assert_int_equal(s.rqi[7], 1);

	reflected(&s, 0, 7, false); /* stored, another DRB */
	reflected(&s, 0, 7, false);
	assert_true(sdap_tx_remapped(&s));
	assert_int_equal(sdap_tx_remap(&s, markers), 1);
	expect_marker(markers[0], 2, 0x07);
	p = packet(0x45, 0);
	assert_int_equal(sdap_tx_process(&s, &p, 1, drops), 1);
	expect(p, 0, 7, 0x87);
	rte_pktmbuf_free(p);

	reflected(&s, 2, 5, false); /* stored on a DRB without UL header */
	assert_int_equal(sdap_tx_remap(&s, markers), 0);
	assert_int_equal(s.bearer_of_qfi[5], 2);

	reflected(&s, 1, 63, false); /* not stored: it was on the default DRB */
	assert_int_equal(sdap_tx_remap(&s, markers), 1);
	expect_marker(markers[0], 0, 0x3f);
	assert_int_equal(s.bearer_of_qfi[63], 1);
	assert_int_equal(s.end_markers_sent, 2);
	assert_int_equal(sdap_tx_remap(&s, markers), 0);
	sdap_fini(&s);
	assert_pool_full(hdr);
}

/** Without an mbuf for its end-marker a flow stays where it is until there is one. */
static void
remapping_waits_for_an_mbuf(void **state)
{
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct rte_mbuf *m[2], *markers[SDAP_QFI_MAX + 1];
	struct sdap s;

	(void)state;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(hdr, m, 2), 0);
	reflected(&s, 0, 20, false);
	assert_int_equal(sdap_tx_remap(&s, markers), 0);
	assert_true(sdap_tx_remapped(&s));
	rte_pktmbuf_free_bulk(m, 2);
	assert_int_equal(sdap_tx_remap(&s, markers), 1);
	expect_marker(markers[0], 0, 20);
	assert_false(sdap_tx_remapped(&s));
	sdap_fini(&s);
}

static void
impossible_configurations(void **state)
{
	static const struct sdap_mapping nowhere = {.qfi = 1, .bearer = 3};
	static const struct sdap_rule absurd = {.dscp = 64};
	struct sdap_cfg cfg = config(L2_UPLINK, L2_DOWNLINK);
	struct sdap s;

	(void)state;
	cfg.defaultDRB = 3;
	assert_int_equal(sdap_init(&s, &cfg), -EINVAL);
	cfg = config(L2_UPLINK, L2_DOWNLINK);
	cfg.default_qfi = 64;
	assert_int_equal(sdap_init(&s, &cfg), -EINVAL);
	cfg = config(L2_UPLINK, L2_DOWNLINK);
	cfg.mappings = &nowhere;
	cfg.nb_mappings = 1;
	assert_int_equal(sdap_init(&s, &cfg), -EINVAL);
	cfg = config(L2_UPLINK, L2_DOWNLINK);
	cfg.rules = &absurd;
	cfg.nb_rules = 1;
	assert_int_equal(sdap_init(&s, &cfg), -EINVAL);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("sdap", 255, 512);
	hdr = test_pool("hdr", 2, 64);
	return pool && hdr ? 0 : -1;
}

/** A gNB's packets, of which the tunnel said bearer and flow. */
static void
mapped_packets_keep_bearer_and_flow(void **state)
{
	struct sdap_cfg cfg = config(L2_DOWNLINK, L2_UPLINK);
	struct rte_mbuf *pkts[3];
	struct sdap s;

	(void)state;
	cfg.first_bearer = 8;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	for (unsigned i = 0; i < 3; i++) {
		pkts[i] = packet(0x45, 0);
		*ap_meta(pkts[i]) = (struct ap_meta){
			.bearer = 8 + i, .qfi = (uint8_t)(0x40 | (20 + i)), .flags = AP_M_TIMED};
	}
	assert_int_equal(sdap_tx_mapped(&s, pkts, 3, drops), 3);
	for (unsigned i = 0; i < 3; i++) {
		const bool header = i == 0; /* the others have none downlink */

		assert_int_equal(ap_meta(pkts[i])->bearer, 8 + i);
		assert_int_equal(ap_meta(pkts[i])->qfi, 20 + i);
		assert_int_equal(ap_meta(pkts[i])->flags, AP_M_TIMED);
		assert_int_equal(pkts[i]->pkt_len, 20 + header);
		assert_int_equal(*rte_pktmbuf_mtod(pkts[i], uint8_t *), header ? 0x40 | 20 : 0x45);
		rte_pktmbuf_free(pkts[i]);
	}
	sdap_fini(&s);
}

/** Without a segment for the header a packet is dropped by name, and the others go. */
static void
mapped_packets_without_room(void **state)
{
	struct sdap_cfg cfg = config(L2_DOWNLINK, L2_UPLINK);
	struct rte_mbuf *pkts[2], *shared, *segments[2];
	struct sdap s;

	(void)state;
	assert_int_equal(sdap_init(&s, &cfg), 0);
	for (unsigned i = 0; i < 2; i++) {
		pkts[i] = packet(0x45, 0);
		*ap_meta(pkts[i]) = (struct ap_meta){.bearer = 0, .qfi = 1};
	}
	shared = pkts[0];
	rte_pktmbuf_refcnt_update(shared, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(hdr, segments, 2), 0);
	assert_int_equal(sdap_tx_mapped(&s, pkts, 2, drops), 1);
	assert_int_equal(drops[SDAP_TX_NO_MBUF], 1);
	assert_ptr_not_equal(pkts[0], shared);
	rte_pktmbuf_free(pkts[0]);
	rte_pktmbuf_free(shared);
	rte_pktmbuf_free_bulk(segments, 2);
	sdap_fini(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_flow_both_directions),
		cmocka_unit_test(rules_choose_flow_and_bearer),
		cmocka_unit_test(flow_without_drb_is_named),
		cmocka_unit_test(shared_buffers_get_a_header_segment),
		cmocka_unit_test(uplink_receiver),
		cmocka_unit_test(downlink_receiver),
		cmocka_unit_test(reflective_mapping),
		cmocka_unit_test(remapping_waits_for_an_mbuf),
		cmocka_unit_test(mapped_packets_keep_bearer_and_flow),
		cmocka_unit_test(mapped_packets_without_room),
		cmocka_unit_test(impossible_configurations),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
