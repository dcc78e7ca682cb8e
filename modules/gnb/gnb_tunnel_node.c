/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_tunnel: uplink in role `gnb`. What a bearer delivered goes to the UPF of its session, in a
 * tunnel with a PDU session container of the QoS flow (TS 38.415 §5.5.2.2).
 */
#include "modules/gnb/gnb_hdr.h"

enum {
	DROP_NO_CONTEXT, /**< the bearer is of no session */
	DROP_NO_DRB,     /**< no DRB of the session takes the QFI */
	DROP_UL_STOPPED, /**< the UPF has no such tunnel */
	DROP_PEER,       /**< the UPF is no more */
	DROP_TOO_LONG,   /**< for IP */
	DROP_NO_MBUF,
};
static const char *const drops[] = {
	[DROP_NO_CONTEXT] = "no_context", [DROP_NO_DRB] = "no_drb",
	[DROP_UL_STOPPED] = "ul_stopped", [DROP_PEER] = "peer",
	[DROP_TOO_LONG] = "too_long",     [DROP_NO_MBUF] = "no_mbuf",
};

struct sender {
	const struct gnb *gnb;
	struct gnb_frame *frames;
	const struct upf_net *net;
	const struct upf_peers *peers;
	struct rte_mempool *hdr_pool;
	uint16_t id; /**< of the next outer IPv4 header */
};

static void
drop(struct ap_node *n, struct gnb_drb *d, uint8_t reason, struct rte_mbuf *m)
{
	d->drops++;
	ap_drop(n, reason, m);
}

/** By way of upf_out: the neighbour is not known yet, fragments are needed, or a new segment. */
static void
slow(struct ap_node *n, struct sender *s, const struct gnb_session *session, struct gnb_drb *d,
     struct rte_mbuf *m, uint8_t qfi)
{
	const struct upf_tag tag = {.teid = session->ul_teid, .psc = true, .qfi = qfi};
	const struct upf_peer *peer = &s->peers->peer[session->upf];
	const uint8_t flags = ap_meta(m)->flags & AP_M_TIMED;

	if (session->upf == 0 || !peer->gtpu) {
		drop(n, d, DROP_PEER, m);
		return;
	}
	if (m->pkt_len > UPF_ENCAP_INNER_MAX) {
		drop(n, d, DROP_TOO_LONG, m);
		return;
	}
	if (upf_encap(&m, peer, &tag, 0, s->id++, s->hdr_pool) == NULL) {
		drop(n, d, DROP_NO_MBUF, m);
		return;
	}
	*upf_leave(m) = (struct upf_leave){
		.peer = session->upf, .flags = flags, .interface = peer->interface};
	ap_next_one(n, GNB_HDR_OUT, m);
}

/** @return port of the finished frame, or -1: it went elsewhere */
static inline int
send(struct ap_node *n, void *priv, struct rte_mbuf *m, uint64_t now_ns)
{
	struct sender *s = priv;
	const struct ap_meta meta = *ap_meta(m);
	const struct gnb_table *t = s->gnb->table;
	const struct gnb_session *session;
	const struct gnb_frame *to;
	struct gnb_drb *d;
	uint32_t row = GNB_NO_ROW;
	uint16_t bytes;
	uint8_t *gtpu, qfi;

	if (likely(meta.bearer < s->gnb->nb_bearers))
		row = s->gnb->row_of_bearer[meta.bearer];
	if (unlikely(row == GNB_NO_ROW)) {
		ap_drop(n, DROP_NO_CONTEXT, m);
		return -1;
	}
	session = &t->sessions[row >> t->drb_shift];
	d = &t->drbs[row];
	qfi = gnb_formats[d->config.format].sdap_ul ? meta.qfi & GNB_QFI_MAX : d->config.ul_qfi;
	if (unlikely(session->flags & GNB_SESSION_UL_STOPPED)) {
		drop(n, d, DROP_UL_STOPPED, m);
		return -1;
	}
	if (unlikely(gnb_slot_of_qfi(session, qfi) == GNB_NO_DRB)) {
		drop(n, d, DROP_NO_DRB, m);
		return -1;
	}
	d->ul_packets++;
	d->ul_bytes += m->pkt_len;
	to = gnb_frame_get(s->frames, s->net, s->peers, session->upf, now_ns);
	if (unlikely(to == NULL || !gnb_frame_fits(to, m, GTPU_HDR_PSC_BYTES))) {
		slow(n, s, session, d, m, qfi);
		return -1;
	}
	bytes = (uint16_t)(m->pkt_len + GTPU_HDR_PSC_BYTES);
	gtpu = rte_pktmbuf_mtod(m, uint8_t *) - GTPU_HDR_PSC_BYTES;
	gtpu_gpdu_psc_put(gtpu, session->ul_teid, (uint16_t)m->pkt_len, PSC_UL, qfi, false);
	gnb_frame_done(m, gnb_frame_put(to, gtpu, bytes + UDP_HDR_BYTES, s->id++));
	*upf_leave(m) = (struct upf_leave){.flags = meta.flags & AP_M_TIMED};
	return to->port;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	return gnb_hdr_process(graph, node, objs, nb, send);
}

static int
init(struct ap_node *n)
{
	const struct gnb *gnb = n->role;

	*(struct sender *)n->priv = (struct sender){
		.gnb = gnb,
		.frames = gnb_worker_at(n)->frames,
		.net = gnb->edge.net,
		.peers = &gnb->edge.peers,
		.hdr_pool = gnb->edge.workers[n->index].hdr_pool,
	};
	return 0;
}

static const struct ap_node_type gnb_tunnel = {
	.name = "gnb_tunnel",
	.help = "takes what a bearer delivered into its session's tunnel to the UPF",
	.process = process,
	.edges = gnb_hdr_edges,
	.nb_edges = GNB_HDR_OUT + 1,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct sender),
	.init = init,
};
AP_NODE_REGISTER(gnb_tunnel)
