/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/fapi_uci.h"
#include "modules/fapi/fapi_rx.h"
#include "test_eal.h"
#include "test_fapi.h"

#define RX_HDR (NFAPI_ETHER_LEN + NFAPI_P7_LEN)
#define MS 1000000ULL

static struct rte_mempool *pool, *small;

/** One receiver, its sender, and everything the one gave for what the other sent. */
static struct bench {
	struct fapi_tx tx[2];
	struct fapi_rx rx;
	struct slot_box slots;
	struct rte_mbuf *frames[600];
	uint16_t nb;
	struct rte_mbuf *tb[64];
	uint16_t nb_tb;
	uint64_t in, used, made;
	uint64_t drops[FAPI_RX_DROPS];
} b;

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	pool = test_pool("pool", 1023, 9000);
	small = test_pool("small", 255, 64);
	return pool && small ? 0 : -1;
}

static int
begin(void **state)
{
	const struct fapi_tx_cfg tx = {.frame_bytes = 9000};
	const struct fapi_rx_cfg rx = {
		.carriers = 2,
		.numerology = 3,
		.reassembly_ns = 5 * MS,
		.slots = &b.slots,
		.proto = small,
	};

	(void)state;
	memset(&b, 0, sizeof(b));
	for (uint8_t c = 0; c < 2; c++) {
		struct fapi_tx_cfg one = tx;

		one.carrier = c;
		if (fapi_tx_init(&b.tx[c], &one) != 0)
			return -1;
	}
	return fapi_rx_init(&b.rx, &rx);
}

static void
collect(struct fapi_rx_out *out)
{
	for (uint16_t i = 0; i < out->nb; i++)
		b.tb[b.nb_tb++] = out->tb[i];
	b.used += out->used;
	b.made += out->made;
}

static void
deliver(struct rte_mbuf **frames, uint16_t nb, uint64_t now)
{
	for (uint16_t at = 0; at < nb;) {
		struct fapi_rx_out out = {.drops = b.drops};

		at += fapi_rx_burst(&b.rx, frames + at, nb - at, now, &out);
		collect(&out);
	}
	b.in += nb;
}

static uint64_t
expire(uint64_t now)
{
	struct fapi_rx_out out = {.drops = b.drops};
	uint64_t due = fapi_rx_expire(&b.rx, now, &out);

	collect(&out);
	return due;
}

/** Nothing is lost without a name, and nothing leaks. */
static int
end(void **state)
{
	uint64_t dropped = 0;

	(void)state;
	for (unsigned i = 0; i < FAPI_RX_DROPS; i++)
		dropped += b.drops[i];
	assert_int_equal(b.in + b.made, b.nb_tb + b.used + dropped + fapi_rx_held(&b.rx));
	rte_pktmbuf_free_bulk(b.tb, b.nb_tb);
	fapi_rx_fini(&b.rx);
	assert_pool_full(pool);
	assert_pool_full(small);
	return 0;
}

static void
send_tb(uint8_t carrier, uint32_t seed, uint32_t bytes)
{
	b.nb += tb_frames(&b.tx[carrier], pool, seed, bytes, &b.frames[b.nb]);
}

static void
megabyte_in_order(void **state)
{
	(void)state;
	send_tb(0, 1, 1 << 20);
	assert_int_equal(b.nb, 118);
	/* stale fields that no packet's past may leak from */
	ap_meta(b.frames[0])->bearer = 77;
	ap_meta(b.frames[0])->flags |= AP_M_TIMED;
	ap_ext(b.frames[0])->enter_ns = 4711;
	deliver(b.frames, b.nb, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 1, 1 << 20);
	assert_int_equal(ap_meta(b.tb[0])->bearer, 0);
	assert_int_equal(ap_meta(b.tb[0])->carrier, 0);
	assert_int_equal(ap_meta(b.tb[0])->flags, AP_M_TIMED);
	assert_int_equal(ap_ext(b.tb[0])->enter_ns, 4711);
	assert_int_equal(ap_ext(b.tb[0])->tb_bytes, 1 << 20);
	assert_int_equal(ap_ext(b.tb[0])->sfn, 100);
	assert_int_equal(ap_ext(b.tb[0])->slot, 7);
	assert_int_equal(b.used, 118);
}

static void
any_order(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		b.nb = 0;
		send_tb(0, round, 200000);
		for (uint16_t i = b.nb - 1; i > 0; i--) {
			struct rte_mbuf *m;
			uint16_t k;

			x = x * 1664525 + 1013904223;
			k = (uint16_t)((x >> 8) % (i + 1U));
			m = b.frames[i];
			b.frames[i] = b.frames[k];
			b.frames[k] = m;
		}
		deliver(b.frames, b.nb, 0);
		assert_int_equal(b.nb_tb, round + 1);
		assert_tb(b.tb[round], round, 200000);
	}
}

static void
carriers_and_messages_interleave(void **state)
{
	struct rte_mbuf *mixed[64];
	uint16_t each, n = 0;

	(void)state;
	send_tb(0, 10, 60000);
	each = b.nb;
	send_tb(0, 11, 60000);
	send_tb(1, 12, 60000);
	for (uint16_t i = 0; i < each; i++)
		for (uint16_t k = 0; k < 3; k++)
			mixed[n++] = b.frames[k * each + i];
	deliver(mixed, n, 0);
	assert_int_equal(b.nb_tb, 3);
	for (uint16_t k = 0; k < 3; k++)
		assert_tb(b.tb[k], 10U + k, 60000);
	assert_int_equal(ap_meta(b.tb[1])->carrier, 0);
	assert_int_equal(ap_meta(b.tb[2])->carrier, 1);
}

static void
duplicates_are_dropped(void **state)
{
	struct rte_mbuf *copy;

	(void)state;
	send_tb(0, 3, 50000);
	copy = rte_pktmbuf_copy(b.frames[2], pool, 0, UINT32_MAX);
	deliver(b.frames, 3, 0);
	deliver(&copy, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 1);
	copy = rte_pktmbuf_copy(b.frames[4], pool, 0, UINT32_MAX);
	deliver(&b.frames[4], 1, 0); /* waits for number 3 */
	deliver(&copy, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 2);
	copy = rte_pktmbuf_copy(b.frames[5], pool, 0, UINT32_MAX);
	deliver(&b.frames[3], 1, 0);
	deliver(&b.frames[5], 1, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 3, 50000);
	deliver(&copy, 1, 0); /* of a complete message */
	assert_int_equal(b.drops[FAPI_RX_DUPLICATE], 3);
	assert_int_equal(b.nb_tb, 1);
}

static void
a_lost_segment_costs_its_tb(void **state)
{
	uint16_t each;

	(void)state;
	send_tb(0, 0, 50000);
	each = b.nb;
	for (uint32_t s = 1; s < 6; s++)
		send_tb(0, s, 50000);
	rte_pktmbuf_free(b.frames[1]);
	b.frames[1] = b.frames[0];
	deliver(&b.frames[1], b.nb - 1, 0);
	assert_int_equal(b.nb_tb, 5);
	for (uint16_t s = 1; s < 6; s++)
		assert_tb(b.tb[s - 1], s, 50000);
	/* given up when a message FAPI_OVERTAKEN newer was complete */
	assert_int_equal(b.drops[FAPI_RX_INCOMPLETE], each - 1);
	assert_int_equal(fapi_rx_held(&b.rx), 0);
}

static void
a_partial_message_times_out(void **state)
{
	struct rte_mbuf *late;

	(void)state;
	send_tb(0, 0, 50000);
	late = b.frames[5];
	deliver(b.frames, 4, 10 * MS);
	assert_true(fapi_rx_waiting(&b.rx));
	assert_int_equal(fapi_rx_held(&b.rx), 4);
	assert_int_equal(expire(12 * MS), 15 * MS);
	assert_int_equal(fapi_rx_held(&b.rx), 4);
	assert_int_equal(expire(15 * MS), 0);
	assert_int_equal(b.drops[FAPI_RX_INCOMPLETE], 4);
	assert_false(fapi_rx_waiting(&b.rx));
	deliver(&b.frames[4], 1, 16 * MS);
	deliver(&late, 1, 16 * MS);
	assert_int_equal(b.drops[FAPI_RX_STALE], 2);
}

static void
old_messages_are_stale_until_a_restart(void **state)
{
	(void)state;
	send_tb(0, 0, 100); /* sequence 0 */
	for (uint32_t s = 1; s < 21; s++)
		send_tb(0, s, 100);
	deliver(&b.frames[20], 1, MS);
	assert_int_equal(b.nb_tb, 1);
	deliver(&b.frames[0], 1, MS); /* 20 behind */
	assert_int_equal(b.drops[FAPI_RX_STALE], 1);
	deliver(&b.frames[13], 1, MS); /* 7 behind: in the window */
	assert_int_equal(b.nb_tb, 2);
	/* silence, then a peer that begins at 1 again */
	deliver(&b.frames[1], 1, MS + FAPI_RESTART_NS + 1);
	assert_int_equal(b.nb_tb, 3);
	assert_tb(b.tb[2], 1, 100);
	for (uint16_t s = 2; s < 20; s++)
		if (s != 13)
			rte_pktmbuf_free(b.frames[s]);
}

static void
sequence_wraps(void **state)
{
	(void)state;
	for (uint32_t s = 0; s < 600; s++) {
		b.nb = 0;
		send_tb(0, s, 100);
		deliver(b.frames, b.nb, s);
		assert_int_equal(b.nb_tb, 1);
		rte_pktmbuf_free(b.tb[0]);
		b.nb_tb = 0;
		b.made--;
	}
}

/** A frame with the given P7 fields and body. */
static struct rte_mbuf *
frame(const struct nfapi_p7 *h, const void *body, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct nfapi_p7 p7 = *h;
	uint8_t *p;

	assert_non_null(m);
	*ap_meta(m) = (struct ap_meta){0};
	p = (uint8_t *)rte_pktmbuf_append(m, RX_HDR + len);
	memset(p, 0, NFAPI_ETHER_LEN);
	be16_put(p + 12, NFAPI_ETHERTYPE);
	if (p7.length == 0)
		p7.length = NFAPI_P7_LEN + (uint32_t)len;
	nfapi_p7_put(p + NFAPI_ETHER_LEN, &p7);
	memcpy(p + RX_HDR, body, len);
	return m;
}

/** One frame in, which must be dropped for `reason`. */
static void
expect_drop(struct rte_mbuf *m, enum fapi_rx_drop reason)
{
	uint64_t before = b.drops[reason];

	deliver(&m, 1, 0);
	assert_int_equal(b.drops[reason], before + 1);
	assert_int_equal(b.nb_tb, 0);
}

static void
bad_frames(void **state)
{
	const struct nfapi_p7 rx = {.message_id = FAPI_RX_DATA_INDICATION};
	static const uint8_t body[100];
	struct nfapi_p7 h;
	struct rte_mbuf *m;

	(void)state;
	m = frame(&rx, body, 100);
	be16_put(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), 0x0800);
	expect_drop(m, FAPI_RX_NOT_FAPI);
	m = frame(&rx, body, 0);
	rte_pktmbuf_trim(m, 1);
	expect_drop(m, FAPI_RX_SHORT);
	expect_drop(frame(&rx, body, 0), FAPI_RX_BAD_LENGTH);
	h = (struct nfapi_p7){.message_id = rx.message_id, .length = 17};
	expect_drop(frame(&h, body, 100), FAPI_RX_BAD_LENGTH);
	h.length = 119;
	expect_drop(frame(&h, body, 100), FAPI_RX_BAD_LENGTH);
	h.length = UINT32_MAX;
	expect_drop(frame(&h, body, 100), FAPI_RX_BAD_LENGTH);
	h.length = 100; /* shorter than the frame, which is no padding to 60 B */
	expect_drop(frame(&h, body, 100), FAPI_RX_BAD_LENGTH);
	h = (struct nfapi_p7){.message_id = rx.message_id, .phy_id = 2};
	expect_drop(frame(&h, body, 100), FAPI_RX_UNKNOWN_CARRIER);
	h = (struct nfapi_p7){.message_id = 0x99};
	expect_drop(frame(&h, body, 100), FAPI_RX_UNKNOWN_MESSAGE);
	h = (struct nfapi_p7){.message_id = FAPI_SLOT_INDICATION, .more = true};
	expect_drop(frame(&h, body, 4), FAPI_RX_BAD_SEGMENT);
}

static void
bad_segments(void **state)
{
	const struct nfapi_p7 last2 = {.message_id = 0x85, .segment = 2};
	const struct nfapi_p7 beyond = {.message_id = 0x85, .segment = 3, .more = true};
	const struct nfapi_p7 second_end = {.message_id = 0x85, .segment = 1};
	const struct nfapi_p7 other = {.message_id = 0x84, .segment = 1, .more = true};
	const struct nfapi_p7 high = {
		.message_id = 0x85, .sequence = 1, .segment = 5, .more = true};
	const struct nfapi_p7 low_end = {.message_id = 0x85, .sequence = 1, .segment = 4};
	static const uint8_t body[100];
	struct rte_mbuf *m;

	(void)state;
	m = frame(&last2, body, 100);
	deliver(&m, 1, 0);
	expect_drop(frame(&beyond, body, 100), FAPI_RX_BAD_SEGMENT);
	expect_drop(frame(&second_end, body, 100), FAPI_RX_BAD_SEGMENT);
	expect_drop(frame(&other, body, 100), FAPI_RX_BAD_SEGMENT);
	m = frame(&high, body, 100);
	deliver(&m, 1, 0);
	expect_drop(frame(&low_end, body, 100), FAPI_RX_BAD_SEGMENT);
	assert_int_equal(fapi_rx_held(&b.rx), 2);
}

/** A body of RX_Data.indication (or TX_Data.request) with TBs of the given sizes. */
static uint16_t
body_of(uint8_t *p, bool tx, const uint16_t *sizes, uint16_t nb, uint32_t seed)
{
	uint8_t *q = p + FAPI_DATA_LEN;

	fapi_data_put(p, &(struct fapi_data){{5, 6}, nb});
	for (uint16_t i = 0; i < nb; i++) {
		if (tx)
			fapi_tx_pdu_put(q, &(struct fapi_tx_pdu){.tb_bytes = sizes[i]});
		else
			fapi_rx_pdu_put(q, &(struct fapi_rx_pdu){.rnti = (uint16_t)(100 + i),
								 .tb_bytes = sizes[i]});
		q += FAPI_DATA_PDU_LEN;
		for (uint32_t k = 0; k < sizes[i]; k++)
			*q++ = tb_byte(seed + i, k);
		for (uint32_t k = sizes[i]; tx && k % FAPI_DATA_PAD != 0; k++)
			*q++ = 0xEE;
	}
	return (uint16_t)(q - p);
}

/** Cuts a body into segments of `step` bytes and delivers them as sequence `seq`. */
static void
deliver_body(const uint8_t *p, uint16_t len, uint16_t step, bool tx, uint8_t seq)
{
	struct nfapi_p7 h = {.message_id = tx ? 0x84 : 0x85, .sequence = seq};

	for (uint16_t at = 0; at < len; at += step, h.segment++) {
		uint16_t n = len - at < step ? len - at : step;
		struct rte_mbuf *m;

		h.more = at + n < len;
		m = frame(&h, p + at, n);
		deliver(&m, 1, 0);
	}
}

static void
several_tbs_in_a_message(void **state)
{
	static const uint16_t sizes[] = {33, 1, 250, 128, 7};
	static uint8_t body[2000];
	uint8_t seq = 0;

	(void)state;
	/* every way headers and TBs can lie across segments */
	for (uint16_t step = 5; step < 600; step += step < 40 ? 1 : 37) {
		for (int tx = 0; tx < 2; tx++) {
			uint16_t len = body_of(body, tx, sizes, 5, seq);

			deliver_body(body, len, step, tx, seq);
			assert_int_equal(b.nb_tb, 5);
			for (uint16_t i = 0; i < 5; i++) {
				assert_tb(b.tb[i], (uint32_t)seq + i, sizes[i]);
				assert_int_equal(ap_ext(b.tb[i])->spare, tx ? 0 : 100 + i);
				assert_int_equal(ap_ext(b.tb[i])->sfn, 5);
				assert_int_equal(ap_ext(b.tb[i])->slot, 6);
				for (const struct rte_mbuf *m = b.tb[i]; m; m = m->next)
					assert_int_equal(rte_mbuf_refcnt_read(m), 1);
			}
			rte_pktmbuf_free_bulk(b.tb, 5);
			b.made -= 5;
			b.nb_tb = 0;
			seq++;
		}
	}
}

static void
several_tbs_without_mbufs(void **state)
{
	static const uint16_t sizes[] = {33, 40, 50};
	static uint8_t body[300];
	struct rte_mbuf *all[255];

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(small, (void **)all, 254), 0);
	deliver_body(body, body_of(body, false, sizes, 3, 9), 1000, false, 0);
	rte_mempool_put_bulk(small, (void **)all, 254);
	/* one buffer: the first TB has it, the second has none, the third keeps the frame */
	assert_int_equal(b.nb_tb, 2);
	assert_tb(b.tb[0], 9, 33);
	assert_tb(b.tb[1], 11, 50);
	assert_int_equal(b.drops[FAPI_RX_NO_MBUF], 1);
}

static void
bad_bodies(void **state)
{
	static const uint16_t sizes[] = {100, 60};
	static uint8_t body[400];
	uint16_t len;
	uint8_t seq = 0;

	(void)state;
	/* cut anywhere, or with more behind than alignment */
	len = body_of(body, false, sizes, 2, 0);
	for (uint16_t cut = 1; cut < len; cut++)
		deliver_body(body, cut, 1000, false, seq++);
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], len - 1);
	deliver_body(body, len + 4, 1000, false, seq++);
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], len);
	be16_put(body + 4, 0); /* no PDU */
	deliver_body(body, len, 1000, false, seq++);
	be16_put(body + 4, FAPI_PDUS_MAX + 1);
	deliver_body(body, len, 1000, false, seq++);
	be16_put(body + 4, 2);
	be32_put(body + 6 + 7, UINT32_MAX); /* absurd TB */
	deliver_body(body, len, 1000, false, seq++);
	be32_put(body + 6 + 7, 0); /* empty TB */
	deliver_body(body, len, 1000, false, seq++);
	len = body_of(body, true, sizes, 1, 0);
	be32_put(body + 6, 7); /* PDU length against TLV length */
	deliver_body(body, len, 1000, true, seq++);
	be16_put(body, 1024); /* SFN */
	deliver_body(body, len, 50, true, seq++);
	assert_int_equal(b.nb_tb, 0);
	assert_int_equal(b.used, 0);
	assert_int_equal(fapi_rx_held(&b.rx), 0);
}

static void
alignment_behind_the_last_tb(void **state)
{
	static const uint16_t sizes[] = {101};
	static uint8_t body[200];
	uint16_t len;

	(void)state;
	len = body_of(body, true, sizes, 1, 1);
	assert_int_equal(len, 6 + 16 + 104);
	deliver_body(body, len, 60, true, 0);
	deliver_body(body, len - 3, 60, true, 1); /* left out, as fapi_tx does */
	assert_int_equal(b.nb_tb, 2);
	assert_tb(b.tb[0], 1, 101);
	assert_tb(b.tb[1], 1, 101);
}

static void
chained_frames(void **state)
{
	(void)state;
	send_tb(0, 4, 30000);
	for (uint16_t i = 0; i < b.nb; i++) {
		struct rte_mbuf *m = b.frames[i], *h = rte_pktmbuf_alloc(pool);
		uint16_t len = i == 0 ? FAPI_HDR_FIRST_LEN : FAPI_HDR_LEN;

		*ap_meta(h) = *ap_meta(m);
		memcpy(rte_pktmbuf_append(h, len), rte_pktmbuf_mtod(m, void *), len);
		assert_non_null(rte_pktmbuf_adj(m, len));
		assert_int_equal(rte_pktmbuf_chain(h, m), 0);
		b.frames[i] = h;
	}
	deliver(b.frames, b.nb, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_tb(b.tb[0], 4, 30000);
}

static void
checksums(void **state)
{
	struct fapi_tx_cfg cfg = {.checksum = true};

	(void)state;
	b.rx.checksum = true;
	assert_int_equal(fapi_tx_init(&b.tx[0], &cfg), 0);
	send_tb(0, 5, 20000);
	send_tb(0, 6, 20000);
	rte_pktmbuf_mtod(b.frames[4], uint8_t *)[3000] ^= 1;
	deliver(b.frames, b.nb, 0);
	assert_int_equal(b.nb_tb, 1);
	assert_int_equal(b.drops[FAPI_RX_BAD_CHECKSUM], 1);
}

static void
deliver_slot(uint16_t sfn, uint16_t slot, uint64_t now)
{
	const struct nfapi_p7 h = {.message_id = FAPI_SLOT_INDICATION};
	struct rte_mbuf *m;
	uint8_t p[4];

	fapi_slot_put(p, (struct fapi_slot){sfn, slot});
	m = frame(&h, p, sizeof(p));
	/* a wire pads it to 60 B */
	memset(rte_pktmbuf_append(m, 60 - RX_HDR - 4), 0, 60 - RX_HDR - 4);
	deliver(&m, 1, now);
}

static void
deliver_grant(uint16_t message_id, uint8_t carrier, uint16_t sfn, uint16_t slot, uint32_t bytes)
{
	const struct nfapi_p7 h = {.message_id = message_id, .phy_id = carrier};
	const struct fapi_grant g = {.rnti = 0x4601, .tb_bytes = bytes};
	uint8_t p[FAPI_UL_TTI_LEN(1)];
	struct rte_mbuf *m;
	int len = message_id == FAPI_UL_TTI_REQUEST
			  ? fapi_ul_tti_encode(p, sizeof(p), (struct fapi_slot){sfn, slot}, &g, 1)
			  : fapi_dl_tti_encode(p, sizeof(p), (struct fapi_slot){sfn, slot}, &g, 1);

	m = frame(&h, p, (uint16_t)len);
	deliver(&m, 1, 0);
}

static void
grants_reach_the_slot_box(void **state)
{
	struct slot_grant g;

	(void)state;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1023, 79, 195000);
	deliver_grant(FAPI_DL_TTI_REQUEST, 1, 1023, 79, 64000);
	assert_false(slot_box_get(&b.slots, &g));
	deliver_slot(1023, 79, 12345);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.enter_ns, 12345);
	assert_int_equal(g.sfn, 1023);
	assert_int_equal(g.slot, 79);
	assert_int_equal(g.rnti, 0x4601);
	assert_int_equal(g.tb_bytes[0], 195000);
	assert_int_equal(g.tb_bytes[1], 64000);
	/* the next slot is across the SFN's end, and without grants */
	deliver_slot(0, 0, 1);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	assert_int_equal(b.rx.slots_lost, 0);
	deliver_slot(0, 4, 2);
	assert_int_equal(b.rx.slots_lost, 3);
	assert_int_equal(b.rx.slots_in, 3);
	assert_int_equal(b.rx.grants_in, 2);
	assert_int_equal(b.rx.grants_lost, 0);
}

static void
grants_of_others_are_left(void **state)
{
	struct slot_grant g;

	(void)state;
	b.rx.rnti = 0x4602;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 1000);
	deliver_slot(1, 1, 0);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	assert_int_equal(b.rx.grants_other, 1);
	assert_int_equal(b.rx.grants_in, 0);
	assert_int_equal(b.rx.grants_lost, 0);
}

/** A slot's grants of many UEs and carriers come out by UE, and the box keeps slots apart. */
static void
grants_of_many_ues(void **state)
{
	const uint16_t slots[] = {3, 4};
	struct slot_grant g = {0};

	(void)state;
	b.rx.rnti = 0x4600;
	b.rx.nb_ues = 40;
	for (unsigned s = 0; s < 2; s++) {
		for (uint8_t carrier = 0; carrier < 2; carrier++) {
			struct fapi_grant many[41];
			uint8_t p[FAPI_UL_TTI_LEN(RTE_DIM(many))];
			const struct nfapi_p7 h = {.phy_id = carrier,
						   .message_id = FAPI_UL_TTI_REQUEST};
			struct rte_mbuf *m;

			for (uint16_t i = 0; i < RTE_DIM(many); i++)
				many[i] =
					(struct fapi_grant){.rnti = (uint16_t)(0x4600 + 40 - i),
							    .handle = i,
							    .tb_bytes = 1000U * (carrier + 1) + i};
			assert_int_equal(fapi_ul_tti_encode(p, sizeof(p),
							    (struct fapi_slot){1, slots[s]}, many,
							    RTE_DIM(many)),
					 sizeof(p));
			m = frame(&h, p, sizeof(p));
			deliver(&m, 1, 0);
		}
		deliver_slot(1, slots[s], 5);
	}
	assert_int_equal(b.rx.grants_other, 4); /* RNTI 0x4628 is nobody's */
	assert_int_equal(b.rx.grants_in, 160);
	assert_int_equal(b.rx.grants_lost, 0);
	assert_int_equal(slot_box_count(&b.slots), 80);
	for (unsigned s = 0; s < 2; s++)
		for (unsigned i = 0; i < 40; i++) {
			assert_true(slot_box_get(&b.slots, &g));
			assert_int_equal(g.ue, 39 - i);
			assert_int_equal(g.rnti, 0x4600 + g.ue);
			assert_int_equal(g.slot, slots[s]);
			assert_int_equal(g.enter_ns, 5);
			assert_int_equal(g.more, 39 - i);
			assert_int_equal(g.tb_bytes[0], 1000 + 40 - g.ue);
			assert_int_equal(g.tb_bytes[1], 2000 + 40 - g.ue);
			assert_int_equal(g.tb[1].handle, 40 - g.ue);
		}
}

static void
grants_are_lost_with_a_count(void **state)
{
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	struct slot_grant g;
	struct rte_mbuf *m;
	uint8_t p[FAPI_ERROR_INDICATION_LEN];

	(void)state;
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 1000);
	deliver_grant(FAPI_UL_TTI_REQUEST, 0, 1, 1, 2000); /* second for the carrier */
	assert_int_equal(b.rx.grants_lost, 1);
	deliver_slot(1, 2, 0); /* slot 1 was never indicated */
	assert_int_equal(b.rx.grants_lost, 2);
	assert_true(slot_box_get(&b.slots, &g));
	assert_int_equal(g.tb_bytes[0], 0);
	deliver_slot(1, 80, 0); /* numerology 3 has 80 */
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
	for (unsigned i = 0; i < SLOT_BOX_SIZE + 1; i++)
		deliver_slot((uint16_t)(2 + i / 80), (uint16_t)(i % 80), 0);
	assert_int_equal(b.slots.missed, 1);
	fapi_error_put(p, &(struct fapi_error){{3, 4}, 0x84, 8});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	assert_int_equal(b.rx.errors_in, 1);
	assert_int_equal(b.rx.error.code, 8);
}

static struct mac_tb_box box;

/** A message of the PHY to a gNB, whose UEs are 0x4601 to 0x4603. */
static void
deliver_crcs(uint16_t carrier, struct fapi_slot at, const struct fapi_crc *c, unsigned nb)
{
	const struct nfapi_p7 h = {.phy_id = carrier, .message_id = FAPI_CRC_INDICATION};
	uint8_t p[FAPI_CRC_INDICATION_LEN(4)];
	struct rte_mbuf *m;
	int len = fapi_crc_indication_encode(p, sizeof(p), at, c, nb);

	assert_true(len > 0);
	m = frame(&h, p, (uint16_t)len);
	deliver(&m, 1, 0);
}

static void
crcs_reach_the_box(void **state)
{
	static const struct fapi_crc c[4] = {
		{.rnti = 0x4601, .harq_id = 3, .ul_cqi = 100},
		{.rnti = 0x4603, .harq_id = 9, .ul_cqi = 100, .failed = true},
		{.rnti = 0x4604, .ul_cqi = 100},
		{.rnti = 0x4602, .harq_id = 5, .ul_cqi = FAPI_CQI_INVALID, .failed = true},
	};
	static const struct mac_tb_news expected[] = {
		{1000, 0, 79, 1, 3, MAC_TB_DECODED},
		{1000, 2, 79, 1, 9, MAC_TB_FAILED},
		{1000, 1, 79, 1, 5, MAC_TB_NOT_SENT},
		{7, 0, 8, 0, 0, MAC_TB_REFUSED},
	};
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	uint8_t p[FAPI_ERROR_INDICATION_LEN];
	struct mac_tb_news n;
	struct rte_mbuf *m;

	(void)state;
	deliver_crcs(1, (struct fapi_slot){1000, 79}, c, 4); /* a UE has no use for it */
	assert_int_equal(b.drops[FAPI_RX_UNKNOWN_MESSAGE], 1);
	memset(&box, 0, sizeof(box));
	b.rx.box = &box;
	b.rx.rnti = 0x4601;
	b.rx.nb_ues = 3;
	deliver_crcs(1, (struct fapi_slot){1000, 79}, c, 4);
	assert_int_equal(b.rx.crcs_in, 4);
	assert_int_equal(b.rx.crcs_other, 1);
	fapi_error_put(p, &(struct fapi_error){{7, 8}, FAPI_UL_TTI_REQUEST, 3});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	fapi_error_put(p, &(struct fapi_error){{7, 8}, FAPI_DL_TTI_REQUEST, 3});
	m = frame(&err, p, sizeof(p));
	deliver(&m, 1, 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(mac_tb_box_get(&box, &n));
		assert_memory_equal(&n, &expected[i], sizeof(n));
	}
	assert_false(mac_tb_box_get(&box, &n));
	deliver_crcs(0, (struct fapi_slot){1, 80}, c, 1); /* numerology 3 has 80 */
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
	for (unsigned i = 0; i < MAC_TB_BOX / 4 + 1; i++)
		for (unsigned k = 0; k < 4; k++)
			deliver_crcs(0, (struct fapi_slot){1, 1}, c, 1);
	assert_int_equal(box.full, 4);
}

static void
cqis_reach_the_scheduler(void **state)
{
	static const struct fapi_cqi c[] = {{0, 0x4603, 7}, {0, 0x4604, 9}, {0, 0x4601, 0}};
	const struct nfapi_p7 h = {.message_id = FAPI_UCI_INDICATION};
	static struct mac_ul ul[3];
	uint8_t p[FAPI_UCI_INDICATION_LEN(3)];

	(void)state;
	assert_int_equal(fapi_uci_indication_encode(p, sizeof(p), (struct fapi_slot){1, 2}, c, 3),
			 sizeof(p));
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = frame(&h, p, sizeof(p));

		deliver(&m, 1, 0); /* a UE has no use for it */
		b.rx.ul = ul;
		b.rx.rnti = 0x4601;
		b.rx.nb_ues = 3;
	}
	assert_int_equal(b.drops[FAPI_RX_UNKNOWN_MESSAGE], 1);
	assert_int_equal(b.rx.cqis_in, 3);
	assert_int_equal(b.rx.cqis_other, 1);
	assert_int_equal(mac_ul_cqi(&ul[0]), 0);
	assert_int_equal(mac_ul_cqi(&ul[1]), MAC_CQI_MAX); /* said nothing */
	assert_int_equal(mac_ul_cqi(&ul[2]), 7);
}

/** An answer comes k1 slots behind its TB, here over the end of a frame and of the SFN. */
static void
answers_reach_the_box(void **state)
{
	static const struct fapi_harq a[] = {{0, 0x4603, FAPI_HARQ_ACK},
					     {0, 0x4604, FAPI_HARQ_ACK},
					     {0, 0x4601, FAPI_HARQ_NACK},
					     {0, 0x4602, FAPI_HARQ_DTX}};
	static const struct {
		uint16_t ue;
		enum mac_tb_verdict v;
	} expected[] = {
		{2, MAC_TB_DECODED}, {0, MAC_TB_FAILED}, {1, MAC_TB_DTX}, {0, MAC_TB_REFUSED}};
	const struct nfapi_p7 h = {.message_id = FAPI_UCI_INDICATION, .phy_id = 1};
	const struct nfapi_p7 err = {.message_id = FAPI_ERROR_INDICATION};
	uint8_t p[FAPI_UCI_HARQ_INDICATION_LEN(4)], e[FAPI_ERROR_INDICATION_LEN];
	static struct mac_ul ul[3];
	struct mac_tb_news n;
	struct rte_mbuf *m;

	(void)state;
	memset(&box, 0, sizeof(box));
	b.rx.box = &box;
	b.rx.ul = ul;
	b.rx.rnti = 0x4601;
	b.rx.nb_ues = 3;
	fapi_uci_harq_encode(p, sizeof(p), (struct fapi_slot){0, 3}, a, 4);
	for (unsigned i = 0; i < 2; i++) {
		m = frame(&h, p, sizeof(p));
		deliver(&m, 1, 0);
		fapi_error_put(e, &(struct fapi_error){{1023, 79}, FAPI_TX_DATA_REQUEST, 8});
		m = frame(&err, e, sizeof(e));
		deliver(&m, 1, 0);
		b.rx.k1 = 4; /* before, nobody asked for answers */
	}
	assert_int_equal(b.rx.answers_in, 4);
	assert_int_equal(b.rx.answers_other, 1);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(mac_tb_box_get(&box, &n));
		assert_true(n.downlink);
		assert_int_equal(n.sfn, 1023);
		assert_int_equal(n.slot, 79);
		assert_int_equal(n.carrier, i < 3);
		assert_int_equal(n.ue, expected[i].ue);
		assert_int_equal(n.verdict, expected[i].v);
	}
	assert_false(mac_tb_box_get(&box, &n));
	be16_put(p + 2, 80); /* numerology 3 has 80 slots */
	m = frame(&h, p, sizeof(p));
	deliver(&m, 1, 0);
	assert_int_equal(b.drops[FAPI_RX_BAD_BODY], 1);
}

static void
configuration_is_checked(void **state)
{
	struct fapi_rx_cfg cfg = {.carriers = 0, .slots = &b.slots};

	(void)state;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
	cfg.carriers = L2_CARRIERS_MAX + 1;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
	cfg.carriers = 1;
	cfg.numerology = 5;
	assert_int_equal(fapi_rx_init(&b.rx, &cfg), -EINVAL);
}

#define with_bench(t) cmocka_unit_test_setup_teardown(t, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_bench(megabyte_in_order),
		with_bench(any_order),
		with_bench(carriers_and_messages_interleave),
		with_bench(duplicates_are_dropped),
		with_bench(a_lost_segment_costs_its_tb),
		with_bench(a_partial_message_times_out),
		with_bench(old_messages_are_stale_until_a_restart),
		with_bench(sequence_wraps),
		with_bench(bad_frames),
		with_bench(bad_segments),
		with_bench(several_tbs_in_a_message),
		with_bench(several_tbs_without_mbufs),
		with_bench(bad_bodies),
		with_bench(alignment_behind_the_last_tb),
		with_bench(chained_frames),
		with_bench(checksums),
		with_bench(grants_reach_the_slot_box),
		with_bench(grants_of_others_are_left),
		with_bench(grants_of_many_ues),
		with_bench(grants_are_lost_with_a_count),
		with_bench(crcs_reach_the_box),
		with_bench(cqis_reach_the_scheduler),
		with_bench(answers_reach_the_box),
		with_bench(configuration_is_checked),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
