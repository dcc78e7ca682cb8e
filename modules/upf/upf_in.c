/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of any form: whose they are, by MAC address and VLAN. */
#include <string.h>

#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_in_impl.h"

const char *const upf_in_drops[UPF_IN_DROPS] = {
	[UPF_IN_DROP_SHORT] = "short",         [UPF_IN_DROP_LINK_ADDRESS] = "link_address",
	[UPF_IN_DROP_VLAN] = "vlan",           [UPF_IN_DROP_ETHERTYPE] = "ethertype",
	[UPF_IN_DROP_MALFORMED] = "malformed", [UPF_IN_DROP_TRUNCATED] = "truncated",
	[UPF_IN_DROP_CHECKSUM] = "checksum",   [UPF_IN_DROP_SOURCE] = "source",
	[UPF_IN_DROP_MULTICAST] = "multicast", [UPF_IN_DROP_NOT_OURS] = "not_ours",
	[UPF_IN_DROP_GTPU] = "gtpu",           [UPF_IN_DROP_INNER] = "inner",
	[UPF_IN_DROP_SCATTERED] = "scattered",
};

void
upf_in_init(struct upf_in *in, const struct upf_net *net, unsigned port)
{
	*in = (struct upf_in){.net = net, .by_vlan = net->by_vlan[port]};
	for (unsigned i = 1; i <= net->nb_links; i++)
		if (net->links[i].port == port)
			memcpy(&in->mac, net->links[i].source, 6);
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
		return upf_in_dropped(UPF_IN_DROP_SOURCE);
	if (link->vlan) {
		memmove(p + 4, p, 12);
		strip(m, 4);
	}
	if (m->data_len < UPF_FRAME_MIN)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
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
	upf_in_cut(m, bytes);
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
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	if (m->nb_segs > 1 && !upf_pull(m, (uint16_t)RTE_MIN(m->pkt_len, (uint32_t)UPF_IN_JOIN)))
		return upf_in_dropped(UPF_IN_DROP_SCATTERED);
	link = lan_of(in, m);
	if (link != NULL)
		return lan(m, link);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	group = p[0] & 1;
	if (!group && memcmp(p, &in->mac, 6) != 0)
		return upf_in_dropped(UPF_IN_DROP_LINK_ADDRESS);
	type = be16_get(p + 12);
	if (type == RTE_ETHER_TYPE_VLAN) {
		vlan = be16_get(p + 14) & 0xFFF;
		at += 4;
		if (m->data_len < at)
			return upf_in_dropped(UPF_IN_DROP_SHORT);
		type = be16_get(p + 16);
	}
	link = &in->net->links[in->by_vlan[vlan]];
	if (link->index == 0)
		return upf_in_dropped(UPF_IN_DROP_VLAN);
	strip(m, at);
	if (type == ETH_TYPE_ARP)
		return upf_in_own(m, type, UPF_LOCAL_ARP, link->index);
	if (type != ETH_TYPE_IP4 && type != ETH_TYPE_IP6)
		return upf_in_dropped(UPF_IN_DROP_ETHERTYPE);
	if (m->data_len == 0)
		return upf_in_dropped(UPF_IN_DROP_SHORT);
	if (rte_pktmbuf_mtod(m, uint8_t *)[0] >> 4 != (type == ETH_TYPE_IP6 ? 6 : 4))
		return upf_in_dropped(UPF_IN_DROP_MALFORMED);
	/* RFC 1812 §5.3.4: unicast packets in group frames are not forwarded; nor taken. */
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	if (group && (type == ETH_TYPE_IP4 || m->data_len < IP6_HDR_BYTES || p[24] != 0xff))
		return upf_in_dropped(UPF_IN_DROP_LINK_ADDRESS);
	return upf_in_ip(in->net, link, m);
}
