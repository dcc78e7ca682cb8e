/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * copy: moves packets from the pool they came in to another, by CPU or DMA.
 *
 * DMA copies in flight are `held`; while there are any, expire() looks for finished ones.
 */
#include <errno.h>
#include <stdio.h>

#include "modules/port/port_node.h"

#define CHUNK 256

enum {
	DROP_NO_MBUF,  /**< destination pool empty */
	DROP_TOO_LONG, /**< longer than the destination's data room */
	DROP_FULL,     /**< as many copies in flight as the copier can hold */
};

static const char *const edges[] = {"out"};
static const char *const drops[] = {"no_mbuf", "too_long", "full"};

struct copy {
	struct ap_copier *copier;
};

struct ap_copier *
copy_node_copier(const struct ap_node *n)
{
	const struct copy *s = n->priv;

	return s->copier;
}

static uint16_t
copy_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const struct ap_copier_cfg *cfg = n->arg;
	struct copy *s = n->priv;
	struct ap_copier_lost lost = {0};
	struct rte_mbuf *out[CHUNK];

	n->in += nb;
	if (cfg->mode == AP_COPY_NONE) {
		ap_next_all(n, graph, node, 0, objs, nb);
		return nb;
	}
	for (uint16_t i = 0, step; i < nb; i += step) {
		step = RTE_MIN(nb - i, CHUNK);
		ap_next(n, 0, out,
			ap_copier_burst(s->copier, (struct rte_mbuf **)objs + i, step, out,
					RTE_DIM(out), &lost));
	}
	n->drops[DROP_NO_MBUF] += lost.no_mbuf;
	n->drops[DROP_TOO_LONG] += lost.too_long;
	n->drops[DROP_FULL] += lost.full;
	if (ap_copier_held(s->copier) > 0)
		ap_node_arm(n, ap_node_now(n));
	return nb;
}

static void
copy_expire(struct ap_node *n, uint64_t now_ns)
{
	struct copy *s = n->priv;
	struct rte_mbuf *out[CHUNK];
	uint16_t k;

	do {
		k = ap_copier_poll(s->copier, out, RTE_DIM(out));
		ap_next(n, 0, out, k);
	} while (k == RTE_DIM(out));
	if (ap_copier_held(s->copier) > 0)
		ap_node_arm(n, now_ns);
}

static uint64_t
copy_held(const struct ap_node *n)
{
	const struct copy *s = n->priv;

	return s->copier != NULL ? ap_copier_held(s->copier) : 0;
}

static int
copy_init(struct ap_node *n)
{
	struct copy *s = n->priv;
	struct ap_error err = {0};

	s->copier = ap_copier_create(n->arg, &err);
	if (s->copier != NULL)
		return 0;
	fprintf(stderr, "%s: %s\n", n->name, err.text);
	return -EINVAL;
}

static void
copy_fini(struct ap_node *n)
{
	struct copy *s = n->priv;

	ap_copier_destroy(s->copier);
	s->copier = NULL;
}

static const struct ap_node_type copy = {
	.name = "copy",
	.help = "copies packets to another pool by CPU or DMA",
	.process = copy_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct copy),
	.init = copy_init,
	.fini = copy_fini,
	.held = copy_held,
	.expire = copy_expire,
};

AP_NODE_REGISTER(copy)
