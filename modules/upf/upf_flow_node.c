/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_flow: the lane of packets of sessions whose PDRs differ in more than tunnel and address, TS
 * 29.244 §5.2.1: of a flow that is known what was found before. The first packets of a flow are
 * looked at for its application where a PDR asks for one (§5.11): until it is found, and where it
 * is not, the packet headers alone say which it is of, or that it is of none; then it stays.
 *
 * Nothing is lost here for want of an entry: such packets are matched each.
 */
#include <string.h>

#include "core/clock.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_filter.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_flow_packet.h"
#include "modules/upf/upf_pdi.h"
#include "modules/upf/upf_scans.h"
#include "modules/upf/upf_tables.h"

#define CHUNK DPI_FLOWS_MAX
#define SWEEP_BUCKETS 2

enum { DROP_NO_PDR, DROP_SPOOFED, DROP_WRONG_QFI, DROP_MALFORMED, DROP_DPI_BAD };

static const char *const edges[] = {[UPF_FLOW_POLICE] = "police"};
static const char *const drops[] = {
	[DROP_NO_PDR] = "no_pdr",       [DROP_SPOOFED] = "spoofed", [DROP_WRONG_QFI] = "wrong_qfi",
	[DROP_MALFORMED] = "malformed", [DROP_DPI_BAD] = "dpi_bad", /* of a flow that broke its
								       protocol's rules: dpi: on_bad
								     */
};

struct visit {
	struct ap_node *n;
	struct upf_worker *w;
	struct upf_flows *flows;
	struct upf_scans *scans;
	uint64_t now_ns;
	uint32_t session_flows;
	uint16_t tick;
	bool close_bad;
	bool replaced; /**< flows found before may be others by now */
	struct upf_flow_packet at[CHUNK];
	uint16_t app[CHUNK]; /**< by the headers, of packets whose flow is new */
};

static uint8_t
miss_reason(int miss)
{
	static const uint8_t reasons[] = {
		[-UPF_MISS_NO_PDR] = DROP_NO_PDR,
		[-UPF_MISS_SPOOFED] = DROP_SPOOFED,
		[-UPF_MISS_QFI] = DROP_WRONG_QFI,
		[-UPF_MISS_BAD_INNER] = DROP_MALFORMED,
	};

	return reasons[-miss];
}

static void
forget(struct visit *v, const struct upf_flow *gone)
{
	struct upf_session *s;

	if (gone->state & UPF_FLOW_SCANNING)
		upf_scan_end(v->scans, gone->app);
	s = upf_by_handle(v->w->tables, gone->key.handle);
	if (s != NULL && s->rules->nb_flows != 0)
		s->rules->nb_flows--;
	v->replaced = true;
}

/* --- the application -------------------------------------------------------------------------- */

/** A flow's application is known, or that it has none. Its lanes are found anew if that is news. */
static void
settle(struct visit *v, struct upf_flow *f, uint16_t app, uint16_t before)
{
	f->state = (uint8_t)((f->state & ~UPF_FLOW_SCANNING) | UPF_FLOW_FINAL);
	f->app = app;
	if (app != 0)
		v->scans->apps[app]++;
	if (app != before)
		f->way[0] = f->way[1] = 0;
}

/** @return whether the flow has a scan from now on */
static bool
scan_begin(struct visit *v, uint32_t index, const struct upf_flow_packet *p, bool from_ue,
	   const struct dpi_segment *seg)
{
	struct upf_flow *f = &v->flows->flows[index], *other;
	uint16_t app = f->app, robbed_app;
	uint32_t robbed;

	/* What carries nothing, as of those who only knock, takes no more than half. */
	if (seg->len == 0 && (!seg->syn || v->scans->used >= v->scans->nb / 2))
		return false;
	f->app = upf_scan_begin(v->scans, index, app, f->key.proto,
				upf_flow_packet_port(p, from_ue), 0, 0, &robbed, &robbed_app);
	f->state |= UPF_FLOW_SCANNING;
	if (robbed != UPF_FLOW_NONE) {
		other = &v->flows->flows[robbed];
		settle(v, other, robbed_app, robbed_app);
	}
	return true;
}

static void
look(struct visit *v, uint32_t index, const struct upf_flow_packet *p, struct rte_mbuf *m,
     const struct upf_session *s, unsigned group)
{
	struct upf_flow *f = &v->flows->flows[index];
	const bool from_ue = s->rules->groups[group].uplink;
	struct dpi_segment seg;
	enum dpi_verdict verdict;
	uint16_t before, app = 0;

	if (!upf_flow_packet_segment(p, m, from_ue, &seg)) {
		settle(v, f, f->app, f->app);
		return;
	}
	if (!(f->state & UPF_FLOW_SCANNING) && !scan_begin(v, index, p, from_ue, &seg))
		return;
	before = v->scans->slots[f->app].app;
	verdict = upf_scan_look(v->scans, f->app, &seg, &app);
	if (verdict == DPI_MORE)
		return;
	if (verdict == DPI_BAD && v->close_bad)
		f->state |= UPF_FLOW_BAD;
	settle(v, f, app, before);
}

/** What a new flow's headers say, or one's of a session that asks for applications only now. */
static void
headers_said(struct visit *v, struct upf_flow *f, uint16_t app)
{
	const struct dpi_set *set = v->scans->set;

	f->state |= UPF_FLOW_LOOKED;
	f->app = app;
	if (set == NULL || !dpi_set_has_names(set) || !(f->key.what & UPF_FLOW_PORTS))
		settle(v, f, app, app);
	else
		f->state &= (uint8_t)~UPF_FLOW_FINAL;
}

/* --- the lane --------------------------------------------------------------------------------- */

static int
match(const struct upf_session *s, unsigned group, struct rte_mbuf *m, uint16_t app)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	struct flow f;

	if (flow_decode(ip, m->data_len, &f) < 0)
		return UPF_MISS_BAD_INNER;
	return upf_match_group(s, group, ip, &f,
			       upf_matched_rx(m) & UPF_RX_QFI ? upf_matched_qfi(m) : UPF_NO_QFI,
			       app);
}

/** A flow's lane is that of a PDR with an application. */
static void
detected(const struct upf_flow_packet *p, const struct upf_session *s, unsigned group,
	 unsigned lane)
{
	const struct upf_rules *r = s->rules;
	struct upf_detected d;

	if (!r->tells || r->pdrs[lane].app == 0)
		return;
	upf_flow_packet_detected(p, r->pdrs[lane].app, r->groups[group].uplink, &d);
	upf_urr_detected(upf_accounts_of(s), lane, &d);
}

/** The lane by the rules, kept as the flow's. @return lane or enum upf_miss */
static int
match_way(const struct visit *v, struct upf_flow *f, const struct upf_flow_packet *p,
	  struct rte_mbuf *m, const struct upf_session *s, unsigned group)
{
	const uint16_t app = f->state & UPF_FLOW_SCANNING ? v->scans->slots[f->app].app : f->app;
	const int lane = match(s, group, m, app);

	if (lane < 0)
		return lane;
	f->way[p->dir] = p->way | (uint64_t)lane;
	detected(p, s, group, (unsigned)lane);
	return lane;
}

/** A flow that has an entry and something to decide. @return lane, or -1 - drop reason */
static int
lane_known(struct visit *v, uint32_t index, const struct upf_flow_packet *p, struct rte_mbuf *m,
	   const struct upf_session *s, unsigned group)
{
	struct upf_flow *f = &v->flows->flows[index];
	int lane;

	if (f->stamp != s->stamp) {
		f->way[0] = f->way[1] = 0;
		f->stamp = s->stamp;
		if (!(s->rules->reads & UPF_READS_APP))
			f->state |= f->state & UPF_FLOW_SCANNING ? 0 : UPF_FLOW_FINAL;
		else if (!(f->state & UPF_FLOW_LOOKED))
			headers_said(v, f, upf_flow_packet_app(v->scans->set, m, s, group));
	}
	if (!(f->state & UPF_FLOW_FINAL))
		look(v, index, p, m, s, group);
	if (f->state & UPF_FLOW_BAD)
		return -1 - DROP_DPI_BAD;
	if (((f->way[p->dir] ^ p->way) & UPF_WAY_PACKET_MASK) == 0)
		return (int)(f->way[p->dir] & UPF_WAY_LANE_MASK);
	lane = match_way(v, f, p, m, s, group);
	return lane >= 0 ? lane : -1 - miss_reason(lane);
}

/** A packet whose flow gets no entry. */
static int
lane_alone(const struct visit *v, uint16_t i, struct rte_mbuf *m, const struct upf_session *s,
	   unsigned group)
{
	const int lane = match(s, group, m, v->app[i]);

	return lane >= 0 ? lane : -1 - miss_reason(lane);
}

/** Whether nobody but the UE, or somebody who writes to it, makes entries with such packets. */
static bool
is_honest(const struct upf_session *s, unsigned group, const struct rte_mbuf *m)
{
	return !s->rules->groups[group].uplink ||
	       upf_source_is_ue(s, rte_pktmbuf_mtod(m, const uint8_t *));
}

static uint32_t
entry_make(struct visit *v, const struct upf_flow_packet *p, const struct upf_session *s)
{
	struct upf_flow gone;
	uint32_t index;

	if (s->rules->nb_flows >= v->session_flows) {
		v->flows->stats.capped++;
		return UPF_FLOW_NONE;
	}
	index = upf_flow_add(v->flows, &p->key, p->hash, v->tick, &gone);
	if (gone.key.handle != 0)
		forget(v, &gone);
	if (index == UPF_FLOW_NONE)
		return index;
	s->rules->nb_flows++;
	v->flows->flows[index].stamp = s->stamp;
	v->flows->flows[index].state = UPF_FLOW_FINAL;
	return index;
}

/** A flow that has none. */
static int
lane_new(struct visit *v, uint16_t i, struct rte_mbuf *m, const struct upf_session *s,
	 unsigned group)
{
	const struct upf_flow_packet *p = &v->at[i];
	const bool reads_app = s->rules->reads & UPF_READS_APP;
	struct upf_flow *f;
	uint32_t index;
	int lane = 0;

	/* What no PDR takes makes no entry, but where an application's name may change that. */
	if (!reads_app || !is_honest(s, group, m))
		lane = match(s, group, m, v->app[i]);
	if (lane < 0)
		return -1 - miss_reason(lane);
	index = entry_make(v, p, s);
	if (index == UPF_FLOW_NONE)
		return lane_alone(v, i, m, s, group);
	f = &v->flows->flows[index];
	if (reads_app)
		headers_said(v, f, v->app[i]);
	else
		f->way[p->dir] = p->way | (uint64_t)lane;
	return lane_known(v, index, p, m, s, group);
}

/** @return lane, or -1 - drop reason */
static inline int
lane_of(struct visit *v, uint16_t i, struct rte_mbuf *m, struct upf_session *s)
{
	struct upf_flow_packet *p = &v->at[i];
	const unsigned group = upf_matched_lane(m);
	uint32_t index = p->flow;
	struct upf_flow *f;

	/* An earlier packet of this vector may have made it, or taken its place. */
	if (unlikely(index == UPF_FLOW_NONE ||
		     (v->replaced && !upf_flow_is(&v->flows->flows[index], &p->key))))
		index = upf_flow_find(v->flows, &p->key, p->hash);
	if (unlikely(index == UPF_FLOW_NONE))
		return lane_new(v, i, m, s, group);
	f = &v->flows->flows[index];
	upf_flow_seen(v->flows, index, v->tick);
	if (unlikely(p->tcp & UPF_FLOW_TCP_ENDS))
		upf_flow_packet_tcp(p, f);
	if (likely(f->state & UPF_FLOW_FINAL && !(f->state & UPF_FLOW_BAD) &&
		   f->stamp == s->stamp && ((f->way[p->dir] ^ p->way) & UPF_WAY_PACKET_MASK) == 0))
		return (int)(f->way[p->dir] & UPF_WAY_LANE_MASK);
	return lane_known(v, index, p, m, s, group);
}

/* --- a vector --------------------------------------------------------------------------------- */

/** @return whether the session's rules have to say something of the packet */
static inline bool
is_open(const struct upf_flow *f, const struct upf_flow_packet *p)
{
	return !(f->state & UPF_FLOW_FINAL) ||
	       ((f->way[p->dir] ^ p->way) & UPF_WAY_PACKET_MASK) != 0;
}

/** Finds what is known of each packet's flow, its lines fetched while others are worked on. */
static uint64_t
find(struct visit *v, struct rte_mbuf **pkts, uint16_t nb, uint64_t *asked)
{
	uint64_t fresh = 0, open = 0;

	for (uint16_t i = 0; i < nb; i++) {
		if (unlikely(!upf_flow_packet_read(&v->at[i], pkts[i])))
			continue;
		v->at[i].hash = upf_flow_hash(v->flows, &v->at[i].key);
		upf_flow_prefetch(v->flows, v->at[i].hash);
	}
	for (uint16_t i = 0; i < nb; i++)
		v->at[i].flow = upf_flow_likely(v->flows, v->at[i].hash);
	for (uint16_t i = 0; i < nb; i++) {
		struct upf_flow_packet *p = &v->at[i];

		if (p->flow != UPF_FLOW_NONE &&
		    unlikely(!upf_flow_is(&v->flows->flows[p->flow], &p->key)))
			p->flow = upf_flow_find(v->flows, &p->key, p->hash);
		fresh |= (uint64_t)(p->flow == UPF_FLOW_NONE && p->ok) << i;
		open |= (uint64_t)(p->flow != UPF_FLOW_NONE && p->ok &&
				   is_open(&v->flows->flows[p->flow], p))
			<< i;
	}
	*asked = fresh | open;
	return fresh;
}

/** Brings rules near that packets without a final lane ask for, each while others are fetched. */
static void
fetch_rules(struct rte_mbuf **pkts, uint64_t asked)
{
	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const struct upf_session *s = upf_matched_session(pkts[__builtin_ctzll(left)]);

		rte_prefetch0(&s->rules->reads);
		rte_prefetch0(&s->rules->groups);
	}
	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const struct rte_mbuf *m = pkts[__builtin_ctzll(left)];
		const struct upf_session *s = upf_matched_session(m);

		rte_prefetch0(&s->rules->groups[upf_matched_lane(m)]);
	}
	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const struct rte_mbuf *m = pkts[__builtin_ctzll(left)];
		const struct upf_session *s = upf_matched_session(m);

		rte_prefetch0(s->rules->groups[upf_matched_lane(m)].lanes);
	}
}

/** What the headers of new flows say, of all of the vector at once. */
static void
read_headers(struct visit *v, struct rte_mbuf **pkts, uint64_t fresh)
{
	struct flow flows[CHUNK];
	const struct flow *list[CHUNK];
	uint16_t of[CHUNK], apps[CHUNK];
	uint64_t uplink = 0;
	unsigned nb = 0;

	for (; fresh != 0; fresh &= fresh - 1) {
		const uint16_t i = (uint16_t)__builtin_ctzll(fresh);
		const struct upf_session *s = upf_matched_session(pkts[i]);

		v->app[i] = 0;
		if (!(s->rules->reads & UPF_READS_APP) || v->scans->set == NULL ||
		    !dpi_set_has_flows(v->scans->set) ||
		    flow_decode(rte_pktmbuf_mtod(pkts[i], const uint8_t *), pkts[i]->data_len,
				&flows[nb]) < 0)
			continue;
		uplink |= (uint64_t)s->rules->groups[upf_matched_lane(pkts[i])].uplink << nb;
		list[nb] = &flows[nb];
		of[nb++] = i;
	}
	if (nb != 0)
		dpi_set_flows(v->scans->set, list, uplink, nb, apps);
	for (unsigned k = 0; k < nb; k++)
		v->app[of[k]] = apps[k];
}

static uint16_t
flow_chunk(struct visit *v, struct rte_mbuf **pkts, uint16_t nb, struct rte_mbuf **to)
{
	uint64_t asked;
	const uint64_t fresh = find(v, pkts, nb, &asked);
	uint16_t kept = 0;

	v->replaced = false;
	if (asked != 0)
		fetch_rules(pkts, asked);
	if (fresh != 0)
		read_headers(v, pkts, fresh);
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		struct upf_session *s = upf_matched_session(m);
		const int lane = likely(v->at[i].ok) ? lane_of(v, i, m, s) : -1 - DROP_MALFORMED;

		if (unlikely(lane < 0)) {
			ap_drop(v->n, (uint8_t)(-1 - lane), m);
			continue;
		}
		rte_prefetch0_write(&s->lanes[lane]);
		upf_matched_lane_set(m, (uint16_t)lane);
		to[kept++] = m;
	}
	return kept;
}

static uint16_t
upf_flow_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct upf_flow gone[SWEEP_BUCKETS * UPF_FLOW_WAYS];
	struct ap_node *n = ap_node(node);
	struct upf_worker *w = upf_worker_of(n);
	const struct ap_cfg_upf *cfg = w->upf->cfg;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	struct visit v;
	uint16_t kept = 0;
	unsigned over;

	v.n = n;
	v.w = w;
	v.flows = w->flows;
	v.scans = w->scans;
	v.now_ns = ap_node_now(n);
	v.session_flows = cfg->session_flows;
	v.tick = upf_flow_tick(v.now_ns);
	v.close_bad = cfg->dpi.on_bad == AP_DPI_CLOSED;
	n->in += nb;
	for (uint16_t from = 0; from < nb; from = (uint16_t)(from + CHUNK))
		kept = (uint16_t)(kept + flow_chunk(&v, pkts + from,
						    RTE_MIN((uint16_t)(nb - from), (uint16_t)CHUNK),
						    pkts + kept));
	over = upf_flows_sweep(v.flows, SWEEP_BUCKETS, v.now_ns, gone);
	for (unsigned i = 0; i < over; i++)
		forget(&v, &gone[i]);
	ap_next_all(n, graph, node, UPF_FLOW_POLICE, objs, kept);
	return nb;
}

static const struct ap_node_type upf_flow = {
	.name = "upf_flow",
	.help = "finds the PDR of each packet by its flow, and the flow's application",
	.process = upf_flow_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(upf_flow)
