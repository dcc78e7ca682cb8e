/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_PATH_H
#define AIRPATH_MODULES_PHY_PATH_H

/**
 * The air between two antennas: segments of TX_Data.request become segments of
 * RX_Data.indication, each in a buffer of the PHY's own.
 *
 * Nothing is reassembled. A TB is known by carrier and sequence number; what becomes of it is
 * drawn when its first segment comes. TBs are numbered anew as they leave, so that a lost,
 * repeated or overtaken TB is an event on the air and not an error of the fronthaul.
 *
 * Owner: the phy_loop node of the side the frames come from.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/nfapi.h"
#include "modules/phy/phy_delay.h"
#include "modules/phy/phy_rng.h"

#define PHY_BURST 32            /**< frames taken at once */
#define PHY_TBS 8               /**< TBs of a carrier whose segments may mix, power of two */
#define PHY_EXITS 64            /**< TBs of a carrier that may leave mixed, power of two */
#define PHY_SWAP_NS 10000000ULL /**< a TB waits so long at most for the one to overtake it */
/** Frames one call can give back: those held, copies and twins, CRC.indications. */
#define PHY_OUT_MAX (8 * NFAPI_SEGMENTS_MAX + 3 * PHY_BURST)

enum phy_loop_drop {
	PHY_NOT_FAPI,   /**< another EtherType */
	PHY_SHORT,      /**< ends inside the headers */
	PHY_BAD_LENGTH, /**< message length unlike the frame */
	PHY_UNKNOWN_CARRIER,
	PHY_UNKNOWN_MESSAGE, /**< anything but TX_Data.request, a UE's SR.request, a gNB's TTIs */
	PHY_BAD_BODY,        /**< TX_Data.request that is not one whole TB, other broken request */
	PHY_TOO_LONG,        /**< longer than the PHY's frames */
	PHY_TB_LOSS,         /**< TB lost on purpose */
	PHY_FRAME_LOSS,      /**< frame lost on purpose */
	PHY_NO_MBUF,         /**< pool exhausted */
	PHY_HOLD_FULL,       /**< too many frames under delay */
	PHY_SOFT_LOSS,       /**< HARQ: TB did not decode */
	PHY_HARQ_REPEAT,     /**< HARQ: TB had been decoded already */
	PHY_UNKNOWN_RNTI,    /**< SR of, or request for, a UE that is not here */
	PHY_LATE,            /**< gNB: request for a slot that is over, or not yet come */
	PHY_TTI_REPEATED,    /**< gNB: second request for a slot, carrier and direction */
	PHY_OVERSUBSCRIBED,  /**< gNB: request for more than the carrier has in a slot */
	PHY_NO_PDU,          /**< gNB: TB that no request has a PDU for, or a second one */
	PHY_TB_SIZE,         /**< gNB: TB of another size than its PDU */
	PHY_LOOP_DROPS,
};

struct phy;

/** A TB on its way in. */
struct phy_tb {
	bool valid;
	uint8_t in_sequence;
	int8_t drop;     /**< enum phy_loop_drop, -1: none */
	uint32_t id;     /**< unique on the path until it wraps */
	uint32_t twin;   /**< id of its duplicate, 0: none */
	uint64_t due_ns; /**< when it arrives at the other antenna, 0: at once */
};

/** A TB on its way out. */
struct phy_exit {
	uint32_t id;
	uint8_t sequence;
};

struct phy_path_carrier {
	struct phy_tb tb[PHY_TBS];       /**< by in_sequence */
	struct phy_exit exit[PHY_EXITS]; /**< by id */
	uint8_t out_sequence;            /**< next */
	bool holding;                    /**< a TB waits for the next one to overtake it */
	uint8_t held_sequence;           /**< its in_sequence */
	uint64_t held_delay_ns;          /**< what it is delayed by then */
	uint64_t held_until_ns;          /**< when it goes even so */
	uint16_t nb_swap;
	struct rte_mbuf *swap[NFAPI_SEGMENTS_MAX]; /**< its frames */
};

struct phy_path_stats {
	uint64_t tb_in;
	uint64_t tb_out;
	uint64_t tb_lost;
	uint64_t tb_duplicated;
	uint64_t tb_reordered;
	uint64_t tb_delayed;
	uint64_t frames_lost;
	uint64_t bits_flipped;
};

struct phy_path {
	struct phy_path_stats stats;
	struct phy_rng rng;
	struct phy_ber ber;
	uint64_t odds_tb_loss;
	uint64_t odds_frame_loss;
	uint64_t odds_duplicate;
	uint64_t odds_reorder;
	uint64_t delay_ns;
	uint64_t jitter_ns;
	uint32_t last_id;
	struct phy_delay delay;
	struct phy_path_carrier carrier[8];

	/* result of the last call */
	uint64_t used; /**< frames that were copied */
	uint64_t made; /**< copies */
	uint16_t nb_out;
	struct rte_mbuf *out[PHY_OUT_MAX]; /**< frames to send */
};

/** Draws of `side` start at the configured seed + side. @return 0 or -ENOMEM. */
int phy_path_init(struct phy *p, uint32_t side);
void phy_path_fini(struct phy_path *path);

/**
 * Takes frames that came in at `side`. What leaves is in path->out, counted in nb_out, used
 * and made, until the next call.
 * @param nb at most PHY_BURST
 * @param drops [PHY_LOOP_DROPS], added to
 */
void phy_path_burst(struct phy *p, uint32_t side, struct rte_mbuf **frames, uint16_t nb,
		    uint64_t now_ns, uint64_t *drops);

/**
 * Gives back frames whose time has come, as phy_path_burst() does.
 * @return true when more may be due at once
 */
bool phy_path_expire(struct phy *p, uint32_t side, uint64_t now_ns, uint64_t *drops);

/** @return when to come again, ns, 0 for never. */
uint64_t phy_path_due(const struct phy_path *path);

/** @return frames kept. */
uint64_t phy_path_held(const struct phy_path *path);

#endif
