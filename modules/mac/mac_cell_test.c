/* SPDX-License-Identifier: BSD-3-Clause */
/* A gNB's slot: retransmissions before new data, and TBs by channel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "modules/mac/mac_cell.h"
#include "modules/mac/mac_tx.h"
#include "modules/phy/phy.h"
#include "test_eal.h"

#define UES 3
#define RNTI 0x100
#define CAPACITY 10000
#define PER_FRAME 20

static struct mac_cell *cell;
static struct mac_tx mac_tx[UES];
static struct mac_ul ul[UES];
static struct l2 l2;
static struct phy phy;

static int
setup(void **state)
{
	(void)state;
	return test_eal_init();
}

static int
begin(void **state)
{
	const struct mac_cell_cfg cfg = {.nb_ues = UES,
					 .nb_carriers = 1,
					 .numerology = 1,
					 .tb_bytes = {CAPACITY},
					 .pdus = 64,
					 .sched = {.policy = "round_robin", .ues_per_slot = 4},
					 .harq = {.processes = 4, .max_tx = 2},
					 .dl_harq = {.processes = 4, .max_tx = 2},
					 .ul = ul};

	(void)state;
	memset(ul, 0, sizeof(ul));
	memset(mac_tx, 0, sizeof(mac_tx));
	l2 = (struct l2){.nb_ues = UES, .rnti = RNTI, .mac_tx = mac_tx};
	cell = mac_cell_create(&cfg);
	return cell ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	mac_cell_destroy(cell);
	return 0;
}

static struct fapi_slot
at(uint64_t k)
{
	return (struct fapi_slot){(uint16_t)(k / PER_FRAME % 1024), (uint16_t)(k % PER_FRAME)};
}

/** The uplink grants of slot `k`. */
static const struct mac_cell_tti *
slot(uint64_t k)
{
	const struct slot_grant s = {.sfn = at(k).sfn, .slot = at(k).slot};
	struct slot_grant records[SLOT_UES_MAX];

	assert_int_equal(mac_cell_share(cell, &l2, &s, k * 500000, records), 1);
	return &cell->ul.tti[0];
}

static void
wants(uint32_t ue, uint64_t bytes, uint64_t k)
{
	mac_ul_report(&ul[ue], bytes, 0, at(k).sfn, at(k).slot);
}

static void
tell(uint64_t k, uint16_t ue, uint8_t process, enum mac_tb_verdict v)
{
	mac_tb_box_put(&cell->box, (struct mac_tb_news){.sfn = at(k).sfn,
							.slot = (uint8_t)at(k).slot,
							.ue = ue,
							.process = process,
							.verdict = (uint8_t)v});
}

static void
assert_pdu(const struct fapi_grant *g, uint32_t ue, uint8_t process, bool ndi, uint8_t rv)
{
	assert_int_equal(g->rnti, RNTI + ue);
	assert_int_equal(g->harq_process, process);
	assert_int_equal(g->new_data, ndi);
	assert_int_equal(g->rv_index, rv);
}

static void
failures_come_before_new_data(void **state)
{
	const struct mac_cell_tti *t;

	(void)state;
	slot(99);
	wants(0, 100000, 99);
	t = slot(100);
	assert_int_equal(t->nb, 1);
	assert_pdu(&t->grant[0], 0, 0, true, 0);
	assert_int_equal(t->grant[0].tb_bytes, CAPACITY);
	tell(100, 0, 0, MAC_TB_FAILED);
	wants(1, 100000, 100);
	t = slot(101); /* the whole slot is for the TB that failed */
	assert_int_equal(t->nb, 1);
	assert_pdu(&t->grant[0], 0, 0, true, 2);
	assert_int_equal(t->grant[0].tb_bytes, CAPACITY);
	t = slot(102);
	assert_int_equal(t->nb, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_in_range(t->grant[i].tb_bytes, CAPACITY / 2 - 1, CAPACITY / 2);
	tell(101, 0, 0, MAC_TB_FAILED); /* max_tx is 2 */
	tell(102, 0, 1, MAC_TB_DECODED);
	tell(102, 1, 0, MAC_TB_REFUSED);
	t = slot(103);
	assert_int_equal(t->nb, 2);
	assert_pdu(&t->grant[0], 1, 0, true, 0); /* as it was */
	assert_pdu(&t->grant[1], 0, 0, false, 0);
	assert_int_equal(cell->ul.stats.lost, 1);
	assert_int_equal(cell->ul.stats.retx, 1);
}

/** Whoever has all processes under way gets nothing new; the others do. */
static void
processes_run_out(void **state)
{
	const struct mac_cell_tti *t;

	(void)state;
	slot(99);
	wants(0, 1000000, 99);
	for (uint64_t k = 100; k < 104; k++)
		assert_int_equal(slot(k)->nb, 1);
	assert_int_equal(slot(104)->nb, 0);
	wants(2, 500, 104);
	t = slot(105);
	assert_int_equal(t->nb, 1);
	assert_pdu(&t->grant[0], 2, 0, true, 0);
	tell(101, 0, 1, MAC_TB_DECODED);
	t = slot(106);
	assert_pdu(&t->grant[0], 0, 1, false, 0);
}

static void
tbs_follow_the_channel(void **state)
{
	const struct mac_cell_tti *t;
	uint32_t bytes[UES] = {0};

	(void)state;
	mac_ul_channel(&ul[1], 3);
	mac_ul_channel(&ul[2], 0); /* out of range */
	slot(99);
	for (uint32_t u = 0; u < UES; u++)
		wants(u, 100000, 99);
	t = slot(100);
	assert_int_equal(t->nb, 2);
	for (unsigned i = 0; i < 2; i++)
		bytes[t->grant[i].rnti - RNTI] = t->grant[i].tb_bytes;
	assert_in_range(bytes[0], CAPACITY / 2 - 1, CAPACITY / 2);
	assert_in_range(bytes[1], CAPACITY / 2 * 386 / 5688 - 1, CAPACITY / 2 * 386 / 5688);
	/* A TB takes of its slot what it took at first, whatever the channel is by then. */
	mac_ul_channel(&ul[0], 1);
	tell(100, 0, 0, MAC_TB_FAILED);
	t = slot(101);
	assert_int_equal(t->nb, 2);
	assert_pdu(&t->grant[0], 0, 0, true, 2);
	assert_int_equal(t->grant[1].rnti, RNTI + 1);
	assert_in_range(t->grant[1].tb_bytes, CAPACITY / 2 * 386 / 5688 - 1,
			CAPACITY / 2 * 386 / 5688);
}

/** @return bytes granted to UEs that always want more, while their channels come and go. */
static uint64_t
granted(const char *policy)
{
	const struct mac_cell_cfg cfg = {
		.nb_ues = UES,
		.nb_carriers = 1,
		.numerology = 1,
		.tb_bytes = {CAPACITY},
		.pdus = 64,
		.sched = {.policy = policy, .ues_per_slot = 1, .average_ms = 10000},
		.ul = ul};
	struct fapi_cqi c[FAPI_UCIS_MAX];
	uint64_t bytes;

	mac_cell_destroy(cell);
	cell = mac_cell_create(&cfg);
	assert_non_null(cell);
	phy.cfg = (struct phy_cfg){.nb_ues = UES,
				   .rnti = RNTI,
				   .frame_bytes = 9000,
				   .channel = {.nb = 1, .cqi = {8}, .spread = 7}};
	assert_int_equal(phy_channel_init(&phy), 0);
	for (uint64_t k = 100; k < 100100; k++) {
		const uint16_t nb = phy_channel_report(&phy, k, c);

		for (uint16_t i = 0; i < nb; i++)
			mac_ul_channel(&ul[c[i].rnti - RNTI], c[i].cqi);
		for (uint32_t u = 0; u < UES; u++)
			wants(u, 100000, k - 1);
		assert_int_equal(slot(k)->nb, 1);
	}
	bytes = cell->ul.bytes;
	phy_channel_fini(&phy);
	return bytes;
}

/** Proportional fair sends while channels are good, and round robin does not look at them. */
static void
proportional_fair_uses_the_channels(void **state)
{
	uint64_t fair, turns;

	(void)state;
	turns = granted("round_robin");
	fair = granted("proportional_fair");
	assert_in_range(turns * 100 / CAPACITY, 3000000, 5500000); /* 41 % on average */
	assert_true(fair > turns * 12 / 10);
}

static void
answer(uint64_t k, uint16_t ue, enum mac_tb_verdict v)
{
	mac_tb_box_put(&cell->box, (struct mac_tb_news){.sfn = at(k).sfn,
							.slot = (uint8_t)at(k).slot,
							.ue = ue,
							.verdict = v,
							.downlink = true});
}

/** The UE is sent a new TB that takes the whole of slot `k`, the slot in hand. */
static void
send_new(uint64_t k, uint32_t ue)
{
	struct fapi_grant g = {.tb_bytes = CAPACITY};

	assert_int_equal(cell->at.slot, at(k).slot);
	assert_true(mac_cell_free(cell, &cell->dl, ue, 0));
	mac_cell_new(cell, &cell->dl, ue, 0, MAC_SCHED_WHOLE, &g);
	assert_int_equal(g.k1, MAC_CELL_K1);
	assert_false(mac_cell_free(cell, &cell->dl, ue, 0)); /* one TB a slot */
}

/** Slot `k`. @return what UEs are sent again. */
static const struct mac_cell_tti *
again(uint64_t k, struct slot_grant *record)
{
	const struct slot_grant s = {.sfn = at(k).sfn, .slot = at(k).slot};
	struct slot_grant records[SLOT_UES_MAX];

	assert_int_equal(mac_cell_share(cell, &l2, &s, k * 500000, records), 1);
	*record = records[0];
	return &cell->dl.tti[0];
}

static void
assert_released(uint32_t ue, uint8_t process)
{
	struct mac_tb_release r[MAC_TB_RELEASES];

	assert_int_equal(mac_cell_release(cell, 0, r), 1);
	assert_int_equal(r[0].ue, ue);
	assert_int_equal(r[0].process, process);
	assert_int_equal(mac_cell_release(cell, 0, r), 0);
}

/** Of two TBs one is acknowledged, the other sent again and then given up; neither is kept on. */
static void
downlink_is_sent_again_until_answered(void **state)
{
	struct mac_tb_release r[MAC_TB_RELEASES];
	const struct mac_cell_tti *t;
	struct slot_grant record;

	(void)state;
	slot(100);
	send_new(100, 1);
	slot(101);
	send_new(101, 2);
	answer(100, 1, MAC_TB_DTX);
	answer(101, 2, MAC_TB_DECODED);
	answer(99, 0, MAC_TB_FAILED); /* of no TB */
	answer(101, UES, MAC_TB_FAILED);
	t = again(102, &record);
	assert_int_equal(t->nb, 1);
	assert_pdu(&t->grant[0], 1, 0, true, 2);
	assert_int_equal(t->grant[0].k1, MAC_CELL_K1);
	assert_int_equal(t->grant[0].tb_bytes, CAPACITY);
	assert_int_equal(record.ue, 1);
	assert_int_equal(record.tb_bytes[0], CAPACITY);
	assert_int_equal(record.tb[0].harq_process, 0);
	assert_true(record.tb[0].new_data);
	assert_released(2, 0);
	mac_cell_not_sent(cell, &cell->dl, &l2,
			  0); /* no mbuf for the request: not a transmission */
	t = again(103, &record);
	assert_int_equal(t->nb, 1);
	assert_pdu(&t->grant[0], 1, 0, true, 2);
	assert_int_equal(mac_cell_release(cell, 0, r), 0);
	answer(103, 1, MAC_TB_FAILED);
	assert_int_equal(again(104, &record)->nb, 0);
	assert_released(1, 0);
	assert_int_equal(cell->dl.stats.decoded, 1);
	assert_int_equal(cell->dl.stats.dtx, 1);
	assert_int_equal(cell->dl.stats.lost, 1);
	assert_int_equal(cell->dl.stats.retx, 2);
	assert_int_equal(cell->ul.stats.failed, 0);
}

/** A buffer is not flushed whose process has a new TB meanwhile. */
static void
a_new_tb_is_kept(void **state)
{
	struct mac_tb_release r[MAC_TB_RELEASES];
	struct slot_grant record;

	(void)state;
	slot(100);
	send_new(100, 1);
	answer(100, 1, MAC_TB_DECODED);
	slot(101);
	send_new(101, 1);
	assert_int_equal(mac_cell_release(cell, 0, r), 0);
	mac_cell_reset(cell, 1); /* the place is another UE's */
	assert_released(1, 0);
	assert_int_equal(cell->dl.stats.lost, 1);
	answer(101, 1, MAC_TB_FAILED);
	assert_int_equal(again(102, &record)->nb, 0);
}

/** Whatever ends before its mac_build is told of it, each buffer is told of once. */
static void
releases_are_never_forgotten(void **state)
{
	struct mac_cell_cfg cfg = cell->cfg;
	struct mac_tb_release r[MAC_TB_RELEASES];
	uint32_t told[UES] = {0};
	uint64_t k = 100;

	(void)state;
	cfg.dl_harq = (struct mac_net_harq_cfg){.processes = 16, .max_tx = 2};
	mac_cell_destroy(cell);
	cell = mac_cell_create(&cfg);
	assert_non_null(cell);
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < 16; i++, k++) {
			slot(k);
			for (uint32_t u = 0; u < UES; u++)
				send_new(k, u);
		}
		for (uint32_t u = 0; u < UES; u++)
			mac_cell_reset(cell, u);
	}
	slot(k);
	send_new(k, 1); /* process 0 has a TB again */
	for (uint32_t nb; (nb = mac_cell_release(cell, 0, r)) > 0;)
		for (uint32_t i = 0; i < nb; i++) {
			assert_in_range(r[i].ue, 0, UES - 1);
			assert_false(told[r[i].ue] >> r[i].process & 1);
			told[r[i].ue] |= 1U << r[i].process;
		}
	for (uint32_t u = 0; u < UES; u++)
		assert_int_equal(told[u], u == 1 ? 0xFFFE : 0xFFFF);
	assert_int_equal(cell->dl.releases[0].nb, 0);
}

int
main(void)
{
#define with_cell(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		with_cell(failures_come_before_new_data),
		with_cell(processes_run_out),
		with_cell(tbs_follow_the_channel),
		with_cell(downlink_is_sent_again_until_answered),
		with_cell(a_new_tb_is_kept),
		with_cell(releases_are_never_forgotten),
		with_cell(proportional_fair_uses_the_channels),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
