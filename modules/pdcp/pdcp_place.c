/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/pdcp/pdcp_engine.h"

bool
pdcp_move(struct pdcp_secured *p)
{
	const struct pdcp_security_key *k = pdcp_key_of(p);
	struct rte_mbuf *from = p->m, *to;
	uint32_t copied = 0;

	if (from->pkt_len > k->room) {
		p->failed = PDCP_SECURITY_TOO_LONG;
		return false;
	}
	to = rte_pktmbuf_alloc(k->pool);
	if (to == NULL) {
		p->failed = PDCP_SECURITY_NO_MBUF;
		return false;
	}
	ap_pkt_take_fields(to, from);
	for (const struct rte_mbuf *s = from; s != NULL; s = s->next) {
		memcpy(rte_pktmbuf_mtod_offset(to, uint8_t *, copied),
		       rte_pktmbuf_mtod(s, const void *), s->data_len);
		copied += s->data_len;
	}
	to->data_len = (uint16_t)copied;
	to->pkt_len = copied;
	rte_pktmbuf_free(from);
	p->m = to;
	return true;
}
