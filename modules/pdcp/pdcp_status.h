/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PDCP_STATUS_H
#define AIRPATH_MODULES_PDCP_STATUS_H

/** PDCP status reports, TS 38.323 §5.4. */

#include <stddef.h>
#include <stdint.h>

#include "modules/l2/l2.h"
#include "modules/pdcp/pdcp_rx.h"

/** Status reports on their way from pdcp_rx to mac_slot, of all bearers. */
#define PDCP_REPORTS_MAX 63

/**
 * Compiles a status report from the reception buffer (§5.4.1). What the buffer had no place for
 * counts as not received. Owner of `e`, or its lcore is held.
 * @param p PDCP_CONTROL_MAX bytes. @return bytes written.
 */
size_t pdcp_status_compile(const struct pdcp_rx *e, uint8_t *p);

/** The same as a packet from `pool`, of several segments if need be. @return NULL: `pool` is empty.
 */
struct rte_mbuf *pdcp_status_pdu(const struct pdcp_rx *e, struct rte_mempool *pool);

/**
 * Discards what the waiting reports confirm and RLC has not begun to send (§5.4.2), and frees
 * them. Lcore of mac_slot. @return how many PDUs.
 */
uint64_t pdcp_status_apply(struct l2 *l2);

#endif
