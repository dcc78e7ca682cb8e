/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_flow_visit.h"
#include "modules/upf/upf_pdi.h"
#include "modules/upf/upf_urr.h"

enum { PENDING = INT16_MIN }; /* in place of a lane: with the names */

static int
dropped(int miss)
{
	static const uint8_t reasons[] = {
		[-UPF_MISS_NO_PDR] = UPF_FLOW_DROP_NO_PDR,
		[-UPF_MISS_SPOOFED] = UPF_FLOW_DROP_SPOOFED,
		[-UPF_MISS_QFI] = UPF_FLOW_DROP_WRONG_QFI,
		[-UPF_MISS_BAD_INNER] = UPF_FLOW_DROP_MALFORMED,
	};

	return -1 - reasons[-miss];
}

void
upf_flow_forget(struct upf_flow_visit *v, const struct upf_flow *gone)
{
	struct upf_session *s;

	if (gone->state & UPF_FLOW_SCANNING)
		upf_scan_end(v->scans, gone->app);
	s = upf_by_handle(v->tables, gone->key.handle);
	if (s != NULL && s->rules->nb_flows != 0)
		s->rules->nb_flows--;
	v->replaced = true;
}

/* --- the application -------------------------------------------------------------------------- */

/** A flow's application is known, or that it has none. Its lanes are found anew if that is news. */
static void
settle(struct upf_flow_visit *v, struct upf_flow *f, uint16_t app, uint16_t before)
{
	f->state &= (uint8_t) ~(UPF_FLOW_SCANNING | UPF_FLOW_NAMED);
	f->state |= UPF_FLOW_FINAL;
	f->app = app;
	if (app != 0)
		v->scans->apps[app]++;
	if (app != before) {
		upf_flow_way_set(f, 0, 0);
		upf_flow_way_set(f, 1, 0);
	}
}

/** @return the application until the flow has a name */
static uint16_t
app_of(const struct upf_flow_visit *v, const struct upf_flow *f)
{
	return f->state & UPF_FLOW_SCANNING ? v->scans->slots[f->app].app : f->app;
}

/** @return whether the flow has a scan from now on */
static bool
scan_begin(struct upf_flow_visit *v, struct upf_flow *f, const struct upf_flow_packet *p,
	   const struct dpi_segment *seg)
{
	const uint32_t first = f->key.what & UPF_FLOW_IP6 ? 0 : f->first;
	struct upf_scans *scans = v->scans;
	uint16_t app = f->app, robbed_app;
	uint32_t robbed;

	/* What carries nothing, as of those who only knock, takes no more than half. */
	if (seg->len == 0 && (!seg->syn || scans->used >= scans->nb / 2))
		return false;
	f->app = upf_scan_begin(scans, (uint32_t)(f - v->flows->flows), app, f->key.proto,
				upf_flow_packet_port(p, seg->from_ue), first, seg->seq, &robbed,
				&robbed_app);
	f->state |= UPF_FLOW_SCANNING;
	if (robbed != UPF_FLOW_NONE)
		settle(v, &v->flows->flows[robbed], robbed_app, robbed_app);
	return true;
}

/** As upf_scan_first(): of IPv6 there is no room to remember anything. */
static enum dpi_verdict
look_first(struct upf_flow_visit *v, struct upf_flow *f, const struct upf_flow_packet *p,
	   const struct dpi_segment *seg)
{
	if (f->key.what & UPF_FLOW_IP6)
		return DPI_KEEP;
	return upf_scan_first(v->scans, &f->first, f->key.proto,
			      upf_flow_packet_port(p, seg->from_ue), seg, &v->names);
}

/** Nobody will know more of the flow. */
static void
give_up(struct upf_flow_visit *v, struct upf_flow *f)
{
	const uint16_t app = app_of(v, f);

	if (f->state & UPF_FLOW_SCANNING)
		upf_scan_end(v->scans, f->app);
	settle(v, f, app, app);
}

static void
look_scan(struct upf_flow_visit *v, struct upf_flow *f, const struct dpi_segment *seg)
{
	const uint16_t before = v->scans->slots[f->app].app;
	uint16_t app = 0;
	enum dpi_verdict verdict = upf_scan_look(v->scans, f->app, seg, &app);

	if (verdict == DPI_MORE)
		return;
	if (verdict == DPI_BAD && v->close_bad)
		f->state |= UPF_FLOW_BAD;
	settle(v, f, app, before);
}

/** A packet of a flow whose name is not known. @return whether it is among the names now */
static bool
look(struct upf_flow_visit *v, unsigned i, struct upf_flow *f, const struct upf_session *s,
     unsigned group)
{
	const struct upf_flow_packet *p = &v->at[i];
	enum dpi_verdict verdict = DPI_KEEP;
	struct dpi_segment seg;

	if (!upf_flow_packet_segment(p, v->pkts[i], s->rules->groups[group].uplink, &seg)) {
		give_up(v, f);
		return false;
	}
	if (!(f->state & UPF_FLOW_SCANNING))
		verdict = look_first(v, f, p, &seg);
	if (verdict == DPI_KEEP) {
		if (f->state & UPF_FLOW_SCANNING || scan_begin(v, f, p, &seg))
			look_scan(v, f, &seg);
	} else if (verdict == DPI_FOUND) {
		v->named[v->names.nb - 1] = (uint8_t)i;
		f->state |= UPF_FLOW_NAMED;
		return true;
	} else if (verdict != DPI_MORE) {
		f->state |= verdict == DPI_BAD && v->close_bad ? UPF_FLOW_BAD : 0;
		give_up(v, f);
	}
	return false;
}

/** What a new flow's headers say, or one's of a session that asks for applications only now. */
static void
headers_said(struct upf_flow_visit *v, struct upf_flow *f, uint16_t app)
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

/** @param f takes what the packet is told by. @return lane or -1 - drop reason */
static int
match(const struct upf_session *s, unsigned group, struct rte_mbuf *m, uint16_t app, struct flow *f)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	int lane;

	if (flow_decode(ip, m->data_len, f) < 0)
		return dropped(UPF_MISS_BAD_INNER);
	lane = upf_match_group(s, group, ip, f,
			       upf_matched_rx(m) & UPF_RX_QFI ? upf_matched_qfi(m) : UPF_NO_QFI,
			       app);
	return lane >= 0 ? lane : dropped(lane);
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

/**
 * The lane of this packet's way; and of the answers', foretold: a session with one group of PDRs
 * for each direction, whose downlink packets have no QFI, and the ToS of those they answer. Where
 * that is wrong the word differs, and such a packet is matched as any.
 */
static void
ways_set(const struct upf_flow_visit *v, struct upf_flow *f, const struct upf_flow_packet *p,
	 const struct upf_session *s, unsigned group, unsigned lane, const struct flow *flow)
{
	const unsigned both = UPF_SESSION_FLOW_UP | UPF_SESSION_FLOW_DOWN;
	const bool down = group != 0; /* the answers are */
	const unsigned back = down ? 0 : s->only_qfi;
	uint64_t way =
		UPF_WAY_VALID | (uint64_t)back << UPF_WAY_GROUP_SHIFT | (p->way & UPF_WAY_TOS_MASK);
	int answers;

	upf_flow_way_set(f, p->dir, p->way | lane);
	if ((s->flags & both) != both || s->rules->tells || f->way[!p->dir] & UPF_WAY_VALID ||
	    (p->key.what & (UPF_FLOW_IP6 | UPF_FLOW_PORTS)) != UPF_FLOW_PORTS ||
	    (down ? group != s->only_qfi : s->flags & UPF_SESSION_READS_QFI))
		return;
	if (s->flags & UPF_SESSION_READS_QFI)
		way |= (uint64_t)UPF_NO_QFI << UPF_WAY_QFI_SHIFT;
	answers = upf_match_answers(s, back, flow, app_of(v, f));
	if (answers >= 0)
		upf_flow_way_set(f, !p->dir, way | (unsigned)answers);
}

/** Of a flow that nobody looks at any more, or not at this packet. */
static int
lane_by_way(const struct upf_flow_visit *v, unsigned i, struct upf_flow *f,
	    const struct upf_session *s, unsigned group)
{
	const struct upf_flow_packet *p = &v->at[i];
	struct flow flow;
	int lane;

	if (f->state & UPF_FLOW_BAD)
		return -1 - UPF_FLOW_DROP_DPI_BAD;
	if (((f->way[p->dir] ^ p->way) & UPF_WAY_PACKET_MASK) == 0)
		return (int)(f->way[p->dir] & UPF_WAY_LANE_MASK);
	lane = match(s, group, v->pkts[i], app_of(v, f), &flow);
	if (lane < 0)
		return lane;
	ways_set(v, f, p, s, group, (unsigned)lane, &flow);
	detected(p, s, group, (unsigned)lane);
	return lane;
}

/** Packets that wait for their names wait no longer. */
static void
resolve(struct upf_flow_visit *v)
{
	if (v->names.nb == 0)
		return;
	upf_scan_names(v->scans, &v->names);
	for (unsigned k = 0; k < v->names.nb; k++) {
		const unsigned i = v->named[k];
		struct upf_flow *f = &v->flows->flows[v->at[i].flow];
		const uint16_t app = v->names.app[k] != 0 ? v->names.app[k] : f->app;

		settle(v, f, app, f->app);
	}
	for (unsigned k = 0; k < v->names.nb; k++) {
		const unsigned i = v->named[k];

		v->lane[i] = (int16_t)lane_by_way(v, i, &v->flows->flows[v->at[i].flow],
						  upf_matched_session(v->pkts[i]),
						  upf_matched_lane(v->pkts[i]));
	}
	v->names.nb = 0;
}

/** A flow that has an entry and something to decide. @return lane, -1 - drop reason, PENDING */
static int
lane_known(struct upf_flow_visit *v, unsigned i, const struct upf_session *s, unsigned group)
{
	struct upf_flow *f = &v->flows->flows[v->at[i].flow];

	if (f->state & UPF_FLOW_NAMED)
		resolve(v);
	if (f->stamp != s->stamp) {
		upf_flow_way_set(f, 0, 0);
		upf_flow_way_set(f, 1, 0);
		f->stamp = s->stamp;
		if (!(s->rules->reads & UPF_READS_APP))
			f->state |= f->state & UPF_FLOW_SCANNING ? 0 : UPF_FLOW_FINAL;
		else if (!(f->state & UPF_FLOW_LOOKED))
			headers_said(v, f,
				     upf_flow_packet_app(v->scans->set, v->pkts[i], s, group));
	}
	if (!(f->state & UPF_FLOW_FINAL) && look(v, i, f, s, group))
		return PENDING;
	return lane_by_way(v, i, f, s, group);
}

/** Whether nobody but the UE, or somebody who writes to it, makes entries with such packets. */
static bool
is_honest(const struct upf_session *s, unsigned group, const struct rte_mbuf *m)
{
	return !s->rules->groups[group].uplink ||
	       upf_source_is_ue(s, rte_pktmbuf_mtod(m, const uint8_t *));
}

static uint32_t
entry_make(struct upf_flow_visit *v, const struct upf_flow_packet *p, const struct upf_session *s)
{
	struct upf_flow gone;
	uint32_t index;

	if (s->rules->nb_flows >= v->session_flows) {
		v->flows->stats.capped++;
		return UPF_FLOW_NONE;
	}
	index = upf_flow_add(v->flows, &p->key, p->hash, v->tick, &gone);
	if (gone.key.handle != 0)
		upf_flow_forget(v, &gone);
	if (index == UPF_FLOW_NONE)
		return index;
	s->rules->nb_flows++;
	v->flows->flows[index].stamp = s->stamp;
	v->flows->flows[index].state = UPF_FLOW_FINAL;
	return index;
}

/** A flow that has none. */
static int
lane_new(struct upf_flow_visit *v, unsigned i, const struct upf_session *s, unsigned group)
{
	struct upf_flow_packet *p = &v->at[i];
	const bool reads_app = s->rules->reads & UPF_READS_APP;
	struct upf_flow *f;
	struct flow flow;
	int lane = 0;

	/* What no PDR takes makes no entry, but where an application's name may change that. */
	if (!reads_app || !is_honest(s, group, v->pkts[i]))
		lane = match(s, group, v->pkts[i], v->app[i], &flow);
	if (lane < 0)
		return lane;
	p->flow = entry_make(v, p, s);
	if (p->flow == UPF_FLOW_NONE)
		return match(s, group, v->pkts[i], v->app[i], &flow);
	f = &v->flows->flows[p->flow];
	if (reads_app)
		headers_said(v, f, v->app[i]);
	else
		ways_set(v, f, p, s, group, (unsigned)lane, &flow);
	return lane_known(v, i, s, group);
}

static int
lane_of(struct upf_flow_visit *v, unsigned i)
{
	const struct upf_session *s = upf_matched_session(v->pkts[i]);
	const unsigned group = upf_matched_lane(v->pkts[i]);
	struct upf_flow_packet *p = &v->at[i];

	/* An earlier packet of this vector may have made it, taken its place or moved it. */
	if (p->flow == UPF_FLOW_NONE ||
	    (v->replaced && !upf_flow_is(&v->flows->flows[p->flow], &p->key)))
		p->flow = upf_flow_find(v->flows, &p->key, p->hash);
	if (p->flow == UPF_FLOW_NONE)
		return lane_new(v, i, s, group);
	v->flows->flows[p->flow].state &= (uint8_t)~UPF_FLOW_WAITS;
	if (p->tcp & UPF_FLOW_TCP_ENDS)
		upf_flow_packet_tcp(p, &v->flows->flows[p->flow]);
	return lane_known(v, i, s, group);
}

/* --- a vector --------------------------------------------------------------------------------- */

/** Brings near what deciding reads, all of it at once: rules, and where a request goes on. */
static void
fetch(const struct upf_flow_visit *v, uint64_t asked)
{
	for (; asked != 0; asked &= asked - 1) {
		const struct rte_mbuf *m = v->pkts[__builtin_ctzll(asked)];
		const struct upf_session *s = upf_matched_session(m);

		upf_rules_prefetch(s->rules, upf_matched_lane(m));
		if (m->data_len > RTE_CACHE_LINE_SIZE)
			rte_prefetch0(rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_CACHE_LINE_SIZE));
		if (m->data_len > 2 * RTE_CACHE_LINE_SIZE)
			rte_prefetch0(
				rte_pktmbuf_mtod_offset(m, uint8_t *, 2 * RTE_CACHE_LINE_SIZE));
	}
}

/** What the headers of new flows say, of all of the vector at once. */
static void
read_headers(struct upf_flow_visit *v, uint64_t fresh)
{
	struct flow flows[UPF_FLOW_CHUNK];
	const struct flow *list[UPF_FLOW_CHUNK];
	uint16_t of[UPF_FLOW_CHUNK], apps[UPF_FLOW_CHUNK];
	uint64_t uplink = 0;
	unsigned nb = 0;

	for (; fresh != 0; fresh &= fresh - 1) {
		const uint16_t i = (uint16_t)__builtin_ctzll(fresh);
		const struct rte_mbuf *m = v->pkts[i];
		const struct upf_session *s = upf_matched_session(m);

		v->app[i] = 0;
		if (!(s->rules->reads & UPF_READS_APP) || v->scans->set == NULL ||
		    !dpi_set_has_flows(v->scans->set) ||
		    flow_decode(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &flows[nb]) < 0)
			continue;
		uplink |= (uint64_t)s->rules->groups[upf_matched_lane(m)].uplink << nb;
		list[nb] = &flows[nb];
		of[nb++] = i;
	}
	if (nb != 0)
		dpi_set_flows(v->scans->set, list, uplink, nb, apps);
	for (unsigned k = 0; k < nb; k++)
		v->app[of[k]] = apps[k];
}

void
upf_flow_decide(struct upf_flow_visit *v, uint64_t asked, uint64_t fresh)
{
	v->names.nb = 0;
	fetch(v, asked);
	if (fresh != 0)
		read_headers(v, fresh);
	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		v->lane[i] = (int16_t)lane_of(v, i);
	}
	resolve(v);
}
