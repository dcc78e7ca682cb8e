/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_NET_H
#define AIRPATH_UPF_NET_H

/**
 * The UPF's networks: interfaces with their addresses, routes, neighbours and GTP-U peers.
 * One object for all workers. Built by the control thread from the configuration, constant after,
 * but for neighbours, peers, paths and `live`, which are atomics. Addresses are in network order.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "core/config.h"
#include "modules/upf/upf_neigh.h"
#include "modules/upf/upf_fib.h"
#include "modules/upf/upf_session.h"

#define UPF_NET_ADDRESSES_MAX 8 /**< of an interface */
#define UPF_NET_PORTS_MAX 14    /**< as many edges a node of ours has to them */
#define UPF_NET_MTU_MIN 576     /**< RFC 1122 §3.3.2; with IPv6 addresses 1280, RFC 8200 §5 */
#define UPF_NET_MTU_MAX 9600

struct upf_index;

/** What becomes of a tunnelled packet that is longer than its path's MTU. */
enum upf_mtu_mode {
	UPF_MTU_FRAGMENT, /**< the outer packet is fragmented */
	UPF_MTU_TOO_BIG,  /**< who sent a DF or IPv6 packet is told; others as above */
};

struct upf_net_interface {
	const char *name;
	uint8_t port;  /**< index of its port among those of the role */
	uint8_t types; /**< Σ 1 << enum upf_interface_type */
	uint16_t vlan; /**< 1..4094; 0: untagged */
	uint16_t mtu;  /**< octets of IP; 0: 1500 */
	bool lan;      /**< frames of Ethernet sessions: UPF_LINK_LAN */
	bool proxy;    /**< neighbours are answered for UEs, too */
	uint8_t mac[6];
	unsigned nb_addresses;
	struct upf_net_prefix addresses[UPF_NET_ADDRESSES_MAX]; /**< ours, with the link's prefix */
};

struct upf_net_route {
	uint8_t interface; /**< from 1 */
	struct upf_net_prefix prefix;
	uint8_t via[16]; /**< a neighbour, of the prefix's family; all 0: on the link */
};

struct upf_net_neighbour {
	struct upf_neigh_key key;
	uint8_t mac[6];
};

struct upf_net_cfg {
	unsigned nb_interfaces; /**< 1..UPF_INTERFACES_MAX; their index is the place + 1 */
	const struct upf_net_interface *interfaces;
	unsigned nb_routes; /**< a gateway is a route of prefix length 0 */
	const struct upf_net_route *routes;
	unsigned nb_neighbours; /**< that are not to be asked for */
	const struct upf_net_neighbour *neighbours;
	uint32_t neighbours_max; /**< 0: 4096 */
	enum upf_mtu_mode mtu_mode;
	bool opaque;                      /**< a gNB: interfaces are UPF_LINK_OPAQUE */
	uint32_t icmp_per_s;              /**< ICMP errors, a worker; 0: 100 */
	uint32_t error_indications_per_s; /**< Error Indications, a worker; 0: 100 */
	uint32_t reassembly_packets;      /**< fragments held, a worker; 0: 1024 */
	uint32_t reassembly_ms;           /**< from a packet's first fragment on; 0: 1000 */
	struct rte_mempool *pool;         /**< of packets made here, and headers of fragments */
	struct rte_mempool *indirect;     /**< fragments' payloads: mbufs without room will do */
};

/** In upf_link.types, alone: T-PDUs are not looked into, and nothing is routed through. */
#define UPF_LINK_OPAQUE (1 << 7)
/** Likewise: a network of Ethernet PDU sessions. Frames pass as they are, of a VLAN without its
 * tag. */
#define UPF_LINK_LAN (1 << 6)
#define UPF_LAN_TYPES (1 << UPF_CORE) /**< what a LAN is to the agent */

/** An interface as packets see it. Constant. */
struct upf_link {
	uint32_t ip4[UPF_NET_ADDRESSES_MAX]; /**< [0]: first to be compared, and our source */
	uint16_t mtu;
	uint16_t vlan;
	uint8_t index; /**< from 1; 0: there is no such interface */
	uint8_t port;
	uint8_t types; /**< Σ 1 << enum upf_interface_type, UPF_LINK_OPAQUE or UPF_LINK_LAN */
	uint8_t nb_ip4, nb_ip6;
	bool proxy;        /**< as of the interface */
	uint8_t l2_bytes;  /**< 14, 18 with a VLAN tag; the EtherType is the last two */
	uint8_t source[8]; /**< our MAC; then, with a VLAN, 0x8100 */
	/** The link-local one made of the MAC is the last, and comes without IPv6 addresses too. */
	uint8_t ip6[UPF_NET_ADDRESSES_MAX + 1][16];
	struct upf_fib routes; /**< to index of hop */
	const char *name;
};

/** A next hop. */
struct upf_hop {
	bool on_link;       /**< the destination itself is the neighbour */
	uint32_t neighbour; /**< else index of this one */
};

/** Where the packets of a peer go. Control thread: rw, worker: ro once `interface` is not 0. */
struct upf_net_peer {
	_Atomic uint8_t interface; /**< from 1; 0: not in use */
	uint32_t neighbour;        /**< next hop's entry; UPF_NO_NEIGHBOUR: no route */
	uint16_t path;             /**< index in paths; 0: none is watched */
};
#define UPF_NO_NEIGHBOUR UINT32_MAX

/** An address G-PDUs go to by an interface: peers that differ in marking alone share it. */
struct upf_net_path {
	/* control: rw, worker: ro once `interface` is not 0 */
	_Atomic uint8_t interface; /**< from 1; 0: not in use */
	bool v6;
	uint8_t address[16];
	_Atomic uint32_t serial; /**< rises whenever it comes into use */
	uint32_t refs;           /**< control thread */
	/* the worker that watches paths: rw, who receives an answer: ro */
	_Atomic uint16_t echo_seq;
	/* who receives an answer: rw */
	_Atomic uint64_t answered_ns;
};

/** What changes while workers run. Control thread: rw, workers: ro. */
struct upf_net_live {
	_Atomic bool ethernet;            /**< there are Ethernet sessions: T-PDUs may be frames */
	_Atomic bool refilled;            /**< Config.refilled: unknown TEIDs are unknown indeed */
	_Atomic uint32_t echo_interval_s; /**< 0: no path is watched */
	_Atomic uint32_t echo_timeout_ms; /**< T3-RESPONSE */
	_Atomic uint32_t echo_tries;      /**< N3-REQUESTS */
};

struct upf_net {
	struct upf_link links[UPF_INTERFACES_MAX + 1]; /**< by index; [0] is none */
	unsigned nb_links;
	uint8_t *by_vlan[UPF_NET_PORTS_MAX]; /**< 4096 interface indices a port, 0: none */
	uint64_t own4_bits[4]; /**< bit of the last octet of every IPv4 address of ours */
	uint64_t own6_bits[4];
	struct upf_hop *hops;
	struct upf_neighs neighs;
	struct upf_net_peer *peers;  /**< UPF_PEERS_MAX, [0] is nobody */
	struct upf_net_path *paths;  /**< likewise */
	_Atomic uint32_t paths_high; /**< indices used so far are below */
	struct upf_net_live live;
	const struct upf_index *users; /**< whose addresses are answered for; NULL: nobody's */
	struct upf_net_cfg cfg;        /**< defaults filled in; its lists are gone */
};

/** EAL is up. @return NULL with `err` filled. */
struct upf_net *upf_net_create(const struct upf_net_cfg *cfg, struct ap_error *err);
void upf_net_destroy(struct upf_net *net);

/**
 * Control thread: a peer comes into use, before packets name it.
 * @param peer 1..UPF_PEERS_MAX - 1
 * @param gtpu it takes G-PDUs: its path is watched from now on. Who takes UDP or IP alone
 *        (TS 29.244 §8.2.56) would not answer an Echo Request.
 * @return 0; -EINVAL; -ENOSPC when no neighbour can be kept for it. Without a route 0: packets are
 *         dropped by name.
 */
int upf_net_peer_set(struct upf_net *net, uint32_t peer, uint8_t interface, bool v6,
		     const uint8_t *address, bool gtpu);

/** Control thread: nothing names the peer any more. */
void upf_net_peer_clear(struct upf_net *net, uint32_t peer);

/** @param ip4 as in memory. @return whether it is an address of any interface. */
bool upf_net_own4_slow(const struct upf_net *net, uint32_t ip4);
bool upf_net_own6_slow(const struct upf_net *net, const uint8_t *ip6);

static inline bool
upf_net_own4(const struct upf_net *net, uint32_t ip4)
{
	uint8_t last = (uint8_t)(ip4 >> 24);

	return net->own4_bits[last >> 6] >> (last & 63) & 1 && upf_net_own4_slow(net, ip4);
}

static inline bool
upf_net_own6(const struct upf_net *net, const uint8_t *ip6)
{
	return net->own6_bits[ip6[15] >> 6] >> (ip6[15] & 63) & 1 && upf_net_own6_slow(net, ip6);
}

/** @return whether `address` is one of the interface's own. */
bool upf_link_has(const struct upf_link *link, bool v6, const uint8_t *address);

/**
 * Our address to send to `to` from.
 * @return 4 or 16 octets, or NULL when the interface has none of that family
 */
const uint8_t *upf_link_source(const struct upf_link *link, bool v6, const uint8_t *to);

/**
 * Where packets to an address go.
 * @param key filled with what to look for where the destination is on the link
 * @return index of the neighbour; -EAGAIN with `key` filled; -ENETUNREACH without a route
 */
int upf_net_next_hop(const struct upf_net *net, uint8_t interface, bool v6, const uint8_t *to,
		     struct upf_neigh_key *key);

#endif
