/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gen_tx: source of test packets at the configured rate.
 *
 * Makes what is due since its last visit, at most one burst and never more than the cuts
 * downstream can hold; what could not leave in time is caught up or counted as lag.
 */
#include <errno.h>

#include <rte_mempool.h>

#include "core/node.h"
#include "modules/gen/gen_impl.h"

enum {
	EDGE_PORT,
};

static const char *const edges[] = {
	[EDGE_PORT] = "port",
};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	struct gen *g = n->role;
	uint64_t now = ap_clock_ns();
	uint16_t k = gen_plan(g, now, ap_node_credit(n, g->cfg.burst));
	void **to;

	(void)objs;
	(void)nb_objs;
	if (k == 0)
		return 0;
	to = rte_node_next_stream_get(graph, node, EDGE_PORT, k);
	if (rte_mempool_get_bulk(g->cfg.pool, to, k) < 0) {
		gen_unplan(g, k);
		return 0;
	}
	gen_build(g, (struct rte_mbuf **)to, k, now);
	rte_node_next_stream_put(graph, node, EDGE_PORT, k);
	n->made += k;
	n->out[EDGE_PORT] += k;
	ap_node_busy(n, k);
	return k;
}

/** Only time tells it when to send: it is always looked at, until it has stopped. */
static uint32_t
waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct gen *g = n->role;
	struct gen_rate rate =
		gen_rate_decode(atomic_load_explicit(&g->rate, memory_order_relaxed));

	(void)queue;
	(void)now_ns;
	return rate.kind != GEN_RATE_STOP && !gen_done(g);
}

static int
init(struct ap_node *n)
{
	struct gen *g = n->role;

	if (g == NULL || g->cfg.pool == NULL)
		return -EINVAL;
	if (g->tx.placed)
		return -EBUSY;
	g->tx.placed = true;
	return 0;
}

static const struct ap_node_type gen_tx = {
	.name = "gen_tx",
	.help = "makes test packets, or replays a capture, at a rate",
	.source = true,
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.waiting = waiting,
	.init = init,
};
AP_NODE_REGISTER(gen_tx);
