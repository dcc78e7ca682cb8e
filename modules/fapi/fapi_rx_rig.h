/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_FAPI_RX_RIG_H
#define AIRPATH_MODULES_FAPI_RX_RIG_H

/** One receiver of frames, its senders, and the books of what the one gave for the others'. */

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

static inline int
setup(void **state)
{
	(void)state;
	if (test_eal_init() != 0)
		return -1;
	pool = test_pool("pool", 1023, 9000);
	small = test_pool("small", 255, 64);
	return pool && small ? 0 : -1;
}

static inline int
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

static inline void
collect(struct fapi_rx_out *out)
{
	for (uint16_t i = 0; i < out->nb; i++)
		b.tb[b.nb_tb++] = out->tb[i];
	b.used += out->used;
	b.made += out->made;
}

static inline void
deliver(struct rte_mbuf **frames, uint16_t nb, uint64_t now)
{
	for (uint16_t at = 0; at < nb;) {
		struct fapi_rx_out out = {.drops = b.drops};

		at += fapi_rx_burst(&b.rx, frames + at, nb - at, now, &out);
		collect(&out);
	}
	b.in += nb;
}

/** Nothing is lost without a name, and nothing leaks. */
static inline int
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

static inline void
send_tb(uint8_t carrier, uint32_t seed, uint32_t bytes)
{
	b.nb += tb_frames(&b.tx[carrier], pool, seed, bytes, &b.frames[b.nb]);
}

/** A frame with the given P7 fields and body. */
static inline struct rte_mbuf *
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

/** A body of RX_Data.indication (or TX_Data.request) with TBs of the given sizes. */
static inline uint16_t
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
static inline void
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

#define with_bench(t) cmocka_unit_test_setup_teardown(t, begin, end)

#endif
