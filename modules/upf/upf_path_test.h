/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PATH_TEST_H
#define AIRPATH_UPF_PATH_TEST_H

/**
 * A session by hand for tests of the fast path's nodes: lane 0 up to N6, lane 1 down into the
 * gNB's tunnel. cmocka must be included first.
 */

#include <errno.h>

#include "core/config.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_buffer.h"
#include "modules/upf/upf_charge.h"
#include "modules/upf/upf_net_test.h"
#include "test_eal.h"
#include "test_node.h"

#define PATH_LANES 4
#define PATH_TEID 0x00A00B01U

static struct path_bed {
	struct ap_cfg_upf cfg;
	struct upf upf;
	struct upf_worker w;
	struct upf_charger charger;
	struct upf_session s __rte_cache_aligned;
	struct upf_lane lanes[PATH_LANES];
	struct upf_rules r;
	struct upf_pdr pdrs[PATH_LANES];
	struct upf_far fars[PATH_LANES];
	struct upf_qer qers[2];
	struct upf_urr urrs[2];
	struct upf_bar bars[1];
	struct upf_forwarding duplicate;
	struct rte_mempool *pool, *hdr, *pkt;
	uint16_t gnb, gnb6; /* peers */
} bed;

static inline int
path_peer(const uint8_t *ip, uint8_t octets, uint8_t tos, uint8_t mask, bool gtpu)
{
	struct upf_peer_key k = {.port = GTPU_PORT,
				 .octets = octets,
				 .interface = N3,
				 .tos = tos,
				 .tos_mask = mask,
				 .gtpu = gtpu};

	memcpy(k.ip, ip, octets);
	return upf_peer_get(&bed.upf.peers, &k, 0);
}

static inline void
path_far(unsigned i, uint16_t flags, uint16_t peer)
{
	bed.fars[i] = (struct upf_far){
		.id = i + 1,
		.flags = flags,
		.to = {.teid = PATH_TEID, .peer = peer, .interface = peer ? N3 : N6}};
	upf_lane_take_far(&bed.lanes[i], &bed.fars[i]);
}

static void
path_take_far(struct upf_session *s, uint16_t lane, uint16_t far)
{
	s->rules->pdrs[lane].far = (uint8_t)far;
	upf_lane_take_far(&s->lanes[lane], &s->rules->fars[far]);
}

static inline int
path_setup(void **state)
{
	(void)state;
	bed.cfg = (struct ap_cfg_upf){
		.sessions = 64, .buffer_packets = 8, .buffer_session_packets = 4};
	bed.upf = (struct upf){.cfg = &bed.cfg, .nb_workers = 1, .workers = &bed.w};
	bed.upf.net = net_make(UPF_MTU_FRAGMENT);
	assert_non_null(bed.upf.net);
	assert_int_equal(upf_peers_init(&bed.upf.peers, bed.upf.net), 0);
	bed.w = (struct upf_worker){.upf = &bed.upf, .hdr_pool = bed.hdr, .pkt_pool = bed.pkt};
	bed.w.reports = upf_report_ring("path_reports", 64, 0);
	bed.charger = (struct upf_charger){.reports = bed.w.reports, .take_far = path_take_far};
	assert_int_equal(upf_charger_init(&bed.charger, 64), 0);
	bed.w.charger = &bed.charger;
	bed.gnb = (uint16_t)path_peer(gnb_4, 4, 0, 0, true);
	bed.gnb6 = (uint16_t)path_peer(gnb_6, 16, 0, 0, true);
	memset(&bed.s, 0, sizeof(bed.s));
	memset(bed.lanes, 0, sizeof(bed.lanes));
	memset(bed.qers, 0, sizeof(bed.qers));
	memset(bed.urrs, 0, sizeof(bed.urrs));
	bed.s.id = 5;
	bed.s.lanes = bed.lanes;
	bed.s.nb_lanes = PATH_LANES;
	bed.s.rules = &bed.r;
	bed.r = (struct upf_rules){.nb_lanes = PATH_LANES,
				   .nb_fars = PATH_LANES,
				   .nb_qers = 2,
				   .nb_bars = 1,
				   .lanes = bed.lanes,
				   .pdrs = bed.pdrs,
				   .fars = bed.fars,
				   .qers = bed.qers,
				   .bars = bed.bars};
	bed.r.accounts = (struct upf_accounts){.session = &bed.s,
					       .urrs = bed.urrs,
					       .nb_urrs = 1,
					       .pdrs = bed.pdrs,
					       .nb_pdrs = PATH_LANES};
	bed.urrs[0] =
		(struct upf_urr){.id = 1,
				 .flags = UPF_URR_VOLUME,
				 .volume_threshold = {UPF_NO_LIMIT, {UPF_NO_LIMIT, UPF_NO_LIMIT}},
				 .volume_quota = {UPF_NO_LIMIT, {UPF_NO_LIMIT, UPF_NO_LIMIT}}};
	bed.bars[0] = (struct upf_bar){.id = 1, .packets = 3};
	for (unsigned i = 0; i < PATH_LANES; i++) {
		bed.pdrs[i] = (struct upf_pdr){
			.id = (uint16_t)(i + 1), .qfi = 9, .far = (uint8_t)i, .nb_urrs = 1};
		bed.lanes[i].qfi = 9;
		bed.lanes[i].flags = i & 1 ? UPF_LANE_DOWN : 0;
		if (i & 1)
			path_far(i, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
		else
			path_far(i, UPF_LANE_FORWARD, 0);
	}
	return 0;
}

static inline int
path_teardown(void **state)
{
	(void)state;
	upf_peers_fini(&bed.upf.peers);
	upf_net_destroy(bed.upf.net);
	upf_charger_fini(&bed.charger);
	rte_ring_free(bed.w.reports);
	assert_pool_full(bed.pool);
	assert_pool_full(bed.hdr);
	assert_pool_full(bed.pkt);
	return 0;
}

static inline int
path_pools(void)
{
	if (test_eal_init() < 0)
		return -1;
	bed.pool = test_pool("path", 255, 2048);
	bed.hdr = test_pool("path_hdr", 63, 0);
	bed.pkt = test_pool("path_pkt", 63, 2048);
	return bed.pool && bed.hdr && bed.pkt ? 0 : -1;
}

/** A UDP packet of `bytes` octets, matched to a lane: down from N6, up from the gNB's tunnel. */
static inline struct rte_mbuf *
path_packet(unsigned lane, bool v6, uint16_t bytes, uint8_t mark)
{
	const bool down = bed.lanes[lane].flags & UPF_LANE_DOWN;
	struct rte_mbuf *m = rte_pktmbuf_alloc(bed.pool);
	struct net_frame f = {.at = 0};

	assert_non_null(m);
	net_ip(&f, v6, down ? (v6 ? host_6 : host_4) : (v6 ? ue_6 : ue_4),
	       down ? (v6 ? ue_6 : ue_4) : (v6 ? host_6 : host_4), 17,
	       (size_t)bytes - (v6 ? 40 : 20));
	while (f.at < bytes)
		f.b[f.at++] = mark;
	memcpy(rte_pktmbuf_append(m, bytes), f.b, bytes);
	*upf_arrival(m) = (struct upf_arrival){
		.teid = down ? 0 : 1,
		.qfi = 33,
		.rx = (uint8_t)((down ? 0 : UPF_RX_TUNNEL | UPF_RX_QFI) | (v6 ? UPF_RX_INNER6 : 0)),
		.interface = down ? N6 : N3};
	upf_matched_set(m, &bed.s, (uint16_t)lane);
	return m;
}

/** A node of the bed's worker, its init done. */
static inline struct test_node *
path_node(const char *type)
{
	struct test_node *t = test_node_make(type, &bed.upf);

	t->worker.now_ns = 100 * AP_NS_PER_S;
	if (t->n.type->init)
		assert_int_equal(t->n.type->init(&t->n), 0);
	return t;
}

static inline void
path_node_free(struct test_node *t)
{
	if (t->n.type->fini)
		t->n.type->fini(&t->n);
	test_node_free(t);
}

#endif
