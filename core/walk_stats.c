/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_config.h>

#undef RTE_LIBRTE_GRAPH_STATS
#define RTE_LIBRTE_GRAPH_STATS 1
#include <rte_graph_worker.h>

#include "core/walk.h"

void
ap_walk_stats(struct rte_graph *graph)
{
	rte_graph_walk(graph);
}
