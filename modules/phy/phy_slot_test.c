/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/fapi/fapi_rx.h"
#include "modules/phy/phy.h"
#include "test_eal.h"

#define T0 1000000ULL
#define T 125000ULL /* numerology 3 */

static struct rte_mempool *emu;
static struct phy phy;
static struct phy_cfg cfg;
static struct fapi_rx rx;
static struct slot_box slots;
static uint64_t drops[PHY_SLOT_DROPS], rx_drops[FAPI_RX_DROPS];

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	emu = test_pool("emu", 63, 9000);
	return emu ? 0 : -1;
}

static int
begin(void **state)
{
	const struct fapi_rx_cfg r = {.carriers = 2, .numerology = 3, .slots = &slots};

	(void)state;
	memset(&phy, 0, sizeof(phy));
	memset(&slots, 0, sizeof(slots));
	memset(drops, 0, sizeof(drops));
	memset(rx_drops, 0, sizeof(rx_drops));
	cfg = (struct phy_cfg){
		.numerology = 3,
		.carriers = 2,
		.carrier = {{{195000}, 1}, {{1000, 0, 3000}, 3}},
		.side = {{{0xA0}, {0xA1}, false}, {{0xB0}, {0xB1}, true}},
		.pool = emu,
	};
	return fapi_rx_init(&rx, &r);
}

static int
end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < FAPI_RX_DROPS; i++)
		assert_int_equal(rx_drops[i], 0);
	phy_fini(&phy);
	assert_pool_full(emu);
	return 0;
}

static void
init(void)
{
	assert_int_equal(phy_init(&phy, &cfg), 0);
}

/** Visits the clock and hands its frames to a stack. @return frames. */
static uint16_t
visit(uint32_t side, uint64_t now)
{
	struct rte_mbuf *out[PHY_SLOT_FRAMES_MAX];
	struct fapi_rx_out got = {.drops = rx_drops};
	uint16_t nb = phy_slot_poll(&phy, side, now, out, drops);

	assert_int_equal(fapi_rx_burst(&rx, out, nb, now, &got), nb);
	return nb;
}

static struct slot_grant
granted(void)
{
	struct slot_grant g;

	assert_true(slot_box_get(&slots, &g));
	return g;
}

static void
indication_golden(void **state)
{
	static const uint8_t golden[] = {
		0xA1, 0x00, 0x00, 0x00, 0x00, 0x00, 0xA0, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x88, 0xB5, 0x00, 0x00, 0x00, 0x82, 0x00, 0x00, 0x00, 0x16, /* length 22 */
		0x00, 0x02,                                                       /* sequence 2 */
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xE8,                   /* 1 ms */
		0x00, 0x00, 0x00, 0x00, /* SFN 0, slot 0 */
	};
	struct rte_mbuf *out[PHY_SLOT_FRAMES_MAX];

	(void)state;
	init();
	assert_int_equal(phy_slot_poll(&phy, 0, T0, out, drops), 3);
	assert_int_equal(out[2]->pkt_len, sizeof(golden));
	assert_memory_equal(rte_pktmbuf_mtod(out[2], void *), golden, sizeof(golden));
	assert_int_equal(out[0]->pkt_len, NFAPI_ETHER_LEN + NFAPI_P7_LEN + FAPI_UL_TTI_LEN(1));
	rte_pktmbuf_free_bulk(out, 3);
}

static void
slots_come_in_time(void **state)
{
	static const uint32_t second[] = {1000, 0, 3000, 1000};

	(void)state;
	init();
	for (uint64_t k = 0; k < 4; k++) {
		struct slot_grant g;

		if (k > 0)
			assert_int_equal(visit(0, T0 + k * T - 1), 0);
		assert_int_equal(visit(0, T0 + k * T), second[k] ? 3 : 2);
		assert_int_equal(phy_slot_due(&phy, 0), T0 + (k + 1) * T);
		g = granted();
		assert_int_equal(g.sfn, 0);
		assert_int_equal(g.slot, k);
		assert_int_equal(g.rnti, 0x4601);
		assert_int_equal(g.enter_ns, T0 + k * T);
		assert_int_equal(g.tb_bytes[0], 195000);
		assert_int_equal(g.tb_bytes[1], second[k]);
	}
	assert_int_equal(phy.slot[0].slots, 4);
	assert_int_equal(phy.slot[0].grants, 7);
	assert_int_equal(phy.slot[0].slots_skipped, 0);
}

static void
a_late_visit_sends_the_newest(void **state)
{
	struct slot_grant g;

	(void)state;
	init();
	visit(0, T0);
	granted();
	/* slots 1..99 are over, 100 has begun */
	assert_int_not_equal(visit(0, T0 + 100 * T + T / 2), 0);
	g = granted();
	assert_int_equal(g.sfn, 1);
	assert_int_equal(g.slot, 20);
	assert_int_equal(phy.slot[0].slots_skipped, 99);
	assert_int_equal(rx.slots_lost, 99);
	assert_int_equal(visit(0, T0 + 100 * T + T / 2), 0);
	assert_int_equal(phy_slot_due(&phy, 0), T0 + 101 * T);
	/* the SFN wraps after 10.24 s */
	visit(0, T0 + 1024 * 80 * T);
	g = granted();
	assert_int_equal(g.sfn, 0);
	assert_int_equal(g.slot, 0);
}

static void
sides_share_the_clock(void **state)
{
	struct rte_mbuf *out[PHY_SLOT_FRAMES_MAX];

	(void)state;
	cfg.cross_connect = true;
	init();
	visit(0, T0);
	/* side 1 is visited half a slot later: slot 0 is still the newest */
	assert_int_equal(phy_slot_poll(&phy, 1, T0 + T / 2, out, drops), 3);
	assert_int_equal(phy_slot_due(&phy, 1), T0 + T);
	assert_int_equal(*rte_pktmbuf_mtod(out[0], uint8_t *), 0xB1);
	/* its stack is a gNB's */
	assert_int_equal(be16_get(rte_pktmbuf_mtod_offset(out[0], uint8_t *, 16)),
			 FAPI_DL_TTI_REQUEST);
	rte_pktmbuf_free_bulk(out, 3);
}

static void
steps_and_limits(void **state)
{
	(void)state;
	cfg.stepped = true;
	cfg.slots = 5;
	init();
	assert_int_equal(visit(0, T0), 0);
	phy_step(&phy, 2);
	assert_int_not_equal(visit(0, T0), 0);
	assert_int_not_equal(visit(0, T0), 0);
	assert_int_equal(visit(0, T0 + 50 * T), 0);
	assert_int_equal(phy_slot_due(&phy, 0), 0);
	granted();
	assert_int_equal(granted().slot, 1);
	phy_step(&phy, 100);
	for (unsigned i = 0; i < 3; i++)
		assert_int_not_equal(visit(0, T0), 0);
	assert_int_equal(visit(0, T0), 0); /* five were configured */
	phy_stop_after(&phy, 1);
	assert_int_not_equal(visit(0, T0), 0);
	assert_int_equal(visit(0, T0), 0);
}

static void
slots_last_as_long_as_they_should(void **state)
{
	(void)state;
	assert_int_equal(phy_slot_ns(0), 1000000);
	assert_int_equal(phy_slot_ns(3), 125000);
	assert_int_equal(phy_slot_ns(4), 62500);
	init();
}

static void
an_empty_pool_costs_a_slot(void **state)
{
	struct rte_mbuf *all[63];

	(void)state;
	init();
	assert_int_equal(rte_mempool_get_bulk(emu, (void **)all, 61), 0);
	assert_int_equal(visit(0, T0), 0);
	assert_int_equal(drops[PHY_SLOT_NO_MBUF], 3);
	rte_mempool_put_bulk(emu, (void **)all, 61);
	assert_int_not_equal(visit(0, T0 + T), 0);
	assert_int_equal(granted().slot, 1);
}

#define with_phy(t) cmocka_unit_test_setup_teardown(t, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_phy(indication_golden),
		with_phy(slots_come_in_time),
		with_phy(a_late_visit_sends_the_newest),
		with_phy(sides_share_the_clock),
		with_phy(steps_and_limits),
		with_phy(slots_last_as_long_as_they_should),
		with_phy(an_empty_pool_costs_a_slot),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
