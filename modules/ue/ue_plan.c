/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Nodes of role `ue`:
 *
 *   up:   user_rx → [copy_ul_in] → sdap_tx → pdcp_tx → rlc_tx ⇥ mac_slot →
 *         mac_build_faN → fapi_tx_faN → phy_tx
 *   down: phy_rx → fapi_rx → mac_demux → rlc_rx → pdcp_rx → sdap_rx →
 *         [copy_dl_out] → user_tx
 *
 * A gNB's has mac_sched in place of mac_slot; its user network lies beyond. Without user_port the
 * chain up begins at copy_ul_in, and that down ends at copy_dl_out: the role goes on from there.
 *
 * and pdcp_rx → pdcp_tx for PDCP status reports, mac_slot → phy_tx for scheduling requests.
 *
 * The copy nodes stand in the chain whatever `copy` says; with `none` they hand on what comes.
 * The third copy of S0's four, downlink in, is made inside fapi_rx; the fourth is mac_build's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "modules/mac/mac_tx.h"
#include "modules/rlc/rlc_tx.h"
#include "modules/ue/ue.h"

#define EDGE_STATUS 1 /* of pdcp_rx: PDCP status reports */
#define EDGE_REPLY 1  /* of port_rx: answers to ARP and neighbour solicitations */

/** Adds a node behind `*last` and moves `*last` on; stops at the first error. */
static void
chain(struct ap_plan *p, const char *role, const char *node, const char *type, const char *port,
      struct ap_plan_node **last, struct ap_error *err)
{
	struct ap_plan_node *n;

	if (err->text[0] != '\0')
		return;
	n = port ? ap_plan_add_port(p, role, node, type, port, err)
		 : ap_plan_add(p, role, node, type, 0, err);
	if (n && *last)
		ap_plan_link(*last, 0, n);
	*last = n;
}

static int
plan_carriers(struct ap_plan *p, const struct ap_cfg_ue *ue, struct ap_plan_node *slot,
	      struct ap_plan_node *tx, struct ap_error *err)
{
	for (uint32_t c = 0; c < ue->carriers; c++) {
		struct ap_plan_node *build, *fapi = NULL;
		char name[32];

		snprintf(name, sizeof(name), "mac_build_fa%u", c);
		build = ap_plan_add(p, ue->name, name, "mac_build", c, err);
		snprintf(name, sizeof(name), "fapi_tx_fa%u", c);
		if (build)
			fapi = ap_plan_add(p, ue->name, name, "fapi_tx", c, err);
		if (fapi == NULL)
			return -EINVAL;
		ap_plan_link(slot, (uint8_t)c, build);
		ap_plan_link(build, 0, fapi);
		ap_plan_link(fapi, 0, tx);
	}
	return 0;
}

/** SDUs between rlc_tx, which has let them go, and mac_slot. */
static uint64_t
queued(const struct ap_node *rlc_tx)
{
	const struct l2 *l2 = rlc_tx->role;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l2->nb_bearers; i++)
		sum += rlc_tx_held(&l2->rlc_tx[i]);
	return sum;
}

int
ue_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	return ue_stack_plan(p, &p->cfg->ue[i], "mac_slot", err);
}

int
ue_stack_plan(struct ap_plan *p, const struct ap_cfg_ue *ue, const char *slot_type,
	      struct ap_error *err)
{
	struct ap_plan_node *up = NULL, *down = NULL, *slot, *phy_tx, *user_rx, *pdcp_tx, *rlc_tx;
	const bool user = ue->user_port != NULL;

	if (user)
		chain(p, ue->name, "user_rx", "port_rx", ue->user_port, &up, err);
	user_rx = up;
	chain(p, ue->name, "copy_ul_in", "copy", NULL, &up, err);
	chain(p, ue->name, "sdap_tx", "sdap_tx", NULL, &up, err);
	chain(p, ue->name, "pdcp_tx", "pdcp_tx", NULL, &up, err);
	pdcp_tx = up;
	chain(p, ue->name, "rlc_tx", "rlc_tx", NULL, &up, err);
	rlc_tx = up;

	chain(p, ue->name, "phy_rx", "port_rx", ue->phy_port, &down, err);
	chain(p, ue->name, "fapi_rx", "fapi_rx", NULL, &down, err);
	chain(p, ue->name, "mac_demux", "mac_demux", NULL, &down, err);
	chain(p, ue->name, "rlc_rx", "rlc_rx", NULL, &down, err);
	chain(p, ue->name, "pdcp_rx", "pdcp_rx", NULL, &down, err);
	if (down && pdcp_tx)
		ap_plan_link(down, EDGE_STATUS, pdcp_tx);
	chain(p, ue->name, "sdap_rx", "sdap_rx", NULL, &down, err);
	chain(p, ue->name, "copy_dl_out", "copy", NULL, &down, err);
	if (user)
		chain(p, ue->name, "user_tx", "port_tx", ue->user_port, &down, err);
	if (err->text[0] != '\0')
		return -EINVAL;
	if (user && user_rx->port->proxy_neigh)
		ap_plan_link(user_rx, EDGE_REPLY, down);

	slot = ap_plan_add(p, ue->name, slot_type, slot_type, 0, err);
	phy_tx =
		slot ? ap_plan_add_port(p, ue->name, "phy_tx", "port_tx", ue->phy_port, err) : NULL;
	if (phy_tx == NULL || plan_carriers(p, ue, slot, phy_tx, err) < 0)
		return -EINVAL;
	if (ue->sr.trans_max || strcmp(slot_type, "mac_slot") != 0)
		ap_plan_link(slot, MAC_SLOT_EDGE_SR, phy_tx);
	if (phy_tx->port->framing != AP_FRAMING_RAW ||
	    (user && user_rx->port->framing == AP_FRAMING_RAW))
		return ap_config_bad(
			p->cfg,
			phy_tx->port->framing != AP_FRAMING_RAW ? &phy_tx->port->framing
								: &user_rx->port->framing,
			err,
			"%s %s: the PHY port's framing must be raw, the user port's ethernet or ip",
			ue->kind, ue->name);
	return ap_plan_queue(p, &(struct ap_plan_queue){rlc_tx, slot, "RLC queues", queued});
}
