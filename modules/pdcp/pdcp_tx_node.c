/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pdcp_tx: SDUs become PDCP PDUs of their bearer (meta.bearer).
 * What RLC has no room for is dropped here, before it takes an SN.
 */

#include <string.h>

#include "core/node.h"
#include "core/pkt.h"
#include "modules/l2/l2.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_tx.h"

enum { EDGE_PDU };

static const char *const edges[] = {[EDGE_PDU] = "pdu"};
static const char *const drops[] = {
	[PDCP_TX_NO_BEARER] = "no_bearer", [PDCP_TX_QUEUE_FULL] = "queue_full",
	[PDCP_TX_COUNT_END] = "count_end", [PDCP_TX_NO_MBUF] = "no_mbuf",
	[PDCP_TX_CRYPTO] = "crypto",
};

/** Secured PDUs leave through the batch. */
static void
protect(struct ap_node *n, struct pdcp_batch *b)
{
	struct rte_mbuf *pdus[PDCP_CRYPTO_BATCH];

	ap_next(n, EDGE_PDU, pdus, pdcp_tx_protect(b, pdus, n->drops));
}

static void
secure(struct ap_node *n, struct pdcp_tx *e, struct rte_mbuf **pdus, uint16_t nb)
{
	struct pdcp_batch *b = n->priv;
	uint32_t count = (uint32_t)e->TX_NEXT - nb;

	for (uint16_t i = 0; i < nb; i++) {
		if (pdcp_batch_full(b, &e->sec))
			protect(n, b);
		pdcp_batch_add(b, pdus[i], e, &e->sec, count + i);
	}
}

/** Not of a bearer's SDUs: control PDUs (§5.2.1: submitted as they are), or of no bearer at all. */
static __rte_noinline uint16_t
not_data(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	const uint32_t bearer = ap_meta(pkts[0])->bearer & ~PDCP_TX_CONTROL;
	struct pdcp_tx *e = &l2->pdcp_tx[bearer];
	uint32_t room;

	if (bearer >= l2->nb_bearers || !e->configured || bearer == ap_meta(pkts[0])->bearer) {
		ap_drop_bulk(n, PDCP_TX_NO_BEARER, pkts, nb);
		return 0;
	}
	room = rlc_tx_room(&l2->rlc_tx[bearer], e->submitted);
	if (room < nb) {
		ap_drop_bulk(n, PDCP_TX_QUEUE_FULL, pkts + room, (uint16_t)(nb - room));
		nb = (uint16_t)room;
	}
	for (uint16_t i = 0; i < nb; i++)
		ap_meta(pkts[i])->bearer = bearer;
	e->submitted += nb;
	return nb;
}

/** @return how many PDUs are left at the front of `pkts`. */
static uint16_t
one_run(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	const uint32_t bearer = ap_meta(pkts[0])->bearer;
	struct pdcp_tx *e = &l2->pdcp_tx[bearer];
	uint32_t room;

	if (unlikely(bearer >= l2->nb_bearers || !e->configured))
		return not_data(n, pkts, nb);
	room = rlc_tx_room(&l2->rlc_tx[bearer], e->submitted);
	if (unlikely(room < nb)) {
		ap_drop_bulk(n, PDCP_TX_QUEUE_FULL, pkts + room, (uint16_t)(nb - room));
		nb = (uint16_t)room;
	}
	nb = pdcp_tx_pre_process(e, pkts, nb, n->drops);
	if (e->sec.crypto == NULL)
		return nb;
	secure(n, e, pkts, nb);
	return 0;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint16_t kept = 0;

	n->in += nb_objs;
	for (uint16_t i = 0, run; i < nb_objs; i += run) {
		run = ap_run_of_bearer(pkts + i, nb_objs - i);
		uint16_t sent = one_run(n, pkts + i, run);

		if (kept != i)
			memmove(pkts + kept, pkts + i, sizeof(*pkts) * sent);
		kept += sent;
	}
	protect(n, n->priv);
	ap_next_all(n, graph, node, EDGE_PDU, objs, kept);
	return nb_objs;
}

/** A full cut on the way to RLC: these will never leave its queue, so they must not take its room.
 */
static void
lost(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;

	for (uint16_t i = 0; i < nb; i++)
		l2->pdcp_tx[ap_meta(pkts[i])->bearer].submitted--;
}

static const struct ap_node_type pdcp_tx = {
	.name = "pdcp_tx",
	.help = "gives SDUs their PDCP COUNT, header and protection",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct pdcp_batch),
	.lost = lost,
};
AP_NODE_REGISTER(pdcp_tx)
