/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two AM entities joined by a channel that loses, doubles, delays and reorders PDUs, with grants
 * from 3 B up. Once the channel is clean every SDU has to be there, once and byte for byte, and
 * every mbuf has to be back. Sent buffers are treated as MAC and PHY treat them: headers go before
 * the PDU, PDUs are linked to frames, and frames are freed some slots later.
 *
 *   test_rlc_am_model [SEEDS [FIRST]], or RLC_AM_SEEDS in the environment
 */
#include <stdio.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_test.h"
#include "modules/rlc/rlc_tx.h"

#define SDUS 400
#define AIR 4096    /* PDUs under way */
#define FRAMES 4096 /* sent buffers not freed */
#define PULL 24
#define CLEAN_SLOTS 20000

struct air {
	struct rte_mbuf *m;
	uint64_t due; /* slot */
	unsigned to;
};

struct side {
	struct rlc_tx tx;
	struct rlc_rx rx;
	uint64_t tx_drops[RLC_TX_DROPS], rx_drops[RLC_RX_DROPS];
	struct rlc_rx_counts counts;
	struct rlc_tx_pull_stats stats;
	uint32_t pushed, sdus, delivered_calls, max_retx_calls;
	uint64_t in, out;
	uint16_t length[SDUS];
	uint8_t received[SDUS]; /* of what the other side sent */
};

static struct world {
	struct side side[2];
	struct air air[AIR];
	unsigned nb_air;
	struct {
		struct rte_mbuf *m;
		uint64_t due;
	} frames[FRAMES];
	unsigned nb_frames;
	uint64_t rnd, slot;
	unsigned lose, twice, delay, longest, most, hold;
	bool clean;
} w;

static uint64_t seed_now;
static bool seed_done;

static uint32_t
pick(uint32_t below)
{
	return rnd(&w.rnd, below);
}

static void
on_delivered(void *arg, const uint8_t *sdu, uint32_t bytes)
{
	struct side *s = arg;
	uint32_t id;

	s->delivered_calls++;
	if (bytes < 4)
		return; /* the first of several buffers */
	memcpy(&id, sdu, 4);
	assert_true(id < s->pushed);
}

static void
on_max_retx(void *arg)
{
	((struct side *)arg)->max_retx_calls++;
}

/* State variables that wrap soon. */
static void
start_at(struct side *from, struct side *to, uint32_t sn)
{
	struct rlc_am_tx *tx = from->tx.am;

	tx->TX_Next = tx->TX_Next_Ack = tx->acked_to = tx->retx_from = sn;
	to->rx.am.RX_Next = to->rx.am.RX_Next_Highest = to->rx.am.RX_Highest_Status = sn;
}

static void
side_up(struct side *s, enum rlc_sn_len bits, bool bidirectional)
{
	const struct rlc_tx_cfg tx = {
		.mode = RLC_AM,
		.sn_FieldLength = bits,
		.queue_sdus = 1 + pick(100),
		.lcid = 4,
		.pools = &pools,
		.am = {.t_PollRetransmit_ms = 1 + pick(40),
		       .t_StatusProhibit_ms = pick(2) * pick(15),
		       .pollPDU = pick(2) * (1 + pick(30)),
		       .pollByte = pick(2) * (1 + pick(5000)),
		       .maxRetxThreshold = 1 + pick(8),
		       .upper = {on_delivered, on_max_retx, s}},
	};
	struct rlc_rx_cfg rx = {
		.mode = RLC_AM,
		.sn_FieldLength = bits,
		.t_Reassembly_ms = pick(20),
		.segments_max = 32 + pick(500),
	};

	s->counts.drops = s->rx_drops;
	s->sdus = bidirectional ? SDUS : 0;
	assert_int_equal(rlc_tx_init(&s->tx, &tx), 0);
	rx.am = rlc_tx_am_link(&s->tx);
	assert_int_equal(rlc_rx_init(&s->rx, &rx), 0);
}

static void
start(uint64_t seed)
{
	static const unsigned grants[] = {12, 40, 130, 700, 4000};
	const enum rlc_sn_len bits = seed & 1 ? RLC_SN_12 : RLC_SN_18;

	memset(&w, 0, sizeof(w));
	w.rnd = seed * 0x9e3779b97f4a7c15ULL + 1;
	w.lose = pick(40);
	w.twice = pick(20);
	w.delay = pick(3) * pick(12);
	w.hold = 1 + pick(30);
	w.longest = pick(2) ? 60 : 600;
	w.most = grants[pick(RTE_DIM(grants))];
	for (unsigned i = 0; i < 2; i++)
		side_up(&w.side[i], bits, i == 0 || seed % 3 == 0);
	for (unsigned i = 0; i < 2; i++)
		start_at(&w.side[i], &w.side[!i], rlc_sn_mask(bits) - pick(SDUS));
}

/* --- the channel ------------------------------------------------------------------------------ */

/* What a receiver gets has been copied on the way; sometimes its buffer is shared or in parts. */
static struct rte_mbuf *
copy_of(const struct rte_mbuf *m, uint32_t skip)
{
	static uint8_t buf[65536];
	uint32_t len = flatten(m, buf) - skip, cut = pick(8) ? len : pick(len);
	struct rte_mbuf *to = packet(buf + skip, (uint16_t)cut), *tail;

	if (cut == len)
		return to;
	tail = packet(buf + skip + cut, (uint16_t)(len - cut));
	to->next = tail;
	to->nb_segs = 2;
	to->pkt_len = len;
	return to;
}

static void
put_on_air(struct rte_mbuf *m, unsigned to)
{
	const uint64_t due = w.slot + 1 + (w.clean ? 0 : pick(w.delay + 1));

	assert_true(w.nb_air < AIR);
	w.air[w.nb_air++] = (struct air){m, due, to};
}

/* MAC's subheader goes before the PDU; then it is linked behind the frame. */
static void
frame_add(struct rte_mbuf **frame, struct rte_mbuf *m)
{
	if (*frame == NULL) {
		*frame = m;
		return;
	}
	assert_int_equal(rte_pktmbuf_chain(*frame, m), 0);
}

static void
frame_hold(struct rte_mbuf *frame)
{
	assert_true(w.nb_frames < FRAMES);
	w.frames[w.nb_frames].m = frame;
	w.frames[w.nb_frames++].due = w.slot + pick(w.hold);
}

static void
send_pdus(unsigned from, struct rte_mbuf **pdus, unsigned n)
{
	struct rte_mbuf *frame = NULL;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = pdus[i];
		uint8_t *p = ap_pkt_prepend(&m, 3, pools.hdr);

		assert_non_null(p);
		memset(p, 0xee, 3);
		if (w.clean || pick(100) >= w.lose)
			put_on_air(copy_of(m, 3), !from);
		if (!w.clean && pick(100) < w.twice)
			put_on_air(copy_of(m, 3), !from);
		frame_add(&frame, m);
		if (pick(4) == 0) {
			frame_hold(frame);
			frame = NULL;
		}
	}
	if (frame)
		frame_hold(frame);
}

static void
frames_free(bool all)
{
	for (unsigned i = 0; i < w.nb_frames;) {
		if (!all && w.frames[i].due > w.slot) {
			i++;
			continue;
		}
		rte_pktmbuf_free(w.frames[i].m);
		w.frames[i] = w.frames[--w.nb_frames];
	}
}

/* --- a slot ----------------------------------------------------------------------------------- */

static void
verify(struct side *to, struct side *from, struct rte_mbuf *sdu)
{
	static uint8_t buf[65536];
	uint32_t len = flatten(sdu, buf), id;

	assert_true(len >= 4);
	memcpy(&id, buf, 4);
	assert_true(id < from->pushed);
	assert_int_equal(len, from->length[id]);
	for (uint32_t i = 4; i < len; i++)
		assert_int_equal(buf[i], sdu_byte(id, i));
	assert_int_equal(to->received[id]++, 0);
	rte_pktmbuf_free(sdu);
}

static void
receive(void)
{
	for (unsigned i = 0; i < w.nb_air;) {
		struct air a = w.air[i];
		struct side *to = &w.side[a.to];

		if (a.due > w.slot) {
			i++;
			continue;
		}
		w.air[i] = w.air[--w.nb_air];
		to->in++;
		if (rlc_rx_receive(&to->rx, &a.m, 1, &a.m, &to->counts, w.slot * AP_NS_PER_MS)) {
			to->out++;
			verify(to, &w.side[!a.to], a.m);
		}
	}
}

static void
push(struct side *s)
{
	while (s->pushed < s->sdus && rlc_tx_room(&s->tx, s->pushed) > 0 && pick(4)) {
		uint32_t id = s->pushed;
		struct rte_mbuf *m;

		s->length[id] = (uint16_t)(4 + pick(w.longest));
		/* Most in one buffer, where the header fits; some in several. */
		m = sdu_make(id, s->length[id], (uint16_t)(pick(6) ? 1 : 1 + pick(3)));
		if (pick(10) == 0) {
			struct rte_mbuf *shared = rte_pktmbuf_clone(m, pools.ind);

			*ap_meta(shared) = *ap_meta(m);
			rte_pktmbuf_free(m);
			m = shared;
		}
		s->pushed++;
		assert_int_equal(rlc_tx_push(&s->tx, &m, 1, w.slot * AP_NS_PER_MS, s->tx_drops), 1);
	}
}

static void
pull(unsigned i)
{
	struct side *s = &w.side[i];
	const uint64_t now = w.slot * AP_NS_PER_MS;
	uint32_t grant = 3 + pick(w.clean ? RTE_MAX(w.most, 700U) : w.most), left;
	struct rte_mbuf *pdus[PULL];
	unsigned n;

	rlc_tx_slot(&s->tx, now);
	left = grant;
	n = rlc_tx_pull(&s->tx, &left, pdus, PULL, now, &s->stats);
	for (unsigned k = 0; k < n; k++) {
		uint32_t need = pdus[k]->pkt_len + rlc_mac_overhead(pdus[k]->pkt_len);

		assert_true(need <= grant);
		grant -= need;
	}
	assert_int_equal(grant, left);
	send_pdus(i, pdus, n);
}

static void
slot(void)
{
	w.slot++;
	receive();
	for (unsigned i = 0; i < 2; i++) {
		rlc_rx_expire(&w.side[i].rx, &w.side[i].counts, w.slot * AP_NS_PER_MS);
		push(&w.side[i]);
		if (pick(4))
			pull(i);
	}
	frames_free(false);
}

/* --- a run ------------------------------------------------------------------------------------ */

static bool
complete(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct side *s = &w.side[i];

		if (s->pushed < s->sdus || rlc_tx_held(&s->tx))
			return false;
	}
	return true;
}

static void
finish(struct side *s, struct side *from)
{
	uint64_t dropped = 0;

	for (unsigned i = 0; i < RLC_RX_DROPS; i++)
		dropped += s->rx_drops[i];
	assert_int_equal(s->in + s->counts.made, s->out + s->counts.used + dropped + s->rx.held);
	assert_int_equal(s->stats.no_mbuf, 0);
	assert_int_equal(s->rx_drops[RLC_RX_STATUS_BAD], 0);
	assert_int_equal(s->tx.am->counters.status_refused, 0);
	assert_int_equal(s->delivered_calls, s->sdus);
	assert_int_equal(s->tx.am->counters.max_retx, s->max_retx_calls);
	assert_int_equal(s->rx.held, 0);
	for (uint32_t id = 0; id < from->sdus; id++)
		assert_int_equal(s->received[id], 1);
}

static void
one_seed(uint64_t seed)
{
	uint64_t end;

	seed_now = seed;
	start(seed);
	for (end = 200 + pick(2000); w.slot < end && !complete();)
		slot();
	w.clean = true;
	for (end = w.slot + CLEAN_SLOTS; w.slot < end && !complete();)
		slot();
	assert_true(complete());
	while (w.nb_air > 0) {
		w.slot++;
		receive();
	}
	for (unsigned i = 0; i < 2; i++)
		finish(&w.side[i], &w.side[!i]);
	frames_free(true);
	for (unsigned i = 0; i < 2; i++) {
		rlc_tx_fini(&w.side[i].tx);
		rlc_rx_fini(&w.side[i].rx);
	}
	assert_no_leak();
}

static uint64_t seeds = 60, first_seed = 1;

static void
nothing_is_lost_in_the_end(void **state)
{
	(void)state;
	seed_done = false;
	for (uint64_t s = first_seed; s < first_seed + seeds; s++)
		one_seed(s);
	seed_done = true;
}

static void
tell(const struct side *s)
{
	const struct rlc_am_tx *tx = s->tx.am;
	const struct rlc_am_rx *rx = &s->rx.am;

	fprintf(stderr,
		"slot %lu: %u of %u SDUs, TX_Next_Ack %u TX_Next %u acked_to %u so %u left %u "
		"pending %u queued %u; RX_Next %u RX_Highest_Status %u RX_Next_Highest %u held %u "
		"need %u sent %u\n",
		w.slot, s->pushed, s->sdus, tx->TX_Next_Ack, tx->TX_Next, tx->acked_to, tx->so,
		tx->left, tx->nb_pending, ap_queue_count(&s->tx.queue), rx->RX_Next,
		rx->RX_Highest_Status, rx->RX_Next_Highest, s->rx.held, tx->link.need,
		tx->link.sent);
	fprintf(stderr,
		"polls %lu timeouts %lu retx %lu status sent %lu trimmed %lu taken %lu old %lu, "
		"poll "
		"deadline %lu ms, POLL_SN %u, t-Reassembly %lu\n",
		tx->counters.polls, tx->counters.poll_timeouts, tx->counters.retx,
		tx->counters.status_sent, tx->counters.status_trimmed, tx->counters.status_taken,
		tx->counters.status_old, tx->poll_deadline_ns / 1000000UL, tx->POLL_SN,
		s->rx.deadline_ns / 1000000UL);
	for (unsigned i = 0; i < RLC_RX_DROPS; i++)
		fprintf(stderr, " %lu", s->rx_drops[i]);
	fprintf(stderr, " dropped\n");
}

static int
name_seed(void **state)
{
	(void)state;
	if (seed_done)
		return 0;
	fprintf(stderr, "rlc_am_model: failing seed %lu: test_rlc_am_model 1 %lu\n", seed_now,
		seed_now);
	for (unsigned i = 0; i < 2; i++)
		tell(&w.side[i]);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(nothing_is_lost_in_the_end, name_seed),
	};
	const char *env = getenv("RLC_AM_SEEDS");

	if (argc > 1 || env)
		seeds = strtoull(argc > 1 ? argv[1] : env, NULL, 0);
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests_name("rlc_am_model", tests, rlc_test_setup, NULL);
}
