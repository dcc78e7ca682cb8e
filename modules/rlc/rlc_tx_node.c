/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rlc_tx: PDCP PDUs go into the RLC queue of their bearer (meta.bearer). They end here:
 * mac_slot makes PDUs from the queue when the PHY grants it a TB.
 */

#include "core/node.h"
#include "core/pkt.h"
#include "modules/l2/l2.h"
#include "modules/rlc/rlc_tx.h"

static const char *const drops[] = {
	[RLC_TX_NO_BEARER] = "no_bearer", [RLC_TX_QUEUE_FULL] = "queue_full",
	[RLC_TX_SDU_EMPTY] = "sdu_empty", [RLC_TX_SDU_OVERSIZE] = "sdu_oversize",
	[RLC_TX_NO_MBUF] = "no_mbuf",
};

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	const uint64_t now = ap_node_now(n);

	(void)graph;
	n->in += nb_objs;
	for (uint16_t i = 0, run; i < nb_objs; i += run) {
		run = ap_run_of_bearer(pkts + i, nb_objs - i);
		const uint32_t bearer = ap_meta(pkts[i])->bearer;

		if (unlikely(bearer >= l2->nb_bearers))
			ap_drop_bulk(n, RLC_TX_NO_BEARER, pkts + i, run);
		else
			n->used += rlc_tx_push(&l2->rlc_tx[bearer], pkts + i, run, now, n->drops);
	}
	return nb_objs;
}

static const struct ap_node_type rlc_tx = {
	.name = "rlc_tx",
	.help = "queues RLC SDUs for the MAC scheduler",
	.process = process,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(rlc_tx)
