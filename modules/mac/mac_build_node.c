/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/node.h"
#include "modules/mac/mac_build.h"

/*
 * mac_build: TB marks and RLC PDUs of one carrier in, TB fragments out (TS 38.321 §6.1.2).
 * n->index is the carrier, n->arg a struct mac_build_cfg.
 */

enum { EDGE_FRAGMENTS };

static const char *const edges[] = {[EDGE_FRAGMENTS] = "fragments"};

static const char *const drops[] = {
	[MAC_BUILD_NO_MBUF] = "no_mbuf",    [MAC_BUILD_ABANDONED] = "tb_abandoned",
	[MAC_BUILD_NO_TB] = "outside_tb",   [MAC_BUILD_NO_END] = "tb_without_end",
	[MAC_BUILD_OVERRUN] = "tb_overrun", [MAC_BUILD_TB_SIZE] = "tb_size",
	[MAC_BUILD_BAD_PDU] = "bad_pdu",    [MAC_BUILD_BAD_MARK] = "bad_mark",
	[MAC_BUILD_OUT_FULL] = "out_full",  [MAC_BUILD_HARQ_EMPTY] = "harq_empty",
};
_Static_assert(RTE_DIM(drops) == MAC_BUILD_DROPS, "every reason has a name");

static uint16_t
mac_build_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct mac_build *b = n->priv;
	const struct rte_node *next = node->nodes[EDGE_FRAGMENTS];
	struct mac_build_run run = {.max = next->size - next->idx};

	run.out = (struct rte_mbuf **)rte_node_next_stream_get(graph, node, EDGE_FRAGMENTS,
							       (uint16_t)run.max);
	mac_build(b, (struct rte_mbuf **)objs, nb, &run);
	rte_node_next_stream_put(graph, node, EDGE_FRAGMENTS, (uint16_t)run.nb_out);

	n->in += nb;
	n->used += nb - run.in_drops;
	n->made += run.made;
	n->out[EDGE_FRAGMENTS] += run.nb_out;
	for (unsigned i = 0; i < MAC_BUILD_DROPS; i++)
		n->drops[i] += run.drops[i];
	return nb;
}

static int
mac_build_node_init(struct ap_node *n)
{
	const struct l2 *l2 = n->role;

	return mac_build_init(n->priv, n->arg, &l2->pools, (uint8_t)n->index);
}

static void
mac_build_node_fini(struct ap_node *n)
{
	mac_build_fini(n->priv);
}

static const struct ap_node_type mac_build_type = {
	.name = "mac_build",
	.help = "multiplexes RLC PDUs, CEs and padding into TB fragments of one carrier",
	.process = mac_build_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct mac_build),
	.amplification = MAC_BUILD_FRAGS_MAX,
	.init = mac_build_node_init,
	.fini = mac_build_node_fini,
};

AP_NODE_REGISTER(mac_build_type);
