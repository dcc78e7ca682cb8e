/* SPDX-License-Identifier: BSD-3-Clause */
/** upf_out: routes, makes frames and spreads them over the ports. See upf_out.h. */
#include <errno.h>

#include "core/node.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_out.h"

#define CHUNK 256
#define AHEAD 4

static const char *const edges[] = {
	"port0",  "port1",  "port2",  "port3",  "port4",
	"port5",  "port6",  "port7",  "port8",  "port9",
	"port10", "port11", "port12", "port13", [UPF_OUT_STEER] = "steer",
};

static void
emit(void *arg, unsigned port, struct rte_mbuf *m)
{
	struct ap_node *n = arg;

	ap_next_one(n, (rte_edge_t)port, m);
}

/** Frames of several ports, in their order for each. */
static void
spread(struct ap_node *n, struct rte_mbuf **pkts, const uint8_t *port, uint16_t nb)
{
	struct rte_mbuf *some[CHUNK];
	uint32_t left = 0;

	for (uint16_t i = 0; i < nb; i++)
		left |= 1U << port[i];
	while (left) {
		const uint8_t p = (uint8_t)__builtin_ctz(left);
		uint16_t k = 0;

		for (uint16_t i = 0; i < nb; i++) {
			some[k] = pkts[i];
			k = (uint16_t)(k + (port[i] == p));
		}
		ap_next(n, p, some, k);
		left &= left - 1;
	}
}

/** The first `nb` packets of a chunk, whose frames are ready. */
static __rte_noinline void
flush(struct ap_node *n, struct rte_graph *graph, struct rte_node *node, void **objs,
      const uint8_t *port, uint16_t nb, uint8_t differ)
{
	if (differ)
		spread(n, (struct rte_mbuf **)objs, port, nb);
	else if (nb > 0)
		ap_next_all(n, graph, node, port[0], objs, nb);
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct upf_out *o = n->priv;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	const uint64_t now = ap_node_now(n);
	uint8_t port[CHUNK];

	n->in += nb;
	for (uint16_t at = 0, step; at < nb; at = (uint16_t)(at + step)) {
		uint16_t kept = 0;
		uint8_t differ = 0;

		step = (uint16_t)RTE_MIN(nb - at, CHUNK);
		for (uint16_t i = 0; i < step; i++) {
			struct rte_mbuf *m = pkts[at + i];
			int to;

			if (i + AHEAD < step)
				rte_prefetch0(rte_pktmbuf_mtod(pkts[at + i + AHEAD], void *));
			to = upf_out_fast(o, m, now);
			if (unlikely(to < 0)) {
				/* Those before it leave before it. */
				flush(n, graph, node, objs + at, port, kept, differ);
				kept = differ = 0;
				upf_out_any(o, m, now);
				continue;
			}
			port[kept] = (uint8_t)to;
			differ |= (uint8_t)(to ^ port[0]);
			pkts[at + kept++] = m;
		}
		flush(n, graph, node, objs + at, port, kept, differ);
	}
	if (unlikely(o->waits.nb > 0))
		ap_node_arm(n, now + UPF_OUT_POLL_NS);
	return nb;
}

static void
expire(struct ap_node *n, uint64_t now_ns)
{
	struct upf_out *o = n->priv;

	upf_out_poll(o, now_ns);
	if (o->waits.nb > 0)
		ap_node_arm(n, now_ns + UPF_OUT_POLL_NS);
}

static uint64_t
held(const struct ap_node *n)
{
	return ((const struct upf_out *)n->priv)->waits.held;
}

static int
init(struct ap_node *n)
{
	struct upf *upf = n->role;
	struct upf_out *o = n->priv;

	if (upf_out_init(o, upf->net, upf_kept_packets(upf)) < 0)
		return -ENOMEM;
	o->emit = emit;
	o->arg = n;
	o->drops = n->drops;
	o->made = &n->made;
	o->used = &n->used;
	return 0;
}

static void
fini(struct ap_node *n)
{
	upf_out_fini(n->priv);
}

static const struct ap_node_type upf_out = {
	.name = "upf_out",
	.help = "next hop, MTU and link header of packets that leave the UPF",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = upf_out_drops,
	.nb_drops = UPF_OUT_DROPS,
	.priv_size = sizeof(struct upf_out),
	.rare_edges = 1 << UPF_OUT_STEER,
	.init = init,
	.fini = fini,
	.held = held,
	.expire = expire,
};
AP_NODE_REGISTER(upf_out)
