/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/pdcp/pdcp_status.h"

#include <string.h>

#include <rte_ring.h>

#include "codec/pdcp.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_control.h"

#define BITS_MAX ((PDCP_CONTROL_MAX - PDCP_STATUS_HDR_LEN) * 8U)

/** Follows §5.4.1. */
size_t
pdcp_status_compile(const struct pdcp_rx *e, uint8_t *p)
{
	uint8_t *bitmap = p + PDCP_STATUS_HDR_LEN;
	struct pdcp_status s = {.bitmap = bitmap};
	uint64_t bits;

	/* setting the FMC field to RX_DELIV */
	s.fmc = (uint32_t)e->RX_DELIV;
	/* if RX_DELIV < RX_NEXT: allocating a Bitmap field of length in bits equal to the number of
	 * COUNTs from and not including the first missing PDCP SDU up to and including the last
	 * out-of-sequence PDCP SDUs, rounded up to the next multiple of 8, or up to and including a
	 * PDCP SDU for which the resulting PDCP Control PDU size is equal to 9000 bytes, whichever
	 * comes first */
	bits = e->RX_DELIV < e->RX_NEXT ? e->RX_NEXT - e->RX_DELIV - 1 : 0;
	bits = RTE_MIN(bits, RTE_MIN((uint64_t)e->slot_mask, (uint64_t)BITS_MAX));
	s.bitmap_len = (bits + 7) / 8;
	/* setting in the bitmap field as '0' for all PDCP SDUs that have not been received, as '1'
	 * for all PDCP SDUs that have been received */
	memset(bitmap, 0, s.bitmap_len);
	for (uint64_t i = 0; i < bits; i++)
		if (e->slots[(e->RX_DELIV + 1 + i) & e->slot_mask] != NULL)
			bitmap[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return (size_t)pdcp_status_header(p, &s);
}

struct rte_mbuf *
pdcp_status_pdu(const struct pdcp_rx *e, struct rte_mempool *pool)
{
	uint8_t buf[PDCP_CONTROL_MAX];
	size_t len = pdcp_status_compile(e, buf), at = 0;
	struct rte_mbuf *first = NULL;

	while (at < len) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint16_t part;

		if (m == NULL) {
			rte_pktmbuf_free(first);
			return NULL;
		}
		part = (uint16_t)RTE_MIN(len - at, (size_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_append(m, part), buf + at, part);
		at += part;
		if (first == NULL)
			first = m;
		else
			rte_pktmbuf_chain(first, m);
	}
	return first;
}

struct confirm {
	struct pdcp_status s;
	enum pdcp_format format;
};

/**
 * §5.4.2: "for each PDCP SDU, if any, with the bit in the bitmap set to '1', or with the associated
 * COUNT value less than the value of FMC field: the successful delivery of the corresponding PDCP
 * SDU is confirmed".
 */
static bool
confirmed(void *arg, const struct rte_mbuf *m, uint16_t hdr)
{
	const struct confirm *c = arg;
	const unsigned bits = pdcp_sn_bits(c->format);
	uint8_t buf[PDCP_HDR_MAX];
	const uint8_t *p = rte_pktmbuf_read(m, hdr, pdcp_hdr_len(c->format), buf);
	int32_t ahead;

	if (p == NULL || !pdcp_is_data(c->format, p))
		return false;
	/* What waits lies within half the SN space of FMC: the SN says where. */
	ahead = (int32_t)((pdcp_hdr_sn(c->format, p) - c->s.fmc) << (32 - bits)) >> (32 - bits);
	return ahead < 0 || pdcp_status_received(&c->s, c->s.fmc + (uint32_t)ahead);
}

uint64_t
pdcp_status_apply(struct l2 *l2)
{
	uint8_t buf[PDCP_CONTROL_MAX];
	struct rte_mbuf *m;
	uint64_t discarded = 0;
	void *obj;

	while (rte_ring_sc_dequeue(l2->reports, &obj) == 0) {
		uint32_t bearer = ap_meta(m = obj)->bearer;
		struct confirm c = {.format = l2->pdcp_tx[bearer].format};

		if (pdcp_status_decode(rte_pktmbuf_read(m, 0, m->pkt_len, buf), m->pkt_len, &c.s) >
		    0)
			discarded += rlc_tx_discard_if(&l2->rlc_tx[bearer], confirmed, &c);
		rte_pktmbuf_free(m);
	}
	return discarded;
}
