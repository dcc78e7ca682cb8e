/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_match: which session and which lane (PDR) a packet takes, TS 29.244 §5.2.1. A TEID or handle
 * is an index; of most sessions line 0 says the lane. What has no session goes to upf_local, which
 * knows whether its sender is told.
 *
 * Where rules of one tunnel differ in more than that, upf_flow has the lane by the packet's flow.
 *
 * Uplink packets whose source is not the UE's are dropped (TS 23.501 §5.8.2.4), and those of a QFI
 * that the session does not have (TS 29.244 §8.2.89).
 *
 * Passes over the vector, so that each cache line of a session is fetched while others are
 * worked on: index of addresses, line 0, lane.
 */
#include <string.h>

#include <rte_prefetch.h>

#include "codec/be.h"
#include "core/clock.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_in.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_pdi.h"
#include "modules/upf/upf_tables.h"

#define CHUNK 128
#define IP4_DST 16
#define IP6_DST 24
#define IP4_BYTES 20
#define TCP_FLAGS 13
#define IP6_BYTES 40

enum {
	DROP_NO_PDR,
	DROP_SPOOFED,
	DROP_WRONG_QFI,
	DROP_MALFORMED,
	DROP_NO_TUNNEL,
	DROP_MACS,
	DROP_UNKNOWN_MAC,
	DROP_NO_MBUF,
};

static const char *const edges[] = {
	[UPF_MATCH_POLICE] = "police",
	[UPF_MATCH_LOCAL] = "local",
	[UPF_MATCH_FLOW] = "flow",
};
static const char *const drops[] = {
	[DROP_NO_PDR] = "no_pdr",
	[DROP_SPOOFED] = "spoofed",
	[DROP_WRONG_QFI] = "wrong_qfi",
	[DROP_MALFORMED] = "malformed",
	[DROP_NO_TUNNEL] = "no_tunnel", /* an End Marker of a session that leads into no tunnel */
	[DROP_MACS] = "macs",           /* more addresses behind a UE than may be */
	[DROP_UNKNOWN_MAC] = "unknown_mac", /* a frame of a LAN to no address that was learned */
	[DROP_NO_MBUF] = "no_mbuf",         /* for the copies of a frame to a group */
};

static const uint8_t reasons[] = {
	[-UPF_MISS_NO_PDR] = DROP_NO_PDR,
	[-UPF_MISS_SPOOFED] = DROP_SPOOFED,
	[-UPF_MISS_QFI] = DROP_WRONG_QFI,
	[-UPF_MISS_BAD_INNER] = DROP_MALFORMED,
};

struct visit {
	struct ap_node *n;
	const struct upf *upf;
	struct upf_tables *tables;
	uint32_t now_s;
	struct rte_mbuf *local[CHUNK], *flow[CHUNK];
	uint16_t nb_local, nb_flow;
};

/** What lane_slow() says in place of a lane. */
enum { TO_LOCAL = INT_MIN, TO_FLOW };

#define BY_FLOW 0x100U /**< of lane_fast(): above all lanes */

static inline bool
ip_is_whole(const struct rte_mbuf *m, uint8_t rx)
{
	return m->data_len >= (rx & UPF_RX_INNER6 ? IP6_BYTES : IP4_BYTES);
}

/** Handle of the session that the destination leads to: steering may have found it already. */
static inline uint32_t
handle_of(const struct visit *v, const struct upf_arrival *a, const uint8_t *ip)
{
	uint32_t ip4;

	if (a->teid != 0)
		return a->teid;
	if (a->rx & UPF_RX_INNER6)
		return upf_index_ip6(v->upf->index, a->interface, ip + IP6_DST);
	memcpy(&ip4, ip + IP4_DST, sizeof(ip4));
	return upf_index_ip4(v->upf->index, a->interface, ip4);
}

/** Fetches the index's entry of a packet whose handle is not known. */
static inline void
prefetch_index(const struct visit *v, struct rte_mbuf *m)
{
	const struct upf_arrival *a = upf_arrival(m);
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t prefix;

	if (a->rx & (UPF_RX_TUNNEL | UPF_RX_FRAME) || a->teid != 0 || !ip_is_whole(m, a->rx))
		return;
	if (a->rx & UPF_RX_INNER6) {
		memcpy(&prefix, ip + IP6_DST, sizeof(prefix));
		upf_index_prefetch(v->upf->index, a->interface, rte_be_to_cpu_64(prefix), true);
	} else {
		upf_index_prefetch(v->upf->index, a->interface, be32_get(ip + IP4_DST), false);
	}
}

/** Slot a frame of a LAN leads to. An address just learned here may not be in the index yet. */
static __rte_noinline struct upf_session *
slot_of_frame(const struct visit *v, struct rte_mbuf *m)
{
	struct upf_arrival *a = upf_arrival(m);
	uint64_t key;

	if (m->data_len < UPF_FRAME_MIN)
		return NULL;
	key = upf_frame_key(rte_pktmbuf_mtod(m, const uint8_t *));
	if (a->teid == 0)
		a->teid = upf_index_mac(v->upf->index, a->interface, key);
	if (a->teid == 0)
		a->teid = upf_recent_find(&v->tables->recent, a->interface, key);
	return a->teid != 0 ? upf_slot(v->tables, a->teid) : NULL;
}

/** Slot that a packet's TEID or destination leads to, to be checked, or NULL. */
static inline struct upf_session *
slot_of(const struct visit *v, struct rte_mbuf *m)
{
	struct upf_arrival *a = upf_arrival(m);

	if (a->rx & UPF_RX_TUNNEL)
		return upf_slot(v->tables, a->teid);
	if (unlikely(a->rx & UPF_RX_FRAME))
		return slot_of_frame(v, m);
	if (unlikely(!ip_is_whole(m, a->rx)))
		return NULL;
	a->teid = handle_of(v, a, rte_pktmbuf_mtod(m, const uint8_t *));
	return a->teid != 0 ? upf_slot(v->tables, a->teid) : NULL;
}

/** The session of a slot or, of TEIDs that the CP function chose, of the index; NULL: unknown. */
static struct upf_session *
session_slow(const struct visit *v, const struct upf_arrival *a, struct upf_session *slot)
{
	if (!(a->rx & UPF_RX_TUNNEL))
		return a->teid != 0 ? upf_by_handle(v->tables, a->teid) : NULL;
	if (slot != NULL && upf_slot_has_teid(slot, a->teid))
		return upf_slot_session(slot);
	if (upf_index_has_foreign(v->upf->index)) {
		uint32_t handle = upf_index_foreign(v->upf->index, a->teid);

		return handle != 0 ? upf_by_handle(v->tables, handle) : NULL;
	}
	return NULL;
}

/** An End Marker goes where its tunnel's packets go: any PDR's of that tunnel which makes an outer
 * header (TS 29.281 §7.3.2). */
static int
lane_of_marker(const struct upf_session *s, uint32_t teid)
{
	const struct upf_rules *r = s->rules;

	for (unsigned i = 0; i < r->nb_lanes; i++)
		if (r->pdrs[i].teid == teid && s->lanes[i].flags & UPF_LANE_OUTER)
			return (int)i;
	return -DROP_NO_TUNNEL - 1;
}

/**
 * Tunnels of one lane which asks for no source check (those of N9, framed routes), and further
 * tunnels of a session. @return lane, or -1
 */
static int
lane_of_tunnel(const struct upf_session *slot, const struct upf_arrival *a)
{
	unsigned lane = slot->only_up;

	if (lane == 0 || !(slot->up_interfaces >> a->interface & 1) ||
	    (slot->only_qfi != 0xFF && slot->only_qfi != a->qfi))
		return -1;
	lane--;
	slot = slot->flags & UPF_SESSION_ALIAS ? slot->of : slot;
	return slot->lanes[lane].flags & UPF_LANE_CHECK_SOURCE ? -1 : (int)lane;
}

/** A frame of an Ethernet session. @return as lane_slow() */
static int
lane_of_frame(const struct visit *v, const struct rte_mbuf *m, struct upf_session *s,
	      const struct upf_arrival *a)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	struct upf_frame f;
	int lane = upf_ethernet_lane(s, a, p, m->data_len);

	if (lane < 0)
		return -reasons[-lane] - 1;
	if (s->lanes[lane].flags & UPF_LANE_DOWN || !upf_frame_read(p, m->data_len, &f))
		return lane;
	if (upf_mac_is_group(f.src))
		return -DROP_SPOOFED - 1;
	return upf_ethernet_learn(s->rules->ethernet, upf_mac_key(f.src, upf_frame_vid(&f)),
				  v->now_s, upf_worker_of(v->n)->reports, &v->tables->recent)
		       ? lane
		       : -DROP_MACS - 1;
}

/**
 * Any packet, without shortcuts.
 * @param group of PDRs, with TO_FLOW
 * @return lane; -1 - drop reason; TO_LOCAL; TO_FLOW
 */
static int
lane_slow(const struct visit *v, struct rte_mbuf *m, struct upf_session *slot,
	  struct upf_session **session, int *group)
{
	struct upf_arrival a = *upf_arrival(m);
	struct upf_session *s;
	int lane;

	/* What a short T-PDU may be its session says. */
	if (a.rx & UPF_RX_FRAME ? !(a.rx & UPF_RX_TUNNEL) && m->data_len < UPF_FRAME_MIN
				: !(a.rx & UPF_RX_END_MARKER) && !ip_is_whole(m, a.rx))
		return -DROP_MALFORMED - 1;
	s = session_slow(v, &a, slot);
	if (s == NULL)
		return TO_LOCAL;
	*session = s;
	if (a.rx & UPF_RX_END_MARKER)
		return lane_of_marker(s, a.teid);
	if (s->rules->ethernet)
		return lane_of_frame(v, m, s, &a);
	if (a.rx & UPF_RX_FRAME) {
		if (!(a.rx & UPF_RX_TUNNEL) || !upf_in_frame_is_ip(m))
			return -DROP_MALFORMED - 1;
		a.rx = upf_arrival(m)->rx;
	}
	if (!(a.rx & UPF_RX_TUNNEL)) {
		a.teid = 0;
	} else if (slot != NULL && upf_slot_has_teid(slot, a.teid)) {
		lane = lane_of_tunnel(slot, &a);
		if (lane >= 0)
			return lane;
	}
	*group = upf_group_of(s->rules, &a);
	if (*group >= 0 && s->rules->groups[*group].flow)
		return TO_FLOW;
	lane = upf_match_lane(s, &a, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	return lane >= 0 ? lane : -reasons[-lane] - 1;
}

/**
 * What line 0 alone says: of the usual packet of a plain session its lane, of one whose lanes are
 * kept by flow the group of PDRs. 0: it takes lane_slow().
 * @return lane + 1, or BY_FLOW + group
 */
static inline unsigned
lane_fast(const struct upf_session *s, const struct rte_mbuf *m, const struct upf_arrival *a)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);

	if (unlikely(s == NULL || s->id == 0 || s->flags & UPF_SESSION_ALIAS ||
		     a->rx & (UPF_RX_END_MARKER | UPF_RX_FRAME) || !ip_is_whole(m, a->rx)))
		return 0;
	if (a->rx & UPF_RX_TUNNEL) {
		if (unlikely(s->generation != upf_teid_generation(a->teid) ||
			     !(s->up_interfaces >> a->interface & 1)))
			return 0;
		if (s->flags & UPF_SESSION_FLOW_UP)
			return BY_FLOW + s->only_qfi;
		return unlikely((s->only_qfi != 0xFF && s->only_qfi != a->qfi) ||
				!upf_source_is_ue(s, ip))
			       ? 0
			       : s->only_up;
	}
	if (unlikely(s->handle != a->teid || !(s->down_interfaces >> a->interface & 1)))
		return 0;
	if (s->flags & UPF_SESSION_FLOW_DOWN)
		return BY_FLOW;
	if (a->rx & UPF_RX_INNER6) {
		uint64_t prefix;

		memcpy(&prefix, ip + IP6_DST, sizeof(prefix));
		return prefix == s->ue_ip6 && prefix != 0 ? s->only_down : 0;
	} else {
		uint32_t ip4;

		memcpy(&ip4, ip + IP4_DST, sizeof(ip4));
		return ip4 == s->ue_ip4 && ip4 != 0 ? s->only_down : 0;
	}
}

/** A copy of a frame to a group for each Ethernet session of its LAN. */
static void
flood(struct visit *v, const struct rte_mbuf *m)
{
	const struct upf_worker *w = upf_worker_of(v->n);
	struct upf_arrival a = *upf_arrival((struct rte_mbuf *)(uintptr_t)m);

	a.teid = 0;
	for (const struct upf_ethernet *e = v->tables->ethernet; e != NULL; e = e->next) {
		const struct upf_session *s = e->session;
		struct rte_mbuf *copy;
		int lane;

		if (s->rules->core_interface != a.interface)
			continue;
		lane = upf_ethernet_lane(s, &a, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
		if (lane < 0)
			continue;
		copy = rte_pktmbuf_copy(m, w->pkt_pool, 0, UINT32_MAX);
		v->n->made++;
		if (copy == NULL) {
			v->n->drops[DROP_NO_MBUF]++;
			continue;
		}
		*upf_arrival(copy) = a;
		upf_matched_set(copy, s, (uint16_t)lane);
		ap_next_one(v->n, UPF_MATCH_POLICE, copy);
	}
}

/** A frame of a LAN to nobody known, TS 23.501 §5.6.10.2: groups are everyone's. */
static void
to_nobody(struct visit *v, struct rte_mbuf *m)
{
	if (!(*rte_pktmbuf_mtod(m, const uint8_t *) & 1)) {
		ap_drop(v->n, DROP_UNKNOWN_MAC, m);
		return;
	}
	flood(v, m);
	v->n->used++;
	rte_pktmbuf_free(m);
}

static inline void
active(const struct visit *v, struct upf_session *s)
{
	if (unlikely(s->flags & UPF_SESSION_INACTIVITY && s->active_s != v->now_s))
		s->active_s = v->now_s;
}

static inline void
to_flow(struct visit *v, struct rte_mbuf *m, struct upf_session *s, unsigned group)
{
	active(v, s);
	/* Ports and flags of TCP, which lie in the next line behind an outer header. */
	rte_prefetch0(rte_pktmbuf_mtod_offset(m, const uint8_t *, IP4_BYTES + TCP_FLAGS));
	upf_matched_set(m, s, (uint16_t)group);
	v->flow[v->nb_flow++] = m;
}

/** @return the session a packet goes on with; NULL: it is dropped, or in v->local or v->flow */
static struct upf_session *
match_slow(struct visit *v, struct rte_mbuf *m, struct upf_session *slot, unsigned *lane)
{
	struct upf_session *s = slot;
	int group = -1;
	int l = lane_slow(v, m, slot, &s, &group);

	if (l == TO_FLOW) {
		to_flow(v, m, s, (unsigned)group);
		return NULL;
	}
	if (l == TO_LOCAL &&
	    (upf_arrival(m)->rx & (UPF_RX_FRAME | UPF_RX_TUNNEL)) == UPF_RX_FRAME) {
		to_nobody(v, m);
		return NULL;
	}
	if (l == TO_LOCAL) {
		v->local[v->nb_local++] = m;
		return NULL;
	}
	if (l < 0) {
		ap_drop(v->n, (uint8_t)(-l - 1), m);
		return NULL;
	}
	*lane = (unsigned)l;
	return s;
}

static uint16_t
match(struct visit *v, struct rte_mbuf **pkts, uint16_t nb, struct rte_mbuf **to)
{
	struct upf_session *slots[CHUNK];
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++)
		prefetch_index(v, pkts[i]);
	for (uint16_t i = 0; i < nb; i++) {
		slots[i] = slot_of(v, pkts[i]);
		rte_prefetch0(slots[i]);
	}
	for (uint16_t i = 0; i < nb; i++) {
		struct upf_session *s = slots[i];
		struct rte_mbuf *m = pkts[i];
		unsigned lane = lane_fast(s, m, upf_arrival(m));

		if (lane >= BY_FLOW) {
			to_flow(v, m, s, lane - BY_FLOW);
			continue;
		}
		if (likely(lane != 0)) {
			lane--;
		} else {
			s = match_slow(v, m, s, &lane);
			if (s == NULL)
				continue;
		}
		rte_prefetch0_write(&s->lanes[lane]);
		active(v, s);
		upf_matched_set(m, s, (uint16_t)lane);
		to[kept++] = m;
	}
	return kept;
}

static uint16_t
upf_match_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct visit v = {.n = n,
			  .upf = n->role,
			  .tables = upf_worker_of(n)->tables,
			  .now_s = (uint32_t)(ap_node_now(n) / AP_NS_PER_S)};
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t from = 0; from < nb; from = (uint16_t)(from + CHUNK)) {
		v.nb_local = v.nb_flow = 0;
		kept = (uint16_t)(kept + match(&v, pkts + from,
					       RTE_MIN((uint16_t)(nb - from), (uint16_t)CHUNK),
					       pkts + kept));
		ap_next(n, UPF_MATCH_LOCAL, v.local, v.nb_local);
		ap_next(n, UPF_MATCH_FLOW, v.flow, v.nb_flow);
	}
	ap_next_all(n, graph, node, UPF_MATCH_POLICE, objs, kept);
	return nb;
}

static const struct ap_node_type upf_match = {
	.name = "upf_match",
	.help = "finds the session and PDR of each packet",
	.process = upf_match_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(upf_match)
