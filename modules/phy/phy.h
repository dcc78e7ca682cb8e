/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_H
#define AIRPATH_MODULES_PHY_H

/**
 * PHY emulator: slot clock and grants on one hand, the air on the other.
 *
 * It has one side (loopback: what a stack transmits it receives) or two (cross-connect: what
 * one stack transmits the other receives). Each side has a slot clock (phy_slot.h) and a path
 * for the TBs that arrive from it (phy_path.h); each belongs to the node that runs it, so the
 * four may be on different lcores.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/phy/phy_channel.h"
#include "modules/phy/phy_downlink.h"
#include "modules/phy/phy_harq.h"
#include "modules/phy/phy_path.h"
#include "modules/phy/phy_request.h"
#include "modules/phy/phy_slot.h"
#include "modules/phy/phy_sr.h"
#include "modules/phy/phy_uplink.h"

#define PHY_SIDES 2
#define PHY_UES 0 /**< with a gNB: the side of its UEs */
#define PHY_GNB 1 /**< its own side */
#define PHY_CARRIERS_MAX 8
#define PHY_TB_SIZES_MAX 16
#define PHY_SLOTS_FOREVER UINT64_MAX

struct phy_carrier_cfg {
	uint32_t tb_bytes[PHY_TB_SIZES_MAX]; /**< granted in turn, slot by slot; 0: no grant */
	uint8_t nb_tb_bytes;                 /**< 1..PHY_TB_SIZES_MAX */
};

struct phy_side_cfg {
	uint8_t src[6]; /**< own MAC address */
	uint8_t dst[6]; /**< the stack's */
	bool downlink;  /**< the stack is a gNB: grants are DL_TTI.requests */
};

/** What happens on the air. Probabilities are 0..1 and drawn once a TB (frame_loss: a frame). */
struct phy_impair {
	double tb_loss;
	double frame_loss; /**< single nFAPI segments: an error of the fronthaul, not of the air */
	double duplicate;  /**< the TB arrives twice */
	double reorder;    /**< the TB changes places with the next of its carrier */
	uint64_t delay_ns;
	uint64_t jitter_ns;    /**< uniform, on top of the delay */
	double bit_error_rate; /**< 0..0.5, in the TB's bytes */
};

struct phy_cfg {
	uint8_t numerology; /**< 0..4: slots of 1 ms >> numerology */
	uint8_t carriers;   /**< 1..PHY_CARRIERS_MAX; PHY ID 0.. on the wire */
	struct phy_carrier_cfg carrier[PHY_CARRIERS_MAX];
	uint16_t rnti;      /**< of the UE that is granted, 0: 0x4601 */
	bool cross_connect; /**< two sides, else one */
	/**
	 * Side 1 is a gNB: it is told of slots and carriers' tb_bytes are what it may ask for; side
	 * 0 are its UEs. Of `harq`, whether it is on and soft_loss count, for the uplink; without
	 * grant_on_sr.
	 */
	bool gnb;
	uint32_t nb_ues; /**< with gnb: UEs, whose RNTIs begin at `rnti`; 0: 1 */
	uint32_t ahead;  /**< with gnb: slots from its indication to that of the UEs */
	struct phy_side_cfg side[PHY_SIDES];
	struct phy_impair impair;       /**< same for both directions */
	struct phy_harq_cfg harq;       /**< of uplink grants */
	double dl_soft_loss;            /**< with gnb: soft_loss of its downlink */
	double feedback_loss;           /**< with gnb: HARQ feedback that is not detected */
	struct phy_channel_cfg channel; /**< with gnb */
	bool grant_on_sr;               /**< grants nothing until SR and BSRs say that data waits */
	uint64_t seed;                  /**< of the draws */
	uint16_t ethertype;             /**< 0: NFAPI_ETHERTYPE */
	uint32_t frame_bytes;           /**< largest frame sent, 0: FAPI_FRAME_BYTES */
	uint32_t hold_frames;           /**< most frames under delay, a power of two, 0: 16384 */
	bool stepped;                   /**< slots only come when phy_step() says so */
	uint64_t slots;                 /**< the clock stops after so many, 0: never */
	struct rte_mempool *pool;       /**< its own frames; room for frame_bytes each */
};

struct phy {
	struct phy_cfg cfg;     /**< constant, defaults filled in */
	_Atomic uint64_t t0_ns; /**< when slot 0 began on all sides, 0: not yet */
	_Atomic uint64_t steps; /**< stepped: slots allowed so far. control: rw, workers: ro */
	_Atomic uint64_t limit; /**< slots after which the clock stands. control: rw, workers: ro */
	/** TB size granted from now on, 0: as configured. control: rw, workers: ro */
	_Atomic uint32_t tb_bytes[PHY_CARRIERS_MAX];
	struct phy_slot slot[PHY_SIDES]; /**< owner: the phy_slot node of the side */
	struct phy_path path[PHY_SIDES]; /**< owner: the phy_loop node where frames come in */
	struct phy_harq harq[PHY_SIDES]; /**< between these two of a side */
	struct phy_sr sr[PHY_SIDES];     /**< owner: the phy_loop node where frames come in */
	struct phy_requests *requests;   /**< of a gNB; NULL without one */
	struct phy_uplink uplink;        /**< of a gNB */
	struct phy_downlink downlink;    /**< of a gNB */
	struct phy_channel channel;      /**< of a gNB's UEs */
};

/**
 * Control thread.
 * @param p zeroed, cache-line aligned
 * @return 0, -EINVAL for a value out of range, -ENOMEM
 */
int phy_init(struct phy *p, const struct phy_cfg *cfg);

/** Frees what is held. Workers have stopped. */
void phy_fini(struct phy *p);

/** Stepped: lets `slots` more slots come. Control thread. */
void phy_step(struct phy *p, uint64_t slots);

/** The clock stands after `slots` more slots. Control thread. */
void phy_stop_after(struct phy *p, uint64_t slots);

/** Grants TBs of `bytes` on `carrier` from the next slot on; 0: as configured. Any thread. */
void phy_set_tb(struct phy *p, uint8_t carrier, uint32_t bytes);

/** @return the side where a TB from `side` leaves; phy_loop's edge. */
static inline uint32_t
phy_egress(const struct phy *p, uint32_t side)
{
	return p->cfg.cross_connect ? !side : side;
}

#endif
