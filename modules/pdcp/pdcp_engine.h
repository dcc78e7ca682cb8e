/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_ENGINE_H
#define AIRPATH_MODULES_PDCP_ENGINE_H

/** What the engines behind pdcp_security.h have in common. */

#include <stdbool.h>
#include <string.h>

#include <rte_byteorder.h>

#include "core/pkt.h"
#include "modules/pdcp/pdcp_security.h"

#define EIA3_MAX 8188 /* B, the longest message of the software libraries' 128-EIA3 */
#define CMAC_PREFIX 8 /* B: COUNT, BEARER, DIRECTION and zeros before the PDU */

/** First member of each engine's key. */
struct pdcp_security_key {
	const struct pdcp_crypto *crypto; /**< engine it was made by */
	struct rte_mempool *pool;
	uint32_t room; /**< data room of `pool` behind the headroom, B */
	enum pdcp_nea nea;
	enum pdcp_nia nia;
	char name[64]; /**< of the engine, and its device */
};

static inline const struct pdcp_security_key *
pdcp_key_of(const struct pdcp_secured *p)
{
	return p->sec->keys;
}

static inline bool
pdcp_has_integrity(const struct pdcp_secured *p)
{
	return p->sec->mac_i_len != 0 && pdcp_key_of(p)->nia != PDCP_NIA0;
}

/** @return true when the PDU can be worked on where it is; NIA2's prefix needs the headroom. */
static inline bool
pdcp_stays(const struct rte_mbuf *m)
{
	return m->nb_segs == 1 && ap_seg_writable(m) && m->data_off >= CMAC_PREFIX;
}

/** Counter block of NEA2, IV of NEA1 and NEA3 (TS 33.401 annex B.1). */
static inline void
pdcp_cipher_iv(const struct pdcp_secured *p, uint32_t *iv)
{
	const bool ctr = pdcp_key_of(p)->nea == PDCP_NEA2;

	iv[0] = rte_cpu_to_be_32(p->count);
	iv[1] = rte_cpu_to_be_32((uint32_t)p->sec->bearer << 27 | (uint32_t)p->sec->direction
									  << 26);
	/* NEA2: the counter block continues with zeros; SNOW 3G and ZUC repeat the words. */
	iv[2] = ctr ? 0 : iv[0];
	iv[3] = ctr ? 0 : iv[1];
}

/** NIA1: COUNT, FRESH = BEARER | 0^27, both with DIRECTION; NIA3 is the same. */
static inline void
pdcp_stream_iv(const struct pdcp_secured *p, uint32_t *iv)
{
	const uint32_t bearer = (uint32_t)p->sec->bearer << 27;

	iv[0] = rte_cpu_to_be_32(p->count);
	iv[1] = rte_cpu_to_be_32(bearer);
	iv[2] = rte_cpu_to_be_32(p->count ^ (uint32_t)p->sec->direction << 31);
	iv[3] = rte_cpu_to_be_32(bearer ^ (uint32_t)p->sec->direction << 15);
}

/** TS 33.401 §B.2.3: M = COUNT | BEARER | DIRECTION | 0^26 | MESSAGE; this is what comes before. */
static inline void
pdcp_cmac_prefix(const struct pdcp_secured *p, uint8_t *to)
{
	const uint32_t words[] = {rte_cpu_to_be_32(p->count),
				  rte_cpu_to_be_32((uint32_t)p->sec->bearer << 27 |
						   (uint32_t)p->sec->direction << 26)};

	memcpy(to, words, CMAC_PREFIX);
}

/**
 * Copies a PDU that is shared, chained or without headroom to an mbuf of the key's pool, and frees
 * the old one.
 * @return false: it failed, the reason is in `p`
 */
bool pdcp_move(struct pdcp_secured *p);

#endif
