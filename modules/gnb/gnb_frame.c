/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/gnb/gnb_frame.h"
#include "modules/upf/upf_packet.h"

/** Sum of the words of an IPv4 header whose checksum stands in it. */
static uint32_t
sum_of(const uint8_t *ip)
{
	return (uint16_t)~be16_get(ip + 10);
}

const struct gnb_frame *
gnb_frame_make(struct gnb_frame *f, const struct upf_net *net, const struct upf_peer *peer,
	       uint32_t index, uint64_t now_ns)
{
	const struct upf_net_peer *way = &net->peers[index];
	const uint8_t interface = atomic_load_explicit(&way->interface, memory_order_acquire);
	const struct upf_link *link = &net->links[interface];
	const struct upf_neigh *e;
	uint8_t header[18 + 2];
	uint64_t word, probe_ns;

	f->until_ns = 0;
	if (index == 0 || interface == 0 || !peer->gtpu || way->neighbour == UPF_NO_NEIGHBOUR)
		return NULL;
	e = &net->neighs.entry[way->neighbour];
	word = atomic_load_explicit(&e->word, memory_order_relaxed);
	probe_ns = atomic_load_explicit(&e->probe_ns, memory_order_relaxed);
	if (!upf_neigh_usable(word) || probe_ns <= now_ns)
		return NULL;
	f->v6 = peer->udp == IP6_HDR_BYTES;
	f->ip = link->l2_bytes;
	f->port = link->port;
	f->mtu = link->mtu;
	f->bytes = (uint8_t)(f->ip + peer->udp + UDP_HDR_BYTES);
	f->sum = f->v6 ? 0 : sum_of(peer->header);
	upf_link_write(link, header, word, f->v6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	memcpy(f->header, header, f->ip);
	memcpy(f->header + f->ip, peer->header, (size_t)f->bytes - f->ip);
	f->until_ns = RTE_MIN(now_ns + GNB_FRAME_NS, probe_ns);
	return f;
}
