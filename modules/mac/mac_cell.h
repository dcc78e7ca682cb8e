/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_CELL_H
#define AIRPATH_MODULES_MAC_CELL_H

/**
 * A gNB's slot: who gets what of each carrier, downlink by what waits in RLC, uplink by what UEs
 * reported, each as much as its CQI allows in both directions. TBs that did not decode come first.
 * Owner: the lcore of mac_sched; `ul` and `box` are also written by fapi_rx, `ul` by mac_demux.
 */

#include "codec/fapi.h"
#include "modules/l2/l2.h"
#include "modules/mac/mac_net_harq.h"
#include "modules/mac/mac_sched.h"
#include "modules/mac/mac_tb.h"
#include "modules/mac/mac_want.h"

#define MAC_CELL_OVERHEAD 8 /**< of a TB, B: a BSR, or the subheader of a segment */

struct mac_cell_cfg {
	uint32_t nb_ues;
	uint32_t nb_carriers;
	uint8_t numerology;
	uint32_t
		tb_bytes[L2_CARRIERS_MAX]; /**< of a carrier in a slot and direction at CQI 15, B */
	uint32_t pdus;                     /**< in a request at most, 1..FAPI_TTI_PDUS_MAX */
	struct mac_sched_cfg sched;        /**< of each direction; nb_ues is filled in */
	struct mac_net_harq_cfg harq;      /**< uplink */
	struct mac_net_harq_cfg dl_harq;   /**< downlink: 16 processes at most */
	struct mac_ul *ul;                 /**< [nb_ues] */
};

#define MAC_CELL_MARKS 4 /**< in which a slot may tell a carrier's mac_build of them */
/** Slots from a PDSCH to its HARQ feedback: one of dl-DataToUL-ACK (TS 38.331). */
#define MAC_CELL_K1 4

/** HARQ buffers that a carrier's mac_build may flush, by UE and process. */
struct mac_cell_releases {
	uint32_t nb;         /**< bits in `processes` */
	uint32_t next;       /**< UE that is told of first */
	uint32_t *processes; /**< [nb_ues] Σ 1 << process */
};

/** The PDUs of a TTI request. */
struct mac_cell_tti {
	uint32_t nb;
	struct fapi_grant grant[FAPI_TTI_PDUS_MAX];
};

/** One direction. */
struct mac_cell_way {
	/* counters; worker: rw, control: ro */
	uint64_t tbs;   /**< granted, retransmissions included */
	uint64_t bytes; /**< in them */
	struct mac_net_harq_stats stats;
	/* worker: rw */
	struct mac_sched sched;
	struct mac_cell_tti tti[L2_CARRIERS_MAX]; /**< requests of the slot in hand */
	struct mac_net_harq *harq;                /**< [nb_ues][nb_carriers]; NULL: HARQ is off */
	uint64_t given_up;                  /**< of stats.lost, what mac_sched has in its books */
	uint32_t again_first;               /**< UE whose retransmission comes first */
	struct mac_cell_releases *releases; /**< downlink with HARQ: [nb_carriers] */
};

struct mac_cell {
	struct mac_cell_way ul;
	struct mac_cell_way dl;
	/* worker: rw */
	uint64_t slot;                /**< in hand, counted without a wrap */
	bool begun;                   /**< there was a slot */
	struct fapi_slot at;          /**< the same */
	uint8_t sequence;             /**< of the next request */
	struct mac_want *want;        /**< [nb_ues] */
	struct mac_sched_want *wants; /**< [nb_ues] scratch */
	struct mac_sched_want *offer; /**< [nb_ues] scratch: those that a carrier can serve */
	uint16_t *place;              /**< [nb_ues] a UE's record in the slot, if it has one */
	struct mac_tb_box box;        /**< written by fapi_rx */
	/* constant */
	struct mac_cell_cfg cfg;
};

/** Control thread. @return NULL with errno set. */
struct mac_cell *mac_cell_create(const struct mac_cell_cfg *cfg);
void mac_cell_destroy(struct mac_cell *cell);

/**
 * Shares the slot out: fills the requests of both directions, and a record for every UE with
 * downlink.
 * @param records room for SLOT_UES_MAX
 * @return records, at least 1
 */
uint32_t mac_cell_share(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
			uint64_t now_ns, struct slot_grant *records);

/** The carrier's UL_TTI.request, or DL_TTI.request, of the slot in hand did not leave. */
void mac_cell_not_sent(struct mac_cell *cell, struct mac_cell_way *way, const struct l2 *l2,
		       uint32_t carrier);

/**
 * MAC reset of the UE (TS 38.321 §5.12): what of its downlink was not acknowledged, of all its
 * DRBs, is given up. The scheduler's lcore, or held.
 */
void mac_cell_reset(struct mac_cell *cell, uint32_t ue);

/**
 * The next HARQ buffers that the carrier's mac_build may flush: their TBs were acknowledged or
 * given up. Those that have a new TB meanwhile flush themselves.
 * @param out room for MAC_TB_RELEASES
 * @return how many
 */
uint32_t mac_cell_release(struct mac_cell *cell, uint32_t carrier, struct mac_tb_release *out);

/* --- between mac_cell.c and mac_cell_harq.c --------------------------------------------------- */

/** What the PHY said since the last slot. */
void mac_cell_take_news(struct mac_cell *cell);

/** What the UE was granted in the slot in hand cannot be told or sent. */
void mac_cell_unsent(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue,
		     uint32_t carrier);

/** Once a slot and UE: time passes, and it wants something or not. */
void mac_cell_wanted(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, bool wants);

/** @return whether the UE may be granted new data in the slot in hand: mac_net_harq_free(). */
bool mac_cell_free(const struct mac_cell *cell, const struct mac_cell_way *way, uint32_t ue,
		   uint32_t carrier);

/** Grants a carrier's slot to TBs that did not decode, UE after UE, one each, out of `room`. */
void mac_cell_again(struct mac_cell *cell, struct mac_cell_way *way, const struct l2 *l2,
		    uint32_t carrier, struct mac_sched_room *room);

/** The grant of new data gets a process. */
void mac_cell_new(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, uint32_t carrier,
		  uint64_t part, struct fapi_grant *g);

/** Appends a PDU for the UE. @return it, for TB size and what HARQ says. */
struct fapi_grant *mac_cell_pdu(const struct mac_cell *cell, const struct l2 *l2,
				struct mac_cell_tti *tti, uint32_t ue);

static inline uint32_t
mac_cell_slots_per_frame(const struct mac_cell *cell)
{
	return 10U << cell->cfg.numerology;
}

/** A slot up to now, counted as cell->slot is. */
static inline uint64_t
mac_cell_slot_of(const struct mac_cell *cell, struct fapi_slot at)
{
	const uint64_t period = (uint64_t)(FAPI_SFN_MAX + 1) * mac_cell_slots_per_frame(cell);
	const uint64_t then = (uint64_t)at.sfn * mac_cell_slots_per_frame(cell) + at.slot;

	return cell->slot - (cell->slot % period + period - then) % period;
}

#endif
