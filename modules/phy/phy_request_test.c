/* SPDX-License-Identifier: BSD-3-Clause */
/* A gNB at its PHY: what it may ask for, who gets it, and what is refused by name. */
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

#define RNTI 0x4601
#define UES 3
#define CAPACITY 20000
#define T0 1000000ULL
#define T 500000ULL /* numerology 1 */
#define AHEAD 2
#define B 160 /* a while after the first slot */

static struct rte_mempool *emu, *pool;
static struct phy phy;
static struct fapi_rx ue_rx, gnb_rx;
static struct fapi_tx gnb_tx, ue_tx;
static struct slot_box ue_slots, gnb_slots;
static struct mac_ul ul[UES];
static struct mac_tb_box box;
static uint64_t drops[PHY_LOOP_DROPS], slot_drops[PHY_SLOT_DROPS], rx_drops[FAPI_RX_DROPS];

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	emu = test_pool("emu", 255, 9000);
	pool = test_pool("frames", 255, 9000);
	return emu && pool ? 0 : -1;
}

static int
begin(void **state)
{
	const struct fapi_rx_cfg ue = {.carriers = 1,
				       .numerology = 1,
				       .rnti = RNTI,
				       .nb_ues = UES,
				       .slots = &ue_slots,
				       .proto = pool};
	const struct fapi_rx_cfg gnb = {.carriers = 1,
					.numerology = 1,
					.rnti = RNTI,
					.nb_ues = UES,
					.slots = &gnb_slots,
					.ul = ul,
					.box = &box,
					.proto = pool};
	const struct fapi_tx_cfg tx = {.hdr = pool};
	const struct phy_cfg cfg = {.numerology = 1,
				    .carriers = 1,
				    .carrier = {{{CAPACITY}, 1}},
				    .cross_connect = true,
				    .gnb = true,
				    .rnti = RNTI,
				    .nb_ues = UES,
				    .ahead = AHEAD,
				    .pool = emu};

	(void)state;
	memset(&phy, 0, sizeof(phy));
	memset(&ue_slots, 0, sizeof(ue_slots));
	memset(&gnb_slots, 0, sizeof(gnb_slots));
	memset(ul, 0, sizeof(ul));
	memset(&box, 0, sizeof(box));
	memset(drops, 0, sizeof(drops));
	memset(rx_drops, 0, sizeof(rx_drops));
	assert_int_equal(fapi_rx_init(&ue_rx, &ue), 0);
	assert_int_equal(fapi_rx_init(&gnb_rx, &gnb), 0);
	assert_int_equal(fapi_tx_init(&gnb_tx, &tx), 0);
	assert_int_equal(fapi_tx_init(&ue_tx, &tx), 0);
	assert_int_equal(phy_init(&phy, &cfg), 0);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	phy_fini(&phy);
	fapi_rx_fini(&ue_rx);
	fapi_rx_fini(&gnb_rx);
	for (unsigned i = 0; i < FAPI_RX_DROPS; i++)
		assert_int_equal(rx_drops[i], 0);
	assert_pool_full(emu);
	assert_pool_full(pool);
	return 0;
}

/** Both clocks at the time of the gNB's slot `k`. */
static void
tick(uint64_t k)
{
	for (uint32_t side = 0; side < PHY_SIDES; side++) {
		struct rte_mbuf *out[PHY_SLOT_FRAMES_MAX];
		struct fapi_rx_out got = {.drops = rx_drops};
		uint16_t nb = phy_slot_poll(&phy, side, T0 + k * T, out, slot_drops);

		assert_int_equal(
			fapi_rx_burst(side == PHY_UES ? &ue_rx : &gnb_rx, out, nb, 0, &got), nb);
	}
}

static struct fapi_slot
at(uint64_t k)
{
	return (struct fapi_slot){(uint16_t)(k / 20 % 1024), (uint16_t)(k % 20)};
}

/** Frames go in at `side`; TBs that come out at the other are appended to `got`. */
static void
send(uint32_t side, struct rte_mbuf **frames, uint16_t nb, struct fapi_rx_out *got)
{
	phy_path_burst(&phy, side, frames, nb, T0, drops);
	assert_int_equal(fapi_rx_burst(side == PHY_UES ? &gnb_rx : &ue_rx, phy.path[side].out,
				       phy.path[side].nb_out, 0, got),
			 phy.path[side].nb_out);
}

static void
ask(bool uplink, uint64_t k, const struct fapi_grant *g, uint32_t nb)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct fapi_rx_out got = {.drops = rx_drops};

	fapi_tx_tti(&gnb_tx, m, uplink ? FAPI_UL_TTI_REQUEST : FAPI_DL_TTI_REQUEST, at(k), g, nb, 0,
		    0);
	send(PHY_GNB, &m, 1, &got);
}

/** A TB with PDU index `index` for slot `k`. @return TBs that came out, the last one in `tb`. */
static uint16_t
tb_send(uint32_t side, uint64_t k, uint16_t index, uint32_t seed, uint32_t bytes,
	struct rte_mbuf **tb)
{
	struct fapi_tx *tx = side == PHY_UES ? &ue_tx : &gnb_tx;
	struct fapi_rx_out got = {.drops = rx_drops};
	struct rte_mbuf *frames[32];
	uint64_t none[FAPI_TX_DROPS] = {0};
	uint16_t nb = tb_fragments(pool, seed, bytes, tx->frame_bytes, frames);

	ap_ext(frames[0])->spare = index;
	ap_ext(frames[0])->sfn = at(k).sfn;
	ap_ext(frames[0])->slot = at(k).slot;
	assert_int_equal(fapi_tx_burst(tx, frames, nb, 0, none), nb);
	send(side, frames, nb, &got);
	for (uint16_t i = 0; i + 1 < got.nb; i++)
		rte_pktmbuf_free(got.tb[i]);
	*tb = got.nb ? got.tb[got.nb - 1] : NULL;
	return got.nb;
}

static const struct fapi_grant three[] = {
	{.rnti = RNTI + 2, .handle = 0, .tb_bytes = 9500},
	{.rnti = RNTI, .handle = 1, .tb_bytes = 500},
	{.rnti = RNTI + 1, .handle = 2, .tb_bytes = 10000},
};

static void
downlink_tbs_reach_their_ues(void **state)
{
	const uint16_t order[] = {2, 0, 1};

	(void)state;
	tick(0);
	assert_int_equal(slot_box_count(&gnb_slots), 1);
	assert_int_equal(slot_box_count(&ue_slots), 0); /* they are two slots behind */
	ask(false, 0, three, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct fapi_grant *g = &three[order[i]];
		struct rte_mbuf *tb;

		assert_int_equal(tb_send(PHY_GNB, 0, (uint16_t)g->handle, i, g->tb_bytes, &tb), 1);
		assert_int_equal(ap_ext(tb)->spare, g->rnti);
		assert_tb(tb, i, g->tb_bytes);
		rte_pktmbuf_free(tb);
	}
	assert_int_equal(phy.requests->dl_pdus, 3);
	assert_int_equal(phy.requests->refused, 0);
}

static void
uplink_grants_reach_ues_and_tbs_the_gnb(void **state)
{
	struct slot_grant g = {0};
	struct rte_mbuf *tb;

	(void)state;
	for (uint64_t k = 0; k < 30; k++)
		tick(k); /* the SFN has changed */
	while (slot_box_get(&ue_slots, &g))
		assert_int_equal(g.tb_bytes[0], 0);
	ask(true, 29, three, 3);
	tick(30);
	assert_true(slot_box_get(&ue_slots, &g)); /* slot 28 */
	assert_int_equal(g.slot, 8);
	assert_int_equal(g.tb_bytes[0], 0);
	tick(31);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(slot_box_get(&ue_slots, &g));
		assert_int_equal(g.sfn, 1);
		assert_int_equal(g.slot, 9);
		assert_int_equal(g.more, 2 - i);
		assert_int_equal(g.rnti, three[i].rnti);
		assert_int_equal(g.ue, three[i].rnti - RNTI);
		assert_int_equal(g.tb_bytes[0], three[i].tb_bytes);
		assert_int_equal(tb_send(PHY_UES, 29, g.tb[0].handle, i, g.tb_bytes[0], &tb), 1);
		assert_int_equal(ap_ext(tb)->spare, three[i].rnti);
		assert_int_equal(ap_ext(tb)->slot, 9);
		assert_tb(tb, i, three[i].tb_bytes);
		rte_pktmbuf_free(tb);
	}
	assert_int_equal(phy.requests->ul_pdus, 3);
	assert_int_equal(phy.requests->late, 0);
}

/** The next of the news that the gNB gets. */
static void
assert_news(uint64_t k, uint16_t ue, uint8_t process, enum mac_tb_verdict v)
{
	struct mac_tb_news n;

	assert_true(mac_tb_box_get(&box, &n));
	assert_int_equal(n.sfn, at(k).sfn);
	assert_int_equal(n.slot, at(k).slot);
	assert_int_equal(n.ue, ue);
	assert_int_equal(n.carrier, 0);
	assert_int_equal(n.process, process);
	assert_int_equal(n.verdict, v);
}

static void
assert_no_news(void)
{
	struct mac_tb_news n;

	assert_false(mac_tb_box_get(&box, &n));
}

/** With HARQ and TBs that decode with probability 1 - soft_loss. */
static void
harq_begin(double soft_loss)
{
	struct phy_cfg cfg = phy.cfg;

	phy_fini(&phy);
	memset(&phy, 0, sizeof(phy));
	cfg.harq = (struct phy_harq_cfg){.processes = 16, .soft_loss = soft_loss};
	assert_int_equal(phy_init(&phy, &cfg), 0);
}

/** Every PUSCH has its CRC.indication; a TB that did not decode stays in the PHY. */
static void
crcs_tell_what_decoded(void **state)
{
	struct fapi_grant g[3];
	struct rte_mbuf *tb;

	(void)state;
	harq_begin(1);
	memcpy(g, three, sizeof(g));
	for (unsigned i = 0; i < 3; i++)
		g[i].harq_process = (uint8_t)(5 + i);
	tick(0);
	ask(true, 0, g, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(tb_send(PHY_UES, 0, (uint16_t)i, i, g[i].tb_bytes, &tb), 0);
		assert_news(0, g[i].rnti - RNTI, (uint8_t)(5 + i), MAC_TB_FAILED);
	}
	assert_int_equal(drops[PHY_SOFT_LOSS], 2 + 1 + 2); /* frames */
	assert_int_equal(phy.uplink.failed, 3);
	assert_int_equal(phy.uplink.received, 3);
	harq_begin(0);
	tick(0);
	ask(true, 0, g, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(tb_send(PHY_UES, 0, (uint16_t)i, i, g[i].tb_bytes, &tb), 1);
		rte_pktmbuf_free(tb);
		assert_news(0, g[i].rnti - RNTI, (uint8_t)(5 + i), MAC_TB_DECODED);
	}
	assert_no_news();
}

/** NDI tells a retransmission from a new TB: what had decoded is not given on again. */
static void
repeated_tbs_are_taken_once(void **state)
{
	struct fapi_grant g = {.rnti = RNTI + 1, .tb_bytes = 500, .harq_process = 9};
	struct rte_mbuf *tb;

	(void)state;
	harq_begin(0);
	for (unsigned k = 0; k < 6; k++) {
		const bool again = k % 2;

		g.new_data = k / 2 % 2;
		tick(k);
		ask(true, k, &g, 1);
		assert_int_equal(tb_send(PHY_UES, k, 0, k, 500, &tb), !again);
		rte_pktmbuf_free(tb);
		assert_news(k, 1, 9, MAC_TB_DECODED);
	}
	assert_int_equal(drops[PHY_HARQ_REPEAT], 3);
	assert_int_equal(phy.uplink.again, 3);
}

/** Combining k transmissions fails with soft_loss to the power of k. */
static void
combining_decodes(void **state)
{
	struct fapi_grant g = {.rnti = RNTI, .tb_bytes = 60};
	unsigned sent = 0, first_failed = 0, most = 0, tx = 0;

	(void)state;
	harq_begin(0.5);
	for (uint64_t k = 0; k < 4000; k++) {
		struct mac_tb_news n = {0};
		struct rte_mbuf *tb;

		tick(k);
		while (mac_tb_box_get(&box, &n))
			;
		ask(true, k, &g, 1);
		tb_send(PHY_UES, k, 0, 1, 60, &tb);
		rte_pktmbuf_free(tb);
		assert_true(mac_tb_box_get(&box, &n));
		tx++;
		sent += tx == 1;
		if (n.verdict == MAC_TB_FAILED) {
			first_failed += tx == 1;
			continue;
		}
		g.new_data = !g.new_data;
		most = RTE_MAX(most, tx);
		tx = 0;
	}
	assert_in_range(first_failed * 100 / sent, 45, 55);
	assert_in_range(most, 3, 7); /* 2^-10 of all fail four times, 2^-28 seven times */
}

/** A TB that does not come in time is told of, and then does not count any more. */
static void
missing_tbs_are_told_of(void **state)
{
	struct rte_mbuf *tb;

	(void)state;
	harq_begin(0);
	for (uint64_t k = 0; k < 40; k++)
		tick(k);
	ask(true, 39, three, 3);
	tick(40);
	assert_int_equal(tb_send(PHY_UES, 39, 1, 1, three[1].tb_bytes, &tb), 1);
	rte_pktmbuf_free(tb);
	assert_news(39, 0, 0, MAC_TB_DECODED);
	for (uint64_t k = 41; k <= 39 + PHY_REQUEST_WINDOW - 1; k++) {
		tick(k);
		assert_no_news();
	}
	tick(39 + PHY_REQUEST_WINDOW);
	assert_news(39, 2, 0, MAC_TB_NOT_SENT);
	assert_news(39, 1, 0, MAC_TB_NOT_SENT);
	assert_no_news();
	assert_int_equal(phy.uplink.missing, 2);
	assert_int_equal(tb_send(PHY_UES, 39, 0, 1, three[0].tb_bytes, &tb), 0);
	assert_int_equal(drops[PHY_NO_PDU], 2); /* frames */
	/* The gNB's clock passed over many slots: what is too old to know is left out. */
	ask(true, 39 + PHY_REQUEST_WINDOW, three, 3);
	tick(5000);
	tick(5001);
	assert_no_news();
}

/** Each UE reports its own channel, in turn, which wanders within bounds. */
static void
channels_reach_the_gnb(void **state)
{
	struct phy_cfg cfg = phy.cfg;
	uint8_t least = 15, most = 0;

	(void)state;
	phy_fini(&phy);
	memset(&phy, 0, sizeof(phy));
	cfg.channel = (struct phy_channel_cfg){2, {9, 3}, 2};
	assert_int_equal(phy_init(&phy, &cfg), 0);
	for (uint64_t k = 0; k < 200 * PHY_CHANNEL_SLOTS; k++) {
		tick(k);
		if (k < PHY_CHANNEL_SLOTS)
			continue;
		least = RTE_MIN(least, mac_ul_cqi(&ul[0]));
		most = RTE_MAX(most, mac_ul_cqi(&ul[0]));
		assert_in_range(mac_ul_cqi(&ul[1]), 1, 5);
		assert_in_range(mac_ul_cqi(&ul[2]), 7, 11);
	}
	assert_int_equal(least, 7);
	assert_int_equal(most, 11);
	assert_int_equal(gnb_rx.cqis_in, 600);
	assert_int_equal(gnb_rx.cqis_other, 0);
}

static void
scheduling_requests_reach_the_gnb(void **state)
{
	const uint16_t rnti[] = {RNTI + 1, RNTI + UES};
	struct fapi_rx_out got = {.drops = rx_drops};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		fapi_tx_sr(&ue_tx, m, &(struct fapi_sr){.rnti = rnti[i]}, 0, 0);
		send(PHY_UES, &m, 1, &got);
	}
	assert_int_equal(mac_ul_requests(&ul[1]), 1);
	assert_int_equal(mac_ul_requests(&ul[0]) + mac_ul_requests(&ul[2]), 0);
	assert_int_equal(drops[PHY_UNKNOWN_RNTI], 1);
	assert_int_equal(phy.sr[PHY_UES].srs, 1);
}

static void
assert_told(uint8_t message, uint8_t code, uint64_t errors)
{
	assert_int_equal(gnb_rx.errors_in, errors);
	assert_int_equal(gnb_rx.error.message_id, message);
	assert_int_equal(gnb_rx.error.code, code);
}

/** Each refusal has a name, and the gNB is told with its next slot. */
static void
what_cannot_be_is_refused(void **state)
{
	struct fapi_grant g[3];
	struct rte_mbuf *tb;

	(void)state;
	for (uint64_t k = 0; k <= B + 40; k++)
		tick(k);
	memcpy(g, three, sizeof(g));
	g[2].tb_bytes++; /* together one octet more than the carrier has */
	ask(false, B + 40, g, 3);
	assert_int_equal(drops[PHY_OVERSUBSCRIBED], 1);
	tick(B + 41);
	assert_told(FAPI_DL_TTI_REQUEST, 4, 1);
	assert_int_equal(tb_send(PHY_GNB, B + 40, 0, 1, g[0].tb_bytes, &tb), 0); /* nothing of it */
	assert_true(drops[PHY_NO_PDU] > 0);
	tick(B + 42);
	assert_told(FAPI_TX_DATA_REQUEST, 8, 2);

	g[2] = three[2];
	g[1].rnti = RNTI + UES;
	ask(true, B + 42, g, 3);
	assert_int_equal(drops[PHY_UNKNOWN_RNTI], 1);
	g[1].rnti = RNTI;
	g[1].handle = 0; /* twice the same index */
	ask(true, B + 42, g, 3);
	assert_int_equal(drops[PHY_BAD_BODY], 1);
	ask(true, B + 42, three, 3);
	ask(true, B + 42, three, 1);
	assert_int_equal(drops[PHY_TTI_REPEATED], 1);
	ask(true, B + 40, three, 3); /* its UEs have been told of slot 40 */
	assert_int_equal(drops[PHY_LATE], 1);
	ask(false, B + 43, three, 3); /* slot 43 was not indicated yet */
	assert_int_equal(drops[PHY_LATE], 2);
	ask(false, 10, three, 3);
	assert_int_equal(drops[PHY_LATE], 3);
	tick(B + 43);
	assert_told(FAPI_DL_TTI_REQUEST, 3, 3);

	ask(false, B + 43, three, 3);
	assert_int_equal(tb_send(PHY_GNB, B + 43, 1, 1, 499, &tb), 0);
	assert_int_equal(drops[PHY_TB_SIZE], 1);
	assert_int_equal(tb_send(PHY_GNB, B + 43, 1, 1, 500, &tb), 1);
	rte_pktmbuf_free(tb);
	drops[PHY_NO_PDU] = 0;
	assert_int_equal(tb_send(PHY_GNB, B + 43, 1, 1, 500, &tb), 0); /* a second time */
	assert_int_equal(drops[PHY_NO_PDU], 1);
	assert_int_equal(tb_send(PHY_UES, B + 43, 1, 1, 500, &tb), 0); /* announced, not granted */
	assert_int_equal(drops[PHY_NO_PDU], 2);
}

/** With downlink TBs that decode, and feedback that is heard, as likely as not. */
static void
downlink_begin(double soft_loss, double feedback_loss)
{
	struct phy_cfg cfg = phy.cfg;

	phy_fini(&phy);
	memset(&phy, 0, sizeof(phy));
	cfg.dl_soft_loss = soft_loss;
	cfg.feedback_loss = feedback_loss;
	assert_int_equal(phy_init(&phy, &cfg), 0);
	gnb_rx.k1 = 4;
}

static struct fapi_grant
dci(uint16_t ue, uint16_t index, uint8_t process, bool new_data, uint32_t bytes)
{
	return (struct fapi_grant){.rnti = (uint16_t)(RNTI + ue),
				   .handle = index,
				   .tb_bytes = bytes,
				   .bwp_size = 273,
				   .harq_process = process,
				   .new_data = new_data,
				   .k1 = 4};
}

static void
assert_answer(uint64_t k, uint16_t ue, enum mac_tb_verdict v)
{
	struct mac_tb_news n;

	assert_true(mac_tb_box_get(&box, &n));
	assert_true(n.downlink);
	assert_int_equal(n.sfn, at(k).sfn);
	assert_int_equal(n.slot, at(k).slot);
	assert_int_equal(n.ue, ue);
	assert_int_equal(n.verdict, v);
}

/** An answer comes k1 slots behind its TB; that of a late TB is still the answer to its slot. */
static void
answers_come_k1_slots_later(void **state)
{
	struct fapi_grant g[3] = {dci(2, 0, 15, true, 9500), dci(0, 1, 0, false, 500),
				  dci(1, 2, 3, true, 10000)};
	struct rte_mbuf *tb;

	(void)state;
	downlink_begin(0, 0);
	tick(0);
	ask(false, 0, g, 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(tb_send(PHY_GNB, 0, (uint16_t)i, i, g[i].tb_bytes, &tb), 1);
		rte_pktmbuf_free(tb);
	}
	for (uint64_t k = 1; k < 4; k++)
		tick(k);
	assert_no_news();
	tick(4);
	assert_answer(0, 2, MAC_TB_DECODED);
	assert_answer(0, 0, MAC_TB_DECODED);
	assert_no_news();
	for (uint64_t k = 5; k < 9; k++)
		tick(k);
	assert_int_equal(tb_send(PHY_GNB, 0, 2, 2, 10000, &tb), 1);
	rte_pktmbuf_free(tb);
	assert_no_news();
	tick(9);
	assert_answer(0, 1, MAC_TB_DECODED);
	ask(false, 9, three, 3); /* without DCIs nobody answers */
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(tb_send(PHY_GNB, 9, (uint16_t)i, i, three[i].tb_bytes, &tb), 1);
		rte_pktmbuf_free(tb);
	}
	for (uint64_t k = 10; k < 20; k++)
		tick(k);
	assert_no_news();
	assert_int_equal(phy.downlink.received, 6);
	assert_int_equal(slot_drops[PHY_SLOT_NO_MBUF], 0);
}

/** What had decoded is acknowledged again, and not given on; feedback that is lost is DTX. */
static void
decoded_tbs_are_acknowledged_again(void **state)
{
	struct rte_mbuf *tb;

	(void)state;
	downlink_begin(0, 1);
	for (unsigned k = 0; k < 6; k++) {
		const struct fapi_grant g = dci(1, 0, 9, k / 3 % 2, 500);

		if (k == 2 || k == 5)
			phy.downlink.odds_missed = 0;
		tick(k);
		ask(false, k, &g, 1);
		assert_int_equal(tb_send(PHY_GNB, k, 0, k, 500, &tb), k % 3 == 0);
		rte_pktmbuf_free(tb);
		phy.downlink.odds_missed = phy_rng_odds(1);
	}
	for (unsigned k = 6; k < 10; k++)
		tick(k);
	for (unsigned k = 0; k < 6; k++)
		assert_answer(k, 1, k % 3 == 2 ? MAC_TB_DECODED : MAC_TB_DTX);
	assert_no_news();
	assert_int_equal(drops[PHY_HARQ_REPEAT], 4);
	assert_int_equal(phy.downlink.again, 4);
	assert_int_equal(phy.downlink.missed, 4);
}

/** A DCI whose TB does not come ends what its process had: the next one is no repetition of it. */
static void
a_dci_without_its_tb_ends_the_one_before(void **state)
{
	struct rte_mbuf *tb;

	(void)state;
	downlink_begin(0, 0);
	for (unsigned k = 0; k < 3; k++) {
		const struct fapi_grant g = dci(1, 0, 9, k % 2 == 0, 500);

		tick(k);
		ask(false, k, &g, 1);
		if (k == 1)
			continue;
		assert_int_equal(tb_send(PHY_GNB, k, 0, k, 500, &tb), 1);
		rte_pktmbuf_free(tb);
	}
	assert_int_equal(tb_send(PHY_GNB, 1, 0, 1, 500, &tb), 0); /* too late: of the DCI before */
	assert_int_equal(drops[PHY_SOFT_LOSS], 1);
	for (uint64_t k = 3; k < 7; k++)
		tick(k);
	assert_answer(0, 1, MAC_TB_DECODED);
	assert_answer(2, 1, MAC_TB_DECODED);
	assert_answer(1, 1, MAC_TB_FAILED);
	assert_no_news();
	assert_int_equal(phy.downlink.again, 0);
}

/** Downlink as uplink; without HARQ there is nothing to combine. */
static void
downlink_combining_decodes(void **state)
{
	unsigned tbs = 0, first_failed = 0, most = 0, tx = 0, plain = 0;
	bool ndi = true;

	(void)state;
	downlink_begin(0.5, 0);
	for (uint64_t k = 0; k < 8000; k++) {
		const struct fapi_grant g = dci(0, 0, 0, ndi, 60);
		const struct fapi_grant once = {.rnti = RNTI, .tb_bytes = 60};
		struct mac_tb_news n;
		struct rte_mbuf *tb;
		uint16_t came;

		tick(k);
		ask(false, k, k < 4000 ? &g : &once, 1);
		came = tb_send(PHY_GNB, k, 0, 1, 60, &tb);
		rte_pktmbuf_free(tb);
		while (mac_tb_box_get(&box, &n))
			;
		plain += k >= 4000 && came;
		if (k >= 4000)
			continue;
		tx++;
		tbs += tx == 1;
		first_failed += tx == 1 && !came;
		if (!came)
			continue;
		most = RTE_MAX(most, tx);
		tx = 0;
		ndi = !ndi;
	}
	assert_in_range(first_failed, tbs * 45 / 100, tbs * 55 / 100);
	assert_in_range(most, 3, 8);
	assert_in_range(tbs, 2300, 2600); /* 1 + 1/2 + 1/8 + 1/64 + … = 1.64 transmissions each */
	assert_in_range(plain, 1850, 2150);
}

/** Answers for which there is no room are lost with a count, and the others come. */
static void
answers_are_bounded(void **state)
{
	const uint32_t more = 5;
	unsigned nb = 0;

	(void)state;
	downlink_begin(0, 0);
	tick(0);
	while (nb < PHY_DOWNLINK_BOX + more) {
		const struct fapi_grant g = dci(nb % UES, 0, 1, nb & 1, 60);
		struct rte_mbuf *tb;

		/* One slot over and over: its cell is open again for each. */
		memset(phy.requests->row, 0, sizeof(phy.requests->row));
		ask(false, 0, &g, 1);
		tb_send(PHY_GNB, 0, 0, 1, 60, &tb);
		rte_pktmbuf_free(tb);
		nb++;
	}
	assert_int_equal(phy.downlink.box_full, more);
	for (uint64_t k = 1; k < 200; k++)
		tick(k);
	assert_int_equal(phy.downlink.tail, PHY_DOWNLINK_BOX);
	assert_int_equal(gnb_rx.answers_in, PHY_DOWNLINK_BOX);
}

int
main(void)
{
#define with_phy(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		with_phy(downlink_tbs_reach_their_ues),
		with_phy(uplink_grants_reach_ues_and_tbs_the_gnb),
		with_phy(crcs_tell_what_decoded),
		with_phy(repeated_tbs_are_taken_once),
		with_phy(combining_decodes),
		with_phy(missing_tbs_are_told_of),
		with_phy(channels_reach_the_gnb),
		with_phy(scheduling_requests_reach_the_gnb),
		with_phy(answers_come_k1_slots_later),
		with_phy(decoded_tbs_are_acknowledged_again),
		with_phy(a_dci_without_its_tb_ends_the_one_before),
		with_phy(downlink_combining_decodes),
		with_phy(answers_are_bounded),
		with_phy(what_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
