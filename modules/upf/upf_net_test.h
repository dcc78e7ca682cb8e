/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_NET_TEST_H
#define AIRPATH_UPF_NET_TEST_H

/**
 * A UPF's networks for tests, and packets for it.
 *
 *   1 n3: port 0, access,        192.168.1.1/24, fd03::1/64
 *   2 n6: port 1, core,          10.0.0.1/24,    fd06::1/64, gateways .254 and ::fe
 *   3 n9: port 0, VLAN 9, access, 172.16.9.1/24
 */

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "codec/be.h"
#include "codec/gtpu.h"
#include "codec/ip.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_net.h"

#define N3 1
#define N6 2
#define N9 3
#define NET_TEST_FRAME 2400

static const uint8_t net_mac_n3[6] = {2, 0, 0, 0, 0, 3}, net_mac_n6[6] = {2, 0, 0, 0, 0, 6};
static const uint8_t net_peer_mac[6] = {2, 0, 0, 0, 0, 0x99};
static const uint8_t n3_4[4] = {192, 168, 1, 1}, n6_4[4] = {10, 0, 0, 1}, n9_4[4] = {172, 16, 9, 1};
static const uint8_t n3_6[16] = {0xfd, 3, [15] = 1}, n6_6[16] = {0xfd, 6, [15] = 1};
static const uint8_t gnb_4[4] = {192, 168, 1, 7}, gnb_6[16] = {0xfd, 3, [15] = 7};
static const uint8_t ue_4[4] = {10, 45, 0, 2}, host_4[4] = {8, 8, 8, 8};
static const uint8_t ue_6[16] = {0x20, 1, [15] = 2}, host_6[16] = {0x20, 2, [15] = 8};

static inline struct upf_net_prefix
net_prefix(bool v6, const uint8_t *address, uint8_t bits)
{
	struct upf_net_prefix p = {.bits = bits, .v6 = v6};

	memcpy(p.address, address, v6 ? 16 : 4);
	return p;
}

static inline struct upf_net *
net_make(enum upf_mtu_mode mode)
{
	struct upf_net_interface itf[3] = {
		{.name = "n3", .port = 0, .types = 1 << UPF_ACCESS, .nb_addresses = 2},
		{.name = "n6", .port = 1, .types = 1 << UPF_CORE, .nb_addresses = 2},
		{.name = "n9", .port = 0, .types = 1 << UPF_ACCESS, .vlan = 9, .nb_addresses = 1},
	};
	struct upf_net_route routes[2] = {
		{.interface = N6, .via = {10, 0, 0, 254}},
		{.interface = N6, .prefix = {.v6 = true}, .via = {0xfd, 6, [15] = 0xfe}}};
	struct upf_net_cfg cfg = {.nb_interfaces = 3,
				  .interfaces = itf,
				  .nb_routes = 2,
				  .routes = routes,
				  .neighbours_max = 64,
				  .mtu_mode = mode};
	struct ap_error err = {0};

	memcpy(itf[0].mac, net_mac_n3, 6);
	memcpy(itf[1].mac, net_mac_n6, 6);
	memcpy(itf[2].mac, net_mac_n3, 6);
	itf[0].addresses[0] = net_prefix(false, n3_4, 24);
	itf[0].addresses[1] = net_prefix(true, n3_6, 64);
	itf[1].addresses[0] = net_prefix(false, n6_4, 24);
	itf[1].addresses[1] = net_prefix(true, n6_6, 64);
	itf[2].addresses[0] = net_prefix(false, n9_4, 24);
	return upf_net_create(&cfg, &err);
}

/** Somebody answered: the link address of a neighbour. */
static inline void
net_know(struct upf_net *net, uint8_t interface, bool v6, const uint8_t *address,
	 const uint8_t *mac, uint64_t now_ns)
{
	struct upf_neigh_key key = {.interface = interface, .v6 = v6};
	int index;

	memcpy(key.address, address, v6 ? 16 : 4);
	index = upf_neigh_get(&net->neighs, &key, false, now_ns);
	if (index < 0)
		abort();
	upf_neigh_learn(&net->neighs, (uint32_t)index, mac, now_ns);
}

/** A frame being written; `at` is where the next header goes. */
struct net_frame {
	uint8_t b[NET_TEST_FRAME];
	size_t at;
};

static inline void
net_eth(struct net_frame *f, const uint8_t *dst, uint16_t vlan, uint16_t type)
{
	memcpy(f->b, dst, 6);
	memcpy(f->b + 6, net_peer_mac, 6);
	f->at = 12;
	if (vlan) {
		be16_put(f->b + f->at, 0x8100);
		be16_put(f->b + f->at + 2, vlan);
		f->at += 4;
	}
	be16_put(f->b + f->at, type);
	f->at += 2;
}

/** An IP header of a packet with `payload` octets behind. @return where it begins. */
static inline size_t
net_ip(struct net_frame *f, bool v6, const uint8_t *src, const uint8_t *dst, uint8_t proto,
       size_t payload)
{
	struct ip_hdr h = {.version = v6 ? 6 : 4,
			   .proto = proto,
			   .ttl = 64,
			   .bytes = (uint32_t)((v6 ? 40 : 20) + payload)};
	size_t at = f->at;

	memcpy(h.src, src, v6 ? 16 : 4);
	memcpy(h.dst, dst, v6 ? 16 : 4);
	f->at += (size_t)ip_encode(f->b + at, sizeof(f->b) - at, &h);
	return at;
}

static inline void
net_udp(struct net_frame *f, uint16_t src, uint16_t dst, size_t payload)
{
	const struct udp_hdr h = {
		.src_port = src, .dst_port = dst, .bytes = (uint16_t)(8 + payload)};

	f->at += (size_t)udp_encode(f->b + f->at, 8, &h);
}

static inline void
net_bytes(struct net_frame *f, const void *p, size_t n)
{
	if (p)
		memcpy(f->b + f->at, p, n);
	else
		for (size_t i = 0; i < n; i++)
			f->b[f->at + i] = (uint8_t)i;
	f->at += n;
}

/** A G-PDU from the gNB with an IPv4 or IPv6 packet of `payload` octets of UDP inside. */
static inline void
net_gpdu(struct net_frame *f, bool outer6, bool inner6, uint32_t teid, int qfi, size_t payload)
{
	size_t inner = (inner6 ? 40 : 20) + 8 + payload, hdr = qfi >= 0 ? 16 : 8;

	net_eth(f, net_mac_n3, 0, outer6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	net_ip(f, outer6, outer6 ? gnb_6 : gnb_4, outer6 ? n3_6 : n3_4, 17, 8 + hdr + inner);
	net_udp(f, 2152, 2152, hdr + inner);
	if (qfi >= 0)
		gtpu_gpdu_psc_put(f->b + f->at, teid, (uint16_t)inner, PSC_UL, (uint8_t)qfi, false);
	else
		gtpu_gpdu_put(f->b + f->at, teid, (uint16_t)inner);
	f->at += hdr;
	net_ip(f, inner6, inner6 ? ue_6 : ue_4, inner6 ? host_6 : host_4, 17, 8 + payload);
	net_udp(f, 1000, 2000, payload);
	net_bytes(f, NULL, payload);
}

/** The frame as an mbuf of segments of `seg` octets; 0: one. */
static inline struct rte_mbuf *
net_mbuf(struct rte_mempool *pool, const struct net_frame *f, size_t seg)
{
	struct rte_mbuf *head = NULL;

	for (size_t at = 0; at < f->at;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		size_t n = f->at - at;

		if (m == NULL)
			abort();
		if (seg && n > seg)
			n = seg;
		memcpy(rte_pktmbuf_append(m, (uint16_t)n), f->b + at, n);
		*ap_meta(m) = (struct ap_meta){0};
		at += n;
		if (head == NULL)
			head = m;
		else if (rte_pktmbuf_chain(head, m) < 0)
			abort();
	}
	return head;
}

#endif
