/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_META_H
#define AIRPATH_UPF_META_H

/**
 * What the UPF's nodes tell each other about a packet. It lies over struct ap_meta, in the
 * mbuf's first cache line, and `flags` is at the same place, so AP_M_* keep their meaning.
 *
 *   upf_in → upf_steer → upf_match      struct upf_arrival
 *   upf_match → upf_flow                struct upf_matched, group of PDRs in vlan_tci
 *   upf_match → … → upf_forward         struct upf_matched, lane in vlan_tci
 *   upf_forward → upf_out               struct upf_leave
 *
 * From upf_in on the mbuf's data begins with the inner IP packet. The outer header's bytes stay
 * where they were, before the data: upf_arrival.outer says how far back the outer IP header
 * begins (an Error Indication needs it).
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#include "core/meta.h"

enum upf_rx_flag {
	UPF_RX_TUNNEL = 1 << 0, /**< came in a G-PDU; else plain IP */
	UPF_RX_QFI = 1 << 1,    /**< `qfi` is valid: there was a PDU session container */
	UPF_RX_RQI = 1 << 2,
	UPF_RX_OUTER6 = 1 << 3, /**< the outer header was IPv6 */
	UPF_RX_INNER6 = 1 << 4,
	/** An End Marker of tunnel `teid`: a packet without data, to go where the tunnel's packets
	 * go (TS 29.281 §7.3.2). */
	UPF_RX_END_MARKER = 1 << 5,
	/** An Ethernet frame: of a LAN, or a T-PDU that is no IP packet of its length. */
	UPF_RX_FRAME = 1 << 6,
	/** For upf_local: data begins behind the link header, `teid` is the EtherType and `qfi` an
	 * enum upf_local_why. Without it upf_local gets what upf_match found no session for. */
	UPF_RX_LOCAL = 1 << 7,
};

struct upf_arrival {
	uint32_t teid; /**< with UPF_RX_TUNNEL; else handle of the session, once found */
	uint8_t qfi : 6;
	uint8_t spare : 2;
	uint8_t rx;        /**< enum upf_rx_flag */
	uint8_t flags;     /**< enum ap_meta_flag */
	uint8_t interface; /**< index of the interface it came by, from 1 */
};
_Static_assert(sizeof(struct upf_arrival) == sizeof(struct ap_meta), "lies over ap_meta");
_Static_assert(offsetof(struct upf_arrival, flags) == offsetof(struct ap_meta, flags), "flags");

#define UPF_LEAVE_FRAME UINT32_MAX /**< upf_leave.peer: data is a whole frame of ours */

struct upf_leave {
	uint32_t peer; /**< index of the peer an outer header was made for, 0: route the packet */
	uint8_t from;  /**< interface it came by, from 1, as plain IP; 0: in a tunnel, or unknown.
			  Who sent a packet that is too long is told there. */
	uint8_t spare;
	uint8_t flags; /**< enum ap_meta_flag; AP_M_CONTROL: made here, its TTL stays and no ICMP
			  error answers it */
	uint8_t interface; /**< it leaves by, from 1 */
};
_Static_assert(sizeof(struct upf_leave) == sizeof(struct ap_meta), "lies over ap_meta");
_Static_assert(offsetof(struct upf_leave, flags) == offsetof(struct ap_meta, flags), "flags");

static inline struct upf_arrival *
upf_arrival(struct rte_mbuf *m)
{
	return (struct upf_arrival *)(void *)&m->hash;
}

static inline struct upf_leave *
upf_leave(struct rte_mbuf *m)
{
	return (struct upf_leave *)(void *)&m->hash;
}

/** Octets from the outer IP header to the data; upf_in writes it, anyone reads it. */
static inline uint16_t
upf_outer_bytes(const struct rte_mbuf *m)
{
	return m->vlan_tci_outer;
}

#define UPF_POINTER_BITS 48
#define UPF_POINTER_MASK ((1ULL << UPF_POINTER_BITS) - 1)

/** A matched packet whose session has other lanes by now. */
static inline void
upf_matched_move(struct rte_mbuf *m, const void *session, uint16_t lane)
{
	uint64_t word;

	m->vlan_tci = lane;
	memcpy(&word, &m->hash, sizeof(word)); /* the field is aligned to four octets */
	word = (word & ~UPF_POINTER_MASK) | (uint64_t)(uintptr_t)session;
	memcpy(&m->hash, &word, sizeof(word));
}

/**
 * After upf_match: the session's address takes six octets, flags and interface stay. The rx
 * flags and the QFI of a matched packet move to packet_type, the lane's number to vlan_tci.
 */
static inline void
upf_matched_set(struct rte_mbuf *m, const void *session, uint16_t lane)
{
	const struct upf_arrival a = *upf_arrival(m);

	m->packet_type = (uint32_t)a.rx << 8 | a.qfi;
	upf_matched_move(m, session, lane);
}

/** upf_flow: the lane of a packet whose group of PDRs it knew. */
static inline void
upf_matched_lane_set(struct rte_mbuf *m, uint16_t lane)
{
	m->vlan_tci = lane;
}

static inline void *
upf_matched_session(const struct rte_mbuf *m)
{
	uint64_t word;

	memcpy(&word, &m->hash, sizeof(word));
	return (void *)(uintptr_t)(word & UPF_POINTER_MASK);
}

static inline uint16_t
upf_matched_lane(const struct rte_mbuf *m)
{
	return m->vlan_tci;
}

/** enum upf_rx_flag of a matched packet. */
static inline uint8_t
upf_matched_rx(const struct rte_mbuf *m)
{
	return (uint8_t)(m->packet_type >> 8);
}

static inline uint8_t
upf_matched_qfi(const struct rte_mbuf *m)
{
	return (uint8_t)m->packet_type;
}

#define UPF_UNCHARGED (1U << 16) /* in packet_type */

/** upf_charge → upf_forward: no URR has counted the packet, as it may have to wait. */
static inline void
upf_uncharged_set(struct rte_mbuf *m)
{
	m->packet_type |= UPF_UNCHARGED;
}

static inline bool
upf_uncharged(const struct rte_mbuf *m)
{
	return m->packet_type & UPF_UNCHARGED;
}

#endif
