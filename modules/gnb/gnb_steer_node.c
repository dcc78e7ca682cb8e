/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_steer: takes each packet to the worker that owns its session, by gnb_worker_of() its TEID.
 * Edge i leads to worker i's gnb_drb: on the same lcore the stream moves, else the packet crosses
 * one cut, and out[i] counts the hand-off.
 */
#include "modules/gnb/gnb.h"

#define CHUNK 256

static const char *const edges[] = {"w0",  "w1",  "w2",  "w3",  "w4",  "w5",  "w6",  "w7",
				    "w8",  "w9",  "w10", "w11", "w12", "w13", "w14", "w15",
				    "w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23",
				    "w24", "w25", "w26", "w27", "w28", "w29", "w30", "w31"};
_Static_assert(RTE_DIM(edges) == GNB_WORKERS_MAX, "an edge a worker");

/** Packets of one owner move together, in their order. */
static void
scatter(struct ap_node *n, struct rte_mbuf **pkts, const uint8_t *owner, uint16_t nb, unsigned nb_w)
{
	uint16_t at[GNB_WORKERS_MAX] = {0}, begin = 0;
	struct rte_mbuf *sorted[CHUNK];

	for (uint16_t i = 0; i < nb; i++)
		at[owner[i]]++;
	for (unsigned w = 0; w < nb_w; w++) {
		uint16_t count = at[w];

		at[w] = begin;
		begin = (uint16_t)(begin + count);
	}
	for (uint16_t i = 0; i < nb; i++)
		sorted[at[owner[i]]++] = pkts[i];
	begin = 0;
	for (unsigned w = 0; w < nb_w; w++) {
		ap_next(n, (rte_edge_t)w, &sorted[begin], (uint16_t)(at[w] - begin));
		begin = at[w];
	}
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const unsigned nb_w = gnb_of(n)->edge.nb_workers;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint8_t owner[CHUNK];

	n->in += nb;
	for (uint16_t at = 0, step; at < nb; at = (uint16_t)(at + step)) {
		uint8_t differ = 0;

		step = (uint16_t)RTE_MIN(nb - at, CHUNK);
		for (uint16_t i = 0; i < step; i++) {
			const uint32_t teid = upf_arrival(pkts[at + i])->teid;

			owner[i] = (uint8_t)gnb_worker_of(gnb_teid_index(teid), nb_w);
			differ |= (uint8_t)(owner[i] ^ owner[0]);
		}
		if (differ == 0 && step == nb)
			ap_next_all(n, graph, node, owner[0], objs, nb);
		else
			scatter(n, pkts + at, owner, step, nb_w);
	}
	return nb;
}

static const struct ap_node_type gnb_steer = {
	.name = "gnb_steer",
	.help = "takes each packet to the worker that owns its session",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
};
AP_NODE_REGISTER(gnb_steer)
