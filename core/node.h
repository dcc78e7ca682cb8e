/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_NODE_H
#define AIRPATH_CORE_NODE_H

/**
 * The node contract.
 *
 * A node type is one function over a vector of mbufs, its edges and its named
 * drops. An instance (`struct ap_node`) is a node type placed by a deployment:
 * it belongs to one role object and runs on one lcore. Everything an instance
 * counts is written by that lcore alone.
 *
 * Conservation, checked for every instance when the graph stops:
 *     in + made = Σ out + used + Σ drops + held
 * `in`   mbufs received on the node's stream (or from a port, queue or timer)
 * `made` mbufs the node created as packets of their own (TB fragments, SDUs cut out of a TB)
 * `used` mbufs that ended their life here on purpose (SDUs built into a TB, a sink's packets)
 * `held` mbufs the node keeps between visits (reordering buffer, queue)
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>

#include "core/clock.h"
#include "core/meta.h"
#include "core/wheel.h"

#define AP_NAME_LEN 48 /**< instance name, `role.node`, with terminator */
#define AP_EDGES_MAX 32
#define AP_DROPS_MAX 24
#define AP_BURST 64         /**< what a source takes at once unless it says otherwise */
#define AP_STREAM_MAX 32768 /**< objects a stream is grown to before the walk starts */

struct ap_node;
struct ap_worker;
struct ap_plan_node;
struct ap_rxq;

typedef rte_node_process_t ap_process_fn;

/** A node type; registered with AP_NODE_REGISTER, constant afterwards. */
struct ap_node_type {
	const char *name; /**< `<proto>_<verb>` */
	const char *help; /**< one line for `airpath show nodes` */
	bool source;      /**< polled every walk with no input */
	ap_process_fn process;
	const char *const *edges; /**< edge names, in index order */
	uint8_t nb_edges;
	const char *const *drops; /**< drop reasons without the node's name, in index order */
	uint8_t nb_drops;
	size_t priv_size; /**< zeroed memory at ap_node.priv, 0 if none */

	/**
	 * Edges, 1 << index, that only packets of the node's own making take, now and then: sources
	 * need no credit for their cuts.
	 */
	uint32_t rare_edges;

	/** Most packets one input packet can become; sizes the credit of cuts downstream. 0
	 * means 1. */
	uint16_t amplification;

	/**
	 * Sources: packets, or whatever else is work, that a visit would find now, as far as can be
	 * told. Lets an lcore sleep: who gives this node work from another thread says so by
	 * ap_node_wake(), and what is due at a time has a timer. NULL: it is visited every 300 µs
	 * at least. Worker thread.
	 */
	uint32_t (*waiting)(const struct ap_node *n, uint16_t queue, uint64_t now_ns);

	/** Control thread, before the walk. @return 0 or -errno after an error was logged. */
	int (*init)(struct ap_node *n);
	/** Control thread, after the last walk: releases what the node holds. */
	void (*fini)(struct ap_node *n);
	/** mbufs kept between visits; called when the worker has stopped. */
	uint64_t (*held)(const struct ap_node *n);
	/** Worker thread: packets it sent that a full cut dropped, before they are freed. */
	void (*lost)(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb);
	/** Worker thread, between walks, when `n->timer` is due. May enqueue to edges. */
	void (*expire)(struct ap_node *n, uint64_t now_ns);
};

/** A placed node. 1 writer: its lcore (`rw`); control writes before the walk starts. */
struct ap_node {
	/* worker: rw, control: ro */
	uint64_t in;
	uint64_t made;
	uint64_t used;
	uint64_t out[AP_EDGES_MAX];
	uint64_t drops[AP_DROPS_MAX];

	/* control: rw before start, worker: ro */
	struct ap_worker *worker __rte_cache_aligned;
	void *role;     /**< role object, e.g. struct ue * */
	void *arg;      /**< what the role gave this instance, e.g. a port or a carrier */
	uint32_t index; /**< which of several alike (carrier number, port queue) */
	void *priv;
	const struct ap_node_type *type;
	struct rte_node *rte;
	struct rte_graph *graph;
	struct rte_ring *
		*rings;     /**< sources: cuts and wires their packets can reach on this lcore */
	uint16_t *ring_amp; /**< packets at rings[i] that one packet of this source can become */
	uint16_t nb_rings;
	uint16_t rxq;           /**< sources of several queues: which of `rxqs` this visit polls */
	struct ap_rxq *rxqs;    /**< NULL: the governor does not ask */
	struct ap_timer timer;  /**< armed with ap_timer_set() on worker->wheel */
	char name[AP_NAME_LEN]; /**< `role.node` */
};

/** Adds a type to the registry; called by AP_NODE_REGISTER before main(). */
void ap_node_type_add(const struct ap_node_type *type);

/** @return the type, or NULL. */
const struct ap_node_type *ap_node_type_find(const char *name);

/** Calls `fn` for every registered type in name order. */
void ap_node_type_each(void (*fn)(const struct ap_node_type *type, void *arg), void *arg);

#define AP_NODE_REGISTER(t)                                                                        \
	RTE_INIT(ap_register_##t)                                                                  \
	{                                                                                          \
		ap_node_type_add(&t);                                                              \
	}

/** The instance behind a graph node, inside process(). */
static inline struct ap_node *
ap_node(const struct rte_node *node)
{
	return *(struct ap_node *const *)(const void *)node->ctx;
}

/** Time of this walk in ns (ap_clock_ns), read once per walk by the worker. */
uint64_t ap_node_now(const struct ap_node *n);

/**
 * How many packets a source may take now so that no ring downstream overflows, at most `max`.
 * Rings are cuts, and ring ports where a packet stays one packet on its way there.
 */
uint16_t ap_node_credit(const struct ap_node *n, uint16_t max);

/** Tells the governor that a source found work. Sources call it once a visit with what they took.
 */
void ap_node_busy(struct ap_node *n, uint32_t packets);

/**
 * Ends the sleep of the node's lcore, if it sleeps. Any thread, once what it is woken for is where
 * the node's `waiting` sees it.
 */
void ap_node_wake(struct ap_node *n);

/** Tells the governor when the next slot is due: it is awake then. Worker thread. */
void ap_node_slot(struct ap_node *n, uint64_t next_ns);

/** Makes expire() run at `deadline_ns` or later; an earlier deadline already armed wins. Worker
 * thread. */
void ap_node_arm(struct ap_node *n, uint64_t deadline_ns);

/* --- moving packets on; `n` is the instance of `node` ----------------------------------------- */

/** All objects of this visit take one edge: the stream moves whole, no per-packet cost. */
static inline void
ap_next_all(struct ap_node *n, struct rte_graph *graph, struct rte_node *node, rte_edge_t edge,
	    void **objs, uint16_t nb)
{
	if (nb == 0)
		return;
	n->out[edge] += nb;
	if (objs == node->objs && nb == node->idx) {
		rte_node_next_stream_move(graph, node, edge);
		return;
	}
	rte_node_enqueue(graph, node, edge, objs, nb);
}

/** `nb` packets from any array take one edge (runs, bursts, what a source made). */
static inline void
ap_next(struct ap_node *n, rte_edge_t edge, struct rte_mbuf **pkts, uint16_t nb)
{
	if (nb == 0)
		return;
	n->out[edge] += nb;
	rte_node_enqueue(n->graph, n->rte, edge, (void **)pkts, nb);
}

/** One packet. For the rare path: it costs ~8 cycles where ap_next_all costs none. */
static inline void
ap_next_one(struct ap_node *n, rte_edge_t edge, struct rte_mbuf *m)
{
	n->out[edge]++;
	rte_node_enqueue_x1(n->graph, n->rte, edge, m);
}

/** Frees `m` and counts it under the type's drop reason `reason`. */
static inline void
ap_drop(struct ap_node *n, uint8_t reason, struct rte_mbuf *m)
{
	n->drops[reason]++;
	rte_pktmbuf_free(m);
}

static inline void
ap_drop_bulk(struct ap_node *n, uint8_t reason, struct rte_mbuf **pkts, uint16_t nb)
{
	n->drops[reason] += nb;
	rte_pktmbuf_free_bulk(pkts, nb);
}

#endif
