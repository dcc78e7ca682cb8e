/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/ue/ue_pdcp.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ring.h>

#include "modules/mac/mac_cell.h"
#include "modules/mac/mac_tx.h"
#include "modules/rlc/rlc_control.h"

/* Procedures hold several lcores each: one at a time. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#define DRAIN_NS (2 * AP_NS_PER_S)
#define QUIET_US 50000 /* more than a PDU takes to the peer's RLC */

static struct ap_plan_node *
node_of(const struct ap_plan *plan, const struct ue *ue, const char *node)
{
	char name[AP_NAME_LEN];

	snprintf(name, sizeof(name), "%.32s.%s", ue->cfg->name, node);
	return ap_plan_find(plan, name);
}

void
ue_bearer_find(struct ue_bearer *b, const struct ap_plan *plan, struct ue *ue, uint32_t index)
{
	b->ue = ue;
	b->cfg = &ue->cfg->bearers[index % ue->cfg->bearers_count];
	b->index = index;
	b->pdcp_rx = node_of(plan, ue, "pdcp_rx");
	b->rlc_rx = node_of(plan, ue, "rlc_rx");
	b->pdcp_tx = node_of(plan, ue, "pdcp_tx");
	b->rlc_tx = node_of(plan, ue, "rlc_tx");
	b->mac_slot = node_of(plan, ue, ue->ul ? "mac_sched" : "mac_slot");
}

enum pdcp_drb_mode
ue_pdcp_mode(const struct ue_bearer *b)
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
	struct ue_bearer *b = arg;

	(void)w;
	/* A UM DRB begins anew as a new one does. */
	pdcp_rx_node_reestablish(b->pdcp_rx->inst, b->index,
				 b->renew ? PDCP_DRB_UM : ue_pdcp_mode(b), &b->rx_keys);
}

static void
rlc_rx_on_worker(struct ap_worker *w, void *arg)
{
	struct ue_bearer *b = arg;
	struct rlc_rx_counts c = {.drops = b->rlc_rx->inst->drops};

	(void)w;
	rlc_rx_reestablish(&b->ue->l2.rlc_rx[b->index], &c);
}

/** What RLC delivered before belongs to the old keys: it passes first. */
static int
rx_reestablish(struct ue_bearer *b)
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
	struct ue_bearer *b = arg;
	struct pdcp_tx *e = &b->ue->l2.pdcp_tx[b->index];
	struct rlc_tx *rlc = &b->ue->l2.rlc_tx[b->index];

	(void)w;
	b->rc = 0;
	if (b->renew && b->ue->l2.cell)
		mac_cell_reset(b->ue->l2.cell, b->index / b->ue->cfg->bearers_count);
	if (b->renew)
		pdcp_tx_renew(e, rlc, &b->tx_keys, b->count, &b->r);
	else if (b->recover)
		b->rc = pdcp_tx_recover(e, rlc, &b->r);
	else
		b->rc = pdcp_tx_reestablish(e, rlc, ue_pdcp_mode(b), &b->tx_keys, &b->r);
	mac_slot_node_reestablished(b->mac_slot->inst, b->r.taken - b->r.again);
}

/** Everything between PDCP's SN and MAC's pull stands. */
static int
tx_procedure(struct ue_bearer *b)
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
	struct ue_bearer *b = arg;

	(void)w;
	b->rc = pdcp_rx_node_status(b->pdcp_rx->inst, b->index);
}

/** Comes to the RLC queue before this returns: "the first PDCP PDU for the transmission". */
int
ue_pdcp_status(struct ue_bearer *b)
{
	int rc = ap_worker_run(b->pdcp_rx->inst->worker, status_on_worker, b);

	if (rc == 0)
		rc = ap_worker_run(b->pdcp_rx->inst->worker, nothing, NULL);
	return rc < 0 ? rc : b->rc ? b->rc : drained(b->pdcp_rx, 1, b->pdcp_tx);
}

/**
 * The SNs of an AM entity begin anew at both ends, so nothing sent with old ones may come
 * afterwards. In a network the MAC is reset with it (TS 38.331 §5.3.5.5).
 */
static void
quiet(struct ue_bearer *b)
{
	if (ue_pdcp_mode(b) != PDCP_DRB_AM)
		return;
	rlc_tx_suspend(&b->ue->l2.rlc_tx[b->index], true);
	rte_delay_us_sleep(QUIET_US);
}

/** The end of a procedure, which took its turn. */
static int
resume(struct ue_bearer *b, int rc)
{
	rlc_tx_suspend(&b->ue->l2.rlc_tx[b->index], false);
	pthread_mutex_unlock(&turn);
	return rc;
}

int
ue_pdcp_reestablish(struct ue_bearer *b)
{
	int rc;

	pthread_mutex_lock(&turn);
	quiet(b);
	rc = rx_reestablish(b);
	if (rc == 0 && b->cfg->pdcp.status_report)
		rc = ue_pdcp_status(b);
	return resume(b, rc < 0 ? rc : tx_procedure(b));
}

int
ue_pdcp_renew(struct ue_bearer *b, bool may_come)
{
	int rc;

	pthread_mutex_lock(&turn);
	b->renew = true;
	if (may_come)
		quiet(b);
	rc = rx_reestablish(b);
	return resume(b, rc < 0 ? rc : tx_procedure(b));
}

int
ue_pdcp_recover(struct ue_bearer *b)
{
	int rc;

	pthread_mutex_lock(&turn);
	quiet(b);
	rc = b->cfg->pdcp.status_report ? ue_pdcp_status(b) : 0;
	b->recover = true;
	/* "to re-established or released AM RLC entity": both its sides */
	if (rc == 0 && ue_pdcp_mode(b) == PDCP_DRB_AM)
		rc = ap_worker_run(b->rlc_rx->inst->worker, rlc_rx_on_worker, b);
	return resume(b, rc < 0 ? rc : tx_procedure(b));
}
