/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_DOWNLINK_H
#define AIRPATH_MODULES_PHY_DOWNLINK_H

/**
 * The receivers of a gNB's UEs: which downlink TBs decode, and HARQ feedback on PUCCH (TS 38.213
 * §9.2) for every PDSCH whose DCI asks for it, as UCI.indication.
 *
 * A transmission fails with probability soft_loss^k as in the uplink (phy_uplink.h); without a DCI
 * each TB is sent once. What had decoded is acknowledged again and not given on (TS 38.321
 * §5.3.2.2). Each carrier has its own PUCCH and a UE one TB there in a slot, so its answer has one
 * bit. The answer to slot n is told in slot n + k1, or later when the TB is late, with slot n + k1
 * as its own. Some are not detected, which is told as DTX. A TB that never comes has no answer at
 * all.
 *
 * Owners: phy_loop of the gNB's side receives; phy_slot of that side tells.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "codec/fapi_dci.h"
#include "codec/fapi_uci.h"
#include "modules/phy/phy_harq.h"
#include "modules/phy/phy_request.h"
#include "modules/phy/phy_uplink.h"

#define PHY_DOWNLINK_BOX 4096 /**< answers under way, a power of two */
#define PHY_DOWNLINK_NEWS 16  /**< UCI.indications with HARQ in a slot at most */

struct phy;

/** Answers of one slot and carrier. */
struct phy_downlink_news {
	struct fapi_slot at; /**< of the PUCCH */
	uint8_t carrier;
	uint8_t nb;
	struct fapi_harq harq[FAPI_UCIS_MAX];
};

struct phy_downlink {
	/* phy_loop of the gNB's side: rw, control: ro */
	uint64_t received;
	uint64_t failed;              /**< TBs received that did not decode */
	uint64_t again;               /**< TBs received that had been decoded */
	uint64_t missed;              /**< answers not detected: DTX */
	uint64_t box_full;            /**< answers lost for want of room */
	struct phy_uplink_soft *soft; /**< [ue][carrier][process] */
	_Atomic uint32_t head;
	/* phy_slot of the gNB's side: rw */
	_Atomic uint32_t tail __rte_cache_aligned;
	uint64_t box[PHY_DOWNLINK_BOX];
	/* constant */
	uint64_t odds[PHY_HARQ_TX_MAX]; /**< of failing, by transmissions combined, less 1 */
	uint64_t odds_missed;
};

/** `p->cfg` is valid. @return 0 or -ENOMEM. */
int phy_downlink_init(struct phy *p);
void phy_downlink_fini(struct phy *p);

/**
 * A UE hears the DCI of a PDSCH of this carrier, whether or not its TB comes: the TB that its
 * process had is over where NDI is toggled (TS 38.321 §5.3.2.2). `g` is valid.
 */
void phy_downlink_assign(struct phy *p, uint8_t carrier, const struct fapi_grant *g);

/** A TB has come that phy_request_tb() let pass. */
enum phy_harq_verdict phy_downlink_receive(struct phy *p, uint8_t carrier, struct fapi_slot at,
					   uint16_t index, struct phy_rng *rng);

/**
 * phy_slot of the gNB's side: what is told in slot `now`, counted without a wrap.
 * @return how many of `news`
 */
uint16_t phy_downlink_tell(struct phy *p, uint64_t now,
			   struct phy_downlink_news news[PHY_DOWNLINK_NEWS]);

#endif
