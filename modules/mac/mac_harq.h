/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_HARQ_H
#define AIRPATH_MODULES_MAC_HARQ_H

/**
 * The HARQ buffers of one carrier (TS 38.321 §5.4.2.2): TBs kept to be sent again, of every UE.
 *
 * A TB is kept as the fragments that mac_build made, by reference: the reference count of each of
 * their segments is raised, nothing is copied. A kept fragment is shared, so whoever adds headers
 * puts them into a segment of their own, and nobody may change its lengths or links.
 * A process's TB is kept until its next new one begins: how often it is sent is the network's to
 * say, and a UE that counted would count grants that the network holds for lost. A gNB knows, and
 * flushes what was acknowledged or given up.
 * Owner: the lcore of the carrier's mac_build node.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/mac/mac_tb.h"

#define MAC_HARQ_MAX 32 /**< HARQ processes of a carrier (nrofHARQ-ProcessesForPUSCH-r17) */

struct mac_harq;

/**
 * Control thread.
 * @param ues 1..L2_UES_MAX
 * @param processes of each, 1..32
 * @return NULL when out of memory
 */
struct mac_harq *mac_harq_create(uint32_t ues, uint32_t processes);

/** Control thread, worker stopped. NULL is fine. */
void mac_harq_destroy(struct mac_harq *h);

/** A new TB of `ue` and `process` begins: flushes the process's buffer. */
void mac_harq_begin(struct mac_harq *h, uint16_t ue, uint8_t process);

/** Keeps a fragment of the TB begun last. */
void mac_harq_keep(struct mac_harq *h, struct rte_mbuf *fragment);

/** `ue` and `process` keep nothing any more. */
void mac_harq_flush(struct mac_harq *h, uint16_t ue, uint8_t process);

/** The TB begun last will not be finished: flushes its buffer. */
void mac_harq_flush_open(struct mac_harq *h);

/**
 * The fragments of the TB that `mark` names, marked for the slot of its grant.
 * @return how many: 0 when none are kept; nothing is done when that exceeds `max`
 */
uint32_t mac_harq_send(struct mac_harq *h, const struct mac_tb_mark *mark, struct rte_mbuf **out,
		       uint32_t max);

#endif
