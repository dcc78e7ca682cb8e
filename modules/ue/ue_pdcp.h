/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_UE_PDCP_H
#define AIRPATH_MODULES_UE_PDCP_H

/**
 * PDCP's procedures of one bearer over all its lcores, which run on meanwhile as far as
 * they can. Control thread; 0 or -errno, -ETIMEDOUT when an lcore does not come by.
 */

#include "modules/pdcp/pdcp_control.h"
#include "modules/ue/ue.h"

/** A bearer and the nodes its directions run on. */
struct ue_bearer {
	struct ue *ue;
	const struct ap_cfg_bearer *cfg;
	uint32_t index;
	struct ap_plan_node *pdcp_rx, *rlc_rx, *pdcp_tx, *rlc_tx, *mac_slot;
	/* what the procedure is to do, and what came of it */
	struct pdcp_keys rx_keys, tx_keys;
	char key_enc[40], key_int[40]; /**< hexadecimal; empty: the old ones stay */
	bool recover;
	bool renew;
	uint32_t count; /**< of the next SDU sent, with renew */
	int rc;
	struct pdcp_resubmitted r;
};

/** Fills in a bearer of a stack, by its index, and the nodes it runs on. */
void ue_bearer_find(struct ue_bearer *b, const struct ap_plan *plan, struct ue *ue, uint32_t index);

/** By the RLC mode. */
enum pdcp_drb_mode ue_pdcp_mode(const struct ue_bearer *b);

/** Sends a status report; it is in the RLC queue when this returns. */
int ue_pdcp_status(struct ue_bearer *b);

/** Re-establishes PDCP and RLC, both directions, and takes rx_keys and tx_keys into use. */
int ue_pdcp_reestablish(struct ue_bearer *b);

/**
 * Releases the DRB and sets it up anew, both directions: what is under way is dropped by name, SNs
 * begin at 0 and COUNT, of what is sent, at b->count, under rx_keys and tx_keys.
 * @param quiet whether PDUs may be under way to or from the peer: they have 50 ms to come, for of
 * RLC AM none with an old SN may come afterwards
 */
int ue_pdcp_renew(struct ue_bearer *b, bool quiet);

/** Data recovery. */
int ue_pdcp_recover(struct ue_bearer *b);

#endif
