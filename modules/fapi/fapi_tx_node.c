/* SPDX-License-Identifier: BSD-3-Clause */

/** fapi_tx: TB fragments of one carrier (n->index) leave as nFAPI frames. n->role is struct l2. */

#include "core/node.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/l2/l2.h"

enum edge {
	EDGE_PORT,
};

static const char *const edges[] = {
	[EDGE_PORT] = "port",
};

static const char *const drops[] = {
	[FAPI_TX_NO_FIRST] = "no_first",
	[FAPI_TX_TOO_MANY_SEGMENTS] = "too_many_segments",
	[FAPI_TX_TOO_LONG] = "too_long",
	[FAPI_TX_NO_HDR_MBUF] = "no_hdr_mbuf",
};

static uint16_t
fapi_tx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct l2 *l2 = n->role;
	uint16_t out;

	n->in += nb;
	out = fapi_tx_burst(&l2->fapi_tx[n->index], (struct rte_mbuf **)objs, nb, ap_node_now(n),
			    n->drops);
	ap_next_all(n, graph, node, EDGE_PORT, objs, out);
	return nb;
}

static const struct ap_node_type fapi_tx_type = {
	.name = "fapi_tx",
	.help = "TB fragments of one carrier to nFAPI TX_Data.request frames",
	.process = fapi_tx_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(fapi_tx_type)
