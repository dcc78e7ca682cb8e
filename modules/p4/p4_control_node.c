/* SPDX-License-Identifier: BSD-3-Clause */
/** p4_control: source at which the SmartNIC takes changes of contexts, peers and the share. */
#include "core/node.h"
#include "modules/p4/p4_nic.h"

static const char *const edges[] = {"pipeline"};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const unsigned work = p4_nic_poll(n->role);

	(void)graph;
	(void)objs;
	(void)nb;
	if (work > 0)
		ap_node_busy(n, work);
	return 0;
}

static const struct ap_node_type p4_control = {
	.name = "p4_control",
	.help = "takes a SmartNIC's changes of contexts, peers and the host's share",
	.source = true,
	.process = process,
	.edges = edges, /* for the graph alone */
	.nb_edges = RTE_DIM(edges),
	.rare_edges = 1,
};
AP_NODE_REGISTER(p4_control)
