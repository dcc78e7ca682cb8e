/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_graph_worker.h>

#include "core/walk.h"

/* rte_graph_walk() of DPDK 22.11 but for one thing: a visit that found nothing, which is what most
 * polls of a source are, does not count as time spent on packets. */
void
ap_walk_stats(struct rte_graph *graph)
{
	const rte_graph_off_t *cir_start = graph->cir_start;
	const rte_node_t mask = graph->cir_mask;
	uint32_t head = graph->head;

	while (likely(head != graph->tail)) {
		struct rte_node *node = RTE_PTR_ADD(graph, cir_start[(int32_t)head++]);
		uint64_t start = rte_rdtsc();
		uint16_t done;

		rte_prefetch0(node->objs);
		done = node->process(graph, node, node->objs, node->idx);
		if (done) {
			node->total_cycles += rte_rdtsc() - start;
			node->total_calls++;
			node->total_objs += done;
		}
		node->idx = 0;
		head = likely((int32_t)head > 0) ? head & mask : head;
	}
	graph->tail = 0;
}
