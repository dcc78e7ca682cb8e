/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * p4_inject: hands T-PDUs the SmartNIC had not looked at back to it, as plain G-PDUs from their
 * UPF to us: their bearer is numbered there. Metadata is struct gnb_found.
 */
#include "codec/ip.h"
#include "core/pkt.h"
#include "modules/gnb/gnb.h"
#include "modules/p4/p4_host.h"

#define HEADER (ETH_HDR_BYTES + IP4_HDR_BYTES + UDP_HDR_BYTES + GTPU_HDR_PSC_BYTES)

enum { DROP_NO_MBUF, DROP_SCATTERED, DROP_TOO_LONG };
static const char *const edges[] = {[P4_INJECT_PORT] = "port"};
static const char *const drops[] = {
	[DROP_NO_MBUF] = "no_mbuf",
	[DROP_SCATTERED] = "scattered", /* segments that cannot be joined */
	[DROP_TOO_LONG] = "too_long",
};

/** Our N3 interface whose G-PDUs are the SmartNIC's, or NULL. */
static const struct upf_link *
n3_link(const struct gnb *gnb)
{
	for (unsigned i = 1; i <= gnb->edge.net->nb_links; i++)
		if (gnb->side[i] == AP_GNB_N3 && gnb->edge.net->links[i].nb_ip4 > 0 &&
		    gnb->edge.net->links[i].vlan == 0)
			return &gnb->edge.net->links[i];
	return NULL;
}

static void
header_write(uint8_t *p, const struct gnb *gnb, const struct upf_link *link,
	     const struct gnb_found *found, uint16_t tpdu)
{
	static const uint8_t documentation[4] = {192, 0, 2, 1}; /* RFC 5737: of no UPF */
	const struct gnb_session *s = &gnb->table->sessions[found->row >> gnb->table->drb_shift];
	const struct upf_peer *upf = &gnb->edge.peers.peer[s->upf];
	const uint16_t udp = (uint16_t)(UDP_HDR_BYTES + GTPU_HDR_PSC_BYTES + tpdu);
	uint8_t *ip = p + ETH_HDR_BYTES;
	uint16_t sum;

	memset(p, 0, HEADER);
	memcpy(p, link->source, 6);
	memcpy(p + 6, link->source, 6);
	be16_put(p + 12, ETH_TYPE_IP4);
	ip[0] = 0x45;
	be16_put(ip + 2, (uint16_t)(IP4_HDR_BYTES + udp));
	ip[8] = 64;
	ip[9] = IP_PROTO_UDP;
	memcpy(ip + 12, s->upf && upf->udp == IP4_HDR_BYTES ? upf->header + 16 : documentation, 4);
	memcpy(ip + 16, &link->ip4[0], 4);
	sum = ip_checksum(ip, IP4_HDR_BYTES);
	memcpy(ip + 10, &sum, 2);
	be16_put(ip + 20, GTPU_PORT);
	be16_put(ip + 22, GTPU_PORT);
	be16_put(ip + 24, udp);
	gtpu_gpdu_psc_put(ip + 28, s->teid, tpdu, PSC_DL, found->sdap & 0x3F, found->sdap >> 6);
}

static void
inject(struct ap_node *n, const struct gnb *gnb, const struct upf_link *link, struct rte_mbuf *m)
{
	const struct gnb_found found = *gnb_found(m);
	const uint32_t tpdu = m->pkt_len;
	uint8_t *p;

	if (tpdu > UINT16_MAX - HEADER || link == NULL) {
		ap_drop(n, DROP_TOO_LONG, m);
		return;
	}
	p = ap_pkt_prepend(&m, HEADER, gnb->edge.workers[n->index].hdr_pool);
	if (p == NULL) {
		ap_drop(n, DROP_NO_MBUF, m);
		return;
	}
	header_write(p, gnb, link, &found, (uint16_t)tpdu);
	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) < 0) {
		ap_drop(n, DROP_SCATTERED, m);
		return;
	}
	m->ol_flags &= ~p4_aside;
	*ap_meta(m) = (struct ap_meta){.flags = found.flags & AP_M_TIMED};
	ap_next_one(n, P4_INJECT_PORT, m);
}

static uint16_t
process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const struct gnb *gnb = gnb_of(n);
	const struct upf_link *link = n3_link(gnb);

	(void)graph;
	n->in += nb;
	for (uint16_t i = 0; i < nb; i++)
		inject(n, gnb, link, objs[i]);
	return nb;
}

static const struct ap_node_type p4_inject = {
	.name = "p4_inject",
	.help = "hands packets of a SmartNIC's bearers back to it",
	.process = process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
};
AP_NODE_REGISTER(p4_inject)
