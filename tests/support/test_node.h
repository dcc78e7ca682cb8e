/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_NODE_H
#define AIRPATH_TESTS_TEST_NODE_H

/**
 * One node without a deployment: its stream is an array, its edges end in arrays, and
 * the test owns the clock. cmocka must be included first.
 */

#include <stdlib.h>
#include <string.h>

#include "core/node.h"
#include "core/worker.h"

#define TEST_NODE_STREAM 4096

struct test_node {
	struct rte_graph graph;
	rte_graph_off_t reel[64];
	struct ap_worker worker;
	struct ap_node n;
	struct rte_node *rte;
	struct rte_node *edges[AP_EDGES_MAX];
};

static inline void
test_node_fire(struct ap_timer *timer, uint64_t now_ns)
{
	struct ap_node *n = RTE_PTR_SUB(timer, offsetof(struct ap_node, timer));

	n->type->expire(n, now_ns);
}

static inline struct rte_node *
test_node_graph_node(void)
{
	size_t size = sizeof(struct rte_node) + AP_EDGES_MAX * sizeof(struct rte_node *);
	struct rte_node *r = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(size));

	memset(r, 0, size);
	r->fence = RTE_GRAPH_FENCE;
	r->size = TEST_NODE_STREAM;
	r->objs = calloc(TEST_NODE_STREAM, sizeof(void *));
	return r;
}

/** Zeroed and aligned as the engine does it. */
static inline void *
test_node_priv(size_t size)
{
	void *p = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(size));

	return p ? memset(p, 0, size) : NULL;
}

/** An instance of `type` in `role`. */
static inline struct test_node *
test_node_make(const char *type, void *role)
{
	struct test_node *t = aligned_alloc(RTE_CACHE_LINE_SIZE,
					    RTE_CACHE_LINE_ROUNDUP(sizeof(struct test_node)));

	memset(t, 0, sizeof(*t));
	t->graph.cir_start = t->reel;
	t->graph.cir_mask = RTE_DIM(t->reel) - 1;
	t->graph.fence = RTE_GRAPH_FENCE;
	t->worker.wheel = ap_wheel_create(1000, 0);
	t->n.type = ap_node_type_find(type);
	assert_non_null(t->n.type);
	t->n.worker = &t->worker;
	t->n.role = role;
	t->n.graph = &t->graph;
	t->n.rte = t->rte = test_node_graph_node();
	t->n.timer.fire = test_node_fire;
	if (t->n.type->priv_size)
		t->n.priv = test_node_priv(t->n.type->priv_size);
	*(struct ap_node **)(void *)t->rte->ctx = &t->n;
	t->rte->nb_edges = t->n.type->nb_edges;
	for (unsigned i = 0; i < t->n.type->nb_edges; i++)
		t->rte->nodes[i] = t->edges[i] = test_node_graph_node();
	return t;
}

/** Moves the clock and fires the timer if it is due. */
static inline void
test_node_clock(struct test_node *t, uint64_t now_ns)
{
	t->worker.now_ns = now_ns;
	ap_wheel_run(t->worker.wheel, now_ns);
}

/** One visit with these packets. */
static inline void
test_node_visit(struct test_node *t, struct rte_mbuf **pkts, uint16_t nb)
{
	if (nb > 0)
		memcpy(t->rte->objs, pkts, nb * sizeof(*pkts));
	t->rte->idx = nb;
	t->n.type->process(&t->graph, t->rte, t->rte->objs, nb);
	t->rte->idx = 0;
	t->graph.tail = 0;
}

/** @return how many packets went to `edge` since last asked; they are at `*pkts` until the next
 * visit. */
static inline uint16_t
test_node_take(struct test_node *t, unsigned edge, struct rte_mbuf ***pkts)
{
	uint16_t nb = t->edges[edge]->idx;

	*pkts = (struct rte_mbuf **)t->edges[edge]->objs;
	t->edges[edge]->idx = 0;
	return nb;
}

/** in + made = Σ out + used + Σ drops + held. */
static inline void
test_node_balance(const struct test_node *t)
{
	uint64_t sum = t->n.used + (t->n.type->held ? t->n.type->held(&t->n) : 0);

	for (unsigned i = 0; i < AP_EDGES_MAX; i++)
		sum += t->n.out[i];
	for (unsigned i = 0; i < AP_DROPS_MAX; i++)
		sum += t->n.drops[i];
	assert_int_equal(t->n.in + t->n.made, sum);
}

static inline void
test_node_free(struct test_node *t)
{
	for (unsigned i = 0; i < t->n.type->nb_edges; i++) {
		free(t->edges[i]->objs);
		free(t->edges[i]);
	}
	ap_timer_cancel(t->worker.wheel, &t->n.timer);
	ap_wheel_destroy(t->worker.wheel);
	free(t->rte->objs);
	free(t->rte);
	free(t->n.priv);
	free(t);
}

#endif
