/* SPDX-License-Identifier: BSD-3-Clause */

/* Status reports, re-establishment and data recovery, with a real RLC entity underneath. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <rte_ring.h>

#include "modules/pdcp/pdcp_control.h"
#include "modules/pdcp/pdcp_status.h"
#include "modules/rlc/rlc_control.h"
#include "test_eal.h"

#define QUEUE 64
#define OLD_KEY 0x5a
#define NEW_KEY 0xc3
#define MS AP_NS_PER_MS

static struct rte_mempool *pool;
static struct l2_pools pools;
static uint64_t rx_drops[PDCP_RX_DROPS], tx_drops[PDCP_TX_DROPS], rlc_drops[RLC_TX_DROPS];
static uint64_t used;
static struct rte_mbuf *delivered[256];
static unsigned nb_delivered;

/** A cipher as weak as it is reversible; MAC-I is key, COUNT and the plain text's first octet. */
static void
stream(struct pdcp_secured *s)
{
	uint8_t *p = rte_pktmbuf_mtod(s->m, uint8_t *);

	for (uint32_t i = s->sec->clear_len; i < s->m->data_len; i++)
		p[i] ^= (uint8_t)(*(uint8_t *)s->sec->keys + s->count * 7 + i);
}

static void
mac_i(const struct pdcp_secured *s, uint8_t out[PDCP_MAC_I_LEN])
{
	const uint8_t *p = rte_pktmbuf_mtod(s->m, const uint8_t *);

	out[0] = *(uint8_t *)s->sec->keys;
	out[1] = (uint8_t)s->count;
	out[2] = (uint8_t)(s->count >> 8);
	out[3] = p[s->sec->clear_len];
}

static void
protect(struct pdcp_secured *s, uint16_t nb)
{
	for (; nb > 0; nb--, s++) {
		mac_i(s, rte_pktmbuf_mtod_offset(s->m, uint8_t *, s->m->data_len - PDCP_MAC_I_LEN));
		stream(s);
	}
}

static void
verify(struct pdcp_secured *s, uint16_t nb)
{
	for (; nb > 0; nb--, s++) {
		uint8_t x[PDCP_MAC_I_LEN];

		stream(s);
		mac_i(s, x);
		s->failed = memcmp(x,
				   rte_pktmbuf_mtod_offset(s->m, uint8_t *,
							   s->m->data_len - PDCP_MAC_I_LEN),
				   PDCP_MAC_I_LEN) != 0;
	}
}

static const struct pdcp_crypto crypto = {.protect = protect, .verify = verify};
static uint8_t old_key = OLD_KEY, new_key = NEW_KEY;

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	(void)arg;
	memcpy(delivered + nb_delivered, sdus, nb * sizeof(*sdus));
	nb_delivered += nb;
}

static const struct pdcp_rx_sink sink = {.deliver = deliver, .drops = rx_drops, .used = &used};

static struct pdcp_rx
rx_make(uint8_t bits, uint32_t slots, bool secured)
{
	const struct pdcp_rx_cfg cfg = {.pdcp_SN_Size = bits,
					.integrityProtection = secured,
					.t_Reordering = 100,
					.reorder_slots = slots,
					.rb_identity = 1,
					.crypto = secured ? &crypto : NULL,
					.keys = &old_key};
	struct pdcp_rx e;

	assert_int_equal(pdcp_rx_init(&e, &cfg), 0);
	memset(rx_drops, 0, sizeof(rx_drops));
	nb_delivered = 0;
	used = 0;
	return e;
}

static struct rte_mbuf *
sdu(uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 40), (int)number, 40);
	memcpy(rte_pktmbuf_mtod(m, void *), &number, sizeof(number));
	*ap_meta(m) = (struct ap_meta){0};
	return m;
}

static struct rte_mbuf *
plain_pdu(uint32_t count, uint8_t bits)
{
	struct rte_mbuf *m = sdu(count);
	enum pdcp_format f = bits == 12 ? PDCP_DRB_12 : PDCP_DRB_18;

	pdcp_hdr_put(f, (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)pdcp_hdr_len(f)), count);
	return m;
}

static void
receive(struct pdcp_rx *e, uint32_t count, uint8_t bits)
{
	struct rte_mbuf *m = plain_pdu(count, bits);

	pdcp_rx_receive(e, &m, 1, 0, &sink);
}

static void
rx_done(struct pdcp_rx *e)
{
	rte_pktmbuf_free_bulk(delivered, nb_delivered);
	pdcp_rx_fini(e);
	assert_pool_full(pool);
}

static void
report_golden(void **state)
{
	static const uint32_t counts[] = {0, 1, 3, 5, 6, 12};
	static const uint8_t golden[] = {0, 0, 0, 0, 2, 0xb0, 0x40};
	struct pdcp_rx e = rx_make(18, 1024, false);
	uint8_t p[PDCP_CONTROL_MAX];

	(void)state;
	assert_int_equal(pdcp_status_compile(&e, p), 5);
	assert_memory_equal(p, "\0\0\0\0\0", 5);
	for (unsigned i = 0; i < RTE_DIM(counts); i++)
		receive(&e, counts[i], 18);
	assert_int_equal(pdcp_status_compile(&e, p), sizeof(golden));
	assert_memory_equal(p, golden, sizeof(golden));
	rx_done(&e);
}

/** §6.2.3.1: at most 9000 B; and what the buffer had no place for was not received. */
static void
report_is_bounded(void **state)
{
	struct pdcp_rx e = rx_make(18, 131072, false);
	uint8_t p[PDCP_CONTROL_MAX];
	struct pdcp_status s;
	struct rte_mbuf *m;

	(void)state;
	receive(&e, 1, 18);
	receive(&e, 71960, 18); /* the last that fits: (9000 - 5) * 8 */
	receive(&e, 100000, 18);
	assert_int_equal(pdcp_status_compile(&e, p), PDCP_CONTROL_MAX);
	assert_int_equal(p[5], 0x80);
	assert_int_equal(p[PDCP_CONTROL_MAX - 1], 0x01);
	m = pdcp_status_pdu(&e, pool);
	assert_non_null(m);
	assert_int_equal(m->pkt_len, PDCP_CONTROL_MAX);
	assert_true(m->nb_segs > 1);
	rte_pktmbuf_read(m, 0, m->pkt_len, p);
	assert_int_equal(pdcp_status_decode(p, m->pkt_len, &s), PDCP_CONTROL_MAX);
	assert_true(pdcp_status_received(&s, 1));
	assert_true(pdcp_status_received(&s, 71960));
	assert_false(pdcp_status_received(&s, 71959));
	rte_pktmbuf_free(m);
	rx_done(&e);

	e = rx_make(18, 64, false);
	receive(&e, 3, 18);
	receive(&e, 70, 18); /* takes the slot of 6 if nobody looks */
	assert_int_equal(rx_drops[PDCP_RX_REORDER_FULL], 1);
	assert_int_equal(pdcp_status_compile(&e, p), 5 + 8);
	assert_memory_equal(p, "\0\0\0\0\0\x20\0\0\0\0\0\0\0", 13);
	rx_done(&e);
}

/** In order and out of order; re-establishment of a UM DRB starts the count anew. */
static void
count_threshold_is_told(void **state)
{
	const struct pdcp_keys none = {0};
	struct pdcp_rx e = rx_make(12, 16, false);

	(void)state;
	e.count_notify = 4;
	e.limit = pdcp_count_limit(4);
	for (uint32_t i = 0; i < 4; i++)
		receive(&e, i, 12);
	assert_int_equal(e.limit, 4);
	receive(&e, 4, 12);
	assert_true(e.limit == PDCP_COUNT_END);
	receive(&e, 5, 12);
	assert_int_equal(nb_delivered, 6);
	pdcp_rx_reestablish(&e, PDCP_DRB_UM, &none, &sink);
	assert_int_equal(e.limit, 4);
	receive(&e, 7, 12);
	assert_true(e.limit == PDCP_COUNT_END);
	rx_done(&e);
}

/* --- transmitting ----------------------------------------------------------------------------- */

static struct pdcp_tx
tx_make(struct rlc_tx *rlc, uint8_t bits, bool secured)
{
	const struct pdcp_tx_cfg cfg = {.pdcp_SN_Size = bits,
					.integrityProtection = secured,
					.rb_identity = 1,
					.crypto = secured ? &crypto : NULL,
					.keys = &old_key,
					.hdr = pool};
	const struct rlc_tx_cfg rc = {.mode = RLC_UM,
				      .sn_FieldLength = RLC_SN_12,
				      .queue_sdus = QUEUE,
				      .discard_ms = 500,
				      .pools = &pools};
	struct pdcp_tx e;

	memset(rlc, 0, sizeof(*rlc));
	assert_int_equal(pdcp_tx_init(&e, &cfg), 0);
	assert_int_equal(rlc_tx_init(rlc, &rc), 0);
	memset(tx_drops, 0, sizeof(tx_drops));
	memset(rlc_drops, 0, sizeof(rlc_drops));
	return e;
}

/** One SDU into the RLC queue, as the nodes do it. */
static void
send(struct pdcp_tx *e, struct rlc_tx *rlc, uint32_t number, uint64_t now_ns)
{
	struct rte_mbuf *m = sdu(number);

	assert_true(rlc_tx_room(rlc, e->submitted) > 0);
	assert_int_equal(pdcp_tx_pre_process(e, &m, 1, tx_drops), 1);
	if (e->sec.crypto) {
		struct pdcp_secured s = {.m = m, .sec = &e->sec, .count = (uint32_t)e->TX_NEXT - 1};

		protect(&s, 1);
	}
	assert_int_equal(rlc_tx_push(rlc, &m, 1, now_ns, rlc_drops), 1);
}

/** The next PDU out of RLC, behind its header. */
static struct rte_mbuf *
pull(struct rlc_tx *rlc, uint64_t now_ns)
{
	struct rlc_tx_pull_stats stats = {0};
	struct rte_mbuf *m = NULL;
	uint32_t grant = 4000;

	if (rlc_tx_pull(rlc, &grant, &m, 1, now_ns, &stats) == 0)
		return NULL;
	rte_pktmbuf_adj(m, RLC_UMD_COMPLETE_LEN);
	return m;
}

/** The next PDU is of `count`, protected with `key`, and carries the SDU `number`. */
static void
expect(struct rlc_tx *rlc, const struct pdcp_tx *e, uint32_t count, uint8_t *key, uint32_t number)
{
	struct rte_mbuf *m = pull(rlc, 0);
	struct pdcp_security sec = e->sec;
	uint32_t got;

	assert_non_null(m);
	assert_int_equal(pdcp_hdr_sn(e->format, rte_pktmbuf_mtod(m, uint8_t *)),
			 count & ((1U << pdcp_sn_bits(e->format)) - 1));
	sec.keys = key;
	if (sec.mac_i_len) {
		struct pdcp_secured s = {.m = m, .sec = &sec, .count = count};

		verify(&s, 1);
		assert_false(s.failed);
	}
	assert_int_equal(m->pkt_len, pdcp_hdr_len(e->format) + 40 + sec.mac_i_len);
	memcpy(&got, rte_pktmbuf_mtod_offset(m, void *, pdcp_hdr_len(e->format)), sizeof(got));
	assert_int_equal(got, number);
	rte_pktmbuf_free(m);
}

static void
tx_done(struct rlc_tx *rlc)
{
	assert_null(pull(rlc, 0));
	rlc_tx_fini(rlc);
	assert_pool_full(pool);
}

/** Of 8 PDUs one is sent; with TX_NEXT near the end of the SN space, so that COUNT needs its HFN.
 */
static struct pdcp_tx
eight(struct rlc_tx *rlc, uint8_t bits)
{
	struct pdcp_tx e = tx_make(rlc, bits, true);

	e.TX_NEXT = 0x12345000 - 4;
	for (uint32_t i = 0; i < 8; i++)
		send(&e, rlc, 100 + i, 0);
	expect(rlc, &e, 0x12345000 - 4, &old_key, 100);
	return e;
}

static void
am_sends_again_under_the_same_count(void **state)
{
	const struct pdcp_keys keys = {&crypto, &new_key};
	struct rlc_tx rlc;

	(void)state;
	for (uint8_t bits = 12; bits <= 18; bits += 6) {
		struct pdcp_resubmitted r = {0};
		struct pdcp_tx e = eight(&rlc, bits);

		assert_int_equal(pdcp_tx_reestablish(&e, &rlc, PDCP_DRB_AM, &keys, &r), 0);
		assert_int_equal(r.taken, 7);
		assert_int_equal(r.again, 7);
		assert_int_equal(e.TX_NEXT, 0x12345004);
		for (uint32_t i = 1; i < 8; i++)
			expect(&rlc, &e, 0x12345000 - 4 + i, &new_key, 100 + i);
		assert_int_equal(rlc_tx_room(&rlc, e.submitted), QUEUE);
		tx_done(&rlc);
	}
}

static void
um_numbers_anew(void **state)
{
	const struct pdcp_keys keys = {&crypto, &new_key};
	struct pdcp_resubmitted r = {0};
	struct rlc_tx rlc;
	struct pdcp_tx e = eight(&rlc, 12);

	(void)state;
	assert_int_equal(pdcp_tx_reestablish(&e, &rlc, PDCP_DRB_UM, &keys, &r), 0);
	assert_int_equal(r.again, 7);
	assert_int_equal(e.TX_NEXT, 7);
	assert_int_equal(rlc_tx_room(&rlc, e.submitted), QUEUE - 7);
	send(&e, &rlc, 108, 0);
	for (uint32_t i = 0; i < 8; i++)
		expect(&rlc, &e, i, &new_key, 101 + i);
	tx_done(&rlc);
}

/** §5.1.2: "without restarting the discardTimer"; and a control PDU goes first, as it is. */
static void
timers_run_on_and_control_goes_first(void **state)
{
	const struct pdcp_keys none = {0};
	struct pdcp_resubmitted r = {0};
	struct rlc_tx_pull_stats stats = {0};
	struct rlc_tx rlc;
	struct pdcp_tx e = tx_make(&rlc, 18, false);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint32_t grant = 4000;

	(void)state;
	send(&e, &rlc, 0, 0);
	send(&e, &rlc, 1, 400 * MS);
	memcpy(rte_pktmbuf_append(m, 5), "\0\0\0\0\x07", 5);
	e.submitted++;
	assert_int_equal(rlc_tx_push(&rlc, &m, 1, 450 * MS, rlc_drops), 1);
	assert_int_equal(pdcp_tx_reestablish(&e, &rlc, PDCP_DRB_UM, &none, &r), 0);
	assert_int_equal(r.again, 3);
	m = pull(&rlc, 450 * MS);
	assert_int_equal(m->pkt_len, 5);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), "\0\0\0\0\x07", 5);
	rte_pktmbuf_free(m);
	assert_int_equal(rlc_tx_pull(&rlc, &grant, &m, 1, 510 * MS, &stats), 1);
	assert_int_equal(stats.discarded, 1);
	rte_pktmbuf_free(m);
	tx_done(&rlc);
}

/** Recovery: bytes as they were, and `submitted` right again whatever a cut once dropped. */
static void
recovery_changes_no_byte(void **state)
{
	struct pdcp_resubmitted r = {0};
	struct rlc_tx rlc;
	struct pdcp_tx e = eight(&rlc, 18);

	(void)state;
	e.submitted += 5;
	assert_int_equal(rlc_tx_room(&rlc, e.submitted), QUEUE - 12);
	assert_int_equal(pdcp_tx_recover(&e, &rlc, &r), 0);
	assert_int_equal(rlc_tx_room(&rlc, e.submitted), QUEUE - 7);
	for (uint32_t i = 1; i < 8; i++)
		expect(&rlc, &e, 0x12345000 - 4 + i, &old_key, 100 + i);
	tx_done(&rlc);
}

static void
um_receiver_delivers_and_starts_anew(void **state)
{
	const struct pdcp_keys none = {0};
	struct pdcp_rx e = rx_make(12, 16, false);

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		receive(&e, i, 12);
	receive(&e, 5, 12);
	receive(&e, 6, 12);
	receive(&e, 9, 12);
	receive(&e, 40, 12); /* beyond the buffer */
	assert_int_equal(nb_delivered, 3);
	pdcp_rx_reestablish(&e, PDCP_DRB_UM, &none, &sink);
	assert_int_equal(nb_delivered, 6);
	assert_int_equal(e.held, 0);
	assert_int_equal(e.RX_NEXT, 0);
	assert_int_equal(e.deadline_ns, PDCP_NO_DEADLINE);
	receive(&e, 0, 12);
	assert_int_equal(nb_delivered, 7);
	rx_done(&e);
}

static void
am_receiver_keeps_its_state(void **state)
{
	const struct pdcp_keys none = {0};
	struct pdcp_rx e = rx_make(12, 16, false);

	(void)state;
	receive(&e, 0, 12);
	receive(&e, 2, 12);
	pdcp_rx_reestablish(&e, PDCP_DRB_AM, &none, &sink);
	assert_int_equal(e.RX_DELIV, 1);
	assert_int_equal(e.held, 1);
	assert_true(e.running);
	receive(&e, 1, 12);
	assert_int_equal(nb_delivered, 3);
	rx_done(&e);
}

/* --- a received report ------------------------------------------------------------------------ */

static void
report_discards_what_waits(void **state)
{
	/* FMC 0x12345000: what is before is confirmed, and by the bitmap + 2. */
	static const uint8_t report[] = {0, 0x12, 0x34, 0x50, 0x00, 0x40};
	struct l2 l2 = {.nb_bearers = 1};
	struct rlc_tx rlc;
	struct pdcp_tx e = eight(&rlc, 12);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	(void)state;
	l2.rlc_tx = &rlc;
	l2.pdcp_tx = &e;
	l2.reports = rte_ring_create("reports", 8, SOCKET_ID_ANY, 0);
	memcpy(rte_pktmbuf_append(m, sizeof(report)), report, sizeof(report));
	*ap_meta(m) = (struct ap_meta){.bearer = 0};
	assert_int_equal(rte_ring_enqueue(l2.reports, m), 0);
	assert_int_equal(pdcp_status_apply(&l2), 4);
	assert_int_equal(rlc_tx_room(&rlc, e.submitted), QUEUE - 3);
	assert_int_equal(ap_queue_bytes(&rlc.queue), 3 * (1 + 2 + 40 + 4));
	expect(&rlc, &e, 0x12345000, &old_key, 104);
	expect(&rlc, &e, 0x12345001, &old_key, 105);
	expect(&rlc, &e, 0x12345003, &old_key, 107);
	assert_int_equal(pdcp_status_apply(&l2), 0);
	rte_ring_free(l2.reports);
	tx_done(&rlc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_golden),
		cmocka_unit_test(report_is_bounded),
		cmocka_unit_test(count_threshold_is_told),
		cmocka_unit_test(am_sends_again_under_the_same_count),
		cmocka_unit_test(um_numbers_anew),
		cmocka_unit_test(timers_run_on_and_control_goes_first),
		cmocka_unit_test(recovery_changes_no_byte),
		cmocka_unit_test(um_receiver_delivers_and_starts_anew),
		cmocka_unit_test(am_receiver_keeps_its_state),
		cmocka_unit_test(report_discards_what_waits),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("pdcp", 1023, 2048);
	pools = (struct l2_pools){.hdr = pool, .ind = pool};
	return pool ? cmocka_run_group_tests_name("pdcp_procedures", tests, NULL, NULL) : 1;
}
