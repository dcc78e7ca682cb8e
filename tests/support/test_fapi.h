/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_FAPI_H
#define AIRPATH_TESTS_TEST_FAPI_H

/** TBs with known bytes, as frames of TX_Data.request. cmocka must be included first. */

#include <string.h>

#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"

/** Byte `at` of the TB that `seed` names. */
static inline uint8_t
tb_byte(uint32_t seed, uint32_t at)
{
	return (uint8_t)((at * 2654435761U + seed * 40503U) >> 16);
}

/** Fragments of a TB of `bytes`. @return how many, in `out`. */
static inline uint16_t
tb_fragments(struct rte_mempool *pool, uint32_t seed, uint32_t bytes, uint32_t frame_bytes,
	     struct rte_mbuf **out)
{
	const uint32_t most = fapi_frag_payload(frame_bytes);
	uint16_t n = 0;

	for (uint32_t at = 0; at < bytes; n++) {
		uint32_t len = bytes - at < most ? bytes - at : most;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint8_t *p;

		assert_non_null(m);
		p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
		assert_non_null(p);
		for (uint32_t i = 0; i < len; i++)
			p[i] = tb_byte(seed, at + i);
		*ap_meta(m) = (struct ap_meta){
			.flags = (uint8_t)((at == 0 ? AP_M_FRAG_FIRST : 0) |
					   (at + len == bytes ? AP_M_FRAG_LAST : 0)),
		};
		*ap_ext(m) =
			(struct ap_ext){.tb_bytes = bytes, .tb_offset = at, .sfn = 100, .slot = 7};
		out[n] = m;
		at += len;
	}
	return n;
}

/** Frames of TX_Data.request with a TB of `bytes`, from `tx`. @return how many, in `out`. */
static inline uint16_t
tb_frames(struct fapi_tx *tx, struct rte_mempool *pool, uint32_t seed, uint32_t bytes,
	  struct rte_mbuf **out)
{
	uint64_t drops[FAPI_TX_DROPS] = {0};
	uint16_t n = tb_fragments(pool, seed, bytes, tx->frame_bytes, out);

	assert_int_equal(fapi_tx_burst(tx, out, n, 1000000, drops), n);
	return n;
}

/** Every byte of the packet is that of the TB `seed`. */
static inline void
assert_tb(const struct rte_mbuf *m, uint32_t seed, uint32_t bytes)
{
	uint32_t at = 0;
	uint16_t segs = 0;

	assert_int_equal(m->pkt_len, bytes);
	for (const struct rte_mbuf *s = m; s != NULL; s = s->next, segs++)
		for (uint32_t i = 0; i < s->data_len; i++, at++)
			if (*rte_pktmbuf_mtod_offset(s, const uint8_t *, i) != tb_byte(seed, at))
				fail_msg("byte %u of TB %u differs", at, seed);
	assert_int_equal(at, bytes);
	assert_int_equal(segs, m->nb_segs);
}

#endif
