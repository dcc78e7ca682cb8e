/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gen_verify: sink that judges every byte of what comes back.
 *
 * Counts good, duplicate, reordered, late and lost packets in the role object; here only what
 * is no valid test packet has a name as a drop.
 */
#include <errno.h>

#include "core/free.h"
#include "core/node.h"
#include "modules/gen/gen_impl.h"

enum {
	DROP_CORRUPTED, /* ours, but changed */
	DROP_FOREIGN,   /* from somebody else */
};

static const char *const drops[] = {
	[DROP_CORRUPTED] = "corrupted",
	[DROP_FOREIGN] = "foreign",
};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	struct gen_arrivals a;

	(void)graph;
	a = gen_verify(n->role, (struct rte_mbuf **)objs, nb_objs, ap_clock_ns());
	n->in += nb_objs;
	n->used += a.ours;
	n->drops[DROP_CORRUPTED] += a.corrupted;
	n->drops[DROP_FOREIGN] += a.foreign;
	ap_free_bulk((struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

static int
init(struct ap_node *n)
{
	struct gen *g = n->role;

	if (g == NULL)
		return -EINVAL;
	if (g->rx.placed)
		return -EBUSY;
	g->rx.placed = true;
	return 0;
}

static const struct ap_node_type gen_verify_type = {
	.name = "gen_verify",
	.help = "checks every byte, the order and the delay of test packets",
	.process = process,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.init = init,
};
AP_NODE_REGISTER(gen_verify_type);
