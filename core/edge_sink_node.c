/* SPDX-License-Identifier: BSD-3-Clause */
/** edge_sink: where edges go that a role left unlinked; anything that arrives is a named drop. */
#include "core/node.h"

enum { DROP_UNLINKED };
static const char *const drops[] = {[DROP_UNLINKED] = "unlinked_edge"};

static uint16_t
edge_sink_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);

	(void)graph;
	n->in += nb;
	ap_drop_bulk(n, DROP_UNLINKED, (struct rte_mbuf **)objs, nb);
	return nb;
}

static const struct ap_node_type edge_sink = {
	.name = "edge_sink",
	.help = "end of edges that lead nowhere",
	.process = edge_sink_process,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};

AP_NODE_REGISTER(edge_sink)
