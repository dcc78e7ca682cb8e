/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/phy/phy_harq.h"

static struct phy_harq h;
static struct phy_rng rng;

static int
begin(void **state)
{
	(void)state;
	memset(&h, 0, sizeof(h));
	phy_rng_seed(&rng, 7);
	return 0;
}

static void
start(uint8_t processes, uint8_t max_tx, double soft_loss)
{
	const struct phy_harq_cfg cfg = {processes, max_tx, soft_loss};

	assert_int_equal(phy_harq_init(&h, &cfg, 0), 0);
}

/** The grant of a slot, or -1 and none. */
static int
slot(uint64_t now, struct fapi_grant *g)
{
	int process;

	phy_harq_reports(&h, now);
	process = phy_harq_pick(&h, 0, 1000);
	if (process >= 0)
		phy_harq_grant(&h, 0, process, 1000, now, g);
	return process;
}

static void
off_and_impossible(void **state)
{
	(void)state;
	start(0, 0, 0);
	assert_false(phy_harq_on(&h));
	assert_int_equal(phy_harq_init(&h, &(struct phy_harq_cfg){0, 0, 0.1}, 0), -EINVAL);
	assert_int_equal(phy_harq_init(&h, &(struct phy_harq_cfg){33, 4, 0.1}, 0), -EINVAL);
	assert_int_equal(phy_harq_init(&h, &(struct phy_harq_cfg){16, 0, 0.1}, 0), -EINVAL);
	assert_int_equal(phy_harq_init(&h, &(struct phy_harq_cfg){16, 9, 0.1}, 0), -EINVAL);
	assert_int_equal(phy_harq_init(&h, &(struct phy_harq_cfg){16, 4, 1.1}, 0), -EINVAL);
}

static void
ndi_toggles_for_new_data(void **state)
{
	struct fapi_grant a = {0}, b = {0};

	(void)state;
	start(1, 4, 0);
	assert_int_equal(slot(0, &a), 0);
	assert_int_equal(phy_harq_receive(&h, 0, (uint16_t)a.handle, &rng), PHY_HARQ_DECODED);
	assert_int_equal(slot(1, &b), 0);
	assert_int_not_equal(a.new_data, b.new_data);
	assert_int_equal(b.rv_index, 0);
	assert_int_equal(b.tb_bytes, 1000);
	assert_int_equal(h.retx, 0);
}

static void
redundancy_versions_then_lost(void **state)
{
	static const uint8_t rv[] = {0, 2, 3, 1};
	struct fapi_grant g = {0}, first;

	(void)state;
	start(4, 4, 1);
	for (unsigned k = 0; k < 4; k++) {
		assert_int_equal(slot(k, &g), 0);
		if (k == 0)
			first = g;
		assert_int_equal(g.rv_index, rv[k]);
		assert_int_equal(g.new_data, first.new_data);
		assert_int_equal(g.harq_process, 0);
		assert_int_equal(phy_harq_receive(&h, 0, (uint16_t)g.handle, &rng),
				 PHY_HARQ_FAILED);
	}
	assert_int_equal(slot(4, &g), 0);
	assert_int_not_equal(g.new_data, first.new_data);
	assert_int_equal(h.lost, 1);
	assert_int_equal(h.retx, 3);
	assert_int_equal(h.soft_lost, 4);
}

static void
combining_decodes(void **state)
{
	uint64_t sent = 0, first_failed = 0;

	(void)state;
	start(16, 4, 0.3);
	for (uint64_t now = 0; now < 100000; now++) {
		struct fapi_grant g = {0};

		assert_true(slot(now, &g) >= 0);
		sent += g.rv_index == 0;
		first_failed +=
			phy_harq_receive(&h, 0, (uint16_t)g.handle, &rng) == PHY_HARQ_FAILED &&
			g.rv_index == 0;
	}
	/* 0.3 fail at first; 0.3 × 0.09 × 0.027 × 0.0081 of all are lost. */
	assert_in_range(first_failed * 100 / sent, 29, 31);
	assert_in_range(h.lost, 0, 6);
	assert_int_equal(h.dtx, 0);
}

static void
processes_run_out(void **state)
{
	struct fapi_grant g[3] = {0};

	(void)state;
	start(2, 4, 0);
	assert_int_equal(slot(0, &g[0]), 0);
	assert_int_equal(slot(1, &g[1]), 1);
	assert_int_equal(slot(2, &g[2]), -1);
	assert_int_equal(h.stalls, 1);
	phy_harq_receive(&h, 0, (uint16_t)g[0].handle, &rng);
	assert_int_equal(slot(3, &g[2]), 0);
}

/* The stack missed slot 0: its grant comes again as it was. */
static void
missed_grants_are_repeated(void **state)
{
	struct fapi_grant a = {0}, b = {0}, c = {0};

	(void)state;
	start(2, 4, 0);
	slot(0, &a);
	slot(1, &b);
	phy_harq_receive(&h, 0, (uint16_t)b.handle, &rng);
	assert_int_equal(slot(2, &c), 0);
	assert_int_equal(h.dtx, 1);
	assert_int_equal(c.new_data, a.new_data);
	assert_int_equal(c.rv_index, 0);
	assert_int_equal(h.retx, 0);
}

static void
silence_times_out(void **state)
{
	struct fapi_grant g = {0};
	uint64_t now = 0;

	(void)state;
	start(1, 4, 0);
	assert_int_equal(slot(now, &g), 0);
	assert_int_equal(slot(now + PHY_HARQ_DTX_MS, &g), -1);
	while (now + PHY_HARQ_DTX_MS + 1 <= PHY_HARQ_GONE_MS) {
		now += PHY_HARQ_DTX_MS + 1;
		assert_int_equal(slot(now, &g), 0);
		assert_int_equal(h.unheard, 0);
	}
	phy_harq_reports(&h, now + PHY_HARQ_DTX_MS + 1);
	assert_int_equal(h.unheard, 1);
	assert_int_equal(h.lost, 0);
	assert_int_equal(h.process[0][0].state, PHY_HARQ_IDLE);
}

/* The TB was only late: what comes for the repeated grant is known and not given on twice. */
static void
late_tb_is_taken_once(void **state)
{
	struct fapi_grant a = {0}, b = {0}, c = {0};

	(void)state;
	start(1, 4, 0);
	slot(0, &a);
	assert_int_equal(slot(PHY_HARQ_DTX_MS + 1, &b), 0);
	assert_int_equal(phy_harq_receive(&h, 0, (uint16_t)a.handle, &rng), PHY_HARQ_DECODED);
	assert_int_equal(phy_harq_receive(&h, 0, (uint16_t)b.handle, &rng), PHY_HARQ_AGAIN);
	assert_int_equal(slot(PHY_HARQ_DTX_MS + 2, &c), 0);
	assert_int_not_equal(c.new_data, a.new_data);
	assert_int_equal(h.lost, 0);
	assert_int_equal(h.again, 1);
}

static void
late_failure_does_not_count_twice(void **state)
{
	struct fapi_grant a = {0}, b = {0}, c = {0};

	(void)state;
	start(1, 2, 1);
	slot(0, &a);
	slot(PHY_HARQ_DTX_MS + 1, &b);
	phy_harq_receive(&h, 0, (uint16_t)a.handle, &rng);
	assert_int_equal(slot(PHY_HARQ_DTX_MS + 2, &c), -1);
	phy_harq_receive(&h, 0, (uint16_t)b.handle, &rng);
	assert_int_equal(slot(PHY_HARQ_DTX_MS + 3, &c), 0);
	assert_int_equal(c.rv_index, 2);
	assert_int_equal(h.lost, 0);
}

/* A stack as TS 38.321 §5.4.2 wants it: a process keeps its TB until NDI is toggled. */
static struct stack_process {
	bool known;
	bool new_data;
	uint32_t tb; /* which one it keeps */
} stack[PHY_HARQ_PROCESSES_MAX];

/* TBs on their way, in order. */
static struct flight {
	uint64_t arrives;
	uint32_t tb;
	uint16_t handle;
} flight[1 << 16];
static unsigned sent, received;

static void
stack_send(const struct fapi_grant *g, uint64_t now, uint64_t delay, uint32_t *tbs)
{
	struct stack_process *p = &stack[g->harq_process];
	const uint64_t behind = sent ? flight[sent - 1].arrives : 0;

	if (!p->known || p->new_data != g->new_data)
		*p = (struct stack_process){true, g->new_data, (*tbs)++};
	flight[sent++] = (struct flight){now + delay > behind ? now + delay : behind, p->tb,
					 (uint16_t)g->handle};
}

/*
 * A stack that has its turn in one slot of six, then sees the newest grant alone, and whose TBs
 * come late, most of them after their grant was held for lost.
 */
static void
a_starved_stack_loses_nothing(void **state)
{
	static uint8_t delivered[1 << 16];
	struct phy_rng dice;
	uint32_t tbs = 0;

	(void)state;
	phy_rng_seed(&dice, 11);
	start(8, 4, 0.3);
	for (uint64_t now = 0; now < 50000; now++) {
		struct fapi_grant g = {0};
		const bool calm = now > 45000;

		if (slot(now, &g) >= 0 && (calm || phy_rng_below(&dice, 6) == 0))
			stack_send(&g, now, calm ? 0 : phy_rng_below(&dice, 40), &tbs);
		for (; received < sent && flight[received].arrives <= now; received++) {
			const struct flight *f = &flight[received];

			if (phy_harq_receive(&h, 0, f->handle, &rng) == PHY_HARQ_DECODED)
				delivered[f->tb]++;
		}
	}
	assert_true(tbs > 5000);
	assert_true(h.dtx > 5000);
	assert_true(h.again > 0);
	assert_int_equal(h.unheard, 0);
	assert_int_equal(h.lost, 0);
	for (uint32_t tb = 0; tb + 8 < tbs; tb++) /* the last ones may be under way */
		assert_int_equal(delivered[tb], 1);
}

static void
carriers_are_apart(void **state)
{
	struct fapi_grant a = {0}, b = {0};

	(void)state;
	start(1, 4, 1);
	phy_harq_grant(&h, 0, phy_harq_pick(&h, 0, 100), 100, 0, &a);
	phy_harq_grant(&h, 3, phy_harq_pick(&h, 3, 200), 200, 0, &b);
	phy_harq_receive(&h, 3, (uint16_t)b.handle, &rng);
	phy_harq_reports(&h, 1);
	assert_int_equal(phy_harq_pick(&h, 0, 100), -1);
	assert_int_equal(phy_harq_pick(&h, 3, 0), 0);
	phy_harq_grant(&h, 3, 0, 0, 1, &b);
	assert_int_equal(b.tb_bytes, 200);
	assert_int_equal(b.rv_index, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(off_and_impossible, begin),
		cmocka_unit_test_setup(ndi_toggles_for_new_data, begin),
		cmocka_unit_test_setup(redundancy_versions_then_lost, begin),
		cmocka_unit_test_setup(combining_decodes, begin),
		cmocka_unit_test_setup(processes_run_out, begin),
		cmocka_unit_test_setup(missed_grants_are_repeated, begin),
		cmocka_unit_test_setup(silence_times_out, begin),
		cmocka_unit_test_setup(late_tb_is_taken_once, begin),
		cmocka_unit_test_setup(late_failure_does_not_count_twice, begin),
		cmocka_unit_test_setup(a_starved_stack_loses_nothing, begin),
		cmocka_unit_test_setup(carriers_are_apart, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
