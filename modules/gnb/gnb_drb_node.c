/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_drb: finds the session of a G-PDU by its TEID and the DRB by the QFI (downlink, TS 37.324
 * §5.2.1) or by the slot in the TEID (uplink). Packets of a session that is handed over go on to
 * where it went (TS 23.502 §4.9.1.2), end markers with them.
 */
#include "modules/gnb/gnb.h"
#include "modules/upf/upf_encap.h"
#include "modules/upf/upf_end_marker.h"

#define AHEAD 8
#define CHUNK 256

enum {
	DROP_NO_QFI,     /**< downlink without PDU session container */
	DROP_NO_DRB,     /**< no DRB takes the QFI, and there is no default DRB */
	DROP_END_MARKER, /**< nothing more comes by this tunnel, and nobody else has to know */
	DROP_NO_MBUF,
	DROP_TOO_LONG, /**< to be forwarded, and then longer than IP allows */
};

static const char *const edges[] = {[GNB_DRB_DOWN] = "hdr_tx",
				    [GNB_DRB_UP] = "hdr_rx",
				    [GNB_DRB_LOCAL] = "local",
				    [GNB_DRB_OUT] = "out"};
static const char *const drops[] = {[DROP_NO_QFI] = "no_qfi",
				    [DROP_NO_DRB] = "no_drb",
				    [DROP_END_MARKER] = "end_marker",
				    [DROP_NO_MBUF] = "no_mbuf",
				    [DROP_TOO_LONG] = "too_long"};

/** Data forwarding: in a tunnel a PDU session, with the container it came with. */
static void
forward(struct ap_node *n, const struct gnb_session *s, struct rte_mbuf *m)
{
	const struct upf *edge = n->role;
	const struct upf_worker *w = &edge->workers[n->index];
	const struct upf_arrival a = *upf_arrival(m);
	const struct upf_peer *peer = &edge->peers.peer[s->forward];
	const struct upf_tag tag = {.teid = s->forward_teid,
				    .psc = a.rx & UPF_RX_QFI,
				    .down = true,
				    .rqi = a.rx & UPF_RX_RQI,
				    .qfi = a.qfi};
	struct rte_mbuf *first = m;
	bool made;

	if (m->pkt_len > UPF_ENCAP_INNER_MAX) {
		ap_drop(n, DROP_TOO_LONG, m);
		return;
	}
	made = a.rx & UPF_RX_END_MARKER
		       ? upf_end_marker_put(&first, peer, s->forward_teid, 0, w->hdr_pool)
		       : upf_encap(&first, peer, &tag, 0, 0, w->hdr_pool) != NULL;
	if (!made) {
		ap_drop(n, DROP_NO_MBUF, m);
		return;
	}
	*upf_leave(first) = (struct upf_leave){.peer = s->forward, .interface = peer->interface};
	ap_next_one(n, GNB_DRB_OUT, first);
}

/** @return edge, with struct gnb_found filled in; -1: the packet went elsewhere, or nowhere */
static inline int
sort(struct ap_node *n, const struct gnb *gnb, struct rte_mbuf *m)
{
	const struct upf_arrival a = *upf_arrival(m);
	const struct gnb_table *t = gnb->table;
	const struct gnb_session *s = gnb_session_at(t, a.teid);
	unsigned slot = gnb_teid_slot(a.teid);
	const bool down = slot == GNB_SLOT_N3;

	if (unlikely(!gnb_session_is(s, a.teid) || gnb->side[a.interface] != !down ||
		     (!down && slot >= gnb_drbs_per_session(t)))) {
		ap_next_one(n, GNB_DRB_LOCAL, m);
		return -1;
	}
	if (unlikely(down && s->forward)) {
		forward(n, s, m);
		return -1;
	}
	if (unlikely(a.rx & UPF_RX_END_MARKER)) {
		ap_drop(n, DROP_END_MARKER, m);
		return -1;
	}
	if (down) {
		if (unlikely(!(a.rx & UPF_RX_QFI))) {
			ap_drop(n, DROP_NO_QFI, m);
			return -1;
		}
		slot = gnb_slot_of_qfi(s, a.qfi);
		if (unlikely(slot == GNB_NO_DRB)) {
			ap_drop(n, DROP_NO_DRB, m);
			return -1;
		}
		if (t->drb_shift)
			rte_prefetch0_write(gnb_drb_at(t, a.teid, slot));
	}
	*gnb_found(m) = (struct gnb_found){
		.row = (gnb_teid_index(a.teid) << t->drb_shift) + slot,
		.sdap = (uint8_t)(a.qfi | (a.rx & UPF_RX_RQI ? 0x40 : 0)),
		.rx = a.rx,
		.flags = a.flags,
		.interface = a.interface,
	};
	return down ? GNB_DRB_DOWN : GNB_DRB_UP;
}
_Static_assert(AP_GNB_N3 == 0 && AP_GNB_F1 == 1, "side is !down");

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const struct gnb *gnb = n->role;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;

	n->in += nb;
	for (uint16_t at = 0, step; at < nb; at = (uint16_t)(at + step)) {
		struct rte_mbuf *up[CHUNK];
		uint16_t nb_down = 0, nb_up = 0;

		step = (uint16_t)RTE_MIN(nb - at, CHUNK);
		for (uint16_t i = 0; i < step; i++) {
			struct rte_mbuf *m = pkts[at + i];
			int edge;

			if (i + AHEAD < step)
				rte_prefetch0(pkts[at + i + AHEAD]);
			edge = sort(n, gnb, m);
			if (edge == GNB_DRB_DOWN)
				pkts[at + nb_down++] = m;
			else if (edge == GNB_DRB_UP)
				up[nb_up++] = m;
		}
		if (nb_up > 0 && nb_down == 0) {
			memcpy(pkts + at, up, nb_up * sizeof(up[0]));
			ap_next_all(n, graph, node, GNB_DRB_UP, objs + at, nb_up);
		} else {
			ap_next_all(n, graph, node, GNB_DRB_DOWN, objs + at, nb_down);
			ap_next(n, GNB_DRB_UP, up, nb_up);
		}
	}
	return nb;
}

static const struct ap_node_type gnb_drb = {
	.name = "gnb_drb",
	.help = "finds session and DRB of a G-PDU by TEID and QFI",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.rare_edges = 1U << GNB_DRB_LOCAL,
};
AP_NODE_REGISTER(gnb_drb)
