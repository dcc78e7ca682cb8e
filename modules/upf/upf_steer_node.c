/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * upf_steer: takes each packet to the worker that owns its session. Edge i leads to worker i's
 * upf_match: on the same lcore the stream moves, else the packet crosses one cut, and out[i]
 * counts the hand-off.
 *
 * The owner is that of the bucket: of the TEID's, or of the handle that struct upf_index has for
 * the destination, which goes on with the packet (upf_arrival.teid; 0: not looked up, or nobody's).
 * A TEID that the CP function chose says nothing by itself: the index knows its handle.
 */
#include <string.h>

#include <rte_prefetch.h>

#include "codec/be.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_meta.h"

#define AHEAD 4
#define CHUNK 256
#define IP4_DST 16 /* where the destination stands */
#define IP6_DST 24

static const char *const edges[] = {"w0",  "w1",  "w2",  "w3",  "w4",  "w5",  "w6",  "w7",
				    "w8",  "w9",  "w10", "w11", "w12", "w13", "w14", "w15",
				    "w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23",
				    "w24", "w25", "w26", "w27", "w28", "w29", "w30", "w31"};
enum { DROP_NO_MBUF };
static const char *const drops[] = {[DROP_NO_MBUF] = "no_mbuf"};
_Static_assert(RTE_DIM(edges) == UPF_ROLE_WORKERS_MAX, "an edge a worker");

/** @return handle of the session that a packet outside any tunnel goes to, or 0. */
static inline uint32_t
handle_of(const struct upf *upf, const struct upf_arrival *a, const uint8_t *ip)
{
	uint32_t ip4;

	if (unlikely(a->rx & UPF_RX_FRAME))
		return upf_index_mac(upf->index, a->interface, upf_frame_key(ip));
	if (a->rx & UPF_RX_INNER6)
		return upf_index_ip6(upf->index, a->interface, ip + IP6_DST);
	memcpy(&ip4, ip + IP4_DST, sizeof(ip4));
	return upf_index_ip4(upf->index, a->interface, ip4);
}

/** What leads to no session stays where upf_match tells its sender so: by its address's bucket. */
static inline uint32_t
bucket_of(const struct upf_arrival *a, const uint8_t *ip)
{
	return a->rx & UPF_RX_INNER6 ? upf_bucket_prefix6(ip + IP6_DST)
				     : upf_bucket_ip4(ip + IP4_DST);
}

static inline uint8_t
owner(const struct upf *upf, struct rte_mbuf *m)
{
	struct upf_arrival *a = upf_arrival(m);
	const uint8_t *ip;
	uint32_t handle = 0;

	if (a->rx & UPF_RX_TUNNEL) {
		if (unlikely(upf_index_has_foreign(upf->index)))
			handle = upf_index_foreign(upf->index, a->teid);
		return (uint8_t)upf_owner_of_teid(&upf->owners, handle ? handle : a->teid);
	}
	ip = rte_pktmbuf_mtod(m, const uint8_t *);
	handle = handle_of(upf, a, ip);
	a->teid = handle;
	if (unlikely(a->rx & UPF_RX_FRAME && handle == 0))
		return 0; /* for all workers, or nobody */
	return upf->owners.worker[handle ? upf_teid_bucket(handle) : bucket_of(a, ip)];
}

/** The index's entries of all packets are fetched at once. */
static void
prefetch_index(const struct upf *upf, struct rte_mbuf **pkts, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++) {
		const struct upf_arrival *a;
		const uint8_t *ip;

		if (i + AHEAD < nb)
			rte_prefetch0(pkts[i + AHEAD]);
		a = upf_arrival(pkts[i]);
		ip = rte_pktmbuf_mtod(pkts[i], const uint8_t *);
		if (a->rx & (UPF_RX_TUNNEL | UPF_RX_FRAME))
			continue;
		if (a->rx & UPF_RX_INNER6)
			upf_index_prefetch(upf->index, a->interface, be64_get(ip + IP6_DST), true);
		else
			upf_index_prefetch(upf->index, a->interface, be32_get(ip + IP4_DST), false);
	}
}

/**
 * A frame to a group is every worker's, and one to an address that is not in the index may be of
 * whoever has just learned it: copies for all but the first.
 */
static void
spread(struct ap_node *n, const struct upf *upf, struct rte_mbuf *m)
{
	const struct upf_arrival *a = upf_arrival(m);

	if ((a->rx & (UPF_RX_TUNNEL | UPF_RX_FRAME)) != UPF_RX_FRAME || a->teid != 0)
		return;
	for (unsigned w = 1; w < upf->nb_workers; w++) {
		struct rte_mbuf *copy =
			rte_pktmbuf_copy(m, upf->workers[w].pkt_pool, 0, UINT32_MAX);

		n->made++;
		if (copy == NULL) {
			n->drops[DROP_NO_MBUF]++;
			continue;
		}
		*ap_meta(copy) = *ap_meta(m);
		ap_next_one(n, (rte_edge_t)w, copy);
	}
}

/** Packets of one owner move together, in their order. */
static void
scatter(struct ap_node *n, const struct upf *upf, struct rte_mbuf **pkts, const uint8_t *owners,
	uint16_t nb)
{
	uint16_t at[UPF_ROLE_WORKERS_MAX] = {0}, begin = 0;
	struct rte_mbuf *sorted[CHUNK];

	for (uint16_t i = 0; i < nb; i++)
		at[owners[i]]++;
	for (unsigned w = 0; w < upf->nb_workers; w++) {
		uint16_t count = at[w];

		at[w] = begin;
		begin = (uint16_t)(begin + count);
	}
	for (uint16_t i = 0; i < nb; i++)
		sorted[at[owners[i]]++] = pkts[i];
	begin = 0;
	for (unsigned w = 0; w < upf->nb_workers; w++) {
		ap_next(n, (rte_edge_t)w, &sorted[begin], (uint16_t)(at[w] - begin));
		begin = at[w];
	}
}

static uint16_t
upf_steer_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const struct upf *upf = n->role;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	uint8_t owners[CHUNK], differ = 0;

	n->in += nb;
	if (upf->nb_workers == 1) {
		ap_next_all(n, graph, node, 0, objs, nb);
		return nb;
	}
	for (uint16_t from = 0; from < nb; from = (uint16_t)(from + CHUNK)) {
		uint16_t take = RTE_MIN((uint16_t)(nb - from), (uint16_t)CHUNK);

		prefetch_index(upf, &pkts[from], take);
		for (uint16_t i = 0; i < take; i++) {
			owners[i] = owner(upf, pkts[from + i]);
			if (unlikely(upf_arrival(pkts[from + i])->rx & UPF_RX_FRAME))
				spread(n, upf, pkts[from + i]);
			differ |= owners[i] ^ owners[0];
		}
		if (differ == 0 && take == nb)
			ap_next_all(n, graph, node, owners[0], objs, nb);
		else
			scatter(n, upf, &pkts[from], owners, take);
	}
	return nb;
}

static const struct ap_node_type upf_steer = {
	.name = "upf_steer",
	.help = "takes each packet to the worker that owns its session",
	.process = upf_steer_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};

AP_NODE_REGISTER(upf_steer)
