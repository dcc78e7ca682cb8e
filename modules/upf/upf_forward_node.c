/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_forward: FARs, TS 29.244 §5.2.3: forwards, with an outer header or without, drops, buffers,
 * tells the CP function, duplicates. Packets that waited go out from expire(), which the buffer
 * wakes when rules let them.
 */
#include "core/clock.h"
#include "core/pkt.h"
#include "core/worker.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_buffer.h"
#include "modules/upf/upf_charge.h"
#include "modules/upf/upf_encap.h"
#include "modules/upf/upf_end_marker.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_mark.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_redirect.h"

#define DRAIN 64 /* packets that leave the buffer at once */
#define USUAL (UPF_LANE_FORWARD | UPF_LANE_BUFFER | UPF_LANE_MORE)

enum {
	DROP_FAR,
	DROP_OVERFLOW,
	DROP_DISCARDED,
	DROP_NO_MBUF,
	DROP_TOO_LONG,
	DROP_NO_TUNNEL,
	DROP_QUOTA
};

static const char *const edges[] = {[UPF_FORWARD_OUT] = "out", [UPF_FORWARD_REDIRECT] = "redirect"};
static const char *const drops[] = {
	[DROP_FAR] = "far",                    /* the FAR drops */
	[DROP_OVERFLOW] = "buffer_full",       /* more than BAR, session or worker may keep */
	[DROP_DISCARDED] = "buffer_discarded", /* waited, and then a FAR or DROBU dropped it */
	[DROP_NO_MBUF] = "no_mbuf",
	[DROP_TOO_LONG] = "too_long",   /* for the outer header's length fields */
	[DROP_NO_TUNNEL] = "no_tunnel", /* an End Marker to where there is no GTP-U */
	[DROP_QUOTA] = "quota",         /* used up by those that waited before it */
};

struct forward {
	uint16_t id; /**< IPv4 identification of outer headers */
};

struct visit {
	struct ap_node *n;
	struct forward *f;
	struct upf_worker *w;
	const struct upf_peer *peers;
	uint64_t now_ns;
	uint8_t why; /**< the last packet could not be sent */
};

/** A packet that is not sent, for `v->why`: what was counted for it is taken off again. */
static void
lose(struct visit *v, struct rte_mbuf *m, struct upf_session *s, uint16_t l)
{
	if ((s->lanes[l].flags & UPF_CHARGE_MASK) == UPF_CHARGE_THESE && !upf_uncharged(m))
		upf_urr_uncount(upf_accounts_of(s), l, m->pkt_len);
	ap_drop(v->n, v->why, m);
}

/** @return UPF_TAG fields of a lane's packet. */
static inline struct upf_tag
tag_of(const struct upf_lane *lane, const struct rte_mbuf *m)
{
	const uint8_t rx = upf_matched_rx(m);
	struct upf_tag t = {
		.teid = lane->teid,
		.psc = lane->flags & UPF_LANE_PSC,
		.down = lane->flags & UPF_LANE_DOWN,
		.rqi = lane->flags & UPF_LANE_RQI || rx & UPF_RX_RQI,
		.qfi = lane->qfi,
	};

	if (t.qfi == 0xFF)
		t.qfi = rx & UPF_RX_QFI ? upf_matched_qfi(m) : 0;
	return t;
}

static inline void
leave(struct rte_mbuf *m, uint32_t peer, uint8_t from, uint8_t interface)
{
	*upf_leave(m) = (struct upf_leave){.peer = peer, .from = from, .interface = interface};
}

/** Puts the outer header and says where to. @return the packet, or NULL: `m` is as it was. */
static inline struct rte_mbuf *
into_tunnel(struct visit *v, struct rte_mbuf *m, uint32_t index, const struct upf_tag *tag,
	    uint8_t from, uint8_t tos)
{
	const struct upf_peer *peer = &v->peers[index];

	if (unlikely(m->pkt_len > UPF_ENCAP_INNER_MAX)) {
		v->why = DROP_TOO_LONG;
		return NULL;
	}
	if (unlikely(upf_encap(&m, peer, tag, tos, v->f->id++, v->w->hdr_pool) == NULL)) {
		v->why = DROP_NO_MBUF;
		return NULL;
	}
	leave(m, index, from, peer->interface);
	return m;
}

/** Interface a packet came by as plain IP; 0 if it came in a tunnel. */
static inline uint8_t
from_of(struct rte_mbuf *m)
{
	return upf_matched_rx(m) & UPF_RX_TUNNEL ? 0 : upf_arrival(m)->interface;
}

static inline struct rte_mbuf *
onward(struct visit *v, struct rte_mbuf *m, const struct upf_lane *lane)
{
	const uint8_t from = from_of(m);

	if (lane->flags & UPF_LANE_OUTER) {
		struct upf_tag tag = tag_of(lane, m);

		return into_tunnel(v, m, lane->peer, &tag, from,
				   upf_tos(rte_pktmbuf_mtod(m, const uint8_t *)));
	}
	leave(m, 0, from, lane->interface);
	return m;
}

/** Copies of a packet, for FARs with DUPL. They go out before it. */
static void
duplicate(struct visit *v, struct rte_mbuf *m, const struct upf_lane *lane,
	  const struct upf_far *far)
{
	for (unsigned i = 0; i < far->nb_duplicates; i++) {
		const struct upf_forwarding *to = &far->duplicates[i];
		struct rte_mbuf *copy = rte_pktmbuf_copy(m, v->w->pkt_pool, 0, UINT32_MAX), *sent;
		struct upf_tag tag = tag_of(lane, m);

		v->n->made++;
		if (copy == NULL) {
			v->n->drops[DROP_NO_MBUF]++;
			continue;
		}
		*ap_meta(copy) = *ap_meta(m);
		tag.teid = to->teid;
		tag.psc = to->psc;
		sent = copy;
		if (to->peer != 0)
			sent = into_tunnel(v, copy, to->peer, &tag, 0,
					   upf_tos(rte_pktmbuf_mtod(copy, const uint8_t *)));
		else
			leave(copy, 0, 0, to->interface);
		if (sent != NULL)
			ap_next_one(v->n, UPF_FORWARD_OUT, sent);
		else
			ap_drop(v->n, v->why, copy);
	}
}

static struct rte_mbuf *
marker(struct visit *v, struct rte_mbuf *m, const struct upf_lane *lane)
{
	const struct upf_peer *peer = &v->peers[lane->peer];

	if (!(lane->flags & UPF_LANE_OUTER) || !peer->gtpu) {
		ap_drop(v->n, DROP_NO_TUNNEL, m);
		return NULL;
	}
	if (!upf_end_marker_put(&m, peer, lane->teid, v->f->id++, v->w->hdr_pool)) {
		ap_drop(v->n, DROP_NO_MBUF, m);
		return NULL;
	}
	*upf_leave(m) = (struct upf_leave){
		.peer = lane->peer, .flags = AP_M_CONTROL, .interface = peer->interface};
	return m;
}

/** A frame to its LAN: with the tag of the VLAN that it is. @return it, or NULL */
static struct rte_mbuf *
into_lan(struct visit *v, struct rte_mbuf *m, uint8_t interface)
{
	const struct upf_link *link = &v->w->upf->net->links[interface];
	uint8_t macs[12], *p;

	/* An MTU is of what a frame carries; one tag of the UE's own may come with it. */
	if (m->pkt_len > link->mtu + UPF_FRAME_HDR + 4U || m->data_len < UPF_FRAME_HDR) {
		v->why = DROP_TOO_LONG;
		return NULL;
	}
	if (link->vlan) {
		memcpy(macs, rte_pktmbuf_mtod(m, uint8_t *), sizeof(macs));
		rte_pktmbuf_adj(m, sizeof(macs));
		p = ap_pkt_prepend(&m, sizeof(macs) + 4, v->w->hdr_pool);
		if (p == NULL) {
			rte_pktmbuf_prepend(m, sizeof(macs));
			v->why = DROP_NO_MBUF;
			return NULL;
		}
		memcpy(p, macs, sizeof(macs));
		be16_put(p + 12, UPF_TAG_C);
		be16_put(p + 14, link->vlan);
	}
	*upf_leave(m) = (struct upf_leave){
		.peer = UPF_LEAVE_FRAME, .flags = AP_M_CONTROL, .interface = interface};
	return m;
}

/** Frames have neither a TTL nor a sender who is told. @return the frame, or NULL */
static struct rte_mbuf *
onward_frame(struct visit *v, struct rte_mbuf *m, const struct upf_lane *lane)
{
	struct upf_tag tag;

	if (!(lane->flags & UPF_LANE_OUTER))
		return into_lan(v, m, lane->interface);
	tag = tag_of(lane, m);
	return into_tunnel(v, m, lane->peer, &tag, 0, 0);
}

/** Whether the packet is one that upf_redirect has to look at. */
static bool
is_redirected(const struct rte_mbuf *m, const struct upf_lane *lane, const struct upf_far *far)
{
	return far->redirect_len != 0 && !(lane->flags & UPF_LANE_DOWN) &&
	       !upf_redirect_passes(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
}

/** With what UPF_LANE_MORE stands for. @return the packet, or NULL: lost, or redirected */
static struct rte_mbuf *
onward_more(struct visit *v, struct rte_mbuf *m, struct upf_session *s, uint16_t l)
{
	const struct upf_lane *lane = &s->lanes[l];
	const struct upf_far *far = &s->rules->fars[s->rules->pdrs[l].far];
	struct rte_mbuf *sent;

	if (lane->flags & UPF_LANE_ETHERNET) {
		sent = onward_frame(v, m, lane);
		if (sent == NULL)
			lose(v, m, s, l);
		return sent;
	}
	if (lane->flags & UPF_LANE_MORE) {
		if (is_redirected(m, lane, far)) {
			ap_next_one(v->n, UPF_FORWARD_REDIRECT, m);
			return NULL;
		}
		duplicate(v, m, lane, far);
		if (far->to.tos_mask != 0 && !(lane->flags & UPF_LANE_OUTER) &&
		    !upf_mark(&m, far->to.tos, far->to.tos_mask, v->w->hdr_pool)) {
			v->why = DROP_NO_MBUF;
			lose(v, m, s, l);
			return NULL;
		}
	}
	sent = onward(v, m, lane);
	if (sent == NULL)
		lose(v, m, s, l);
	return sent;
}

/* What upf_charge left because it might have to wait. */
static void
charge(struct visit *v, struct upf_session *s, struct upf_lane *lane, struct rte_mbuf *m)
{
	if (!upf_uncharged(m) || (lane->flags & UPF_CHARGE_MASK) != UPF_CHARGE_THESE)
		return;
	m->packet_type &= ~UPF_UNCHARGED;
	upf_charge_count(v->w->charger, s, lane, m->pkt_len, (uint32_t)(v->now_ns / AP_NS_PER_MS),
			 v->now_ns);
}

/** All that is not plain forwarding. @return the packet, or NULL: dropped or held. */
static struct rte_mbuf *
forward_slow(struct visit *v, struct rte_mbuf *m, struct upf_session *s, uint16_t l)
{
	struct upf_lane *lane = &s->lanes[l];
	const uint32_t bytes = m->pkt_len;
	enum upf_buffered b;

	if (bytes == 0)
		return marker(v, m, lane);
	if (s->queue == 0 && lane->flags & UPF_LANE_FORWARD && !(lane->flags & UPF_LANE_BUFFER))
		return onward_more(v, m, s, l);
	b = upf_buffer_put(v->w->buffer, s, l, m, v->now_ns);
	if (b == UPF_BUFFERED_HELD)
		return NULL;
	if (b == UPF_BUFFERED_PASS) {
		charge(v, s, lane, m);
		return onward_more(v, m, s, l);
	}
	if (lane->flags & UPF_LANE_DOWN)
		upf_urr_dropped(upf_accounts_of(s), l, bytes, v->now_ns);
	ap_drop(v->n, b == UPF_BUFFERED_FULL ? DROP_OVERFLOW : DROP_FAR, m);
	return NULL;
}

static uint16_t
upf_forward_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct upf_worker *w = upf_worker_of(n);
	struct visit v = {.n = n,
			  .f = n->priv,
			  .w = w,
			  .peers = w->upf->peers.peer,
			  .now_ns = ap_node_now(n)};
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];
		struct upf_session *s = upf_matched_session(m);
		const uint16_t l = upf_matched_lane(m);

		if (likely((s->lanes[l].flags & USUAL) == UPF_LANE_FORWARD && s->queue == 0 &&
			   m->pkt_len != 0)) {
			struct rte_mbuf *sent = onward(&v, m, &s->lanes[l]);

			if (unlikely(sent == NULL))
				lose(&v, m, s, l);
			m = sent;
		} else {
			m = forward_slow(&v, m, s, l);
		}
		if (likely(m != NULL))
			objs[kept++] = m;
	}
	ap_next_all(n, graph, node, UPF_FORWARD_OUT, objs, kept);
	return nb;
}

/** What waited and may go. */
static void
upf_forward_expire(struct ap_node *n, uint64_t now_ns)
{
	struct upf_worker *w = upf_worker_of(n);
	struct visit v = {
		.n = n, .f = n->priv, .w = w, .peers = w->upf->peers.peer, .now_ns = now_ns};
	struct rte_mbuf *pkts[DRAIN];
	uint16_t nb = upf_buffer_take(w->buffer, pkts, DRAIN), kept = 0;

	if (nb == DRAIN)
		ap_node_arm(n, now_ns + 1);
	for (uint16_t i = 0; i < nb; i++) {
		struct upf_session *s = upf_matched_session(pkts[i]);
		const uint16_t l = upf_matched_lane(pkts[i]);
		struct rte_mbuf *m;

		if (s->lanes[l].flags & UPF_LANE_QUOTA_OUT) {
			ap_drop(n, DROP_QUOTA, pkts[i]);
			continue;
		}
		charge(&v, s, &s->lanes[l], pkts[i]);
		m = onward_more(&v, pkts[i], s, l);
		if (m != NULL)
			pkts[kept++] = m;
	}
	ap_next(n, UPF_FORWARD_OUT, pkts, kept);
}

static void
wake(void *arg, uint64_t now_ns)
{
	ap_node_arm(arg, now_ns);
}

static int
upf_forward_init(struct ap_node *n)
{
	struct upf_worker *w = upf_worker_of(n);
	const struct ap_cfg_upf *cfg = w->upf->cfg;
	const struct upf_buffer_cfg buffer = {
		.packets = upf_kept_packets(w->upf),
		.session_packets = cfg->buffer_session_packets,
		.wheel = n->worker->wheel,
		.reports = w->reports,
		.socket = SOCKET_ID_ANY,
	};

	w->buffer = upf_buffer_create(&buffer);
	if (w->buffer == NULL)
		return -ENOMEM;
	upf_buffer_bind(w->buffer, wake, n, &n->drops[DROP_DISCARDED]);
	return 0;
}

static void
upf_forward_fini(struct ap_node *n)
{
	struct upf_worker *w = upf_worker_of(n);

	upf_buffer_destroy(w->buffer);
	w->buffer = NULL;
}

static uint64_t
upf_forward_held(const struct ap_node *n)
{
	return upf_buffer_held(upf_worker_of(n)->buffer);
}

static const struct ap_node_type upf_forward = {
	.name = "upf_forward",
	.help = "does what FARs say: outer headers, drops, buffering, duplicates",
	.process = upf_forward_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.rare_edges = 1 << UPF_FORWARD_REDIRECT, /* and back */
	.priv_size = sizeof(struct forward),
	.init = upf_forward_init,
	.fini = upf_forward_fini,
	.held = upf_forward_held,
	.expire = upf_forward_expire,
};
AP_NODE_REGISTER(upf_forward)
