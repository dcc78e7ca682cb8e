/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_mark.h"

#include <string.h>

#include "codec/be.h"
#include "core/pkt.h"

#define IP4_BYTES 20 /* without options, which may stay behind */
#define IP6_BYTES 40

/* RFC 1624: HC' = ~(~HC + ~m + m') */
static void
mark4(uint8_t *p, uint8_t tos, uint8_t mask)
{
	const uint16_t before = be16_get(p);
	uint32_t sum;

	p[1] = (uint8_t)((p[1] & ~mask) | (tos & mask));
	sum = (uint16_t)~be16_get(p + 10) + (uint32_t)(uint16_t)~before + be16_get(p);
	sum = (sum & 0xFFFF) + (sum >> 16);
	be16_put(p + 10, (uint16_t) ~(sum + (sum >> 16)));
}

static void
mark6(uint8_t *p, uint8_t tos, uint8_t mask)
{
	uint8_t old = (uint8_t)(p[0] << 4 | p[1] >> 4), new;

	new = (uint8_t)((old & ~mask) | (tos & mask));
	p[0] = (uint8_t)((p[0] & 0xF0) | new >> 4);
	p[1] = (uint8_t)((p[1] & 0x0F) | new << 4);
}

/* The header, of which upf_match has seen 20 or 40 octets, where it may be written. */
static uint8_t *
writable(struct rte_mbuf **m, uint16_t bytes, struct rte_mempool *hdr)
{
	const uint8_t *p = rte_pktmbuf_mtod(*m, const uint8_t *);
	uint8_t copy[IP6_BYTES], *q;

	if (ap_seg_writable(*m))
		return rte_pktmbuf_mtod(*m, uint8_t *);
	memcpy(copy, p, bytes);
	(*m)->data_off += bytes;
	(*m)->data_len -= bytes;
	(*m)->pkt_len -= bytes;
	q = ap_pkt_prepend_seg(m, bytes, hdr);
	if (q == NULL) {
		(*m)->data_off -= bytes;
		(*m)->data_len += bytes;
		(*m)->pkt_len += bytes;
		return NULL;
	}
	(*m)->packet_type = (*m)->next->packet_type;
	(*m)->vlan_tci = (*m)->next->vlan_tci;
	return memcpy(q, copy, bytes);
}

bool
upf_mark(struct rte_mbuf **m, uint8_t tos, uint8_t mask, struct rte_mempool *hdr)
{
	const bool v4 = *rte_pktmbuf_mtod(*m, const uint8_t *) >> 4 == 4;
	uint8_t *p = writable(m, v4 ? IP4_BYTES : IP6_BYTES, hdr);

	if (p == NULL)
		return false;
	if (v4)
		mark4(p, tos, mask);
	else
		mark6(p, tos, mask);
	return true;
}
