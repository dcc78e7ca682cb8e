/* SPDX-License-Identifier: BSD-3-Clause */
/* Segmentation in UM: TS 38.322 §5.2.2.1. */
#include <pthread.h>
#include <sched.h>

#include "modules/rlc/rlc_test.h"
#include "modules/rlc/rlc_tx.h"

static uint64_t drops[RLC_TX_DROPS];
static struct rlc_tx_pull_stats stats;

static void
start(struct rlc_tx *e, enum rlc_sn_len bits)
{
	const struct rlc_tx_cfg cfg = {.mode = RLC_UM,
				       .sn_FieldLength = bits,
				       .queue_sdus = 64,
				       .bearer = 7,
				       .lcid = 4,
				       .pools = &pools};

	memset(&stats, 0, sizeof(stats));
	assert_int_equal(rlc_tx_init(e, &cfg), 0);
}

static void
push(struct rlc_tx *e, struct rte_mbuf *m)
{
	assert_int_equal(rlc_tx_push(e, &m, 1, 0, drops), 1);
}

static struct rte_mbuf *
pull(struct rlc_tx *e, uint32_t grant)
{
	struct rte_mbuf *pdu;

	return rlc_tx_pull(e, &grant, &pdu, 1, 0, &stats) ? pdu : NULL;
}

static void
golden_segments(void **state)
{
	static const uint8_t sdu[] = "0123456789";
	static const uint8_t first[] = {0x40, 0x3f, '0', '1', '2'};
	static const uint8_t middle[] = {0xc0, 0x3f, 0x00, 0x03, '3'};
	static const uint8_t last[] = {0x80, 0x3f, 0x00, 0x04, '4', '5', '6', '7', '8', '9'};
	struct rte_mbuf *m = packet(sdu, 10), *pdus[3];
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_SN_12);
	e.um.TX_Next = 0x03f;
	ap_meta(m)->flags = AP_M_TIMED;
	ap_ext(m)->enter_ns = 42;
	push(&e, m);
	pdus[0] = pull(&e, 7);
	assert_int_equal(e.um.TX_Next, 0x03f);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 7 + 4);
	assert_null(pull(&e, 6));
	pdus[1] = pull(&e, 7);
	assert_int_equal(rlc_tx_held(&e), 1);
	pdus[2] = pull(&e, 12);
	assert_int_equal(e.um.TX_Next, 0x040);
	assert_int_equal(rlc_tx_bytes_waiting(&e), 0);
	assert_packet(pdus[0], first, sizeof(first));
	assert_packet(pdus[1], middle, sizeof(middle));
	assert_packet(pdus[2], last, sizeof(last));
	assert_int_equal(stats.segments, 3);
	assert_int_equal(ap_meta(pdus[0])->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(pdus[0])->enter_ns, 42);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ap_meta(pdus[i])->bearer, 7);
		assert_int_equal(ap_meta(pdus[i])->lcid, 4);
		assert_int_equal(ap_meta(pdus[i])->flags, i == 0 ? AP_M_TIMED : 0);
	}
	rte_pktmbuf_free_bulk(pdus, 3);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* The receiver of the first segment is done with it: the room it leaves takes the last header. */
static void
last_segment_reuses_a_buffer_of_its_own(void **state)
{
	struct rte_mbuf *m = sdu_make(3, 100, 1), *pdu;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_SN_6);
	push(&e, m);
	rte_pktmbuf_free(pull(&e, 50));
	pdu = pull(&e, 100);
	assert_ptr_equal(pdu, m);
	assert_int_equal(pdu->nb_segs, 1);
	assert_int_equal(rte_pktmbuf_mtod_offset(pdu, uint8_t *, 3)[0], sdu_byte(3, 47));
	rte_pktmbuf_free(pdu);
	rlc_tx_fini(&e);
	assert_no_leak();
}

/* Decodes one PDU and appends its data to what was received before. */
static void
take(const struct rte_mbuf *pdu, enum rlc_sn_len bits, uint16_t *sn, uint8_t *sdus, uint32_t *got,
     uint32_t *in_sdu)
{
	static uint8_t buf[65536];
	uint32_t len = flatten(pdu, buf);
	struct rlc_umd h;
	int header = rlc_umd_decode(buf, len, bits, &h);

	assert_true(header > 0);
	assert_true(len > (uint32_t)header);
	if (h.si == RLC_SI_COMPLETE || h.si == RLC_SI_FIRST)
		assert_int_equal(*in_sdu, 0);
	if (h.si != RLC_SI_COMPLETE)
		assert_int_equal(h.sn, *sn);
	if (h.si == RLC_SI_MIDDLE || h.si == RLC_SI_LAST)
		assert_int_equal(h.so, *in_sdu);
	memcpy(sdus + *got, buf + header, len - header);
	*got += len - header;
	*in_sdu += len - header;
	if (h.si == RLC_SI_LAST)
		*sn = (*sn + 1) & rlc_sn_mask(bits);
	if (h.si == RLC_SI_LAST || h.si == RLC_SI_COMPLETE)
		*in_sdu = 0;
}

/*
 * Every grant size: within the grant, nothing left behind once 8 B are granted (TS 38.321
 * §5.4.3.1.3), bytes in order, SN wrapped several times, buffers with 1..3 segments.
 */
static void
drain(enum rlc_sn_len bits, uint32_t size)
{
	enum { SDUS = 40, LEN = 61 };
	uint8_t sent[SDUS * LEN], got_bytes[SDUS * LEN];
	uint32_t sent_len = 0, got = 0, in_sdu = 0;
	uint16_t sn = (uint16_t)(rlc_sn_mask(bits) - 5);
	struct rte_mbuf *pdus[16];
	struct rlc_tx e;

	start(&e, bits);
	e.um.TX_Next = sn;
	for (uint32_t id = 0; id < SDUS; id++) {
		uint32_t len = 4 + id * 7 % (LEN - 4);

		for (uint32_t i = 0; i < len; i++)
			sent[sent_len++] = sdu_byte(id, i);
		push(&e, sdu_make(id, len, 1 + id % 3));
	}
	for (int visits = 0; visits < 4000 && rlc_tx_bytes_waiting(&e) > 0; visits++) {
		uint64_t waiting = rlc_tx_bytes_waiting(&e);
		uint32_t grant = size, used = 0;
		unsigned n = rlc_tx_pull(&e, &grant, pdus, 16, 0, &stats);

		for (unsigned i = 0; i < n; i++) {
			used += pdus[i]->pkt_len + rlc_mac_overhead(pdus[i]->pkt_len);
			take(pdus[i], bits, &sn, got_bytes, &got, &in_sdu);
		}
		assert_int_equal(size - grant, used);
		if (n > 0 && used < size && waiting > used)
			assert_true(grant <= RLC_UMD_HEADER_MAX + 2);
		if (size >= 8)
			assert_true(n > 0);
		rte_pktmbuf_free_bulk(pdus, n);
	}
	if (size >= 8) {
		assert_int_equal(got, sent_len);
		assert_memory_equal(got_bytes, sent, sent_len);
		assert_int_equal(rlc_tx_held(&e), 0);
	}
	rlc_tx_fini(&e);
	assert_no_leak();
}

static void
every_grant_size(void **state)
{
	(void)state;
	for (uint32_t size = 1; size <= 60; size++) {
		drain(RLC_SN_6, size);
		drain(RLC_SN_12, size);
	}
}

/* Empty pools cost a turn, not an SDU: with every pool empty at every step, all bytes arrive. */
static void
segmentation_waits_for_mbufs(void **state)
{
	struct rte_mempool *const from[] = {pools.hdr, pools.ind};
	struct rte_mbuf *taken[4095], *pdus[8];
	unsigned nb = 0;
	uint8_t got_bytes[128];
	uint32_t got = 0, in_sdu = 0;
	uint16_t sn = 0;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_SN_6);
	push(&e, sdu_make(0, 100, 2));
	while (rlc_tx_bytes_waiting(&e) > 0) {
		uint64_t waiting = rlc_tx_bytes_waiting(&e);

		/* A last segment needs no view, so the header pool is the one to starve it. */
		for (int i = waiting < 40 ? 1 : 2; i-- > 0;) {
			unsigned n = rte_mempool_avail_count(from[i]);

			assert_int_equal(rte_pktmbuf_alloc_bulk(from[i], taken, n), 0);
			stats.no_mbuf = 0;
			assert_null(pull(&e, 45));
			assert_int_equal(stats.no_mbuf, 1);
			assert_int_equal(rlc_tx_bytes_waiting(&e), waiting);
			rte_pktmbuf_free_bulk(taken, n);
		}
		/* Kept till the end: a view makes the next header need a segment of its own. */
		pdus[nb] = pull(&e, 45);
		take(pdus[nb++], RLC_SN_6, &sn, got_bytes, &got, &in_sdu);
	}
	rte_pktmbuf_free_bulk(pdus, nb);
	assert_int_equal(got, 100);
	for (uint32_t i = 0; i < got; i++)
		assert_int_equal(got_bytes[i], sdu_byte(0, i));
	rlc_tx_fini(&e);
	assert_no_leak();
}

#define RACE_SDUS 30000

static void *
producer(void *arg)
{
	for (uint32_t id = 0; id < RACE_SDUS;) {
		if (rlc_tx_room(arg, id) == 0) {
			sched_yield();
			continue;
		}
		struct rte_mbuf *m = sdu_make(id, 20, 1);

		if (rlc_tx_push(arg, &m, 1, 0, drops) != 1)
			break;
		id++;
	}
	return NULL;
}

/* Push and pull on two threads: an SDU may appear at any point of a pull. */
static void
two_lcores(void **state)
{
	uint8_t *got_bytes = malloc(RACE_SDUS * 20);
	uint32_t got = 0, in_sdu = 0, size = 0;
	struct rte_mbuf *pdus[16];
	uint16_t sn = 0;
	pthread_t thread;
	struct rlc_tx e;

	(void)state;
	start(&e, RLC_SN_6);
	assert_int_equal(pthread_create(&thread, NULL, producer, &e), 0);
	while (got < RACE_SDUS * 20) {
		uint32_t grant = 8 + size++ % 120;
		unsigned n = rlc_tx_pull(&e, &grant, pdus, 16, 0, &stats);

		for (unsigned i = 0; i < n; i++)
			take(pdus[i], RLC_SN_6, &sn, got_bytes, &got, &in_sdu);
		rte_pktmbuf_free_bulk(pdus, n);
		if (n == 0)
			sched_yield();
	}
	pthread_join(thread, NULL);
	for (uint32_t i = 0; i < got; i++)
		if (got_bytes[i] != sdu_byte(i / 20, i % 20))
			fail_msg("byte %u of SDU %u", i % 20, i / 20);
	assert_int_equal(rlc_tx_room(&e, RACE_SDUS), 64);
	free(got_bytes);
	rlc_tx_fini(&e);
	assert_no_leak();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_segments),
		cmocka_unit_test(last_segment_reuses_a_buffer_of_its_own),
		cmocka_unit_test(every_grant_size),
		cmocka_unit_test(segmentation_waits_for_mbufs),
		cmocka_unit_test(two_lcores),
	};

	return cmocka_run_group_tests_name("rlc_um_tx", tests, rlc_test_setup, NULL);
}
