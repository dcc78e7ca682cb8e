/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/gnb/gnb_in.h"

#define OCTETS (8 * GNB_IN_WORDS)
#define ARP_TARGET (ETH_HDR_BYTES + 24)
#define ND_TARGET (ETH_HDR_BYTES + IP6_HDR_BYTES + 8)

/** What stands where, and which bits of it. */
struct making {
	uint8_t value[OCTETS], mask[OCTETS];
};

static void
octet(struct making *k, unsigned at, uint8_t value, uint8_t mask)
{
	k->value[at] = value;
	k->mask[at] = mask;
}

static void
octets(struct making *k, unsigned at, const void *value, unsigned nb)
{
	memcpy(k->value + at, value, nb);
	memset(k->mask + at, 0xff, nb);
}

static void
two(struct making *k, unsigned at, uint16_t value)
{
	octet(k, at, (uint8_t)(value >> 8), 0xff);
	octet(k, at + 1, (uint8_t)value, 0xff);
}

static void
link_header(struct making *k, const struct upf_link *link, uint16_t type)
{
	octets(k, 0, link->source, 6);
	if (link->vlan) {
		two(k, 12, RTE_ETHER_TYPE_VLAN);
		octet(k, 14, (uint8_t)(link->vlan >> 8), 0x0f);
		octet(k, 15, (uint8_t)link->vlan, 0xff);
	}
	two(k, link->l2_bytes - 2U, type);
}

/** A G-PDU: TS 29.281 §5.1, with a downlink container TS 38.415 §5.5.2.1. @return its header. */
static unsigned
gtpu(struct making *k, unsigned at, bool container)
{
	octet(k, at, container ? 0x34 : 0x30, container ? 0xF4 : 0xF7);
	octet(k, at + 1, GTPU_G_PDU, 0xff);
	if (!container)
		return GTPU_HDR_BYTES;
	octet(k, at + 11, GTPU_EXT_PDU_SESSION_CONTAINER, 0xff);
	octet(k, at + 12, 1, 0xff);
	octet(k, at + 13, PSC_DL << 4, 0xff);
	octet(k, at + 14, 0, 0x80);
	octet(k, at + 15, GTPU_EXT_NONE, 0xff);
	return GTPU_HDR_PSC_BYTES;
}

static void
form_make(struct gnb_in_form *f, const struct upf_link *link, bool v6, bool n3)
{
	struct making k = {0};
	const unsigned ip = link->l2_bytes;

	*f = (struct gnb_in_form){.l2 = link->l2_bytes,
				  .udp = (uint8_t)(ip + (v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES)),
				  .words = v6 ? GNB_IN_WORDS : GNB_IN_WORDS4,
				  .interface = link->index,
				  .v6 = v6};
	link_header(&k, link, v6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	if (v6) {
		octet(&k, ip, 0x60, 0xF0);
		octet(&k, ip + 6, IP_PROTO_UDP, 0xff);
		octets(&k, ip + 24, link->ip6[0], 16);
	} else {
		octet(&k, ip, 0x45, 0xff);
		octet(&k, ip + 6, 0, 0x3F);
		octet(&k, ip + 7, 0, 0xff);
		octet(&k, ip + 9, IP_PROTO_UDP, 0xff);
		octets(&k, ip + 16, &link->ip4[0], 4);
	}
	two(&k, f->udp + 2U, GTPU_PORT);
	f->tpdu = (uint8_t)(f->udp + UDP_HDR_BYTES + gtpu(&k, f->udp + UDP_HDR_BYTES, n3));
	f->rx = UPF_RX_TUNNEL | (n3 ? UPF_RX_QFI : 0) | (v6 ? UPF_RX_OUTER6 : 0);
	memcpy(f->value, k.value, OCTETS);
	memcpy(f->mask, k.mask, OCTETS);
}

void
gnb_in_init(struct gnb_in *in, const struct upf_net *net, int port, const bool *n3)
{
	*in = (struct gnb_in){.net = net};
	for (unsigned i = 1; i <= net->nb_links; i++) {
		const struct upf_link *link = &net->links[i];

		if (port >= 0 && link->port != port)
			continue;
		if (port < 0 || in->nb_links == 0)
			upf_in_init(&in->links[in->nb_links++], net, link->port);
		for (unsigned v6 = 0; v6 < 2 && in->nb_forms < GNB_IN_FORMS_MAX; v6++)
			if (v6 || link->nb_ip4 > 0)
				form_make(&in->forms[in->nb_forms++], link, v6, n3[i]);
	}
}

/** Of links told apart by MAC: whose frame it is. A group's is that of who is asked for. */
static const struct upf_in *
link_of(const struct gnb_in *in, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->data_len < ETH_HDR_BYTES)
		return &in->links[0];
	for (unsigned i = 0; i < in->nb_links; i++) {
		const struct upf_in *one = &in->links[i];
		const struct upf_link *link = &in->net->links[i + 1];

		if (!(p[0] & 1) && memcmp(p, &one->mac, 6) == 0)
			return one;
		if (p[0] & 1 && m->data_len >= ARP_TARGET + 4 && be16_get(p + 12) == ETH_TYPE_ARP &&
		    upf_link_has(link, false, p + ARP_TARGET))
			return one;
		if (p[0] & 1 && m->data_len >= ND_TARGET + 16 && be16_get(p + 12) == ETH_TYPE_IP6 &&
		    upf_link_has(link, true, p + ND_TARGET))
			return one;
	}
	return &in->links[0];
}

unsigned
gnb_in_any(const struct gnb_in *in, struct rte_mbuf *m)
{
	return upf_in_any(in->nb_links > 1 ? link_of(in, m) : &in->links[0], m);
}
