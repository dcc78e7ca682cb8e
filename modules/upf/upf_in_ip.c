/* SPDX-License-Identifier: BSD-3-Clause */
/* IP packets of any form: to us, in tunnels to us, or to someone behind us. */
#include <string.h>

#include "modules/upf/upf_in_impl.h"

#define IP6_HOP_BY_HOP 0
#define IP6_FRAGMENT 44
#define IP6_DEST_OPTIONS 60
#define ICMP6 58

const uint8_t upf_understood[2] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_UDP_PORT};

/* --- tunnels ---------------------------------------------------------------------------------- */

/** @return length of the T-PDU's IP packet; 0: it is none. */
static unsigned
inner_bytes(const struct rte_mbuf *m, unsigned at, const struct gtpu_gpdu *g, uint8_t *rx)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, at);

	if (g->tpdu_bytes < IP4_HDR_BYTES || m->data_len - at < IP4_HDR_BYTES)
		return 0;
	if (p[0] >> 4 == 6 && m->data_len - at < IP6_HDR_BYTES)
		return 0;
	return upf_in_inner_bytes(p, g->tpdu_bytes, rx);
}

/** The T-PDU: an IP packet of the length it says, or whatever it is. Data moves to it. */
static unsigned
inner(const struct upf_net *net, struct rte_mbuf *m, unsigned at, const struct gtpu_gpdu *g,
      uint8_t rx, const struct upf_link *link)
{
	unsigned bytes = link->types & UPF_LINK_OPAQUE ? g->tpdu_bytes : inner_bytes(m, at, g, &rx);

	/* Whether it is a frame is the session's to say: upf_match. */
	if (bytes != g->tpdu_bytes &&
	    atomic_load_explicit(&net->live.ethernet, memory_order_relaxed)) {
		bytes = g->tpdu_bytes;
		rx = (uint8_t)((rx & ~UPF_RX_INNER6) | UPF_RX_FRAME);
	}
	if (bytes == 0 || m->data_len <= at)
		return upf_in_dropped(UPF_IN_DROP_INNER);
	rx |= UPF_RX_TUNNEL;
	if (g->qfi != GTPU_NO_QFI)
		rx |= UPF_RX_QFI | (g->rqi ? UPF_RX_RQI : 0);
	upf_in_mark(m, g->teid, g->qfi & 0x3F, rx, link->index);
	m->vlan_tci_outer = (uint16_t)at;
	upf_in_cut(m, at + bytes);
	m->data_off = (uint16_t)(m->data_off + at);
	m->data_len = (uint16_t)(m->data_len - at);
	m->pkt_len -= at;
	return UPF_IN_PASS;
}

/** UDP at `at` of an IP packet to us, whose data ends with the packet. */
static unsigned
udp(const struct upf_net *net, struct rte_mbuf *m, unsigned at, uint16_t type,
    const struct upf_link *link)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint8_t rx = type == ETH_TYPE_IP6 ? UPF_RX_OUTER6 : 0;
	struct gtpu_gpdu g;
	unsigned bytes, room;

	if (m->data_len < at + UDP_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_GTPU);
	if (be16_get(p + at + 2) != GTPU_PORT)
		return upf_in_own(m, type, UPF_LOCAL_OWN, link->index);
	bytes = be16_get(p + at + 4);
	if (bytes < UDP_HDR_BYTES + GTPU_HDR_BYTES || bytes > m->pkt_len - at ||
	    m->data_len < at + UDP_HDR_BYTES + GTPU_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_GTPU);
	at += UDP_HDR_BYTES;
	bytes -= UDP_HDR_BYTES;
	if (p[at + 1] != GTPU_G_PDU) {
		m->vlan_tci_outer = (uint16_t)at;
		return upf_in_own(m, type, UPF_LOCAL_GTPU, link->index);
	}
	room = m->data_len - at;
	if ((room >= GTPU_HDR_PSC_BYTES || room >= bytes) &&
	    gtpu_gpdu_decode_fast(p + at, bytes, &g) > 0)
		return inner(net, m, at + g.hdr_bytes, &g, rx, link);
	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) < 0)
		return upf_in_dropped(UPF_IN_DROP_SCATTERED);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (gtpu_gpdu_decode_any(p + at, bytes, GTPU_ENDPOINT, upf_understood,
				 RTE_DIM(upf_understood), &g) < 0)
		return upf_in_dropped(UPF_IN_DROP_GTPU);
	if (g.unknown) {
		m->vlan_tci_outer = (uint16_t)at;
		return upf_in_own(m, type, UPF_LOCAL_GTPU, link->index);
	}
	return inner(net, m, at + g.hdr_bytes, &g, rx, link);
}

/* --- IPv4 ------------------------------------------------------------------------------------- */

/** To someone else: a UE, by an interface toward the core. */
static unsigned
transit4(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	if (upf_in_martian4(ip[16]))
		return upf_in_dropped(UPF_IN_DROP_MULTICAST);
	if (!(link->types & UPF_IN_SIDE_CORE))
		return upf_in_dropped(UPF_IN_DROP_NOT_OURS);
	if (ip[8] <= 1)
		return upf_in_own(m, ETH_TYPE_IP4, UPF_LOCAL_EXPIRED, link->index);
	if (!upf_in_plain4(net, m, ip, link->index))
		return upf_in_dropped(UPF_IN_DROP_SOURCE);
	m->vlan_tci_outer = 0;
	return UPF_IN_PASS;
}

/** RFC 1812 §5.2.2, in its order. */
static unsigned
ip4(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);
	unsigned hdr, total;
	uint32_t src, dst;

	/* (1) The packet length reported by the Link Layer must be large enough. */
	if (m->data_len < IP4_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	/* (3) The IP version number must be 4. (4) The IP header length field must be large enough
	 * to hold the minimum length legal IP datagram. */
	hdr = (ip[0] & 0xFU) * 4;
	total = be16_get(ip + 2);
	if (ip[0] >> 4 != 4 || hdr < IP4_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_MALFORMED);
	if (m->data_len < hdr)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	/* (5) The IP total length field must be large enough to hold the IP datagram header. */
	if (total < hdr)
		return upf_in_dropped(UPF_IN_DROP_MALFORMED);
	if (total > m->pkt_len)
		return upf_in_dropped(UPF_IN_DROP_TRUNCATED);
	/* (2) The IP checksum must be correct. */
	if ((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) != RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
	    ip_checksum(ip, hdr) != 0)
		return upf_in_dropped(UPF_IN_DROP_CHECKSUM);
	upf_in_cut(m, total);
	memcpy(&src, ip + 12, 4);
	memcpy(&dst, ip + 16, 4);
	if (upf_in_martian4(ip[12]) || upf_net_own4(net, src))
		return upf_in_dropped(UPF_IN_DROP_SOURCE);
	if (!upf_net_own4(net, dst))
		return transit4(net, link, m);
	if (be16_get(ip + 6) & 0x3FFF)
		return upf_in_own(m, ETH_TYPE_IP4, UPF_LOCAL_FRAGMENT, link->index);
	if (ip[9] == IP_PROTO_UDP)
		return udp(net, m, hdr, ETH_TYPE_IP4, link);
	return upf_in_own(m, ETH_TYPE_IP4, UPF_LOCAL_OWN, link->index);
}

/* --- IPv6 ------------------------------------------------------------------------------------- */

static unsigned
transit6(const struct upf_link *link, struct rte_mbuf *m)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	/* RFC 4291 §2.5.6: link-local packets stay on their link. */
	if (!(link->types & UPF_IN_SIDE_CORE) || (ip[8] == 0xfe && (ip[9] & 0xc0) == 0x80) ||
	    (ip[24] == 0xfe && (ip[25] & 0xc0) == 0x80))
		return upf_in_dropped(UPF_IN_DROP_NOT_OURS);
	if (ip[7] <= 1)
		return upf_in_own(m, ETH_TYPE_IP6, UPF_LOCAL_EXPIRED, link->index);
	ip[7]--;
	upf_in_mark(m, 0, 0, UPF_RX_INNER6, link->index);
	m->vlan_tci_outer = 0;
	return UPF_IN_PASS;
}

/** To us: past extension headers that are no destination's business (RFC 8200 §4) to UDP. */
static unsigned
own6(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned at = IP6_HDR_BYTES;
	uint8_t next = ip[6];

	while (next == IP6_HOP_BY_HOP || next == IP6_DEST_OPTIONS) {
		if (m->data_len < at + 8)
			return upf_in_dropped(UPF_IN_DROP_SHORT);
		next = ip[at];
		at += 8 + ip[at + 1] * 8U;
	}
	if (next == IP6_FRAGMENT)
		return upf_in_own(m, ETH_TYPE_IP6, UPF_LOCAL_FRAGMENT, link->index);
	if (next == IP_PROTO_UDP)
		return udp(net, m, at, ETH_TYPE_IP6, link);
	return upf_in_own(m, ETH_TYPE_IP6, UPF_LOCAL_OWN, link->index);
}

/** Source addresses that are none; the unspecified one is for ND (RFC 4861 §7.1.1). */
static bool
martian6(const uint8_t *src, bool nd)
{
	static const uint8_t zero[16];

	if (src[0] == 0xff)
		return true;
	if (memcmp(src, zero, 15) != 0)
		return false;
	return src[15] == 1 || (src[15] == 0 && !nd);
}

static unsigned
ip6(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned total;
	bool nd;

	if (m->data_len < IP6_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	total = IP6_HDR_BYTES + be16_get(ip + 4);
	/* RFC 2675: no frame holds a jumbogram. */
	if (ip[0] >> 4 != 6 || (total == IP6_HDR_BYTES && ip[6] == IP6_HOP_BY_HOP))
		return upf_in_dropped(UPF_IN_DROP_MALFORMED);
	if (total > m->pkt_len)
		return upf_in_dropped(UPF_IN_DROP_TRUNCATED);
	upf_in_cut(m, total);
	/* ICMPv6 133..137: router and neighbour discovery, of this link only */
	nd = ip[6] == ICMP6 && m->data_len > IP6_HDR_BYTES && ip[IP6_HDR_BYTES] >= 133 &&
	     ip[IP6_HDR_BYTES] <= 137;
	if (martian6(ip + 8, nd) || upf_net_own6(net, ip + 8))
		return upf_in_dropped(UPF_IN_DROP_SOURCE);
	if (ip[24] == 0xff)
		return nd ? upf_in_own(m, ETH_TYPE_IP6, UPF_LOCAL_OWN, link->index)
			  : upf_in_dropped(UPF_IN_DROP_MULTICAST);
	if (upf_net_own6(net, ip + 24))
		return own6(net, link, m);
	return transit6(link, m);
}

unsigned
upf_in_ip(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	const uint8_t *ip;

	if (m->pkt_len < IP4_HDR_BYTES)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	if (m->nb_segs > 1 && !upf_pull(m, (uint16_t)RTE_MIN(m->pkt_len, (uint32_t)UPF_IN_JOIN)))
		return upf_in_dropped(UPF_IN_DROP_SCATTERED);
	ip = rte_pktmbuf_mtod(m, const uint8_t *);
	if ((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD)
		return upf_in_dropped(UPF_IN_DROP_CHECKSUM);
	return ip[0] >> 4 == 6 ? ip6(net, link, m) : ip4(net, link, m);
}
