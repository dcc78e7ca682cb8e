/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_charge: counts packets for the URRs of their PDR, TS 29.244 §5.2.2: inner octets, after the
 * QERs. What the FAR does not forward is no usage; packets that wait count when they leave the
 * buffer.
 */
#include "core/clock.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_charge.h"
#include "modules/upf/upf_meta.h"

enum { DROP_QUOTA };

static const char *const edges[] = {[UPF_CHARGE_FORWARD] = "forward"};
static const char *const drops[] = {
	[DROP_QUOTA] = "quota", /* used up by a packet of the same vector */
};

static uint16_t
upf_charge_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct upf_charger *c = upf_worker_of(n)->charger;
	const uint64_t now_ns = ap_node_now(n);
	const uint32_t now_ms = (uint32_t)(now_ns / AP_NS_PER_MS);
	uint16_t kept = 0;

	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];
		struct upf_session *s = upf_matched_session(m);
		struct upf_lane *lane = &s->lanes[upf_matched_lane(m)];

		if ((lane->flags & UPF_CHARGE_MASK) == UPF_CHARGE_THESE &&
		    likely(m->pkt_len != 0 && s->queue == 0)) {
			if (unlikely(lane->flags & UPF_LANE_QUOTA_OUT)) {
				ap_drop(n, DROP_QUOTA, m);
				continue;
			}
			upf_charge_count(c, s, lane, m->pkt_len, now_ms, now_ns);
		} else {
			upf_uncharged_set(m);
		}
		objs[kept++] = m;
	}
	ap_next_all(n, graph, node, UPF_CHARGE_FORWARD, objs, kept);
	return nb;
}

static const struct ap_node_type upf_charge = {
	.name = "upf_charge",
	.help = "counts packets for the URRs of their PDR",
	.process = upf_charge_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(upf_charge)
