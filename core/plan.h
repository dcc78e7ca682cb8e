/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_PLAN_H
#define AIRPATH_CORE_PLAN_H

/**
 * One graph, any cut: the nodes of every role, where they run, and the cuts between.
 *
 * A plan is made from a deployment without EAL, so `airpath check` and `airpath show
 * graph FILE` work anywhere. core/graph.c turns it into one rte_graph per lcore.
 * Owner: the control thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/config.h"
#include "core/node.h"

#define AP_LCORES_MAX 127 /**< RTE_MAX_LCORE less the control thread */

struct ap_role_type;
struct ap_plan_node;
struct ap_sleep;

/** Where an edge crosses lcores: a `ring_out` and a `ring_in` node over one rte_ring. */
struct ap_cut {
	struct ap_plan_node *from;
	struct ap_plan_node *to;
	struct ap_plan_node *out; /**< ring_out, on from's lcore */
	struct ap_plan_node *in;  /**< ring_in, on to's lcore */
	uint8_t edge;             /**< of `from` */
	uint32_t size;            /**< ring slots */
	struct rte_ring *ring;
	struct ap_sleep *sleep; /**< of the consumer's lcore; NULL: it does not sleep */
};

struct ap_plan_lcore {
	const struct ap_cfg_lcore *cfg;
	unsigned id; /**< EAL lcore, from 1; 0 is the control thread */
	bool shared; /**< other lcores run on the same CPU */
	unsigned nb_nodes;
};

struct ap_plan_link {
	struct ap_plan_node *to;
	struct ap_cut *cut; /**< NULL on one lcore */
};

struct ap_plan_node {
	char name[AP_NAME_LEN]; /**< `role.node` */
	const struct ap_node_type *type;
	const struct ap_cfg_port *port; /**< nodes that receive or send on a port */
	uint32_t index;                 /**< carrier, queue, side … */
	struct ap_plan_lcore *lcore;
	struct ap_plan_link links[AP_EDGES_MAX];
	const char *place; /**< the `place` line that decided, for messages */
	bool exact;        /**< that line named the node itself */
	/* set by the role when EAL is up, before the graph is made */
	void *role;
	void *arg;
	struct ap_node *inst;
};

/** `⇥`: two nodes joined by a queue that belongs to an entity, not by an edge. */
struct ap_plan_queue {
	struct ap_plan_node *from;
	struct ap_plan_node *to;
	const char *name;
	uint64_t (*held)(
		const struct ap_node *from); /**< packets waiting; exact once workers stopped */
};

struct ap_plan {
	const struct ap_config *cfg;
	struct ap_plan_node **nodes;
	unsigned nb_nodes;
	struct ap_plan_lcore lcores[AP_LCORES_MAX];
	unsigned nb_lcores;
	struct ap_cut **cuts;
	unsigned nb_cuts;
	struct ap_plan_queue *queues;
	unsigned nb_queues;
};

/**
 * Plans the whole deployment: every role adds its nodes, `place` puts them on lcores,
 * edges that cross get a cut. @return NULL with `err` filled.
 */
struct ap_plan *ap_plan_make(const struct ap_config *cfg, struct ap_error *err);
void ap_plan_free(struct ap_plan *p);

/* --- for roles ------------------------------------------------------------------------------- */

/**
 * Adds node `role.node` of a registered type.
 * @return the node, or NULL with `err` filled (unknown type, name taken or too long).
 */
struct ap_plan_node *ap_plan_add(struct ap_plan *p, const char *role, const char *node,
				 const char *type, uint32_t index, struct ap_error *err);

/** Adds a node that works on a port of the deployment. @return NULL with `err` filled. */
struct ap_plan_node *ap_plan_add_port(struct ap_plan *p, const char *role, const char *node,
				      const char *type, const char *port, struct ap_error *err);

/**
 * The same for one of several nodes of a role that work on queues of a port. With fewer port_rx
 * nodes than queues, node q of n takes queues q, q + n, ...
 */
struct ap_plan_node *ap_plan_add_queue(struct ap_plan *p, const char *role, const char *node,
				       const char *type, const char *port, uint32_t queue,
				       struct ap_error *err);

/** Joins edge `edge` of `from` to `to`. */
void ap_plan_link(struct ap_plan_node *from, uint8_t edge, struct ap_plan_node *to);

/** Refuses two nodes on different lcores. @param why they belong on one. @return 0 or -EINVAL */
int ap_plan_together(const struct ap_plan *p, const struct ap_plan_node *a,
		     const struct ap_plan_node *b, const char *why, struct ap_error *err);

/** Records a queue for the drawing and the books. @return 0 or -ENOMEM. */
int ap_plan_queue(struct ap_plan *p, const struct ap_plan_queue *q);

/** @return node `role.node`, or NULL. */
struct ap_plan_node *ap_plan_find(const struct ap_plan *p, const char *name);

/** Writes the plan as Graphviz: a box per lcore, dashed edges are cuts, bold ones queues. */
void ap_plan_dot(const struct ap_plan *p, FILE *f);

#endif
