/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_CHANNEL_H
#define AIRPATH_MODULES_PHY_CHANNEL_H

/**
 * A channel of each UE of a gNB, as its CQI: it wanders about a value of its own, a step at most
 * between two reports. UEs report in turn, every PHY_CHANNEL_SLOTS slots or, where a message does
 * not hold so many, as often as it does. No TB fails for its channel: what it carries is what was
 * reported. Owner: phy_slot of the gNB's side.
 */

#include <stdint.h>

#include "codec/fapi_uci.h"
#include "modules/phy/phy_rng.h"

#define PHY_CHANNEL_SLOTS 16
#define PHY_CHANNEL_CQIS 64

struct phy;

struct phy_channel_cfg {
	uint8_t nb;                    /**< 0: UEs report nothing */
	uint8_t cqi[PHY_CHANNEL_CQIS]; /**< 1..15, of UE 0 and on; those beyond begin again */
	uint8_t spread;                /**< how far a UE's may be off, 0..14 */
};

struct phy_channel {
	uint8_t *cqi; /**< [nb_ues] now; NULL: no channels */
	uint32_t period;
	struct phy_rng rng;
};

/** `p->cfg` is valid. @return 0 or -ENOMEM. */
int phy_channel_init(struct phy *p);
void phy_channel_fini(struct phy *p);

/** Reports of slot `slot`, counted without a wrap. @return how many */
uint16_t phy_channel_report(struct phy *p, uint64_t slot, struct fapi_cqi c[FAPI_UCIS_MAX]);

#endif
