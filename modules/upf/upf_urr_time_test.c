/* SPDX-License-Identifier: BSD-3-Clause */
/* The URR engine by a manual clock: periods, durations, starts and stops, times that end. */
#include "modules/upf/upf_urr_rig.h"

static void
periodic_with_and_without_traffic(void **state)
{
	struct upf_usage_report r;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_PERIO;
	b.urrs[0].period_ns = 10 * S;
	start();
	packet(0, 100);
	clock_to(104 * S);
	packet(1, 50);
	clock_to(109 * S + 900 * MS);
	no_report();
	clock_to(110 * S + 20 * MS);
	r = expect(1, UPF_TRIGGER_PERIO, 100, 50);
	assert_int_equal(r.start_ms, EPOCH_NS / MS + 100000);
	assert_in_range(r.end_ms, EPOCH_NS / MS + 110000, EPOCH_NS / MS + 110020);
	assert_int_equal(r.first_ms, EPOCH_NS / MS + 100000);
	assert_int_equal(r.last_ms, EPOCH_NS / MS + 104000);
	clock_to(120 * S + 20 * MS);
	r = expect(1, UPF_TRIGGER_PERIO, 0, 0);
	assert_int_equal(r.first_ms, 0);
	no_report();
}

/* Time runs from the first packet, stands still after the Inactivity Detection Time. */
static void
duration_stands_still_without_packets(void **state)
{
	struct upf_usage_report r[2];

	(void)state;
	b.urrs[0].flags = UPF_URR_DURATION;
	b.urrs[0].more = &b.more[0];
	b.more[0].inactivity_ns = 5 * S;
	start();
	clock_to(103 * S);
	packet(0, 100);
	clock_to(106 * S);
	packet(0, 100);    /* 3 s */
	clock_to(120 * S); /* + 5 s */
	packet(0, 100);
	clock_to(122 * S); /* + 2 s */
	assert_int_equal(upf_urr_take(&b.a, 0, UPF_TRIGGER_IMMER, b.now, r), 1);
	assert_in_range(r[0].duration_ms, 9980, 10020);
	assert_int_equal(r[0].packets[UPF_UL], 3);
	assert_int_equal(r[0].triggers, UPF_TRIGGER_IMMER);
	clock_to(124 * S);
	upf_urr_take(&b.a, 0, UPF_TRIGGER_IMMER, b.now, r);
	assert_in_range(r[0].duration_ms, 1980, 2020);
}

static void
time_threshold_and_quota(void **state)
{
	(void)state;
	b.urrs[0].flags = UPF_URR_DURATION | UPF_URR_IMMEDIATE;
	b.urrs[0].triggers = UPF_TRIGGER_TIMTH | UPF_TRIGGER_TIMQU;
	b.urrs[0].more = &b.more[0];
	b.more[0].time_threshold_ns = 4 * S;
	b.more[0].time_quota_ns = 10 * S;
	start();
	clock_to(103 * S + 900 * MS);
	no_report();
	clock_to(104 * S + 20 * MS);
	assert_in_range(expect(1, UPF_TRIGGER_TIMTH, 0, 0).duration_ms, 4000, 4020);
	clock_to(109 * S);
	expect(1, UPF_TRIGGER_TIMTH, 0, 0);
	assert_true(packet(1, 10));
	clock_to(110 * S + 20 * MS);
	expect(1, UPF_TRIGGER_TIMQU, 0, 10);
	assert_false(packet(1, 10));
}

static struct upf_report
next_report(uint8_t kind)
{
	struct upf_report r = {.kind = 0xFF};

	assert_true(upf_report_get(b.c.reports, &r));
	assert_int_equal(r.kind, kind);
	assert_int_equal(r.id, 77);
	return r;
}

static void
start_and_stop_tell_the_application(void **state)
{
	const struct upf_detected d = {.app = 9, .version = 4, .proto = 17, .src = {192, 0, 2, 1}};
	struct upf_report r;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_START | UPF_TRIGGER_STOPT;
	b.urrs[0].more = &b.more[0];
	b.more[0].inactivity_ns = 2 * S;
	start();
	upf_urr_detected(&b.a, 0, &d);
	no_report();
	packet(0, 10);
	r = next_report(UPF_REPORT_DETECTED);
	assert_int_equal(r.detected.app, 9);
	assert_int_equal(r.detected.version, 4);
	assert_memory_equal(r.detected.src, d.src, sizeof(d.src));
	assert_true(r.more);
	assert_int_equal(next_report(UPF_REPORT_USAGE).usage.triggers, UPF_TRIGGER_START);
	clock_to(102 * S + 20 * MS);
	r = next_report(UPF_REPORT_DETECTED);
	assert_int_equal(r.detected.app, 9);
	assert_int_equal(r.detected.version, 0); /* not one flow's */
	r = next_report(UPF_REPORT_USAGE);
	assert_int_equal(r.usage.triggers, UPF_TRIGGER_STOPT);
	assert_false(r.more);
	no_report();
}

static void
start_and_stop_of_traffic(void **state)
{
	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_START | UPF_TRIGGER_STOPT | UPF_TRIGGER_EVETH;
	b.urrs[0].flags = UPF_URR_EVENT;
	b.urrs[0].more = &b.more[0];
	b.more[0].inactivity_ns = 2 * S;
	b.more[0].event_threshold = 2;
	start();
	no_report();
	packet(0, 10);
	assert_int_equal(expect(1, UPF_TRIGGER_START, 10, 0).events, 1);
	packet(0, 20);
	no_report();
	clock_to(102 * S + 20 * MS);
	expect(1, UPF_TRIGGER_STOPT, 20, 0);
	packet(1, 30);
	expect(1, UPF_TRIGGER_START, 0, 30);
	upf_urr_event(&b.a, 0, 2, b.now);
	assert_int_equal(expect(1, UPF_TRIGGER_EVETH, 0, 0).events, 2);
}

static void
quota_holding_and_validity(void **state)
{
	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_QUHTI | UPF_TRIGGER_QUVTI;
	b.urrs[0].volume_quota.total = 1000;
	b.urrs[0].more = &b.more[0];
	b.more[0].quota_holding_ns = 3 * S;
	b.more[0].quota_validity_ns = 20 * S;
	start();
	packet(0, 1);
	clock_to(102 * S);
	packet(0, 1);
	clock_to(104 * S);
	no_report();
	clock_to(105 * S + 20 * MS);
	expect(1, UPF_TRIGGER_QUHTI, 2, 0);
	clock_to(110 * S);
	no_report();
	packet(0, 1);
	clock_to(113 * S + 20 * MS);
	expect(1, UPF_TRIGGER_QUHTI, 1, 0);
	clock_to(120 * S + 20 * MS);
	expect(1, UPF_TRIGGER_QUVTI, 0, 0);
	clock_to(200 * S);
	no_report();
}

/* Usage before and after in two parts; the subsequent threshold counts from then on. */
static void
monitoring_time(void **state)
{
	struct upf_usage_report r;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.total = 1000;
	b.urrs[0].more = &b.more[0];
	b.more[0].monitoring_unix_ms = EPOCH_NS / MS + 110000;
	b.more[0].subsequent_volume_threshold.total = 300;
	start();
	packet(0, 900);
	clock_to(110 * S + 20 * MS);
	no_report();
	packet(1, 299);
	no_report();
	packet(0, 1);
	r = expect(1, UPF_TRIGGER_MONIT, 900, 0);
	assert_in_range(r.end_ms, EPOCH_NS / MS + 110000, EPOCH_NS / MS + 110020);
	r = expect(1, UPF_TRIGGER_VOLTH, 1, 299);
	assert_in_range(r.start_ms, EPOCH_NS / MS + 110000, EPOCH_NS / MS + 110020);
	packet(0, 300);
	expect(1, UPF_TRIGGER_VOLTH, 300, 0);
	no_report();
}

static void
user_plane_inactivity(void **state)
{
	struct upf_report e;

	(void)state;
	b.a.inactivity_ns = 10 * S;
	b.s.flags |= UPF_SESSION_INACTIVITY;
	start();
	clock_to(105 * S);
	packet(0, 1);
	clock_to(114 * S);
	no_report();
	clock_to(116 * S + 20 * MS);
	assert_true(upf_report_get(b.c.reports, &e));
	assert_int_equal(e.kind, UPF_REPORT_INACTIVITY);
	clock_to(160 * S);
	no_report();
	packet(1, 1);
	clock_to(190 * S);
	assert_true(upf_report_get(b.c.reports, &e));
	no_report();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(periodic_with_and_without_traffic),
		TEST(duration_stands_still_without_packets),
		TEST(time_threshold_and_quota),
		TEST(start_and_stop_of_traffic),
		TEST(start_and_stop_tell_the_application),
		TEST(quota_holding_and_validity),
		TEST(monitoring_time),
		TEST(user_plane_inactivity),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
