/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_prefetch.h>

#include "core/node.h"
#include "modules/mac/mac_rx.h"

/*
 * mac_demux: whole TBs in, RLC PDUs out (TS 38.321 §5.3.3), written straight into the stream of
 * the next node. Where the role has several UEs, a TB is of the one whose RNTI it has.
 */

#define SDUS_PER_TB 2048 /* a 195 kB TB of 128 B packets holds 1500 */

enum { EDGE_SDUS };

static const char *const edges[] = {[EDGE_SDUS] = "sdus"};

static const char *const drops[] = {
	[MAC_RX_EMPTY_TB] = "empty_tb",
	[MAC_RX_NO_BEARER] = "no_bearer",
	[MAC_RX_NO_MBUF] = "no_mbuf",
	[MAC_RX_SDU_EMPTY] = "sdu_empty",
	[MAC_RX_BAD_CE] = "bad_ce",
	[MAC_RX_TRUNCATED] = "truncated",
	[MAC_RX_RESERVED_LCID] = "reserved_lcid",
	[MAC_RX_OUT_FULL] = "out_full",
	[MAC_RX_OTHER_RNTI] = "other_rnti",
};
_Static_assert(RTE_DIM(drops) == MAC_RX_DROPS, "every reason has a name");

static void
take_tb(struct l2 *l2, struct rte_mbuf *tb, struct mac_rx_run *run)
{
	uint32_t ue = 0;

	if (l2->nb_ues > 1)
		ue = l2_ue_of_rnti(l2, (uint16_t)ap_ext(tb)->spare);
	if (unlikely(ue == L2_NO_UE)) {
		run->tb_drops++;
		run->drops[MAC_RX_OTHER_RNTI]++;
		rte_pktmbuf_free(tb);
		return;
	}
	mac_rx_tb(&l2->mac_rx[ue], tb, run);
}

static uint16_t
mac_demux_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct l2 *l2 = n->role;
	const struct rte_node *next = node->nodes[EDGE_SDUS];
	struct mac_rx_run run = {.max = next->size - next->idx};

	run.out = (struct rte_mbuf **)rte_node_next_stream_get(graph, node, EDGE_SDUS,
							       (uint16_t)run.max);
	for (uint16_t i = 0; i < nb; i++) {
		if (i + 1 < nb)
			rte_prefetch0(rte_pktmbuf_mtod((struct rte_mbuf *)objs[i + 1], void *));
		take_tb(l2, objs[i], &run);
	}
	rte_node_next_stream_put(graph, node, EDGE_SDUS, (uint16_t)run.nb_out);

	n->in += nb;
	n->used += nb - run.tb_drops;
	n->made += run.made;
	n->out[EDGE_SDUS] += run.nb_out;
	for (unsigned i = 0; i < MAC_RX_DROPS; i++)
		n->drops[i] += run.drops[i];
	return nb;
}

static void
mac_demux_fini(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	for (uint32_t u = 0; u < l2_ues(l2); u++)
		mac_rx_fini(&l2->mac_rx[u]);
}

static const struct ap_node_type mac_demux_type = {
	.name = "mac_demux",
	.help = "takes TBs apart into RLC PDUs, reads CEs",
	.process = mac_demux_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.amplification = SDUS_PER_TB,
	.fini = mac_demux_fini,
};

AP_NODE_REGISTER(mac_demux_type);
