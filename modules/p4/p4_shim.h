/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_SHIM_H
#define AIRPATH_P4_SHIM_H

/**
 * What SmartNIC and host tell each other over a virtual function: an Ethernet header of type
 * 0x88B5 (IEEE 802's for local experiments) and 16 octets, before the whole frame they are about,
 * or alone.
 *
 *   octet 0   flags        u8   enum p4_shim_flag
 *         1   0            u24
 *         4   bearer       u32  TEID of ours with the DRB's slot
 *         8   TX_NEXT      u32  COUNT of the next downlink SDU
 *        12   RLC TX_Next  u32
 *
 * NIC → host, TAKE: the host numbers this bearer's packets from here on, the one behind this first.
 * NIC → host, RELEASE: give the numbering back, once the packet behind this has its number.
 * host → NIC, RELEASE, alone: the numbers after it. The NIC adds the packets of the bearer it has
 * sent since: each of them will take one.
 * NIC → host, ASIDE: the packet behind this was not looked at for a bearer.
 */

#include <stdint.h>

#include "codec/be.h"

#define P4_SHIM_TYPE 0x88B5
#define P4_SHIM_BYTES 16
#define P4_SHIM_FRAME_BYTES (14 + P4_SHIM_BYTES)

enum p4_shim_flag { P4_SHIM_TAKE = 1, P4_SHIM_RELEASE = 2, P4_SHIM_ASIDE = 4 };

struct p4_shim {
	uint8_t flags;
	uint32_t bearer, tx_next, rlc_tx_next;
};

/** Reads the 16 octets behind the Ethernet header. */
static inline struct p4_shim
p4_shim_get(const uint8_t *p)
{
	return (struct p4_shim){p[0], be32_get(p + 4), be32_get(p + 8), be32_get(p + 12)};
}

static inline void
p4_shim_put(uint8_t *p, const struct p4_shim *s)
{
	be32_put(p, (uint32_t)s->flags << 24);
	be32_put(p + 4, s->bearer);
	be32_put(p + 8, s->tx_next);
	be32_put(p + 12, s->rlc_tx_next);
}

#endif
