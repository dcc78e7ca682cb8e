/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_in: sorts the frames of a port into packets of sessions (upf_steer) and what is for us
 * (upf_local). See upf_in.h.
 */
#include "core/node.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_in.h"

#define AHEAD 6

static const char *const edges[] = {[UPF_IN_STEER] = "steer", [UPF_IN_LOCAL] = "local"};

static void
fetch(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	/* An outer and an inner header reach into the second line. */
	rte_prefetch0(p);
	rte_prefetch0(p + RTE_CACHE_LINE_MIN_SIZE);
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	const struct upf_in *in = n->priv;
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < RTE_MIN(nb, AHEAD); i++)
		fetch(pkts[i]);
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		unsigned verdict;

		if (i + AHEAD < nb)
			fetch(pkts[i + AHEAD]);
		if (likely(upf_in_fast(in, m))) {
			pkts[kept++] = m;
			continue;
		}
		verdict = upf_in_any(in, m);
		if (verdict == UPF_IN_PASS)
			pkts[kept++] = m;
		else if (verdict == UPF_IN_OWN)
			ap_next_one(n, UPF_IN_LOCAL, m);
		else
			ap_drop(n, (uint8_t)(verdict - UPF_IN_DROPPED), m);
	}
	ap_next_all(n, graph, node, UPF_IN_STEER, objs, kept);
	return nb;
}

static int
init(struct ap_node *n)
{
	const struct upf *upf = n->role;

	upf_in_init(n->priv, upf->net, upf_in_port(n));
	return 0;
}

static const struct ap_node_type upf_in = {
	.name = "upf_in",
	.help = "sorts a port's frames: G-PDUs and packets to UEs, and what is for the UPF itself",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = upf_in_drops,
	.nb_drops = UPF_IN_DROPS,
	.priv_size = sizeof(struct upf_in),
	.init = init,
};
AP_NODE_REGISTER(upf_in)
