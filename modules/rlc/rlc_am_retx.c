/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity: retransmissions and their segments, TS 38.322 §5.3.2. */
#include "core/pkt.h"
#include "modules/rlc/rlc_mbuf.h"
#include "modules/rlc/rlc_tx.h"

/* Indirect mbufs over bytes of an SDU. What flew by itself has other lengths than the SDU. */
static struct rte_mbuf *
view(struct rlc_tx *e, const struct rlc_am_sdu *s, uint32_t so, uint32_t n)
{
	struct rte_mbuf *m;

	if (s->flags & RLC_AM_CHAIN)
		return rlc_mbuf_slice(s->m, so, n, e->ind);
	m = rte_pktmbuf_alloc(e->ind);
	if (m == NULL)
		return NULL;
	rte_pktmbuf_attach(m, s->m);
	m->data_off = (uint16_t)(s->data_off + so);
	m->data_len = (uint16_t)n;
	m->pkt_len = n;
	return m;
}

struct rte_mbuf *
rlc_am_tx_segment(struct rlc_tx *e, uint32_t sn, uint32_t so, uint32_t n)
{
	const struct rlc_am_sdu *s = rlc_am_sdu_of(e->am, sn);
	const bool last = so + n == s->bytes;
	const struct rlc_amd h = {
		.si = so == 0 ? (last ? RLC_SI_COMPLETE : RLC_SI_FIRST)
			      : (last ? RLC_SI_LAST : RLC_SI_MIDDLE),
		.sn = sn,
		.so = (uint16_t)so,
	};
	const uint16_t len = (uint16_t)rlc_amd_len(h.si, e->bits);
	struct rte_mbuf *m = view(e, s, so, n);
	uint8_t *p;

	if (m == NULL)
		return NULL;
	*ap_meta(m) = (struct ap_meta){.bearer = e->bearer, .lcid = e->lcid};
	p = ap_pkt_prepend(&m, len, e->hdr);
	if (p == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	rlc_amd_encode(p, len, e->bits, &h);
	return m;
}

/* --- what waits ------------------------------------------------------------------------------- */

static void
ranges_clear(struct rlc_am_tx *am, uint32_t sn)
{
	struct rlc_am_range *r = &am->ranges[sn & (am->window - 1)];

	am->pending_bytes -= (uint32_t)(r->end - r->so);
	for (uint32_t i = r->more, next; i; i = next) {
		next = am->more[i].more;
		am->pending_bytes -= (uint32_t)(am->more[i].end - am->more[i].so);
		am->more[i].more = am->more_free;
		am->more_free = i;
	}
	*r = (struct rlc_am_range){0};
}

/* A further range of an SDU, behind those it has; without a descriptor the last one grows. */
static void
range_add(struct rlc_am_tx *am, uint32_t sn, uint32_t so, uint32_t end)
{
	struct rlc_am_range *r = &am->ranges[sn & (am->window - 1)];
	uint32_t i = am->more_free;

	while (r->more)
		r = &am->more[r->more];
	if (i == 0 || so <= r->end) {
		am->pending_bytes -= (uint32_t)(r->end - r->so);
		r->so = (uint16_t)RTE_MIN(r->so, so);
		r->end = (uint16_t)RTE_MAX(r->end, end);
		am->pending_bytes += (uint32_t)(r->end - r->so);
		return;
	}
	am->more_free = am->more[i].more;
	am->more[i] = (struct rlc_am_range){(uint16_t)so, (uint16_t)end, 0};
	r->more = i;
	am->pending_bytes += end - so;
}

static void
pending_clear(struct rlc_am_tx *am, uint32_t sn)
{
	ranges_clear(am, sn);
	rlc_bits_clear(am->pending, am->window, sn);
	am->nb_pending--;
}

void
rlc_am_tx_unmark(struct rlc_am_tx *am, uint32_t sn)
{
	if (rlc_bits_get(am->pending, am->window, sn))
		pending_clear(am, sn);
	rlc_bits_clear(am->nacked, am->window, sn);
	rlc_am_sdu_of(am, sn)->flags &= (uint8_t)~RLC_AM_MARKED;
}

/* §5.3.2: RETX_COUNT of an SDU that is not pending already, once a STATUS PDU. */
static void
count_retx(struct rlc_am_tx *am, struct rlc_am_sdu *s)
{
	/* "if … for the first time: set the RETX_COUNT to zero; else …: increment" */
	s->RETX_COUNT = s->RETX_COUNT == RLC_AM_NO_RETX ? 0 : (uint8_t)(s->RETX_COUNT + 1);
	if (s->RETX_COUNT == RLC_AM_NO_RETX)
		s->RETX_COUNT--;
	/* "if RETX_COUNT = maxRetxThreshold: indicate to upper layers" */
	if (s->RETX_COUNT != am->cfg.maxRetxThreshold)
		return;
	am->max_retx = true;
	am->counters.max_retx++;
	if (am->cfg.upper.max_retx)
		am->cfg.upper.max_retx(am->cfg.upper.arg);
}

void
rlc_am_tx_consider(struct rlc_tx *e, uint32_t sn, uint32_t so, uint32_t end)
{
	struct rlc_am_tx *am = e->am;
	struct rlc_am_sdu *s = rlc_am_sdu_of(am, sn);
	const bool waits = rlc_bits_get(am->pending, am->window, sn);

	if (s->report == am->report && waits) {
		range_add(am, sn, so, end);
		return;
	}
	if (s->report != am->report && !waits)
		count_retx(am, s);
	s->report = am->report;
	s->flags |= RLC_AM_MARKED;
	if (waits)
		ranges_clear(am, sn); /* a newer STATUS PDU knows better */
	else
		am->nb_pending++;
	am->ranges[sn & (am->window - 1)] = (struct rlc_am_range){(uint16_t)so, (uint16_t)end, 0};
	am->pending_bytes += end - so;
	rlc_bits_set(am->pending, am->window, sn);
	if (am->nb_pending == 1 || ((sn - am->TX_Next_Ack) & am->sn_mask) <
					   ((am->retx_from - am->TX_Next_Ack) & am->sn_mask))
		am->retx_from = sn;
}

/* --- sending it again ------------------------------------------------------------------------- */

/* `n` bytes from the front of the first range of `sn` were sent. */
static void
range_sent(struct rlc_am_tx *am, uint32_t sn, uint32_t n)
{
	struct rlc_am_range *r = &am->ranges[sn & (am->window - 1)];
	uint32_t i = r->more;

	am->counters.retx++;
	am->counters.retx_bytes += n;
	r->so = (uint16_t)(r->so + n);
	am->pending_bytes -= n;
	if (r->so < r->end)
		return;
	if (i == 0) {
		pending_clear(am, sn);
		return;
	}
	*r = am->more[i];
	am->more[i].more = am->more_free;
	am->more_free = i;
}

/* The SDU in its own buffer, which is back from its last flight. */
static struct rte_mbuf *
again(struct rlc_tx *e, struct rlc_am_sdu *s, uint32_t sn)
{
	struct rlc_am_tx *am = e->am;
	struct rte_mbuf *m = s->m;

	m->data_off = (uint16_t)(s->data_off - am->header);
	m->data_len = (uint16_t)(s->bytes + am->header);
	m->pkt_len = m->data_len;
	m->nb_segs = 1;
	m->next = NULL;
	m->ol_flags = 0;
	rte_mbuf_refcnt_set(m, 2);
	*ap_meta(m) =
		(struct ap_meta){.bearer = e->bearer, .lcid = e->lcid, .flags = AP_M_RETAINED};
	rlc_am_header_put(rte_pktmbuf_mtod(m, uint8_t *), am->bits, sn);
	return m;
}

struct rte_mbuf *
rlc_am_tx_retransmit(struct rlc_tx *e, uint32_t fitting, uint64_t now_ns,
		     struct rlc_tx_pull_stats *stats)
{
	struct rlc_am_tx *am = e->am;
	const uint32_t span = (am->TX_Next - am->retx_from) & am->sn_mask;
	const uint32_t sn = (am->retx_from +
			     rlc_bits_find(am->pending, am->window, am->retx_from, span, true)) &
			    am->sn_mask;
	struct rlc_am_sdu *s = rlc_am_sdu_of(am, sn);
	const struct rlc_am_range *r = &am->ranges[sn & (am->window - 1)];
	const uint32_t header = am->header + (r->so ? 2 : 0), so = r->so;
	struct rte_mbuf *pdu;
	uint32_t n;

	am->retx_from = sn;
	if (fitting <= header)
		return NULL;
	n = RTE_MIN((uint32_t)(r->end - r->so), fitting - header);
	if (n == s->bytes && !(s->flags & RLC_AM_CHAIN) && rte_mbuf_refcnt_read(s->m) == 1)
		pdu = again(e, s, sn);
	else
		pdu = rlc_am_tx_segment(e, sn, so, n);
	if (pdu == NULL) {
		stats->no_mbuf++;
		return NULL;
	}
	stats->segments += n < s->bytes;
	range_sent(am, sn, n);
	if (rlc_am_tx_must_poll(e, am->nb_pending == 0 && ap_queue_peek(&e->queue, 0) == NULL))
		rlc_am_tx_poll(am, rte_pktmbuf_mtod(pdu, uint8_t *), now_ns);
	return pdu;
}
