/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity: new SDUs and polls, TS 38.322 §5.2.3.1 and §5.3.3. */
#include <rte_prefetch.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_tx.h"

#define AMD_P 0x40
#define AHEAD 8 /* their lines were last written by the lcore of rlc_tx */

/* --- polling, §5.3.3 -------------------------------------------------------------------------- */

void
rlc_am_tx_poll(struct rlc_am_tx *am, uint8_t *header, uint64_t now_ns)
{
	*header |= AMD_P;
	am->PDU_WITHOUT_POLL = 0;
	am->BYTE_WITHOUT_POLL = 0;
	am->poll_due = false;
	/* "set POLL_SN to the highest SN of the AMD PDU among the AMD PDUs submitted" */
	am->POLL_SN = (am->TX_Next - 1) & am->sn_mask;
	am->poll_deadline_ns = now_ns + am->cfg.t_PollRetransmit_ms * AP_NS_PER_MS;
	am->counters.polls++;
}

bool
rlc_am_tx_must_poll(struct rlc_tx *e, bool queue_empty)
{
	const struct rlc_am_tx *am = e->am;

	if (am->poll_due)
		return true;
	if (am->left)
		return false;
	/* "both the transmission buffer and the retransmission buffer becomes empty …; or no
	 * new RLC SDU can be transmitted after the transmission of the AMD PDU (e.g. due to
	 * window stalling)" */
	return (queue_empty && am->nb_pending == 0) || rlc_am_tx_span(am) >= am->window;
}

/* For a PDU with `n` SDU bytes that were not sent before. */
static bool
count_new(struct rlc_am_tx *am, uint32_t n)
{
	am->PDU_WITHOUT_POLL++;
	am->BYTE_WITHOUT_POLL += n;
	return am->PDU_WITHOUT_POLL >= am->cfg.pollPDU || am->BYTE_WITHOUT_POLL >= am->cfg.pollByte;
}

/*
 * §5.3.3.4: "if both the transmission buffer and the retransmission buffer are empty …; or if no
 * new RLC SDU or RLC SDU segment can be transmitted (e.g. due to window stalling): consider the
 * RLC SDU with the highest SN among the RLC SDUs submitted to lower layer for retransmission; or
 * consider any RLC SDU which has not been positively acknowledged". The highest lets the peer see
 * all that is missing; the lowest helps when it has too little room to say so.
 */
static void
poll_timeout(struct rlc_tx *e)
{
	struct rlc_am_tx *am = e->am;
	uint32_t sn = (am->TX_Next - 1) & am->sn_mask;

	am->poll_deadline_ns = 0;
	am->poll_due = true;
	am->counters.poll_timeouts++;
	am->report++;
	if (am->left || am->nb_pending || rlc_am_tx_span(am) == 0)
		return;
	if (ap_queue_count(&e->queue) && rlc_am_tx_span(am) < am->window)
		return;
	if (rlc_am_sdu_of(am, sn)->m)
		rlc_am_tx_consider(e, sn, 0, rlc_am_sdu_of(am, sn)->bytes);
	if (am->nb_pending == 0 || (am->poll_ack == am->TX_Next_Ack && sn != am->TX_Next_Ack))
		rlc_am_tx_consider(e, am->TX_Next_Ack, 0,
				   rlc_am_sdu_of(am, am->TX_Next_Ack)->bytes);
	am->poll_ack = am->TX_Next_Ack;
}

/*
 * The last PDU that waited was to poll, but it may have been acknowledged or discarded before it
 * was sent. What was sent before it must not wait for ever.
 */
static void
guard_tail(struct rlc_tx *e, uint64_t now_ns)
{
	struct rlc_am_tx *am = e->am;
	const uint32_t span = rlc_am_tx_span(am);

	if (span == 0 || am->nb_pending || am->left)
		return;
	if (span >= am->window || ap_queue_peek(&e->queue, 0) == NULL)
		am->poll_deadline_ns = now_ns + am->cfg.t_PollRetransmit_ms * AP_NS_PER_MS;
}

/* --- new SDUs --------------------------------------------------------------------------------- */

static uint8_t *
header_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, uint8_t *);
}

/* Does the window hold the next SDU of the queue from now on? What it needs is noted. */
static void
window_enter(struct rlc_am_tx *am, struct rte_mbuf *m, uint32_t bytes)
{
	*rlc_am_sdu_of(am, am->TX_Next) = (struct rlc_am_sdu){
		.m = m,
		.bytes = (uint16_t)bytes,
		.data_off = (uint16_t)(m->data_off + am->header),
		.flags = ap_meta(m)->flags & AP_M_RETAINED ? 0 : RLC_AM_CHAIN,
		.RETX_COUNT = RLC_AM_NO_RETX,
	};
	am->TX_Next = (am->TX_Next + 1) & am->sn_mask;
}

static void
window_took(struct rlc_tx *e, uint32_t sdus, uint64_t bytes)
{
	/* First this: what rlc_tx_room() sees must never be too much. */
	atomic_store_explicit(&e->retained,
			      atomic_load_explicit(&e->retained, memory_order_relaxed) + sdus,
			      memory_order_release);
	ap_queue_take(&e->queue, sdus, bytes);
}

/* Whole SDUs that are ready to go: one buffer, room for the header in it. */
static unsigned
pull_whole(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus, unsigned max,
	   uint64_t now_ns)
{
	struct rlc_am_tx *am = e->am;
	const struct ap_queue_entry *x = ap_queue_peek(&e->queue, 0), *ahead;
	const uint32_t room = am->window - rlc_am_tx_span(am);
	uint32_t taken = 0;
	uint64_t bytes = 0;
	unsigned n = 0;

	max = RTE_MIN(max, room);
	for (unsigned i = 1; i < AHEAD && (ahead = ap_queue_peek(&e->queue, i)) != NULL; i++)
		rte_prefetch0_write(ahead->m);
	for (; n < max && taken < want && x != NULL; n++) {
		const uint32_t need = x->bytes + rlc_mac_overhead(x->bytes);
		struct rte_mbuf *m = x->m;
		uint8_t *header;

		if (need > *grant - taken || !(ap_meta(m)->flags & AP_M_RETAINED))
			break;
		ahead = ap_queue_peek(&e->queue, n + AHEAD);
		if (ahead)
			rte_prefetch0_write(ahead->m);
		ahead = ap_queue_peek(&e->queue, n + AHEAD / 2);
		if (ahead)
			rte_prefetch0_write(header_of(ahead->m));
		header = header_of(m);
		rlc_am_header_put(header, am->bits, am->TX_Next);
		rte_mbuf_refcnt_set(m, 2);
		window_enter(am, m, x->bytes - am->header);
		taken += need;
		bytes += x->bytes;
		pdus[n] = m;
		x = ap_queue_peek(&e->queue, n + 1);
		if (unlikely(count_new(am, (uint32_t)(m->pkt_len - am->header)) ||
			     rlc_am_tx_must_poll(e, x == NULL)))
			rlc_am_tx_poll(am, header, now_ns);
	}
	if (n > 0)
		window_took(e, n, bytes);
	*grant -= taken;
	return n;
}

/*
 * What is left of the SDU in hand, or the next one of the queue, as far as it fits: a segment, or
 * a whole SDU whose buffer is not its own. NULL when nothing fits or may be sent.
 */
static struct rte_mbuf *
pull_part(struct rlc_tx *e, uint32_t fitting, uint64_t now_ns, struct rlc_tx_pull_stats *stats)
{
	struct rlc_am_tx *am = e->am;
	const struct ap_queue_entry *x = NULL;
	uint32_t header = am->header + 2, n;
	struct rte_mbuf *pdu;
	bool poll;

	if (am->left == 0) {
		x = ap_queue_peek(&e->queue, 0);
		if (x == NULL || rlc_am_tx_span(am) >= am->window)
			return NULL;
		header = am->header;
	}
	if (fitting <= header)
		return NULL;
	if (x) {
		window_enter(am, x->m, x->bytes - am->header);
		am->so = 0;
		am->left = x->bytes - am->header;
	}
	n = RTE_MIN(am->left, fitting - header);
	pdu = rlc_am_tx_segment(e, (am->TX_Next - 1) & am->sn_mask, am->so, n);
	if (pdu == NULL) {
		stats->no_mbuf++;
		if (x) {
			am->left = 0;
			am->TX_Next = (am->TX_Next - 1) & am->sn_mask;
			rlc_am_sdu_of(am, am->TX_Next)->m = NULL;
		}
		return NULL;
	}
	if (x) {
		ap_meta(pdu)->flags |= ap_meta(x->m)->flags & AP_M_TIMED;
		*ap_ext(pdu) = *ap_ext(x->m);
		window_took(e, 1, x->bytes);
	}
	stats->segments += n < am->left || am->so > 0;
	am->so += n;
	am->left -= n;
	poll = count_new(am, n);
	if (poll || rlc_am_tx_must_poll(e, ap_queue_peek(&e->queue, 0) == NULL))
		rlc_am_tx_poll(am, header_of(pdu), now_ns);
	return pdu;
}

/* --- pull ------------------------------------------------------------------------------------- */

void
rlc_am_tx_tick(struct rlc_tx *e, uint64_t now_ns)
{
	struct rlc_am_tx *am = e->am;
	const struct ap_queue_entry *x;

	while (unlikely((x = ap_queue_peek(&am->link.status, 0)) != NULL)) {
		const void *pdu = rte_pktmbuf_read(x->m, 0, x->bytes, am->scratch);

		rlc_am_tx_status(e, pdu, x->bytes);
		rte_pktmbuf_free(x->m);
		ap_queue_take(&am->link.status, 1, x->bytes);
	}
	am->now_ns = now_ns;
	am->prohibited = now_ns < am->prohibit_ns;
	if (am->poll_deadline_ns == 0)
		guard_tail(e, now_ns);
	else if (unlikely(now_ns >= am->poll_deadline_ns))
		poll_timeout(e);
}

static void
charge(uint32_t *grant, const struct rte_mbuf *pdu)
{
	*grant -= pdu->pkt_len + rlc_mac_overhead(pdu->pkt_len);
}

/* STATUS PDUs, then retransmissions, then what is left of an SDU (§5.3.2, TS 38.321 §5.4.3.1). */
static unsigned
pull_first(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus, unsigned max,
	   uint64_t now_ns, struct rlc_tx_pull_stats *stats)
{
	struct rlc_am_tx *am = e->am;
	const uint32_t before = *grant;
	unsigned n = 0;

	if (!am->prohibited && rlc_am_link_wanted(&am->link)) {
		pdus[n] = rlc_am_tx_make_status(e, rlc_mac_fitting(*grant), now_ns, stats);
		if (pdus[n])
			charge(grant, pdus[n++]);
	}
	while (n < max && am->nb_pending && before - *grant < want) {
		pdus[n] = rlc_am_tx_retransmit(e, rlc_mac_fitting(*grant), now_ns, stats);
		if (pdus[n] == NULL)
			return n;
		charge(grant, pdus[n++]);
	}
	if (n < max && am->left && before - *grant < want) {
		pdus[n] = pull_part(e, rlc_mac_fitting(*grant), now_ns, stats);
		if (pdus[n])
			charge(grant, pdus[n++]);
	}
	return n;
}

unsigned
rlc_am_tx_pull(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
	       unsigned max, uint64_t now_ns, struct rlc_tx_pull_stats *stats)
{
	struct rlc_am_tx *am = e->am;
	const uint32_t before = *grant;
	unsigned n = 0;

	if (max == 0 || want == 0)
		return 0;
	n = pull_first(e, grant, want, pdus, max, now_ns, stats);
	if (unlikely(am->nb_pending || am->left))
		return n;
	while (n < max && before - *grant < want && am->left == 0) {
		n += pull_whole(e, grant, want - (before - *grant), pdus + n, max - n, now_ns);
		if (n == max || before - *grant >= want)
			break;
		pdus[n] = pull_part(e, rlc_mac_fitting(*grant), now_ns, stats);
		if (pdus[n] == NULL)
			break;
		charge(grant, pdus[n++]);
	}
	am->counters.stalled += rlc_am_tx_span(am) >= am->window;
	return n;
}
