/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * phy_loop: frames from the stack at one side (n->index) go over the air to the stack at the
 * other, or back. The edge is the side where they leave. n->role is struct phy.
 */

#include "core/node.h"
#include "modules/phy/phy.h"

enum edge {
	EDGE_SIDE_0,
	EDGE_SIDE_1,
};

static const char *const edges[] = {
	[EDGE_SIDE_0] = "port",
	[EDGE_SIDE_1] = "port2",
};

static const char *const drops[] = {
	[PHY_NOT_FAPI] = "not_fapi",
	[PHY_SHORT] = "short",
	[PHY_BAD_LENGTH] = "bad_length",
	[PHY_UNKNOWN_CARRIER] = "unknown_carrier",
	[PHY_UNKNOWN_MESSAGE] = "unknown_message",
	[PHY_BAD_BODY] = "bad_body",
	[PHY_TOO_LONG] = "too_long",
	[PHY_TB_LOSS] = "tb_loss",
	[PHY_FRAME_LOSS] = "frame_loss",
	[PHY_NO_MBUF] = "no_mbuf",
	[PHY_HOLD_FULL] = "hold_full",
	[PHY_SOFT_LOSS] = "soft_loss",
	[PHY_HARQ_REPEAT] = "harq_repeat",
	[PHY_UNKNOWN_RNTI] = "unknown_rnti",
	[PHY_LATE] = "late",
	[PHY_TTI_REPEATED] = "tti_repeated",
	[PHY_OVERSUBSCRIBED] = "oversubscribed",
	[PHY_NO_PDU] = "no_pdu",
	[PHY_TB_SIZE] = "tb_size",
};
_Static_assert(RTE_DIM(drops) == PHY_LOOP_DROPS, "every reason has a name");

static void
send(struct ap_node *n)
{
	struct phy *p = n->role;
	struct phy_path *path = &p->path[n->index];

	n->used += path->used;
	n->made += path->made;
	ap_next(n, (rte_edge_t)phy_egress(p, n->index), path->out, path->nb_out);
}

static void
arm(struct ap_node *n)
{
	const struct phy *p = n->role;
	const uint64_t due = phy_path_due(&p->path[n->index]);

	if (due != 0)
		ap_node_arm(n, due);
}

static uint16_t
phy_loop_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);

	(void)graph;
	n->in += nb;
	for (uint16_t at = 0; at < nb; at += PHY_BURST) {
		phy_path_burst(n->role, n->index, (struct rte_mbuf **)objs + at,
			       RTE_MIN(PHY_BURST, nb - at), ap_node_now(n), n->drops);
		send(n);
	}
	arm(n);
	return nb;
}

static void
phy_loop_timer(struct ap_node *n, uint64_t now_ns)
{
	bool more;

	do {
		more = phy_path_expire(n->role, n->index, now_ns, n->drops);
		send(n);
	} while (more);
	arm(n);
}

static uint64_t
phy_loop_held(const struct ap_node *n)
{
	const struct phy *p = n->role;

	return phy_path_held(&p->path[n->index]);
}

static const struct ap_node_type phy_loop_type = {
	.name = "phy_loop",
	.help = "the air: TX_Data.request becomes RX_Data.indication, with impairments",
	.process = phy_loop_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.amplification = 3, /* a copy, its twin, a CRC.indication */
	.held = phy_loop_held,
	.expire = phy_loop_timer,
};
AP_NODE_REGISTER(phy_loop_type)
