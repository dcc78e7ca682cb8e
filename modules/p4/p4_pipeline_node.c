/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * p4_pipeline: sends packets through the SmartNIC program. One instance takes what comes from the
 * wire, one what hosts send; both run the same program, so they are on one lcore.
 */
#include "core/node.h"
#include "modules/p4/p4_nic.h"

enum { EDGE_WIRE, EDGE_VF };
enum { DROP_SHORT, DROP_REFUSED, DROP_NO_MBUF };
static const char *const edges[EDGE_VF + P4_VFS_MAX] = {
	"wire", "vf0", "vf1",  "vf2",  "vf3",  "vf4",  "vf5",  "vf6",  "vf7",
	"vf8",  "vf9", "vf10", "vf11", "vf12", "vf13", "vf14", "vf15",
};
static const char *const drops[] = {
	[DROP_SHORT] = "short",     /* a hand-over frame that is none */
	[DROP_REFUSED] = "refused", /* handed in by a host, and not for the program either */
	[DROP_NO_MBUF] = "no_mbuf",
};

struct pipeline {
	struct p4_result result;
	struct rte_mbuf *to[EDGE_VF + P4_VFS_MAX][P4_BURST];
};

static void
spread(struct ap_node *n, struct pipeline *s)
{
	static const uint8_t reason[] = {[P4_OUT_SHORT] = DROP_SHORT,
					 [P4_OUT_REFUSED] = DROP_REFUSED,
					 [P4_OUT_NO_MBUF] = DROP_NO_MBUF};
	const struct p4_result *r = &s->result;
	uint16_t nb[EDGE_VF + P4_VFS_MAX] = {0};

	for (uint16_t i = 0; i < r->nb; i++) {
		const unsigned out = r->out[i];
		unsigned edge = EDGE_WIRE;

		if (out >= P4_OUT_VF) {
			edge = EDGE_VF + out - P4_OUT_VF;
		} else if (out == P4_OUT_USED) {
			n->used++;
			rte_pktmbuf_free(r->pkts[i]);
			continue;
		} else if (out != P4_OUT_WIRE) {
			ap_drop(n, reason[out], r->pkts[i]);
			continue;
		}
		s->to[edge][nb[edge]++] = r->pkts[i];
	}
	for (unsigned e = 0; e < RTE_DIM(nb); e++)
		ap_next(n, (rte_edge_t)e, s->to[e], nb[e]);
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct p4_nic *nic = n->role;
	struct pipeline *s = n->priv;

	(void)graph;
	n->in += nb;
	for (uint16_t at = 0, step; at < nb; at = (uint16_t)(at + step)) {
		step = (uint16_t)RTE_MIN(nb - at, P4_BURST);
		p4_gnb_run(nic->program, (enum p4_side)n->index, (struct rte_mbuf **)objs + at,
			   step, &s->result);
		spread(n, s);
	}
	return nb;
}

static const struct ap_node_type p4_pipeline = {
	.name = "p4_pipeline",
	.help = "the gNB's SmartNIC program, emulated by rte_swx",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct pipeline),
};
AP_NODE_REGISTER(p4_pipeline)
