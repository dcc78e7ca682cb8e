/* SPDX-License-Identifier: BSD-3-Clause */

/* sdap_rx: SDAP PDUs become user packets; their QoS flow stays in the meta. */

#include <string.h>

#include "core/node.h"
#include "modules/l2/l2.h"
#include "modules/sdap/sdap.h"

enum { EDGE_SDU };

static const char *const edges[] = {[EDGE_SDU] = "sdu"};
static const char *const drops[] = {
	[SDAP_RX_NO_DRB] = "no_drb",
	[SDAP_RX_SHORT] = "short",
	[SDAP_RX_MALFORMED] = "malformed",
};

/** Runs of PDUs of one UE at a time. @return how many packets are left at the front of `pkts`. */
static uint16_t
by_ue(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	uint16_t kept = 0;

	for (uint16_t i = 0, run; i < nb; i += run) {
		const uint32_t ue = l2_ue_of_bearer(l2, ap_meta(pkts[i])->bearer);
		uint16_t got;

		for (run = 1; i + run < nb; run++)
			if (l2_ue_of_bearer(l2, ap_meta(pkts[i + run])->bearer) != ue)
				break;
		got = sdap_rx_process(&l2->sdap[ue], pkts + i, run, n->drops, &n->used);
		if (kept != i)
			memmove(pkts + kept, pkts + i, sizeof(*pkts) * got);
		kept += got;
	}
	return kept;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;

	n->in += nb_objs;
	if (l2->nb_ues > 1) {
		ap_next_all(n, graph, node, EDGE_SDU, objs,
			    by_ue(n, (struct rte_mbuf **)objs, nb_objs));
		return nb_objs;
	}
	ap_next_all(
		n, graph, node, EDGE_SDU, objs,
		sdap_rx_process(l2->sdap, (struct rte_mbuf **)objs, nb_objs, n->drops, &n->used));
	return nb_objs;
}

static const struct ap_node_type sdap_rx = {
	.name = "sdap_rx",
	.help = "strips SDAP headers",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(sdap_rx)
