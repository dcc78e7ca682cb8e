/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>

#include "core/port_internal.h"

#define PORTS_MAX 64
#define NAME_MAX_LEN 19 /**< with "net_ring_" in front it must fit RTE_RING_NAMESIZE */

/* control: rw. Ring ports that are open. */
static struct ap_port *ports[PORTS_MAX];

static struct ap_port *
find_port(const char *name)
{
	for (unsigned i = 0; i < PORTS_MAX; i++)
		if (ports[i] != NULL && strcmp(ports[i]->name, name) == 0)
			return ports[i];
	return NULL;
}

static uint32_t
ring_size(const struct ap_cfg_port *conf)
{
	return conf->ring_size ? conf->ring_size : AP_PORT_RING_SIZE;
}

/** The other end must see the same pair. */
static int
peer_check(const struct ap_port *p, const struct ap_port *peer, struct ap_error *err)
{
	if (strcmp(peer->conf->peer, p->name) != 0)
		return ap_error_set(err,
				    "port %s: its peer %s names %s as peer: the two ends of a "
				    "ring pair name each other",
				    p->name, peer->name, peer->conf->peer);
	if (peer->queues != p->queues || ring_size(peer->conf) != ring_size(p->conf))
		return ap_error_set(err,
				    "port %s: %u queues of %u, but its peer %s has %u of %u: "
				    "give both ends the same",
				    p->name, p->queues, ring_size(p->conf), peer->name,
				    peer->queues, ring_size(peer->conf));
	return 0;
}

static int
conf_check(const struct ap_port *p, struct ap_error *err)
{
	uint32_t size = ring_size(p->conf);
	const struct ap_port *peer;

	if (strlen(p->name) > NAME_MAX_LEN)
		return ap_error_set(err,
				    "port %s: the name of a ring port has at most %u characters",
				    p->name, NAME_MAX_LEN);
	if (p->conf->peer == NULL || p->conf->peer[0] == '\0')
		return ap_error_set(err,
				    "port %s: preset ring needs 'peer', the port at the other "
				    "end (its own name: a loopback)",
				    p->name);
	if (size < 2 || size > (1U << 20) || !rte_is_power_of_2(size))
		return ap_error_set(err, "port %s: ring_size %u must be a power of 2 up to 1048576",
				    p->name, size);
	for (unsigned i = 0; i < PORTS_MAX; i++)
		if (ports[i] != NULL && strcmp(ports[i]->conf->peer, p->name) == 0 &&
		    strcmp(ports[i]->name, p->conf->peer) != 0)
			return ap_error_set(err,
					    "port %s: its peer is %s, but port %s names %s as "
					    "peer: the two ends of a ring pair name each other",
					    p->name, p->conf->peer, ports[i]->name, p->name);
	peer = find_port(p->conf->peer);
	return peer != NULL ? peer_check(p, peer, err) : 0;
}

/** Ring of the packets on their way to port `to`; whichever end opens first makes it. */
static struct rte_ring *
ring_toward(const char *to, uint16_t queue, uint32_t size, struct ap_error *err)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *r;

	snprintf(name, sizeof(name), "to.%s.%u", to, queue);
	r = rte_ring_lookup(name);
	if (r == NULL)
		r = rte_ring_create(name, size, rte_socket_id(),
				    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (r == NULL)
		ap_error_set(err, "ring %s of %u: %s", name, size, rte_strerror(rte_errno));
	return r;
}

static void
ring_free(struct rte_ring *r)
{
	void *m;

	while (r != NULL && rte_ring_sc_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

int
port_ring_open(struct ap_port *p, struct ap_error *err)
{
	const char *peer = p->conf->peer;
	unsigned slot = 0;
	int ret;

	if (conf_check(p, err) < 0)
		return -EINVAL;
	while (slot < PORTS_MAX && ports[slot] != NULL)
		slot++;
	if (slot == PORTS_MAX)
		return ap_error_set(err, "port %s: more than %u ring ports", p->name, PORTS_MAX);
	ports[slot] = p;
	for (uint16_t q = 0; q < p->queues; q++) {
		p->rx_rings[q] = ring_toward(p->name, q, ring_size(p->conf), err);
		p->tx_rings[q] = ring_toward(peer, q, ring_size(p->conf), err);
		if (p->rx_rings[q] == NULL || p->tx_rings[q] == NULL) {
			port_ring_close(p);
			return -ENOMEM;
		}
	}
	ret = rte_eth_from_rings(p->name, p->rx_rings, p->queues, p->tx_rings, p->queues,
				 rte_socket_id());
	if (ret < 0) {
		port_ring_close(p);
		return ap_error_set(err,
				    "port %s: net_ring: %s: is DPDK's net_ring driver "
				    "installed?",
				    p->name, rte_strerror(rte_errno));
	}
	p->id = (uint16_t)ret;
	p->created = true;
	snprintf(p->device, sizeof(p->device), "net_ring_%s", p->name);
	return 0;
}

void
port_ring_close(struct ap_port *p)
{
	const struct ap_port *peer;

	for (unsigned i = 0; i < PORTS_MAX; i++)
		if (ports[i] == p)
			ports[i] = NULL;
	peer = find_port(p->conf->peer);
	if (peer != NULL)
		return;
	for (uint16_t q = 0; q < p->queues; q++) {
		if (p->tx_rings[q] != p->rx_rings[q])
			ring_free(p->tx_rings[q]);
		ring_free(p->rx_rings[q]);
		p->rx_rings[q] = NULL;
		p->tx_rings[q] = NULL;
	}
}

int
port_ring_check(const struct ap_port *p, struct ap_error *err)
{
	if (find_port(p->conf->peer) == NULL)
		return ap_error_set(err, "port %s: its peer %s is not open", p->name,
				    p->conf->peer);
	return 0;
}
