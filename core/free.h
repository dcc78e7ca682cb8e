/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_FREE_H
#define AIRPATH_CORE_FREE_H

#include <stdint.h>

#include <rte_mbuf.h>

/**
 * Frees packets like rte_pktmbuf_free_bulk(), for what comes out of a downlink: indirect mbufs
 * that lie one after the other in the same buffer, behind headers from another pool. The buffer's
 * reference count is lowered once for all its neighbours, and each pool gets its mbufs back in
 * bulk although they alternate.
 */
void ap_free_bulk(struct rte_mbuf **pkts, uint16_t n);

#endif
