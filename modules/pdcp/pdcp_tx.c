/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/pdcp/pdcp_tx.h"

#include <errno.h>
#include <string.h>

#include <rte_prefetch.h>

#include "core/pkt.h"

#define AHEAD 4 /* packets whose headroom is fetched before it is written */

int
pdcp_tx_init(struct pdcp_tx *e, const struct pdcp_tx_cfg *cfg)
{
	if (cfg->pdcp_SN_Size != 12 && cfg->pdcp_SN_Size != 18)
		return -EINVAL;
	if (cfg->srb && (cfg->pdcp_SN_Size != 12 || cfg->sdap_hdr_len != 0))
		return -EINVAL;
	if (cfg->rb_identity < 1 || cfg->rb_identity > 32 || cfg->sdap_hdr_len > 1 ||
	    cfg->hdr == NULL)
		return -EINVAL;
	*e = (struct pdcp_tx){
		.format = cfg->srb                  ? PDCP_SRB
			  : cfg->pdcp_SN_Size == 12 ? PDCP_DRB_12
						    : PDCP_DRB_18,
		.configured = true,
		.count_notify = cfg->count_notify,
		.limit = pdcp_count_limit(cfg->count_notify),
		.hdr = cfg->hdr,
		.sec =
			{
				.crypto = cfg->crypto,
				.keys = cfg->keys,
				.bearer = cfg->rb_identity - 1,
				.direction = cfg->direction,
				/* §6.3.4: on SRBs the MAC-I is always there, zero without
				   integrity. */
				.mac_i_len =
					cfg->srb || cfg->integrityProtection ? PDCP_MAC_I_LEN : 0,
			},
	};
	e->sec.clear_len = (uint8_t)(pdcp_hdr_len(e->format) + cfg->sdap_hdr_len);
	return 0;
}

void
pdcp_tx_fini(struct pdcp_tx *e)
{
	e->configured = false;
}

/** NIA0's MAC-I is zero (TS 33.501 §D.1), and the room for any other. */
static bool
append_mac_i(struct pdcp_tx *e, struct rte_mbuf *m)
{
	uint8_t *p = ap_pkt_append(m, PDCP_MAC_I_LEN, e->hdr);

	if (p == NULL)
		return false;
	memset(p, 0, PDCP_MAC_I_LEN);
	return true;
}

/** §5.2.1 for a vector; `format` is a constant wherever this is inlined. */
static __rte_always_inline uint16_t
associate_counts(struct pdcp_tx *e, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops,
		 enum pdcp_format format)
{
	const uint16_t hdr_len = (uint16_t)pdcp_hdr_len(format);
	const bool mac_i = e->sec.mac_i_len != 0;
	uint32_t count = (uint32_t)e->TX_NEXT;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		uint8_t *p;

		if (i + AHEAD < nb)
			rte_prefetch0_write(
				rte_pktmbuf_mtod_offset(pkts[i + AHEAD], void *, -(int)hdr_len));
		if ((mac_i && !append_mac_i(e, m)) ||
		    (p = ap_pkt_prepend(&m, hdr_len, e->hdr)) == NULL) {
			drops[PDCP_TX_NO_MBUF]++;
			rte_pktmbuf_free(m);
			continue;
		}
		/* set the PDCP SN of the PDCP Data PDU to TX_NEXT modulo 2^[pdcp-SN-Size];
		 * increment TX_NEXT by one */
		pdcp_hdr_put(format, p, count++);
		pkts[kept++] = m;
	}
	e->TX_NEXT += kept;
	e->submitted += kept;
	return kept;
}

/** COUNT comes to `limit`. @return how many of `nb` SDUs still get one. */
static __rte_noinline uint16_t
near_the_end(struct pdcp_tx *e, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	uint16_t left;

	e->limit = PDCP_COUNT_END;
	if (nb <= PDCP_COUNT_END - e->TX_NEXT)
		return nb;
	left = (uint16_t)(PDCP_COUNT_END - e->TX_NEXT);
	drops[PDCP_TX_COUNT_END] += nb - left;
	rte_pktmbuf_free_bulk(pkts + left, nb - left);
	return left;
}

uint16_t
pdcp_tx_pre_process(struct pdcp_tx *e, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	if (unlikely((int64_t)(e->limit - e->TX_NEXT) < nb))
		nb = near_the_end(e, pkts, nb, drops);
	switch (e->format) {
	case PDCP_DRB_18:
		return associate_counts(e, pkts, nb, drops, PDCP_DRB_18);
	case PDCP_DRB_12:
		return associate_counts(e, pkts, nb, drops, PDCP_DRB_12);
	case PDCP_SRB:
	default:
		return associate_counts(e, pkts, nb, drops, PDCP_SRB);
	}
}

uint16_t
pdcp_tx_protect(struct pdcp_batch *b, struct rte_mbuf **pkts, uint64_t *drops)
{
	uint16_t kept = 0;

	if (b->nb == 0)
		return 0;
	b->crypto->protect(b->pdus, b->nb);
	for (uint16_t i = 0; i < b->nb; i++) {
		if (!b->pdus[i].failed) {
			pkts[kept++] = b->pdus[i].m;
			continue;
		}
		drops[PDCP_TX_CRYPTO]++;
		((struct pdcp_tx *)b->pdus[i].entity)->submitted--;
		rte_pktmbuf_free(b->pdus[i].m);
	}
	b->nb = 0;
	return kept;
}
