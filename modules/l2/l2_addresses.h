/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_L2_ADDRESSES_H
#define AIRPATH_MODULES_L2_ADDRESSES_H

/**
 * Whose a user packet is, where one role has several UEs: UE u has the IPv4 address `v4` + u and
 * the IPv6 prefix `v6` + u of 64 bits. Constant while workers run.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/be.h"

struct l2_addresses {
	uint32_t nb; /**< UEs; 0: packets are not looked at, all are of UE 0 */
	bool source; /**< a UE's packets have its address as source; else (gNB) as destination */
	bool has_v4;
	bool has_v6;
	uint32_t v4; /**< of UE 0 */
	uint64_t v6; /**< first 64 bits, of UE 0 */
};

/** @return index of the UE, or UINT32_MAX for a packet of nobody, or that is not IP. */
static inline uint32_t
l2_addresses_find(const struct l2_addresses *a, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t ue = UINT64_MAX;

	if (m->data_len >= 20 && p[0] >> 4 == 4 && a->has_v4)
		ue = (uint32_t)(be32_get(p + (a->source ? 12 : 16)) - a->v4);
	else if (m->data_len >= 40 && p[0] >> 4 == 6 && a->has_v6)
		ue = be64_get(p + (a->source ? 8 : 24)) - a->v6;
	return ue < a->nb ? (uint32_t)ue : UINT32_MAX;
}

#endif
