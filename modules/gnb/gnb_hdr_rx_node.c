/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_hdr_rx: uplink headers. RLC, PDCP and SDAP headers of a complete SDU are checked and go
 * (TS 38.322 §5.2.2.2, TS 38.323 §5.2.2, TS 37.324 §5.2.2); what is left gets a tunnel to the UPF
 * with a PDU session container of its QFI (TS 38.415 §5.5.2.2).
 */
#include "modules/gnb/gnb_hdr.h"
#include "modules/upf/upf_in.h"

enum {
	DROP_SHORT,
	DROP_RLC_CONTROL,
	DROP_RLC_SEGMENT,
	DROP_PDCP_CONTROL,
	DROP_UL_STOPPED, /**< the UPF has no such tunnel */
	DROP_PEER,       /**< the UPF is no more */
	DROP_NO_MBUF,
	DROP_SCATTERED, /**< headers over several segments that cannot be joined */
};
static const char *const drops[] = {
	[DROP_SHORT] = "short",
	[DROP_RLC_CONTROL] = "rlc_control",
	[DROP_RLC_SEGMENT] = "rlc_segment",
	[DROP_PDCP_CONTROL] = "pdcp_control",
	[DROP_UL_STOPPED] = "ul_stopped",
	[DROP_PEER] = "peer",
	[DROP_NO_MBUF] = "no_mbuf",
	[DROP_SCATTERED] = "scattered",
};
static const uint8_t drop_of[] = {
	[GNB_UL_SHORT] = DROP_SHORT,
	[GNB_UL_RLC_CONTROL] = DROP_RLC_CONTROL,
	[GNB_UL_RLC_SEGMENT] = DROP_RLC_SEGMENT,
	[GNB_UL_PDCP_CONTROL] = DROP_PDCP_CONTROL,
};

struct receiver {
	struct gnb_table *table;
	struct gnb_frame *frames;
	const struct upf_net *net;
	const struct upf_peers *peers;
	struct rte_mempool *hdr_pool;
	struct gnb_ul_form forms[GNB_FORMATS];
};

static void
drop(struct ap_node *n, struct gnb_drb *d, uint8_t reason, struct rte_mbuf *m)
{
	d->drops++;
	ap_drop(n, reason, m);
}

/** Its tunnel is of no DRB: as if the session had never been found. */
static void
unknown(struct ap_node *n, const struct gnb_session *s, unsigned slot, struct rte_mbuf *m)
{
	const struct gnb_found found = *gnb_found(m);

	upf_in_mark(m, gnb_teid_with_slot(s->teid, slot), 0, found.rx, found.interface);
	ap_next_one(n, GNB_HDR_LOCAL, m);
}

/** @return whether the packet is an SDU with its headers; else it is gone, and counted */
static bool
judge(struct ap_node *n, struct gnb_drb *d, const struct gnb_format *f, struct rte_mbuf *m)
{
	const uint32_t want = RTE_MIN(m->pkt_len, 8U);
	enum gnb_ul_verdict v;

	if (m->data_len < want && !upf_pull(m, (uint16_t)want)) {
		drop(n, d, DROP_SCATTERED, m);
		return false;
	}
	v = gnb_ul_judge(f, rte_pktmbuf_mtod(m, const uint8_t *), m->pkt_len);
	if (v == GNB_UL_SDU)
		return true;
	if (v == GNB_UL_END_MARKER) {
		n->used++;
		rte_pktmbuf_free(m);
	} else {
		drop(n, d, drop_of[v], m);
	}
	return false;
}

/** By way of upf_out. Data is the SDU. */
static void
slow(struct ap_node *n, const struct receiver *r, const struct gnb_session *s, struct gnb_drb *d,
     struct rte_mbuf *m, uint8_t qfi, uint16_t id)
{
	const struct upf_tag tag = {.teid = s->ul_teid, .psc = true, .qfi = qfi};
	const struct upf_peer *peer = &r->peers->peer[s->upf];
	const uint8_t flags = ap_meta(m)->flags & AP_M_TIMED;

	if (s->upf == 0 || !peer->gtpu) {
		drop(n, d, DROP_PEER, m);
		return;
	}
	if (upf_encap(&m, peer, &tag, 0, id, r->hdr_pool) == NULL) {
		drop(n, d, DROP_NO_MBUF, m);
		return;
	}
	*upf_leave(m) =
		(struct upf_leave){.peer = s->upf, .flags = flags, .interface = peer->interface};
	ap_next_one(n, GNB_HDR_OUT, m);
}

static inline int
take(struct ap_node *n, void *priv, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct receiver *r = priv;
	const struct gnb_found found = *gnb_found(m);
	const uint32_t index = found.row >> r->table->drb_shift;
	const struct gnb_session *s = &r->table->sessions[index];
	struct gnb_drb *d = &r->table->drbs[found.row];
	const struct gnb_format *f = &gnb_formats[d->config.format];
	const struct gnb_ul_form *form = &r->forms[d->config.format];
	const struct gnb_frame *to;
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *), *gtpu, qfi;
	const uint16_t id = gnb_hdr_id(m, p, found.rx);
	uint16_t gtpu_bytes;
	uint32_t bytes;
	uint64_t word;

	if (unlikely(d->config.id == 0)) {
		unknown(n, s, found.row - (index << r->table->drb_shift), m);
		return -1;
	}
	if (unlikely(s->flags & GNB_SESSION_UL_STOPPED)) {
		drop(n, d, DROP_UL_STOPPED, m);
		return -1;
	}
	/* 0 is no SDU of any format. */
	word = likely(m->data_len > 8) ? be64_get(p) >> (64 - 8 * f->ul_bytes) : 0;
	if (unlikely((word & form->mask) != form->value)) {
		if (!judge(n, d, f, m))
			return -1;
		p = rte_pktmbuf_mtod(m, uint8_t *);
		word = p[f->ul_bytes - 1];
	}
	qfi = f->sdap_ul ? word & GNB_QFI_MAX : d->config.ul_qfi;
	m = ap_pkt_strip(m, f->ul_bytes);
	p = rte_pktmbuf_mtod(m, uint8_t *);
	bytes = m->pkt_len;
	to = gnb_frame_get(r->frames, r->net, r->peers, s->upf, now_ns);
	d->ul_packets++;
	d->ul_bytes += bytes;
	if (unlikely(to == NULL || !gnb_frame_fits(to, m, GTPU_HDR_PSC_BYTES))) {
		slow(n, r, s, d, m, qfi, id);
		return -1;
	}
	gtpu = p - GTPU_HDR_PSC_BYTES;
	gtpu_bytes = (uint16_t)(bytes + GTPU_HDR_PSC_BYTES - GTPU_HDR_BYTES);
	be64_put(gtpu, (uint64_t)(0x34FF0000U | gtpu_bytes) << 32 | s->ul_teid);
	be64_put(gtpu + 8, (uint64_t)GTPU_EXT_PDU_SESSION_CONTAINER << 32 | 1U << 24 |
				   (uint32_t)PSC_UL << 20 | (uint32_t)qfi << 8);
	gnb_frame_done(m, gnb_frame_put(to, gtpu, gtpu_bytes + GTPU_HDR_BYTES + UDP_HDR_BYTES, id));
	return to->port;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	return gnb_hdr_process(graph, node, objs, nb, take);
}

static int
init(struct ap_node *n)
{
	const struct gnb *gnb = n->role;
	struct receiver *r = n->priv;

	*r = (struct receiver){
		.table = gnb->table,
		.frames = gnb_worker_at(n)->frames,
		.net = gnb->edge.net,
		.peers = &gnb->edge.peers,
		.hdr_pool = gnb->edge.workers[n->index].hdr_pool,
	};
	gnb_ul_forms_make(r->forms);
	return 0;
}

static const struct ap_node_type gnb_hdr_rx = {
	.name = "gnb_hdr_rx",
	.help = "uplink RLC, PDCP and SDAP headers go, and the tunnel to the UPF",
	.process = process,
	.edges = gnb_hdr_edges,
	.nb_edges = RTE_DIM(gnb_hdr_edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct receiver),
	.rare_edges = 1U << GNB_HDR_LOCAL,
	.init = init,
};
AP_NODE_REGISTER(gnb_hdr_rx)
