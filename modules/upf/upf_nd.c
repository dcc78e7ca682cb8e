/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/be.h"
#include "codec/ip.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_nd.h"
#include "modules/upf/upf_packet.h"

#define ICMP6 58
#define SOLICIT 135
#define ADVERT 136
#define ND_HDR 24 /* with the target */
#define OPT_SOURCE 1
#define OPT_TARGET 2
#define FLAG_SOLICITED 0x40
#define FLAG_OVERRIDE 0x20
#define ARP_REQUEST 1
#define ARP_REPLY 2

static const uint8_t zero[16];
static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};

static uint64_t
mac_word(const uint8_t *mac)
{
	uint64_t v = 0;

	memcpy(&v, mac, 6);
	return v;
}

/** RFC 2464 §7 */
static uint64_t
group_mac(const uint8_t *ip6)
{
	const uint8_t mac[6] = {0x33, 0x33, ip6[12], ip6[13], ip6[14], ip6[15]};

	return mac_word(mac);
}

static struct upf_neigh_key
key_of(const struct upf_link *link, bool v6, const uint8_t *address)
{
	struct upf_neigh_key key = {.interface = link->index, .v6 = v6};

	memcpy(key.address, address, v6 ? 16 : 4);
	return key;
}

/** Whether the address is a neighbour's: on the link, or one we know there. */
static bool
on_link(const struct upf_net *net, const struct upf_link *link, bool v6, const uint8_t *address)
{
	struct upf_neigh_key key;

	if (upf_net_next_hop(net, link->index, v6, address, &key) == -EAGAIN)
		return true;
	key = key_of(link, v6, address);
	return upf_neigh_find(&net->neighs, &key) >= 0;
}

/** Whether the link has who answers for the address himself, as hosts that framed routes enclose: a
 * next hop, or a neighbour heard of or used lately. Nothing but use makes an entry older. */
static bool
is_neighbour(const struct upf_net *net, const struct upf_link *link, bool v6,
	     const uint8_t *address, uint64_t now_ns)
{
	const struct upf_neigh_key key = key_of(link, v6, address);
	const int index = upf_neigh_find(&net->neighs, &key);
	const struct upf_neigh *e = index < 0 ? NULL : &net->neighs.entry[index];

	return e != NULL &&
	       (upf_neigh_pinned(e) || (upf_neigh_usable(atomic_load(&e->word)) &&
					now_ns < atomic_load(&e->probe_ns) + UPF_NEIGH_IDLE_NS));
}

/** Whether we answer for a UE: one whose session takes packets that come by this interface. */
static bool
is_user(const struct upf_net *net, const struct upf_link *link, bool v6, const uint8_t *address,
	uint64_t now_ns)
{
	uint32_t ip4;

	if (!link->proxy || net->users == NULL || is_neighbour(net, link, v6, address, now_ns))
		return false;
	if (v6)
		return upf_index_ip6(net->users, link->index, address) != 0;
	memcpy(&ip4, address, sizeof(ip4));
	return upf_index_ip4(net->users, link->index, ip4) != 0;
}

/** Refreshes an entry, or makes one when we are to answer. */
static void
learn(struct upf_net *net, const struct upf_link *link, bool v6, const uint8_t *address,
      const uint8_t *mac, bool make, uint64_t now_ns)
{
	const struct upf_neigh_key key = key_of(link, v6, address);
	int index = upf_neigh_find(&net->neighs, &key);

	if (mac[0] & 1 || !on_link(net, link, v6, address))
		return;
	if (index < 0 && make)
		index = upf_neigh_get(&net->neighs, &key, false, now_ns);
	if (index >= 0)
		upf_neigh_learn(&net->neighs, (uint32_t)index, mac, now_ns);
}

/* --- ARP -------------------------------------------------------------------------------------- */

static unsigned
arp_write(const struct upf_link *link, uint64_t dst, uint8_t op, const uint8_t *spa,
	  const uint8_t *tha, const uint8_t *tpa, uint8_t *p)
{
	uint8_t *arp = p + upf_link_write(link, p, dst, ETH_TYPE_ARP);

	memcpy(arp, (const uint8_t[8]){0, 1, 8, 0, 6, 4, 0, op}, 8);
	memcpy(arp + 8, link->source, 6);
	memcpy(arp + 14, spa, 4);
	memcpy(arp + 18, tha, 6);
	memcpy(arp + 24, tpa, 4);
	return link->l2_bytes + UPF_ARP_BYTES;
}

/** m becomes the frame at `p`. */
static enum upf_nd_verdict
reply(struct rte_mbuf **m, struct rte_mempool *pool, const struct upf_link *link, const uint8_t *p,
      unsigned n)
{
	struct rte_mbuf *to = upf_packet_fresh(*m, pool);

	if (to == NULL)
		return UPF_ND_NO_MBUF;
	memcpy(rte_pktmbuf_append(to, (uint16_t)n), p, n);
	upf_frame_leaves(to, link->index);
	*m = to;
	return UPF_ND_REPLY;
}

enum upf_nd_verdict
upf_arp_take(struct upf_net *net, const struct upf_link *link, struct rte_mbuf **m,
	     struct rte_mempool *pool, uint64_t now_ns)
{
	const uint8_t *arp = rte_pktmbuf_mtod(*m, const uint8_t *);
	const uint8_t *sha = arp + 8, *spa = arp + 14, *tpa = arp + 24;
	uint8_t frame[18 + UPF_ARP_BYTES];
	bool ours;

	/* Ethernet, IPv4, address lengths 6 and 4 */
	if ((*m)->data_len < UPF_ARP_BYTES ||
	    memcmp(arp, (const uint8_t[7]){0, 1, 8, 0, 6, 4, 0}, 7) != 0 || sha[0] & 1 ||
	    (arp[7] != ARP_REQUEST && arp[7] != ARP_REPLY))
		return UPF_ND_MALFORMED;
	if (upf_link_has(link, false, spa))
		return UPF_ND_CONFLICT;
	/* Who announces an address of a UE, or has it, is not to be told that it is ours. */
	ours = upf_link_has(link, false, tpa) ||
	       (memcmp(spa, tpa, 4) != 0 && is_user(net, link, false, tpa, now_ns));
	/* An announcement (spa = tpa) refreshes, a probe (spa = 0) says nothing of the sender. */
	if (memcmp(spa, zero, 4) != 0)
		learn(net, link, false, spa, sha, ours && arp[7] == ARP_REQUEST, now_ns);
	if (arp[7] == ARP_REPLY)
		return UPF_ND_TAKEN;
	if (!ours)
		return memcmp(spa, tpa, 4) == 0 ? UPF_ND_TAKEN : UPF_ND_NOT_OURS;
	return reply(m, pool, link, frame,
		     arp_write(link, mac_word(sha), ARP_REPLY, tpa, sha, spa, frame));
}

/* --- neighbour discovery ---------------------------------------------------------------------- */

/** Writes a frame with a neighbour solicitation or advertisement. */
static unsigned
nd_write(const struct upf_link *link, uint64_t dst_mac, const uint8_t *src, const uint8_t *dst,
	 uint8_t type, uint8_t flags, const uint8_t *target, uint8_t *p)
{
	uint8_t *ip = p + upf_link_write(link, p, dst_mac, ETH_TYPE_IP6), *icmp;
	uint16_t sum;

	icmp = ip + upf_packet_ip(ip, true, src, dst, ICMP6, 255, ND_HDR + 8);
	memset(icmp, 0, ND_HDR + 8);
	icmp[0] = type;
	icmp[4] = flags;
	memcpy(icmp + 8, target, 16);
	icmp[24] = type == SOLICIT ? OPT_SOURCE : OPT_TARGET;
	icmp[25] = 1;
	memcpy(icmp + 26, link->source, 6);
	sum = upf_icmp_checksum(ip, icmp, ND_HDR + 8);
	memcpy(icmp + 2, &sum, 2);
	return link->l2_bytes + UPF_ND_BYTES;
}

/** A message by the rules of §7.1. @param mac address of its option, or NULL */
static bool
nd_valid(const struct rte_mbuf *m, uint8_t option, const uint8_t **mac)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *), *icmp = ip + IP6_HDR_BYTES;
	const unsigned bytes = m->pkt_len - IP6_HDR_BYTES;

	*mac = NULL;
	/* - The IP Hop Limit field has a value of 255. - ICMP length is 24 or more octets. */
	if (m->nb_segs != 1 || m->data_len < IP6_HDR_BYTES + ND_HDR || ip[7] != 255)
		return false;
	/* - ICMP Checksum is valid. - ICMP Code is 0. - Target Address is not a multicast
	 * address. */
	if (upf_icmp_checksum(ip, icmp, bytes) != 0 || icmp[1] != 0 || icmp[8] == 0xff)
		return false;
	/* - All included options have a length that is greater than zero. */
	for (unsigned at = ND_HDR; at < bytes; at += icmp[at + 1] * 8U) {
		if (at + 2 > bytes || icmp[at + 1] == 0 || at + icmp[at + 1] * 8U > bytes)
			return false;
		if (icmp[at] == option && *mac == NULL)
			*mac = icmp + at + 2;
	}
	return true;
}

/** §7.2.3, §7.2.4 */
static enum upf_nd_verdict
solicited(struct upf_net *net, const struct upf_link *link, struct rte_mbuf **m,
	  struct rte_mempool *pool, uint64_t now_ns)
{
	const uint8_t *ip = rte_pktmbuf_mtod(*m, const uint8_t *), *src = ip + 8, *dst = ip + 24;
	const uint8_t *target = ip + IP6_HDR_BYTES + 8, *mac;
	bool dad = memcmp(src, zero, 16) == 0, group = dst[0] == 0xff;
	static const uint8_t solicited_node[13] = {0xff, 2, [11] = 1, [12] = 0xff};
	uint8_t frame[18 + UPF_ND_BYTES];
	uint8_t flags = FLAG_OVERRIDE;
	struct upf_neigh_key key;
	uint64_t word = 0;
	int index;

	if (!nd_valid(*m, OPT_SOURCE, &mac))
		return UPF_ND_MALFORMED;
	/* - If the IP source address is the unspecified address, the IP destination address is a
	 * solicited-node multicast address; there is no source link-layer address option. */
	if (dad && (memcmp(dst, solicited_node, 13) != 0 || mac))
		return UPF_ND_MALFORMED;
	if (!upf_link_has(link, true, target)) {
		if (!is_user(net, link, true, target, now_ns))
			return UPF_ND_NOT_OURS;
		flags = 0; /* §7.2.8: who has the address itself goes before a proxy */
	}
	if (dad)
		return reply(m, pool, link, frame,
			     nd_write(link, group_mac(all_nodes), target, all_nodes, ADVERT, flags,
				      target, frame));
	if (mac)
		learn(net, link, true, src, mac, true, now_ns);
	/* Without the option, which a unicast solicitation may leave out, we know the asker. */
	key = key_of(link, true, src);
	index = upf_neigh_find(&net->neighs, &key);
	if (!mac && index >= 0)
		word = atomic_load(&net->neighs.entry[index].word);
	if (!mac && (group || !upf_neigh_usable(word)))
		return group ? UPF_ND_MALFORMED : UPF_ND_NOT_OURS;
	return reply(m, pool, link, frame,
		     nd_write(link, mac ? mac_word(mac) : word & 0xFFFFFFFFFFFF, target, src,
			      ADVERT, FLAG_SOLICITED | flags, target, frame));
}

/** §7.2.5 */
static enum upf_nd_verdict
advertised(struct upf_net *net, const struct upf_link *link, const struct rte_mbuf *m,
	   uint64_t now_ns)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *), *icmp = ip + IP6_HDR_BYTES;
	const bool is_solicited = icmp[4] & FLAG_SOLICITED, override = icmp[4] & FLAG_OVERRIDE;
	struct upf_neigh_key key;
	const uint8_t *mac;
	uint64_t word;
	int index;
	bool other;

	/* - If the IP Destination Address is a multicast address the Solicited flag is zero. */
	if (!nd_valid(m, OPT_TARGET, &mac) || (ip[24] == 0xff && is_solicited))
		return UPF_ND_MALFORMED;
	if (upf_link_has(link, true, icmp + 8))
		return UPF_ND_CONFLICT;
	key = key_of(link, true, icmp + 8);
	index = upf_neigh_find(&net->neighs, &key);
	if (index < 0)
		return UPF_ND_TAKEN; /* "There is no need to create an entry if none exists" */
	word = atomic_load(&net->neighs.entry[index].word);
	if (!upf_neigh_usable(word)) {
		if (mac && !(mac[0] & 1)) {
			upf_neigh_learn(&net->neighs, (uint32_t)index, mac, now_ns);
			if (!is_solicited)
				upf_neigh_doubt(&net->neighs, (uint32_t)index, now_ns);
		}
		return UPF_ND_TAKEN;
	}
	other = mac && mac_word(mac) != (word & 0xFFFFFFFFFFFF);
	if (!override && other) {
		upf_neigh_doubt(&net->neighs, (uint32_t)index, now_ns);
	} else {
		uint8_t now_mac[6];

		upf_neigh_mac(word, now_mac);
		if (is_solicited || other)
			upf_neigh_learn(&net->neighs, (uint32_t)index, mac ? mac : now_mac, now_ns);
		if (!is_solicited && other)
			upf_neigh_doubt(&net->neighs, (uint32_t)index, now_ns);
	}
	return UPF_ND_TAKEN;
}

enum upf_nd_verdict
upf_nd_take(struct upf_net *net, const struct upf_link *link, struct rte_mbuf **m,
	    struct rte_mempool *pool, uint64_t now_ns)
{
	const uint8_t type = rte_pktmbuf_mtod(*m, const uint8_t *)[IP6_HDR_BYTES];

	if (type == SOLICIT)
		return solicited(net, link, m, pool, now_ns);
	return type == ADVERT ? advertised(net, link, *m, now_ns) : UPF_ND_ROUTER;
}

/* --- what we ask ----------------------------------------------------------------------------- */

unsigned
upf_nd_ask(const struct upf_link *link, const struct upf_neigh_key *key, const uint8_t *mac,
	   uint8_t *p)
{
	const uint8_t *source = upf_link_source(link, key->v6, key->address);
	uint8_t group[16] = {0xff, 2, [11] = 1, [12] = 0xff};

	/* An interface with link-local addresses alone still asks. */
	if (source == NULL && key->v6)
		source = link->ip6[link->nb_ip6 - 1];
	if (source == NULL)
		return 0;
	if (!key->v6)
		return arp_write(link, mac ? mac_word(mac) : 0xFFFFFFFFFFFF, ARP_REQUEST, source,
				 zero, key->address, p);
	memcpy(group + 13, key->address + 13, 3);
	return nd_write(link, mac ? mac_word(mac) : group_mac(group), source,
			mac ? key->address : group, SOLICIT, 0, key->address, p);
}
