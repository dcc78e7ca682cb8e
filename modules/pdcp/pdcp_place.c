/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "core/pkt.h"
#include "modules/pdcp/pdcp_engine.h"

bool
pdcp_place_elsewhere(struct pdcp_engine *e, struct pdcp_secured *p, struct pdcp_place *at,
		     bool verify)
{
	const struct pdcp_security_key *k = p->sec->keys;
	struct rte_mbuf *from = p->m, *to;
	bool keep = verify && from->nb_segs == 1 && k->nea != PDCP_NEA0;
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
	at->pdu = rte_pktmbuf_mtod(to, uint8_t *);
	at->src = at->pdu + p->sec->clear_len;
	to->data_len = (uint16_t)from->pkt_len;
	to->pkt_len = from->pkt_len;
	if (keep) {
		const uint8_t *pdu = rte_pktmbuf_mtod(from, const uint8_t *);

		memcpy(at->pdu, pdu, p->sec->clear_len);
		at->src = pdu + p->sec->clear_len;
		e->old[e->nb_old++] = from;
	} else {
		for (const struct rte_mbuf *s = from; s != NULL; s = s->next) {
			memcpy(at->pdu + copied, rte_pktmbuf_mtod(s, const void *), s->data_len);
			copied += s->data_len;
		}
		rte_pktmbuf_free(from);
	}
	p->m = to;
	return true;
}
