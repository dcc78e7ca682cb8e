/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FLOW_PACKET_H
#define AIRPATH_UPF_FLOW_PACKET_H

/** Which flow a packet is of, and what else of it its lane depends on. For upf_flow. */

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "codec/be.h"
#include "codec/flow.h"
#include "modules/dpi/dpi_look.h"
#include "modules/dpi/dpi_set.h"
#include "modules/upf/upf_filter.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_session.h"

enum { UPF_FLOW_TCP_FIN = 1 << 0, UPF_FLOW_TCP_SYN = 1 << 1, UPF_FLOW_TCP_RST = 1 << 2 };
#define UPF_FLOW_TCP_ACK (1 << 4)
#define UPF_FLOW_TCP_ENDS (UPF_FLOW_TCP_FIN | UPF_FLOW_TCP_SYN | UPF_FLOW_TCP_RST)

struct upf_flow_packet {
	union {
		struct upf_flow_key key;
		uint64_t words[6]; /**< of the key */
	};
	uint64_t hash;
	uint64_t way;   /**< what has to be the flow's way's */
	uint32_t flow;  /**< index that was found, or UPF_FLOW_NONE */
	uint16_t upper; /**< octets before the TCP or UDP header */
	uint8_t dir;    /**< the packet is of key.ends[dir] */
	uint8_t tcp;    /**< flags of the TCP header, 0: none */
	bool ok;        /**< it is an IP packet */
};

/** Neither the lower nor the higher end is the UE's: the order alone makes both ways one flow. */
static inline void
upf_flow_packet_ends(struct upf_flow_packet *p, const void *src, const void *dst, unsigned octets,
		     uint32_t ports)
{
	const uint16_t from = (uint16_t)ports, to = (uint16_t)(ports >> 16);
	const int order = memcmp(src, dst, octets);

	p->dir = order > 0 || (order == 0 && from > to);
	memcpy(p->key.ends[p->dir], src, octets);
	memcpy(p->key.ends[!p->dir], dst, octets);
	p->key.ports[p->dir] = from;
	p->key.ports[!p->dir] = to;
}

/**
 * IPv4 without options or fragments, TCP or UDP: nearly all. The key is put together in registers:
 * who reads words that were written by parts waits for the memory.
 * @return whether it is that
 */
static inline bool
upf_flow_packet_usual(struct upf_flow_packet *p, const uint8_t *ip, uint16_t len,
		      const struct upf_flows *t, uint32_t handle)
{
	/* Octet 0: no options; 6 and 7: no fragment. */
	const uint64_t looked_at = 0xFF3F0000000000FF, usual = 0x45;
	uint32_t src, dst, ports, swapped, differ, other;
	uint64_t head;

	if (unlikely(len < 40))
		return false;
	memcpy(&head, ip, sizeof(head));
	if (unlikely((head & looked_at) != usual ||
		     (ip[9] != IPPROTO_TCP && ip[9] != IPPROTO_UDP) || (ip[2] == 0 && ip[3] < 40)))
		return false;
	memcpy(&src, ip + 12, 4);
	memcpy(&dst, ip + 16, 4);
	memcpy(&ports, ip + 20, 4);
	swapped = ports << 16 | ports >> 16;
	/* Nobody foretells which way the next packet goes: no branch. */
	p->dir = (rte_be_to_cpu_32(src) > rte_be_to_cpu_32(dst)) |
		 ((src == dst) & ((uint16_t)ports > (uint16_t)swapped));
	other = (uint32_t) - (int32_t)p->dir;
	differ = (src ^ dst) & other;
	p->words[0] = src ^ differ;
	p->words[1] = 0;
	p->words[2] = dst ^ differ;
	p->words[3] = 0;
	p->words[4] = (uint64_t)(ports ^ ((ports ^ swapped) & other)) << 32 | handle;
	p->words[5] = (uint64_t)UPF_FLOW_PORTS << 8 | ip[9];
	p->hash = upf_flow_hash4(t, src ^ differ, dst ^ differ, p->words[4], p->words[5]);
	p->upper = 20;
	p->tcp = ip[33] & (uint8_t) - (ip[9] == IPPROTO_TCP);
	return true;
}

/** Any other packet. @return whether it is an IP packet. */
bool upf_flow_packet_unusual(struct upf_flow_packet *p, const uint8_t *ip, uint16_t len,
			     struct flow *f);

static inline uint64_t
upf_flow_packet_way(const struct upf_session *s, const struct rte_mbuf *m, const uint8_t *ip)
{
	uint64_t way = UPF_WAY_VALID | (uint64_t)upf_matched_lane(m) << UPF_WAY_GROUP_SHIFT;
	const bool v6 = ip[0] >> 4 == 6;

	if (likely(!(s->flags & UPF_SESSION_READS)))
		return way;
	if (s->flags & UPF_SESSION_READS_QFI)
		way |= (uint64_t)(upf_matched_rx(m) & UPF_RX_QFI ? upf_matched_qfi(m) : UPF_NO_QFI)
		       << UPF_WAY_QFI_SHIFT;
	if (s->flags & UPF_SESSION_READS_TOS)
		way |= (uint64_t)(v6 ? (uint8_t)(ip[0] << 4 | ip[1] >> 4) : ip[1])
		       << UPF_WAY_TOS_SHIFT;
	if (s->flags & UPF_SESSION_READS_LABEL && v6)
		way |= (uint64_t)((uint32_t)(ip[1] & 0xF) << 16 | (uint32_t)ip[2] << 8 | ip[3])
		       << UPF_WAY_LABEL_SHIFT;
	return way;
}

/** @return whether it is a segment of TCP that brings nothing of its flow's name: no data, and no
 * SYN of the UE's, whose sequence number is wanted. */
static inline bool
upf_flow_packet_is_bare(const struct upf_flow_packet *p, const struct upf_session *s,
			const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	const bool is_down = s->flags & UPF_SESSION_FLOW_DOWN && upf_matched_lane(m) == 0;
	const unsigned total = ip[0] >> 4 == 4 ? be16_get(ip + 2) : 40U + be16_get(ip + 4);

	if (p->tcp == 0 || (p->tcp & UPF_FLOW_TCP_SYN && !is_down))
		return false;
	return p->upper + (unsigned)(ip[p->upper + 12] >> 4) * 4 >= total;
}

/** All but flow. @return p->ok */
static inline bool
upf_flow_packet_read(struct upf_flow_packet *p, const struct rte_mbuf *m, const struct upf_flows *t)
{
	const struct upf_session *s = upf_matched_session(m);
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *);
	struct flow f;

	p->ok = true;
	if (unlikely(!upf_flow_packet_usual(p, ip, m->data_len, t, s->handle))) {
		memset(&p->key, 0, sizeof(p->key));
		p->key.handle = s->handle;
		p->ok = upf_flow_packet_unusual(p, ip, m->data_len, &f);
		p->hash = upf_flow_hash(t, &p->key);
	}
	if (likely(p->ok))
		p->way = upf_flow_packet_way(s, m, ip);
	return p->ok;
}

/** @return the port that is not the UE's, host order. */
static inline uint16_t
upf_flow_packet_port(const struct upf_flow_packet *p, bool from_ue)
{
	return rte_be_to_cpu_16(p->key.ports[from_ue ? !p->dir : p->dir]);
}

/** @return whether the packet is one of TCP or UDP that `seg` tells of */
bool upf_flow_packet_segment(const struct upf_flow_packet *p, const struct rte_mbuf *m,
			     bool from_ue, struct dpi_segment *seg);

/** @return the application that the packet's headers say, or 0 */
uint16_t upf_flow_packet_app(const struct dpi_set *set, const struct rte_mbuf *m,
			     const struct upf_session *s, unsigned group);

/** What is told of a flow whose application was asked for. */
void upf_flow_packet_detected(const struct upf_flow_packet *p, uint16_t app, bool from_ue,
			      struct upf_detected *d);

/** A packet that begins or ends a TCP connection: one that begins is another flow. */
void upf_flow_packet_tcp(const struct upf_flow_packet *p, struct upf_flow *f);

#endif
