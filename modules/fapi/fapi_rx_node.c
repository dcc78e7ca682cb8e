/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * fapi_rx: frames of the PHY port become TBs; slots and grants go to l2->slots.
 * n->role is struct l2.
 */

#include "core/copier.h"
#include "core/node.h"
#include "modules/fapi/fapi_rx.h"

enum edge {
	EDGE_MAC,
};

static const char *const edges[] = {
	[EDGE_MAC] = "mac",
};

static const char *const drops[] = {
	[FAPI_RX_NOT_FAPI] = "not_fapi",
	[FAPI_RX_SHORT] = "short",
	[FAPI_RX_BAD_LENGTH] = "bad_length",
	[FAPI_RX_BAD_CHECKSUM] = "bad_checksum",
	[FAPI_RX_UNKNOWN_CARRIER] = "unknown_carrier",
	[FAPI_RX_UNKNOWN_MESSAGE] = "unknown_message",
	[FAPI_RX_BAD_SEGMENT] = "bad_segment",
	[FAPI_RX_DUPLICATE] = "duplicate",
	[FAPI_RX_STALE] = "stale",
	[FAPI_RX_INCOMPLETE] = "incomplete",
	[FAPI_RX_BAD_BODY] = "bad_body",
	[FAPI_RX_NO_MBUF] = "no_mbuf",
	[FAPI_RX_COPY_TOO_LONG] = "copy_too_long",
	[FAPI_RX_COPY_FULL] = "copy_full",
};

#define COPY_POLL_NS 10000 /* how long finished DMA copies may wait when no frame comes */
#define COPY_BURST 64

static void
flush(struct ap_node *n, struct fapi_rx_out *out)
{
	n->used += out->used;
	n->made += out->made;
	ap_next(n, EDGE_MAC, out->tb, out->nb);
	out->used = 0;
	out->made = 0;
	out->nb = 0;
}

static void
take(struct ap_node *n, struct rte_mbuf **frames, uint16_t nb, struct fapi_rx_out *out)
{
	struct l2 *l2 = n->role;

	while (nb > 0) {
		uint16_t k = fapi_rx_burst(l2->fapi_rx, frames, nb, ap_node_now(n), out);

		frames += k;
		nb -= k;
		if (nb > 0)
			flush(n, out);
	}
}

/** Copies first: what comes out may be frames of earlier visits. */
static void
take_copied(struct ap_node *n, struct rte_mbuf **frames, uint16_t nb, struct fapi_rx_out *out)
{
	struct fapi_rx *f = ((struct l2 *)n->role)->fapi_rx;
	struct ap_copier_lost lost = {0};
	struct rte_mbuf *copies[COPY_BURST];

	while (nb > 0) {
		uint16_t k = RTE_MIN(nb, COPY_BURST);
		uint16_t done = ap_copier_burst(f->copier, frames, k, copies, COPY_BURST, &lost);

		take(n, copies, done, out);
		frames += k;
		nb -= k;
	}
	n->drops[FAPI_RX_NO_MBUF] += lost.no_mbuf;
	n->drops[FAPI_RX_COPY_TOO_LONG] += lost.too_long;
	n->drops[FAPI_RX_COPY_FULL] += lost.full;
}

static void
arm(struct ap_node *n)
{
	struct fapi_rx *f = ((struct l2 *)n->role)->fapi_rx;
	const uint64_t now = ap_node_now(n);

	if (f->copier && ap_copier_held(f->copier) > 0)
		ap_node_arm(n, now + COPY_POLL_NS);
	else if (fapi_rx_waiting(f))
		ap_node_arm(n, now + f->reassembly_ns);
}

/** A slot began: mac_slot has it in its box, and this lcore knows when the next one begins. */
static void
tell_slot(struct ap_node *n, const struct l2 *l2)
{
	ap_node_slot(n, ap_node_now(n) + 10 * AP_NS_PER_MS / l2->fapi_rx->slots_per_frame);
	if (l2->slot_node != NULL)
		ap_node_wake(l2->slot_node);
}

static uint16_t
fapi_rx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct l2 *l2 = n->role;
	const uint64_t slots = l2->fapi_rx->slots_in;
	struct fapi_rx_out out;

	(void)graph;
	out.nb = 0;
	out.used = 0;
	out.made = 0;
	out.drops = n->drops;
	n->in += nb;
	if (l2->fapi_rx->copier)
		take_copied(n, (struct rte_mbuf **)objs, nb, &out);
	else
		take(n, (struct rte_mbuf **)objs, nb, &out);
	flush(n, &out);
	arm(n);
	if (l2->fapi_rx->slots_in != slots)
		tell_slot(n, l2);
	return nb;
}

static void
fapi_rx_timer(struct ap_node *n, uint64_t now_ns)
{
	struct fapi_rx *f = ((struct l2 *)n->role)->fapi_rx;
	struct rte_mbuf *copies[COPY_BURST];
	struct fapi_rx_out out = {.drops = n->drops};
	uint64_t due;
	uint16_t k;

	while (f->copier && (k = ap_copier_poll(f->copier, copies, COPY_BURST)) > 0)
		take(n, copies, k, &out);
	due = fapi_rx_expire(f, now_ns, &out);
	flush(n, &out);
	if (due != 0)
		ap_node_arm(n, due);
	arm(n);
}

static uint64_t
fapi_rx_node_held(const struct ap_node *n)
{
	const struct fapi_rx *f = ((const struct l2 *)n->role)->fapi_rx;

	return fapi_rx_held(f) + (f->copier ? ap_copier_held(f->copier) : 0);
}

static void
fapi_rx_node_fini(struct ap_node *n)
{
	fapi_rx_fini(((struct l2 *)n->role)->fapi_rx);
}

static const struct ap_node_type fapi_rx_type = {
	.name = "fapi_rx",
	.help = "nFAPI frames to TBs, slot indications and grants",
	.process = fapi_rx_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.amplification = FAPI_PDUS_MAX,
	.fini = fapi_rx_node_fini,
	.held = fapi_rx_node_held,
	.expire = fapi_rx_timer,
};
AP_NODE_REGISTER(fapi_rx_type)
