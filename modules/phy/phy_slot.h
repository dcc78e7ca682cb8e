/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_SLOT_H
#define AIRPATH_MODULES_PHY_SLOT_H

/**
 * Slot clock of one side: the grants of a slot, one message a carrier, then SLOT.indication.
 *
 * Slot k is due at t0 + k·T, where t0 is the first visit of any side. A visit that comes a
 * slot or more late sends the newest slot due and counts those it passed over.
 *
 * With a gNB, its side gets SLOT.indication alone, what it asked in vain as ERROR.indication, and
 * CRC.indications of TBs that did not come, and in UCI.indications what channels UEs have and what
 * they answer to downlink TBs.
 * The UEs' side is some slots behind, and gets the grants that the gNB asked for; slots with
 * grants are not passed over.
 */

#include <stdatomic.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/fapi.h"

/** Grants, or TBs that are missing, of 8 carriers, the indication, an error's, channels, answers.
 */
#define PHY_SLOT_FRAMES_MAX 27

struct phy;
struct nfapi_p7;

enum phy_slot_drop {
	PHY_SLOT_NO_MBUF, /**< pool exhausted: the slot was not sent */
	PHY_SLOT_DROPS,
};

struct phy_slot {
	_Atomic uint64_t next;  /**< slot k that comes next. worker: rw, control: ro */
	uint64_t due_ns;        /**< when, 0: clock not started */
	struct fapi_slot at;    /**< its SFN and slot */
	uint8_t sequence;       /**< of the next P7 message */
	uint8_t turn[8];        /**< per carrier: which TB size comes next */
	uint64_t slots;         /**< slots sent */
	uint64_t slots_skipped; /**< slots passed over because the visit came late */
	uint64_t grants;        /**< TBs granted */
};

/** @return slot length, ns. */
static inline uint64_t
phy_slot_ns(uint8_t numerology)
{
	return 1000000 >> numerology;
}

/**
 * Writes the frames of the slot that is due, if one is.
 * @param out room for PHY_SLOT_FRAMES_MAX frames
 * @param drops [PHY_SLOT_DROPS], counted in frames that could not be made
 * @return frames written
 */
uint16_t phy_slot_poll(struct phy *p, uint32_t side, uint64_t now_ns, struct rte_mbuf **out,
		       uint64_t *drops);

/**
 * An empty mbuf becomes a frame to `side`: Ethernet and P7 header in front of `body` bytes that
 * follow. @return where they go
 */
uint8_t *phy_frame_begin(const struct phy *p, uint32_t side, struct rte_mbuf *m,
			 const struct nfapi_p7 *h, uint16_t body);

/** @return when the next slot is due, ns; 0 when nothing but the control thread can tell. */
uint64_t phy_slot_due(const struct phy *p, uint32_t side);

#endif
