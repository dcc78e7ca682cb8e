/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ring.h>

#include "core/node.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/mac/mac_tx.h"
#include "modules/pdcp/pdcp_status.h"

/*
 * mac_slot: a source woken by the slot box. For each granted carrier it emits, on that carrier's
 * edge, a start mark, the RLC PDUs that prioritization picked, and an end mark. A slot that grants
 * nothing is an occasion for a scheduling request, a frame for the PHY's port.
 */

#define VISIT_PKTS 256

enum { DROP_DISCARD_TIMER, DROP_TB_NO_MARK, DROP_CONFIRMED, DROP_REESTABLISHED, DROP_SR_NO_MBUF };

static const char *const edges[] = {
	"fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", [MAC_SLOT_EDGE_SR] = "sr"};
_Static_assert(RTE_DIM(edges) == L2_CARRIERS_MAX + 1, "an edge per carrier, and the last for SRs");

static const char *const drops[] = {
	[DROP_DISCARD_TIMER] =
		"discard_timer",          /* SDUs whose discardTimer expired in the RLC queue */
	[DROP_TB_NO_MARK] = "tb_no_mark", /* grants unused for want of an mbuf; no SDU is lost */
	[DROP_CONFIRMED] = "confirmed",   /* SDUs the peer's PDCP status report had already */
	[DROP_REESTABLISHED] = "reestablished", /* SDUs that RLC's re-establishment discarded */
	[DROP_SR_NO_MBUF] = "sr_no_mbuf",       /* SRs not sent for want of an mbuf */
};

/* The newest slot; those it overtook came too late to be used. @return false when none waits. */
static bool
take_slot(struct mac_tx *tx, struct slot_box *box, uint64_t now_ns)
{
	struct slot_grant slot;

	if (!slot_box_get(box, &slot))
		return false;
	while (slot_box_get(box, &slot))
		tx->slots_missed++;
	mac_tx_slot(tx, &slot, now_ns);
	return true;
}

/* PDCP status reports come before the slot that would send what they confirm. */
static void
take_reports(struct ap_node *n, struct l2 *l2)
{
	uint64_t discarded;

	if (likely(l2->reports == NULL || rte_ring_empty(l2->reports)))
		return;
	discarded = pdcp_status_apply(l2);
	n->made += discarded;
	n->drops[DROP_CONFIRMED] += discarded;
}

void
mac_slot_node_reestablished(struct ap_node *n, uint64_t discarded)
{
	n->made += discarded;
	n->drops[DROP_REESTABLISHED] += discarded;
}

/* What never became a packet on an edge was made and dropped here. */
static void
count_losses(struct ap_node *n, uint64_t discarded, uint64_t no_mark)
{
	n->made += discarded + no_mark;
	n->drops[DROP_DISCARD_TIMER] += discarded;
	n->drops[DROP_TB_NO_MARK] += no_mark;
}

/* The SR of a slot whose grants are used up. */
static unsigned
send_sr(struct ap_node *n, struct l2 *l2, uint64_t now_ns)
{
	struct mac_tx *tx = l2->mac_tx;
	const struct fapi_sr sr = {.at = {tx->slot.sfn, tx->slot.slot}, .rnti = tx->sr.cfg.rnti};
	struct rte_mbuf *m;

	if (!mac_sr_due(tx, now_ns))
		return 0;
	n->made++;
	m = rte_pktmbuf_alloc(l2->pools.hdr);
	if (m == NULL) {
		n->drops[DROP_SR_NO_MBUF]++;
		return 0;
	}
	fapi_tx_sr(&l2->fapi_tx[0], m, &sr, tx->sr.sequence++, now_ns);
	mac_sr_sent(tx, now_ns);
	ap_next_one(n, MAC_SLOT_EDGE_SR, m);
	return 1;
}

static uint16_t
mac_slot_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct l2 *l2 = n->role;
	struct mac_tx *tx = l2->mac_tx;
	uint64_t now = ap_node_now(n);
	uint64_t discarded = tx->rlc.discarded, no_mark = tx->tbs_no_mark;
	struct rte_mbuf *pkts[VISIT_PKTS];
	uint32_t carrier = 0;
	unsigned room, k, done = 0;

	(void)graph;
	(void)objs;
	(void)nb;
	if (!mac_tx_busy(tx)) {
		take_reports(n, l2);
		if (!take_slot(tx, &l2->slots, now))
			return 0;
	}
	room = ap_node_credit(n, VISIT_PKTS);
	while ((k = mac_tx_next(tx, pkts, room - done, now, &carrier)) > 0) {
		ap_next(n, (rte_edge_t)carrier, pkts, (uint16_t)k);
		n->made += k;
		done += k;
	}
	count_losses(n, tx->rlc.discarded - discarded, tx->tbs_no_mark - no_mark);
	if (unlikely(mac_sr_on(tx)) && !mac_tx_busy(tx))
		done += send_sr(n, l2, now);
	if (done)
		ap_node_busy(n, done);
	return (uint16_t)done;
}

static uint32_t
mac_slot_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;

	(void)queue;
	(void)now_ns;
	return slot_box_count(&l2->slots) + mac_tx_busy(l2->mac_tx);
}

static int
mac_slot_init(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	l2->slot_node = n;
	return 0;
}

static void
mac_slot_fini(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	mac_tx_fini(l2->mac_tx);
}

static const struct ap_node_type mac_slot_type = {
	.name = "mac_slot",
	.help = "on a slot, prioritizes logical channels and pulls RLC for each granted carrier",
	.source = true,
	.process = mac_slot_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.waiting = mac_slot_waiting,
	.init = mac_slot_init,
	.fini = mac_slot_fini,
};

AP_NODE_REGISTER(mac_slot_type);
