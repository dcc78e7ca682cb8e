/* SPDX-License-Identifier: BSD-3-Clause */
/* upf_police, upf_charge and upf_forward with a buffer between: order, bounds, who is told. */
#include "modules/upf/upf_path_rig.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(buffers_in_order_and_tells_once),
		TEST(quota_ends_while_the_buffer_drains),
		TEST(notification_delay),
		TEST(buffered_packets_dropped_by_rules),
		TEST(bounds_of_session_and_worker),
		TEST(flows_leave_apart),
		TEST(counts_once_beside_a_queue),
		TEST(tells_without_buffering),
		TEST(lost_behind_the_buffer_is_no_usage),
	};

	if (path_pools() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
