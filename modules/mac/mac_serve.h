/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_SERVE_H
#define AIRPATH_MODULES_MAC_SERVE_H

/**
 * A slot's grants, UE after UE: what mac_slot (a UE, grants from its PHY) and mac_sched (a gNB,
 * grants of its own) do alike. For each granted carrier a start mark, the RLC PDUs that
 * prioritization picked and an end mark leave on that carrier's edge. A UE that is granted nothing
 * has its RLC timers looked at and may send a scheduling request; of many UEs MAC_SERVE_IDLE a
 * slot have their turn.
 */

#include "core/node.h"
#include "modules/mac/mac_tx.h"

#define MAC_SERVE_IDLE 32 /**< UEs without a grant that are visited in a slot */

/** Drop reasons that both nodes begin with. */
enum mac_serve_drop {
	MAC_SERVE_DISCARD_TIMER,
	MAC_SERVE_TB_NO_MARK,
	MAC_SERVE_CONFIRMED,
	MAC_SERVE_REESTABLISHED,
	MAC_SERVE_NO_MBUF,
	MAC_SERVE_DROPS,
};

/** Their names, and the edges of both nodes. */
extern const char *const mac_serve_drops[MAC_SERVE_DROPS];
extern const char *const mac_serve_edges[L2_CARRIERS_MAX + 1];

/** The slot in hand. Worker: rw. */
struct mac_serve {
	bool busy;          /**< of the slot in hand something remains */
	uint32_t ue;        /**< the UE in hand */
	uint32_t nb;        /**< records */
	uint32_t at;        /**< the one in hand; nb and on: UEs without a grant */
	uint32_t idle_left; /**< how many of these */
	uint32_t turn;      /**< who comes next of them */
	uint64_t serial;    /**< of the slot */
	struct slot_grant records[SLOT_UES_MAX];
};

/** PDCP status reports come before the slot that would send what they confirm. */
void mac_serve_reports(struct ap_node *n, struct l2 *l2);

/** Begins the slot of s->records[0..nb), nb > 0. */
void mac_serve_begin(struct ap_node *n, struct mac_serve *s, uint64_t now_ns);

/** Serves what `room` packets allow; s->busy tells whether something remains. @return packets. */
unsigned mac_serve(struct ap_node *n, struct mac_serve *s, unsigned room, uint64_t now_ns);

#endif
