/* SPDX-License-Identifier: BSD-3-Clause */

/* sdap_tx: user packets get their QoS flow, their bearer and the SDAP header. */

#include "core/node.h"
#include "modules/l2/l2.h"
#include "modules/sdap/sdap.h"

enum { EDGE_PDU };

static const char *const edges[] = {[EDGE_PDU] = "pdu"};
static const char *const drops[] = {
	[SDAP_TX_NO_DRB] = "no_drb",
	[SDAP_TX_NO_MBUF] = "no_mbuf",
};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;

	n->in += nb_objs;
	ap_next_all(n, graph, node, EDGE_PDU, objs,
		    sdap_tx_process(l2->sdap, (struct rte_mbuf **)objs, nb_objs, n->drops));
	return nb_objs;
}

static const struct ap_node_type sdap_tx = {
	.name = "sdap_tx",
	.help = "maps user packets to QoS flows and DRBs, adds SDAP headers",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(sdap_tx)
