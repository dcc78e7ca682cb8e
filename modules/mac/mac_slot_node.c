/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/node.h"
#include "modules/mac/mac_serve.h"

/*
 * mac_slot: a source woken by the slot box. It serves the UEs that the PHY granted something
 * (mac_serve.h). A slot that grants a UE nothing is an occasion for a scheduling request, a frame
 * for the PHY's port.
 */

#define VISIT_PKTS 256

static bool
grants(const struct slot_grant *g)
{
	for (unsigned c = 0; c < SLOT_CARRIERS_MAX; c++)
		if (g->tb_bytes[c])
			return true;
	return false;
}

/*
 * The newest slot; those it overtook came too late to be used, unless every grant counts.
 * @return false when none waits
 */
static bool
take_slot(struct ap_node *n, struct mac_serve *s)
{
	struct l2 *l2 = n->role;
	uint32_t waiting = slot_box_count(&l2->slots);

	if (waiting == 0)
		return false;
	while (waiting > slot_box_first(&l2->slots)->more + 1U) {
		const uint32_t nb = slot_box_first(&l2->slots)->more + 1U;

		if (l2->mac_tx->every_slot && grants(slot_box_first(&l2->slots))) {
			waiting = nb;
			break;
		}
		slot_box_skip(&l2->slots, nb);
		l2->mac_tx->slots_missed++;
		waiting -= nb;
	}
	for (s->nb = 0; s->nb < waiting; s->nb++)
		slot_box_get(&l2->slots, &s->records[s->nb]);
	return true;
}

static uint16_t
mac_slot_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct mac_serve *s = n->priv;
	uint64_t now = ap_node_now(n);
	unsigned done;

	(void)graph;
	(void)objs;
	(void)nb;
	if (!s->busy) {
		mac_serve_reports(n, n->role);
		if (!take_slot(n, s))
			return 0;
		mac_serve_begin(n, s, now);
	}
	done = mac_serve(n, s, ap_node_credit(n, VISIT_PKTS), now);
	if (done)
		ap_node_busy(n, done);
	return (uint16_t)done;
}

static uint32_t
mac_slot_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	const struct mac_serve *s = n->priv;

	(void)queue;
	(void)now_ns;
	return slot_box_count(&l2->slots) + s->busy;
}

static int
mac_slot_init(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	l2->slot_node = n;
	return 0;
}

static void
mac_slot_fini(struct ap_node *n)
{
	struct l2 *l2 = n->role;

	for (uint32_t u = 0; u < l2_ues(l2); u++)
		mac_tx_fini(&l2->mac_tx[u]);
}

static const struct ap_node_type mac_slot_type = {
	.name = "mac_slot",
	.help = "on a slot, prioritizes logical channels and pulls RLC for each granted carrier",
	.source = true,
	.process = mac_slot_process,
	.edges = mac_serve_edges,
	.nb_edges = RTE_DIM(mac_serve_edges),
	.drops = mac_serve_drops,
	.nb_drops = RTE_DIM(mac_serve_drops),
	.priv_size = sizeof(struct mac_serve),
	.waiting = mac_slot_waiting,
	.init = mac_slot_init,
	.fini = mac_slot_fini,
};

AP_NODE_REGISTER(mac_slot_type);
