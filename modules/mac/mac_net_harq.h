/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_NET_HARQ_H
#define AIRPATH_MODULES_MAC_NET_HARQ_H

/**
 * The network's side of HARQ of one UE on one carrier in one direction, here the uplink (TS 38.321
 * §5.4.2, TS 38.214 §6.1).
 *
 * A process is granted a new TB with its NDI toggled. What did not decode is granted again, with
 * NDI as it was and RV 0, 2, 3, 1 in turn, until max_tx transmissions did not decode. A grant that
 * brought no TB is repeated as it was: while NDI stays, the UE keeps the TB. One that is in
 * vain again and again is given up where the UE is heard of meanwhile, for then it has no TB there;
 * else the UE is left alone until it wants something.
 *
 * Downlink HARQ (TS 38.321 §5.3.2, TS 38.213 §9) is the same with a TB that the network has: what
 * was not acknowledged is sent again until max_tx transmissions were, no answer being a negative
 * one. Only what the PHY refused was not sent and does not count. A UE that does not answer again
 * and again is sent a new TB now and then alone, so that it is not in the way of others.
 *
 * Slots are counted without a wrap. Owner: the scheduler's lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "codec/fapi.h"
#include "modules/mac/mac_harq.h"
#include "modules/mac/mac_tb_box.h"

#define MAC_NET_HARQ_WAIT                                                                          \
	256                  /**< slots after which a grant that nothing was said of is repeated   \
			      */
#define MAC_NET_HARQ_VAIN 32 /**< grants in vain before the process is given up, or the UE */

struct mac_net_harq_cfg {
	uint32_t processes; /**< of a UE and carrier, 1..32; 0: HARQ is off */
	uint32_t max_tx;    /**< transmissions of a TB, 1..8 */
	bool downlink;
};

struct mac_net_process {
	uint64_t first_at;   /**< slot of the TB's first grant */
	uint64_t granted_at; /**< slot of the last one */
	uint64_t vain_since; /**< slot of the first one of those in vain */
	uint64_t part;       /**< of a slot that the TB takes (mac_sched.h) */
	uint32_t tb_bytes;
	bool new_data;   /**< NDI */
	uint8_t tx;      /**< transmissions that did not decode */
	uint8_t in_vain; /**< grants without a TB in a row */
};

/** Every process is in one of the sets, bit by bit. */
struct mac_net_harq {
	uint32_t idle;    /**< the next grant is new data */
	uint32_t waiting; /**< granted */
	uint32_t pending; /**< to be granted again */
	uint32_t parked;  /**< the same, when the UE wants something */
	uint64_t oldest;  /**< no process waits since before this slot */
	uint64_t last;    /**< slot of the newest grant */
	uint64_t heard;   /**< slot of the newest TB that came */
	uint32_t silent;  /**< downlink: transmissions in a row that were not answered */
	bool downlink;    /**< constant */
	uint8_t max_tx;   /**< constant */
	struct mac_net_process process[MAC_HARQ_MAX];
};

/** What came of it, counted by the caller. */
struct mac_net_harq_stats {
	uint64_t retx;     /**< retransmissions granted */
	uint64_t failed;   /**< TBs that did not decode */
	uint64_t lost;     /**< TBs given up */
	uint64_t not_sent; /**< grants that brought no TB */
	uint64_t unheard;  /**< of these (downlink: of dtx), what no report came of */
	uint64_t decoded;  /**< TBs that decoded: downlink, acknowledged */
	uint64_t dtx;      /**< downlink: TBs that were not answered */
};

void mac_net_harq_init(struct mac_net_harq *h, const struct mac_net_harq_cfg *cfg);

/** @return the process that is to be granted again first, or -1. */
int mac_net_harq_pending(const struct mac_net_harq *h);

/** @return a process for a new TB, or -1. */
static inline int
mac_net_harq_idle(const struct mac_net_harq *h)
{
	return __builtin_ffs((int)h->idle) - 1;
}

/** @return whether a new TB may be granted in slot `now`: one a slot. */
static inline bool
mac_net_harq_free(const struct mac_net_harq *h, uint64_t now)
{
	if (h->idle == 0 || h->last == now)
		return false;
	return likely(h->silent < MAC_NET_HARQ_VAIN) ||
	       ((h->waiting | h->pending) == 0 && now - h->last > MAC_NET_HARQ_WAIT);
}

/** The UE wants something. */
static inline void
mac_net_harq_unpark(struct mac_net_harq *h)
{
	h->pending |= h->parked;
	h->parked = 0;
}

/**
 * Grants an idle process a TB of g->tb_bytes which takes `part` of the slot, or a pending one its
 * TB again. Fills process, NDI, RV and, of a pending one, TB size of the grant.
 */
void mac_net_harq_grant(struct mac_net_harq *h, int process, uint64_t part, uint64_t now,
			struct fapi_grant *g, struct mac_net_harq_stats *s);

/** @return the process whose last grant was that of slot `at` and has not come to an end, or -1. */
int mac_net_harq_of_slot(const struct mac_net_harq *h, uint64_t at);

/** What became of the grant of slot `at`; of grants that are no more nothing comes. */
void mac_net_harq_report(struct mac_net_harq *h, uint8_t process, uint64_t at,
			 enum mac_tb_verdict verdict, struct mac_net_harq_stats *s);

/** Gives up every TB. */
void mac_net_harq_reset(struct mac_net_harq *h, struct mac_net_harq_stats *s);

/** The request for slot `at` was refused, or never left: whatever it granted was not sent. */
void mac_net_harq_refused(struct mac_net_harq *h, uint64_t at, struct mac_net_harq_stats *s);

/** Repeats what nothing was said of for long; downlink: it was not answered. */
void mac_net_harq_expire(struct mac_net_harq *h, uint64_t now, struct mac_net_harq_stats *s);

#endif
