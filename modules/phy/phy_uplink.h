/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_UPLINK_H
#define AIRPATH_MODULES_PHY_UPLINK_H

/**
 * The receiver of a gNB's uplink: which TBs decode, and CRC.indication (SCF 222 table 3-62) for
 * every PUSCH that was granted.
 *
 * A transmission fails with probability soft_loss^k, where k of its TB have been combined, given
 * that it failed before. With HARQ, a PDU with the NDI of the one before is the same TB again; one
 * that had decoded is told of again and not given on. A PUSCH whose TB has not come when the gNB's
 * clock is PHY_REQUEST_WINDOW slots on has failed, without an SNR: nothing was received.
 *
 * Owners: phy_loop of the UEs' side receives; phy_slot of the gNB's side looks for what is missing.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "codec/fapi.h"
#include "modules/phy/phy_harq.h"
#include "modules/phy/phy_request.h"

struct phy;

/** What is known of a UE's HARQ process on a carrier. */
struct phy_uplink_soft {
	bool known;
	bool new_data; /**< NDI of the TB in the soft buffer */
	bool decoded;
	uint8_t combined; /**< transmissions in it */
};

/** Of one TB, to be told. */
struct phy_uplink_crc {
	struct fapi_slot at;
	uint8_t carrier;
	struct fapi_crc crc;
};

struct phy_uplink {
	/* phy_loop of the UEs' side: rw, control: ro */
	uint64_t received;
	uint64_t failed; /**< TBs received that did not decode */
	uint64_t again;  /**< TBs received that had been decoded */
	uint8_t sequence;
	struct phy_uplink_soft *soft; /**< [ue][carrier][process]; NULL: no HARQ */
	/* phy_slot of the gNB's side: rw, control: ro */
	uint64_t missing __rte_cache_aligned; /**< grants that brought no TB */
	uint64_t looked;                      /**< slots before this one have been looked at */
	/* constant */
	uint64_t odds[PHY_HARQ_TX_MAX]; /**< of failing, by transmissions combined, less 1 */
};

/** `p->cfg` is valid. @return 0 or -ENOMEM. */
int phy_uplink_init(struct phy *p);
void phy_uplink_fini(struct phy *p);

/** A TB has come that phy_request_tb() let pass. @param[out] c what the gNB is told */
enum phy_harq_verdict phy_uplink_receive(struct phy *p, uint8_t carrier, struct fapi_slot at,
					 uint16_t index, struct phy_rng *rng,
					 struct phy_uplink_crc *c);

/**
 * CRC.indications of a burst, a message for each run of one slot and carrier.
 * @param out room for nb frames
 * @param[out] lost messages for which there was no mbuf
 * @return frames
 */
uint16_t phy_uplink_tell(struct phy *p, const struct phy_uplink_crc *c, uint16_t nb,
			 uint64_t now_ns, struct rte_mbuf **out, uint64_t *lost);

/**
 * phy_slot of the gNB's side, once a slot: TBs of the oldest slot that have not come in time.
 * @param[out] at the slot
 * @param[out] c what the gNB is told, by carrier
 * @param[out] nb how many of each
 * @return carriers that have any
 */
uint16_t phy_uplink_missing(struct phy *p, struct fapi_slot *at,
			    struct fapi_crc c[PHY_REQUEST_CARRIERS][FAPI_CRCS_MAX],
			    uint8_t nb[PHY_REQUEST_CARRIERS]);

#endif
