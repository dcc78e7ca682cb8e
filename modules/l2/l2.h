/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_L2_H
#define AIRPATH_MODULES_L2_H

/**
 * The L2 stack of one role (UE or gNB): every entity, indexed by bearer.
 *
 * It is the `role` object of the protocol nodes. Control builds it before the walk
 * and takes it down after; in between, each array belongs to the lcore that runs
 * the node of that protocol and direction, and nobody else writes there.
 * A bearer index is unique in the role, over all its UEs: those of UE u are
 * u × bearers of a UE and on. UEs of a role have the same bearers.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/queue.h"
#include "modules/l2/l2_addresses.h"
#include "modules/l2/slot_box.h"

#define L2_CARRIERS_MAX 8
#define L2_LCID_MAX 32 /**< DRB and SRB LCIDs, TS 38.321 table 6.2.1-1 */
#define L2_NO_BEARER UINT32_MAX
#define L2_UES_MAX 1024
#define L2_NO_UE UINT32_MAX

struct ap_node;
struct rte_ring;
struct sdap;
struct pdcp_tx;
struct pdcp_rx;
struct rlc_tx;
struct rlc_rx;
struct mac_tx;
struct mac_rx;
struct mac_cell;
struct fapi_tx;
struct fapi_rx;

/** Direction of a PDU on the air: BEARER/DIRECTION of TS 33.501 annex D, LCID tables of TS 38.321.
 */
enum l2_direction {
	L2_UPLINK = 0,
	L2_DOWNLINK = 1,
};

/** mbuf pools; all thread-safe. */
struct l2_pools {
	struct rte_mempool *user; /**< port pool toward the user network */
	struct rte_mempool *phy;  /**< port pool toward the PHY: one whole frame each */
	struct rte_mempool
		*proto; /**< protocol pool: user packets (uplink), TB fragments (downlink) */
	struct rte_mempool *hdr;  /**< header-only segments: 128 B room behind 128 B headroom */
	struct rte_mempool *ind;  /**< indirect mbufs, no data room */
	struct rte_mempool *pdcp; /**< where secured PDUs go that cannot stay in their buffer; NULL
				     without security */
};

struct l2 {
	uint32_t nb_ues; /**< 0 stands for 1 */
	uint32_t nb_bearers;
	uint16_t *ue_of_bearer; /**< [nb_bearers] where there are several UEs */
	uint32_t nb_carriers;
	enum l2_direction tx_direction; /**< UE: uplink; gNB: downlink */
	enum l2_direction rx_direction; /**< UE: downlink; in a loopback uplink, for it plays the
					   gNB's receiver */
	uint16_t rnti;                  /**< C-RNTI of UE 0; those of the others follow it */
	struct l2_pools pools;
	struct l2_addresses addresses; /**< several UEs: whose a user packet is */
	bool mapped; /**< user packets come with bearer and QoS flow: meta.bearer; meta.qfi is
			RQI << 6 | QFI */

	struct sdap *sdap; /**< [nb_ues] mapping both ways; tx part and rx part are apart inside */
	struct pdcp_tx *pdcp_tx; /**< [nb_bearers] owner: pdcp_tx node */
	struct rlc_tx *rlc_tx; /**< [nb_bearers] push side: rlc_tx node; pull side: mac_slot node */
	struct mac_tx *mac_tx; /**< [nb_ues] owner: mac_slot node */
	struct mac_cell
		*cell; /**< a gNB's scheduler; owner: mac_sched node, in place of mac_slot */
	struct fapi_tx *fapi_tx; /**< [nb_carriers] owner: the fapi_tx node of the carrier */

	struct fapi_rx *fapi_rx; /**< owner: fapi_rx node */
	struct mac_rx *mac_rx;   /**< [nb_ues] owner: mac_demux node */
	struct rlc_rx *rlc_rx;   /**< [nb_bearers] owner: rlc_rx node */
	struct pdcp_rx *pdcp_rx; /**< [nb_bearers] owner: pdcp_rx node */

	uint64_t slots_served;     /**< mac_slot: rw, control: ro */
	struct slot_box slots;     /**< fapi_rx → mac_slot */
	struct ap_node *slot_node; /**< mac_slot, woken by fapi_rx; NULL before the walk */
	struct rte_ring *reports; /**< pdcp_rx → mac_slot: PDCP status reports; NULL: not wanted */
};

static inline uint32_t
l2_ues(const struct l2 *l2)
{
	return l2->nb_ues ? l2->nb_ues : 1;
}

/** Where there are several UEs. @return UE 0 for a bearer of nobody, who does not have it either.
 */
static inline uint32_t
l2_ue_of_bearer(const struct l2 *l2, uint32_t bearer)
{
	return bearer < l2->nb_bearers ? l2->ue_of_bearer[bearer] : 0;
}

/** The UE of a role that has an RNTI. @return L2_NO_UE for one of nobody here. */
static inline uint32_t
l2_ue_of_rnti(const struct l2 *l2, uint16_t rnti)
{
	const uint16_t ue = (uint16_t)(rnti - l2->rnti);

	return ue < l2->nb_ues ? ue : L2_NO_UE;
}

#endif
