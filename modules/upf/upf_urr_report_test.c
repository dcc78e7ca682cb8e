/* SPDX-License-Identifier: BSD-3-Clause */
/* The URR engine's reports and checkpoints: none without its usage, none lost. */
#include "modules/upf/upf_urr_rig.h"

static void
linked_urrs_come_along(void **state)
{
	struct upf_report e;

	(void)state;
	b.a.nb_urrs = 2;
	b.pdrs[0].nb_urrs = 2;
	b.pdrs[0].urrs[1] = 1;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.total = 100;
	b.urrs[1].triggers = UPF_TRIGGER_LIUSA;
	b.urrs[1].more = &b.more[1];
	b.more[1].nb_linked = 1;
	b.more[1].linked[0] = 0;
	start();
	packet(0, 60);
	packet(1, 40);
	assert_true(upf_report_get(b.c.reports, &e));
	assert_true(e.more);
	assert_int_equal(e.usage.urr_id, 1);
	assert_int_equal(e.usage.bytes[UPF_UL] + e.usage.bytes[UPF_DL], 100);
	assert_true(upf_report_get(b.c.reports, &e));
	assert_false(e.more);
	assert_int_equal(e.usage.urr_id, 2);
	assert_int_equal(e.usage.triggers, UPF_TRIGGER_LIUSA);
	assert_int_equal(e.usage.bytes[UPF_UL], 60);
	assert_int_equal(e.usage.bytes[UPF_DL], 0);
}

/* A ring without room loses nothing: the report comes later, with all there is by then. */
static void
full_ring_delays_a_report(void **state)
{
	struct upf_report fill = {.kind = UPF_REPORT_INACTIVITY}, e;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH;
	b.urrs[0].volume_threshold.total = 100;
	start();
	while (upf_report_put(b.c.reports, &fill))
		;
	for (unsigned i = 0; i < 5; i++)
		packet(0, 50);
	assert_true(b.c.reports_late > 0);
	while (upf_report_get(b.c.reports, &e))
		assert_int_equal(e.kind, UPF_REPORT_INACTIVITY);
	clock_to(b.now + 30 * MS);
	expect(1, UPF_TRIGGER_VOLTH, 250, 0);
}

static void
checkpoints_tell_usage_and_leave_it(void **state)
{
	struct upf_usage_report r[2];
	struct upf_report e;

	(void)state;
	start();
	packet(0, 100);
	packet(1, 200);
	assert_int_equal(upf_urr_checkpoints(&b.c, 16, b.now + 499 * MS), 0);
	assert_int_equal(upf_urr_checkpoints(&b.c, 16, b.now + 500 * MS), 1);
	assert_true(upf_report_get(b.c.reports, &e));
	assert_int_equal(e.kind, UPF_REPORT_CHECKPOINT);
	assert_int_equal(e.usage.bytes[UPF_UL], 100);
	assert_int_equal(e.usage.bytes[UPF_DL], 200);
	assert_int_equal(e.usage.quota_bytes[UPF_DL], 200);
	assert_int_equal(upf_urr_checkpoints(&b.c, 16, b.now + 5 * S), 0);
	packet(1, 1);
	assert_int_equal(upf_urr_checkpoints(&b.c, 16, b.now + 5 * S), 1);
	assert_true(upf_report_get(b.c.reports, &e));
	assert_int_equal(e.usage.bytes[UPF_DL], 201);
	upf_urr_take(&b.a, 0, UPF_TRIGGER_TERMR, b.now, r);
	assert_int_equal(r[0].bytes[UPF_UL], 100);
	assert_int_equal(r[0].bytes[UPF_DL], 201);
	packet(0, 1);
	b.s.flags = 0; /* the session is gone */
	assert_int_equal(upf_urr_checkpoints(&b.c, 16, b.now + 9 * S), 0);
	b.s.flags = 0;
}

/* A unit filled again goes on from the agent's checkpoint, quotas too. */
static void
carried_usage_counts_on(void **state)
{
	const struct upf_usage_report carry = {
		.bytes = {500, 300},
		.packets = {5, 3},
		.start_ms = 1600000000000,
		.first_ms = 1600000000000,
		.last_ms = 1600000001000,
		.quota_bytes = {600, 300},
	};
	struct upf_usage_report r;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLQU;
	b.urrs[0].volume_quota.total = 1000;
	upf_urr_carry(&b.urrs[0], &carry, EPOCH_NS);
	start();
	packet(0, 99);
	no_report();
	packet(0, 1);
	r = expect(1, UPF_TRIGGER_VOLQU, 600, 300);
	assert_int_equal(r.packets[UPF_UL], 7);
	assert_int_equal(r.start_ms, 1600000000000);
	assert_int_equal(r.first_ms, 1600000000000);
	assert_int_equal(r.last_ms, EPOCH_NS / MS + 100000);
}

/* Whatever lanes, sizes and moments of looking: what was counted is what is reported. */
static void
nothing_lost_over_many_reports(void **state)
{
	struct upf_usage_report r[2];
	uint64_t sent[2] = {0}, told[2] = {0}, x = 1;
	struct upf_report e;

	(void)state;
	b.urrs[0].triggers = UPF_TRIGGER_VOLTH | UPF_TRIGGER_PERIO;
	b.urrs[0].volume_threshold.total = 54321;
	b.urrs[0].period_ns = S;
	start();
	for (unsigned i = 0; i < 100000; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		unsigned lane = x >> 62;
		uint32_t bytes = 20 + (uint32_t)(x >> 33) % 9000;

		packet(lane, bytes);
		sent[lane & 1] += bytes;
		if (i % 100 == 0)
			clock_to(b.now + 20 * MS);
		upf_urr_checkpoints(&b.c, 16, b.now);
		while (upf_report_get(b.c.reports, &e))
			for (unsigned d = 0; d < 2 && e.kind == UPF_REPORT_USAGE; d++)
				told[d] += e.usage.bytes[d];
	}
	upf_urr_take(&b.a, 0, UPF_TRIGGER_TERMR, b.now, r);
	for (unsigned d = 0; d < 2; d++)
		assert_int_equal(sent[d], told[d] + r[0].bytes[d]);
	assert_int_equal(b.c.reports_late, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(linked_urrs_come_along),
		TEST(full_ring_delays_a_report),
		TEST(checkpoints_tell_usage_and_leave_it),
		TEST(carried_usage_counts_on),
		TEST(nothing_lost_over_many_reports),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
