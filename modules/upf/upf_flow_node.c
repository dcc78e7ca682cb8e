/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_flow: the lane of packets of sessions whose PDRs differ in more than tunnel and address, TS
 * 29.244 §5.2.1: of a flow that is known what was found before. The first packets of a flow are
 * looked at for its application where a PDR asks for one (§5.11): until it is found, and where it
 * is not, the packet headers alone say which it is of, or that it is of none; then it stays.
 *
 * Nothing is lost here for want of an entry: such packets are matched each.
 *
 * Passes over the vector, so that each flow's line, then its lane's, is fetched while others are
 * worked on; upf_flow_decide() takes the packets that those do not decide.
 */
#include "core/clock.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_flow_visit.h"

#define SWEEP_BUCKETS 2

static const char *const edges[] = {[UPF_FLOW_POLICE] = "police"};
static const char *const drops[] = {
	[UPF_FLOW_DROP_NO_PDR] = "no_pdr",       [UPF_FLOW_DROP_SPOOFED] = "spoofed",
	[UPF_FLOW_DROP_WRONG_QFI] = "wrong_qfi", [UPF_FLOW_DROP_MALFORMED] = "malformed",
	[UPF_FLOW_DROP_DPI_BAD] = "dpi_bad", /* of a flow that broke its protocol's rules: dpi:
						on_bad */
};

/** Each packet's flow, where it is at home if it is known. @return those that are no IP packets */
static uint64_t
read(struct upf_flow_visit *v, uint16_t nb)
{
	uint64_t bad = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct upf_flow_packet *p = &v->at[i];

		if (unlikely(!upf_flow_packet_read(p, v->pkts[i], v->flows))) {
			v->lane[i] = -1 - UPF_FLOW_DROP_MALFORMED;
			bad |= 1ULL << i;
		}
		p->flow = upf_flow_home(v->flows, p->hash);
		rte_prefetch0(&v->flows->flows[p->flow]);
	}
	return bad;
}

/** @return whether nothing is left to find out of the flow for this packet */
static inline bool
is_decided(const struct upf_flow *f, const struct upf_flow_packet *p, const struct upf_session *s,
	   const struct rte_mbuf *m)
{
	const unsigned state = f->state & (UPF_FLOW_FINAL | UPF_FLOW_BAD | UPF_FLOW_WAITS);

	return f->stamp == s->stamp && ((f->way[p->dir] ^ p->way) & UPF_WAY_PACKET_MASK) == 0 &&
	       (likely(state == UPF_FLOW_FINAL) ||
		(state == 0 && upf_flow_packet_is_bare(p, s, m)));
}

/** @return whether the packet's flow says its lane */
static inline bool
take_lane(struct upf_flow_visit *v, uint16_t i)
{
	struct upf_session *s = upf_matched_session(v->pkts[i]);
	const struct upf_flow_packet *p = &v->at[i];
	struct upf_flow *f = &v->flows->flows[p->flow];
	uint16_t lane;

	upf_flow_seen(f, v->tick);
	/* Another flow from here on, but not for packets before it that are not decided yet. */
	if (unlikely((p->tcp & (UPF_FLOW_TCP_ENDS | UPF_FLOW_TCP_ACK)) == UPF_FLOW_TCP_SYN))
		f->state |= UPF_FLOW_WAITS;
	else if (unlikely(p->tcp & UPF_FLOW_TCP_ENDS))
		upf_flow_packet_tcp(p, f);
	if (unlikely(!is_decided(f, p, s, v->pkts[i]))) {
		f->state |= UPF_FLOW_WAITS;
		return false;
	}
	lane = (uint16_t)(f->way[p->dir] & UPF_WAY_LANE_MASK);
	rte_prefetch0_write(&s->lanes[lane]);
	upf_matched_lane_set(v->pkts[i], lane);
	return true;
}

/**
 * The lanes of packets whose flow says it.
 * @param fresh takes those whose flow is not known
 * @return those that upf_flow_decide() takes
 */
static uint64_t
look_up(struct upf_flow_visit *v, uint16_t nb, uint64_t *fresh)
{
	uint64_t asked = 0, elsewhere = 0;

	v->replaced = false;
	for (uint16_t i = 0; i < nb; i++) {
		const struct upf_flow_packet *p = &v->at[i];

		if (unlikely(!p->ok))
			continue;
		if (likely(upf_flow_is(&v->flows->flows[p->flow], &p->key)))
			asked |= (uint64_t)!take_lane(v, i) << i;
		else if (upf_flow_prefetch_kin(v->flows, p->flow))
			elsewhere |= 1ULL << i;
		else
			*fresh |= 1ULL << i;
	}
	for (; elsewhere != 0; elsewhere &= elsewhere - 1) {
		const uint16_t i = (uint16_t)__builtin_ctzll(elsewhere);
		struct upf_flow_packet *p = &v->at[i];
		uint32_t at;

		p->flow = upf_flow_find(v->flows, &p->key, p->hash);
		if (p->flow == UPF_FLOW_NONE) {
			*fresh |= 1ULL << i;
			continue;
		}
		at = p->flow;
		p->flow = upf_flow_bring_home(v->flows, at, p->hash, v->tick);
		v->replaced |= p->flow != at;
		asked |= (uint64_t)!take_lane(v, i) << i;
	}
	for (uint64_t left = *fresh; left != 0; left &= left - 1)
		v->at[__builtin_ctzll(left)].flow = UPF_FLOW_NONE;
	return asked | *fresh;
}

/** Packets of these whose lane is known now go on, the others are dropped. @return how many stay */
static uint16_t
sort_out(const struct upf_flow_visit *v, struct ap_node *n, uint16_t nb, uint64_t these)
{
	uint64_t lost = 0;
	uint16_t kept = 0;

	for (; these != 0; these &= these - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(these);
		struct upf_session *s = upf_matched_session(v->pkts[i]);

		if (v->lane[i] < 0) {
			ap_drop(n, (uint8_t)(-1 - v->lane[i]), v->pkts[i]);
			lost |= 1ULL << i;
			continue;
		}
		rte_prefetch0_write(&s->lanes[v->lane[i]]);
		upf_matched_lane_set(v->pkts[i], (uint16_t)v->lane[i]);
	}
	if (likely(lost == 0))
		return nb;
	for (uint16_t i = 0; i < nb; i++)
		if (!(lost >> i & 1))
			v->pkts[kept++] = v->pkts[i];
	return kept;
}

static uint16_t
upf_flow_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct upf_flow gone[SWEEP_BUCKETS * UPF_FLOW_WAYS];
	struct ap_node *n = ap_node(node);
	struct upf_worker *w = upf_worker_of(n);
	const struct ap_cfg_upf *cfg = w->upf->cfg;
	const uint64_t now_ns = ap_node_now(n);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	struct upf_flow_visit v;
	uint16_t kept = 0;
	unsigned over;

	v.tables = w->tables;
	v.flows = w->flows;
	v.scans = w->scans;
	v.session_flows = cfg->session_flows;
	v.tick = upf_flow_tick(now_ns);
	v.close_bad = cfg->dpi.on_bad == AP_DPI_CLOSED;
	n->in += nb;
	for (uint16_t from = 0; from < nb; from = (uint16_t)(from + UPF_FLOW_CHUNK)) {
		const uint16_t some = RTE_MIN((uint16_t)(nb - from), (uint16_t)UPF_FLOW_CHUNK);
		uint64_t bad, asked, fresh = 0;
		uint16_t stay;

		v.pkts = pkts + from;
		bad = read(&v, some);
		asked = look_up(&v, some, &fresh);
		if (asked != 0)
			upf_flow_decide(&v, asked, fresh);
		stay = asked | bad ? sort_out(&v, n, some, asked | bad) : some;
		if (unlikely(kept != from))
			memmove(pkts + kept, v.pkts, stay * sizeof(*pkts));
		kept = (uint16_t)(kept + stay);
	}
	over = upf_flows_sweep(v.flows, SWEEP_BUCKETS, now_ns, gone);
	for (unsigned i = 0; i < over; i++)
		upf_flow_forget(&v, &gone[i]);
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
