/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_URR_RIG_H
#define AIRPATH_UPF_URR_RIG_H

/** A session with four lanes and its URRs, by a manual clock. */

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

static inline void
take_far(struct upf_session *s, uint16_t lane, uint16_t far)
{
	(void)s;
	b.far[lane] = far;
}

static inline void
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
static inline int
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

static inline int
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

static inline void
start(void)
{
	upf_urr_start(&b.a, &b.c, NULL, b.now);
}

/* As upf_charge does. */
static inline bool
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

static inline void
clock_to(uint64_t ns)
{
	while (b.now < ns) {
		b.now = RTE_MIN(ns, b.now + 10 * MS);
		ap_wheel_run(b.c.wheel, b.now);
	}
}

static inline void
no_report(void)
{
	struct upf_report r;

	assert_false(upf_report_get(b.c.reports, &r));
}

static inline struct upf_usage_report
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
