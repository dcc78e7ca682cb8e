/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <rte_ring.h>

#include "modules/p4/p4_hand.h"
#include "modules/p4/p4_test.h"

#define WALKS 60000
#define BURST 32
#define BEARERS (P4_TEST_SESSIONS + P4_TEST_SESSIONS / 2)

static struct rte_mempool *pool;
static uint64_t seed = 0x5eed;

/** NIC, a ring each way for every virtual function, hosts that number, and who receives. */
static struct {
	struct p4_gnb *nic;
	struct p4_model model;
	struct gnb_table *table;
	struct rte_ring *down[P4_TEST_VFS], *up[P4_TEST_VFS];
	struct p4_hand hand[P4_TEST_VFS];
	struct rte_mbuf *numbering[P4_TEST_VFS][2048]; /**< passed in this walk */
	unsigned nb_numbering[P4_TEST_VFS];
	uint64_t sent[P4_TEST_SESSIONS * 2];
	/** by bearer: COUNTs that arrived, by number */
	uint8_t *seen[P4_TEST_SESSIONS * 2];
	uint64_t by_host, by_nic;
} bed;

static uint32_t
any(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

static struct rte_ring *
ring(const char *what, unsigned k)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%u", what, k);
	return rte_ring_create(name, 8192, SOCKET_ID_ANY, 0);
}

/** Contexts of the host as those of the program are. */
static void
table_fill(void)
{
	bed.table = gnb_table_create(P4_TEST_SESSIONS, 2, SOCKET_ID_ANY);
	assert_non_null(bed.table);
	for (unsigned i = 0; i < P4_TEST_SESSIONS; i++) {
		bed.table->sessions[i].teid = p4_test_teid(i, 15);
		memcpy(bed.table->sessions[i].slot_of, bed.model.session[i].slot_of, 32);
		for (unsigned slot = 0; slot <= i % 2; slot++) {
			struct gnb_drb *d = gnb_drb_at(bed.table, p4_test_teid(i, 15), slot);

			d->config.id = 1;
			d->owner = GNB_OWNER_HOST;
		}
	}
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("p4", 32767, 512);
	bed.nic = p4_test_nic(pool, &bed.model);
	table_fill();
	for (unsigned v = 0; v < P4_TEST_VFS; v++) {
		bed.down[v] = ring("down", v);
		bed.up[v] = ring("up", v);
		p4_hand_init(&bed.hand[v], bed.table, 1ULL << 40);
	}
	for (unsigned b = 0; b < RTE_DIM(bed.seen); b++)
		bed.seen[b] = calloc(1, 1 << 17);
	/* Every peer is there. */
	bed.model.peer[1].index = 4;
	assert_int_equal(p4_peer_set(bed.nic, &bed.model.peer[1]), 0);
	return 0;
}

static void
number_arrived(uint32_t row, uint32_t count, struct rte_mbuf *m)
{
	assert_true(count < 1 << 17);
	if (bed.seen[row][count]++)
		fail_msg("bearer %u: COUNT %u twice", row, count);
	rte_pktmbuf_free(m);
}

/** What the program made of frames; those for the wire are received. */
static void
nic_run(enum p4_side side, struct rte_mbuf **pkts, uint16_t nb)
{
	static struct p4_result r;

	p4_gnb_run(bed.nic, side, pkts, nb, &r);
	for (uint16_t i = 0; i < r.nb; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(r.pkts[i], const uint8_t *);

		if (r.out[i] >= P4_OUT_VF) {
			assert_int_equal(
				rte_ring_enqueue(bed.down[r.out[i] - P4_OUT_VF], r.pkts[i]), 0);
		} else if (r.out[i] == P4_OUT_WIRE) {
			/* IPv4's identification is COUNT; DU TEIDs say whose. */
			const uint32_t du = be32_get(p + 46);

			bed.by_nic++;
			number_arrived((du >> 8 & 0xFFFF) * 2 + (du & 1), be16_get(p + 18),
				       r.pkts[i]);
		} else {
			assert_int_equal(r.out[i], P4_OUT_USED);
			rte_pktmbuf_free(r.pkts[i]);
		}
	}
}

static void
offer(void)
{
	struct rte_mbuf *pkts[BURST];
	const unsigned nb = any(BURST + 1);

	for (unsigned i = 0; i < nb; i++) {
		struct p4_frame f;
		const uint32_t index = any(4) ? any(P4_TEST_SESSIONS) : any(2);
		const unsigned qfi = any(60);
		const unsigned slot =
			bed.model.session[index].slot_of[qfi / 2] >> (qfi & 1) * 4 & 15;

		p4_test_gpdu(&f, index, (uint8_t)qfi, any(2), 60, false);
		/* As many as 16 bits of identification tell apart. */
		if (bed.sent[index * 2 + slot] >= 60000) {
			pkts[i] = NULL;
			continue;
		}
		if (any(50) == 0) {
			f.b[42] |= 2; /* a sequence number: all the same */
		} else if (any(50) == 0) {
			f.b[55] = 0x08; /* with a timestamp, it says: not the program's */
		}
		bed.sent[index * 2 + slot]++;
		pkts[i] = p4_test_mbuf(pool, &f);
	}
	for (unsigned i = 0; i < nb; i++)
		if (pkts[i])
			nic_run(P4_SIDE_WIRE, &pkts[i], 1);
}

/** As gnb_in, gnb_drb and gnb_hdr_tx would, and p4_inject. */
static void
number(unsigned v)
{
	for (unsigned i = 0; i < bed.nb_numbering[v]; i++) {
		struct rte_mbuf *m = bed.numbering[v][i];
		uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
		const uint32_t teid = be32_get(p + 46);
		const unsigned slot = gnb_slot_of_qfi(gnb_session_at(bed.table, teid), p[56] & 63);
		struct gnb_drb *d = gnb_drb_at(bed.table, teid, slot);

		assert_true(gnb_session_is(gnb_session_at(bed.table, teid), teid));
		if (m->ol_flags & bed.hand[v].aside && d->owner == GNB_OWNER_NIC) {
			p[55] = 0; /* made plain, and handed in */
			m->ol_flags = 0;
			assert_int_equal(rte_ring_enqueue(bed.up[v], m), 0);
			continue;
		}
		bed.by_host++;
		d->rlc_tx_next++;
		number_arrived(gnb_teid_index(teid) * 2 + slot, d->tx_next++, m);
	}
	bed.nb_numbering[v] = 0;
}

/** A walk of a host: some of what is in the ring, or nothing. */
static void
host_walk(unsigned v, uint64_t walk)
{
	struct p4_hand *h = &bed.hand[v];
	struct rte_mbuf *pkts[BURST], *m;
	uint8_t frame[P4_SHIM_FRAME_BYTES];
	unsigned nb;

	p4_hand_step(h, walk);
	while (p4_hand_release(h, frame)) {
		m = rte_pktmbuf_alloc(pool);
		memcpy(rte_pktmbuf_append(m, sizeof(frame)), frame, sizeof(frame));
		assert_int_equal(rte_ring_enqueue(bed.up[v], m), 0);
	}
	nb = rte_ring_dequeue_burst(bed.down[v], (void **)pkts, any(BURST) + 1, NULL);
	if (p4_hand_plain(h, pkts, (uint16_t)nb)) {
		memcpy(bed.numbering[v], pkts, nb * sizeof(*pkts));
		bed.nb_numbering[v] = nb;
	} else {
		for (unsigned i = 0; i < nb; i++)
			assert_true(p4_hand_put(h, pkts[i]));
		while ((m = p4_hand_next(h)) != NULL)
			bed.numbering[v][bed.nb_numbering[v]++] = m;
	}
	number(v);
}

static void
from_hosts(unsigned most)
{
	for (unsigned v = 0; v < P4_TEST_VFS; v++) {
		struct rte_mbuf *pkts[BURST];
		unsigned nb = rte_ring_dequeue_burst(bed.up[v], (void **)pkts, most, NULL);

		nic_run(P4_SIDE_VF, pkts, (uint16_t)nb);
	}
}

static bool
at_rest(void)
{
	for (unsigned v = 0; v < P4_TEST_VFS; v++)
		if (rte_ring_count(bed.down[v]) + rte_ring_count(bed.up[v]) +
			    p4_hand_held(&bed.hand[v]) >
		    0)
			return false;
	return true;
}

/**
 * Traffic, marks at random and the share changed at random, hosts that are now and then late: each
 * bearer's COUNTs are those from 0 on, each once.
 */
static void
no_gap_no_repeat(void **state)
{
	uint64_t walk = 0, packets = 0, takes = 0, gives = 0;

	(void)state;
	for (; walk < WALKS || !at_rest(); walk++) {
		if (any(50) == 0)
			p4_share_set(bed.nic, any(2) ? P4_SHARE_BY_MARK : any(P4_SHARE_ALL + 1));
		if (walk < WALKS)
			offer();
		for (unsigned v = 0; v < P4_TEST_VFS; v++)
			if (any(3))
				host_walk(v, walk + 1);
		if (any(3))
			from_hosts(1 + any(BURST));
	}
	for (unsigned b = 0; b < RTE_DIM(bed.seen); b++) {
		packets += bed.sent[b];
		for (uint32_t c = 0; c < 1 << 17; c++)
			if (bed.seen[b][c] != (c < bed.sent[b]))
				fail_msg("bearer %u: COUNT %u of %lu: %u times", b, c,
					 (unsigned long)bed.sent[b], bed.seen[b][c]);
	}
	for (unsigned v = 0; v < P4_TEST_VFS; v++) {
		takes += bed.hand[v].takes;
		gives += bed.hand[v].gives;
	}
	print_message("%lu packets, %lu numbered by the NIC; handed over %lu and back %lu times\n",
		      (unsigned long)packets, (unsigned long)bed.by_nic, (unsigned long)takes,
		      (unsigned long)gives);
	assert_int_equal(packets, bed.by_nic + bed.by_host);
	assert_true(takes > 1000 && gives > 1000 && bed.by_nic > 100000 && bed.by_host > 100000);
}

static int
teardown(void **state)
{
	(void)state;
	for (unsigned v = 0; v < P4_TEST_VFS; v++) {
		p4_hand_fini(&bed.hand[v]);
		rte_ring_free(bed.down[v]);
		rte_ring_free(bed.up[v]);
	}
	for (unsigned b = 0; b < RTE_DIM(bed.seen); b++)
		free(bed.seen[b]);
	p4_gnb_destroy(bed.nic);
	gnb_table_destroy(bed.table);
	assert_pool_full(pool);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_gap_no_repeat)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
