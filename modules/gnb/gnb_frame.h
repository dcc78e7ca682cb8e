/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_FRAME_H
#define AIRPATH_GNB_FRAME_H

/**
 * Frames toward a peer: link, IP and UDP header in one piece, ready to be put before GTP-U. A
 * worker makes a peer's from struct upf_peer and the neighbour's link address, and looks again
 * after GNB_FRAME_NS; packets that find none go by way of upf_out. A peer's index rests longer
 * than that before it means another one (UPF_PEER_REST_NS).
 */

#include <rte_mbuf.h>

#include "codec/be.h"
#include "codec/gtpu.h"
#include "codec/ip.h"
#include "core/pkt.h"
#include "modules/upf/upf_encap.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_peer.h"

#define GNB_FRAME_NS 1000000ULL
#define GNB_FRAME_HEADER (18 + 40 + UDP_HDR_BYTES)
#define GNB_FRAME_ROOM 96 /**< octets a packet's headers may take, of any kind */

struct gnb_frame {
	uint8_t header[72];
	uint64_t until_ns; /**< 0: not made */
	uint32_t sum;      /**< IPv4: of the header's words, lengths and identification 0 */
	uint16_t mtu;
	uint8_t bytes; /**< of header */
	uint8_t ip;    /**< where IP begins */
	uint8_t port;  /**< of the link */
	bool v6;
} __rte_aligned(128);
_Static_assert(sizeof(struct gnb_frame) == 128, "two lines");
_Static_assert(GNB_FRAME_HEADER <= 72, "header");

/** Makes the frame of a peer anew. @return NULL: there is none, packets are upf_out's. */
const struct gnb_frame *gnb_frame_make(struct gnb_frame *f, const struct upf_net *net,
				       const struct upf_peer *peer, uint32_t index,
				       uint64_t now_ns);

/** @param frames of this worker. @return NULL: packets of the peer are upf_out's. */
static inline const struct gnb_frame *
gnb_frame_get(struct gnb_frame *frames, const struct upf_net *net, const struct upf_peers *peers,
	      uint32_t index, uint64_t now_ns)
{
	struct gnb_frame *f = &frames[index];

	return likely(f->until_ns > now_ns)
		       ? f
		       : gnb_frame_make(f, net, &peers->peer[index], index, now_ns);
}

/** Whether a packet of one segment, or the first of several, has room for headers in place. */
static inline bool
gnb_frame_fits(const struct gnb_frame *f, struct rte_mbuf *m, unsigned gtpu)
{
	return ap_seg_prependable(m) && m->data_off >= GNB_FRAME_ROOM &&
	       m->pkt_len + gtpu + (f->bytes - f->ip) <= f->mtu;
}

/**
 * Writes the frame before GTP-U.
 * @param gtpu where GTP-U begins
 * @param udp_bytes length of the UDP datagram
 * @return where the frame begins
 */
static inline uint8_t *
gnb_frame_put(const struct gnb_frame *f, uint8_t *gtpu, uint16_t udp_bytes, uint16_t id)
{
	uint8_t *p = gtpu - f->bytes, *ip = p + f->ip;
	const uint16_t total = (uint16_t)(udp_bytes + IP4_HDR_BYTES);
	uint32_t sum;

	/* 42 octets or more, in pieces that overlap: none is written behind the header. */
	memcpy(p, f->header, 32);
	if (unlikely(f->v6)) {
		memcpy(p + 32, f->header + 32, 16);
		memcpy(gtpu - 32, f->header + f->bytes - 32, 32);
		be16_put(ip + 4, udp_bytes);
	} else {
		memcpy(gtpu - 32, f->header + f->bytes - 32, 32);
		sum = f->sum + total + id;
		sum = (sum & 0xFFFF) + (sum >> 16);
		be32_put(ip + 2, (uint32_t)total << 16 | id);
		be16_put(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
	}
	be16_put(gtpu - 4, udp_bytes);
	return p;
}

/** The packet now begins at `p`. */
static inline void
gnb_frame_done(struct rte_mbuf *m, uint8_t *p)
{
	const uint16_t more = (uint16_t)(rte_pktmbuf_mtod(m, uint8_t *) - p);

	m->data_off = (uint16_t)(m->data_off - more);
	m->data_len = (uint16_t)(m->data_len + more);
	m->pkt_len += more;
}

/**
 * The general way: outer headers without link header, for upf_out. Room for them and `before`
 * octets more is made first.
 * @return where `before` octets, already part of the packet, are to be written; NULL without mbuf
 */
static inline uint8_t *
gnb_room(struct rte_mbuf **m, unsigned before, struct rte_mempool *hdr)
{
	uint8_t *p = ap_pkt_prepend(m, GNB_FRAME_ROOM, hdr);
	const uint16_t back = (uint16_t)(GNB_FRAME_ROOM - before);

	if (p == NULL)
		return NULL;
	(*m)->data_off = (uint16_t)((*m)->data_off + back);
	(*m)->data_len = (uint16_t)((*m)->data_len - back);
	(*m)->pkt_len -= back;
	return p + back;
}

#endif
