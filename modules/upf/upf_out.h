/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_OUT_H
#define AIRPATH_UPF_OUT_H

/**
 * The way out: next hop, MTU, link header. Packets carry struct upf_leave.
 *
 * upf_out_fast() does what nearly every packet needs; upf_out_any() does everything: waits for
 * neighbours, fragments, tells senders. Belongs to one worker.
 */

#include <rte_mbuf.h>

#include "codec/ip.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_packet.h"
#include "modules/upf/upf_wait.h"

#define UPF_OUT_STEER UPF_NET_PORTS_MAX /**< where ICMP errors to UEs go: struct upf_arrival */

enum upf_out_drop {
	UPF_OUT_DROP_INTERFACE, /**< leaves by none */
	UPF_OUT_DROP_PEER,      /**< to a peer that is no more */
	UPF_OUT_DROP_NOT_IP,
	UPF_OUT_DROP_NO_ROUTE,
	UPF_OUT_DROP_EXPIRED, /**< TTL or hop limit ended here */
	UPF_OUT_DROP_TOO_BIG, /**< longer than the MTU, and not to be fragmented */
	UPF_OUT_DROP_NO_MBUF,
	UPF_OUT_DROP_NEIGH_FULL, /**< more neighbours, or packets for one, than may wait */
	UPF_OUT_DROP_NEIGH,      /**< the neighbour does not answer */
	UPF_OUT_DROPS,
};
extern const char *const upf_out_drops[UPF_OUT_DROPS];

struct upf_out {
	struct upf_net *net;
	/** A frame for a port, or an arrival for UPF_OUT_STEER. */
	void (*emit)(void *arg, unsigned port, struct rte_mbuf *m);
	void *arg;
	uint64_t *drops; /**< of enum upf_out_drop */
	uint64_t *made;
	uint64_t *used;
	uint32_t id; /**< of fragments of ours */
	struct upf_limit icmp;
	struct upf_waits waits; /**< for neighbours; waits.held packets are ours */
};

/**
 * The node's counters and emit are the caller's to set.
 * @param packets that may wait for neighbours, 1..
 * @return 0 or -ENOMEM
 */
int upf_out_init(struct upf_out *o, struct upf_net *net, uint32_t packets);
/** Frees what waits. */
void upf_out_fini(struct upf_out *o);

/** Any packet. */
void upf_out_any(struct upf_out *o, struct rte_mbuf *m, uint64_t now_ns);

/** Looks after what waits. To be called every UPF_OUT_POLL_NS while upf_out.waits.nb > 0. */
void upf_out_poll(struct upf_out *o, uint64_t now_ns);
#define UPF_OUT_POLL_NS 2000000ULL

/**
 * To the neighbour, or held until it is known; behind all that waits for it. A packet of the right
 * size, TTL done.
 */
void upf_out_send(struct upf_out *o, const struct upf_link *link, uint32_t neighbour,
		  struct rte_mbuf *m, uint64_t now_ns);

/** Longer than the MTU; see upf_out_mtu.c. */
void upf_out_too_long(struct upf_out *o, const struct upf_link *link, uint32_t neighbour,
		      struct rte_mbuf *m, uint64_t now_ns);

/**
 * Drops the packet and tells who sent it, if it may be told and there is a way to it.
 * Data is the packet as it was sent; upf_leave of it still holds.
 */
void upf_out_complain(struct upf_out *o, struct rte_mbuf *m, enum upf_out_drop reason, int error,
		      uint16_t mtu, uint64_t now_ns);

/** RFC 1812 §5.3.1; the version was looked at and the TTL is above 1. */
static inline void
upf_out_hop(uint8_t *ip)
{
	uint16_t was, is, checksum;

	if (ip[0] >> 4 == 6) {
		ip[7]--;
		return;
	}
	memcpy(&was, ip + 8, 2);
	is = (uint16_t)(was - 1);
	memcpy(ip + 8, &is, 2);
	memcpy(&checksum, ip + 10, 2);
	checksum = ip_checksum_update(checksum, was, is);
	memcpy(ip + 10, &checksum, 2);
}

/** Next hop of a plain packet: a neighbour's index, or UPF_NO_NEIGHBOUR: ask upf_out_any(). */
static inline uint32_t
upf_out_next(const struct upf_net *net, const struct upf_link *link, const uint8_t *ip)
{
	struct upf_neigh_key key;
	uint16_t hop;
	int index;

	if ((ip[0] >> 4 == 4 ? ip[8] : ip[7]) <= 1)
		return UPF_NO_NEIGHBOUR;
	hop = ip[0] >> 4 == 4 ? upf_fib_find4(&link->routes, be32_get(ip + 16))
			      : upf_fib_find6(&link->routes, ip + 24);
	if (hop == UPF_NO_ROUTE)
		return UPF_NO_NEIGHBOUR;
	if (!net->hops[hop].on_link)
		return net->hops[hop].neighbour;
	key = (struct upf_neigh_key){.interface = link->index, .v6 = ip[0] >> 4 == 6};
	memcpy(key.address, ip + (key.v6 ? 24 : 16), key.v6 ? 16 : 4);
	index = upf_neigh_find(&net->neighs, &key);
	return index < 0 ? UPF_NO_NEIGHBOUR : (uint32_t)index;
}

/**
 * The usual packet: a way out that is known, short enough, room for the link header.
 * @return the port, with the frame ready; -1: untouched, for upf_out_any()
 */
static inline int
upf_out_fast(const struct upf_out *o, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct upf_net *net = o->net;
	const struct upf_leave l = *upf_leave(m);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *), *p;
	const struct upf_neigh *e;
	const struct upf_link *link;
	uint32_t neighbour;
	uint64_t word;

	if (likely(l.peer == 0)) {
		if (unlikely(l.interface == 0 || l.interface > net->nb_links ||
			     l.flags & AP_M_CONTROL || m->data_len < IP4_HDR_BYTES ||
			     (ip[0] >> 4 != 4 && (ip[0] >> 4 != 6 || m->data_len < IP6_HDR_BYTES))))
			return -1;
		link = &net->links[l.interface];
		neighbour = upf_out_next(net, link, ip);
	} else {
		if (unlikely(l.peer >= UPF_PEERS_MAX))
			return -1;
		link = &net->links[atomic_load_explicit(&net->peers[l.peer].interface,
							memory_order_relaxed)];
		neighbour = net->peers[l.peer].neighbour;
	}
	if (unlikely(neighbour == UPF_NO_NEIGHBOUR || m->pkt_len > link->mtu))
		return -1;
	if (unlikely(o->waits.nb != 0) && upf_waits_find(&o->waits, neighbour) != NULL)
		return -1;
	e = &net->neighs.entry[neighbour];
	word = atomic_load_explicit(&e->word, memory_order_relaxed);
	if (unlikely(!upf_neigh_usable(word) ||
		     atomic_load_explicit(&e->probe_ns, memory_order_relaxed) <= now_ns ||
		     !ap_seg_prependable(m) || m->data_off < link->l2_bytes))
		return -1;
	if (l.peer == 0)
		upf_out_hop(ip);
	p = ip - link->l2_bytes;
	m->data_off -= link->l2_bytes;
	m->data_len += link->l2_bytes;
	m->pkt_len += link->l2_bytes;
	upf_link_write(link, p, word, ip[0] >> 4 == 4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6);
	return link->port;
}

#endif
