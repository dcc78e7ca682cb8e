/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * gnb_hdr_tx: downlink headers. An SDU gets SDAP (TS 37.324 §5.2.1), PDCP (TS 38.323 §5.2.1) and
 * RLC (TS 38.322 §5.2.2.1, §5.2.3.1) headers of its DRB, then GTP-U, UDP, IP and link header
 * toward its DU, all in one go before a payload that stays where it is.
 *
 * The outer IPv4 Identification is COUNT's low half, so that a SmartNIC that numbers a bearer's
 * packets writes the same octets. What cannot leave is dropped before it takes a sequence number,
 * as far as this node knows.
 */
#include "modules/gnb/gnb_hdr.h"
#include "modules/p4/p4_host.h"

enum {
	DROP_NO_DRB,      /**< it went while the packet was under way */
	DROP_COUNT_LIMIT, /**< COUNT would wrap: TS 38.323 §6.3.5, TS 33.501 §6.9 */
	DROP_PEER,        /**< its DU is no more */
	DROP_TOO_LONG,    /**< for IP */
	DROP_NO_MBUF,
};
static const char *const drops[] = {[DROP_NO_DRB] = "no_drb",
				    [DROP_COUNT_LIMIT] = "count_limit",
				    [DROP_PEER] = "peer",
				    [DROP_TOO_LONG] = "too_long",
				    [DROP_NO_MBUF] = "no_mbuf"};

struct sender {
	struct gnb_table *table;
	struct gnb_frame *frames;
	const struct upf_net *net;
	const struct upf_peers *peers;
	struct rte_mempool *hdr_pool;
	struct rte_ring *reports;
	uint64_t aside; /**< p4_aside */
};

static void
drop(struct ap_node *n, struct gnb_drb *d, uint8_t reason, struct rte_mbuf *m)
{
	d->drops++;
	ap_drop(n, reason, m);
}

/** COUNT nears its end. @return whether there is one left for a packet. */
static bool
count_left(const struct sender *s, struct gnb_drb *d, uint32_t row)
{
	const bool limit = d->tx_next == GNB_COUNT_MAX;
	const uint8_t flag = limit ? GNB_DRB_LIMITED : GNB_DRB_NOTIFIED;
	const uint32_t session = row >> s->table->drb_shift;
	const struct gnb_report r = {
		.kind = limit ? GNB_REPORT_COUNT_LIMIT : GNB_REPORT_COUNT_NOTIFY,
		.teid = gnb_teid_with_slot(s->table->sessions[session].teid,
					   row - (session << s->table->drb_shift)),
		.count = d->tx_next,
	};

	if (!(d->flags & flag) && gnb_report_put(s->reports, &r))
		d->flags |= flag;
	return !limit;
}

/** Takes the next sequence numbers. @return the headers' word. */
static inline uint64_t
number(struct gnb_drb *d, const struct gnb_format *f, uint8_t sdap, uint32_t sdu_bytes)
{
	const uint64_t word = gnb_header_word(f, d->tx_next, d->rlc_tx_next, sdap);

	d->tx_next++;
	d->rlc_tx_next++;
	d->processed++;
	d->dl_packets++;
	d->dl_bytes += sdu_bytes;
	return word;
}

/** By way of upf_out: the neighbour is not known yet, fragments are needed, or a new segment. */
static void
slow(struct ap_node *n, const struct sender *s, struct gnb_drb *d, const struct gnb_format *f,
     struct rte_mbuf *m)
{
	const struct gnb_found found = *gnb_found(m);
	const struct upf_tag tag = {.teid = d->config.du_teid};
	const struct upf_peer *peer = &s->peers->peer[d->config.du];
	const uint16_t id = (uint16_t)d->tx_next;
	const uint32_t bytes = m->pkt_len;
	uint8_t word[8], *p;

	if (d->config.du == 0 || !peer->gtpu) {
		drop(n, d, DROP_PEER, m);
		return;
	}
	if (bytes + f->dl_bytes > UPF_ENCAP_INNER_MAX) {
		drop(n, d, DROP_TOO_LONG, m);
		return;
	}
	p = gnb_room(&m, f->dl_bytes, s->hdr_pool);
	if (p == NULL) {
		drop(n, d, DROP_NO_MBUF, m);
		return;
	}
	be64_put(word, number(d, f, found.sdap, bytes));
	memcpy(p, word + 8 - f->dl_bytes, f->dl_bytes);
	upf_encap(&m, peer, &tag, 0, id, s->hdr_pool); /* there is room */
	*upf_leave(m) = (struct upf_leave){.peer = d->config.du,
					   .flags = found.flags & AP_M_TIMED,
					   .interface = peer->interface};
	ap_next_one(n, GNB_HDR_OUT, m);
}

static inline int
send(struct ap_node *n, void *priv, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct sender *s = priv;
	const struct gnb_found found = *gnb_found(m);
	struct gnb_drb *d = &s->table->drbs[found.row];
	const struct gnb_format *f = &gnb_formats[d->config.format];
	const struct gnb_frame *to;
	const uint32_t bytes = m->pkt_len;
	uint8_t *tpdu = rte_pktmbuf_mtod(m, uint8_t *), *gtpu;
	uint16_t inner, id;

	if (unlikely(d->config.id == 0)) {
		ap_drop(n, DROP_NO_DRB, m);
		return -1;
	}
	if (unlikely(m->ol_flags & s->aside && d->owner == GNB_OWNER_NIC)) {
		ap_next_one(n, GNB_HDR_NIC, m); /* its numbers are the SmartNIC's */
		return -1;
	}
	if (unlikely(d->tx_next >= GNB_COUNT_NOTIFY && !count_left(s, d, found.row))) {
		drop(n, d, DROP_COUNT_LIMIT, m);
		return -1;
	}
	to = gnb_frame_get(s->frames, s->net, s->peers, d->config.du, now_ns);
	if (unlikely(to == NULL || !gnb_frame_fits(to, m, f->dl_bytes + GTPU_HDR_BYTES))) {
		slow(n, s, d, f, m);
		return -1;
	}
	id = (uint16_t)d->tx_next;
	inner = (uint16_t)(bytes + f->dl_bytes);
	/* All eight octets of the word; GTP-U then covers those in front. */
	be64_put(tpdu - 8, number(d, f, found.sdap, bytes));
	gtpu = tpdu - f->dl_bytes - GTPU_HDR_BYTES;
	be64_put(gtpu, (uint64_t)(0x30FF0000U | inner) << 32 | d->config.du_teid);
	gnb_frame_done(m, gnb_frame_put(to, gtpu, inner + UDP_HDR_BYTES + GTPU_HDR_BYTES, id));
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
		.table = gnb->table,
		.frames = gnb_worker_at(n)->frames,
		.net = gnb->edge.net,
		.peers = &gnb->edge.peers,
		.hdr_pool = gnb->edge.workers[n->index].hdr_pool,
		.reports = gnb->ctx[n->index].reports,
		.aside = p4_aside,
	};
	return 0;
}

static const struct ap_node_type gnb_hdr_tx = {
	.name = "gnb_hdr_tx",
	.help = "downlink SDAP, PDCP and RLC headers, and the tunnel to the DU",
	.process = process,
	.edges = gnb_hdr_edges,
	.nb_edges = RTE_DIM(gnb_hdr_edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct sender),
	.rare_edges = 1U << GNB_HDR_LOCAL | 1U << GNB_HDR_NIC,
	.init = init,
};
AP_NODE_REGISTER(gnb_hdr_tx)
