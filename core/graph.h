/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_GRAPH_H
#define AIRPATH_CORE_GRAPH_H

/** Turns a plan into one rte_graph per lcore. Control thread, EAL up, workers stopped. */

#include "core/plan.h"
#include "core/worker.h"

/**
 * Makes cuts' rings, node instances and graphs; grows every stream before the walk starts.
 * @param workers one per plan lcore, in order; `graph` is set here
 * @param serial makes names unique in a process that makes several graphs (rte_graph cannot
 *        unregister nodes in DPDK 22.11)
 * @return 0, or -errno with `err` filled; then nothing is left behind
 */
int ap_graph_make(struct ap_plan *p, struct ap_worker *workers, unsigned serial,
		  struct ap_error *err);

/** Runs every node's fini, frees what cuts hold, destroys graphs and instances. */
void ap_graph_free(struct ap_plan *p, struct ap_worker *workers);

#endif
