/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ICMP_H
#define AIRPATH_UPF_ICMP_H

/** ICMP (RFC 792, RFC 1122, RFC 1812) and ICMPv6 (RFC 4443): echo, and errors we send. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

enum upf_icmp_error {
	UPF_ICMP_EXPIRED, /**< TTL or hop limit exceeded in transit */
	UPF_ICMP_TOO_BIG, /**< fragmentation needed, RFC 1191; packet too big */
	UPF_ICMP_NO_ROUTE,
	UPF_ICMP_HOST,     /**< a neighbour that does not answer */
	UPF_ICMP_PROTOCOL, /**< nobody here speaks it */
	UPF_ICMP_PORT,
};

/**
 * Whether an error may answer the IP packet at m's data: not another error, a later fragment, or
 * one to or from a group (RFC 1122 §3.2.2, RFC 4443 §2.4 (e)).
 */
bool upf_icmp_may(const struct rte_mbuf *m);

/**
 * Makes of an IP packet the error about it. Ask upf_icmp_may() first.
 * @param source our address, of the packet's family
 * @param mtu of UPF_ICMP_TOO_BIG
 * @param pool when m is shared
 * @return the packet to send to the source of `m`, which is used up; NULL without an mbuf, `m` is
 *         as it was then
 */
struct rte_mbuf *upf_icmp_error(struct rte_mbuf *m, enum upf_icmp_error error,
				const uint8_t *source, uint16_t mtu, struct rte_mempool *pool);

enum upf_icmp_verdict {
	UPF_ICMP_REPLY, /**< m is the echo reply now */
	UPF_ICMP_BAD,   /**< too short, or a wrong checksum */
	UPF_ICMP_OTHER, /**< nothing we answer */
};

/** ICMP to us: data is the IP packet, `at` where its payload begins. Any number of segments. */
enum upf_icmp_verdict upf_icmp_take(struct rte_mbuf *m, unsigned at);

#endif
