/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ENCAP_H
#define AIRPATH_UPF_ENCAP_H

/**
 * Outer headers: IP, UDP and GTP-U (TS 29.281 §4.4, §5.1) with a PDU session container
 * (TS 38.415 §5.5.2), from a peer's template.
 *
 * The DSCP of an outer header is the peer's marking or, where there is none, the inner packet's
 * (TS 29.244 §8.2.12); its ECN field is 0, which RFC 6040 §4.1 calls compatibility mode: nobody has
 * to carry congestion marks over at the far end. UDP has no checksum: over IPv4 that is usual,
 * over IPv6 RFC 6935 allows it for tunnels, and payloads have checksums of their own. The UDP
 * source port is the template's.
 *
 * Worker.
 */

#include <string.h>

#include "codec/gtpu.h"
#include "core/pkt.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_peer.h"

#define UPF_ENCAP_INNER_MAX (UINT16_MAX - UPF_PEER_HEADER_MAX)
#define UPF_DSCP_MASK 0xFC

/** What stands in the GTP-U header. */
struct upf_tag {
	uint32_t teid;
	bool psc; /**< with a PDU session container of what follows */
	bool down, rqi;
	uint8_t qfi;
};

/** @return ToS or Traffic Class of an IP packet, 2 octets of which are there. */
static inline uint8_t
upf_tos(const uint8_t *ip)
{
	return ip[0] >> 4 == 4 ? ip[1] : (uint8_t)(ip[0] << 4 | ip[1] >> 4);
}

/** Fills in an IPv4 template: lengths, identification, the rest of the ToS, checksum. */
static inline void
upf_encap_ip4(uint8_t *p, uint16_t length, uint16_t id, uint8_t tos)
{
	uint32_t sum = (uint16_t)~be16_get(p + 10) + (uint32_t)length + id + tos;

	p[1] |= tos;
	be16_put(p + 2, length);
	be16_put(p + 4, id);
	sum = (sum & 0xFFFF) + (sum >> 16);
	be16_put(p + 10, (uint16_t) ~(sum + (sum >> 16)));
}

/**
 * Puts the peer's header before a packet of at most UPF_ENCAP_INNER_MAX octets.
 * @param id IPv4 identification
 * @param dscp the inner packet's ToS
 * @return its first octet, `*m` perhaps another segment; NULL when `hdr` is exhausted
 */
static inline uint8_t *
upf_encap(struct rte_mbuf **m, const struct upf_peer *peer, const struct upf_tag *tag, uint8_t tos,
	  uint16_t id, struct rte_mempool *hdr)
{
	const uint16_t inner = (uint16_t)(*m)->pkt_len;
	const unsigned udp = peer->udp, gtpu = !peer->gtpu ? 0
					       : tag->psc  ? GTPU_HDR_PSC_BYTES
							   : GTPU_HDR_BYTES;
	const unsigned all = udp + 8 + gtpu;
	uint8_t *p = ap_pkt_prepend(m, (uint16_t)all, hdr);

	if (unlikely(p == NULL))
		return NULL;
	tos &= (uint8_t)(~peer->tos_mask & UPF_DSCP_MASK);
	if (likely(udp == 20)) {
		memcpy(p, peer->header, 28);
		upf_encap_ip4(p, (uint16_t)(all + inner), id, tos);
	} else {
		memcpy(p, peer->header, 48);
		p[0] |= tos >> 4;
		p[1] |= (uint8_t)(tos << 4);
		be16_put(p + 4, (uint16_t)(8 + gtpu + inner));
	}
	p += udp;
	be16_put(p + 4, (uint16_t)(8 + gtpu + inner));
	if (gtpu == GTPU_HDR_PSC_BYTES)
		gtpu_gpdu_psc_put(p + 8, tag->teid, inner, tag->down ? PSC_DL : PSC_UL, tag->qfi,
				  tag->rqi && tag->down);
	else if (gtpu != 0)
		gtpu_gpdu_put(p + 8, tag->teid, inner);
	return p - udp;
}

#endif
