/* SPDX-License-Identifier: BSD-3-Clause */
/* The URR engine: what is counted, and limits exact to the packet. */
#include "modules/upf/upf_urr_rig.h"

/* Over four lanes in turns of uneven sizes, the report comes with the packet that crosses. */
static void
threshold_is_exact_to_the_packet(void **state)
{
	uint64_t used = 0, up = 0, down = 0;
	unsigned packets = 0, reports = 0;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.total = 1000000;
	start();
	for (unsigned i = 0; reports < 5; i++) {
		unsigned lane = i * 7 % 11 % LANES;
		uint32_t bytes = 40 + i * 131 % 1461;

		assert_true(packet(lane, bytes));
		used += bytes;
		packets++;
		*(lane & 1 ? &down : &up) += bytes;
		if (used < 1000000) {
			no_report();
			continue;
		}
		struct upf_usage_report r = expect(1, UPF_TRIGGER_VOLTH, up, down);

		assert_int_equal(r.packets[0] + r.packets[1], packets);
		used = up = down = packets = 0;
		reports++;
	}
}

static void
thresholds_of_directions(void **state)
{
	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.of[UPF_DL] = 1000;
	start();
	for (unsigned i = 0; i < 100; i++)
		packet(0, 1500);
	packet(1, 999);
	no_report();
	packet(3, 1);
	expect(1, UPF_TRIGGER_VOLTH, 150000, 1000);
	packet(1, 999);
	no_report();
	packet(1, 1);
	expect(1, UPF_TRIGGER_VOLTH, 0, 1000);
}

/* The quota's last packet passes, the next does not, in no direction (§5.2.2.2.1). */
static void
quota_stops_traffic_until_provided_anew(void **state)
{
	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLQU;
	b.urrs[0].volume_quota.total = 3000;
	start();
	assert_true(packet(0, 1000));
	assert_true(packet(1, 1999));
	no_report();
	assert_true(packet(2, 100));
	expect(1, UPF_TRIGGER_VOLQU, 1100, 1999);
	for (unsigned i = 0; i < LANES; i++)
		assert_false(packet(i, 100));

	b.next_urrs[0].triggers = UPF_TRIGGER_VOLQU;
	b.next_urrs[0].volume_quota.total = 500;
	b.next_urrs[0].generation = 1;
	upf_urr_leave(&b.a, b.now);
	b.s.rules = (void *)&b.next;
	upf_urr_start(&b.next, &b.c, &b.a, b.now);
	assert_true(packet(1, 499));
	no_report();
	assert_true(packet(1, 1));
	expect(1, UPF_TRIGGER_VOLQU, 0, 500);
	assert_false(packet(1, 1));
}

static void
quota_goes_on_over_a_change_of_rules(void **state)
{
	(void)state;
	b.urrs[0].triggers = b.next_urrs[0].triggers = UPF_TRIGGER_VOLQU;
	b.urrs[0].volume_quota.total = b.next_urrs[0].volume_quota.total = 3000;
	start();
	packet(0, 2900);
	upf_urr_leave(&b.a, b.now);
	b.s.rules = (void *)&b.next;
	upf_urr_start(&b.next, &b.c, &b.a, b.now);
	packet(0, 99);
	no_report();
	packet(0, 1);
	expect(1, UPF_TRIGGER_VOLQU, 3000, 0);
	assert_true(b.lanes[1].flags & UPF_LANE_QUOTA_OUT);
}

/* A threshold provided anew begins at 0, and leaves what was used of the quota; and vice versa. */
static void
thresholds_and_quotas_are_provided_apart(void **state)
{
	(void)state;
	b.urrs[0].triggers = b.next_urrs[0].triggers = UPF_TRIGGER_VOLTH | UPF_TRIGGER_VOLQU;
	b.urrs[0].volume_quota.total = b.next_urrs[0].volume_quota.total = 3000;
	b.urrs[0].volume_threshold.total = b.next_urrs[0].volume_threshold.total = 1500;
	start();
	packet(0, 1000);
	b.next_urrs[0].threshold_generation = 1;
	upf_urr_leave(&b.a, b.now);
	b.s.rules = (void *)&b.next;
	upf_urr_start(&b.next, &b.c, &b.a, b.now);
	packet(0, 1400);
	no_report();
	packet(0, 100);
	expect(1, UPF_TRIGGER_VOLTH, 2500, 0);
	assert_true(packet(0, 500));
	expect(1, UPF_TRIGGER_VOLQU, 500, 0);
	assert_false(packet(0, 1));
}

static void
quota_of_zero_lets_nothing_pass(void **state)
{
	(void)state;
	b.urrs[0].volume_quota.total = 0;
	start();
	assert_false(packet(0, 1));
}

static void
far_for_quota_action(void **state)
{
	(void)state;
	b.urrs[0].more = &b.more[0];
	b.urrs[0].flags |= UPF_URR_QUOTA_FAR;
	b.more[0].quota_far = 9;
	b.urrs[0].volume_quota.of[UPF_UL] = 10;
	start();
	assert_int_equal(b.far[0], 0);
	packet(0, 10);
	for (unsigned i = 0; i < LANES; i++) {
		assert_int_equal(b.far[i], 0);
		assert_true(packet(i, 10));
		assert_int_equal(b.far[i], 9);
	}
}

static void
inactive_urr_measures_nothing(void **state)
{
	struct upf_usage_report r[2];

	(void)state;
	b.urrs[0].flags |= UPF_URR_INACTIVE;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH | UPF_TRIGGER_PERIO;
	b.urrs[0].volume_threshold.total = 10;
	b.urrs[0].period_ns = S;
	start();
	assert_false(b.lanes[0].flags & UPF_LANE_URR);
	clock_to(105 * S);
	no_report();
	upf_urr_take(&b.a, 0, UPF_TRIGGER_IMMER, b.now, r);
	assert_int_equal(r[0].bytes[UPF_UL], 0);
}

/* One URR before QoS, one after it, on the same PDR: each has its own counts and budget. */
static void
before_and_after_qos(void **state)
{
	(void)state;
	b.a.nb_urrs = 2;
	b.a.before = b.before;
	b.pdrs[0].nb_urrs = 2;
	b.pdrs[0].urrs[1] = 1;
	b.urrs[1].flags |= UPF_URR_BEFORE_QOS;
	b.urrs[0].triggers = b.urrs[1].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.total = b.urrs[1].volume_threshold.total = 1000;
	start();
	assert_false(b.lanes[0].flags & UPF_LANE_BEFORE_QOS);
	for (unsigned i = 0; i < 3; i++) {
		if (b.before[0].packets++ == 0)
			b.before[0].first_ms = (uint32_t)(b.now / MS);
		b.before[0].bytes += 400;
		b.lanes[0].last_ms = (uint32_t)(b.now / MS);
		if (b.before[0].bytes >= b.before[0].look_bytes)
			upf_urr_look(&b.a, b.now);
		if (i != 1)
			packet(0, 400);
	}
	assert_int_equal(expect(2, UPF_TRIGGER_VOLTH, 1200, 0).packets[UPF_UL], 3);
	no_report();
	packet(0, 200);
	assert_int_equal(expect(1, UPF_TRIGGER_VOLTH, 1000, 0).packets[UPF_UL], 3);

	b.a.before = NULL;
	b.pdrs[0].urrs[0] = 1;
	b.pdrs[0].nb_urrs = 1;
	b.next = b.a;
	upf_urr_leave(&b.a, b.now);
	b.s.rules = (void *)&b.next;
	b.next.urrs = b.next_urrs;
	b.next_urrs[1].flags |= UPF_URR_BEFORE_QOS;
	upf_urr_start(&b.next, &b.c, &b.a, b.now);
	assert_true(b.lanes[0].flags & UPF_LANE_BEFORE_QOS);
}

static void
dropped_downlink_traffic(void **state)
{
	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_DROTH;
	b.urrs[0].more = &b.more[0];
	b.more[0].dropped_dl_packets = 3;
	start();
	upf_urr_dropped(&b.a, 1, 100, b.now);
	upf_urr_dropped(&b.a, 1, 100, b.now);
	no_report();
	upf_urr_dropped(&b.a, 3, 100, b.now);
	expect(1, UPF_TRIGGER_DROTH, 0, 0);
	upf_urr_dropped(&b.a, 3, 100, b.now);
	no_report();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(threshold_is_exact_to_the_packet),
		TEST(thresholds_of_directions),
		TEST(quota_stops_traffic_until_provided_anew),
		TEST(quota_goes_on_over_a_change_of_rules),
		TEST(thresholds_and_quotas_are_provided_apart),
		TEST(quota_of_zero_lets_nothing_pass),
		TEST(far_for_quota_action),
		TEST(inactive_urr_measures_nothing),
		TEST(before_and_after_qos),
		TEST(dropped_downlink_traffic),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
