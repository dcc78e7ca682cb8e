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
#include "test_fapi.h"

#define MS 1000000ULL

static struct rte_mempool *stack, *emu;

/** A stack's fapi_tx, the air, and a stack's fapi_rx. */
static struct bench {
	struct fapi_tx tx[2];
	struct phy phy;
	struct fapi_rx rx;
	struct slot_box slots;
	struct rte_mbuf *frames[300]; /**< what the PHY sent, before fapi_rx */
	uint16_t nb;
	struct rte_mbuf *tb[300];
	uint16_t nb_tb;
	uint64_t in, used, made, sent;
	uint64_t drops[PHY_LOOP_DROPS];
	uint64_t rx_drops[FAPI_RX_DROPS];
} b;

static struct phy_cfg cfg;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	stack = test_pool("stack", 2047, 9000);
	emu = test_pool("emu", 1023, 9000);
	return stack && emu ? 0 : -1;
}

static int
begin(void **state)
{
	const struct fapi_rx_cfg rx = {.carriers = 2, .slots = &b.slots};

	(void)state;
	memset(&b, 0, sizeof(b));
	cfg = (struct phy_cfg){
		.carriers = 2,
		.carrier = {{{1000}, 1}, {{1000}, 1}},
		.side = {{{0xA0}, {0xA1}, false}, {{0xB0}, {0xB1}, false}},
		.seed = 7,
		.pool = emu,
	};
	for (uint8_t c = 0; c < 2; c++)
		if (fapi_tx_init(&b.tx[c], &(struct fapi_tx_cfg){.carrier = c}) != 0)
			return -1;
	return fapi_rx_init(&b.rx, &rx);
}

static int
end(void **state)
{
	uint64_t dropped = 0;

	(void)state;
	for (unsigned i = 0; i < PHY_LOOP_DROPS; i++)
		dropped += b.drops[i];
	assert_int_equal(b.in + b.made, b.sent + b.used + dropped + phy_path_held(&b.phy.path[0]));
	rte_pktmbuf_free_bulk(b.frames, b.nb);
	rte_pktmbuf_free_bulk(b.tb, b.nb_tb);
	fapi_rx_fini(&b.rx);
	phy_fini(&b.phy);
	assert_pool_full(stack);
	assert_pool_full(emu);
	return 0;
}

static void
init(void)
{
	assert_int_equal(phy_init(&b.phy, &cfg), 0);
}

static void
collect(void)
{
	struct phy_path *path = &b.phy.path[0];

	for (uint16_t i = 0; i < path->nb_out; i++)
		b.frames[b.nb++] = path->out[i];
	b.used += path->used;
	b.made += path->made;
	b.sent += path->nb_out;
}

static void
through(struct rte_mbuf **frames, uint16_t nb, uint64_t now)
{
	b.in += nb;
	for (uint16_t at = 0; at < nb; at += PHY_BURST) {
		phy_path_burst(&b.phy, 0, frames + at, RTE_MIN(PHY_BURST, nb - at), now, b.drops);
		collect();
	}
}

static void
expire(uint64_t now)
{
	bool more;

	do {
		more = phy_path_expire(&b.phy, 0, now, b.drops);
		collect();
	} while (more);
}

static void
send_tb(uint8_t carrier, uint32_t seed, uint32_t bytes, uint64_t now)
{
	struct rte_mbuf *frames[NFAPI_SEGMENTS_MAX];

	through(frames, tb_frames(&b.tx[carrier], stack, seed, bytes, frames), now);
}

/** What the PHY sent reaches the stack. */
static void
receive(void)
{
	for (uint16_t at = 0; at < b.nb;) {
		struct fapi_rx_out out = {.drops = b.rx_drops};

		at += fapi_rx_burst(&b.rx, b.frames + at, b.nb - at, 0, &out);
		for (uint16_t i = 0; i < out.nb; i++)
			b.tb[b.nb_tb++] = out.tb[i];
	}
	b.nb = 0;
}

/* RX_Data.indication of PHY 1: what the first 40 B of a 40 B TB come back with, at 3 us. */
static const uint8_t golden[FAPI_HDR_FIRST_LEN] = {
	0xA1, 0x00, 0x00, 0x00, 0x00, 0x00, 0xA0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x88,
	0xB5, 0x00, 0x01, 0x00, 0x85, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, /* length 80, segment 0 */
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,                   /* checksum, timestamp */
	0x00, 0x64, 0x00, 0x07, 0x00, 0x01,                               /* SFN, slot, 1 PDU */
	0x00, 0x00, 0x00, 0x00, 0x46, 0x01,                               /* handle, RNTI */
	0x00, 0x00, 0x00, 0x00, 0x28,                                     /* HARQ, 40 B */
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF, /* CQI, timing advance, RSSI: invalid */
};

static void
frame_golden(void **state)
{
	(void)state;
	init();
	send_tb(1, 5, 40, 3000);
	assert_int_equal(b.nb, 1);
	assert_ptr_equal(b.frames[0]->pool, emu);
	assert_int_equal(b.frames[0]->pkt_len, sizeof(golden) + 40);
	assert_memory_equal(rte_pktmbuf_mtod(b.frames[0], void *), golden, sizeof(golden));
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(
			*rte_pktmbuf_mtod_offset(b.frames[0], uint8_t *, (int)(sizeof(golden) + i)),
			tb_byte(5, i));
	assert_int_equal(ap_meta(b.frames[0])->carrier, 1);
}

static void
tbs_come_back_whole(void **state)
{
	(void)state;
	init();
	send_tb(0, 1, 1000000, 0);
	send_tb(1, 2, 195000, 0);
	send_tb(0, 3, 1, 0);
	receive();
	assert_int_equal(b.nb_tb, 3);
	assert_tb(b.tb[0], 1, 1000000);
	assert_tb(b.tb[1], 2, 195000);
	assert_tb(b.tb[2], 3, 1);
	assert_int_equal(ap_ext(b.tb[1])->spare, 0x4601);
	assert_int_equal(ap_meta(b.tb[1])->carrier, 1);
	assert_int_equal(b.phy.path[0].stats.tb_in, 3);
	assert_int_equal(b.phy.path[0].stats.tb_out, 3);
}

/** Cuts a packet into a chain of pieces of `step` bytes, none of them the packet's own. */
static struct rte_mbuf *
scatter(struct rte_mbuf *m, uint32_t step)
{
	struct rte_mbuf *head = NULL;

	for (uint32_t at = 0; at < m->pkt_len;) {
		uint32_t n = RTE_MIN(at == 0 ? FAPI_HDR_FIRST_LEN : step, m->pkt_len - at);
		struct rte_mbuf *one = rte_pktmbuf_copy(m, stack, at, n);

		assert_non_null(one);
		if (head)
			assert_int_equal(rte_pktmbuf_chain(head, one), 0);
		else
			head = one;
		at += n;
	}
	rte_pktmbuf_free(m);
	return head;
}

static void
chains_are_gathered(void **state)
{
	struct rte_mbuf *frames[NFAPI_SEGMENTS_MAX];
	uint16_t nb;

	(void)state;
	init();
	nb = tb_frames(&b.tx[0], stack, 8, 150000, frames);
	for (uint16_t i = 0; i < nb; i++)
		frames[i] = scatter(frames[i], 100U + i * 97U);
	through(frames, nb, 0);
	for (uint16_t i = 0; i < b.nb; i++)
		assert_int_equal(b.frames[i]->nb_segs, 1);
	receive();
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 8, 150000);
}

static void
shared_sources_stay(void **state)
{
	struct rte_mbuf *m, *kept;

	(void)state;
	cfg.impair.duplicate = 1;
	init();
	assert_int_equal(tb_frames(&b.tx[0], stack, 8, 5000, &m), 1);
	m = scatter(m, 1000);
	kept = m->next->next; /* as a sender does that may retransmit */
	rte_mbuf_refcnt_update(kept, 1);
	through(&m, 1, 0);
	assert_int_equal(rte_mbuf_refcnt_read(kept), 1);
	assert_int_equal(*rte_pktmbuf_mtod(kept, uint8_t *), tb_byte(8, 1000));
	rte_pktmbuf_free(kept);
	receive();
	assert_int_equal(b.nb_tb, 2);
	assert_tb(b.tb[0], 8, 5000);
	assert_tb(b.tb[1], 8, 5000);
	/* and bytes behind the message, such as a wire pads with, are not copied */
	b.phy.path[0].odds_duplicate = 0;
	assert_int_equal(tb_frames(&b.tx[0], stack, 9, 5, &m), 1);
	kept = rte_pktmbuf_alloc(stack);
	assert_non_null(rte_pktmbuf_append(kept, 1));
	assert_int_equal(rte_pktmbuf_chain(m, kept), 0);
	through(&m, 1, 0);
	receive();
	assert_int_equal(b.nb_tb, 3);
	assert_tb(b.tb[2], 9, 5);
}

static void
cross_connect_leaves_at_the_other_side(void **state)
{
	struct rte_mbuf *frames[4];

	(void)state;
	cfg.cross_connect = true;
	init();
	assert_int_equal(phy_egress(&b.phy, 0), 1);
	assert_int_equal(phy_egress(&b.phy, 1), 0);
	send_tb(0, 1, 100, 0);
	assert_int_equal(*rte_pktmbuf_mtod(b.frames[0], uint8_t *), 0xB1);
	assert_int_equal(rte_pktmbuf_mtod(b.frames[0], uint8_t *)[6], 0xB0);
	assert_int_equal(tb_frames(&b.tx[0], stack, 1, 100, frames), 1);
	phy_path_burst(&b.phy, 1, frames, 1, 0, b.drops);
	assert_int_equal(b.phy.path[1].nb_out, 1);
	assert_int_equal(*rte_pktmbuf_mtod(b.phy.path[1].out[0], uint8_t *), 0xA1);
	rte_pktmbuf_free(b.phy.path[1].out[0]);
}

static void
lost_tbs_are_lost_whole(void **state)
{
	const struct phy_path_stats *s = &b.phy.path[0].stats;
	uint64_t lost;

	(void)state;
	cfg.impair.tb_loss = 0.3;
	init();
	for (uint32_t i = 0; i < 200; i++) {
		send_tb(0, i, 20000, 0);
		receive();
	}
	/* no segment of a lost TB leaves, and the numbers show no gap */
	for (unsigned i = 0; i < FAPI_RX_DROPS; i++)
		assert_int_equal(b.rx_drops[i], 0);
	assert_false(fapi_rx_waiting(&b.rx));
	assert_int_equal(s->tb_in, 200);
	assert_int_equal(s->tb_lost + s->tb_out, 200);
	assert_int_equal(b.nb_tb, s->tb_out);
	assert_int_equal(b.drops[PHY_TB_LOSS], s->tb_lost * 3);
	assert_in_range(s->tb_lost, 40, 80);
	/* the same seed loses the same */
	lost = s->tb_lost;
	phy_fini(&b.phy);
	memset(&b.phy, 0, sizeof(b.phy));
	init();
	for (uint32_t i = 0; i < 200; i++)
		send_tb(0, i, 100, 0);
	assert_int_equal(s->tb_lost, lost);
}

static void
duplicates_are_tbs_of_their_own(void **state)
{
	(void)state;
	cfg.impair.duplicate = 1;
	init();
	send_tb(0, 1, 50000, 0);
	send_tb(0, 2, 50000, 0);
	receive();
	assert_int_equal(b.nb_tb, 4);
	for (uint16_t i = 0; i < 4; i++)
		assert_tb(b.tb[i], 1U + i / 2, 50000);
	assert_int_equal(b.phy.path[0].stats.tb_duplicated, 2);
	assert_int_equal(b.phy.path[0].stats.tb_out, 4);
}

static void
neighbours_change_places(void **state)
{
	static const uint32_t order[] = {1, 0, 3, 2};

	(void)state;
	cfg.impair.reorder = 1;
	init();
	for (uint32_t i = 0; i < 4; i++)
		send_tb(0, i, 30000, 0);
	receive();
	assert_int_equal(b.nb_tb, 4);
	for (uint16_t i = 0; i < 4; i++)
		assert_tb(b.tb[i], order[i], 30000);
	assert_int_equal(b.phy.path[0].stats.tb_reordered, 2);
	/* the last one waits in vain, and another carrier's TB does not help */
	send_tb(0, 4, 30000, MS);
	assert_int_equal(b.nb, 0);
	assert_int_equal(phy_path_held(&b.phy.path[0]), 4);
	assert_int_equal(phy_path_due(&b.phy.path[0]), MS + PHY_SWAP_NS);
	expire(MS + PHY_SWAP_NS - 1);
	assert_int_equal(b.nb, 0);
	expire(MS + PHY_SWAP_NS);
	receive();
	assert_int_equal(b.nb_tb, 5);
	assert_tb(b.tb[4], 4, 30000);
	assert_int_equal(phy_path_due(&b.phy.path[0]), 0);
}

static void
many_tbs_in_a_burst(void **state)
{
	struct rte_mbuf *frames[32];

	(void)state;
	cfg.impair.reorder = 1;
	cfg.impair.delay_ns = MS;
	init();
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(tb_frames(&b.tx[0], stack, i, 10 + i, &frames[i]), 1);
	through(frames, 32, 0);
	assert_int_equal(b.nb, 0);
	expire(MS);
	receive();
	assert_int_equal(b.nb_tb, 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_tb(b.tb[i], i ^ 1, 10 + (i ^ 1));
	assert_int_equal(b.phy.path[0].stats.tb_reordered, 16);
	assert_int_equal(b.phy.path[0].stats.tb_delayed, 32);
}

static void
delay_and_jitter(void **state)
{
	uint64_t last = 0;

	(void)state;
	cfg.impair.delay_ns = 5 * MS;
	cfg.impair.jitter_ns = 3 * MS;
	init();
	for (uint32_t i = 0; i < 40; i++)
		send_tb(0, i, 20000, i * MS / 8);
	assert_int_equal(b.nb, 0);
	assert_int_equal(phy_path_held(&b.phy.path[0]), 120);
	for (uint64_t due; (due = phy_path_due(&b.phy.path[0])) != 0; last = due) {
		assert_in_range(due, RTE_MAX(last, 5 * MS), 8 * MS + 40 * MS / 8);
		expire(due - 1);
		assert_int_equal(b.nb, 0);
		expire(due);
		assert_int_not_equal(b.nb, 0);
		receive();
	}
	assert_int_equal(b.nb_tb, 40);
	assert_int_equal(b.phy.path[0].stats.tb_delayed, 40);
	assert_int_equal(b.rx_drops[FAPI_RX_STALE] + b.rx_drops[FAPI_RX_INCOMPLETE], 0);
}

static void
bits_flip_at_the_rate_asked_for(void **state)
{
	uint64_t wrong = 0, bits = 0;

	(void)state;
	cfg.impair.bit_error_rate = 1e-3;
	init();
	for (uint32_t i = 0; i < 20; i++) {
		send_tb(0, i, 30000, 0);
		receive();
		assert_int_equal(b.nb_tb, i + 1);
		assert_int_equal(b.tb[i]->pkt_len, 30000);
		for (uint32_t at = 0; at < 30000; at++) {
			uint8_t byte;

			byte = *(const uint8_t *)rte_pktmbuf_read(b.tb[i], at, 1, &byte);
			wrong += (uint64_t)__builtin_popcount(byte ^ tb_byte(i, at));
		}
		bits += 30000 * 8;
	}
	assert_int_equal(wrong, b.phy.path[0].stats.bits_flipped);
	assert_in_range(wrong, bits / 1000 * 9 / 10, bits / 1000 * 11 / 10);
}

static void
lost_frames_leave_gaps(void **state)
{
	(void)state;
	cfg.impair.frame_loss = 0.05;
	init();
	for (uint32_t i = 0; i < 60; i++) {
		send_tb(0, i, 40000, 0);
		receive();
	}
	assert_int_equal(b.phy.path[0].stats.tb_in, 60);
	assert_true(b.phy.path[0].stats.frames_lost > 0);
	assert_int_equal(b.phy.path[0].stats.frames_lost, b.drops[PHY_FRAME_LOSS]);
	assert_true(b.rx_drops[FAPI_RX_INCOMPLETE] > 0);
	assert_true(b.nb_tb < 60 && b.nb_tb > 30);
}

static void
checksums_are_made_anew(void **state)
{
	(void)state;
	cfg.impair.bit_error_rate = 1e-4; /* the air's errors are no fronthaul errors */
	init();
	b.rx.checksum = true;
	b.tx[0].checksum = true;
	send_tb(0, 1, 50000, 0);
	assert_int_not_equal(be32_get(rte_pktmbuf_mtod_offset(b.frames[0], uint8_t *, 24)), 0);
	receive();
	assert_int_equal(b.nb_tb, 1);
}

/** A frame of a small TB with the byte at `at` changed by `x`. */
static void
send_bad(uint32_t at, uint8_t x, enum phy_loop_drop reason)
{
	const uint64_t before = b.drops[reason];
	struct rte_mbuf *m;

	assert_int_equal(tb_frames(&b.tx[0], stack, 0, 100, &m), 1);
	rte_pktmbuf_mtod(m, uint8_t *)[at] ^= x;
	through(&m, 1, 0);
	assert_int_equal(b.drops[reason], before + 1);
	assert_int_equal(b.nb, 0);
}

static void
bad_frames_have_names(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	cfg.frame_bytes = 2000;
	init();
	send_bad(12, 0xFF, PHY_NOT_FAPI);
	send_bad(NFAPI_ETHER_LEN + 1, 0x80, PHY_UNKNOWN_CARRIER);
	send_bad(NFAPI_ETHER_LEN + 3, 0x01, PHY_UNKNOWN_MESSAGE);
	send_bad(NFAPI_ETHER_LEN + 5, 0x01, PHY_BAD_LENGTH);
	send_bad(FAPI_HDR_LEN + 5, 0x02, PHY_BAD_BODY);                 /* 3 PDUs */
	send_bad(FAPI_HDR_LEN + FAPI_DATA_LEN + 3, 0x01, PHY_BAD_BODY); /* PDU length */
	assert_int_equal(tb_frames(&b.tx[0], stack, 0, 100, &m), 1);
	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - FAPI_HDR_LEN + 1));
	through(&m, 1, 0);
	assert_int_equal(b.drops[PHY_SHORT], 1);
	assert_int_equal(tb_frames(&b.tx[0], stack, 0, 3000, &m), 1);
	through(&m, 1, 0);
	assert_int_equal(b.drops[PHY_TOO_LONG], 1);
}

static void
resources_run_out(void **state)
{
	struct rte_mbuf *taken[1023];
	unsigned n;

	(void)state;
	cfg.hold_frames = 4;
	cfg.impair.delay_ns = MS;
	init();
	send_tb(0, 1, 50000, 0);
	assert_int_equal(b.drops[PHY_HOLD_FULL], 2);
	n = rte_mempool_avail_count(emu) - 1;
	assert_int_equal(rte_mempool_get_bulk(emu, (void **)taken, n), 0);
	send_tb(0, 2, 20000, 0);
	rte_mempool_put_bulk(emu, (void **)taken, n);
	assert_int_equal(b.drops[PHY_NO_MBUF], 2);
	assert_int_equal(b.drops[PHY_HOLD_FULL], 3);
}

static void
configuration_is_checked(void **state)
{
	(void)state;
	init();
	cfg.impair.tb_loss = 1.1;
	assert_int_equal(phy_init(&b.phy, &cfg), -EINVAL);
	cfg.impair.tb_loss = 0;
	cfg.impair.bit_error_rate = 0.6;
	assert_int_equal(phy_init(&b.phy, &cfg), -EINVAL);
	cfg.impair.bit_error_rate = 0;
	cfg.carrier[1].tb_bytes[0] = fapi_tb_max(9000) + 1;
	assert_int_equal(phy_init(&b.phy, &cfg), -EINVAL);
	cfg.carrier[1].tb_bytes[0] = 1;
	cfg.frame_bytes = 9100; /* beyond the pool's room */
	assert_int_equal(phy_init(&b.phy, &cfg), -EINVAL);
	cfg.frame_bytes = 0;
	cfg.numerology = 5;
	assert_int_equal(phy_init(&b.phy, &cfg), -EINVAL);
}

#define with_bench(t) cmocka_unit_test_setup_teardown(t, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_bench(frame_golden),
		with_bench(tbs_come_back_whole),
		with_bench(chains_are_gathered),
		with_bench(shared_sources_stay),
		with_bench(cross_connect_leaves_at_the_other_side),
		with_bench(lost_tbs_are_lost_whole),
		with_bench(duplicates_are_tbs_of_their_own),
		with_bench(neighbours_change_places),
		with_bench(many_tbs_in_a_burst),
		with_bench(delay_and_jitter),
		with_bench(bits_flip_at_the_rate_asked_for),
		with_bench(lost_frames_leave_gaps),
		with_bench(checksums_are_made_anew),
		with_bench(bad_frames_have_names),
		with_bench(resources_run_out),
		with_bench(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
