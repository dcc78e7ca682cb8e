/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/pkt.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_in.h"

#define JOIN 256 /* octets of headers that are one piece, if there are so many */
#define IP6_HOP_BY_HOP 0
#define IP6_ROUTING 43
#define IP6_FRAGMENT 44
#define IP6_DEST_OPTIONS 60
#define ICMP6 58

const char *const upf_in_drops[UPF_IN_DROPS] = {
	[UPF_IN_DROP_SHORT] = "short",         [UPF_IN_DROP_LINK_ADDRESS] = "link_address",
	[UPF_IN_DROP_VLAN] = "vlan",           [UPF_IN_DROP_ETHERTYPE] = "ethertype",
	[UPF_IN_DROP_MALFORMED] = "malformed", [UPF_IN_DROP_TRUNCATED] = "truncated",
	[UPF_IN_DROP_CHECKSUM] = "checksum",   [UPF_IN_DROP_SOURCE] = "source",
	[UPF_IN_DROP_MULTICAST] = "multicast", [UPF_IN_DROP_NOT_OURS] = "not_ours",
	[UPF_IN_DROP_GTPU] = "gtpu",           [UPF_IN_DROP_INNER] = "inner",
	[UPF_IN_DROP_SCATTERED] = "scattered",
};

const uint8_t upf_understood[2] = {GTPU_EXT_PDU_SESSION_CONTAINER, GTPU_EXT_UDP_PORT};

void
upf_in_init(struct upf_in *in, const struct upf_net *net, unsigned port)
{
	*in = (struct upf_in){.net = net, .by_vlan = net->by_vlan[port]};
	for (unsigned i = 1; i <= net->nb_links; i++)
		if (net->links[i].port == port)
			memcpy(&in->mac, net->links[i].source, 6);
}

static unsigned
drop(enum upf_in_drop reason)
{
	return UPF_IN_DROPPED + reason;
}

static unsigned
own(struct rte_mbuf *m, uint16_t type, enum upf_local_why why, uint8_t interface)
{
	upf_in_mark(m, type, (uint8_t)why, UPF_RX_LOCAL, interface);
	return UPF_IN_OWN;
}

bool
upf_pull(struct rte_mbuf *m, uint16_t want)
{
	if (want > m->pkt_len)
		return false;
	if (want > m->data_len && (uint32_t)(want - m->data_len) > rte_pktmbuf_tailroom(m))
		return false;
	while (m->data_len < want) {
		struct rte_mbuf *s = m->next;
		uint16_t n = RTE_MIN((uint16_t)(want - m->data_len), s->data_len);

		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len),
		       rte_pktmbuf_mtod(s, uint8_t *), n);
		m->data_len += n;
		s->data_off += n;
		s->data_len -= n;
		if (s->data_len == 0) {
			m->next = s->next;
			m->nb_segs--;
			rte_pktmbuf_free_seg(s);
		}
	}
	return true;
}

/** The packet ends where its header says: what pads the frame goes. */
static void
cut(struct rte_mbuf *m, unsigned bytes)
{
	if (m->pkt_len > bytes)
		ap_pkt_trim(m, (uint16_t)(m->pkt_len - bytes));
}

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
		return drop(UPF_IN_DROP_INNER);
	rx |= UPF_RX_TUNNEL;
	if (g->qfi != GTPU_NO_QFI)
		rx |= UPF_RX_QFI | (g->rqi ? UPF_RX_RQI : 0);
	upf_in_mark(m, g->teid, g->qfi & 0x3F, rx, link->index);
	m->vlan_tci_outer = (uint16_t)at;
	cut(m, at + bytes);
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
		return drop(UPF_IN_DROP_GTPU);
	if (be16_get(p + at + 2) != GTPU_PORT)
		return own(m, type, UPF_LOCAL_OWN, link->index);
	bytes = be16_get(p + at + 4);
	if (bytes < UDP_HDR_BYTES + GTPU_HDR_BYTES || bytes > m->pkt_len - at ||
	    m->data_len < at + UDP_HDR_BYTES + GTPU_HDR_BYTES)
		return drop(UPF_IN_DROP_GTPU);
	at += UDP_HDR_BYTES;
	bytes -= UDP_HDR_BYTES;
	if (p[at + 1] != GTPU_G_PDU) {
		m->vlan_tci_outer = (uint16_t)at;
		return own(m, type, UPF_LOCAL_GTPU, link->index);
	}
	room = m->data_len - at;
	if ((room >= GTPU_HDR_PSC_BYTES || room >= bytes) &&
	    gtpu_gpdu_decode_fast(p + at, bytes, &g) > 0)
		return inner(net, m, at + g.hdr_bytes, &g, rx, link);
	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) < 0)
		return drop(UPF_IN_DROP_SCATTERED);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (gtpu_gpdu_decode_any(p + at, bytes, GTPU_ENDPOINT, upf_understood,
				 RTE_DIM(upf_understood), &g) < 0)
		return drop(UPF_IN_DROP_GTPU);
	if (g.unknown) {
		m->vlan_tci_outer = (uint16_t)at;
		return own(m, type, UPF_LOCAL_GTPU, link->index);
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
		return drop(UPF_IN_DROP_MULTICAST);
	if (!(link->types & UPF_IN_SIDE_CORE))
		return drop(UPF_IN_DROP_NOT_OURS);
	if (ip[8] <= 1)
		return own(m, ETH_TYPE_IP4, UPF_LOCAL_EXPIRED, link->index);
	if (!upf_in_plain4(net, m, ip, link->index))
		return drop(UPF_IN_DROP_SOURCE);
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
		return drop(UPF_IN_DROP_SHORT);
	/* (3) The IP version number must be 4. (4) The IP header length field must be large enough
	 * to hold the minimum length legal IP datagram. */
	hdr = (ip[0] & 0xFU) * 4;
	total = be16_get(ip + 2);
	if (ip[0] >> 4 != 4 || hdr < IP4_HDR_BYTES)
		return drop(UPF_IN_DROP_MALFORMED);
	if (m->data_len < hdr)
		return drop(UPF_IN_DROP_SHORT);
	/* (5) The IP total length field must be large enough to hold the IP datagram header. */
	if (total < hdr)
		return drop(UPF_IN_DROP_MALFORMED);
	if (total > m->pkt_len)
		return drop(UPF_IN_DROP_TRUNCATED);
	/* (2) The IP checksum must be correct. */
	if ((m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) != RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
	    ip_checksum(ip, hdr) != 0)
		return drop(UPF_IN_DROP_CHECKSUM);
	cut(m, total);
	memcpy(&src, ip + 12, 4);
	memcpy(&dst, ip + 16, 4);
	if (upf_in_martian4(ip[12]) || upf_net_own4(net, src))
		return drop(UPF_IN_DROP_SOURCE);
	if (!upf_net_own4(net, dst))
		return transit4(net, link, m);
	if (be16_get(ip + 6) & 0x3FFF)
		return own(m, ETH_TYPE_IP4, UPF_LOCAL_FRAGMENT, link->index);
	if (ip[9] == IP_PROTO_UDP)
		return udp(net, m, hdr, ETH_TYPE_IP4, link);
	return own(m, ETH_TYPE_IP4, UPF_LOCAL_OWN, link->index);
}

/* --- IPv6 ------------------------------------------------------------------------------------- */

static unsigned
transit6(const struct upf_link *link, struct rte_mbuf *m)
{
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	/* RFC 4291 §2.5.6: link-local packets stay on their link. */
	if (!(link->types & UPF_IN_SIDE_CORE) || (ip[8] == 0xfe && (ip[9] & 0xc0) == 0x80) ||
	    (ip[24] == 0xfe && (ip[25] & 0xc0) == 0x80))
		return drop(UPF_IN_DROP_NOT_OURS);
	if (ip[7] <= 1)
		return own(m, ETH_TYPE_IP6, UPF_LOCAL_EXPIRED, link->index);
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
			return drop(UPF_IN_DROP_SHORT);
		next = ip[at];
		at += 8 + ip[at + 1] * 8U;
	}
	if (next == IP6_FRAGMENT)
		return own(m, ETH_TYPE_IP6, UPF_LOCAL_FRAGMENT, link->index);
	if (next == IP_PROTO_UDP)
		return udp(net, m, at, ETH_TYPE_IP6, link);
	return own(m, ETH_TYPE_IP6, UPF_LOCAL_OWN, link->index);
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
		return drop(UPF_IN_DROP_SHORT);
	total = IP6_HDR_BYTES + be16_get(ip + 4);
	/* RFC 2675: no frame holds a jumbogram. */
	if (ip[0] >> 4 != 6 || (total == IP6_HDR_BYTES && ip[6] == IP6_HOP_BY_HOP))
		return drop(UPF_IN_DROP_MALFORMED);
	if (total > m->pkt_len)
		return drop(UPF_IN_DROP_TRUNCATED);
	cut(m, total);
	/* ICMPv6 133..137: router and neighbour discovery, of this link only */
	nd = ip[6] == ICMP6 && m->data_len > IP6_HDR_BYTES && ip[IP6_HDR_BYTES] >= 133 &&
	     ip[IP6_HDR_BYTES] <= 137;
	if (martian6(ip + 8, nd) || upf_net_own6(net, ip + 8))
		return drop(UPF_IN_DROP_SOURCE);
	if (ip[24] == 0xff)
		return nd ? own(m, ETH_TYPE_IP6, UPF_LOCAL_OWN, link->index)
			  : drop(UPF_IN_DROP_MULTICAST);
	if (upf_net_own6(net, ip + 24))
		return own6(net, link, m);
	return transit6(link, m);
}

unsigned
upf_in_ip(const struct upf_net *net, const struct upf_link *link, struct rte_mbuf *m)
{
	const uint8_t *ip;

	if (m->pkt_len < IP4_HDR_BYTES)
		return drop(UPF_IN_DROP_SHORT);
	if (m->nb_segs > 1 && !upf_pull(m, (uint16_t)RTE_MIN(m->pkt_len, (uint32_t)JOIN)))
		return drop(UPF_IN_DROP_SCATTERED);
	ip = rte_pktmbuf_mtod(m, const uint8_t *);
	if ((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD)
		return drop(UPF_IN_DROP_CHECKSUM);
	return ip[0] >> 4 == 6 ? ip6(net, link, m) : ip4(net, link, m);
}

/* --- frames ----------------------------------------------------------------------------------- */

static void
strip(struct rte_mbuf *m, unsigned bytes)
{
	m->data_off = (uint16_t)(m->data_off + bytes);
	m->data_len = (uint16_t)(m->data_len - bytes);
	m->pkt_len -= bytes;
}

/** The LAN a frame is of: that of its tag, else one that takes all tags; NULL: none. */
static const struct upf_link *
lan_of(const struct upf_in *in, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned vlan = be16_get(p + 12) == RTE_ETHER_TYPE_VLAN ? be16_get(p + 14) & 0xFFF : 0;
	const struct upf_link *link = &in->net->links[in->by_vlan[vlan]];

	if (link->index == 0)
		link = &in->net->links[in->by_vlan[0]];
	return link->types & UPF_LINK_LAN ? link : NULL;
}

/** A frame to Ethernet sessions, whole; the tag of a VLAN that is the interface's goes. */
static unsigned
lan(struct rte_mbuf *m, const struct upf_link *link)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	if (p[6] & 1)
		return drop(UPF_IN_DROP_SOURCE);
	if (link->vlan) {
		memmove(p + 4, p, 12);
		strip(m, 4);
	}
	if (m->data_len < UPF_FRAME_MIN)
		return drop(UPF_IN_DROP_SHORT);
	upf_in_mark(m, 0, 0, UPF_RX_FRAME, link->index);
	m->vlan_tci_outer = 0;
	return UPF_IN_PASS;
}

bool
upf_in_frame_is_ip(struct rte_mbuf *m)
{
	uint8_t rx = 0;
	unsigned bytes = 0;

	if (m->data_len >= IP4_HDR_BYTES &&
	    (*rte_pktmbuf_mtod(m, uint8_t *) >> 4 != 6 || m->data_len >= IP6_HDR_BYTES))
		bytes = upf_in_inner_bytes(rte_pktmbuf_mtod(m, uint8_t *), m->pkt_len, &rx);
	if (bytes == 0)
		return false;
	cut(m, bytes);
	upf_arrival(m)->rx = (uint8_t)((upf_arrival(m)->rx & ~UPF_RX_FRAME) | rx);
	return true;
}

unsigned
upf_in_any(const struct upf_in *in, struct rte_mbuf *m)
{
	const uint8_t *p;
	unsigned at = ETH_HDR_BYTES, vlan = 0;
	const struct upf_link *link;
	uint16_t type;
	bool group;

	if (m->pkt_len < ETH_HDR_BYTES + 4)
		return drop(UPF_IN_DROP_SHORT);
	if (m->nb_segs > 1 && !upf_pull(m, (uint16_t)RTE_MIN(m->pkt_len, (uint32_t)JOIN)))
		return drop(UPF_IN_DROP_SCATTERED);
	link = lan_of(in, m);
	if (link != NULL)
		return lan(m, link);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	group = p[0] & 1;
	if (!group && memcmp(p, &in->mac, 6) != 0)
		return drop(UPF_IN_DROP_LINK_ADDRESS);
	type = be16_get(p + 12);
	if (type == RTE_ETHER_TYPE_VLAN) {
		vlan = be16_get(p + 14) & 0xFFF;
		at += 4;
		if (m->data_len < at)
			return drop(UPF_IN_DROP_SHORT);
		type = be16_get(p + 16);
	}
	link = &in->net->links[in->by_vlan[vlan]];
	if (link->index == 0)
		return drop(UPF_IN_DROP_VLAN);
	strip(m, at);
	if (type == ETH_TYPE_ARP)
		return own(m, type, UPF_LOCAL_ARP, link->index);
	if (type != ETH_TYPE_IP4 && type != ETH_TYPE_IP6)
		return drop(UPF_IN_DROP_ETHERTYPE);
	if (m->data_len == 0)
		return drop(UPF_IN_DROP_SHORT);
	if (rte_pktmbuf_mtod(m, uint8_t *)[0] >> 4 != (type == ETH_TYPE_IP6 ? 6 : 4))
		return drop(UPF_IN_DROP_MALFORMED);
	/* RFC 1812 §5.3.4: unicast packets in group frames are not forwarded; nor taken. */
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (group && (type == ETH_TYPE_IP4 || m->data_len < IP6_HDR_BYTES || p[24] != 0xff))
		return drop(UPF_IN_DROP_LINK_ADDRESS);
	return upf_in_ip(in->net, link, m);
}
