/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmitting AM entity: establishment, re-establishment, release, TS 38.322 §5.1. */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/rlc/rlc_tx.h"

#define MORE_RANGES 4096
#define TIMER_MS_MAX 10000

static void *
array(const char *name, size_t bytes)
{
	return rte_zmalloc(name, bytes, RTE_CACHE_LINE_SIZE);
}

int
rlc_am_tx_init(struct rlc_tx *e, const struct rlc_am_cfg *cfg)
{
	struct rlc_am_tx *am;

	if (e->bits != RLC_SN_12 && e->bits != RLC_SN_18)
		return -EINVAL;
	if (cfg->t_PollRetransmit_ms == 0 || cfg->t_PollRetransmit_ms > TIMER_MS_MAX ||
	    cfg->t_StatusProhibit_ms > TIMER_MS_MAX || cfg->maxRetxThreshold == 0 ||
	    cfg->maxRetxThreshold > 32)
		return -EINVAL;
	am = array("rlc_am_tx", sizeof(*am));
	if (am == NULL)
		return -ENOMEM;
	e->am = am;
	am->cfg = *cfg;
	if (cfg->pollPDU == 0)
		am->cfg.pollPDU = UINT32_MAX;
	if (cfg->pollByte == 0)
		am->cfg.pollByte = UINT32_MAX;
	am->bits = e->bits;
	am->header = rlc_amd_len(RLC_SI_COMPLETE, e->bits);
	am->window = rlc_am_window(e->bits);
	am->sn_mask = rlc_sn_mask(e->bits);
	am->sdus = array("rlc_am_sdus", am->window * sizeof(*am->sdus));
	am->ranges = array("rlc_am_ranges", am->window * sizeof(*am->ranges));
	am->more = array("rlc_am_more", MORE_RANGES * sizeof(*am->more));
	am->nacked = array("rlc_am_nacked", am->window / 8);
	am->pending = array("rlc_am_pending", am->window / 8);
	am->scratch = array("rlc_am_scratch", RLC_AM_STATUS_MAX);
	if (!am->sdus || !am->ranges || !am->more || !am->nacked || !am->pending || !am->scratch)
		return -ENOMEM;
	for (uint32_t i = 1; i < MORE_RANGES - 1; i++)
		am->more[i].more = i + 1;
	am->more_free = 1;
	am->poll_ack = UINT32_MAX;
	return rlc_am_link_init(&am->link);
}

/* The SDU as it came, for who may write to it; NULL when there is no memory. */
static struct rte_mbuf *
sdu_back(const struct rlc_am_sdu *s)
{
	struct rte_mbuf *m = s->m, *copy;

	if (s->flags & RLC_AM_CHAIN)
		return m;
	if (rte_mbuf_refcnt_read(m) == 1) {
		m->data_off = s->data_off;
		m->data_len = s->bytes;
		m->pkt_len = s->bytes;
		m->nb_segs = 1;
		m->next = NULL;
		*ap_meta(m) = (struct ap_meta){0};
		return m;
	}
	copy = rte_pktmbuf_alloc(m->pool);
	if (copy && rte_pktmbuf_tailroom(copy) >= s->bytes) {
		memcpy(rte_pktmbuf_append(copy, s->bytes),
		       (const uint8_t *)m->buf_addr + s->data_off, s->bytes);
		*ap_meta(copy) = (struct ap_meta){0};
	} else {
		rte_pktmbuf_free(copy);
		copy = NULL;
	}
	/* It may still be linked to what it flew with. */
	rte_pktmbuf_free_seg(m);
	return copy;
}

static void
state_reset(struct rlc_tx *e)
{
	struct rlc_am_tx *am = e->am;
	const struct ap_queue_entry *x;

	am->TX_Next_Ack = am->TX_Next = am->POLL_SN = 0;
	am->PDU_WITHOUT_POLL = am->BYTE_WITHOUT_POLL = 0;
	am->acked_to = am->retx_from = 0;
	am->so = am->left = 0;
	am->poll_ack = UINT32_MAX;
	am->poll_due = am->prohibited = am->max_retx = false;
	am->poll_deadline_ns = am->prohibit_ns = 0;
	atomic_store_explicit(&e->retained, 0, memory_order_release);
	while ((x = ap_queue_peek(&am->link.status, 0)) != NULL) {
		rte_pktmbuf_free(x->m);
		ap_queue_take(&am->link.status, 1, x->bytes);
	}
}

unsigned
rlc_am_tx_take(struct rlc_tx *e, rlc_tx_taker *take, void *arg)
{
	struct rlc_am_tx *am = e->am;
	const uint32_t span = rlc_am_tx_span(am);
	unsigned n = 0;

	for (uint32_t i = 0, sn = am->TX_Next_Ack; i < span; i++, sn++) {
		struct rlc_am_sdu *s = rlc_am_sdu_of(am, sn);
		struct rte_mbuf *m;

		if (s->m == NULL)
			continue;
		if (s->flags & RLC_AM_MARKED)
			rlc_am_tx_unmark(am, sn);
		m = sdu_back(s);
		s->m = NULL;
		if (m)
			take(arg, m, (uint32_t)(am->now_ns / AP_NS_PER_US));
		n++;
	}
	state_reset(e);
	return n;
}

static void
take_to_free(void *arg, struct rte_mbuf *m, uint32_t enter_us)
{
	(void)arg;
	(void)enter_us;
	rte_pktmbuf_free(m);
}

void
rlc_am_tx_fini(struct rlc_tx *e)
{
	struct rlc_am_tx *am = e->am;

	if (am == NULL)
		return;
	if (am->link.status.entries)
		rlc_am_tx_take(e, take_to_free, NULL);
	ap_queue_fini(&am->link.status);
	rte_free(am->sdus);
	rte_free(am->ranges);
	rte_free(am->more);
	rte_free(am->nacked);
	rte_free(am->pending);
	rte_free(am->scratch);
	rte_free(am);
	e->am = NULL;
}
