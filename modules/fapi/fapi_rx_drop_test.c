/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a frame, a segment or a body has a name. */
#include "modules/fapi/fapi_rx_rig.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_bench(bad_frames),
		with_bench(bad_segments),
		with_bench(several_tbs_without_mbufs),
		with_bench(bad_bodies),
		with_bench(alignment_behind_the_last_tb),
		with_bench(checksums),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
