/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_IN_H
#define AIRPATH_UPF_IN_H

/**
 * What a received frame is: packets of sessions, something for us, or nothing.
 *
 * upf_in_fast() takes what nearly every packet is and leaves everything else untouched to
 * upf_in_any(), which checks each field by its RFC and names what is wrong. Both agree on what
 * the first takes (`fuzz_upf_in`).
 *
 * Verified here: the IPv4 header checksum, unless the port did; not the UDP checksum of G-PDUs
 * (0 in most; one the port found wrong is dropped), nor the inner IPv4 header's, which is only
 * ever updated (RFC 1624), so a wrong one stays wrong for its receiver.
 */

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "codec/gtpu.h"
#include "codec/ip.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_net.h"

enum upf_in_drop {
	UPF_IN_DROP_SHORT,        /**< no room for the headers it announces */
	UPF_IN_DROP_LINK_ADDRESS, /**< for another MAC, or unicast IP in a group frame */
	UPF_IN_DROP_VLAN,         /**< of a VLAN without interface */
	UPF_IN_DROP_ETHERTYPE,    /**< neither IP nor ARP */
	UPF_IN_DROP_MALFORMED,    /**< version, header length or lengths cannot be true */
	UPF_IN_DROP_TRUNCATED,    /**< the packet is longer than its frame */
	UPF_IN_DROP_CHECKSUM,     /**< of the IPv4 header; or another one, the port says */
	UPF_IN_DROP_SOURCE,       /**< an address no packet comes from, or ours */
	UPF_IN_DROP_MULTICAST,    /**< nobody here asked for it */
	UPF_IN_DROP_NOT_OURS,     /**< neither to us nor by an interface toward the core */
	UPF_IN_DROP_GTPU,         /**< a UDP or GTP-U header that cannot be true */
	UPF_IN_DROP_INNER,        /**< a T-PDU that is no IP packet, or shorter than it says */
	UPF_IN_DROP_SCATTERED,    /**< headers over several segments that cannot be joined */
	UPF_IN_DROPS,
};
extern const char *const upf_in_drops[UPF_IN_DROPS];

enum upf_in_verdict {
	UPF_IN_PASS,    /**< struct upf_arrival is filled in, data is the inner packet */
	UPF_IN_OWN,     /**< for upf_local: UPF_RX_LOCAL, data begins behind the link header */
	UPF_IN_DROPPED, /**< + enum upf_in_drop */
};

/** Why upf_local gets a packet with UPF_RX_LOCAL: in upf_arrival.qfi. */
enum upf_local_why {
	UPF_LOCAL_ARP,
	UPF_LOCAL_OWN,      /**< IP to an address of ours; ND to a group */
	UPF_LOCAL_FRAGMENT, /**< likewise, of a packet */
	/** GTP-U other than G-PDUs, or one with an extension header we have to understand and do
	 * not; upf_outer_bytes(): from the IP header to GTP-U's. */
	UPF_LOCAL_GTPU,
	UPF_LOCAL_EXPIRED, /**< TTL or hop limit used up: forward no further */
};

/** A receiver: constant. */
struct upf_in {
	const struct upf_net *net;
	const uint8_t *by_vlan; /**< of the port */
	uint64_t mac;           /**< of the port, as in memory, 48 bits */
};

/** Extension header types we understand, as Supported Extension Headers Notifications list them. */
extern const uint8_t upf_understood[2];

void upf_in_init(struct upf_in *in, const struct upf_net *net, unsigned port);

/** Any frame at m's data; every field of m that upf_in_fast() sets is set. */
unsigned upf_in_any(const struct upf_in *in, struct rte_mbuf *m);

/** The same from the IP header on: what reassembly made. */
unsigned upf_in_ip(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m);

/**
 * A T-PDU with UPF_RX_FRAME whose session is not of Ethernet: what is behind the IP packet goes.
 * @return whether it is one: UPF_RX_FRAME is gone then
 */
bool upf_in_frame_is_ip(struct rte_mbuf *m);

/** Makes the first `want` octets one piece. @return false: they are not, m as it was. */
bool upf_pull(struct rte_mbuf *m, uint16_t want);

/** upf_arrival in one word. AP_M_TIMED of the port stays. */
static inline void
upf_in_mark(struct rte_mbuf *m, uint32_t teid, uint8_t qfi, uint8_t rx, uint8_t interface)
{
	uint64_t word;

	memcpy(&word, &m->hash, sizeof(word));
	word = teid | (uint64_t)qfi << 32 | (uint64_t)rx << 40 |
	       (word & (uint64_t)AP_M_TIMED << 48) | (uint64_t)interface << 56;
	memcpy(&m->hash, &word, sizeof(word));
}

/** Data moves to the T-PDU, which keeps `bytes`; what is behind goes. One segment. */
static inline void
upf_in_to_inner(struct rte_mbuf *m, unsigned outer_at, unsigned inner_at, unsigned bytes)
{
	m->data_off = (uint16_t)(m->data_off + inner_at);
	m->data_len = (uint16_t)bytes;
	m->pkt_len = bytes;
	m->vlan_tci_outer = (uint16_t)(inner_at - outer_at);
}

/** @return length of the IP packet at `p`, whose header is there; 0: it cannot be true. */
static inline unsigned
upf_in_inner_bytes(const uint8_t *p, unsigned room, uint8_t *rx)
{
	unsigned bytes;

	if (p[0] >> 4 == 4) {
		bytes = be16_get(p + 2);
		return (p[0] & 0xF) < 5 || bytes < (p[0] & 0xFU) * 4 || bytes > room ? 0 : bytes;
	}
	if (p[0] >> 4 != 6 || room < IP6_HDR_BYTES)
		return 0;
	bytes = IP6_HDR_BYTES + be16_get(p + 4);
	*rx |= UPF_RX_INNER6;
	return bytes > room || (bytes == IP6_HDR_BYTES && p[6] == 0) ? 0 : bytes;
}

/** G-PDU of the usual form in UDP at `udp_at`, of which `udp_room` octets are of the packet. */
static inline bool
upf_in_gpdu(struct rte_mbuf *m, const uint8_t *p, unsigned outer_at, unsigned udp_at,
	    unsigned udp_room, uint8_t rx, uint8_t interface)
{
	const uint8_t *udp = p + udp_at;
	const unsigned udp_bytes = be16_get(udp + 4);
	struct gtpu_gpdu g;
	unsigned inner_at, bytes;

	if (udp_bytes > udp_room || udp_bytes < UDP_HDR_BYTES + GTPU_HDR_BYTES ||
	    gtpu_gpdu_decode_fast(udp + UDP_HDR_BYTES, udp_bytes - UDP_HDR_BYTES, &g) == 0)
		return false;
	inner_at = udp_at + UDP_HDR_BYTES + g.hdr_bytes;
	if (g.tpdu_bytes < IP4_HDR_BYTES || (p[inner_at] >> 4 == 6 && g.tpdu_bytes < IP6_HDR_BYTES))
		return false;
	bytes = upf_in_inner_bytes(p + inner_at, g.tpdu_bytes, &rx);
	if (bytes != g.tpdu_bytes) /* padded, or not IP at all */
		return false;
	rx |= UPF_RX_TUNNEL;
	if (g.qfi != GTPU_NO_QFI)
		rx |= UPF_RX_QFI | (g.rqi ? UPF_RX_RQI : 0);
	upf_in_mark(m, g.teid, g.qfi & 0x3F, rx, interface);
	upf_in_to_inner(m, outer_at, inner_at, bytes);
	return true;
}

/** Addresses no packet comes from (RFC 1812 §5.3.7): this host, loopback, groups and beyond. */
static inline bool
upf_in_martian4(uint8_t first)
{
	return first == 0 || first == 127 || first >= 224;
}

/** Toward a UE: addresses are looked at, TTL taken down. Lengths are the caller's. */
static inline bool
upf_in_plain4(const struct upf_net *net, struct rte_mbuf *m, uint8_t *ip, uint8_t interface)
{
	uint32_t dst, src;
	uint16_t was, is, checksum;

	memcpy(&src, ip + 12, 4);
	memcpy(&dst, ip + 16, 4);
	if (upf_in_martian4(ip[12]) || upf_in_martian4(ip[16]) || ip[8] <= 1 ||
	    upf_net_own4(net, dst) || upf_net_own4(net, src))
		return false;
	/* RFC 1812 §5.3.1, RFC 1624 */
	memcpy(&was, ip + 8, 2);
	is = (uint16_t)(was - 1);
	memcpy(ip + 8, &is, 2);
	memcpy(&checksum, ip + 10, 2);
	checksum = ip_checksum_update(checksum, was, is);
	memcpy(ip + 10, &checksum, 2);
	upf_in_mark(m, 0, 0, 0, interface);
	return true;
}

#define UPF_IN_SIDE_CORE (1U << UPF_CORE | 1U << UPF_SGI_N6_LAN)
#define UPF_IN_LOOK (18 + IP4_HDR_BYTES) /**< what the fast path looks at without asking */

static inline bool
upf_in_fast4(const struct upf_in *in, const struct upf_link *link, struct rte_mbuf *m, uint8_t *p,
	     unsigned at)
{
	uint8_t *ip = p + at;
	const unsigned total = be16_get(ip + 2);
	const uint64_t sum = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint32_t dst, src;

	if (ip[0] != 0x45 || total > m->data_len - at || total < IP4_HDR_BYTES)
		return false;
	if (sum == 0 && ip_sum_fold(ip_sum_words(0, ip, 5)) != 0xffff)
		return false;
	if (sum == RTE_MBUF_F_RX_IP_CKSUM_BAD)
		return false;
	memcpy(&dst, ip + 16, 4);
	if (dst != link->ip4[0]) {
		if (!(link->types & UPF_IN_SIDE_CORE) ||
		    !upf_in_plain4(in->net, m, ip, link->index))
			return false;
		upf_in_to_inner(m, at, at, total);
		return true;
	}
	memcpy(&src, ip + 12, 4);
	/* UDP to 2152, no fragment */
	if (ip[9] != IP_PROTO_UDP || (ip[6] & 0x3F) || ip[7] || be16_get(ip + 22) != GTPU_PORT ||
	    upf_in_martian4(ip[12]) || upf_in_martian4(ip[16]) || upf_net_own4(in->net, src))
		return false;
	return upf_in_gpdu(m, p, at, at + IP4_HDR_BYTES, total - IP4_HDR_BYTES, 0, link->index);
}

/** IPv6 outer headers: a tunnel to our first address. The rest is left to upf_in_any(). */
static inline bool
upf_in_fast6(const struct upf_in *in, const struct upf_link *link, struct rte_mbuf *m,
	     const uint8_t *p, unsigned at)
{
	const uint8_t *ip = p + at;
	const unsigned payload = be16_get(ip + 4);

	if (at + IP6_HDR_BYTES + payload > m->data_len || payload < UDP_HDR_BYTES ||
	    ip[0] >> 4 != 6 || ip[6] != IP_PROTO_UDP || ip[24] == 0 ||
	    memcmp(ip + 24, link->ip6[0], 16) != 0 ||
	    be16_get(ip + IP6_HDR_BYTES + 2) != GTPU_PORT || ip[8] == 0 || ip[8] == 0xff ||
	    upf_net_own6(in->net, ip + 8))
		return false;
	return upf_in_gpdu(m, p, at, at + IP6_HDR_BYTES, payload, UPF_RX_OUTER6, link->index);
}

/** @return whether it was of the usual kind; then the verdict is UPF_IN_PASS. */
static inline bool
upf_in_fast(const struct upf_in *in, struct rte_mbuf *m)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned at = ETH_HDR_BYTES, vlan = 0;
	const struct upf_link *link;
	uint64_t mac;
	uint16_t type;

	if (unlikely(m->data_len < UPF_IN_LOOK || m->nb_segs != 1))
		return false;
	memcpy(&mac, p, 8);
	if (unlikely((mac ^ in->mac) << 16 != 0 ||
		     (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD))
		return false;
	memcpy(&type, p + 12, 2);
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		vlan = be16_get(p + 14) & 0xFFF;
		memcpy(&type, p + 16, 2);
		at += 4;
	}
	link = &in->net->links[in->by_vlan[vlan]];
	if (likely(type == RTE_BE16(ETH_TYPE_IP4)))
		return upf_in_fast4(in, link, m, p, at);
	return type == RTE_BE16(ETH_TYPE_IP6) && upf_in_fast6(in, link, m, p, at);
}

#endif
