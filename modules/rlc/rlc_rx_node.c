/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rlc_rx: RLC PDUs become the SDUs of their bearer (meta.bearer). One timer serves the
 * t-Reassembly of all its entities.
 */

#include "core/node.h"
#include "core/pkt.h"
#include "modules/l2/l2.h"
#include "modules/rlc/rlc_rx.h"

enum { EDGE_PDCP };

static const char *const edges[] = {[EDGE_PDCP] = "pdcp"};
static const char *const drops[] = {
	[RLC_RX_NO_BEARER] = "no_bearer",         [RLC_RX_PDU_SHORT] = "pdu_short",
	[RLC_RX_SDU_EMPTY] = "sdu_empty",         [RLC_RX_SI_SO] = "si_so",
	[RLC_RX_SDU_OVERSIZE] = "sdu_oversize",   [RLC_RX_SN_OLD] = "sn_old",
	[RLC_RX_DUPLICATE] = "duplicate",         [RLC_RX_SO_CONFLICT] = "so_conflict",
	[RLC_RX_SEGMENTS_FULL] = "segments_full", [RLC_RX_T_REASSEMBLY] = "t_reassembly",
	[RLC_RX_WINDOW_MOVED] = "window_moved",   [RLC_RX_REESTABLISHED] = "reestablished",
	[RLC_RX_STATUS_BAD] = "status_bad",       [RLC_RX_STATUS_FULL] = "status_full",
};

struct rlc_rx_node {
	LIST_HEAD(, rlc_rx) watched; /**< entities whose t-Reassembly runs, or ran a while ago */
};

static void
count(struct ap_node *n, const struct rlc_rx_counts *c)
{
	n->used += c->used;
	n->made += c->made;
}

/** A stopped t-Reassembly leaves the list when the timer next fires, not here. */
static void
watch(struct ap_node *n, struct rlc_rx *e)
{
	struct rlc_rx_node *p = n->priv;

	if (rlc_rx_deadline(e) == 0 || e->watched)
		return;
	LIST_INSERT_HEAD(&p->watched, e, watch);
	e->watched = true;
	ap_node_arm(n, rlc_rx_deadline(e));
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	struct rlc_rx_counts c = {.drops = n->drops};
	const uint64_t now = ap_node_now(n);
	uint16_t sdus = 0;

	n->in += nb_objs;
	for (uint16_t i = 0, run; i < nb_objs; i += run) {
		run = ap_run_of_bearer(pkts + i, nb_objs - i);
		const uint32_t bearer = ap_meta(pkts[i])->bearer;

		if (unlikely(bearer >= l2->nb_bearers)) {
			ap_drop_bulk(n, RLC_RX_NO_BEARER, pkts + i, run);
			continue;
		}
		sdus += rlc_rx_receive(&l2->rlc_rx[bearer], pkts + i, run, pkts + sdus, &c, now);
		watch(n, &l2->rlc_rx[bearer]);
	}
	count(n, &c);
	ap_next_all(n, graph, node, EDGE_PDCP, objs, sdus);
	return nb_objs;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	struct rlc_rx_node *p = n->priv;
	struct rlc_rx_counts c = {.drops = n->drops};
	struct rlc_rx *e, *next;

	for (e = LIST_FIRST(&p->watched); e != NULL; e = next) {
		next = LIST_NEXT(e, watch);
		rlc_rx_expire(e, &c, now_ns);
		if (rlc_rx_deadline(e) != 0) {
			ap_node_arm(n, rlc_rx_deadline(e));
		} else {
			LIST_REMOVE(e, watch);
			e->watched = false;
		}
	}
	count(n, &c);
}

static uint64_t
held(const struct ap_node *n)
{
	const struct l2 *l2 = n->role;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l2->nb_bearers; i++)
		sum += l2->rlc_rx[i].held;
	return sum;
}

static const struct ap_node_type rlc_rx = {
	.name = "rlc_rx",
	.help = "reassembles RLC SDUs",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct rlc_rx_node),
	.held = held,
	.expire = expire,
};
AP_NODE_REGISTER(rlc_rx)
