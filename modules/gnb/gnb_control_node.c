/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_control: source at which a worker takes its messages from the control thread, a bounded
 * number a walk, before packets of that walk are looked up. Its `arg` is the worker's struct
 * gnb_ctx_worker.
 */
#include <rte_ring.h>

#include "core/node.h"
#include "modules/gnb/gnb_msg.h"

#define MESSAGES 32

/* Never taken; a graph has no node that leads nowhere. */
static const char *const edges[] = {"drb"};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct gnb_ctx_worker *w = n->arg;
	struct gnb_msg *msgs[MESSAGES];

	(void)graph;
	(void)objs;
	nb = (uint16_t)rte_ring_sc_dequeue_burst(w->messages, (void **)msgs, MESSAGES, NULL);
	if (nb == 0)
		return 0;
	for (uint16_t i = 0; i < nb; i++)
		gnb_do(w, msgs[i]);
	/* The control thread never has more under way than this ring holds. */
	rte_ring_sp_enqueue_burst(w->replies, (void **)msgs, nb, NULL);
	ap_node_busy(n, nb);
	return 0;
}

static uint32_t
waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	(void)queue;
	(void)now_ns;
	return rte_ring_count(((const struct gnb_ctx_worker *)n->arg)->messages);
}

static int
init(struct ap_node *n)
{
	((struct gnb_ctx_worker *)n->arg)->node = n;
	return 0;
}

static const struct ap_node_type gnb_control = {
	.name = "gnb_control",
	.help = "takes a worker's messages from the control thread",
	.source = true,
	.process = process,
	.waiting = waiting,
	.init = init,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.rare_edges = 1,
};

AP_NODE_REGISTER(gnb_control)
