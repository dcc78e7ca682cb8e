/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PACKET_H
#define AIRPATH_UPF_PACKET_H

/** Packets the UPF makes of its own: link, IP and UDP headers, and how many a second it may. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "core/pkt.h"
#include "codec/be.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_net.h"

/** At most so many a second, with a burst of as many as a tenth of a second allows. Worker: rw. */
struct upf_limit {
	uint64_t cost_ns; /**< of one */
	uint64_t most_ns;
	uint64_t credit_ns;
	uint64_t last_ns;
};

static inline void
upf_limit_init(struct upf_limit *l, uint32_t per_s)
{
	*l = (struct upf_limit){.cost_ns = 1000000000U / per_s};
	l->most_ns = RTE_MAX((uint64_t)100000000, l->cost_ns);
	l->credit_ns = l->most_ns;
}

static inline bool
upf_limit_take(struct upf_limit *l, uint64_t now_ns)
{
	l->credit_ns = RTE_MIN(l->most_ns, l->credit_ns + (now_ns - l->last_ns));
	l->last_ns = now_ns;
	if (l->credit_ns < l->cost_ns)
		return false;
	l->credit_ns -= l->cost_ns;
	return true;
}

/**
 * An empty packet to write an answer into: `m` itself, without data and further segments, when it
 * is nobody else's; else one of `pool` in its place. `m` is used up.
 * @return NULL without an mbuf; `m` is as it was then
 */
struct rte_mbuf *upf_packet_fresh(struct rte_mbuf *m, struct rte_mempool *pool);

/** Writes the link header. @param type EtherType. @return its octets, link->l2_bytes. */
static inline unsigned
upf_link_write(const struct upf_link *link, uint8_t *p, uint64_t mac, uint16_t type)
{
	uint8_t *end = p + link->l2_bytes - 2;

	memcpy(p, &mac, 8); /* two octets more, which the source overwrites */
	memcpy(p + 6, link->source, 8);
	if (link->vlan)
		be16_put(p + 14, link->vlan);
	be16_put(end, type);
	return link->l2_bytes;
}

/** Marks a packet made here for upf_out, to be routed by `interface`. */
static inline void
upf_packet_leaves(struct rte_mbuf *m, uint8_t interface)
{
	*upf_leave(m) = (struct upf_leave){.flags = AP_M_CONTROL, .interface = interface};
}

/** Marks one that has its link header. */
static inline void
upf_frame_leaves(struct rte_mbuf *m, uint8_t interface)
{
	*upf_leave(m) = (struct upf_leave){
		.peer = UPF_LEAVE_FRAME, .flags = AP_M_CONTROL, .interface = interface};
}

/** Ends of a UDP datagram of ours. */
struct upf_ends {
	bool v6;
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
};

/** Puts IP and UDP headers before what `m` has. @return whether there was room. */
bool upf_packet_udp(struct rte_mbuf *m, const struct upf_ends *ends);

/** Writes an IPv4 or IPv6 header of ours at `p`, `payload` octets behind. @return its octets. */
unsigned upf_packet_ip(uint8_t *p, bool v6, const uint8_t *src, const uint8_t *dst, uint8_t proto,
		       uint8_t ttl, unsigned payload);

/** ICMP or ICMPv6 checksum of `bytes` at `icmp` behind the IP header at `ip`; 0: it holds. */
uint16_t upf_icmp_checksum(const uint8_t *ip, const uint8_t *icmp, unsigned bytes);

#endif
