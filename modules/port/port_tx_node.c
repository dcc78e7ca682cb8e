/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * port_tx: sink that sends on a port.
 *
 * Framing `ethernet` puts a header in front of IP packets (control frames, such as
 * port_rx's answers, have theirs). A PMD that sends one segment gets a copy of a chain.
 * What the port does not take at once waits in a queue of ports[].tx_hold packets: PDCP delivers
 * thousands in one visit when a gap closes.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "codec/ip.h"
#include "core/pkt.h"
#include "core/port.h"
#include "modules/port/port_node.h"

#define CHUNK 256
#define AHEAD 4
#define RETRIES 16       /**< calls in a row that send nothing before the rest waits */
#define HOLD_NS 20000ULL /**< until the next try when nothing comes */

enum {
	DROP_FULL,     /**< the port took no more and the queue was full */
	DROP_TOO_LONG, /**< longer than the port sends */
	DROP_NO_MBUF,  /**< no mbuf for a header or for a copy in one segment */
	DROP_NOT_IP,   /**< framing ethernet: neither IPv4 nor IPv6 */
};

static const char *const drops[] = {"tx_full", "too_long", "no_mbuf", "not_ip"};

/** What goes out, with the entry times of the timed packets among it. */
struct burst {
	struct rte_mbuf *pkts[CHUNK];
	uint64_t enter_ns[CHUNK];
	uint16_t timed[CHUNK]; /**< index in pkts of enter_ns[i], rising */
	uint16_t nb_pkts;
	uint16_t nb_timed;
};

/** Copies a chain into one mbuf. @return it, or NULL with the drop counted. */
static struct rte_mbuf *
linearize(struct ap_node *n, const struct ap_port *p, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(p->linear_pool);
	uint8_t *to;

	if (copy == NULL) {
		ap_drop(n, DROP_NO_MBUF, m);
		return NULL;
	}
	to = m->pkt_len <= UINT16_MAX ? (uint8_t *)rte_pktmbuf_append(copy, (uint16_t)m->pkt_len)
				      : NULL;
	if (to == NULL) {
		rte_pktmbuf_free(copy);
		ap_drop(n, DROP_TOO_LONG, m);
		return NULL;
	}
	for (const struct rte_mbuf *s = m; s != NULL; to += s->data_len, s = s->next)
		memcpy(to, rte_pktmbuf_mtod(s, void *), s->data_len);
	*ap_meta(copy) = *ap_meta(m);
	if (ap_meta(m)->flags & AP_M_TIMED)
		*ap_ext(copy) = *ap_ext(m);
	rte_pktmbuf_free(m);
	return copy;
}

/**
 * @param addrs destination and source address, 12 B
 * @return the frame, or NULL with the drop counted
 */
static inline struct rte_mbuf *
frame(struct ap_node *n, const struct ap_port *p, const uint8_t *addrs, struct rte_mbuf *m)
{
	uint16_t type;
	uint8_t *eth;

	if (unlikely(ap_meta(m)->flags & AP_M_CONTROL))
		return m;
	type = m->data_len > 0 ? ip_eth_type(*rte_pktmbuf_mtod(m, uint8_t *) >> 4) : 0;
	if (unlikely(type == 0)) {
		ap_drop(n, DROP_NOT_IP, m);
		return NULL;
	}
	eth = ap_pkt_prepend(&m, ETH_HDR_BYTES, p->hdr_pool);
	if (unlikely(eth == NULL)) {
		ap_drop(n, DROP_NO_MBUF, m);
		return NULL;
	}
	memcpy(eth, addrs, 12);
	ip_put16(eth + 12, type);
	return m;
}

static void
prepare(struct ap_node *n, const struct ap_port *p, struct rte_mbuf **in, uint16_t nb,
	struct burst *b)
{
	const bool ethernet = p->framing == AP_FRAMING_ETHERNET;
	uint8_t addrs[12];

	ap_port_peer_mac_get(p, (struct rte_ether_addr *)(void *)addrs);
	memcpy(addrs + 6, &p->mac, 6);
	b->nb_pkts = 0;
	b->nb_timed = 0;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = in[i];

		if (i + AHEAD < nb)
			rte_prefetch0(in[i + AHEAD]);
		if (ethernet && (m = frame(n, p, addrs, m)) == NULL)
			continue;
		if (unlikely(m->pkt_len > p->tx_max_bytes)) {
			ap_drop(n, DROP_TOO_LONG, m);
			continue;
		}
		if (unlikely(m->nb_segs > 1 && !p->tx_multi_seg) &&
		    (m = linearize(n, p, m)) == NULL)
			continue;
		if (ap_meta(m)->flags & AP_M_TIMED) {
			b->enter_ns[b->nb_timed] = ap_ext(m)->enter_ns;
			b->timed[b->nb_timed++] = b->nb_pkts;
		}
		b->pkts[b->nb_pkts++] = m;
	}
}

/** @return how many of the burst the port took. */
static uint16_t
send_burst(struct ap_node *n, const struct ap_port *p, struct burst *b)
{
	struct port_tx *s = n->priv;
	uint16_t sent = 0, k;
	uint64_t now;

	for (unsigned idle = 0; sent < b->nb_pkts && idle < RETRIES; sent += k) {
		k = rte_eth_tx_burst(p->id, (uint16_t)n->index, b->pkts + sent, b->nb_pkts - sent);
		if (k > 0) {
			idle = 0;
		} else {
			idle++;
			rte_pause();
		}
	}
	n->used += sent;
	ap_port_kick(p, (uint16_t)n->index);
	if (b->nb_timed > 0) {
		now = ap_clock_ns();
		for (uint16_t i = 0; i < b->nb_timed && b->timed[i] < sent; i++)
			ap_hist_record(&s->delay, now - b->enter_ns[i]);
	}
	return sent;
}

/** Puts packets at the end of the queue, and drops what it does not take. */
static void
hold(struct ap_node *n, struct rte_mbuf **pkts, uint16_t nb)
{
	struct port_tx *s = n->priv;
	uint16_t k = (uint16_t)RTE_MIN((uint32_t)nb, s->hold - (s->head - s->tail));

	for (uint16_t i = 0; i < k; i++)
		s->held[s->head++ & s->mask] = pkts[i];
	if (unlikely(k < nb))
		ap_drop_bulk(n, DROP_FULL, pkts + k, nb - k);
	if (s->head != s->tail)
		ap_node_arm(n, ap_node_now(n) + HOLD_NS);
}

/** Sends what waits, in order, while the port takes it. */
static void
drain(struct ap_node *n)
{
	const struct ap_port *p = n->arg;
	struct port_tx *s = n->priv;
	struct burst b;
	uint16_t sent;

	do {
		const uint32_t nb = RTE_MIN(s->head - s->tail, (uint32_t)CHUNK);

		b.nb_timed = 0;
		for (b.nb_pkts = 0; b.nb_pkts < nb; b.nb_pkts++) {
			struct rte_mbuf *m = s->held[(s->tail + b.nb_pkts) & s->mask];

			if (ap_meta(m)->flags & AP_M_TIMED) {
				b.enter_ns[b.nb_timed] = ap_ext(m)->enter_ns;
				b.timed[b.nb_timed++] = b.nb_pkts;
			}
			b.pkts[b.nb_pkts] = m;
		}
		sent = send_burst(n, p, &b);
		s->tail += sent;
	} while (sent == CHUNK && s->tail != s->head);
	if (s->tail != s->head)
		ap_node_arm(n, ap_node_now(n) + HOLD_NS);
}

static void
port_tx_timer(struct ap_node *n, uint64_t now_ns)
{
	(void)now_ns;
	drain(n);
}

static uint16_t
port_tx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	struct ap_node *n = ap_node(node);
	const struct ap_port *p = n->arg;
	struct port_tx *s = n->priv;
	struct burst b;

	(void)graph;
	n->in += nb;
	if (unlikely(s->head != s->tail))
		drain(n);
	for (uint16_t i = 0, step, sent; i < nb; i += step) {
		step = RTE_MIN(nb - i, CHUNK);
		prepare(n, p, (struct rte_mbuf **)objs + i, step, &b);
		sent = likely(s->head == s->tail) ? send_burst(n, p, &b) : 0;
		if (unlikely(sent < b.nb_pkts))
			hold(n, b.pkts + sent, b.nb_pkts - sent);
	}
	return nb;
}

static uint64_t
port_tx_held(const struct ap_node *n)
{
	const struct port_tx *s = n->priv;

	return s->head - s->tail;
}

static void
port_tx_fini(struct ap_node *n)
{
	struct port_tx *s = n->priv;

	for (; s->tail != s->head; s->tail++)
		rte_pktmbuf_free(s->held[s->tail & s->mask]);
	rte_free(s->held);
	s->held = NULL;
}

/** @return 0 or -ENOMEM. */
static int
hold_init(struct port_tx *s, uint32_t packets)
{
	if (packets == 0)
		return 0;
	s->held = rte_calloc("port_tx", rte_align32pow2(packets), sizeof(*s->held), 0);
	if (s->held == NULL)
		return -ENOMEM;
	s->hold = packets;
	s->mask = rte_align32pow2(packets) - 1;
	return 0;
}

static int
port_tx_init(struct ap_node *n)
{
	const struct ap_port *p = n->arg;

	if (n->index >= p->queues) {
		fprintf(stderr, "%s: port %s has %u queues, there is no queue %u\n", n->name,
			p->name, p->queues, n->index);
		return -EINVAL;
	}
	if (p->framing == AP_FRAMING_ETHERNET && p->hdr_pool == NULL) {
		fprintf(stderr, "%s: port %s frames packets but has no pool for headers\n", n->name,
			p->name);
		return -EINVAL;
	}
	if (!p->tx_multi_seg && p->linear_pool == NULL) {
		fprintf(stderr,
			"%s: %s sends one segment only and port %s has no pool to copy to\n",
			n->name, p->driver, p->name);
		return -EINVAL;
	}
	return hold_init(n->priv, p->conf->tx_hold);
}

static const struct ap_node_type port_tx = {
	.name = "port_tx",
	.help = "sends on a port; framing ethernet adds the header",
	.process = port_tx_process,
	.drops = drops,
	.nb_drops = RTE_DIM(drops),
	.priv_size = sizeof(struct port_tx),
	.init = port_tx_init,
	.fini = port_tx_fini,
	.held = port_tx_held,
	.expire = port_tx_timer,
};

AP_NODE_REGISTER(port_tx)
