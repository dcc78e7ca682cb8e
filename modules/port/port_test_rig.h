/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PORT_TEST_RIG_H
#define AIRPATH_MODULES_PORT_TEST_RIG_H

/**
 * One node in a graph of its own, for tests of nodes: `fed` goes to its stream on the
 * next walk(), catch nodes keep what comes out of its edges. cmocka comes first.
 */

#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "core/node.h"
#include "core/worker.h"
#include "test_eal.h"

#define CAUGHT_MAX 512

static struct ap_worker worker;
static struct rte_mbuf *caught[2][CAUGHT_MAX];
static unsigned nb_caught[2];
static struct ap_node *instances[4];
static unsigned nb_instances, serial;

static inline uint16_t
catch_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	unsigned which = strstr(node->name, "reply") != NULL;

	(void)graph;
	for (uint16_t i = 0; i < nb; i++)
		caught[which][nb_caught[which]++] = objs[i];
	return nb;
}

/** Feeds a node that is no source: what is left in `fed` goes to its stream. */
static struct rte_mbuf *fed[CAUGHT_MAX];
static uint16_t nb_fed;

static inline uint16_t
feed_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	(void)objs;
	(void)nb;
	if (nb_fed > 0)
		rte_node_enqueue(graph, node, 0, (void **)fed, nb_fed);
	nb = nb_fed;
	nb_fed = 0;
	return nb;
}

static inline int
node_bind(const struct rte_graph *graph, struct rte_node *node)
{
	struct ap_node *n = instances[nb_instances - 1];

	n->rte = node;
	n->graph = (struct rte_graph *)(uintptr_t)graph;
	*(struct ap_node **)(void *)node->ctx = n;
	return 0;
}

static inline void
rte_register(const char *name, bool source, ap_process_fn fn, bool ours, const char *const *next,
	     uint8_t nb_next)
{
	struct rte_node_register *reg = calloc(1, sizeof(*reg) + 8 * sizeof(char *));

	assert_non_null(reg);
	snprintf(reg->name, sizeof(reg->name), "%s", name);
	reg->flags = source ? RTE_NODE_SOURCE_F : 0;
	reg->process = fn;
	reg->init = ours ? node_bind : NULL;
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->nb_edges = nb_next;
	for (uint8_t i = 0; i < nb_next; i++)
		reg->next_nodes[i] = next[i];
	assert_int_not_equal(__rte_node_register(reg), RTE_NODE_ID_INVALID);
	free(reg);
}

static inline void
fire(struct ap_timer *t, uint64_t now_ns)
{
	struct ap_node *n = container_of(t, struct ap_node, timer);

	n->type->expire(n, now_ns);
}

/** A graph of one node of type `type` between feed and catch nodes. */
static inline struct ap_node *
node_make(const char *type, void *arg)
{
	const struct ap_node_type *t = ap_node_type_find(type);
	char me[32], out[32], reply[32], feed[32], graph[32];
	const char *next[2] = {out, reply}, *all[4] = {me, out, reply, feed};
	const char *feeds[3] = {t->source ? out : me, out,
				reply}; /* rte_graph wants no node apart */
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 4, .node_patterns = all};
	struct ap_node *n = rte_zmalloc(NULL, sizeof(*n), RTE_CACHE_LINE_SIZE);

	assert_non_null(t);
	assert_non_null(n);
	n->type = t;
	n->arg = arg;
	n->worker = &worker;
	n->priv = rte_zmalloc(NULL, t->priv_size + 1, RTE_CACHE_LINE_SIZE);
	n->timer.fire = fire;
	if (worker.wheel == NULL)
		worker.wheel = ap_wheel_create(1000, 0);
	snprintf(n->name, sizeof(n->name), "test.%s", type);
	instances[nb_instances++] = n;
	snprintf(me, sizeof(me), "%u.me", ++serial);
	snprintf(out, sizeof(out), "%u.out", serial);
	snprintf(reply, sizeof(reply), "%u.reply", serial);
	snprintf(feed, sizeof(feed), "%u.feed", serial);
	snprintf(graph, sizeof(graph), "%u", serial);
	rte_register(out, false, catch_process, false, NULL, 0);
	rte_register(reply, false, catch_process, false, NULL, 0);
	rte_register(me, t->source, t->process, true, next, t->nb_edges);
	rte_register(feed, true, feed_process, false, feeds, 3);
	assert_int_not_equal(rte_graph_create(graph, &prm), RTE_GRAPH_ID_INVALID);
	worker.graph = rte_graph_lookup(graph);
	assert_int_equal(t->init(n), 0);
	return n;
}

static inline uint64_t
dropped(const struct ap_node *n, const char *name)
{
	for (uint8_t i = 0; i < n->type->nb_drops; i++)
		if (strcmp(n->type->drops[i], name) == 0)
			return n->drops[i];
	fail_msg("%s has no drop reason %s", n->type->name, name);
	return 0;
}

static inline void
assert_balance(const struct ap_node *n)
{
	uint64_t out = n->used + (n->type->held ? n->type->held(n) : 0);

	for (unsigned i = 0; i < AP_EDGES_MAX; i++)
		out += n->out[i];
	for (unsigned i = 0; i < AP_DROPS_MAX; i++)
		out += n->drops[i];
	assert_int_equal(n->in + n->made, out);
}

static inline void
walk(void)
{
	worker.now_ns = ap_clock_ns();
	rte_graph_walk(worker.graph);
}

/** Takes the node down, and all that was caught. */
static inline void
node_free(struct ap_node *n)
{
	assert_balance(n);
	if (n->type->fini)
		n->type->fini(n);
	if (ap_timer_armed(&n->timer))
		ap_timer_cancel(worker.wheel, &n->timer);
	rte_graph_destroy(worker.graph->id);
	rte_free(n->priv);
	rte_free(n);
	nb_instances--;
	for (unsigned w = 0; w < 2; w++) {
		rte_pktmbuf_free_bulk(caught[w], nb_caught[w]);
		nb_caught[w] = 0;
	}
}

#endif
