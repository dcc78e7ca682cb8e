/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "codec/be.h"
#include "codec/ip.h"
#include "modules/upf/upf_packet.h"

#define TTL 64 /* RFC 1700 */

struct rte_mbuf *
upf_packet_fresh(struct rte_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *to = m;

	if (!ap_seg_writable(m) || rte_pktmbuf_tailroom(m) + m->data_len < 256) {
		to = rte_pktmbuf_alloc(pool);
		if (to == NULL)
			return NULL;
		rte_pktmbuf_free(m);
	} else if (m->next) {
		rte_pktmbuf_free(m->next);
		m->next = NULL;
	}
	rte_pktmbuf_reset(to);
	*ap_meta(to) = (struct ap_meta){0};
	return to;
}

unsigned
upf_packet_ip(uint8_t *p, bool v6, const uint8_t *src, const uint8_t *dst, uint8_t proto,
	      uint8_t ttl, unsigned payload)
{
	struct ip_hdr h = {.version = v6 ? 6 : 4, .proto = proto, .ttl = ttl};
	unsigned hdr = v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES;

	h.bytes = hdr + payload;
	memcpy(h.src, src, v6 ? 16 : 4);
	memcpy(h.dst, dst, v6 ? 16 : 4);
	ip_encode(p, hdr, &h);
	return hdr;
}

bool
upf_packet_udp(struct rte_mbuf *m, const struct upf_ends *ends)
{
	const unsigned hdr = ends->v6 ? IP6_HDR_BYTES : IP4_HDR_BYTES, bytes = m->pkt_len + 8;
	struct ip_hdr h = {.version = ends->v6 ? 6 : 4, .proto = IP_PROTO_UDP};
	uint8_t *ip = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)(hdr + UDP_HDR_BYTES)), *udp;
	uint16_t sum;

	if (ip == NULL)
		return false;
	udp = ip + hdr;
	be16_put(udp, ends->src_port);
	be16_put(udp + 2, ends->dst_port);
	be16_put(udp + 4, (uint16_t)bytes);
	be16_put(udp + 6, 0);
	memcpy(h.src, ends->src, sizeof(h.src));
	memcpy(h.dst, ends->dst, sizeof(h.dst));
	sum = udp_checksum(&h, udp, bytes);
	memcpy(udp + 6, &sum, sizeof(sum));
	upf_packet_ip(ip, ends->v6, ends->src, ends->dst, IP_PROTO_UDP, TTL, bytes);
	return true;
}

uint16_t
upf_icmp_checksum(const uint8_t *ip, const uint8_t *icmp, unsigned bytes)
{
	struct ip_hdr h = {.version = 6, .proto = 58};
	uint64_t sum = 0;

	if (ip[0] >> 4 == 6) {
		memcpy(h.src, ip + 8, 16);
		memcpy(h.dst, ip + 24, 16);
		sum = ip_pseudo_sum(&h, bytes);
	}
	return (uint16_t)~ip_sum_fold(ip_sum(sum, icmp, bytes));
}
