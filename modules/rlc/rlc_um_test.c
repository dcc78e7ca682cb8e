/* SPDX-License-Identifier: BSD-3-Clause */
/* Both UM entities joined by a link that loses, doubles and reorders PDUs; seeded. */
#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_test.h"
#include "modules/rlc/rlc_tx.h"

#define SDUS 1500
#define LINK 24
#define SEEDS 30

struct link {
	unsigned lose, twice;     /* percent */
	unsigned depth;           /* PDUs kept back to be reordered, < LINK */
	bool only_segments_twice; /* a complete UM PDU has no SN: its copy is a second SDU */
};

struct run {
	struct rlc_tx tx;
	struct rlc_rx rx;
	struct link link;
	uint64_t seed, now;
	uint64_t tx_drops[RLC_TX_DROPS], rx_drops[RLC_RX_DROPS];
	struct rlc_rx_counts counts;
	struct rlc_tx_pull_stats stats;
	struct rte_mbuf *kept[LINK + 1];
	unsigned nb_kept;
	uint64_t in, out, received[SDUS];
	uint16_t length[SDUS];
};

static void
start(struct run *r, enum rlc_sn_len bits, uint64_t seed, const struct link *link)
{
	const struct rlc_tx_cfg tx = {.mode = RLC_UM,
				      .sn_FieldLength = bits,
				      .queue_sdus = 128,
				      .lcid = 4,
				      .pools = &pools};
	const struct rlc_rx_cfg rx = {
		.mode = RLC_UM, .sn_FieldLength = bits, .t_Reassembly_ms = 50, .segments_max = 512};

	memset(r, 0, sizeof(*r));
	r->link = *link;
	r->seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	r->counts.drops = r->rx_drops;
	assert_int_equal(rlc_tx_init(&r->tx, &tx), 0);
	assert_int_equal(rlc_rx_init(&r->rx, &rx), 0);
	r->tx.um.TX_Next = 0;
}

/* What came out is, byte for byte, an SDU that went in. */
static void
verify(struct run *r, struct rte_mbuf *sdu)
{
	static uint8_t buf[65536];
	uint32_t len = flatten(sdu, buf), id;

	memcpy(&id, buf, 4);
	assert_true(id < SDUS);
	assert_int_equal(len, r->length[id]);
	for (uint32_t i = 4; i < len; i++)
		assert_int_equal(buf[i], sdu_byte(id, i));
	r->received[id]++;
	rte_pktmbuf_free(sdu);
}

static void
deliver(struct run *r, struct rte_mbuf **pdus, unsigned n)
{
	unsigned k;

	r->in += n;
	k = rlc_rx_receive(&r->rx, pdus, n, pdus, &r->counts, r->now);
	r->out += k;
	for (unsigned i = 0; i < k; i++)
		verify(r, pdus[i]);
}

static void
flush(struct run *r)
{
	while (r->nb_kept > 0) {
		unsigned i = rnd(&r->seed, r->nb_kept);
		struct rte_mbuf *m = r->kept[i];

		r->kept[i] = r->kept[--r->nb_kept];
		deliver(r, &m, 1);
	}
}

/* Shuffles block by block: no PDU is late by more than the window of a 6-bit SN. */
static void
forward(struct run *r, struct rte_mbuf *m)
{
	r->kept[r->nb_kept++] = m;
	if (r->nb_kept > r->link.depth)
		flush(r);
}

/* The copy is shared, as a copy on a link would not be: the entity may write to neither. */
static void
send_pdu(struct run *r, struct rte_mbuf *m)
{
	bool complete = rlc_umd_is_complete(*rte_pktmbuf_mtod(m, uint8_t *));

	if (rnd(&r->seed, 100) < r->link.lose) {
		rte_pktmbuf_free(m);
		return;
	}
	if (rnd(&r->seed, 100) < r->link.twice && !(complete && r->link.only_segments_twice)) {
		struct rte_mbuf *copy = rte_pktmbuf_clone(m, pools.ind);

		assert_non_null(copy);
		*ap_meta(copy) = *ap_meta(m);
		forward(r, copy);
	}
	forward(r, m);
}

/* One slot: a grant of any size up to `most` bytes. */
static void
slot(struct run *r, uint32_t most)
{
	uint32_t grant = rnd(&r->seed, most) + 1;
	struct rte_mbuf *pdus[16];
	unsigned n = rlc_tx_pull(&r->tx, &grant, pdus, 16, r->now, &r->stats);

	for (unsigned i = 0; i < n; i++)
		send_pdu(r, pdus[i]);
	r->now += AP_NS_PER_MS;
	rlc_rx_expire(&r->rx, &r->counts, r->now);
}

static void
run(struct run *r, uint32_t longest, uint32_t most)
{
	for (uint32_t id = 0; id < SDUS || rlc_tx_bytes_waiting(&r->tx) > 0;) {
		while (id < SDUS && rlc_tx_room(&r->tx, id) > 0 && rnd(&r->seed, 3)) {
			struct rte_mbuf *m;

			r->length[id] = (uint16_t)(4 + rnd(&r->seed, longest - 4));
			m = sdu_make(id, r->length[id], (uint16_t)(1 + rnd(&r->seed, 3)));
			assert_int_equal(rlc_tx_push(&r->tx, &m, 1, r->now, r->tx_drops), 1);
			id++;
		}
		slot(r, most);
	}
	flush(r);
}

static void
finish(struct run *r)
{
	uint64_t dropped = 0;

	for (int i = 0; i < RLC_RX_DROPS; i++)
		dropped += r->rx_drops[i];
	assert_int_equal(r->in + r->counts.made, r->out + r->counts.used + dropped + r->rx.held);
	assert_int_equal(r->stats.no_mbuf, 0);
	assert_true(r->stats.segments > 0);
	rlc_tx_fini(&r->tx);
	rlc_rx_fini(&r->rx);
	assert_no_leak();
}

static uint64_t
delivered(const struct run *r, uint64_t at_most)
{
	uint64_t n = 0;

	for (uint32_t id = 0; id < SDUS; id++) {
		assert_true(r->received[id] <= at_most);
		n += r->received[id] > 0;
	}
	return n;
}

static struct run r;

static void
nothing_lost_on_a_clean_link(void **state)
{
	static const struct link clean = {0};

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		start(&r, seed & 1 ? RLC_SN_6 : RLC_SN_12, seed, &clean);
		run(&r, 400, 500);
		assert_int_equal(delivered(&r, 1), SDUS);
		assert_int_equal(rlc_rx_deadline(&r.rx), 0);
		finish(&r);
	}
}

/* Within the window, order and copies of segments cost nothing. */
static void
reordered_and_doubled(void **state)
{
	static const struct link link = {.twice = 30, .depth = 12, .only_segments_twice = true};

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		start(&r, seed & 1 ? RLC_SN_6 : RLC_SN_12, seed, &link);
		r.rx.t_Reassembly_ns = 100 * AP_NS_PER_S;
		run(&r, 100, 120);
		assert_int_equal(delivered(&r, 1), SDUS);
		assert_true(r.rx_drops[RLC_RX_DUPLICATE] + r.rx_drops[RLC_RX_SN_OLD] > 0);
		finish(&r);
	}
}

static void
everything_at_once(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const struct link link = {.lose = 5 + seed, .twice = 10, .depth = seed % LINK};

		start(&r, seed & 1 ? RLC_SN_6 : RLC_SN_12, seed, &link);
		run(&r, 300, seed % 3 ? 200 : 40);
		assert_true(delivered(&r, 2) > 0);
		assert_true(r.rx_drops[RLC_RX_T_REASSEMBLY] + r.rx_drops[RLC_RX_WINDOW_MOVED] > 0);
		finish(&r);
	}
}

/* Any bytes at all: each becomes an SDU, is kept, or has a name. */
static void
noise(void **state)
{
	static const struct link link = {0};
	uint8_t buf[64];

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		start(&r, seed & 1 ? RLC_SN_6 : RLC_SN_12, seed, &link);
		for (int i = 0; i < 3000; i++) {
			uint16_t len = (uint16_t)rnd(&r.seed, 40);
			struct rte_mbuf *m;

			for (int j = 0; j < len; j++)
				buf[j] = (uint8_t)rnd(&r.seed, 256);
			if (len > 3) { /* offsets that can meet */
				buf[1] &= seed & 1 ? 0 : 0xff;
				buf[2] &= seed & 1 ? 0x1f : 0;
			}
			m = packet(buf, len);
			r.in++;
			if (rlc_rx_receive(&r.rx, &m, 1, &m, &r.counts, r.now)) {
				r.out++;
				rte_pktmbuf_free(m);
			}
			r.now += AP_NS_PER_MS;
			rlc_rx_expire(&r.rx, &r.counts, r.now);
		}
		r.stats.segments = 1;
		finish(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost_on_a_clean_link),
		cmocka_unit_test(reordered_and_doubled),
		cmocka_unit_test(everything_at_once),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests_name("rlc_um", tests, rlc_test_setup, NULL);
}
