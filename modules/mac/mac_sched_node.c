/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "core/node.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/mac/mac_cell.h"
#include "modules/mac/mac_serve.h"

/*
 * mac_sched: a gNB's mac_slot. On a slot indication it shares both directions of every carrier out
 * (mac_cell.h), tells the PHY by DL_TTI.request and UL_TTI.request, and serves the UEs that got
 * downlink. DL_TTI.requests go before the TBs they announce, by way of the carrier's mac_build.
 */

#define VISIT_PKTS 256

enum { DROP_TTI_NO_MBUF = MAC_SERVE_DROPS, DROP_HARQ_GIVEN_UP, DROPS };

static const char *const drops[DROPS] = {
	[MAC_SERVE_DISCARD_TIMER] = "discard_timer", [MAC_SERVE_TB_NO_MARK] = "tb_no_mark",
	[MAC_SERVE_CONFIRMED] = "confirmed",         [MAC_SERVE_REESTABLISHED] = "reestablished",
	[MAC_SERVE_NO_MBUF] = "sr_no_mbuf",          [DROP_TTI_NO_MBUF] = "tti_no_mbuf",
	[DROP_HARQ_GIVEN_UP] = "harq_given_up", /* downlink TBs that were not acknowledged */
};

/** The newest slot. @return false when none waits. */
static bool
take_slot(struct l2 *l2, struct slot_grant *slot)
{
	if (!slot_box_get(&l2->slots, slot))
		return false;
	while (slot_box_get(&l2->slots, slot))
		l2->mac_tx->slots_missed++;
	return true;
}

/** @return false when there is no mbuf. */
static bool
send_tti(struct ap_node *n, uint16_t message, uint8_t carrier, const struct mac_cell_tti *t,
	 rte_edge_t edge, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	struct mac_cell *cell = l2->cell;
	struct rte_mbuf *m;

	n->made++;
	m = rte_pktmbuf_alloc(l2->pools.phy);
	if (m == NULL) {
		n->drops[DROP_TTI_NO_MBUF]++;
		return false;
	}
	fapi_tx_tti(&l2->fapi_tx[carrier], m, message, cell->at, t->grant, t->nb, cell->sequence++,
		    now_ns);
	ap_next_one(n, edge, m);
	return true;
}

/** Tells a carrier's mac_build what it need not keep. @return false when there is no mbuf. */
static bool
send_release(struct ap_node *n, uint8_t carrier)
{
	const struct l2 *l2 = n->role;
	struct rte_mbuf *m = rte_pktmbuf_alloc(l2->pools.hdr);
	struct mac_tb_release r[MAC_TB_RELEASES];
	struct mac_tb_mark *mark;
	uint32_t nb;

	if (m == NULL)
		return false;
	nb = mac_cell_release(l2->cell, carrier, r);
	mark = rte_pktmbuf_mtod(m, struct mac_tb_mark *);
	*mark = (struct mac_tb_mark){.carrier = carrier, .ce_bytes = (uint8_t)(nb * sizeof(r[0]))};
	memcpy(mark->ce, r, nb * sizeof(r[0]));
	m->data_len = mac_tb_mark_bytes(mark->ce_bytes);
	m->pkt_len = m->data_len;
	*ap_meta(m) = (struct ap_meta){.flags = AP_M_TB_RETX, .carrier = carrier};
	n->made++;
	ap_next_one(n, carrier, m);
	return true;
}

static void
send_releases(struct ap_node *n)
{
	const struct l2 *l2 = n->role;
	const struct mac_cell *cell = l2->cell;

	for (uint8_t c = 0; cell->dl.releases && c < l2->nb_carriers; c++)
		for (unsigned i = 0; i < MAC_CELL_MARKS && cell->dl.releases[c].nb > 0; i++)
			if (!send_release(n, c))
				return;
}

/** Requests for what was shared out; what the PHY cannot be told of is not sent. */
static void
send_requests(struct ap_node *n, struct mac_serve *s, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	struct mac_cell *cell = l2->cell;

	for (uint8_t c = 0; c < l2->nb_carriers; c++) {
		const struct mac_cell_tti *ul = &cell->ul.tti[c], *dl = &cell->dl.tti[c];

		if (ul->nb && !send_tti(n, FAPI_UL_TTI_REQUEST, c, ul, MAC_SLOT_EDGE_SR, now_ns))
			mac_cell_not_sent(cell, &cell->ul, l2, c);
		if (dl->nb == 0 || send_tti(n, FAPI_DL_TTI_REQUEST, c, dl, c, now_ns))
			continue;
		mac_cell_not_sent(cell, &cell->dl, l2, c);
		for (uint32_t i = 0; i < s->nb; i++)
			s->records[i].tb_bytes[c] = 0;
	}
}

/** What was given up was made and dropped here. */
static void
count_given_up(struct ap_node *n, struct mac_cell_way *way)
{
	const uint64_t lost = way->stats.lost - way->given_up;

	n->made += lost;
	n->drops[DROP_HARQ_GIVEN_UP] += lost;
	way->given_up = way->stats.lost;
}

static uint16_t
mac_sched_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct l2 *l2 = n->role;
	struct mac_serve *s = n->priv;
	const uint64_t now = ap_node_now(n);
	struct slot_grant slot;
	unsigned done;

	(void)graph;
	(void)objs;
	(void)nb;
	if (!s->busy) {
		mac_serve_reports(n, l2);
		if (!take_slot(l2, &slot))
			return 0;
		s->nb = mac_cell_share(l2->cell, l2, &slot, now, s->records);
		send_releases(n);
		send_requests(n, s, now);
		count_given_up(n, &l2->cell->dl);
		mac_serve_begin(n, s, now);
	}
	done = mac_serve(n, s, ap_node_credit(n, VISIT_PKTS), now);
	ap_node_busy(n, done + 1);
	return (uint16_t)(done + 1);
}

static uint32_t
mac_sched_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	const struct mac_serve *s = n->priv;

	(void)queue;
	(void)now_ns;
	return slot_box_count(&l2->slots) + s->busy;
}

static int
mac_sched_node_init(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	l2->slot_node = n;
	return 0;
}

static void
sched_node_fini(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	for (uint32_t u = 0; u < l2_ues(l2); u++)
		mac_tx_fini(&l2->mac_tx[u]);
}

static const struct ap_node_type mac_sched_type = {
	.name = "mac_sched",
	.help = "a gNB's slot: shares carriers out among UEs, requests TBs, pulls RLC",
	.source = true,
	.process = mac_sched_process,
	.edges = mac_serve_edges,
	.nb_edges = L2_CARRIERS_MAX + 1,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct mac_serve),
	.waiting = mac_sched_waiting,
	.init = mac_sched_node_init,
	.fini = sched_node_fini,
};

AP_NODE_REGISTER(mac_sched_type);
