/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * port_rx: source that polls a port.
 *
 * Framing `ethernet` leaves bare IP packets; `ip` and `raw` pass what came whole.
 * Packets of a trusted port keep their entry time, others get one a burst.
 */
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "codec/ip.h"
#include "core/pkt.h"
#include "core/port.h"
#include "modules/port/neigh.h"
#include "modules/port/port_node.h"

#define HDR_AHEAD 8 /* bytes before the data where the next header will lie */

enum {
	DROP_SHORT,     /**< no room for Ethernet and IP headers */
	DROP_ETHERTYPE, /**< neither IPv4 nor IPv6 */
	DROP_MALFORMED, /**< EtherType and IP version contradict, or a length no packet has */
	DROP_TRUNCATED, /**< the IP packet is longer than the frame */
	DROP_ARP,
	DROP_ND, /**< neighbour and router discovery: of this link only */
};

static const char *const edges[] = {"out", "reply"};
static const char *const drops[] = {"short", "ethertype", "malformed", "truncated", "arp", "nd"};

struct port_rx {
	uint16_t queue; /**< polled last */
	uint32_t full;  /**< packets of full bursts in a row */
};

/** Writes ap_meta of a burst and brings the packets' first lines near. */
static void
enter(const struct ap_node *n, const struct ap_port *p, struct rte_mbuf **pkts, uint16_t nb)
{
	if (p->trusted_meta) {
		for (uint16_t i = 0; i < nb; i++)
			rte_prefetch0_write(pkts[i]);
		for (uint16_t i = 0; i < nb; i++) {
			/* Headers will be written before the data, or read at its start. */
			rte_prefetch0_write(rte_pktmbuf_mtod(pkts[i], uint8_t *) - HDR_AHEAD);
			*ap_meta(pkts[i]) = (struct ap_meta){
				.flags = ap_meta(pkts[i])->flags & AP_M_TIMED,
			};
		}
		return;
	}
	for (uint16_t i = 0; i < nb; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		*ap_meta(pkts[i]) = (struct ap_meta){0};
	}
	ap_meta(pkts[0])->flags = AP_M_TIMED;
	*ap_ext(pkts[0]) = (struct ap_ext){.enter_ns = ap_node_now(n)};
}

/** @return whether the frame became an answer on its way back. */
static bool
neigh(struct ap_node *n, const struct ap_port *p, struct rte_mbuf *m, bool arp)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	bool answered;

	if (!p->proxy_neigh || m->nb_segs != 1 || !ap_seg_writable(m))
		return false;
	if (arp) {
		answered = neigh_answer_arp(frame, m->data_len, p->mac.addr_bytes);
	} else {
		answered = rte_pktmbuf_tailroom(m) + m->data_len >= NEIGH_NA_BYTES &&
			   neigh_answer_nd(frame, m->data_len, p->mac.addr_bytes);
		if (answered)
			m->data_len = NEIGH_NA_BYTES;
	}
	if (!answered)
		return false;
	m->pkt_len = m->data_len;
	ap_meta(m)->flags = AP_M_CONTROL;
	ap_next_one(n, PORT_RX_REPLY, m);
	return true;
}

/** Length of the IP packet in a frame of EtherType `type`; 0 when it contradicts itself. */
static inline uint32_t
ip_bytes(const uint8_t *ip, uint16_t type)
{
	if (type == ETH_TYPE_IP4) {
		uint32_t bytes = ip_get16(ip + 2);

		return ip[0] >> 4 == 4 && bytes >= IP4_HDR_BYTES ? bytes : 0;
	}
	/* Payload length 0 with a hop-by-hop header is a jumbogram (RFC 2675): no frame holds one.
	 */
	return ip[0] >> 4 != 6 || (ip_get16(ip + 4) == 0 && ip[6] == 0)
		       ? 0
		       : IP6_HDR_BYTES + (uint32_t)ip_get16(ip + 4);
}

/** Takes the Ethernet header and what pads the frame. @return the packet, or NULL when it went. */
static inline struct rte_mbuf *
strip(struct ap_node *n, const struct ap_port *p, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip = frame + ETH_HDR_BYTES;
	uint16_t type;
	uint32_t bytes;
	uint8_t reason;

	if (unlikely(m->data_len < ETH_HDR_BYTES + IP4_HDR_BYTES)) {
		reason = DROP_SHORT;
		goto drop;
	}
	type = ip_get16(frame + 12);
	if (unlikely(type != ETH_TYPE_IP4)) {
		if (type == ETH_TYPE_ARP) {
			if (neigh(n, p, m, true))
				return NULL;
			reason = DROP_ARP;
			goto drop;
		}
		if (type != ETH_TYPE_IP6 || m->data_len < ETH_HDR_BYTES + IP6_HDR_BYTES) {
			reason = type != ETH_TYPE_IP6 ? DROP_ETHERTYPE : DROP_SHORT;
			goto drop;
		}
		if (neigh_is_nd(ip, m->data_len - ETH_HDR_BYTES)) {
			if (neigh(n, p, m, false))
				return NULL;
			reason = DROP_ND;
			goto drop;
		}
	}
	bytes = ip_bytes(ip, type);
	if (unlikely(bytes == 0 || bytes > m->pkt_len - ETH_HDR_BYTES)) {
		reason = bytes == 0 ? DROP_MALFORMED : DROP_TRUNCATED;
		goto drop;
	}
	m = ap_pkt_strip(m, ETH_HDR_BYTES);
	if (m->pkt_len > bytes)
		ap_pkt_trim(m, (uint16_t)(m->pkt_len - bytes));
	return m;
drop:
	ap_drop(n, reason, m);
	return NULL;
}

/** The peer's address is what the last frame of a burst came from. */
static void
learn(struct ap_port *p, const struct rte_mbuf *m)
{
	const struct rte_ether_addr *src;

	if (m->data_len < ETH_HDR_BYTES)
		return;
	src = &rte_pktmbuf_mtod(m, const struct rte_ether_hdr *)->src_addr;
	if (rte_is_valid_assigned_ether_addr(src) && !rte_is_same_ether_addr(src, &p->mac))
		ap_port_peer_mac_set(p, src);
}

static uint16_t
rx_ethernet(struct ap_node *n, struct ap_port *p, uint16_t queue, uint16_t want)
{
	struct rte_mbuf *pkts[AP_PORT_BURST_MAX];
	uint16_t nb = rte_eth_rx_burst(p->id, queue, pkts, want), k = 0;

	if (nb == 0)
		return 0;
	n->in += nb;
	enter(n, p, pkts, nb);
	if (p->learn_peer)
		learn(p, pkts[nb - 1]);
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = strip(n, p, pkts[i]);

		if (m != NULL)
			pkts[k++] = m;
	}
	ap_next(n, PORT_RX_OUT, pkts, k);
	return nb;
}

static uint16_t
rx_whole(struct ap_node *n, struct ap_port *p, uint16_t queue, uint16_t want)
{
	void **stream = rte_node_next_stream_get(n->graph, n->rte, PORT_RX_OUT, want);
	uint16_t nb = rte_eth_rx_burst(p->id, queue, (struct rte_mbuf **)stream, want);

	if (nb == 0)
		return 0;
	n->in += nb;
	n->out[PORT_RX_OUT] += nb;
	enter(n, p, (struct rte_mbuf **)stream, nb);
	rte_node_next_stream_put(n->graph, n->rte, PORT_RX_OUT, nb);
	return nb;
}

static uint16_t
port_rx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	struct ap_port *p = n->arg;
	struct port_rx *s = n->priv;
	uint16_t want = ap_node_credit(n, p->burst), queue = s->queue;

	(void)graph;
	(void)objs;
	if (want == 0)
		return 0;
	if (p->rx_nodes < p->queues) {
		queue = (uint16_t)(queue + p->rx_nodes);
		n->rxq++;
		if (queue >= p->queues) {
			queue = (uint16_t)n->index;
			n->rxq = 0;
		}
		s->queue = queue;
	}
	nb = p->framing == AP_FRAMING_ETHERNET ? rx_ethernet(n, p, queue, want)
					       : rx_whole(n, p, queue, want);
	s->full = nb == want ? s->full + nb : 0;
	if (nb > 0)
		ap_node_busy(n, nb);
	return nb;
}

/** Where the driver cannot tell, a queue that fills bursts holds about as much again. */
static uint32_t
port_rx_waiting(const struct ap_node *n, uint16_t queue, uint64_t now_ns)
{
	const struct port_rx *s = n->priv;
	int waiting = ap_port_rx_waiting(n->arg, queue);

	(void)now_ns;
	return waiting >= 0 ? (uint32_t)waiting : s->full;
}

static int
port_rx_init(struct ap_node *n)
{
	struct ap_port *p = n->arg;
	struct port_rx *s = n->priv;

	if (n->index >= p->queues) {
		fprintf(stderr, "%s: port %s has %u queues, there is no queue %u\n", n->name,
			p->name, p->queues, n->index);
		return -EINVAL;
	}
	s->queue = (uint16_t)n->index;
	p->rx_nodes++;
	return 0;
}

static void
port_rx_fini(struct ap_node *n)
{
	struct ap_port *p = n->arg;

	if (p != NULL && p->rx_nodes > 0)
		p->rx_nodes--;
}

static const struct ap_node_type port_rx = {
	.name = "port_rx",
	.help = "polls a port; framing ethernet leaves bare IP packets",
	.source = true,
	.process = port_rx_process,
	.edges = edges,
	.nb_edges = RTE_DIM(edges),
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct port_rx),
	.waiting = port_rx_waiting,
	.init = port_rx_init,
	.fini = port_rx_fini,
};

AP_NODE_REGISTER(port_rx)
