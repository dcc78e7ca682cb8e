/* SPDX-License-Identifier: BSD-3-Clause */
/* The URR engine: limits exact to the packet, time by a manual clock, reports and checkpoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/clock.h"
#include "modules/upf/upf_urr.h"
#include "test_eal.h"

#define S AP_NS_PER_S
#define MS AP_NS_PER_MS
#define LANES 4
#define URRS 3
#define EPOCH_NS (1700000000ULL * S) /* Unix time of the clock's 0 */

static const struct upf_volume none = {UPF_NO_LIMIT, {UPF_NO_LIMIT, UPF_NO_LIMIT}};

static struct bed {
	struct upf_accounts a, next;
	struct upf_session s;
	struct upf_lane lanes[LANES];
	struct upf_pdr pdrs[LANES];
	struct upf_urr urrs[URRS], next_urrs[URRS];
	struct upf_urr_more more[URRS], next_more[URRS];
	struct upf_lane_before before[LANES];
	struct upf_charger c;
	uint64_t now;
	uint16_t far[LANES];
} b;

static void
take_far(struct upf_session *s, uint16_t lane, uint16_t far)
{
	(void)s;
	b.far[lane] = far;
}

static void
plain(struct upf_urr *u, struct upf_urr_more *more, uint32_t id)
{
	memset(u, 0, sizeof(*u));
	memset(more, 0, sizeof(*more));
	u->id = id;
	u->flags = UPF_URR_VOLUME;
	u->volume_threshold = u->volume_quota = none;
	more->subsequent_volume_threshold = none;
	more->time_quota_ns = more->event_quota = UPF_NO_LIMIT;
}

/* Lanes 0 and 2 up, 1 and 3 down, all for URR 0. */
static int
setup(void **state)
{
	(void)state;
	memset(&b, 0, sizeof(b));
	b.now = 100 * S;
	b.c.wheel = ap_wheel_create(MS, b.now);
	b.c.reports = upf_report_ring("reports", 64, 0);
	b.c.unix_offset_ns = EPOCH_NS;
	b.c.checkpoint_ns = 500 * MS;
	b.c.take_far = take_far;
	assert_non_null(b.c.reports);
	assert_int_equal(upf_charger_init(&b.c, 100), 0);
	b.s = (struct upf_session){.id = 77, .lanes = b.lanes, .nb_lanes = LANES};
	b.s.rules = (void *)&b.a;
	for (unsigned i = 0; i < LANES; i++) {
		b.lanes[i].flags = UPF_LANE_FORWARD | (i & 1 ? UPF_LANE_DOWN : 0);
		b.pdrs[i].nb_urrs = 1;
	}
	for (unsigned i = 0; i < URRS; i++) {
		plain(&b.urrs[i], &b.more[i], i + 1);
		plain(&b.next_urrs[i], &b.next_more[i], i + 1);
	}
	b.a = (struct upf_accounts){
		.session = &b.s, .urrs = b.urrs, .nb_urrs = 1, .pdrs = b.pdrs, .nb_pdrs = LANES};
	b.next = b.a;
	b.next.urrs = b.next_urrs;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	upf_urr_leave(b.s.rules == (void *)&b.a ? &b.a : &b.next, b.now);
	assert_int_equal(ap_wheel_next(b.c.wheel), UINT64_MAX);
	ap_wheel_destroy(b.c.wheel);
	rte_ring_free(b.c.reports);
	upf_charger_fini(&b.c);
	return 0;
}

static void
start(void)
{
	upf_urr_start(&b.a, &b.c, NULL, b.now);
}

/* As upf_charge does. */
static bool
packet(unsigned lane, uint32_t bytes)
{
	struct upf_lane *l = &b.lanes[lane];

	if (l->flags & UPF_LANE_QUOTA_FAR)
		upf_urr_quota_far(upf_accounts_of(&b.s), lane);
	if (l->flags & UPF_LANE_QUOTA_OUT)
		return false;
	l->first_ms = l->packets++ == 0 ? (uint32_t)(b.now / MS) : l->first_ms;
	l->bytes += bytes;
	l->last_ms = (uint32_t)(b.now / MS);
	b.s.active_s = (uint32_t)(b.now / S);
	if (!(b.s.flags & UPF_SESSION_DIRTY))
		upf_urr_dirty(&b.c, &b.s, l->last_ms);
	if (l->bytes >= l->look_bytes)
		upf_urr_look(upf_accounts_of(&b.s), b.now);
	return true;
}

static void
clock_to(uint64_t ns)
{
	while (b.now < ns) {
		b.now = RTE_MIN(ns, b.now + 10 * MS);
		ap_wheel_run(b.c.wheel, b.now);
	}
}

static void
no_report(void)
{
	struct upf_report r;

	assert_false(upf_report_get(b.c.reports, &r));
}

static struct upf_usage_report
expect(uint32_t urr, uint32_t triggers, uint64_t up, uint64_t down)
{
	struct upf_report r;

	assert_true(upf_report_get(b.c.reports, &r));
	assert_int_equal(r.kind, UPF_REPORT_USAGE);
	assert_int_equal(r.id, 77);
	assert_int_equal(r.usage.urr_id, urr);
	assert_int_equal(r.usage.triggers, triggers);
	assert_int_equal(r.usage.bytes[UPF_UL], up);
	assert_int_equal(r.usage.bytes[UPF_DL], down);
	return r.usage;
}

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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		TEST(periodic_with_and_without_traffic),
		TEST(duration_stands_still_without_packets),
		TEST(time_threshold_and_quota),
		TEST(start_and_stop_of_traffic),
		TEST(start_and_stop_tell_the_application),
		TEST(quota_holding_and_validity),
		TEST(monitoring_time),
		TEST(linked_urrs_come_along),
		TEST(inactive_urr_measures_nothing),
		TEST(before_and_after_qos),
		TEST(dropped_downlink_traffic),
		TEST(full_ring_delays_a_report),
		TEST(checkpoints_tell_usage_and_leave_it),
		TEST(carried_usage_counts_on),
		TEST(user_plane_inactivity),
		TEST(nothing_lost_over_many_reports),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
