/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ND_H
#define AIRPATH_UPF_ND_H

/**
 * ARP (RFC 826, RFC 5227) and neighbour discovery (RFC 4861 §7, RFC 4862 §5.4) for addresses of
 * ours, and where the interface says so for those of UEs (RFC 1027, RFC 4861 §7.2.8): what is
 * received, and the requests upf_out sends. We are a router that advertises nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modules/upf/upf_net.h"

#define UPF_ARP_BYTES 28
#define UPF_ND_BYTES 72 /**< IPv6, NS or NA, a link-layer address option */

enum upf_nd_verdict {
	UPF_ND_REPLY,     /**< m is a frame to send by `link` now */
	UPF_ND_TAKEN,     /**< learned, or nothing to learn */
	UPF_ND_MALFORMED, /**< not valid: RFC 826, RFC 4861 §7.1 */
	UPF_ND_NOT_OURS,  /**< asks for another host */
	UPF_ND_CONFLICT,  /**< somebody else says to have an address of ours */
	UPF_ND_ROUTER,    /**< router discovery and redirects, of no use to us */
	UPF_ND_NO_MBUF,
};

/** ARP by `link`; data begins with it. */
enum upf_nd_verdict upf_arp_take(struct upf_net *net, const struct upf_link *link,
				 struct rte_mbuf **m, struct rte_mempool *pool, uint64_t now_ns);

/** ICMPv6 types 133..137 by `link`; data begins with IPv6, the ICMPv6 header right behind. */
enum upf_nd_verdict upf_nd_take(struct upf_net *net, const struct upf_link *link,
				struct rte_mbuf **m, struct rte_mempool *pool, uint64_t now_ns);

/**
 * Writes the frame that asks for a neighbour: ARP request or neighbour solicitation.
 * @param p room for 18 + UPF_ND_BYTES
 * @param mac whom to ask; NULL: everyone
 * @return its octets; 0 when the interface has no address to ask from
 */
unsigned upf_nd_ask(const struct upf_link *link, const struct upf_neigh_key *key,
		    const uint8_t *mac, uint8_t *p);

#endif
