/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity: STATUS PDUs that came and that go out, TS 38.322 §5.3. */
#include <rte_prefetch.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_tx.h"

#define AHEAD 8 /* SDUs: whoever sent them freed his reference on another lcore */
#define BULK 64

/** mbufs of one pool on their way back. */
struct bulk {
	struct rte_mempool *pool;
	unsigned n;
	void *m[BULK];
};

static void
bulk_flush(struct bulk *b)
{
	if (b->n)
		rte_mempool_put_bulk(b->pool, b->m, b->n);
	b->n = 0;
}

static inline void
bulk_free(struct bulk *b, struct rte_mbuf *m)
{
	m = rte_pktmbuf_prefree_seg(m);
	if (m == NULL)
		return;
	if (unlikely(m->pool != b->pool || b->n == BULK)) {
		bulk_flush(b);
		b->pool = m->pool;
	}
	b->m[b->n++] = m;
}

static inline void
fetch(const struct rlc_am_tx *am, uint32_t sn)
{
	const struct rte_mbuf *m = rlc_am_sdu_of(am, sn)->m;

	rte_prefetch0_write(m);
	rte_prefetch0_write((const uint8_t *)m + RTE_CACHE_LINE_MIN_SIZE);
}

static void
tell_delivered(const struct rlc_am_tx *am, const struct rlc_am_sdu *s)
{
	const struct rte_mbuf *m = s->m;

	if (s->flags & RLC_AM_CHAIN)
		am->cfg.upper.delivered(am->cfg.upper.arg, rte_pktmbuf_mtod(m, const uint8_t *),
					m->data_len);
	else
		am->cfg.upper.delivered(am->cfg.upper.arg,
					(const uint8_t *)m->buf_addr + s->data_off, s->bytes);
}

/* "positive acknowledgement for an RLC SDU with SN = x" */
static inline void
ack(struct rlc_am_tx *am, uint32_t sn, struct bulk *b)
{
	struct rlc_am_sdu *s = rlc_am_sdu_of(am, sn);

	if (unlikely(s->flags & RLC_AM_MARKED))
		rlc_am_tx_unmark(am, sn);
	/* "send an indication to the upper layers of successful delivery of the RLC SDU" */
	if (am->cfg.upper.delivered)
		tell_delivered(am, s);
	am->counters.delivered++;
	if (likely(!(s->flags & RLC_AM_CHAIN)))
		bulk_free(b, s->m);
	else
		rte_pktmbuf_free(s->m);
	s->m = NULL;
}

/* `n` SNs from `sn` on were received: those never acknowledged before, and older ones NACKed. */
static void
ack_span(struct rlc_am_tx *am, uint32_t sn, uint32_t n, struct bulk *b)
{
	const uint32_t end = sn + n;
	uint32_t old = (am->acked_to - sn) & am->sn_mask;

	if (old <= am->window) {
		old = RTE_MIN(old, n);
		for (uint32_t i = 0;
		     (i += rlc_bits_find(am->nacked, am->window, sn + i, old - i, true)) < old;)
			ack(am, sn + i, b);
		sn += old;
	}
	for (uint32_t i = 0; i < AHEAD && sn + i != end; i++)
		fetch(am, sn + i);
	for (; sn != end; sn++) {
		if (likely(end - sn > AHEAD))
			fetch(am, sn + AHEAD);
		ack(am, sn, b);
	}
}

/* NACKs have to be in ascending order and below ACK_SN. */
static bool
sound(const struct rlc_am_tx *am, struct rlc_status_iter it)
{
	uint32_t below = am->window;
	struct rlc_nack nack;
	int ret;

	while ((ret = rlc_status_next(&it, &nack)) > 0) {
		uint32_t first = (it.ack_sn - nack.sn) & am->sn_mask;

		if (first > below || first < nack.range)
			return false;
		below = first - (nack.range - 1U);
	}
	return ret == 0;
}

/* SDU `sn` lacks bytes from `so` to `end` at the peer. */
static void
nack_sdu(struct rlc_tx *e, uint32_t sn, uint32_t so, uint32_t end)
{
	struct rlc_am_tx *am = e->am;
	struct rlc_am_sdu *s = rlc_am_sdu_of(am, sn);
	bool in_hand = am->left && sn == ((am->TX_Next - 1) & am->sn_mask);

	end = RTE_MIN(end, in_hand ? am->so : s->bytes);
	if (s->m == NULL)
		return;
	s->flags |= RLC_AM_MARKED;
	rlc_bits_set(am->nacked, am->window, sn);
	if (so < end)
		rlc_am_tx_consider(e, sn, so, end);
}

/* One NACK, as far as it is about SNs from `from` on, which is `skip` SNs into it. */
static void
nack_range(struct rlc_tx *e, const struct rlc_nack *nack, uint32_t skip)
{
	const uint32_t last = nack->range - 1U;

	for (uint32_t i = skip; i <= last; i++) {
		uint32_t so = nack->has_so && i == 0 ? nack->so_start : 0;
		uint32_t end = nack->has_so && i == last && nack->so_end != RLC_STATUS_SO_END
				       ? nack->so_end + 1U
				       : UINT16_MAX;

		nack_sdu(e, (nack->sn + i) & e->am->sn_mask, so, end);
	}
}

/* Acknowledges what lies between NACKs, from TX_Next_Ack up to ACK_SN, `n` SNs. */
static void
walk(struct rlc_tx *e, struct rlc_status_iter *it, uint32_t n)
{
	struct rlc_am_tx *am = e->am;
	struct bulk b = {.n = 0};
	uint32_t done = 0;
	struct rlc_nack nack;
	uint32_t whole = n;

	/* An SDU of which a part was not even sent was not received. */
	if (am->left && n == rlc_am_tx_span(am))
		whole--;
	while (rlc_status_next(it, &nack) > 0) {
		const uint32_t below = (it->ack_sn - nack.sn) & am->sn_mask;
		const uint32_t at = below < n ? n - below : 0, skip = below < n ? 0 : below - n;

		if (skip >= nack.range)
			continue; /* acknowledged meanwhile: this STATUS PDU was overtaken */
		if (at > done)
			ack_span(am, am->TX_Next_Ack + done, at - done, &b);
		nack_range(e, &nack, skip);
		done = RTE_MAX(done, at + nack.range - skip);
	}
	if (whole > done)
		ack_span(am, am->TX_Next_Ack + done, whole - done, &b);
	bulk_flush(&b);
	if (((am->TX_Next_Ack + whole - am->acked_to) & am->sn_mask) <= am->window)
		am->acked_to = (am->TX_Next_Ack + whole) & am->sn_mask;
}

void
rlc_am_tx_status(struct rlc_tx *e, const uint8_t *pdu, uint32_t len)
{
	struct rlc_am_tx *am = e->am;
	const uint64_t delivered = am->counters.delivered;
	struct rlc_status_iter it;
	uint32_t n, advance;

	if (rlc_status_open(&it, pdu, len, am->bits) < 0 || !sound(am, it)) {
		am->counters.status_refused++;
		return;
	}
	n = (it.ack_sn - am->TX_Next_Ack) & am->sn_mask;
	if (n > rlc_am_tx_span(am)) {
		if (n >= am->window)
			am->counters.status_old++;
		else
			am->counters.status_refused++;
		return;
	}
	am->counters.status_taken++;
	am->report++;
	/* §5.3.3.3: "if the STATUS report comprises a positive or negative acknowledgement for
	 * the RLC SDU with sequence number equal to POLL_SN: stop and reset t-PollRetransmit" */
	if (((am->POLL_SN - am->TX_Next_Ack) & am->sn_mask) < n)
		am->poll_deadline_ns = 0;
	walk(e, &it, n);
	/* "set TX_Next_Ack equal to the SN of the RLC SDU with the smallest SN … for which a
	 * positive acknowledgment has not been received yet" */
	advance = (am->acked_to - am->TX_Next_Ack) & am->sn_mask;
	advance = rlc_bits_find(am->nacked, am->window, am->TX_Next_Ack, advance, true);
	am->TX_Next_Ack = (am->TX_Next_Ack + advance) & am->sn_mask;
	if (((am->TX_Next - am->retx_from) & am->sn_mask) > rlc_am_tx_span(am))
		am->retx_from = am->TX_Next_Ack;
	atomic_store_explicit(&e->retained,
			      atomic_load_explicit(&e->retained, memory_order_relaxed) -
				      (uint32_t)(am->counters.delivered - delivered),
			      memory_order_release);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* A buffer for a STATUS PDU of `bytes`; a short one where there is no other. */
static struct rte_mbuf *
status_buffer(struct rlc_tx *e, uint32_t bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(e->hdr);

	if (m && rte_pktmbuf_tailroom(m) < bytes && e->frame) {
		struct rte_mbuf *large = rte_pktmbuf_alloc(e->frame);

		if (large) {
			rte_pktmbuf_free(m);
			m = large;
		}
	}
	return m;
}

struct rte_mbuf *
rlc_am_tx_make_status(struct rlc_tx *e, uint32_t fitting, uint64_t now_ns,
		      struct rlc_tx_pull_stats *stats)
{
	struct rlc_am_tx *am = e->am;
	const struct rlc_am_report *r;
	struct rlc_status_builder b;
	struct rte_mbuf *m;

	if (fitting < RLC_STATUS_HEADER_LEN)
		return NULL;
	r = rlc_am_link_take(&am->link);
	m = status_buffer(e, RTE_MIN(r->bytes, fitting));
	if (m == NULL) {
		stats->no_mbuf++;
		return NULL;
	}
	rlc_status_start(&b, rte_pktmbuf_mtod(m, uint8_t *),
			 RTE_MIN(fitting, (uint32_t)rte_pktmbuf_tailroom(m)), am->bits);
	for (uint32_t i = 0; i < r->nb && rlc_status_add(&b, &r->nacks[i]); i++)
		;
	m->data_len = (uint16_t)rlc_status_finish(&b, r->ACK_SN);
	m->pkt_len = m->data_len;
	*ap_meta(m) = (struct ap_meta){.bearer = e->bearer, .lcid = e->lcid};
	am->counters.status_sent++;
	am->counters.status_trimmed += b.trimmed;
	/* §5.3.4: "when STATUS PDU has been submitted to lower layer, … start t-StatusProhibit" */
	am->prohibit_ns = now_ns + am->cfg.t_StatusProhibit_ms * AP_NS_PER_MS;
	am->prohibited = am->cfg.t_StatusProhibit_ms > 0;
	atomic_store_explicit(&am->link.sent, r->version, memory_order_release);
	return m;
}
