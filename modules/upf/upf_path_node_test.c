/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_police, upf_charge and upf_forward: verdicts, counts, and the books. */
#include "modules/upf/upf_path_rig.h"

static void
forwards_up_and_down(void **state)
{
	struct rte_mbuf *m[2] = {path_packet(0, false, 100, 1), path_packet(1, true, 200, 2)},
			**out;

	(void)state;
	assert_int_equal(run(m, 2, &out), 2);
	assert_int_equal(out[0]->pkt_len, 100);
	assert_int_equal(upf_leave(out[0])->peer, 0);
	assert_int_equal(upf_leave(out[0])->from, 0);
	assert_int_equal(upf_leave(out[0])->interface, N6);
	assert_int_equal(out[1]->pkt_len, 244);
	assert_int_equal(upf_leave(out[1])->peer, bed.gnb);
	assert_int_equal(upf_leave(out[1])->from, N6);
	assert_int_equal(upf_leave(out[1])->interface, N3);
	assert_int_equal(rte_pktmbuf_mtod(out[1], uint8_t *)[42], 9); /* QFI of the QER */
	rte_pktmbuf_free_bulk(out, 2);
	assert_int_equal(counted(0), 100);
	assert_int_equal(send(1, 5, 200, 0), 5);
	assert_int_equal(counted(1), 1000);
}

/* Where no QER marks, the QFI and RQI a packet came with go on (N9). */
static void
qfi_goes_on_between_tunnels(void **state)
{
	struct rte_mbuf *m = path_packet(0, false, 100, 1), **out;
	const uint8_t *p;

	(void)state;
	path_far(0, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
	bed.lanes[0].qfi = 0xFF;
	assert_int_equal(run(&m, 1, &out), 1);
	p = rte_pktmbuf_mtod(out[0], uint8_t *);
	assert_int_equal(p[41], PSC_UL << 4);
	assert_int_equal(p[42], 33);
	rte_pktmbuf_free(out[0]);
}

/* RQI of a QER, or of the tunnel a packet came by, goes down (TS 38.415 §5.5.2.1), never up. */
static void
rqi_goes_down(void **state)
{
	struct rte_mbuf *m[3], **out;
	const uint8_t *p;

	(void)state;
	for (unsigned rqi = 0; rqi < 2; rqi++) {
		if (rqi)
			bed.lanes[1].flags |= UPF_LANE_RQI;
		m[0] = path_packet(1, false, 100, 1);
		assert_int_equal(run(m, 1, &out), 1);
		p = rte_pktmbuf_mtod(out[0], uint8_t *);
		assert_int_equal(p[41], PSC_DL << 4);
		assert_int_equal(p[42], rqi << 6 | 9);
		rte_pktmbuf_free(out[0]);
	}
	bed.lanes[1].flags &= ~(uint32_t)UPF_LANE_RQI;
	path_far(0, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
	bed.lanes[0].flags |= UPF_LANE_RQI;
	for (unsigned i = 0; i < RTE_DIM(m); i++) {
		m[i] = path_packet(i & 1, false, 100, 1);
		upf_arrival(m[i])->rx = UPF_RX_TUNNEL | UPF_RX_QFI | (i == 2 ? 0 : UPF_RX_RQI);
		upf_matched_set(m[i], &bed.s, i & 1);
	}
	assert_int_equal(run(m, RTE_DIM(m), &out), 3);
	for (unsigned i = 0; i < RTE_DIM(m); i++) {
		p = rte_pktmbuf_mtod(out[i], uint8_t *);
		assert_int_equal(p[41], (i & 1 ? PSC_DL : PSC_UL) << 4);
		assert_int_equal(p[42], (i & 1) << 6 | 9);
	}
	rte_pktmbuf_free_bulk(out, RTE_DIM(m));
}

static void
gates_and_rates(void **state)
{
	struct rte_meter_srtcm meters[2] = {0};
	struct rte_meter_srtcm_profile p;

	(void)state;
	bed.lanes[0].flags |= UPF_LANE_GATE_CLOSED;
	assert_int_equal(send(0, 3, 100, 0), 0);
	assert_int_equal(dropped(police, "gate"), 3);
	assert_int_equal(send(1, 3, 100, 0), 3);
	/* 1 Mbit/s with 4000 octets at once: of the lane alone, then by the list. */
	assert_int_equal(upf_mbr_profile(&p, 1000, 4000), 0);
	bed.lanes[1].profile = &p;
	bed.lanes[1].flags |= UPF_LANE_METER;
	upf_meter_fill(&bed.lanes[1].meter, &p, T0);
	assert_int_equal(send(1, 30, 1000, 0), 4);
	clock_to(T0 + 16 * MS);
	assert_int_equal(send(1, 30, 1000, 0), 2);
	assert_int_equal(dropped(police, "rate"), 54);
	bed.lanes[1].flags = (bed.lanes[1].flags & ~(uint32_t)UPF_LANE_METER) | UPF_LANE_MORE;
	bed.pdrs[1].nb_qers = 2;
	bed.pdrs[1].qers[1] = 1;
	bed.qers[1].profile[UPF_DL] = &p;
	bed.qers[1].meter = meters;
	upf_meter_fill(&bed.qers[1].meter[UPF_DL], &p, T0);
	assert_int_equal(send(1, 30, 1000, 0), 4);
	bed.qers[0].closed[UPF_DL] = true;
	assert_int_equal(send(1, 1, 100, 0), 0);
	assert_int_equal(dropped(police, "gate"), 4);
	assert_int_equal(counted(1), 3 * 100 + 10 * 1000);
}

/* What the meter drops is no usage, but with MBQE. */
static void
measurement_before_qos(void **state)
{
	struct rte_meter_srtcm_profile p;

	(void)state;
	upf_mbr_profile(&p, 1000, 4000);
	bed.lanes[1].profile = &p;
	bed.lanes[1].flags |= UPF_LANE_METER;
	upf_meter_fill(&bed.lanes[1].meter, &p, T0);
	assert_int_equal(send(1, 10, 1000, 0), 4);
	assert_int_equal(counted(1), 4000);
	bed.urrs[0].flags |= UPF_URR_BEFORE_QOS;
	upf_urr_leave(&bed.r.accounts, T0);
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	assert_int_equal(send(1, 10, 1000, 0), 0);
	assert_int_equal(counted(1), 10000);
}

static void
quota_drops_by_name(void **state)
{
	(void)state;
	upf_urr_leave(&bed.r.accounts, T0);
	bed.urrs[0].volume_quota.total = 1000;
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	assert_int_equal(send(0, 10, 300, 0), 4);
	assert_int_equal(dropped(charge, "quota"), 6);
	assert_int_equal(send(0, 1, 300, 0), 0);
	assert_int_equal(send(1, 1, 300, 0), 0);
	assert_int_equal(dropped(police, "quota"), 2);
}

/* An exhausted quota with a FAR ID for Quota Action: packets take that FAR. */
static void
quota_action_far(void **state)
{
	struct upf_urr_more more = {
		.quota_far = 1, .time_quota_ns = UPF_NO_LIMIT, .event_quota = UPF_NO_LIMIT};

	(void)state;
	upf_urr_leave(&bed.r.accounts, T0);
	bed.urrs[0].volume_quota.total = 1000;
	bed.urrs[0].flags |= UPF_URR_QUOTA_FAR;
	bed.urrs[0].more = &more;
	bed.fars[1].flags = 0;
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	assert_int_equal(send(0, 4, 300, 0), 4);
	assert_int_equal(send(0, 2, 300, 0), 0);
	assert_int_equal(dropped(forward, "far"), 2);
	bed.urrs[0].more = NULL;
}

static void
duplicates_go_to_their_own_tunnel(void **state)
{
	struct rte_mbuf *m = path_packet(0, false, 100, 'x'), **out;

	(void)state;
	bed.duplicate = (struct upf_forwarding){.teid = 0x99, .peer = bed.gnb6};
	bed.fars[0].nb_duplicates = 1;
	bed.fars[0].duplicates = &bed.duplicate;
	upf_lane_take_far(&bed.lanes[0], &bed.fars[0]);
	assert_int_equal(run(&m, 1, &out), 2);
	assert_int_equal(out[0]->pkt_len, 156);
	assert_int_equal(be32_get(rte_pktmbuf_mtod_offset(out[0], uint8_t *, 52)), 0x99);
	assert_int_equal(upf_leave(out[0])->peer, bed.gnb6);
	assert_int_equal(out[1]->pkt_len, 100);
	assert_int_equal(upf_leave(out[1])->interface, N6);
	rte_pktmbuf_free_bulk(out, 2);
	assert_int_equal(forward->n.made, 1);
	assert_int_equal(counted(0), 100); /* once */
}

static void
marks_without_outer_header(void **state)
{
	struct rte_mbuf *m = path_packet(0, false, 100, 'x'), **out;

	(void)state;
	bed.fars[0].to.tos = 0xB8;
	bed.fars[0].to.tos_mask = 0xFC;
	upf_lane_take_far(&bed.lanes[0], &bed.fars[0]);
	assert_int_equal(run(&m, 1, &out), 1);
	assert_int_equal(rte_pktmbuf_mtod(out[0], uint8_t *)[1], 0xB8);
	rte_pktmbuf_free(out[0]);
}

/* TS 29.281 §7.3.2: passed on into the next tunnel, not counted, not metered. */
static void
end_markers_go_on(void **state)
{
	struct rte_mbuf *m[2] = {path_packet(1, false, 100, 0), path_packet(0, false, 100, 0)},
			**out;

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		rte_pktmbuf_adj(m[i], 100);
	assert_int_equal(run(m, 2, &out), 1);
	assert_int_equal(out[0]->pkt_len, 36);
	assert_int_equal(rte_pktmbuf_mtod(out[0], uint8_t *)[29], GTPU_END_MARKER);
	assert_int_equal(be32_get(rte_pktmbuf_mtod_offset(out[0], uint8_t *, 32)), PATH_TEID);
	rte_pktmbuf_free(out[0]);
	assert_int_equal(dropped(forward, "no_tunnel"), 1);
	assert_int_equal(counted(1), 0);
}

static void
no_mbuf_is_a_named_drop(void **state)
{
	struct rte_mbuf **out;

	(void)state;
	take_headers(1);
	assert_int_equal(run(shared, 1, &out), 0);
	assert_int_equal(dropped(forward, "no_mbuf"), 1);
	give_back(1);
}

/* Nobody got it, nobody pays: also where the URR had already taken the lane's counts over. */
static void
lost_packets_are_no_usage(void **state)
{
	struct rte_mbuf **out;

	(void)state;
	take_headers(9);
	assert_int_equal(run(shared, 3, &out), 0); /* the first was looked at */
	assert_int_equal(bed.urrs[0].usage.packets[UPF_DL] + bed.lanes[1].packets, 0);
	assert_int_equal(counted(1), 0);
	upf_urr_leave(&bed.r.accounts, T0);
	bed.urrs[0].volume_quota.total = 1000;
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	assert_int_equal(run(shared + 3, 6, &out), 0);
	assert_int_equal(dropped(forward, "no_mbuf"), 9);
	give_back(9);
	assert_int_equal(send(1, 12, 100, 'a'), 10);
	assert_int_equal(dropped(charge, "quota"), 2);
	assert_int_equal(counted(1), 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(forwards_up_and_down),
		TEST(qfi_goes_on_between_tunnels),
		TEST(rqi_goes_down),
		TEST(gates_and_rates),
		TEST(measurement_before_qos),
		TEST(quota_drops_by_name),
		TEST(quota_action_far),
		TEST(duplicates_go_to_their_own_tunnel),
		TEST(marks_without_outer_header),
		TEST(end_markers_go_on),
		TEST(no_mbuf_is_a_named_drop),
		TEST(lost_packets_are_no_usage),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
