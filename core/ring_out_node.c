/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * ring_out: this lcore's end of a cut. Credits keep the ring from filling up (a source polls
 * only what every cut downstream can hold), so `full` counts what amplification underrated.
 */
#include <rte_ring.h>

#include "core/node.h"
#include "core/plan.h"
#include "core/sleep.h"

enum { DROP_FULL };
static const char *const drops[] = {[DROP_FULL] = "full"};

static uint16_t
ring_out_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct ap_cut *cut = n->arg;
	uint16_t sent;

	(void)graph;
	n->in += nb;
	sent = rte_ring_sp_enqueue_burst(cut->ring, objs, nb, NULL);
	n->used += sent;
	if (cut->sleep != NULL)
		ap_sleep_wake(cut->sleep);
	if (unlikely(sent < nb)) {
		struct rte_mbuf **lost = (struct rte_mbuf **)&objs[sent];

		if (cut->from->type->lost)
			cut->from->type->lost(cut->from->inst, lost, nb - sent);
		ap_drop_bulk(n, DROP_FULL, lost, nb - sent);
	}
	return nb;
}

static const struct ap_node_type ring_out = {
	.name = "ring_out",
	.help = "cut between lcores: the producer's end",
	.process = ring_out_process,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};

AP_NODE_REGISTER(ring_out)
