/* SPDX-License-Identifier: BSD-3-Clause */

/** phy_slot: the slot clock of one side (n->index) as a source of frames. n->role is struct phy. */

#include "core/node.h"
#include "modules/phy/phy.h"

enum edge {
	EDGE_PORT,
};

static const char *const edges[] = {
	[EDGE_PORT] = "port",
};

static const char *const drops[] = {
	[PHY_SLOT_NO_MBUF] = "no_mbuf",
};

static uint16_t
slot_emit(struct ap_node *n, uint64_t now_ns)
{
	struct rte_mbuf *out[PHY_SLOT_FRAMES_MAX];
	const uint64_t lost = n->drops[PHY_SLOT_NO_MBUF];
	struct phy *p = n->role;
	uint64_t due;
	uint16_t nb;

	/* A slot is sent whole or, when the port's cut is full, late. */
	if (ap_node_credit(n, PHY_SLOT_FRAMES_MAX) < PHY_SLOT_FRAMES_MAX)
		return 0;
	nb = phy_slot_poll(p, n->index, now_ns, out, n->drops);
	n->made += nb + n->drops[PHY_SLOT_NO_MBUF] - lost;
	if (nb == 0)
		return 0;
	for (uint16_t i = 0; i < nb; i++)
		ap_next_one(n, EDGE_PORT, out[i]);
	due = phy_slot_due(p, n->index);
	if (due != 0)
		ap_node_arm(n, due); /* so that no governor sleeps past it */
	return nb;
}

static uint16_t
phy_slot_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);

	(void)graph;
	(void)objs;
	nb = slot_emit(n, ap_node_now(n));
	if (nb > 0)
		ap_node_busy(n, nb);
	return nb;
}

static void
phy_slot_timer(struct ap_node *n, uint64_t now_ns)
{
	slot_emit(n, now_ns);
}

/** What is due later has the timer. */
static uint32_t
phy_slot_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	uint64_t due = phy_slot_due(n->role, n->index);

	(void)queue;
	return due != 0 && due <= now_ns;
}

static const struct ap_node_type phy_slot_type = {
	.name = "phy_slot",
	.help = "slot clock: grants and SLOT.indication",
	.source = true,
	.process = phy_slot_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.waiting = phy_slot_waiting,
	.expire = phy_slot_timer,
};
AP_NODE_REGISTER(phy_slot_type)
