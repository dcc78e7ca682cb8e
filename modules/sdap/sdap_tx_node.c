/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * sdap_tx: user packets get their QoS flow, their bearer and the SDAP header.
 *
 * It looks for reflective mappings before it maps packets, and now and then when there are none,
 * so that an end-marker does not wait for traffic.
 *
 * Where the role has several UEs, a packet is of the one that has its address: of a UE its source,
 * of a gNB its destination; or what came before this node knows its bearer.
 */

#include <string.h>

#include "core/node.h"
#include "modules/l2/l2.h"
#include "modules/sdap/sdap.h"

#define LOOK_NS (10 * AP_NS_PER_MS)

enum { EDGE_PDU };

static const char *const edges[] = {[EDGE_PDU] = "pdu"};
static const char *const drops[] = {
	[SDAP_TX_NO_DRB] = "no_drb",
	[SDAP_TX_NO_MBUF] = "no_mbuf",
	[SDAP_TX_NO_UE] = "no_ue",
};
_Static_assert(RTE_DIM(drops) == SDAP_TX_DROPS, "every reason has a name");

static __rte_noinline void
remap(struct ap_node *n, struct sdap *s)
{
	struct rte_mbuf *markers[SDAP_QFI_MAX + 1];
	uint16_t nb = sdap_tx_remap(s, markers);

	n->made += nb;
	ap_next(n, EDGE_PDU, markers, nb);
}

/** Runs of packets of one UE at a time. @return how many PDUs are left at the front of `pkts`. */
static uint16_t
by_ue(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	uint16_t kept = 0;
	uint32_t next;

	for (uint16_t i = 0; i < nb; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	next = l2_addresses_find(&l2->addresses, pkts[0]);
	for (uint16_t i = 0, run; i < nb; i += run) {
		const uint32_t ue = next;
		uint16_t sent = 0;

		for (run = 1; i + run < nb; run++) {
			next = l2_addresses_find(&l2->addresses, pkts[i + run]);
			if (next != ue)
				break;
		}
		if (unlikely(ue == L2_NO_UE)) {
			ap_drop_bulk(n, SDAP_TX_NO_UE, pkts + i, run);
			continue;
		}
		if (unlikely(sdap_tx_remapped(&l2->sdap[ue])))
			remap(n, &l2->sdap[ue]);
		sent = sdap_tx_process(&l2->sdap[ue], pkts + i, run, n->drops);
		if (kept != i)
			memmove(pkts + kept, pkts + i, sizeof(*pkts) * sent);
		kept += sent;
	}
	return kept;
}

/** Packets that know their bearer. @return as by_ue(). */
static uint16_t
by_bearer(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	uint16_t kept = 0;

	for (uint16_t i = 0, run; i < nb; i += run) {
		const uint32_t ue = l2_ue_of_bearer(l2, ap_meta(pkts[i])->bearer);
		uint16_t sent;

		for (run = 1; i + run < nb; run++)
			if (l2_ue_of_bearer(l2, ap_meta(pkts[i + run])->bearer) != ue)
				break;
		sent = sdap_tx_mapped(&l2->sdap[ue], pkts + i, run, n->drops);
		if (kept != i)
			memmove(pkts + kept, pkts + i, sizeof(*pkts) * sent);
		kept += sent;
	}
	return kept;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;

	n->in += nb_objs;
	if (l2->mapped) {
		ap_next_all(n, graph, node, EDGE_PDU, objs,
			    by_bearer(n, (struct rte_mbuf **)objs, nb_objs));
		return nb_objs;
	}
	if (l2->addresses.nb > 0) {
		ap_next_all(n, graph, node, EDGE_PDU, objs,
			    by_ue(n, (struct rte_mbuf **)objs, nb_objs));
		return nb_objs;
	}
	if (unlikely(sdap_tx_remapped(l2->sdap)))
		remap(n, l2->sdap);
	ap_next_all(n, graph, node, EDGE_PDU, objs,
		    sdap_tx_process(l2->sdap, (struct rte_mbuf **)objs, nb_objs, n->drops));
	return nb_objs;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;

	for (uint32_t u = 0; u < l2_ues(l2); u++)
		if (sdap_tx_remapped(&l2->sdap[u]))
			remap(n, &l2->sdap[u]);
	ap_node_arm(n, now_ns + LOOK_NS);
}

static int
init(struct ap_node *n)
{
	const struct l2 *l2 = n->role;

	if (l2->sdap->reflective)
		ap_node_arm(n, ap_clock_ns() + LOOK_NS);
	return 0;
}

static const struct ap_node_type sdap_tx = {
	.name = "sdap_tx",
	.help = "maps user packets to QoS flows and DRBs, adds SDAP headers",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.init = init,
	.expire = expire,
};
AP_NODE_REGISTER(sdap_tx)
