/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving UM entity, TS 38.322 §5.2.2.2: reassembly window, table and t-Reassembly. */
#include <errno.h>

#include <rte_malloc.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_rx.h"

#define SEGMENTS_MAX_6 64
#define SEGMENTS_MAX_12 4096

int
rlc_um_rx_init(struct rlc_rx *e, uint32_t segments_max)
{
	struct rlc_um_rx *um = &e->um;
	bool narrow = e->bits == RLC_SN_6;
	int ret;

	if (!narrow && e->bits != RLC_SN_12)
		return -EINVAL;
	if (segments_max == 0)
		segments_max = narrow ? SEGMENTS_MAX_6 : SEGMENTS_MAX_12;
	um->window = narrow ? RLC_UM_WINDOW_6 : RLC_UM_WINDOW_12;
	um->sn_mask = (uint16_t)rlc_sn_mask(e->bits);
	ret = rlc_seg_table_init(&um->segs, segments_max);
	if (ret < 0)
		return ret;
	um->sdus = rte_zmalloc("rlc_sdu", sizeof(*um->sdus) * um->window, RTE_CACHE_LINE_SIZE);
	if (um->sdus == NULL) {
		rlc_seg_table_fini(&um->segs);
		return -ENOMEM;
	}
	return 0;
}

void
rlc_um_rx_fini(struct rlc_rx *e)
{
	struct rlc_um_rx *um = &e->um;

	for (unsigned i = 0; um->sdus && i < um->window; i++)
		rlc_sdu_drop(&um->segs, &um->sdus[i]);
	rte_free(um->sdus);
	um->sdus = NULL;
	rlc_seg_table_fini(&um->segs);
	e->held = 0;
	e->deadline_ns = 0;
}

static struct rte_mbuf *
drop(struct rlc_rx_counts *c, enum rlc_rx_drop reason, struct rte_mbuf *m)
{
	c->drops[reason]++;
	rte_pktmbuf_free(m);
	return NULL;
}

/* §7.1: comparisons are made modulo, from RX_Next_Highest - UM_Window_Size on. */
static uint16_t
rel(const struct rlc_um_rx *um, uint16_t sn)
{
	return (uint16_t)(sn - um->RX_Next_Highest + um->window) & um->sn_mask;
}

/* "(RX_Next_Highest – UM_Window_Size) <= SN < RX_Next_Highest" */
static bool
in_window(const struct rlc_um_rx *um, uint16_t sn)
{
	return rel(um, sn) < um->window;
}

static struct rlc_sdu *
sdu_of(struct rlc_um_rx *um, uint16_t sn)
{
	return &um->sdus[sn & (um->window - 1)];
}

static void
discard(struct rlc_rx *e, uint16_t sn, uint64_t *counter)
{
	unsigned n = rlc_sdu_drop(&e->um.segs, sdu_of(&e->um, sn));

	*counter += n;
	e->held -= n;
}

/* "the first SN >= `sn` that has not been reassembled and delivered to upper layer" */
static uint16_t
first_not_delivered(struct rlc_um_rx *um, uint16_t sn)
{
	while (sn != um->RX_Next_Highest && sdu_of(um, sn)->delivered)
		sn = (sn + 1) & um->sn_mask;
	return sn;
}

/*
 * "if RX_Next_Highest > RX_Next_Reassembly + 1; or if RX_Next_Highest =
 * RX_Next_Reassembly + 1 and there is at least one missing byte segment of the RLC SDU
 * associated with SN = RX_Next_Reassembly before the last byte of all received segments"
 */
static bool
something_missing(struct rlc_um_rx *um)
{
	uint16_t behind = (um->RX_Next_Highest - um->RX_Next_Reassembly) & um->sn_mask;

	return behind > 1 ||
	       (behind == 1 && rlc_sdu_has_gap(&um->segs, sdu_of(um, um->RX_Next_Reassembly)));
}

static void
start_if_missing(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns)
{
	if (!something_missing(&e->um))
		return;
	e->deadline_ns = RTE_MAX(now_ns + e->t_Reassembly_ns, 1U);
	e->um.RX_Timer_Trigger = e->um.RX_Next_Highest;
	if (e->t_Reassembly_ns == 0)
		rlc_um_rx_expire(e, c, now_ns);
}

/* §5.2.2.2.4 */
void
rlc_um_rx_expire(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns)
{
	struct rlc_um_rx *um = &e->um;
	uint16_t sn = um->RX_Next_Reassembly;

	e->deadline_ns = 0;
	/* "update RX_Next_Reassembly to the SN of the first SN >= RX_Timer_Trigger that has
	 * not been reassembled" */
	um->RX_Next_Reassembly = first_not_delivered(um, um->RX_Timer_Trigger);
	/* "discard all segments with SN < updated RX_Next_Reassembly" */
	for (; sn != um->RX_Next_Reassembly; sn = (sn + 1) & um->sn_mask) {
		if (!sdu_of(um, sn)->delivered)
			discard(e, sn, &c->drops[RLC_RX_T_REASSEMBLY]);
	}
	start_if_missing(e, c, now_ns);
}

/* §5.2.2.2.3: SN `x` lies outside of the window, which follows it. */
static void
move_window(struct rlc_rx *e, uint16_t x, struct rlc_rx_counts *c)
{
	struct rlc_um_rx *um = &e->um;
	uint16_t lower = (um->RX_Next_Highest - um->window) & um->sn_mask;
	uint16_t steps = (uint16_t)(rel(um, x) - um->window + 1);

	/* "update RX_Next_Highest to x + 1; discard any UMD PDUs with SN that falls outside
	 * of the reassembly window" */
	for (uint16_t i = 0; i < steps; i++)
		discard(e, (lower + i) & um->sn_mask, &c->drops[RLC_RX_WINDOW_MOVED]);
	um->RX_Next_Highest = (x + 1) & um->sn_mask;
	/* "if RX_Next_Reassembly falls outside of the reassembly window: set
	 * RX_Next_Reassembly to the SN of the first SN >= (RX_Next_Highest –
	 * UM_Window_Size) that has not been reassembled and delivered to upper layer" */
	if (!in_window(um, um->RX_Next_Reassembly))
		um->RX_Next_Reassembly =
			first_not_delivered(um, (um->RX_Next_Highest - um->window) & um->sn_mask);
}

/* §5.2.2.2.3, the part about t-Reassembly. */
static void
update_timer(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns)
{
	struct rlc_um_rx *um = &e->um;
	uint16_t trigger = um->RX_Timer_Trigger;

	/* "if RX_Timer_Trigger <= RX_Next_Reassembly; or if RX_Timer_Trigger falls outside
	 * of the reassembly window and RX_Timer_Trigger is not equal to RX_Next_Highest; or
	 * if RX_Next_Highest = RX_Next_Reassembly + 1 and there is no missing byte segment
	 * …: stop and reset t-Reassembly". The third is !something_missing() once the first
	 * is not true. */
	if (e->deadline_ns &&
	    (rel(um, trigger) <= rel(um, um->RX_Next_Reassembly) ||
	     (!in_window(um, trigger) && trigger != um->RX_Next_Highest) || !something_missing(um)))
		e->deadline_ns = 0;
	if (e->deadline_ns == 0)
		start_if_missing(e, c, now_ns);
}

/* §5.2.2.2.2 and §5.2.2.2.3 for payload `m` of a segment. */
static struct rte_mbuf *
place(struct rlc_rx *e, const struct rlc_umd *h, struct rte_mbuf *m, struct rlc_rx_counts *c,
      uint64_t now_ns)
{
	static const enum rlc_rx_drop reasons[] = {
		[RLC_INSERT_DUPLICATE] = RLC_RX_DUPLICATE,
		[RLC_INSERT_CONFLICT] = RLC_RX_SO_CONFLICT,
		[RLC_INSERT_FULL] = RLC_RX_SEGMENTS_FULL,
	};
	struct rlc_um_rx *um = &e->um;
	struct rlc_sdu *s = sdu_of(um, h->sn);
	struct rte_mbuf *sdu = NULL;
	enum rlc_insert inserted;
	unsigned covered, segments;

	/* "if (RX_Next_Highest – UM_Window_Size) <= SN < RX_Next_Reassembly: discard" */
	if (rel(um, h->sn) < rel(um, um->RX_Next_Reassembly))
		return drop(c, RLC_RX_SN_OLD, m);
	/* A lone segment never completes an SDU, so moving the window first is the same. */
	if (!in_window(um, h->sn))
		move_window(e, h->sn, c);
	else if (s->delivered)
		return drop(c, RLC_RX_DUPLICATE, m);

	inserted = rlc_sdu_insert(&um->segs, s, m, h->so, h->si == RLC_SI_LAST, &covered);
	if (inserted != RLC_INSERT_OK)
		drop(c, reasons[inserted], m);
	else
		e->held++;
	e->held -= covered;
	c->drops[RLC_RX_DUPLICATE] += covered;

	if (rlc_sdu_is_complete(s)) {
		sdu = rlc_sdu_join(&um->segs, s, &segments);
		s->delivered = true;
		e->held -= segments;
		c->used += segments;
		c->made++;
		/* "if x = RX_Next_Reassembly, update RX_Next_Reassembly to the SN of the
		 * first SN > current RX_Next_Reassembly that has not been reassembled" */
		if (h->sn == um->RX_Next_Reassembly)
			um->RX_Next_Reassembly = first_not_delivered(um, h->sn);
	}
	update_timer(e, c, now_ns);
	return sdu;
}

struct rte_mbuf *
rlc_um_rx_segment(struct rlc_rx *e, struct rte_mbuf *m, struct rlc_rx_counts *c, uint64_t now_ns)
{
	uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)RLC_UMD_HEADER_MAX);
	uint8_t copy[RLC_UMD_HEADER_MAX];
	struct rlc_umd h;
	int ret;

	ret = rlc_umd_decode(rte_pktmbuf_read(m, 0, len, copy), len, e->bits, &h);
	if (ret == -CODEC_CONTRADICTION)
		return drop(c, RLC_RX_SI_SO, m);
	if (ret < 0)
		return drop(c, RLC_RX_PDU_SHORT, m);
	if (m->pkt_len == (uint32_t)ret)
		return drop(c, RLC_RX_SDU_EMPTY, m);
	if (h.so + m->pkt_len - (uint32_t)ret > RLC_SDU_MAX)
		return drop(c, RLC_RX_SDU_OVERSIZE, m);
	m = ap_pkt_strip(m, (uint16_t)ret);
	if (h.si == RLC_SI_COMPLETE)
		return m;
	return place(e, &h, m, c, now_ns);
}
