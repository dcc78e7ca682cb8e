/* SPDX-License-Identifier: BSD-3-Clause */
/** ring_in: source at the consumer's end of a cut. What it has not taken is `held` by the cut. */
#include <rte_ring.h>

#include "core/node.h"
#include "core/plan.h"

#define RING_IN_BURST 256

static const char *const edges[] = {"out"};

static uint16_t
ring_in_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct ap_cut *cut = n->arg;
	uint16_t want = ap_node_credit(n, RING_IN_BURST);
	void **stream;

	(void)objs;
	stream = rte_node_next_stream_get(graph, node, 0, want);
	nb = rte_ring_sc_dequeue_burst(cut->ring, stream, want, NULL);
	if (nb == 0)
		return 0;
	n->in += nb;
	n->out[0] += nb;
	ap_node_busy(n, nb);
	rte_node_next_stream_put(graph, node, 0, nb);
	return nb;
}

static uint32_t
ring_in_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct ap_cut *cut = n->arg;

	(void)queue;
	(void)now_ns;
	return rte_ring_count(cut->ring);
}

static const struct ap_node_type ring_in = {
	.name = "ring_in",
	.help = "cut between lcores: the consumer's end",
	.source = true,
	.process = ring_in_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.waiting = ring_in_waiting,
};

AP_NODE_REGISTER(ring_in)
