/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_CELL_H
#define AIRPATH_MODULES_MAC_CELL_H

/**
 * A gNB's slot: who gets what of each carrier, downlink by what waits in RLC, uplink by what UEs
 * reported. Owner: the lcore of mac_sched; `ul` is also written by fapi_rx and mac_demux.
 */

#include "codec/fapi.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_sched.h"
#include "modules/mac/mac_want.h"

struct mac_cell_cfg {
	uint32_t nb_ues;
	uint32_t nb_carriers;
	uint8_t numerology;
	uint32_t tb_bytes[L2_CARRIERS_MAX]; /**< of a carrier in a slot and direction, B */
	uint32_t pdus;                      /**< in a request at most, 1..FAPI_TTI_PDUS_MAX */
	struct mac_sched_cfg sched;         /**< of each direction; nb_ues is filled in */
	struct mac_ul *ul;                  /**< [nb_ues] */
};

/** The PDUs of a TTI request. */
struct mac_cell_tti {
	uint32_t nb;
	struct fapi_grant grant[FAPI_TTI_PDUS_MAX];
};

struct mac_cell {
	/* counters; worker: rw, control: ro */
	uint64_t dl_tbs;
	uint64_t ul_tbs;
	uint64_t dl_bytes;
	uint64_t ul_bytes;
	/* worker: rw */
	uint64_t slot;       /**< in hand, counted without a wrap */
	bool begun;          /**< there was a slot */
	struct fapi_slot at; /**< the same */
	uint8_t sequence;    /**< of the next request */
	struct mac_sched dl_sched;
	struct mac_sched ul_sched;
	struct mac_cell_tti dl[L2_CARRIERS_MAX]; /**< requests of the slot in hand */
	struct mac_cell_tti ul[L2_CARRIERS_MAX];
	struct mac_want *want;        /**< [nb_ues] */
	struct mac_sched_want *wants; /**< [nb_ues] scratch */
	uint16_t *place;              /**< [nb_ues] a UE's record in the slot, if it has one */
	/* constant */
	struct mac_cell_cfg cfg;
};

/** Control thread. @return NULL with errno set. */
struct mac_cell *mac_cell_create(const struct mac_cell_cfg *cfg);
void mac_cell_destroy(struct mac_cell *cell);

/**
 * Shares the slot out: fills cell->dl and cell->ul, and a record for every UE with downlink.
 * @param records room for SLOT_UES_MAX
 * @return records, at least 1
 */
uint32_t mac_cell_share(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
			uint64_t now_ns, struct slot_grant *records);

#endif
