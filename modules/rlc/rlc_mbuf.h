/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_MBUF_H
#define AIRPATH_MODULES_RLC_MBUF_H

/** Views of mbuf chains; private to this module. */

#include <rte_mbuf.h>

/**
 * Indirect mbufs over `bytes` > 0 bytes of `m` from `offset` on, all inside the packet.
 * @return a packet with the meta and ext of `m`, or NULL when `ind` is empty.
 */
struct rte_mbuf *rlc_mbuf_slice(struct rte_mbuf *m, uint32_t offset, uint32_t bytes,
				struct rte_mempool *ind);

#endif
