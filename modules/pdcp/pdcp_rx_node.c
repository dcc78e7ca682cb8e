/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pdcp_rx: PDCP PDUs become SDUs of their bearer (meta.bearer), in order.
 * One timer serves the t-Reordering of all its entities.
 *
 * A status report goes out by the edge to pdcp_tx; one that came in goes to mac_slot, where the
 * PDUs wait that it confirms.
 */

#include <errno.h>

#include <rte_ring.h>

#include "core/node.h"
#include "core/pkt.h"
#include "modules/l2/l2.h"
#include "modules/pdcp/pdcp_control.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_status.h"
#include "modules/pdcp/pdcp_tx.h"

enum { EDGE_SDU, EDGE_STATUS };

static const char *const edges[] = {[EDGE_SDU] = "sdu", [EDGE_STATUS] = "status"};
static const char *const drops[] = {
	[PDCP_RX_NO_BEARER] = "no_bearer",
	[PDCP_RX_SHORT] = "short",
	[PDCP_RX_RESERVED] = "reserved",
	[PDCP_RX_CONTROL_UNSUPPORTED] = "control_unsupported",
	[PDCP_RX_OUT_OF_WINDOW] = "out_of_window",
	[PDCP_RX_OLD] = "old",
	[PDCP_RX_DUPLICATE] = "duplicate",
	[PDCP_RX_REORDER_FULL] = "reorder_full",
	[PDCP_RX_INTEGRITY] = "integrity",
	[PDCP_RX_NO_MBUF] = "no_mbuf",
	[PDCP_RX_TOO_LONG] = "too_long",
	[PDCP_RX_DEVICE] = "device",
	[PDCP_RX_STATUS_FULL] = "status_full",
};

struct pdcp_rx_node {
	LIST_HEAD(, pdcp_rx) watched; /**< entities whose t-Reordering runs, or ran a while ago */
	struct pdcp_batch batch;
};

static void
deliver(void *arg, struct rte_mbuf **sdus, uint16_t nb)
{
	ap_next(arg, EDGE_SDU, sdus, nb);
}

static bool
report(void *arg, struct rte_mbuf *m)
{
	const struct ap_node *n = arg;
	const struct l2 *l2 = n->role;

	if (l2->reports == NULL) {
		rte_pktmbuf_free(m);
		return true;
	}
	return rte_ring_sp_enqueue(l2->reports, m) == 0;
}

static struct pdcp_rx_sink
sink_of(struct ap_node *n)
{
	return (struct pdcp_rx_sink){.deliver = deliver,
				     .report = report,
				     .arg = n,
				     .drops = n->drops,
				     .used = &n->used};
}

/** A stopped t-Reordering leaves the list when the timer next fires, not here. */
static void
watch(struct ap_node *n, struct pdcp_rx *e)
{
	struct pdcp_rx_node *p = n->priv;

	if (e->deadline_ns == PDCP_NO_DEADLINE)
		return;
	if (!e->watched) {
		LIST_INSERT_HEAD(&p->watched, e, watch);
		e->watched = true;
	}
	ap_node_arm(n, e->deadline_ns);
}

static void
verify(struct ap_node *n)
{
	struct pdcp_rx_node *p = n->priv;
	struct pdcp_rx_sink sink = sink_of(n);
	uint16_t nb = p->batch.nb;

	if (nb == 0)
		return;
	pdcp_rx_verify(&p->batch, ap_node_now(n), &sink);
	for (uint16_t i = 0; i < nb; i++)
		watch(n, p->batch.pdus[i].entity);
}

static void
receive_secured(struct ap_node *n, struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb)
{
	struct pdcp_rx_node *p = n->priv;
	struct pdcp_rx_sink sink = sink_of(n);
	uint32_t count;

	for (uint16_t i = 0; i < nb; i++) {
		if (pdcp_batch_full(&p->batch, &e->sec))
			verify(n);
		if (pdcp_rx_pre_process(e, pkts[i], &count, &sink))
			pdcp_batch_add(&p->batch, pkts[i], e, &e->sec, count);
	}
}

/** What is not the next PDU in order, from the first such on. */
static void
receive(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct l2 *l2 = n->role;
	const uint32_t bearer = ap_meta(pkts[0])->bearer;
	struct pdcp_rx *e = &l2->pdcp_rx[bearer];
	struct pdcp_rx_sink sink = sink_of(n);

	if (bearer >= l2->nb_bearers || !e->configured) {
		ap_drop_bulk(n, PDCP_RX_NO_BEARER, pkts, nb);
	} else if (e->sec.crypto != NULL) {
		receive_secured(n, e, pkts, nb);
	} else {
		pdcp_rx_receive(e, pkts, nb, ap_node_now(n), &sink);
		watch(n, e);
	}
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	struct ap_node *n = ap_node(node);
	const struct l2 *l2 = n->role;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint16_t whole = 0; /* pkts[whole..i) are SDUs in order, not yet moved on */

	n->in += nb_objs;
	for (uint16_t i = 0, run; i < nb_objs; i += run) {
		run = ap_run_of_bearer(pkts + i, nb_objs - i);
		uint32_t bearer = ap_meta(pkts[i])->bearer;
		uint16_t k = 0;

		if (likely(bearer < l2->nb_bearers))
			k = pdcp_rx_in_order(&l2->pdcp_rx[bearer], pkts + i, run);
		if (unlikely(k < run)) {
			ap_next(n, EDGE_SDU, pkts + whole, (uint16_t)(i + k - whole));
			receive(n, pkts + i + k, run - k);
			whole = i + run;
		}
	}
	verify(n);
	ap_next_all(n, graph, node, EDGE_SDU, objs + whole, nb_objs - whole);
	return nb_objs;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	struct pdcp_rx_node *p = n->priv;
	struct pdcp_rx_sink sink = sink_of(n);
	struct pdcp_rx *e, *next;

	for (e = LIST_FIRST(&p->watched); e != NULL; e = next) {
		next = LIST_NEXT(e, watch);
		pdcp_rx_expire(e, now_ns, &sink);
		if (e->deadline_ns != PDCP_NO_DEADLINE) {
			ap_node_arm(n, e->deadline_ns);
		} else {
			LIST_REMOVE(e, watch);
			e->watched = false;
		}
	}
}

int
pdcp_rx_node_status(struct ap_node *n, uint32_t bearer)
{
	const struct l2 *l2 = n->role;
	struct rte_mbuf *m = pdcp_status_pdu(&l2->pdcp_rx[bearer], l2->pools.proto);

	if (m == NULL)
		return -ENOMEM;
	*ap_meta(m) = (struct ap_meta){.bearer = bearer | PDCP_TX_CONTROL};
	n->made++;
	ap_next_one(n, EDGE_STATUS, m);
	return 0;
}

void
pdcp_rx_node_reestablish(struct ap_node *n, uint32_t bearer, enum pdcp_drb_mode mode,
			 const struct pdcp_keys *keys)
{
	const struct l2 *l2 = n->role;
	struct pdcp_rx_sink sink = sink_of(n);

	/* A timer that was stopped leaves the list when it next fires. */
	pdcp_rx_reestablish(&l2->pdcp_rx[bearer], mode, keys, &sink);
}

static uint64_t
held(const struct ap_node *n)
{
	const struct l2 *l2 = n->role;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l2->nb_bearers; i++)
		sum += l2->pdcp_rx[i].held;
	return sum;
}

static const struct ap_node_type pdcp_rx = {
	.name = "pdcp_rx",
	.help = "verifies and reorders PDCP PDUs, delivers SDUs",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.rare_edges = 1 << EDGE_STATUS,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct pdcp_rx_node),
	.held = held,
	.expire = expire,
};
AP_NODE_REGISTER(pdcp_rx)
