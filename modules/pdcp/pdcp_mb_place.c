/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/free.h"
#include "modules/pdcp/pdcp_mb.h"

#define CLEAR_MAX 4 /* B, PDCP and SDAP header */
#define AHEAD 4     /* mbufs fetched before they are written to */

static void
fresh_put(struct pdcp_mb *e)
{
	if (e->nb_fresh > 0)
		rte_mempool_put_bulk(e->fresh_pool, (void **)e->fresh, e->nb_fresh);
	e->nb_fresh = 0;
}

static bool
fresh_get(struct pdcp_mb *e, struct rte_mempool *pool, uint16_t n)
{
	fresh_put(e);
	e->fresh_pool = pool;
	if (rte_mempool_get_bulk(pool, (void **)e->fresh, n) != 0) {
		n = 1;
		if (rte_mempool_get_bulk(pool, (void **)e->fresh, n) != 0)
			return false;
	}
	for (uint16_t i = n; i-- > 0 && i + AHEAD >= n;)
		rte_prefetch0_write(e->fresh[i]);
	e->nb_fresh = n;
	return true;
}

/** @return an mbuf as the pool has it: refcnt, next and nb_segs are set. */
static inline struct rte_mbuf *
fresh_take(struct pdcp_mb *e, struct rte_mempool *pool, uint16_t n)
{
	if (unlikely(e->nb_fresh == 0 || e->fresh_pool != pool) && !fresh_get(e, pool, n))
		return NULL;
	if (likely(e->nb_fresh > AHEAD))
		rte_prefetch0_write(e->fresh[e->nb_fresh - 1 - AHEAD]);
	return e->fresh[--e->nb_fresh];
}

/** The new mbuf takes the header; what is to be deciphered is read from the old one. */
static inline bool
decipher_elsewhere(struct pdcp_mb *e, struct pdcp_secured *p, struct pdcp_place *at, uint16_t left)
{
	const struct pdcp_security_key *k = pdcp_key_of(p);
	struct rte_mbuf *from = p->m, *to;
	const uint8_t *pdu = rte_pktmbuf_mtod(from, const uint8_t *);

	if (unlikely(from->pkt_len > k->room)) {
		p->failed = PDCP_SECURITY_TOO_LONG;
		return false;
	}
	to = fresh_take(e, k->pool, left);
	if (unlikely(to == NULL)) {
		p->failed = PDCP_SECURITY_NO_MBUF;
		return false;
	}
	to->data_off = RTE_PKTMBUF_HEADROOM;
	to->port = from->port;
	to->ol_flags = 0;
	to->packet_type = 0;
	to->pkt_len = from->pkt_len;
	to->data_len = from->data_len;
	*ap_meta(to) = *ap_meta(from);
	/* The second cache line only where there is something in it. */
	if (ap_meta(from)->flags & AP_M_TIMED)
		*ap_ext(to) = *ap_ext(from);
	at->pdu = rte_pktmbuf_mtod(to, uint8_t *);
	/* Of one length the copy is an instruction; ciphering overwrites what is too much. */
	if (likely(from->data_len >= CLEAR_MAX && p->sec->clear_len <= CLEAR_MAX))
		memcpy(at->pdu, pdu, CLEAR_MAX);
	else
		memcpy(at->pdu, pdu, p->sec->clear_len);
	at->src = pdu + p->sec->clear_len;
	e->old[e->nb_old++] = from;
	p->m = to;
	return true;
}

bool
pdcp_place_elsewhere(struct pdcp_mb *e, struct pdcp_secured *p, struct pdcp_place *at, bool verify,
		     uint16_t left)
{
	if (verify && p->m->nb_segs == 1 && pdcp_key_of(p)->nea != PDCP_NEA0)
		return decipher_elsewhere(e, p, at, left);
	if (!pdcp_move(p))
		return false;
	at->pdu = rte_pktmbuf_mtod(p->m, uint8_t *);
	at->src = at->pdu + p->sec->clear_len;
	return true;
}

void
pdcp_place_done(struct pdcp_mb *e)
{
	ap_free_bulk(e->old, e->nb_old);
	e->nb_old = 0;
	fresh_put(e);
}
