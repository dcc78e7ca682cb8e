/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_bearer: downlink in role `gnb`. The DRB that gnb_drb found is a bearer of a UE's stack; its
 * index and the QoS flow, with the reflective QoS indication, go on in meta (l2.h: mapped).
 */
#include "modules/gnb/gnb.h"

enum { EDGE_SDU };
enum { DROP_NO_DRB /**< it went while the packet was under way */ };

static const char *const edges[] = {[EDGE_SDU] = "sdu"};
static const char *const drops[] = {[DROP_NO_DRB] = "no_drb"};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct gnb_drb *drbs = gnb_of(n)->table->drbs;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		const struct gnb_found found = *gnb_found(m);
		struct gnb_drb *d = &drbs[found.row];

		if (unlikely(d->config.id == 0)) {
			ap_drop(n, DROP_NO_DRB, m);
			continue;
		}
		d->dl_packets++;
		d->dl_bytes += m->pkt_len;
		*ap_meta(m) = (struct ap_meta){.bearer = d->config.bearer,
					       .qfi = found.sdap,
					       .flags = found.flags & AP_M_TIMED};
		pkts[kept++] = m;
	}
	ap_next_all(n, graph, node, EDGE_SDU, objs, kept);
	return nb;
}

static const struct ap_node_type gnb_bearer = {
	.name = "gnb_bearer",
	.help = "takes downlink packets of a tunnel to their bearer in the stack",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(gnb_bearer)
