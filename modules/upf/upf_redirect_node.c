/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_redirect: answers HTTP requests in lanes whose FAR redirects (TS 29.244 §5.4.7). The answer
 * goes where packets to the UE come from, so that it is matched, counted and marked as these are;
 * a reset goes back to upf_forward in the request's place.
 */
#include <string.h>

#include "modules/upf/upf.h"
#include "modules/upf/upf_packet.h"
#include "modules/upf/upf_redirect.h"
#include "modules/upf/upf_rules.h"

#define CHUNK 64

enum { DROP_OTHER, DROP_NO_MBUF };

static const char *const edges[] = {
	[UPF_REDIRECT_FORWARD] = "forward",
	[UPF_REDIRECT_STEER] = "steer",
};
static const char *const drops[] = {
	[DROP_OTHER] =
		"not_http", /* what cannot be told where to go, and a request's further packets */
	[DROP_NO_MBUF] = "no_mbuf",
};

/** As upf_in hands on what comes from the network that the UE's addresses are of. */
static struct rte_mbuf *
answer(const struct upf_worker *w, const struct upf_request *r, const struct upf_rules *rules,
       const struct upf_far *far)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->pkt_pool);
	unsigned n;

	if (m == NULL)
		return NULL;
	n = upf_redirect_answer(r, far->redirect, far->redirect_len,
				rte_pktmbuf_mtod(m, uint8_t *));
	m->data_len = (uint16_t)n;
	m->pkt_len = n;
	*ap_meta(m) = (struct ap_meta){0};
	*upf_arrival(m) = (struct upf_arrival){
		.rx = r->v6 ? UPF_RX_INNER6 : 0,
		.interface = rules->core_interface ? rules->core_interface : far->to.interface};
	return m;
}

/** Puts a reset in the place of the request. @return it, matched as the request was, or NULL. */
static struct rte_mbuf *
reset(const struct upf_worker *w, const struct upf_request *r, struct rte_mbuf *m)
{
	struct upf_session *s = upf_matched_session(m);
	const struct upf_arrival a = *upf_arrival(m);
	const uint32_t type = m->packet_type;
	const uint16_t lane = upf_matched_lane(m);
	struct rte_mbuf *to = upf_packet_fresh(m, w->pkt_pool);
	unsigned n;

	if (to == NULL)
		return NULL;
	n = upf_redirect_reset(r, rte_pktmbuf_mtod(to, uint8_t *));
	to->data_len = (uint16_t)n;
	to->pkt_len = n;
	*upf_arrival(to) = a;
	upf_matched_move(to, s, lane);
	to->packet_type = type;
	return to;
}

/** @return the reset, with the answer at *told; or NULL: the request was dropped. */
static struct rte_mbuf *
redirect(struct ap_node *n, struct rte_mbuf *m, struct rte_mbuf **told)
{
	const struct upf_worker *w = upf_worker_of(n);
	const struct upf_session *s = upf_matched_session(m);
	const struct upf_far *far = &s->rules->fars[s->rules->pdrs[upf_matched_lane(m)].far];
	struct upf_request r;
	struct rte_mbuf *to;

	if (!upf_request_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &r)) {
		ap_drop(n, DROP_OTHER, m);
		return NULL;
	}
	*told = answer(w, &r, s->rules, far);
	to = *told != NULL ? reset(w, &r, m) : NULL;
	if (to == NULL) {
		rte_pktmbuf_free(*told);
		ap_drop(n, DROP_NO_MBUF, m);
		return NULL;
	}
	n->made++;
	return to;
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs, *told[CHUNK];
	uint16_t kept = 0, nb_told = 0;

	n->in += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = redirect(n, pkts[i], &told[nb_told]);

		if (m == NULL)
			continue;
		objs[kept++] = m;
		if (++nb_told == CHUNK) {
			ap_next(n, UPF_REDIRECT_STEER, told, nb_told);
			nb_told = 0;
		}
	}
	ap_next(n, UPF_REDIRECT_STEER, told, nb_told);
	ap_next_all(n, graph, node, UPF_REDIRECT_FORWARD, objs, kept);
	return nb;
}

static const struct ap_node_type upf_redirect = {
	.name = "upf_redirect",
	.help = "answers HTTP requests that a FAR redirects",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.rare_edges = 1 << UPF_REDIRECT_STEER,
};
AP_NODE_REGISTER(upf_redirect)
