/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * p4_vf: takes the SmartNIC's shims off what comes by a virtual function, takes bearers over and
 * gives them back (p4_hand.h). On the lcore that numbers the packets.
 */
#include "core/node.h"
#include "core/worker.h"
#include "modules/gnb/gnb.h"
#include "modules/p4/p4_hand.h"
#include "modules/p4/p4_host.h"

enum { DROP_HOLD_FULL };
static const char *const edges[] = {[P4_VF_IN] = "in", [P4_VF_PORT] = "port"};
static const char *const drops[] = {[DROP_HOLD_FULL] = "hold_full"};

static void
releases(struct ap_node *n, struct p4_hand *h)
{
	struct rte_mempool *pool = gnb_of(n)->edge.workers[n->index].pkt_pool;
	uint8_t frame[P4_SHIM_FRAME_BYTES];

	while (h->nb_due > 0) {
		/* Without an mbuf the NIC waits, and sends us its packets meanwhile. */
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (m == NULL)
			return;
		if (!p4_hand_release(h, frame)) {
			rte_pktmbuf_free(m);
			return;
		}
		memcpy(rte_pktmbuf_append(m, sizeof(frame)), frame, sizeof(frame));
		*ap_meta(m) = (struct ap_meta){.flags = AP_M_CONTROL};
		n->made++;
		ap_next_one(n, P4_VF_PORT, m);
	}
}

static void
go_on(struct ap_node *n, struct p4_hand *h)
{
	struct rte_mbuf *m;

	releases(n, h);
	while ((m = p4_hand_next(h)) != NULL)
		ap_next_one(n, P4_VF_IN, m);
	if (p4_hand_held(h) > 0 || p4_hand_owes(h))
		ap_node_arm(n, ap_node_now(n));
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	struct p4_hand *h = n->priv;

	n->in += nb;
	p4_hand_step(h, n->worker->walks + 1);
	if (likely(p4_hand_plain(h, pkts, nb))) {
		ap_next_all(n, graph, node, P4_VF_IN, objs, nb);
		return nb;
	}
	for (uint16_t i = 0; i < nb; i++)
		if (!p4_hand_put(h, pkts[i]))
			ap_drop(n, DROP_HOLD_FULL, pkts[i]);
	go_on(n, h);
	return nb;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	struct p4_hand *h = n->priv;

	(void)now_ns;
	p4_hand_step(h, n->worker->walks + 1);
	go_on(n, h);
}

static uint64_t
held(const struct ap_node *n)
{
	return p4_hand_held(n->priv);
}

static int
init(struct ap_node *n)
{
	p4_hand_init(n->priv, gnb_of(n)->table, p4_aside);
	return 0;
}

static void
fini(struct ap_node *n)
{
	p4_hand_fini(n->priv);
}

static const struct ap_node_type p4_vf = {
	.name = "p4_vf",
	.help = "takes bearers over from a SmartNIC, and gives them back",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct p4_hand),
	.amplification = 2, /* a packet, and a release */
	.init = init,
	.fini = fini,
	.held = held,
	.expire = expire,
};
AP_NODE_REGISTER(p4_vf)
