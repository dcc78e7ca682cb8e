/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_police: QERs of a packet's PDR, TS 29.244 §5.4: gates, and bit rates on inner octets. A
 * plain lane has its one meter; several QERs, or one that PDRs share, are met by the list. URRs
 * that measure before QoS enforcement (MBQE) count here.
 */
#include "core/clock.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_charge.h"
#include "modules/upf/upf_meta.h"

#define SLOW_FLAGS (UPF_LANE_GATE_CLOSED | UPF_LANE_QUOTA_OUT | UPF_LANE_MORE | UPF_LANE_BEFORE_QOS)

enum { DROP_GATE, DROP_RATE, DROP_QUOTA };
enum { PASS = -1 };

static const char *const edges[] = {[UPF_POLICE_CHARGE] = "charge"};
static const char *const drops[] = {
	[DROP_GATE] = "gate",
	[DROP_RATE] = "rate",
	[DROP_QUOTA] = "quota",
};

static inline bool
red(struct upf_lane *lane, uint32_t bytes, uint64_t now_ns)
{
	return rte_meter_srtcm_color_blind_check(&lane->meter, lane->profile, now_ns, bytes) ==
	       RTE_COLOR_RED;
}

/** @return PASS or the drop reason */
static int
police_slow(struct upf_charger *c, struct upf_session *s, uint16_t l, uint32_t bytes,
	    uint64_t now_ns)
{
	const uint32_t now_ms = (uint32_t)(now_ns / AP_NS_PER_MS);
	struct upf_lane *lane = &s->lanes[l];
	struct upf_rules *r = s->rules;
	uint32_t flags;
	bool gate;

	if (bytes == 0)
		return PASS; /* an End Marker */
	if (lane->flags & UPF_LANE_QUOTA_FAR)
		upf_urr_quota_far(&r->accounts, l);
	flags = lane->flags;
	if (flags & UPF_LANE_QUOTA_OUT)
		return DROP_QUOTA;
	if (flags & UPF_LANE_BEFORE_QOS)
		upf_charge_count(c, s, lane, bytes, now_ms, now_ns);
	else if (r->accounts.before != NULL)
		upf_charge_before(c, s, l, bytes, now_ms, now_ns);
	if (flags & UPF_LANE_GATE_CLOSED)
		return DROP_GATE;
	if (flags & UPF_LANE_METER)
		return red(lane, bytes, now_ns) ? DROP_RATE : PASS;
	if (!(flags & UPF_LANE_MORE) ||
	    upf_qers_pass(r->qers, &r->pdrs[l], flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL, bytes,
			  now_ns, &gate))
		return PASS;
	return gate ? DROP_GATE : DROP_RATE;
}

static uint16_t
upf_police_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct upf_charger *c = upf_worker_of(n)->charger;
	const uint64_t now_ns = ap_node_now(n);
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];
		struct upf_session *s = upf_matched_session(m);
		const uint16_t l = upf_matched_lane(m);
		struct upf_lane *lane = &s->lanes[l];
		int reason = PASS;

		if (unlikely(lane->flags & SLOW_FLAGS))
			reason = police_slow(c, s, l, m->pkt_len, now_ns);
		else if (lane->flags & UPF_LANE_METER && red(lane, m->pkt_len, now_ns))
			reason = DROP_RATE;
		if (likely(reason == PASS))
			objs[kept++] = m;
		else
			ap_drop(n, (uint8_t)reason, m);
	}
	ap_next_all(n, graph, node, UPF_POLICE_CHARGE, objs, kept);
	return nb;
}

static const struct ap_node_type upf_police = {
	.name = "upf_police",
	.help = "enforces the gates and bit rates of a packet's QERs",
	.process = upf_police_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(upf_police)
