/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting UM entity, TS 38.322 §5.2.2.1: segments and TX_Next. */
#include "core/pkt.h"
#include "modules/rlc/rlc_mbuf.h"
#include "modules/rlc/rlc_tx.h"

/* Puts the header before `m`; NULL when there is no segment for it. */
static struct rte_mbuf *
add_header(struct rlc_tx *e, struct rte_mbuf *m, const struct rlc_umd *h)
{
	uint16_t len = (uint16_t)rlc_umd_len(h->si, e->bits);
	uint8_t *p = ap_pkt_prepend(&m, len, e->hdr);

	if (p == NULL)
		return NULL;
	rlc_umd_encode(p, len, e->bits, h);
	return m;
}

/* A PDU over `bytes` of `sdu` from `offset` on, payload shared; NULL when a pool is empty. */
static struct rte_mbuf *
segment(struct rlc_tx *e, struct rte_mbuf *sdu, uint32_t offset, uint32_t bytes,
	const struct rlc_umd *h)
{
	struct rte_mbuf *part = rlc_mbuf_slice(sdu, offset, bytes, e->ind);
	struct rte_mbuf *pdu;

	if (part == NULL)
		return NULL;
	pdu = add_header(e, part, h);
	if (pdu == NULL)
		rte_pktmbuf_free(part);
	return pdu;
}

/* Keeps what follows the segment just made; only the first segment is timed. */
static void
keep_rest(struct rlc_um_tx *um, struct rte_mbuf *rest, uint16_t so)
{
	ap_meta(rest)->flags &= (uint8_t)~AP_M_TIMED;
	um->sdu = rest;
	um->left = rest->pkt_len;
	um->so = so;
}

/* Is there an SDU that does not fit as a whole? One that fits may just have been pushed. */
static const struct ap_queue_entry *
too_long(struct rlc_tx *e, uint32_t fitting)
{
	const struct ap_queue_entry *x = ap_queue_peek(&e->queue, 0);

	return x && x->bytes > fitting ? x : NULL;
}

static struct rte_mbuf *
pull_first(struct rlc_tx *e, const struct ap_queue_entry *x, uint32_t fitting)
{
	const struct rlc_umd h = {.si = RLC_SI_FIRST, .sn = e->um.TX_Next};
	uint32_t header = rlc_umd_len(h.si, e->bits);
	uint32_t bytes = fitting - header;
	struct rte_mbuf *m = x->m;
	struct rte_mbuf *pdu = segment(e, m, RLC_UMD_COMPLETE_LEN, bytes, &h);

	if (pdu == NULL)
		return NULL;
	ap_queue_take(&e->queue, 1, x->bytes);
	keep_rest(&e->um, ap_pkt_strip(m, (uint16_t)(RLC_UMD_COMPLETE_LEN + bytes)),
		  (uint16_t)bytes);
	return pdu;
}

static struct rte_mbuf *
pull_middle(struct rlc_tx *e, uint32_t fitting)
{
	struct rlc_um_tx *um = &e->um;
	const struct rlc_umd h = {.si = RLC_SI_MIDDLE, .sn = um->TX_Next, .so = um->so};
	uint32_t bytes = fitting - rlc_umd_len(h.si, e->bits);
	struct rte_mbuf *pdu = segment(e, um->sdu, 0, bytes, &h);

	if (pdu == NULL)
		return NULL;
	keep_rest(um, ap_pkt_strip(um->sdu, (uint16_t)bytes), (uint16_t)(um->so + bytes));
	return pdu;
}

/* What is left of the SDU goes out as it is. */
static struct rte_mbuf *
pull_last(struct rlc_tx *e)
{
	struct rlc_um_tx *um = &e->um;
	const struct rlc_umd h = {.si = RLC_SI_LAST, .sn = um->TX_Next, .so = um->so};
	struct rte_mbuf *pdu = add_header(e, um->sdu, &h);

	if (pdu == NULL)
		return NULL;
	um->sdu = NULL;
	/* "if the UMD PDU contains a segment that maps to the last byte of an RLC SDU,
	 * increment TX_Next by one" */
	um->TX_Next = (um->TX_Next + 1) & rlc_sn_mask(e->bits);
	return pdu;
}

/* One segment for what is left of the grant, or NULL. */
static struct rte_mbuf *
pull_segment(struct rlc_tx *e, uint32_t *grant, struct rlc_tx_pull_stats *stats)
{
	uint32_t fitting = rlc_mac_fitting(*grant);
	struct rte_mbuf *pdu;

	if (e->um.sdu == NULL) {
		const struct ap_queue_entry *x = too_long(e, fitting);

		if (x == NULL || fitting <= rlc_umd_len(RLC_SI_FIRST, e->bits))
			return NULL;
		pdu = pull_first(e, x, fitting);
	} else {
		uint32_t header = rlc_umd_len(RLC_SI_LAST, e->bits);

		if (fitting <= header)
			return NULL;
		pdu = e->um.left + header <= fitting ? pull_last(e) : pull_middle(e, fitting);
	}
	if (pdu == NULL) {
		stats->no_mbuf++;
		return NULL;
	}
	stats->segments++;
	*grant -= pdu->pkt_len + rlc_mac_overhead(pdu->pkt_len);
	return pdu;
}

unsigned
rlc_um_tx_pull(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
	       unsigned max, struct rlc_tx_pull_stats *stats)
{
	uint32_t before = *grant;
	unsigned n = 0;

	if (max == 0 || want == 0)
		return 0;
	if (e->um.sdu) {
		pdus[0] = pull_segment(e, grant, stats);
		if (pdus[0] == NULL)
			return 0;
		n = 1;
		if (e->um.sdu || before - *grant >= want)
			return n;
		want -= before - *grant;
	}
	before = *grant;
	n += rlc_tx_pull_whole(e, grant, want, pdus + n, max - n);
	if (n == max || before - *grant >= want)
		return n;
	pdus[n] = pull_segment(e, grant, stats);
	return pdus[n] ? n + 1 : n;
}
