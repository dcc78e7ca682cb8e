/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Procedures of one bearer over all its lcores, as RRC asks for them; here telemetry does:
 *   /airpath/pdcp/status,UE,DRB        send a status report
 *   /airpath/pdcp/recover,UE,DRB       data recovery, TS 38.323 §5.5
 *   /airpath/pdcp/reestablish,UE,DRB   re-establishment of PDCP and RLC, §5.1.2
 *   /airpath/pdcp/state,UE,DRB         state variables
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>
#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/mac/mac_tx.h"
#include "modules/pdcp/pdcp_control.h"
#include "modules/rlc/rlc_control.h"
#include "modules/ue/ue.h"

#define DRAIN_NS (2 * AP_NS_PER_S)

/** A bearer and the nodes its directions run on. */
struct bearer {
	struct ue *ue;
	const struct ap_cfg_bearer *cfg;
	uint32_t index;
	struct ap_plan_node *pdcp_rx, *rlc_rx, *pdcp_tx, *rlc_tx, *mac_slot;
	/* what the procedure is to do, and what came of it */
	struct pdcp_keys rx_keys, tx_keys;
	bool recover;
	int rc;
	struct pdcp_resubmitted r;
};

static struct ap_plan_node *
node_of(const struct ap_run *run, const struct ue *ue, const char *node)
{
	char name[AP_NAME_LEN];

	snprintf(name, sizeof(name), "%.32s.%s", ue->cfg->name, node);
	return ap_plan_find(run->plan, name);
}

/** Parses `UE,DRB`. @return 0, -EINVAL or -ENOENT. */
static int
find(const struct ap_run *run, const char *params, struct bearer *b)
{
	char ue[40];
	unsigned drb;
	int end = 0;

	*b = (struct bearer){0};
	if (params == NULL || sscanf(params, "%39[^,],%u%n", ue, &drb, &end) != 2 ||
	    params[end] != '\0')
		return -EINVAL;
	for (unsigned i = 0; i < run->cfg->ue_count; i++)
		if (strcmp(run->cfg->ue[i].name, ue) == 0)
			b->ue = ap_run_role(run, "ue", i);
	for (uint32_t i = 0; b->ue && i < b->ue->cfg->bearers_count; i++)
		if (b->ue->cfg->bearers[i].id == drb) {
			b->cfg = &b->ue->cfg->bearers[i];
			b->index = i;
		}
	if (b->cfg == NULL)
		return -ENOENT;
	b->pdcp_rx = node_of(run, b->ue, "pdcp_rx");
	b->rlc_rx = node_of(run, b->ue, "rlc_rx");
	b->pdcp_tx = node_of(run, b->ue, "pdcp_tx");
	b->rlc_tx = node_of(run, b->ue, "rlc_tx");
	b->mac_slot = node_of(run, b->ue, "mac_slot");
	return 0;
}

static enum pdcp_drb_mode
mode_of(const struct bearer *b)
{
	return b->cfg->rlc.mode == AP_RLC_AM ? PDCP_DRB_AM : PDCP_DRB_UM;
}

static void
nothing(struct ap_worker *w, void *arg)
{
	(void)w;
	(void)arg;
}

/** Waits until nothing is on the way from one node to the next; `from` has stopped sending. */
static int
drained(const struct ap_plan_node *from, uint8_t edge, const struct ap_plan_node *to)
{
	const struct ap_cut *cut = from->links[edge].cut;
	uint64_t give_up = ap_clock_ns() + DRAIN_NS;

	if (cut == NULL)
		return 0;
	while (!rte_ring_empty(cut->ring)) {
		if (ap_clock_ns() > give_up)
			return -ETIMEDOUT;
		rte_delay_us_sleep(20);
	}
	/* What was in the ring is handled when the walk is over. */
	return ap_worker_run(to->inst->worker, nothing, NULL);
}

static void
rx_on_worker(struct ap_worker *w, void *arg)
{
	struct bearer *b = arg;

	(void)w;
	pdcp_rx_node_reestablish(b->pdcp_rx->inst, b->index, mode_of(b), &b->rx_keys);
}

static void
rlc_rx_on_worker(struct ap_worker *w, void *arg)
{
	struct bearer *b = arg;
	struct rlc_rx_counts c = {.drops = b->rlc_rx->inst->drops};

	(void)w;
	rlc_rx_reestablish(&b->ue->l2.rlc_rx[b->index], &c);
}

/** What RLC delivered before belongs to the old keys: it passes first. */
static int
rx_reestablish(struct bearer *b)
{
	struct ap_worker_hold rlc;
	int rc = ap_worker_hold(b->rlc_rx->inst->worker, &rlc);

	if (rc < 0)
		return rc;
	rc = drained(b->rlc_rx, 0, b->pdcp_rx);
	if (rc == 0)
		rc = ap_worker_run(b->pdcp_rx->inst->worker, rx_on_worker, b);
	if (rc == 0)
		rc = ap_worker_run(b->rlc_rx->inst->worker, rlc_rx_on_worker, b);
	ap_worker_release(&rlc);
	return rc;
}

/** PDUs that do not come back to the queue are made and dropped by mac_slot, as when they time out
 * there. */
static void
tx_on_worker(struct ap_worker *w, void *arg)
{
	struct bearer *b = arg;
	struct pdcp_tx *e = &b->ue->l2.pdcp_tx[b->index];
	struct rlc_tx *rlc = &b->ue->l2.rlc_tx[b->index];

	(void)w;
	b->rc = b->recover ? pdcp_tx_recover(e, rlc, &b->r)
			   : pdcp_tx_reestablish(e, rlc, mode_of(b), &b->tx_keys, &b->r);
	mac_slot_node_reestablished(b->mac_slot->inst, b->r.taken - b->r.again);
}

/** Everything between PDCP's SN and MAC's pull stands. */
static int
tx_procedure(struct bearer *b)
{
	struct ap_worker *w[] = {b->pdcp_tx->inst->worker, b->rlc_tx->inst->worker,
				 b->mac_slot->inst->worker};
	struct ap_worker_hold holds[RTE_DIM(w)];
	unsigned nb = 0;
	int rc = 0;

	for (unsigned i = 0; i < RTE_DIM(w) && rc == 0; i++) {
		if ((i > 0 && w[i] == w[0]) || (i > 1 && w[i] == w[1]))
			continue;
		if (i > 0)
			rc = drained(b->pdcp_tx, 0, b->rlc_tx);
		if (rc == 0)
			rc = ap_worker_hold(w[i], &holds[nb]);
		nb += rc == 0;
	}
	if (rc == 0)
		rc = ap_worker_run(w[0], tx_on_worker, b);
	while (nb > 0)
		ap_worker_release(&holds[--nb]);
	return rc < 0 ? rc : b->rc;
}

static void
status_on_worker(struct ap_worker *w, void *arg)
{
	struct bearer *b = arg;

	(void)w;
	b->rc = pdcp_rx_node_status(b->pdcp_rx->inst, b->index);
}

/** Comes to the RLC queue before this returns: "the first PDCP PDU for the transmission". */
static int
send_status(struct bearer *b)
{
	int rc = ap_worker_run(b->pdcp_rx->inst->worker, status_on_worker, b);

	if (rc == 0)
		rc = ap_worker_run(b->pdcp_rx->inst->worker, nothing, NULL);
	return rc < 0 ? rc : b->rc ? b->rc : drained(b->pdcp_rx, 1, b->pdcp_tx);
}

static int
tell(struct bearer *b, int rc, struct rte_tel_data *d)
{
	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "ue", b->ue->cfg->name);
	rte_tel_data_add_dict_int(d, "drb", (int)b->cfg->id);
	rte_tel_data_add_dict_u64(d, "taken_back", b->r.taken);
	rte_tel_data_add_dict_u64(d, "sent_again", b->r.again);
	return 0;
}

static int
status(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct bearer b;
	int rc = find(run, params, &b);

	return tell(&b, rc < 0 ? rc : send_status(&b), d);
}

static int
recover(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct bearer b;
	int rc = find(run, params, &b);

	if (rc == 0 && b.cfg->pdcp.status_report)
		rc = send_status(&b);
	b.recover = true;
	return tell(&b, rc < 0 ? rc : tx_procedure(&b), d);
}

static int
reestablish(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct bearer b;
	int rc = find(run, params, &b);

	if (rc == 0) {
		const struct pdcp_security *rx = &b.ue->l2.pdcp_rx[b.index].sec;
		const struct pdcp_security *tx = &b.ue->l2.pdcp_tx[b.index].sec;

		b.rx_keys = (struct pdcp_keys){rx->crypto, rx->keys};
		b.tx_keys = (struct pdcp_keys){tx->crypto, tx->keys};
		/* A COUNT is never used twice with a key (§5.8). */
		if (mode_of(&b) == PDCP_DRB_UM && (rx->crypto || tx->crypto))
			rc = -EINVAL;
	}
	if (rc == 0)
		rc = rx_reestablish(&b);
	if (rc == 0 && b.cfg->pdcp.status_report)
		rc = send_status(&b);
	return tell(&b, rc < 0 ? rc : tx_procedure(&b), d);
}

static int
state(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	const struct pdcp_tx *tx;
	const struct pdcp_rx *rx;
	struct bearer b;
	int rc = find(run, params, &b);

	if (rc < 0)
		return rc;
	tx = &b.ue->l2.pdcp_tx[b.index];
	rx = &b.ue->l2.pdcp_rx[b.index];
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "TX_NEXT", tx->TX_NEXT);
	rte_tel_data_add_dict_u64(d, "RX_NEXT", rx->RX_NEXT);
	rte_tel_data_add_dict_u64(d, "RX_DELIV", rx->RX_DELIV);
	rte_tel_data_add_dict_u64(d, "RX_REORD", rx->RX_REORD);
	rte_tel_data_add_dict_u64(d, "reordering", rx->held);
	rte_tel_data_add_dict_u64(d, "status_reports_received", rx->status_reports);
	return 0;
}

RTE_INIT(ue_pdcp_commands)
{
	ap_telemetry_add("/airpath/pdcp/status", status, "Send a PDCP status report: UE,DRB.");
	ap_telemetry_add("/airpath/pdcp/recover", recover, "PDCP data recovery: UE,DRB.");
	ap_telemetry_add("/airpath/pdcp/reestablish", reestablish,
			 "Re-establish PDCP and RLC: UE,DRB.");
	ap_telemetry_add("/airpath/pdcp/state", state, "PDCP state variables: UE,DRB.");
}
