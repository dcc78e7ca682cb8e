/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "core/meta.h"
#include "modules/mac/mac_cursor.h"
#include "modules/mac/mac_rx.h"

#define AHEAD 8 /* subPDUs: their lines come from another core's cache */

int
mac_rx_init(struct mac_rx *rx, const struct mac_rx_cfg *cfg)
{
	if (cfg->ind == NULL)
		return -EINVAL;
	*rx = (struct mac_rx){
		.sch = cfg->direction == L2_UPLINK ? MAC_UL_SCH : MAC_DL_SCH,
		.rnti = cfg->rnti,
		.ind = cfg->ind,
		.ind_priv_size = rte_pktmbuf_priv_size(cfg->ind),
		.spares = cfg->spares ? cfg->spares : &rx->own,
		.ul = cfg->ul,
	};
	for (unsigned i = 0; i < RTE_DIM(rx->bearer_of_lcid); i++)
		rx->bearer_of_lcid[i] =
			i >= 1 && i <= L2_LCID_MAX ? cfg->bearer_of_lcid[i] : L2_NO_BEARER;
	return 0;
}

void
mac_rx_fini(struct mac_rx *rx)
{
	if (rx->own.nb)
		rte_mempool_put_bulk(rx->ind, (void **)rx->own.m, rx->own.nb);
	rx->own.nb = 0;
}

static void
drop(struct mac_rx_run *run, enum mac_rx_drop why)
{
	run->made++;
	run->drops[why]++;
}

static void
drop_tb(struct mac_rx_run *run, enum mac_rx_drop why, struct rte_mbuf *tb)
{
	run->tb_drops++;
	run->drops[why]++;
	rte_pktmbuf_free(tb);
}

/* TX_Data.request does not say whose TB it is: then it is ours. */
static bool
other_rnti(const struct mac_rx *rx, struct rte_mbuf *tb)
{
	const uint32_t rnti = ap_ext(tb)->spare;

	return rnti != 0 && rnti != rx->rnti;
}

static struct rte_mbuf *
take_spare(struct mac_rx *rx)
{
	struct mac_rx_spares *s = rx->spares;

	if (unlikely(s->nb == 0)) {
		uint32_t n = MAC_RX_SPARE;

		if (rte_mempool_get_bulk(rx->ind, (void **)s->m, n)) {
			n = 1;
			if (rte_mempool_get_bulk(rx->ind, (void **)s->m, n))
				return NULL;
		}
		for (uint32_t i = n; i-- > 0 && i + AHEAD >= n;)
			rte_prefetch0(s->m[i]);
		s->nb = n;
	}
	if (likely(s->nb > AHEAD))
		rte_prefetch0(s->m[s->nb - 1 - AHEAD]);
	return s->m[--s->nb];
}

/*
 * An mbuf over the next `bytes` of the segment; pool mbufs come with refcnt, nb_segs and next
 * set. The reference it holds is added in cursor_leave().
 */
static inline struct rte_mbuf *
attach(struct mac_rx *rx, struct cursor *c, uint32_t bytes)
{
	struct rte_mbuf *seg = c->seg;
	struct rte_mbuf *m = take_spare(rx);

	if (unlikely(m == NULL))
		return NULL;
	m->buf_addr = seg->buf_addr;
	rte_mbuf_iova_set(m, rte_mbuf_iova_get(seg));
	m->buf_len = seg->buf_len;
	m->data_off = (uint16_t)(c->p - (const uint8_t *)seg->buf_addr);
	m->data_len = (uint16_t)bytes;
	m->pkt_len = bytes;
	m->ol_flags = c->ol_flags;
	m->packet_type = 0;
	if (unlikely(c->ol_flags == RTE_MBUF_F_EXTERNAL))
		m->shinfo = seg->shinfo;
	else if (unlikely(seg->priv_size != rx->ind_priv_size))
		m->priv_size = seg->priv_size; /* how the buffer's owner is found again */
	c->refs++;
	return m;
}

/*
 * An SDU that ends in a later segment: a chain of such mbufs. Moves on behind it. What was
 * attached before a failure lies in segments already left, whose references are counted.
 */
static struct rte_mbuf *
attach_across(struct mac_rx *rx, struct cursor *c, uint32_t bytes)
{
	struct rte_mbuf *head = NULL, *tail = NULL;
	uint32_t left = bytes;

	for (;;) {
		uint32_t part = RTE_MIN(left, (uint32_t)(c->end - c->p));
		struct rte_mbuf *m = part ? attach(rx, c, part) : NULL;

		if (part && m == NULL)
			break;
		if (m && head == NULL) {
			head = m;
			head->pkt_len = bytes;
		} else if (m) {
			tail->next = m;
			head->nb_segs++;
		}
		tail = m ? m : tail;
		left -= part;
		if (!cursor_skip(c, part) || left == 0 || !cursor_next(c))
			break;
	}
	if (likely(left == 0))
		return head;
	rte_pktmbuf_free(head);
	if (c->seg)
		cursor_skip(c, left);
	return NULL;
}

/* Emits the SDU at the cursor, of `bytes` that the TB has, and moves behind it. */
static inline void
take_sdu(struct mac_rx *rx, struct cursor *c, uint32_t index, uint32_t bytes,
	 struct mac_rx_run *run)
{
	uint32_t bearer = likely(index < 64) ? rx->bearer_of_lcid[index] : L2_NO_BEARER;
	struct rte_mbuf *m;

	if (unlikely(bearer == L2_NO_BEARER || bytes == 0 || run->nb_out == run->max)) {
		drop(run, bearer == L2_NO_BEARER ? MAC_RX_NO_BEARER
			  : bytes == 0           ? MAC_RX_SDU_EMPTY
						 : MAC_RX_OUT_FULL);
		cursor_skip(c, bytes);
		return;
	}
	if (likely(bytes <= (size_t)(c->end - c->p))) {
		m = attach(rx, c, bytes);
		c->p += bytes;
		c->left -= bytes;
	} else {
		m = attach_across(rx, c, bytes);
	}
	if (unlikely(m == NULL)) {
		drop(run, MAC_RX_NO_MBUF);
		return;
	}
	*ap_meta(m) = (struct ap_meta){
		.bearer = bearer,
		.lcid = (uint8_t)index,
		.carrier = c->carrier,
	};
	run->out[run->nb_out++] = m;
	run->made++;
}

/* One subPDU whose subheader is not the common one or lies across segments. */
static bool
take_other(struct mac_rx *rx, struct cursor *c, struct mac_rx_run *run)
{
	uint8_t bytes[MAC_RX_CE_BYTES];
	struct mac_subheader h;
	int len =
		mac_subheader_decode(bytes, cursor_peek(c, bytes, MAC_SUBHEADER_MAX), rx->sch, &h);

	if (len < 0) {
		drop(run, len == -CODEC_RESERVED ? MAC_RX_RESERVED_LCID : MAC_RX_TRUNCATED);
		return false;
	}
	if (h.kind == MAC_KIND_PADDING) {
		rx->padding_bytes += c->left;
		return false;
	}
	if (h.bytes > c->left - (uint32_t)len || !cursor_skip(c, (uint32_t)len)) {
		drop(run, MAC_RX_TRUNCATED);
		return false;
	}
	if (h.kind == MAC_KIND_SDU) {
		take_sdu(rx, c, h.index, h.bytes, run);
		return true;
	}
	cursor_peek(c, bytes, RTE_MIN(h.bytes, (uint32_t)MAC_RX_CE_BYTES));
	if (!mac_rx_ce(rx, h.index, bytes, h.bytes))
		drop(run, MAC_RX_BAD_CE);
	return cursor_skip(c, h.bytes);
}

/* R/F/LCID/L of a logical channel, whole in this segment. @return its length, or 0. */
static inline uint32_t
read_common(const struct cursor *c, uint32_t *lcid, uint32_t *bytes)
{
	if (unlikely(c->end - c->p < 3))
		return 0;
	*lcid = c->p[0] & 0x3f;
	if (unlikely(*lcid - 1 >= MAC_LCID_MAX_SDU))
		return 0;
	if (c->p[0] & 0x40) {
		*bytes = (uint32_t)c->p[1] << 8 | c->p[2];
		return 3;
	}
	*bytes = c->p[1];
	return 2;
}

void
mac_rx_tb(struct mac_rx *rx, struct rte_mbuf *tb, struct mac_rx_run *run)
{
	uint64_t enter_ns = ap_meta(tb)->flags & AP_M_TIMED ? ap_ext(tb)->enter_ns : 0;
	uint32_t first = run->nb_out;
	struct cursor c = {.left = tb->pkt_len, .carrier = ap_meta(tb)->carrier};

	if (unlikely(tb->pkt_len == 0)) {
		drop_tb(run, MAC_RX_EMPTY_TB, tb);
		return;
	}
	if (rx->rnti && unlikely(other_rnti(rx, tb))) {
		drop_tb(run, MAC_RX_OTHER_RNTI, tb);
		return;
	}
	rx->tbs++;
	if (rx->ul) {
		rx->sfn = ap_ext(tb)->sfn;
		rx->slot = ap_ext(tb)->slot;
		rx->carrier = ap_meta(tb)->carrier;
	}
	cursor_enter(&c, tb);
	for (uint32_t i = 1; i <= AHEAD; i++)
		cursor_prefetch(&c, i * rx->stride);
	while (c.left) {
		uint32_t lcid = 0, bytes = 0, len;

		while (c.seg && c.p == c.end)
			cursor_next(&c);
		if (unlikely(c.seg == NULL)) {
			drop(run, MAC_RX_TRUNCATED);
			break;
		}
		len = read_common(&c, &lcid, &bytes);
		if (unlikely(len == 0 || len + bytes > c.left)) {
			if (!take_other(rx, &c, run))
				break;
			continue;
		}
		rx->stride = len + bytes;
		cursor_prefetch(&c, AHEAD * rx->stride);
		c.p += len;
		c.left -= len;
		take_sdu(rx, &c, lcid, bytes, run);
	}
	cursor_free(&c);
	rx->sdus += run->nb_out - first;
	if (enter_ns && run->nb_out > first) {
		ap_meta(run->out[first])->flags = AP_M_TIMED;
		ap_ext(run->out[first])->enter_ns = enter_ns;
	}
}
