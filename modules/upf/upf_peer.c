/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "codec/ip.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_peer.h"

#define TTL 64

int
upf_peers_init(struct upf_peers *p, struct upf_net *net)
{
	static unsigned serial;
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters hash = {.name = name,
					   .entries = 2 * UPF_PEERS_MAX,
					   .key_len = sizeof(struct upf_peer_key),
					   .hash_func = rte_hash_crc};

	snprintf(name, sizeof(name), "upf_peers%u", serial++);
	*p = (struct upf_peers){.nb = 1, .net = net};
	p->peer = rte_zmalloc("upf_peers", UPF_PEERS_MAX * sizeof(struct upf_peer),
			      RTE_CACHE_LINE_SIZE);
	p->by_key = rte_hash_create(&hash);
	if (p->peer && p->by_key)
		return 0;
	upf_peers_fini(p);
	return -ENOMEM;
}

void
upf_peers_fini(struct upf_peers *p)
{
	rte_hash_free(p->by_key);
	rte_free(p->peer);
	*p = (struct upf_peers){0};
}

static void
header_make(struct upf_peer *peer, const uint8_t *source)
{
	const struct upf_peer_key *k = &peer->key;
	uint8_t *h = peer->header, tos = k->tos & k->tos_mask, *udp;
	uint16_t sum;

	memset(h, 0, sizeof(peer->header));
	if (k->octets == 4) {
		h[0] = 0x45;
		h[1] = tos;
		h[8] = TTL;
		h[9] = IP_PROTO_UDP;
		memcpy(h + 12, source, 4);
		memcpy(h + 16, k->ip, 4);
		sum = ip_checksum(h, IP4_HDR_BYTES);
		memcpy(h + 10, &sum, sizeof(sum));
	} else {
		h[0] = (uint8_t)(0x60 | tos >> 4);
		h[1] = (uint8_t)(tos << 4);
		h[6] = IP_PROTO_UDP;
		h[7] = TTL;
		memcpy(h + 8, source, 16);
		memcpy(h + 24, k->ip, 16);
	}
	peer->udp = k->octets == 4 ? IP4_HDR_BYTES : IP6_HDR_BYTES;
	udp = h + peer->udp;
	be16_put(udp, GTPU_PORT);
	be16_put(udp + 2, k->port);
	if (k->gtpu)
		gtpu_gpdu_put(udp + UDP_HDR_BYTES, 0, 0);
	peer->tos_mask = k->tos_mask;
	peer->gtpu = k->gtpu;
	peer->interface = k->interface;
}

/** @return index of an entry nobody uses and that has rested, or 0. */
static unsigned
peer_fresh(struct upf_peers *p, uint64_t now_ns)
{
	if (p->nb < UPF_PEERS_MAX)
		return p->nb++;
	for (unsigned i = 1; i < p->nb; i++)
		if (p->peer[i].refs == 0 && now_ns - p->peer[i].freed_ns >= UPF_PEER_REST_NS)
			return i;
	return 0;
}

int
upf_peer_get(struct upf_peers *p, const struct upf_peer_key *key, uint64_t now_ns)
{
	bool v6 = key->octets == 16;
	const uint8_t *source;
	struct upf_peer *peer;
	unsigned fresh;
	void *index;

	if (rte_hash_lookup_data(p->by_key, key, &index) >= 0) {
		p->peer[(uintptr_t)index].refs++;
		return (int)(uintptr_t)index;
	}
	if (key->interface < 1 || key->interface > p->net->nb_links)
		return -EINVAL;
	source = upf_link_source(&p->net->links[key->interface], v6, key->ip);
	if (source == NULL)
		return -EINVAL;
	fresh = peer_fresh(p, now_ns);
	if (fresh == 0)
		return -ENOSPC;
	peer = &p->peer[fresh];
	peer->key = *key;
	peer->refs = 0;
	header_make(peer, source);
	if (upf_net_peer_set(p->net, fresh, key->interface, v6, key->ip, key->gtpu) < 0)
		return -ENOSPC;
	if (rte_hash_add_key_data(p->by_key, key, (void *)(uintptr_t)fresh) < 0) {
		upf_net_peer_clear(p->net, fresh);
		return -ENOSPC;
	}
	peer->refs = 1;
	p->live++;
	return (int)fresh;
}

void
upf_peer_put(struct upf_peers *p, unsigned index, uint64_t now_ns)
{
	struct upf_peer *peer = &p->peer[index];

	if (index == 0 || --peer->refs > 0)
		return;
	upf_net_peer_clear(p->net, index);
	peer->freed_ns = now_ns;
	p->live--;
	rte_hash_del_key(p->by_key, &peer->key);
}
