/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_REQUEST_H
#define AIRPATH_MODULES_PHY_REQUEST_H

/**
 * What a gNB asks of its PHY: DL_TTI.requests and UL_TTI.requests, each of one slot and carrier.
 *
 * phy_loop of the gNB's side takes them, and refuses what cannot be. Whose a TB is follows from
 * the request that named its PDU index: downlink TBs come behind their DL_TTI.request; uplink TBs
 * carry slot and PDU index of the grant they use. Uplink grants go on to the UEs by way of the
 * phy_slot node of their side, whose clock runs some slots behind the gNB's.
 *
 * Owners: phy_loop of the gNB's side writes; the UEs' side reads the cells, and takes grants from
 * a single-producer single-consumer ring.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "codec/fapi.h"

#define PHY_REQUEST_SLOTS 128 /**< slots that are known at once, power of two */
#define PHY_REQUEST_CARRIERS 8
#define PHY_REQUEST_WINDOW 120 /**< of these, in which the TBs of a slot may come */
#define PHY_REQUEST_RING 256   /**< UL_TTI.requests under way to the UEs, power of two */

struct phy;

/** Of a slot and carrier: what was asked, and of whom. */
struct phy_request_row {
	uint64_t slot;                       /**< counted without a wrap, plus 1 */
	bool asked[PHY_REQUEST_CARRIERS][2]; /**< by direction: [1] is uplink */
};

/** A PDU of a request. */
struct phy_request_pdu {
	uint32_t tb_bytes;
	uint16_t ue; /**< index, its RNTI less the first one */
	uint8_t process;
	bool new_data;
	uint8_t k1; /**< downlink: slots to its HARQ feedback, 0: none is asked for */
};

/** An UL_TTI.request on its way. */
struct phy_ul_tti {
	uint64_t slot; /**< counted without a wrap */
	uint8_t carrier;
	uint8_t nb;
	struct fapi_grant grant[FAPI_TTI_PDUS_MAX];
};

struct phy_requests {
	/* phy_loop of the gNB's side: rw, control: ro */
	uint64_t dl_pdus; /**< TBs announced */
	uint64_t ul_pdus; /**< TBs granted */
	uint64_t refused; /**< requests */
	struct phy_request_row row[PHY_REQUEST_SLOTS];
	_Atomic uint32_t head;
	/** The newest refusal that its gNB was not told of: 0 or SFN, slot, message and code. */
	_Atomic uint64_t error;
	/* phy_slot of the UEs' side: rw, control: ro */
	_Atomic uint32_t tail __rte_cache_aligned;
	uint64_t late; /**< grants that came behind their slot */
	struct phy_ul_tti ring[PHY_REQUEST_RING];
	/**
	 * By direction, slot, carrier and PDU index: who, how much, and whether its TB has come.
	 * 0: nobody. Uplink, phy_slot of the gNB's side closes those whose TB does not come.
	 */
	_Atomic uint64_t cell[2][PHY_REQUEST_SLOTS][PHY_REQUEST_CARRIERS][FAPI_TTI_PDUS_MAX];
};

/** @return NULL when out of memory. */
struct phy_requests *phy_requests_create(void);
void phy_requests_destroy(struct phy_requests *r);

/**
 * Takes the body of a UL_TTI.request or DL_TTI.request.
 * @return -1, or an enum phy_loop_drop
 */
int phy_request_take(struct phy *p, bool uplink, uint8_t carrier, const uint8_t *body, size_t len);

/**
 * A TB of TX_Data.request: was it announced (downlink) or granted (uplink)? Each PDU once.
 * @return -1, or an enum phy_loop_drop
 */
int phy_request_tb(struct phy *p, bool uplink, uint8_t carrier, struct fapi_slot at,
		   const struct fapi_tx_pdu *pdu);

/** What the request said of a TB that phy_request_tb() let pass. */
struct phy_request_pdu phy_request_pdu(const struct phy *p, bool uplink, uint8_t carrier,
				       struct fapi_slot at, uint16_t index);

/**
 * phy_slot of the gNB's side: closes an uplink PDU whose TB has not come, unless it has.
 * @return whether there was such a PDU
 */
bool phy_request_close(struct phy *p, uint8_t carrier, struct fapi_slot at, uint16_t index,
		       struct phy_request_pdu *pdu);

/**
 * phy_slot of the UEs' side: the grants of `slot`, by carrier, NULL where there is none. They stay
 * until phy_request_done().
 */
void phy_request_grants(struct phy *p, uint64_t slot,
			const struct phy_ul_tti *out[PHY_REQUEST_CARRIERS]);
void phy_request_done(struct phy *p, uint64_t slot);

/** phy_slot of the UEs' side: the first slot from `next` that has grants, `until` if none before.
 */
uint64_t phy_request_next(struct phy *p, uint64_t next, uint64_t until);

/** phy_slot of the gNB's side: what it was refused since. @return false for nothing. */
bool phy_request_error(struct phy *p, struct fapi_error *e);

#endif
