/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/pdcp/pdcp_mb.h"

/** The new mbuf takes the header; what is to be deciphered is read from the old one. */
static bool
decipher_elsewhere(struct pdcp_mb *e, struct pdcp_secured *p, struct pdcp_place *at)
{
	const struct pdcp_security_key *k = pdcp_key_of(p);
	struct rte_mbuf *from = p->m, *to;
	const uint8_t *pdu = rte_pktmbuf_mtod(from, const uint8_t *);

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
	to->data_len = from->data_len;
	to->pkt_len = from->pkt_len;
	at->pdu = rte_pktmbuf_mtod(to, uint8_t *);
	memcpy(at->pdu, pdu, p->sec->clear_len);
	at->src = pdu + p->sec->clear_len;
	e->old[e->nb_old++] = from;
	p->m = to;
	return true;
}

bool
pdcp_place_elsewhere(struct pdcp_mb *e, struct pdcp_secured *p, struct pdcp_place *at, bool verify)
{
	if (verify && p->m->nb_segs == 1 && pdcp_key_of(p)->nea != PDCP_NEA0)
		return decipher_elsewhere(e, p, at);
	if (!pdcp_move(p))
		return false;
	at->pdu = rte_pktmbuf_mtod(p->m, uint8_t *);
	at->src = at->pdu + p->sec->clear_len;
	return true;
}
