/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "core/pkt.h"
#include "modules/upf/upf_icmp.h"
#include "modules/upf/upf_nd.h"
#include "modules/upf/upf_out.h"

#define GIVE_UP_NS ((UPF_NEIGH_TRIES + 1) * UPF_NEIGH_RETRANS_NS)

const char *const upf_out_drops[UPF_OUT_DROPS] = {
	[UPF_OUT_DROP_INTERFACE] = "interface", [UPF_OUT_DROP_PEER] = "peer",
	[UPF_OUT_DROP_NOT_IP] = "not_ip",       [UPF_OUT_DROP_NO_ROUTE] = "no_route",
	[UPF_OUT_DROP_EXPIRED] = "expired",     [UPF_OUT_DROP_TOO_BIG] = "too_big",
	[UPF_OUT_DROP_NO_MBUF] = "no_mbuf",     [UPF_OUT_DROP_NEIGH_FULL] = "neighbour_queue",
	[UPF_OUT_DROP_NEIGH] = "neighbour",
};

int
upf_out_init(struct upf_out *o, struct upf_net *net, uint32_t packets)
{
	memset(o, 0, sizeof(*o));
	o->net = net;
	o->id = (uint32_t)((uintptr_t)o >> 6);
	upf_limit_init(&o->icmp, net->cfg.icmp_per_s);
	return upf_waits_init(&o->waits, packets, net->neighs.mask + 1);
}

void
upf_out_fini(struct upf_out *o)
{
	upf_waits_fini(&o->waits);
}

static void
drop(struct upf_out *o, enum upf_out_drop reason, struct rte_mbuf *m)
{
	o->drops[reason]++;
	rte_pktmbuf_free(m);
}

/* --- neighbours ------------------------------------------------------------------------------- */

/** Puts the link header on and sends. */
static void
send_to(struct upf_out *o, const struct upf_link *link, uint64_t word, struct rte_mbuf *m)
{
	const uint16_t type =
		*rte_pktmbuf_mtod(m, uint8_t *) >> 4 == 4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6;
	uint8_t *p = ap_pkt_prepend(&m, link->l2_bytes, o->net->cfg.pool);
	uint8_t header[18 + 2];

	if (p == NULL) {
		drop(o, UPF_OUT_DROP_NO_MBUF, m);
		return;
	}
	upf_link_write(link, header, word, type);
	memcpy(p, header, link->l2_bytes);
	o->emit(o->arg, link->port, m);
}

static void
ask(struct upf_out *o, const struct upf_link *link, const struct upf_neigh *e,
    enum upf_neigh_ask what)
{
	struct upf_neigh_key key = {.interface = link->index};
	struct rte_mbuf *m;
	uint8_t frame[18 + UPF_ND_BYTES], mac[6];
	unsigned n;

	if (what == UPF_NEIGH_QUIET)
		return;
	upf_neigh_key_of(e, &key);
	upf_neigh_mac(atomic_load(&e->word), mac);
	n = upf_nd_ask(link, &key, what == UPF_NEIGH_ASK_UNICAST ? mac : NULL, frame);
	m = n ? rte_pktmbuf_alloc(o->net->cfg.pool) : NULL;
	if (m == NULL)
		return; /* asked again in a second */
	memcpy(rte_pktmbuf_append(m, (uint16_t)n), frame, n);
	*ap_meta(m) = (struct ap_meta){.flags = AP_M_CONTROL};
	(*o->made)++;
	o->emit(o->arg, link->port, m);
}

/** @return whether nothing is to be waited for any more. */
static bool
is_over(const struct upf_wait *q, uint64_t word, uint64_t now_ns)
{
	return upf_neigh_generation(word) != q->generation ||
	       upf_neigh_state(word) != UPF_NEIGH_INCOMPLETE || now_ns >= q->give_up_ns;
}

/** Ends a wait: its packets leave in their order, or their senders are told. */
static void
settle(struct upf_out *o, struct upf_wait *q, uint64_t word, uint64_t now_ns)
{
	/* Out of the list first: errors about its packets may wait themselves. */
	struct upf_wait w = upf_waits_end(&o->waits, q);
	const bool known = upf_neigh_generation(word) == w.generation && upf_neigh_usable(word);
	struct rte_mbuf *m;

	while ((m = upf_waits_take(&o->waits, &w)) != NULL) {
		if (known)
			send_to(o, &o->net->links[w.interface], word, m);
		else
			upf_out_complain(o, m, UPF_OUT_DROP_NEIGH, UPF_ICMP_HOST, 0, now_ns);
	}
}

static struct upf_wait *
wait_for(struct upf_out *o, const struct upf_link *link, uint32_t neighbour, uint64_t word,
	 uint64_t now_ns)
{
	const bool next_hop = upf_neigh_pinned(&o->net->neighs.entry[neighbour]);
	struct upf_wait *q = upf_waits_find(&o->waits, neighbour);

	if (q == NULL && (q = upf_waits_begin(&o->waits, neighbour, next_hop)) != NULL) {
		q->generation = upf_neigh_generation(word);
		q->interface = link->index;
		q->give_up_ns = now_ns + GIVE_UP_NS;
	}
	return q;
}

void
upf_out_send(struct upf_out *o, const struct upf_link *link, uint32_t neighbour, struct rte_mbuf *m,
	     uint64_t now_ns)
{
	struct upf_neigh *e = &o->net->neighs.entry[neighbour];
	struct upf_wait *q = upf_waits_find(&o->waits, neighbour);
	uint64_t word;

	if (atomic_load(&e->probe_ns) <= now_ns)
		ask(o, link, e, upf_neigh_probe(e, now_ns));
	word = atomic_load(&e->word);
	if (q != NULL && is_over(q, word, now_ns))
		settle(o, q, word, now_ns);
	if (upf_neigh_usable(word)) {
		send_to(o, link, word, m);
		return;
	}
	if (upf_neigh_state(word) != UPF_NEIGH_INCOMPLETE) {
		upf_out_complain(o, m, UPF_OUT_DROP_NEIGH, UPF_ICMP_HOST, 0, now_ns);
		return;
	}
	q = wait_for(o, link, neighbour, word, now_ns);
	if (q == NULL || !upf_waits_put(&o->waits, q, m))
		drop(o, UPF_OUT_DROP_NEIGH_FULL, m);
}

void
upf_out_poll(struct upf_out *o, uint64_t now_ns)
{
	for (uint32_t i = 0; i < o->waits.nb;) {
		struct upf_wait *q = &o->waits.queues[i];
		struct upf_neigh *e = &o->net->neighs.entry[q->neighbour];
		uint64_t word = atomic_load(&e->word);

		if (upf_neigh_generation(word) == q->generation && !upf_neigh_usable(word) &&
		    atomic_load(&e->probe_ns) <= now_ns) {
			ask(o, &o->net->links[q->interface], e, upf_neigh_probe(e, now_ns));
			word = atomic_load(&e->word);
		}
		if (is_over(q, word, now_ns))
			settle(o, q, word, now_ns);
		else
			i++;
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

void
upf_out_complain(struct upf_out *o, struct rte_mbuf *m, enum upf_out_drop reason, int error,
		 uint16_t mtu, uint64_t now_ns)
{
	const struct upf_leave l = *upf_leave(m);
	const struct upf_link *link = &o->net->links[l.from ? l.from : l.interface];
	const bool v6 = *rte_pktmbuf_mtod(m, uint8_t *) >> 4 == 6;
	const uint8_t *source = upf_link_source(link, v6, (const uint8_t[16]){0x20});
	struct rte_mbuf *e;

	/* From tunnel to tunnel we are no router, and have no way back. */
	if (l.flags & AP_M_CONTROL || (l.peer && !l.from) || source == NULL || !upf_icmp_may(m) ||
	    !upf_limit_take(&o->icmp, now_ns) ||
	    (e = upf_icmp_error(m, (enum upf_icmp_error)error, source, mtu, o->net->cfg.pool)) ==
		    NULL) {
		drop(o, reason, m);
		return;
	}
	o->drops[reason]++;
	(*o->made)++;
	if (l.from) {
		upf_packet_leaves(e, l.from);
		upf_out_any(o, e, now_ns);
		return;
	}
	/* To a UE: as if it had come from the network the packet was going to. */
	*upf_arrival(e) =
		(struct upf_arrival){.rx = v6 ? UPF_RX_INNER6 : 0, .interface = l.interface};
	e->vlan_tci_outer = 0;
	o->emit(o->arg, UPF_OUT_STEER, e);
}

/** A packet that is routed by its destination. */
static void
plain(struct upf_out *o, struct rte_mbuf *m, const struct upf_leave *l, uint64_t now_ns)
{
	const struct upf_link *link = &o->net->links[l->interface];
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	const bool v6 = ip[0] >> 4 == 6;
	struct upf_neigh_key key;
	int hop;

	if (m->data_len < (v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES) || (!v6 && ip[0] >> 4 != 4)) {
		drop(o, UPF_OUT_DROP_NOT_IP, m);
		return;
	}
	if (!(l->flags & AP_M_CONTROL) && (v6 ? ip[7] : ip[8]) <= 1) {
		upf_out_complain(o, m, UPF_OUT_DROP_EXPIRED, UPF_ICMP_EXPIRED, 0, now_ns);
		return;
	}
	hop = (v6 ? ip[24] == 0xff : ip[16] >= 224)
		      ? -ENETUNREACH
		      : upf_net_next_hop(o->net, l->interface, v6, ip + (v6 ? 24 : 16), &key);
	if (hop == -EAGAIN)
		hop = upf_neigh_get(&o->net->neighs, &key, false, now_ns);
	if (hop == -ENOSPC) {
		drop(o, UPF_OUT_DROP_NEIGH_FULL, m);
		return;
	}
	if (hop < 0) {
		upf_out_complain(o, m, UPF_OUT_DROP_NO_ROUTE, UPF_ICMP_NO_ROUTE, 0, now_ns);
		return;
	}
	if (m->pkt_len > link->mtu) {
		upf_out_too_long(o, link, (uint32_t)hop, m, now_ns);
		return;
	}
	if (!(l->flags & AP_M_CONTROL))
		upf_out_hop(ip);
	upf_out_send(o, link, (uint32_t)hop, m, now_ns);
}

void
upf_out_any(struct upf_out *o, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct upf_leave l = *upf_leave(m);
	const struct upf_net_peer *peer;
	const struct upf_link *link;
	uint8_t interface;

	if (l.peer == 0 || l.peer == UPF_LEAVE_FRAME) {
		if (l.interface == 0 || l.interface > o->net->nb_links || m->data_len == 0)
			drop(o, UPF_OUT_DROP_INTERFACE, m);
		else if (l.peer == 0)
			plain(o, m, &l, now_ns);
		else
			o->emit(o->arg, o->net->links[l.interface].port, m);
		return;
	}
	peer = &o->net->peers[l.peer < UPF_PEERS_MAX ? l.peer : 0];
	interface = atomic_load_explicit(&peer->interface, memory_order_acquire);
	link = &o->net->links[interface];
	if (interface == 0 || m->data_len == 0)
		drop(o, UPF_OUT_DROP_PEER, m);
	else if (peer->neighbour == UPF_NO_NEIGHBOUR)
		drop(o, UPF_OUT_DROP_NO_ROUTE, m);
	else if (m->pkt_len > link->mtu)
		upf_out_too_long(o, link, peer->neighbour, m, now_ns);
	else
		upf_out_send(o, link, peer->neighbour, m, now_ns);
}
