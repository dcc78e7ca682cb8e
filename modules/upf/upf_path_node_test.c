/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_police, upf_charge and upf_forward: verdicts, counts, buffering, and the books. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "modules/upf/upf_path_test.h"

#define T0 (100 * AP_NS_PER_S)
#define MS AP_NS_PER_MS

static struct test_node *police, *charge, *forward;

static int
setup(void **state)
{
	path_setup(state);
	police = path_node("upf_police");
	charge = path_node("upf_charge");
	forward = path_node("upf_forward");
	bed.w.charger->wheel = forward->worker.wheel;
	ap_wheel_run(forward->worker.wheel, T0);
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	return 0;
}

static int
teardown(void **state)
{
	upf_buffer_gone(bed.w.buffer, &bed.s);
	upf_urr_leave(&bed.r.accounts, T0);
	test_node_balance(police);
	test_node_balance(charge);
	test_node_balance(forward);
	path_node_free(forward);
	path_node_free(charge);
	path_node_free(police);
	return path_teardown(state);
}

static uint64_t
dropped(const struct test_node *t, const char *reason)
{
	for (unsigned i = 0; i < t->n.type->nb_drops; i++)
		if (strcmp(t->n.type->drops[i], reason) == 0)
			return t->n.drops[i];
	fail_msg("%s has no drop %s", t->n.type->name, reason);
	return 0;
}

/* Through the three nodes. @return how many left, at *out until the next call */
static uint16_t
run(struct rte_mbuf **pkts, uint16_t nb, struct rte_mbuf ***out)
{
	test_node_visit(police, pkts, nb);
	nb = test_node_take(police, 0, out);
	test_node_visit(charge, *out, nb);
	nb = test_node_take(charge, 0, out);
	test_node_visit(forward, *out, nb);
	return test_node_take(forward, 0, out);
}

/* `n` packets of `bytes`, marked from `mark` on. @return how many left; they are freed */
static uint16_t
send(unsigned lane, uint16_t n, uint16_t bytes, uint8_t mark)
{
	struct rte_mbuf *m[32], **out;

	for (uint16_t i = 0; i < n; i++)
		m[i] = path_packet(lane, false, bytes, (uint8_t)(mark + i));
	n = run(m, n, &out);
	rte_pktmbuf_free_bulk(out, n);
	return n;
}

/* Packets the buffer let go, their last octets as they should be. */
static void
drained(const char *marks)
{
	struct rte_mbuf **out;
	uint16_t n;

	test_node_clock(forward, forward->worker.now_ns + MS);
	n = test_node_take(forward, 0, &out);
	assert_int_equal(n, strlen(marks));
	for (uint16_t i = 0; i < n; i++)
		assert_int_equal(*rte_pktmbuf_mtod_offset(out[i], char *, out[i]->data_len - 1),
				 marks[i]);
	rte_pktmbuf_free_bulk(out, n);
}

static void
clock_to(uint64_t ns)
{
	police->worker.now_ns = charge->worker.now_ns = ns;
	test_node_clock(forward, ns);
}

static uint64_t
counted(unsigned lane)
{
	struct upf_usage_report r[2];

	upf_urr_take(&bed.r.accounts, 0, UPF_TRIGGER_IMMER, forward->worker.now_ns, r);
	return r[0].bytes[lane & 1];
}

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
buffers_in_order_and_tells_once(void **state)
{
	struct upf_report r;

	(void)state;
	path_far(1, UPF_LANE_BUFFER | UPF_LANE_NOTIFY, 0);
	bed.fars[1].bar = 1;
	assert_int_equal(send(1, 5, 100, 'a'), 0);
	assert_int_equal(dropped(forward, "buffer_full"), 2); /* the BAR says 3 */
	assert_int_equal(upf_buffer_held(bed.w.buffer), 3);
	assert_true(upf_report_get(bed.w.reports, &r));
	assert_int_equal(r.kind, UPF_REPORT_DOWNLINK);
	assert_int_equal(r.id, 5);
	assert_int_equal(r.downlink.pdr_id, 2);
	assert_int_equal(r.downlink.qfi, 9);
	assert_int_equal(r.downlink.ppi, 0);
	assert_false(upf_report_get(bed.w.reports, &r));
	test_node_balance(forward);
	assert_int_equal(counted(1), 0);

	/* Uplink is not held up. */
	assert_int_equal(send(0, 1, 100, 0), 1);

	path_far(1, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
	bed.fars[1].bar = 0;
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	/* One that comes before those that waited have left goes behind them. */
	assert_int_equal(send(1, 1, 100, 'z'), 0);
	drained("abcz");
	assert_int_equal(bed.s.queue, 0);
	assert_int_equal(counted(1), 400);
	assert_int_equal(send(1, 2, 100, 'a'), 2);
	assert_int_equal(counted(1), 200);

	path_far(1, UPF_LANE_BUFFER | UPF_LANE_NOTIFY, 0); /* a new period, a new report */
	assert_int_equal(send(1, 1, 100, 'a'), 0);
	assert_true(upf_report_get(bed.w.reports, &r));
	assert_false(upf_report_get(bed.w.reports, &r));
}

static void
quota_ends_while_the_buffer_drains(void **state)
{
	(void)state;
	upf_urr_leave(&bed.r.accounts, T0);
	bed.urrs[0].volume_quota.total = 200;
	upf_urr_start(&bed.r.accounts, bed.w.charger, NULL, T0);
	path_far(1, UPF_LANE_BUFFER, 0);
	send(1, 4, 100, 'a');
	path_far(1, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("ab");
	assert_int_equal(dropped(forward, "quota"), 2);
}

static void
notification_delay(void **state)
{
	struct upf_report r;

	(void)state;
	path_far(1, UPF_LANE_BUFFER | UPF_LANE_NOTIFY, 0);
	bed.fars[1].bar = 1;
	bed.bars[0].notify_delay_ms = 150;
	send(1, 2, 100, 'a');
	clock_to(T0 + 149 * MS);
	assert_false(upf_report_get(bed.w.reports, &r));
	clock_to(T0 + 151 * MS);
	assert_true(upf_report_get(bed.w.reports, &r));
	clock_to(T0 + 500 * MS);
	assert_false(upf_report_get(bed.w.reports, &r));

	/* Rules that let packets go within the delay: nothing is told. */
	upf_buffer_gone(bed.w.buffer, &bed.s);
	send(1, 1, 100, 'b');
	path_far(1, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0 + 501 * MS);
	clock_to(T0 + 900 * MS);
	assert_false(upf_report_get(bed.w.reports, &r));
	drained("b");
}

static void
buffered_packets_dropped_by_rules(void **state)
{
	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	send(1, 3, 100, 'a');
	path_far(1, 0, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("");
	assert_int_equal(dropped(forward, "buffer_discarded"), 3);
	path_far(1, UPF_LANE_BUFFER, 0);
	send(1, 3, 100, 'a');
	upf_buffer_changed(bed.w.buffer, &bed.s, true, T0); /* DROBU */
	assert_int_equal(dropped(forward, "buffer_discarded"), 6);
	send(1, 2, 100, 'a');
	bed.pdrs[1].id = 77; /* the PDR went */
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("");
	assert_int_equal(dropped(forward, "buffer_discarded"), 8);
	assert_int_equal(bed.s.queue, 0);
}

static void
bounds_of_session_and_worker(void **state)
{
	static struct upf_session other;

	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	send(1, 10, 100, 'a');
	assert_int_equal(upf_buffer_held(bed.w.buffer), 4); /* a session */
	other = bed.s;
	other.queue = 0;
	for (unsigned i = 0; i < 6; i++) {
		struct rte_mbuf *m = path_packet(1, false, 100, 0);
		bool held = upf_buffer_put(bed.w.buffer, &other, 1, m, T0) == UPF_BUFFERED_HELD;

		assert_int_equal(held, i < 4);
		if (!held)
			rte_pktmbuf_free(m);
	}
	assert_int_equal(upf_buffer_held(bed.w.buffer), 8); /* all of a worker */
	upf_buffer_gone(bed.w.buffer, &other);
	forward->n.in += 4; /* which came past the node */
}

/* Two flows of a session: one is let go, the other waits on, each in its order. */
static void
flows_leave_apart(void **state)
{
	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	path_far(3, UPF_LANE_BUFFER, 0);
	send(1, 1, 100, 'a');
	send(3, 1, 100, 'A');
	send(1, 1, 100, 'b');
	path_far(3, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("A");
	assert_int_equal(send(3, 1, 100, 'B'), 1);
	assert_int_equal(upf_buffer_held(bed.w.buffer), 2);
	path_far(1, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("ab");
}

/* One PDR buffers: packets of another behind it in the vector count once, as all others do. */
static void
counts_once_beside_a_queue(void **state)
{
	struct rte_mbuf *m[6], **out;
	uint16_t n;

	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	for (unsigned i = 0; i < RTE_DIM(m); i++)
		m[i] = path_packet(i == 0 ? 1 : 0, false, 100, (uint8_t)i);
	n = run(m, RTE_DIM(m), &out);
	assert_int_equal(n, 5);
	rte_pktmbuf_free_bulk(out, n);
	assert_int_equal(counted(0), 500);
	assert_int_equal(send(0, 5, 100, 0), 5);
	assert_int_equal(counted(0), 500);
	path_far(1, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	n = test_node_take(forward, 0, &out);
	rte_pktmbuf_free_bulk(out, n);
	test_node_clock(forward, forward->worker.now_ns + MS);
	n += test_node_take(forward, 0, &out);
	assert_int_equal(n, 1);
	rte_pktmbuf_free_bulk(out, n);
	assert_int_equal(counted(1), 100);
}

/* DROP with NOCP: the CP function is told once, nothing is kept. */
static void
tells_without_buffering(void **state)
{
	struct upf_report r;

	(void)state;
	path_far(1, UPF_LANE_NOTIFY, 0);
	assert_int_equal(send(1, 3, 100, 'a'), 0);
	assert_int_equal(dropped(forward, "far"), 3);
	assert_true(upf_report_get(bed.w.reports, &r));
	assert_false(upf_report_get(bed.w.reports, &r));
	path_far(1, UPF_LANE_FORWARD, 0);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	assert_int_equal(send(1, 3, 100, 'a'), 3);
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

/* While no header can be had, for packets whose buffer others read. */
static struct rte_mbuf *headers[63], *shared[16];

static void
take_headers(uint16_t packets)
{
	assert_int_equal(rte_pktmbuf_alloc_bulk(bed.hdr, headers, RTE_DIM(headers)), 0);
	for (uint16_t i = 0; i < packets; i++) {
		shared[i] = path_packet(1, false, 100, 0);
		rte_mbuf_refcnt_update(shared[i], 1);
	}
}

static void
give_back(uint16_t packets)
{
	rte_pktmbuf_free_bulk(shared, packets);
	rte_pktmbuf_free_bulk(headers, RTE_DIM(headers));
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

static void
lost_behind_the_buffer_is_no_usage(void **state)
{
	struct rte_mbuf **out;

	(void)state;
	path_far(1, UPF_LANE_BUFFER, 0);
	take_headers(2);
	assert_int_equal(run(shared, 2, &out), 0);
	assert_int_equal(upf_buffer_held(bed.w.buffer), 2);
	path_far(1, UPF_LANE_FORWARD | UPF_LANE_OUTER | UPF_LANE_PSC, bed.gnb);
	upf_buffer_changed(bed.w.buffer, &bed.s, false, T0);
	drained("");
	assert_int_equal(dropped(forward, "no_mbuf"), 2);
	assert_int_equal(counted(1), 0);
	give_back(2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		TEST(buffers_in_order_and_tells_once),
		TEST(quota_ends_while_the_buffer_drains),
		TEST(notification_delay),
		TEST(buffered_packets_dropped_by_rules),
		TEST(bounds_of_session_and_worker),
		TEST(flows_leave_apart),
		TEST(counts_once_beside_a_queue),
		TEST(tells_without_buffering),
		TEST(duplicates_go_to_their_own_tunnel),
		TEST(marks_without_outer_header),
		TEST(end_markers_go_on),
		TEST(no_mbuf_is_a_named_drop),
		TEST(lost_packets_are_no_usage),
		TEST(lost_behind_the_buffer_is_no_usage),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
