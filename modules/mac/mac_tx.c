/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "core/meta.h"
#include "modules/mac/mac_tx.h"

static int
check_lc(const struct mac_tx_lc_cfg *lc)
{
	if (lc->rlc == NULL || lc->lcid == 0 || lc->lcid > L2_LCID_MAX || lc->priority == 0 ||
	    lc->priority > MAC_PRIORITIES || lc->lcg >= MAC_LCGS)
		return -EINVAL;
	return lc->pbr_kbytes_s && (lc->bsd_ms == 0 || lc->bsd_ms > 1000) ? -EINVAL : 0;
}

int
mac_tx_init(struct mac_tx *tx, const struct mac_tx_cfg *cfg)
{
	if (cfg->sr.trans_max && cfg->direction != L2_UPLINK)
		return -EINVAL;
	if (cfg->nb_carriers == 0 || cfg->nb_carriers > L2_CARRIERS_MAX || cfg->nb_lcs == 0 ||
	    cfg->nb_lcs > MAC_TX_LCS_MAX || cfg->harq_processes > MAC_HARQ_MAX)
		return -EINVAL;
	*tx = (struct mac_tx){
		.sch = cfg->direction == L2_UPLINK ? MAC_UL_SCH : MAC_DL_SCH,
		.nb_carriers = cfg->nb_carriers,
		.nb_lcs = cfg->nb_lcs,
		.periodicBSR_ms = cfg->periodicBSR_ms,
		.retxBSR_ms = cfg->retxBSR_ms,
		.retx_ns = UINT64_MAX,
		.phr = cfg->phr,
		.sr.cfg = cfg->sr,
		.phr_ns = cfg->phr.on ? 0 : UINT64_MAX, /* (re)configured: triggered at once */
		.harq_processes = cfg->harq_processes,
		.every_slot = cfg->every_slot,
		.periodic_ns = UINT64_MAX,
		.lcp_ns = UINT64_MAX, /* "Bj … initialized to zero": no time has passed at the first
					 grant */
		.hdr = cfg->hdr,
	};
	for (uint32_t i = 0; i < cfg->nb_lcs; i++) {
		uint32_t at = i;

		if (check_lc(&cfg->lcs[i]))
			return -EINVAL;
		for (; at > 0 && tx->lcs[at - 1].cfg.priority > cfg->lcs[i].priority; at--)
			tx->lcs[at] = tx->lcs[at - 1];
		tx->lcs[at] = (struct mac_tx_lc){.cfg = cfg->lcs[i], .idle = true};
		if (tx->lcs[at].cfg.carriers == 0)
			tx->lcs[at].cfg.carriers = UINT8_MAX;
		if (tx->lcs[at].cfg.scs == 0)
			tx->lcs[at].cfg.scs = UINT8_MAX;
	}
	return 0;
}

void
mac_tx_fini(struct mac_tx *tx)
{
	rte_pktmbuf_free(tx->tb.start);
	rte_pktmbuf_free(tx->tb.end);
	tx->tb.start = NULL;
	tx->tb.end = NULL;
	tx->active = false;
}

int
mac_tx_queue_ce(struct mac_tx *tx, uint8_t lcid, const uint8_t *payload, uint32_t bytes)
{
	uint8_t p[MAC_SUBHEADER_MAX];
	struct mac_tx_ce *ce;

	if (lcid <= MAC_LCID_MAX_SDU || lcid >= MAC_LCID_PADDING || bytes > MAC_TX_CE_BYTES_MAX ||
	    mac_subheader_encode(p, sizeof(p), tx->sch, lcid, bytes) < 0)
		return -EINVAL;
	if (tx->nb_ces == MAC_TX_CES_MAX)
		return -ENOSPC;
	ce = &tx->ces[tx->nb_ces++];
	ce->lcid = lcid;
	ce->bytes = (uint8_t)bytes;
	memcpy(ce->payload, payload, bytes);
	return 0;
}

uint64_t
mac_tx_waiting(const struct mac_tx *tx)
{
	uint64_t bytes = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		const struct rlc_tx *rlc = tx->lcs[j].cfg.rlc;
		const uint64_t volume = rlc_tx_bytes_waiting(rlc);

		if (volume > 0)
			bytes += volume + mac_subheader_len(UINT32_MAX) * rlc_tx_unsent(rlc);
	}
	return bytes;
}

void
mac_tx_slot(struct mac_tx *tx, const struct slot_grant *slot, uint64_t now_ns)
{
	tx->slot = *slot;
	tx->carrier = 0;
	tx->active = true;
	tx->slots++;
	tx->sr.granted = false;
	for (uint32_t j = 0; j < tx->nb_lcs; j++)
		tx->rlc.discarded += rlc_tx_slot(tx->lcs[j].cfg.rlc, now_ns);
}

static struct mac_tb_mark *
mark_of(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, struct mac_tb_mark *);
}

static void
fill_mark(const struct mac_tx *tx, struct rte_mbuf *m, uint8_t flag)
{
	m->data_len = mac_tb_mark_bytes(0);
	m->pkt_len = m->data_len;
	*ap_meta(m) = (struct ap_meta){.flags = flag, .carrier = (uint8_t)tx->carrier};
	*mark_of(m) = (struct mac_tb_mark){
		.tb_bytes = tx->slot.tb_bytes[tx->carrier],
		.sfn = tx->slot.sfn,
		.slot = tx->slot.slot,
		.rnti = tx->slot.rnti,
		.ue = tx->slot.ue,
		.handle = tx->slot.tb[tx->carrier].handle,
		.harq_process = tx->slot.tb[tx->carrier].harq_process,
		.carrier = (uint8_t)tx->carrier,
	};
}

static uint32_t
ce_bytes(const struct mac_tx_ce *ce, enum mac_sch sch)
{
	bool has_l = mac_fixed_bytes(sch, ce->lcid) == MAC_BYTES_IN_L;

	return (has_l ? 2u : 1u) + ce->bytes;
}

/*
 * Moves queued CEs into a mark while `*room` lasts: C-RNTI alone when `c_rnti`, else all others.
 * §5.4.3.1.3 puts C-RNTI before the BSR and the rest after it.
 */
static void
put_ces(struct mac_tx *tx, struct rte_mbuf *m, bool c_rnti, uint32_t *room)
{
	struct mac_tb_mark *mark = mark_of(m);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tx->nb_ces; i++) {
		struct mac_tx_ce *ce = &tx->ces[i];
		bool first_class = tx->sch == MAC_UL_SCH && ce->lcid == MAC_UL_C_RNTI;
		uint32_t need = ce_bytes(ce, tx->sch);

		if (first_class != c_rnti || need > *room ||
		    need > (uint32_t)MAC_TB_CE_MAX - mark->ce_bytes) {
			tx->ces[kept++] = *ce;
			continue;
		}
		*room -= need;
		mark->ce_bytes = (uint8_t)(mark->ce_bytes + mac_ce_put(mark->ce + mark->ce_bytes,
								       need, tx->sch, ce->lcid,
								       ce->payload, ce->bytes));
	}
	tx->nb_ces = kept;
}

/* Begins the TB of tx->carrier. @return false when no mark is to be had: the grant goes unused. */
static bool
begin_tb(struct mac_tx *tx, uint64_t now_ns)
{
	struct mac_tx_tb *tb = &tx->tb;
	struct rte_mbuf *marks[2];
	uint32_t room = tx->slot.tb_bytes[tx->carrier], reserve = 0;

	if (rte_pktmbuf_alloc_bulk(tx->hdr, marks, 2)) {
		tx->tbs_no_mark++;
		return false;
	}
	*tb = (struct mac_tx_tb){.phase = MAC_TX_START, .start = marks[0], .end = marks[1]};
	fill_mark(tx, tb->start, AP_M_TB_START);
	fill_mark(tx, tb->end, AP_M_TB_END);
	if (tx->lcp_ns == UINT64_MAX)
		tx->lcp_ns = now_ns;
	mac_lcp_begin(tx, now_ns);
	/* §6.1.2: DL CEs stand before the SDUs, UL CEs after them. */
	if (tx->sch == MAC_DL_SCH) {
		put_ces(tx, tb->start, false, &room);
	} else {
		put_ces(tx, tb->end, true, &room);
		reserve = mac_bsr_plan(tx, room, now_ns);
		room -= reserve;
		if (unlikely(now_ns >= tx->phr_ns))
			mac_phr_plan(tx, room, now_ns);
		put_ces(tx, tb->end, false, &room);
	}
	tx->sr.granted = true;
	tb->reserved = reserve;
	tb->left = room;
	return true;
}

/* A TB of the HARQ buffer: one mark tells which. @return false when none is to be had. */
static bool
begin_retx(struct mac_tx *tx)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(tx->hdr);

	if (m == NULL) {
		tx->tbs_no_mark++;
		return false;
	}
	fill_mark(tx, m, AP_M_TB_RETX);
	tx->tb = (struct mac_tx_tb){.phase = MAC_TX_RETX, .start = m};
	tx->harq_retx++;
	return true;
}

/*
 * §5.4.2.1: "if the NDI … has been toggled compared to the value in the previous transmission of
 * this TB of this HARQ process; or … this is the first received uplink grant for the HARQ process:
 * deliver … the HARQ information of the TB to the … HARQ process [new transmission]; else: if the
 * HARQ buffer is empty: ignore the uplink grant; else: … trigger a retransmission."
 */
static bool
begin_harq(struct mac_tx *tx, uint64_t now_ns)
{
	const uint32_t bytes = tx->slot.tb_bytes[tx->carrier];
	const struct slot_tb *g = &tx->slot.tb[tx->carrier];
	struct mac_tx_harq *h;

	if (g->harq_process >= tx->harq_processes) {
		tx->harq_mismatch++;
		return false;
	}
	h = &tx->harq[tx->carrier][g->harq_process];
	if (h->tb_bytes == 0 || h->new_data != g->new_data) {
		if (!begin_tb(tx, now_ns))
			return false;
		*h = (struct mac_tx_harq){bytes, g->new_data};
		return true;
	}
	/* TS 38.214 §6.1.4.2: a retransmission has the TB size of the first transmission. */
	if (h->tb_bytes != bytes) {
		tx->harq_mismatch++;
		return false;
	}
	return begin_retx(tx);
}

/* All SDUs are in: the BSR tells what still waits, and the rest is padding. */
static struct rte_mbuf *
end_tb(struct mac_tx *tx, uint64_t now_ns)
{
	struct mac_tx_tb *tb = &tx->tb;
	struct rte_mbuf *m = tb->end;
	struct mac_tb_mark *mark = mark_of(m);
	uint32_t room = MAC_TB_CE_MAX - mark->ce_bytes;
	uint8_t *p = mark->ce + mark->ce_bytes;
	bool waiting;

	if (tx->sch == MAC_UL_SCH) {
		uint32_t bytes = tb->bsr_lcid
					 ? mac_bsr_write(tx, p, RTE_MIN(room, tb->reserved), now_ns)
					 : mac_bsr_pad(tx, p, RTE_MIN(room, tb->left), now_ns);

		mark->ce_bytes = (uint8_t)(mark->ce_bytes + bytes);
		waiting = mac_bsr_settle(tx);
		if (unlikely(mac_sr_on(tx)))
			mac_sr_settle(tx, tb->bsr_lcid != 0, waiting);
	}
	m->data_len = mac_tb_mark_bytes(mark->ce_bytes);
	m->pkt_len = m->data_len;
	if (tb->left == mark->tb_bytes)
		tx->tbs_padding_only++;
	tx->tbs++;
	tb->end = NULL;
	tb->phase = MAC_TX_NO_TB;
	tx->carrier++;
	return m;
}

static unsigned
continue_tb(struct mac_tx *tx, struct rte_mbuf **pkts, unsigned max, uint64_t now_ns)
{
	struct mac_tx_tb *tb = &tx->tb;
	unsigned n = 0;

	if (unlikely(tb->phase == MAC_TX_RETX)) {
		pkts[n++] = tb->start;
		tb->start = NULL;
		tb->phase = MAC_TX_NO_TB;
		tx->carrier++;
		return n;
	}
	if (tb->phase == MAC_TX_START && max > 0) {
		struct rte_mbuf *m = tb->start;

		m->data_len = mac_tb_mark_bytes(mark_of(m)->ce_bytes);
		m->pkt_len = m->data_len;
		pkts[n++] = m;
		tb->start = NULL;
		tb->phase = MAC_TX_DATA;
	}
	if (tb->phase == MAC_TX_DATA && n < max) {
		n += mac_lcp_pull(tx, pkts + n, max - n, now_ns);
		if (n < max)
			tb->phase = MAC_TX_END;
	}
	if (tb->phase == MAC_TX_END && n < max)
		pkts[n++] = end_tb(tx, now_ns);
	return n;
}

unsigned
mac_tx_next(struct mac_tx *tx, struct rte_mbuf **pkts, unsigned max, uint64_t now_ns,
	    uint32_t *carrier)
{
	while (tx->active && max > 0) {
		if (tx->carrier >= tx->nb_carriers) {
			tx->active = false;
			break;
		}
		if (tx->tb.phase == MAC_TX_NO_TB &&
		    (tx->slot.tb_bytes[tx->carrier] == 0 ||
		     !(tx->harq_processes ? begin_harq(tx, now_ns) : begin_tb(tx, now_ns)))) {
			tx->carrier++;
			continue;
		}
		*carrier = tx->carrier;
		return continue_tb(tx, pkts, max, now_ns);
	}
	return 0;
}
