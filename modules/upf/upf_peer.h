/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PEER_H
#define AIRPATH_UPF_PEER_H

/**
 * Peers: outer headers ready to be put before packets. Rules name them by index, and so do lanes
 * and struct upf_leave; struct upf_net_peer of the same index knows the way there.
 *
 * The control thread makes a peer before it hands the rules that use it to a worker, and takes it
 * back when the worker has handed those rules back, so workers read without locks. A freed entry
 * rests before it is used again.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "codec/gtpu.h"
#include "modules/upf/upf_session.h"

#define UPF_PEER_REST_NS 2000000000ULL
#define UPF_PEER_HEADER_MAX (40 + 8 + GTPU_HDR_PSC_BYTES)

struct rte_hash;
struct upf_net;

struct upf_peer_key {
	uint8_t ip[16];    /**< network order, IPv4 in the first four */
	uint16_t port;     /**< UDP destination, host order */
	uint8_t octets;    /**< of ip, 4 or 16 */
	uint8_t interface; /**< packets leave by, 1.. */
	uint8_t tos;       /**< Transport Level Marking, value under mask */
	uint8_t tos_mask;  /**< 0: none: the inner packet's */
	bool gtpu;         /**< GTP-U/UDP/IP; else UDP/IP */
	uint8_t zero;      /**< keys compare whole */
} __rte_aligned(8);
_Static_assert(sizeof(struct upf_peer_key) == 24, "no padding");

/**
 * `header` is IP, UDP and, with gtpu, a G-PDU's header of GTPU_HDR_BYTES, complete but for
 * lengths, the TEID, the IPv4 identification, and what tos_mask leaves of the ToS. The checksum of
 * an IPv4 header is that with all of these 0: adding what is filled in updates it (RFC 1624). That
 * of UDP is 0: none (over IPv6 see RFC 6935).
 */
struct upf_peer {
	/* control: rw before use, worker: ro */
	uint8_t header[UPF_PEER_HEADER_MAX] __rte_cache_aligned;
	uint8_t udp;      /**< where the UDP header begins: 20 or 40 */
	uint8_t tos_mask; /**< bits of the ToS that `header` has; the rest is the inner packet's */
	bool gtpu;
	uint8_t interface;
	/* control */
	struct upf_peer_key key;
	uint32_t refs;
	uint64_t freed_ns;
} __rte_cache_aligned;

struct upf_peers {
	struct upf_peer *peer; /**< UPF_PEERS_MAX; [0] is nobody. control: rw, worker: ro */
	/* control */
	uint32_t nb;             /**< indices used so far are below */
	uint32_t live;           /**< in use */
	struct rte_hash *by_key; /**< to index */
	struct upf_net *net;
};

/** @return 0 or -ENOMEM. Control thread, EAL up; likewise below. */
int upf_peers_init(struct upf_peers *p, struct upf_net *net);
void upf_peers_fini(struct upf_peers *p);

/**
 * Finds or makes the peer of a key, and counts a use of it.
 * @return index 1..UPF_PEERS_MAX - 1; -ENOSPC when all are in use; -EINVAL when the interface does
 *         not exist or has no address of that family
 */
int upf_peer_get(struct upf_peers *p, const struct upf_peer_key *key, uint64_t now_ns);

/** Ends a use, when no worker has rules with it any more. */
void upf_peer_put(struct upf_peers *p, unsigned index, uint64_t now_ns);

#endif
