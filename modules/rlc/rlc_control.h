/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_CONTROL_H
#define AIRPATH_MODULES_RLC_CONTROL_H

/** What PDCP's procedures ask of a transmitting RLC entity beside data transfer. */

#include "modules/rlc/rlc_rx.h"
#include "modules/rlc/rlc_tx.h"

/**
 * Discards the queued SDUs for which `match` is true and of which nothing was sent (TS 38.322
 * §5.4), newest first. Lcore of the pull side.
 * @param match gets the SDU behind `hdr` bytes of RLC header. @return how many were freed.
 */
unsigned rlc_tx_discard_if(struct rlc_tx *e,
			   bool (*match)(void *arg, const struct rte_mbuf *m, uint16_t hdr),
			   void *arg);

/**
 * Re-establishes the transmitting entity (TS 38.322 §5.1.2): timers stop, state variables become
 * initial, and every SDU whose delivery is not confirmed goes to `take`, the oldest first. With
 * UM and TM these are the SDUs of which nothing was sent; a partly sent one is freed. AM gives
 * those without acknowledgement too, with the time of the call as theirs.
 * Both lcores of the entity held.
 * @return SDUs that left the entity, those that were freed included.
 */
unsigned rlc_tx_take_unconfirmed(struct rlc_tx *e, rlc_tx_taker *take, void *arg);

/** Re-establishes the receiving entity: what it keeps is freed and counted. Its lcore. */
void rlc_rx_reestablish(struct rlc_rx *e, struct rlc_rx_counts *c);

#endif
