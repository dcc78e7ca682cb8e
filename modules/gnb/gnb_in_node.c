/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_in: sorts the frames of a port into G-PDUs (gnb_drb) and what is for us (gnb_local), and
 * fetches the rows that G-PDUs will need. See gnb_in.h.
 */
#include "modules/gnb/gnb.h"
#include "modules/gnb/gnb_in.h"

#define AHEAD 6

static const char *const edges[] = {[GNB_IN_DRB] = "drb", [GNB_IN_LOCAL] = "local"};

static inline void
fetch_frame(const struct rte_mbuf *m)
{
	rte_prefetch0(rte_pktmbuf_mtod(m, const uint8_t *));
}

/** Downlink the DRB depends on the session's map, but where a session has one DRB. */
static inline void
fetch_rows(const struct gnb_table *t, uint32_t teid)
{
	const unsigned slot = gnb_teid_slot(teid);

	rte_prefetch0(gnb_session_at(t, teid));
	rte_prefetch0_write(gnb_drb_at(t, teid, slot & ((1U << t->drb_shift) - 1)));
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	const struct gnb_table *t = gnb_of(n)->table;
	struct gnb_in *in = n->priv;
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < RTE_MIN(nb, AHEAD); i++)
		fetch_frame(pkts[i]);
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		unsigned verdict;

		if (i + AHEAD < nb)
			fetch_frame(pkts[i + AHEAD]);
		if (likely(gnb_in_fast(in, m))) {
			fetch_rows(t, upf_arrival(m)->teid);
			pkts[kept++] = m;
			continue;
		}
		verdict = gnb_in_any(in, m);
		if (verdict == UPF_IN_PASS)
			pkts[kept++] = m;
		else if (verdict == UPF_IN_OWN)
			ap_next_one(n, GNB_IN_LOCAL, m);
		else
			ap_drop(n, (uint8_t)(verdict - UPF_IN_DROPPED), m);
	}
	ap_next_all(n, graph, node, GNB_IN_DRB, objs, kept);
	return nb;
}

static int
init(struct ap_node *n)
{
	const struct gnb *gnb = n->role;
	bool n3[UPF_INTERFACES_MAX + 1] = {false};

	for (unsigned i = 1; i <= gnb->edge.net->nb_links; i++)
		n3[i] = gnb->side[i] == AP_GNB_N3;
	gnb_in_init(n->priv, gnb->edge.net, (int)(intptr_t)n->arg, n3);
	return 0;
}

static const struct ap_node_type gnb_in = {
	.name = "gnb_in",
	.help = "sorts a port's frames: G-PDUs of N3 and F1-U, and what is for the gNB itself",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = upf_in_drops,
	.nb_drops = UPF_IN_DROPS,
	.priv_size = sizeof(struct gnb_in),
	.init = init,
};
AP_NODE_REGISTER(gnb_in)
