/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "modules/mac/mac_tx.h"
#include "test_eal.h"

#define NB 4 /* logical channels at most */
#define MS AP_NS_PER_MS

static struct l2_pools pools;
static struct rlc_tx rlc[NB];
static struct mac_tx tx;
static struct rte_mbuf *pkts[4096];
static uint32_t carrier_of[4096];

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init())
		return -1;
	pools.proto = test_pool("proto", 4095, 2048);
	pools.hdr = test_pool("hdr", 2047, 128);
	pools.ind = rte_pktmbuf_pool_create("ind", 2047, 0, 0, 0, 0);
	return pools.proto && pools.hdr && pools.ind ? 0 : -1;
}

static void
start(enum l2_direction direction, uint32_t nb, struct mac_tx_lc_cfg *lcs)
{
	const struct mac_tx_cfg cfg = {.direction = direction,
				       .nb_carriers = 2,
				       .nb_lcs = nb,
				       .lcs = lcs,
				       .hdr = pools.hdr};

	for (uint32_t i = 0; i < nb; i++) {
		const struct rlc_tx_cfg r = {.mode = RLC_UM,
					     .sn_FieldLength = RLC_SN_12,
					     .queue_sdus = 1024,
					     .bearer = i,
					     .lcid = (uint8_t)(4 + i),
					     .pools = &pools};

		assert_int_equal(rlc_tx_init(&rlc[i], &r), 0);
		lcs[i].rlc = &rlc[i];
		lcs[i].lcid = (uint8_t)(4 + i);
		if (lcs[i].bsd_ms == 0)
			lcs[i].bsd_ms = 100;
	}
	assert_int_equal(mac_tx_init(&tx, &cfg), 0);
}

static void
stop(uint32_t nb)
{
	mac_tx_fini(&tx);
	for (uint32_t i = 0; i < nb; i++)
		rlc_tx_fini(&rlc[i]);
	assert_pool_full(pools.proto);
	assert_pool_full(pools.hdr);
	assert_pool_full(pools.ind);
}

/** Queues `n` SDUs that become PDUs of `bytes` on channel `lc`. */
static void
feed(uint32_t lc, uint32_t n, uint16_t bytes)
{
	uint64_t drops[RLC_TX_DROPS] = {0};

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pools.proto);

		*ap_meta(m) = (struct ap_meta){0};
		memset(rte_pktmbuf_append(m, (uint16_t)(bytes - 1)), (int)i, bytes - 1u);
		assert_int_equal(rlc_tx_push(&rlc[lc], &m, 1, 0, drops), 1);
	}
}

/** Runs one slot with the two grants, `step` mbufs a call. @return mbufs in pkts[]. */
static unsigned
slot(uint32_t tb0, uint32_t tb1, uint64_t now_ns, unsigned step)
{
	const struct slot_grant g = {.sfn = 3, .slot = 9, .rnti = 77, .tb_bytes = {tb0, tb1}};
	unsigned n = 0, k;
	uint32_t carrier;

	mac_tx_slot(&tx, &g, now_ns);
	while ((k = mac_tx_next(&tx, pkts + n, step, now_ns, &carrier)) > 0) {
		assert_true(k <= step);
		for (unsigned i = n; i < n + k; i++)
			carrier_of[i] = carrier;
		n += k;
	}
	assert_false(mac_tx_busy(&tx));
	return n;
}

static const struct mac_tb_mark *
mark(unsigned i)
{
	return rte_pktmbuf_mtod(pkts[i], const struct mac_tb_mark *);
}

/** Checks that pkts[0..n) is one TB that fits its grant; "4455" names the LCIDs in order. */
static void
assert_tb(unsigned n, uint32_t tb_bytes, const char *lcids)
{
	uint32_t bytes = 0;
	unsigned nb = (unsigned)strlen(lcids);

	assert_int_equal(n, nb + 2);
	assert_int_equal(ap_meta(pkts[0])->flags, AP_M_TB_START);
	assert_int_equal(ap_meta(pkts[n - 1])->flags, AP_M_TB_END);
	assert_int_equal(mark(0)->tb_bytes, tb_bytes);
	assert_int_equal(mark(0)->sfn, 3);
	assert_int_equal(mark(0)->rnti, 77);
	for (unsigned i = 0; i < nb; i++) {
		assert_int_equal(ap_meta(pkts[1 + i])->lcid, lcids[i] - '0');
		bytes += pkts[1 + i]->pkt_len + mac_subheader_len(pkts[1 + i]->pkt_len);
	}
	assert_true(bytes + mark(0)->ce_bytes + mark(n - 1)->ce_bytes <= tb_bytes);
}

static void
discard(unsigned n)
{
	rte_pktmbuf_free_bulk(pkts, n);
}

static int64_t
Bj(uint32_t lc)
{
	for (uint32_t j = 0; j < tx.nb_lcs; j++)
		if (tx.lcs[j].cfg.lcid == 4 + lc)
			return tx.lcs[j].Bj / 1000000;
	return INT64_MIN;
}

/** Both channels have tokens: the low priority one gets its PBR before the high one's surplus. */
static void
first_round_serves_pbr(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .pbr_kbytes_s = 10},
				      {.priority = 2, .pbr_kbytes_s = 10}};
	unsigned n;

	(void)state;
	start(L2_DOWNLINK, 2, lcs);
	n = slot(1, 0, 0, 64); /* starts the clock with Bj = 0 */
	discard(n);
	assert_int_equal(Bj(0), 0);
	feed(0, 5, 300);
	feed(1, 5, 300);
	n = slot(1000, 0, 50 * MS, 64); /* Bj = 10 kB/s × 50 ms = 500 B */
	assert_tb(n, 1000, "4455");
	/* The second PDU of channel 5 is a segment that fills the grant: 1000 - 3 × 303 - 2. */
	assert_int_equal(pkts[4]->pkt_len, 89);
	discard(n);
	assert_int_equal(Bj(0), 500 - 600);
	assert_int_equal(Bj(1), 500 - 389);
	/* 5 ms later: Bj is -50 and 161, so that channel 5 goes first, with its segment's rest. */
	n = slot(400, 0, 55 * MS, 64);
	assert_tb(n, 400, "54");
	discard(n);
	assert_int_equal(Bj(0), -50);
	assert_int_equal(Bj(1), 161 - (int)(299 - 87 + 4));
	stop(2);
}

static void
no_tokens_means_strict_priority(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 7, .pbr_kbytes_s = 8},
				      {.priority = 2, .pbr_kbytes_s = 8},
				      {.priority = 5, .pbr_kbytes_s = 8}};
	unsigned n;

	(void)state;
	start(L2_DOWNLINK, 3, lcs);
	feed(0, 2, 100);
	feed(1, 2, 100);
	feed(2, 2, 100);
	n = slot(2000, 0, 1000 * MS, 64); /* the first grant ever: no time has passed */
	assert_tb(n, 2000, "556644");
	discard(n);
	stop(3);
}

static void
bucket_is_bounded(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .pbr_kbytes_s = 8, .bsd_ms = 50}};

	(void)state;
	start(L2_DOWNLINK, 1, lcs);
	discard(slot(1, 0, 0, 64));
	discard(slot(1, 0, 20 * MS, 64));
	assert_int_equal(Bj(0), 160);
	discard(slot(1, 0, 3000000 * MS, 64));
	assert_int_equal(Bj(0), 400);
	stop(1);
}

static void
infinite_pbr_comes_before_lower_priorities(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1}, {.priority = 2, .pbr_kbytes_s = 1000}};
	unsigned n;

	(void)state;
	start(L2_DOWNLINK, 2, lcs);
	discard(slot(1, 0, 0, 64));
	feed(0, 9, 200);
	feed(1, 9, 200);
	n = slot(1010, 0, 50 * MS, 64);
	assert_tb(n, 1010, "44444");
	discard(n);
	stop(2);
}

static void
equal_priorities_share_equally(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 3}, {.priority = 3}, {.priority = 9}};
	uint32_t bytes[2] = {0};

	(void)state;
	start(L2_DOWNLINK, 3, lcs);
	feed(2, 10, 500);
	for (unsigned round = 0; round < 40; round++) {
		unsigned n;

		feed(0, 20, 500);
		feed(1, 20, 250);
		n = slot(round % 2 ? 700 : 9000, 0, round * MS, 64);
		for (unsigned i = 1; i + 1 < n; i++) {
			assert_int_not_equal(ap_meta(pkts[i])->lcid, 6);
			bytes[ap_meta(pkts[i])->lcid - 4] += pkts[i]->pkt_len;
		}
		discard(n);
	}
	assert_true(bytes[0] > 80000);
	assert_in_range(bytes[1], bytes[0] - 6000, bytes[0] + 6000);
	stop(3);
}

/** A channel that was silent does not claim what it did not use. */
static void
silence_earns_no_share(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 3}, {.priority = 3}};
	unsigned n, from_4 = 0;

	(void)state;
	start(L2_DOWNLINK, 2, lcs);
	feed(0, 300, 500);
	for (unsigned i = 0; i < 10; i++)
		discard(slot(10000, 0, i * MS, 64));
	feed(1, 100, 500);
	n = slot(20000, 0, 11 * MS, 64);
	for (unsigned i = 1; i + 1 < n; i++)
		from_4 += ap_meta(pkts[i])->lcid == 4;
	assert_in_range(from_4, 12, 28);
	discard(n);
	stop(2);
}

static void
restricted_channels_keep_to_their_carriers(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .carriers = 2}, {.priority = 2}};
	unsigned n;

	(void)state;
	start(L2_DOWNLINK, 2, lcs);
	feed(0, 2, 100);
	feed(1, 3, 100);
	n = slot(210, 410, 0, 64);
	assert_int_equal(n, 2 + 2 + 2 + 4);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(carrier_of[i], i < 5 ? 0 : 1);
	assert_int_equal(ap_meta(pkts[1])->lcid, 5);
	assert_int_equal(ap_meta(pkts[2])->lcid, 5);
	assert_int_equal(ap_meta(pkts[6])->lcid, 4);
	assert_int_equal(mark(5)->carrier, 1);
	discard(n);
	stop(2);
}

/** "If the MAC entity is given a UL grant size that is equal to or larger than 8 bytes …" */
static void
eight_bytes_carry_data(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1}};

	(void)state;
	for (uint32_t bytes = 8; bytes < 12; bytes++) {
		unsigned n;

		start(L2_UPLINK, 1, lcs);
		feed(0, 2, 1000);
		for (unsigned i = 0; i < 2; i++) {
			n = slot(bytes, 0, i * MS, 64);
			assert_tb(n, bytes, "4");
			discard(n);
		}
		assert_int_equal(tx.tbs_padding_only, 0);
		stop(1);
	}
}

static void
order_survives_any_visit_size(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1}};

	(void)state;
	for (unsigned step = 1; step < 9; step++) {
		unsigned n;

		start(L2_UPLINK, 1, lcs);
		feed(0, 50, 100);
		n = slot(2000, 2000, 0, step);
		assert_true(n > 40);
		for (unsigned i = 1, next = 0; i < 20; i++, next++)
			assert_int_equal(rte_pktmbuf_mtod(pkts[i], uint8_t *)[1], next);
		discard(n);
		stop(1);
	}
}

static void
assert_ce(const struct mac_tb_mark *m, const void *bytes, unsigned n)
{
	assert_int_equal(m->ce_bytes, n);
	assert_memory_equal(m->ce, bytes, n);
}

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

/** New data triggers a BSR once; it tells what waits after the TB is filled. */
static void
regular_bsr(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .lcg = 2}, {.priority = 2, .lcg = 5}};
	unsigned n;

	(void)state;
	start(L2_UPLINK, 2, lcs);
	feed(0, 10, 100);
	n = slot(512, 0, 0, 64);
	assert_tb(n, 512, "44444");
	/* 500 of 1000 B wait: level 13 (384 < BS <= 535) of LCG 2 */
	assert_ce(mark(n - 1), BYTES(0x3d, 2 << 5 | 13), 2);
	discard(n);
	n = slot(204, 0, MS, 64); /* nothing new: no BSR, no padding either */
	assert_tb(n, 204, "44");
	assert_ce(mark(n - 1), "", 0);
	discard(n);
	feed(1, 1, 200); /* a new LCG, at lower priority */
	n = slot(107, 0, 2 * MS, 64);
	assert_tb(n, 107, "4");
	/* LCG 2: 200 B, LCG 5: 200 B: level 42 (193 < BS <= 205) */
	assert_ce(mark(n - 1), BYTES(0x3e, 3, 0x24, mac_bsr_index8(200), mac_bsr_index8(200)), 5);
	assert_int_equal(mac_bsr_index8(200), 48);
	discard(n);
	assert_int_equal(tx.bsrs, 2);
	stop(2);
}

static void
padding_bsr_takes_the_format_that_fits(void **state)
{
	/* No channel may use carrier 0, so that all of its TBs is padding. */
	struct mac_tx_lc_cfg lcs[] = {{.priority = 3, .lcg = 1, .carriers = 2},
				      {.priority = 1, .lcg = 6, .carriers = 2},
				      {.priority = 2, .lcg = 4, .carriers = 2}};
	const uint8_t s8 = mac_bsr_index8(100), s5 = mac_bsr_index5(100);
	static const unsigned sizes[] = {1, 2, 3, 4, 5, 6, 7};
	const uint8_t want[][8] = {
		{0},
		{0x3b, (uint8_t)(6 << 5 | s5)}, /* short truncated: the highest priority's LCG */
		{0x3c, 1, 0x52},                /* long truncated, no size fits */
		{0x3c, 2, 0x52, s8},
		{0x3c, 3, 0x52, s8, s8},
		{0x3e, 4, 0x52, s8, s8, s8}, /* long */
		{0x3e, 4, 0x52, s8, s8, s8},
	};
	const unsigned len[] = {0, 2, 3, 4, 5, 6, 6};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
		unsigned n;

		start(L2_UPLINK, 3, lcs);
		for (uint32_t lc = 0; lc < 3; lc++)
			feed(lc, 1, 100);
		n = slot(sizes[i], 0, 0, 64);
		assert_tb(n, sizes[i], "");
		assert_ce(mark(n - 1), want[i], len[i]);
		discard(n);
		stop(3);
	}
}

static void
periodic_bsr(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .lcg = 0}};
	unsigned n;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	tx.periodicBSR_ms = 10;
	feed(0, 30, 100);
	discard(slot(104, 0, 0, 64)); /* regular */
	assert_int_equal(tx.bsrs, 1);
	discard(slot(102, 0, 9 * MS, 64));
	assert_int_equal(tx.bsrs, 1);
	n = slot(104, 0, 10 * MS, 64);
	assert_tb(n, 104, "4");
	assert_int_equal(tx.bsrs, 2);
	discard(n);
	stop(1);
}

/** C-RNTI before BSR before the others before data; what does not fit waits for the next TB. */
static void
ce_priorities(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .lcg = 0}};
	unsigned n;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	feed(0, 3, 100);
	assert_int_equal(mac_tx_queue_ce(&tx, MAC_UL_SINGLE_ENTRY_PHR, BYTES(0x28, 0x21), 2), 0);
	assert_int_equal(mac_tx_queue_ce(&tx, MAC_UL_C_RNTI, BYTES(0x46, 0x01), 2), 0);
	assert_int_equal(mac_tx_queue_ce(&tx, MAC_UL_C_RNTI, BYTES(0x46), 1), -EINVAL);
	assert_int_equal(mac_tx_queue_ce(&tx, 40, BYTES(0), 1), -EINVAL);
	n = slot(6, 0, 0, 64);
	assert_tb(n, 6, "");
	assert_ce(mark(n - 1), BYTES(0x3a, 0x46, 0x01, 0x3d, 0x0c), 5);
	discard(n);
	n = slot(105, 0, MS, 64);
	assert_tb(n, 105, "4");
	assert_ce(mark(n - 1), BYTES(0x39, 0x28, 0x21), 3);
	discard(n);
	stop(1);

	start(L2_DOWNLINK, 1, lcs);
	assert_int_equal(mac_tx_queue_ce(&tx, MAC_DL_TA_COMMAND, BYTES(0x1f), 1), 0);
	n = slot(50, 0, 0, 64);
	assert_tb(n, 50, "");
	assert_ce(mark(0), BYTES(0x3d, 0x1f), 2);
	assert_ce(mark(1), "", 0);
	discard(n);
	stop(1);
}

static void
no_marks_lose_no_data(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1}};
	unsigned left = rte_mempool_avail_count(pools.hdr);
	struct rte_mbuf *hoard[2048];
	unsigned n;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	feed(0, 3, 100);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pools.hdr, hoard, left), 0);
	assert_int_equal(slot(500, 500, 0, 64), 0);
	assert_int_equal(tx.tbs_no_mark, 2);
	assert_int_equal(rlc_tx_held(&rlc[0]), 3);
	rte_pktmbuf_free_bulk(hoard, left);
	n = slot(500, 0, MS, 64);
	assert_tb(n, 500, "444");
	discard(n);
	stop(1);
}

static void
stopping_inside_a_tb_leaks_nothing(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1}};
	const struct slot_grant g = {.tb_bytes = {500}};
	uint32_t carrier;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	feed(0, 3, 100);
	mac_tx_slot(&tx, &g, 0);
	assert_int_equal(mac_tx_next(&tx, pkts, 2, 0, &carrier), 2);
	discard(2);
	stop(1);
}

static void
configuration_is_checked(void **state)
{
	struct mac_tx_lc_cfg lc = {.rlc = &rlc[0], .lcid = 4, .priority = 1};
	struct mac_tx_cfg cfg = {.nb_carriers = 1, .nb_lcs = 1, .lcs = &lc, .hdr = pools.hdr};

	(void)state;
	assert_int_equal(mac_tx_init(&tx, &cfg), 0);
	lc.lcid = 33;
	assert_int_equal(mac_tx_init(&tx, &cfg), -EINVAL);
	lc.lcid = 4;
	lc.priority = 17;
	assert_int_equal(mac_tx_init(&tx, &cfg), -EINVAL);
	lc.priority = 1;
	lc.pbr_kbytes_s = 8;
	assert_int_equal(mac_tx_init(&tx, &cfg), -EINVAL);
	lc.bsd_ms = 50;
	cfg.nb_carriers = 9;
	assert_int_equal(mac_tx_init(&tx, &cfg), -EINVAL);
}

/* TS 38.321 §5.4.3.1.2: allowedSCS-List and maxPUSCH-Duration against the grant. */
static void
restrictions_follow_the_grant(void **state)
{
	struct mac_tx_lc_cfg lcs[] = {{.priority = 1, .scs = 1 << 3, .max_pusch_us = 62},
				      {.priority = 2}};
	struct slot_grant g = {.tb_bytes = {204}};
	uint32_t carrier;
	unsigned n;

	(void)state;
	start(L2_DOWNLINK, 2, lcs);
	feed(0, 3, 100);
	feed(1, 9, 100);
	for (unsigned i = 0; i < 3; i++) {
		static const struct slot_tb tb[] = {
			{.subcarrier_spacing = 2, .nr_of_symbols = 1}, /* not in the list */
			{.subcarrier_spacing = 3, .nr_of_symbols = 8}, /* 71 µs */
			{.subcarrier_spacing = 3, .nr_of_symbols = 7}, /* 62.5 µs */
		};

		g.tb[0] = tb[i];
		mac_tx_slot(&tx, &g, 0);
		n = mac_tx_next(&tx, pkts, 64, 0, &carrier);
		assert_int_equal(mac_tx_next(&tx, pkts + n, 64, 0, &carrier), 0);
		assert_int_equal(n, 4);
		assert_int_equal(ap_meta(pkts[1])->lcid, i < 2 ? 5 : 4);
		discard(n);
	}
	stop(2);
}

/* A regular BSR that got lost: data waits, no grant for so long, so it is sent anew. */
static void
retx_bsr_timer(void **state)
{
	struct mac_tx_lc_cfg lcs[1] = {{.priority = 1}};

	(void)state;
	start(L2_UPLINK, 1, lcs);
	tx.retxBSR_ms = 10;
	feed(0, 60, 100);
	discard(slot(300, 0, 0, 64));
	assert_int_equal(tx.bsrs, 1);
	discard(slot(300, 0, 9 * MS, 64)); /* the grant restarts the timer */
	discard(slot(300, 0, 18 * MS, 64));
	assert_int_equal(tx.bsrs, 1);
	discard(slot(300, 0, 28 * MS, 64));
	assert_int_equal(tx.bsrs, 2);
	stop(1);
}

/* TS 38.321 §5.4.6: at configuration, periodically, and on a change once the prohibit timer ends.
 */
static void
power_headroom_reports(void **state)
{
	const struct mac_phr value = {.ph = 40, .pcmax = 33}, other = {.ph = 20, .pcmax = 33};
	struct mac_tx_lc_cfg lcs[1] = {{.priority = 1}};
	unsigned n;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	tx.phr = (struct mac_tx_phr_cfg){true, 20, 10, value};
	tx.phr_ns = 0;
	n = slot(2, 0, 0, 64); /* no room */
	discard(n);
	assert_int_equal(tx.phrs, 0);
	n = slot(100, 0, 1 * MS, 64);
	assert_memory_equal(mark(n - 1)->ce, ((const uint8_t[]){0x39, 40, 33}), 3);
	discard(n);
	mac_phr_set(&tx, &other, 2 * MS); /* prohibited until 11 ms */
	discard(slot(100, 0, 10 * MS, 64));
	assert_int_equal(tx.phrs, 1);
	n = slot(100, 0, 11 * MS, 64);
	assert_int_equal(mark(n - 1)->ce[1], 20);
	discard(n);
	discard(slot(100, 0, 30 * MS, 64));
	assert_int_equal(tx.phrs, 2);
	discard(slot(100, 0, 31 * MS, 64)); /* periodic */
	assert_int_equal(tx.phrs, 3);
	stop(1);
}

/** One slot with a grant of a HARQ process on carrier 0. @return mbufs in pkts[]. */
static unsigned
harq_slot(uint8_t process, bool ndi, uint32_t tb_bytes, uint16_t handle)
{
	struct slot_grant g = {.tb_bytes = {tb_bytes}};
	unsigned n = 0, k;
	uint32_t carrier;

	g.tb[0] = (struct slot_tb){.handle = handle, .harq_process = process, .new_data = ndi};
	mac_tx_slot(&tx, &g, 0);
	while ((k = mac_tx_next(&tx, pkts + n, 1, 0, &carrier)) > 0)
		n += k;
	return n;
}

/* TS 38.321 §5.4.2.1: NDI against the process's last grant decides. */
static void
harq_new_data_or_retransmission(void **state)
{
	struct mac_tx_lc_cfg lcs[1] = {{.priority = 1}};
	unsigned n;

	(void)state;
	start(L2_UPLINK, 1, lcs);
	tx.harq_processes = 4;
	feed(0, 20, 100);
	for (unsigned ndi = 0; ndi < 2; ndi++) { /* the first grant is new whatever NDI it has */
		n = harq_slot((uint8_t)ndi, ndi, 300, 1);
		assert_true(n > 2);
		discard(n);
	}
	assert_int_equal(tx.harq_retx, 0);
	assert_int_equal(harq_slot(1, true, 300, 0x1234), 1);
	assert_int_equal(ap_meta(pkts[0])->flags, AP_M_TB_RETX);
	assert_int_equal(mark(0)->harq_process, 1);
	assert_int_equal(mark(0)->handle, 0x1234);
	assert_int_equal(mark(0)->tb_bytes, 300);
	discard(1);
	n = harq_slot(1, false, 300, 3);
	assert_true(n > 2);
	assert_int_equal(mark(0)->handle, 3);
	discard(n);
	assert_int_equal(tx.harq_retx, 1);
	assert_int_equal(harq_slot(1, false, 301, 3), 0); /* another TB size */
	assert_int_equal(harq_slot(4, false, 300, 3), 0); /* no such process */
	assert_int_equal(tx.harq_mismatch, 2);
	stop(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harq_new_data_or_retransmission),
		cmocka_unit_test(first_round_serves_pbr),
		cmocka_unit_test(no_tokens_means_strict_priority),
		cmocka_unit_test(bucket_is_bounded),
		cmocka_unit_test(infinite_pbr_comes_before_lower_priorities),
		cmocka_unit_test(equal_priorities_share_equally),
		cmocka_unit_test(silence_earns_no_share),
		cmocka_unit_test(restricted_channels_keep_to_their_carriers),
		cmocka_unit_test(restrictions_follow_the_grant),
		cmocka_unit_test(retx_bsr_timer),
		cmocka_unit_test(power_headroom_reports),
		cmocka_unit_test(eight_bytes_carry_data),
		cmocka_unit_test(order_survives_any_visit_size),
		cmocka_unit_test(regular_bsr),
		cmocka_unit_test(padding_bsr_takes_the_format_that_fits),
		cmocka_unit_test(periodic_bsr),
		cmocka_unit_test(ce_priorities),
		cmocka_unit_test(no_marks_lose_no_data),
		cmocka_unit_test(stopping_inside_a_tb_leaks_nothing),
		cmocka_unit_test(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
