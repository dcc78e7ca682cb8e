/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/nfapi.h"
#include "core/clock.h"
#include "core/meta.h"
#include "modules/phy/phy.h"

/* What a full-band grant looks like; receivers here look at RNTI and TB size. */
static const struct fapi_grant full_band = {
	.bwp_size = 273,
	.rb_size = 273,
	.nr_of_symbols = 14,
	.qam_mod_order = 8,
	.mcs_index = 27,
	.new_data = true,
};

/** What the gNB's side is told beside the slot. */
struct slot_news {
	bool refused;
	struct fapi_error error;
	uint16_t carriers;   /**< with TBs that are missing */
	struct fapi_slot at; /**< their slot */
	uint8_t nb[PHY_REQUEST_CARRIERS];
	struct fapi_crc crc[PHY_REQUEST_CARRIERS][FAPI_CRCS_MAX];
	uint16_t nb_cqis;
	struct fapi_cqi cqi[FAPI_UCIS_MAX];
	uint16_t nb_answers; /**< messages */
	struct phy_downlink_news answers[PHY_DOWNLINK_NEWS];
};
_Static_assert(PHY_SLOT_FRAMES_MAX == PHY_REQUEST_CARRIERS + 3 + PHY_DOWNLINK_NEWS,
	       "a slot's frames have room");

/** What a carrier gets in the slot at hand. */
struct slot_todo {
	uint32_t tb_bytes;
	int process; /**< with HARQ */
	bool grant;
	const struct phy_ul_tti *tti; /**< with a gNB: what it asked for */
};

static void
slot_advance(const struct phy *p, struct phy_slot *s, uint64_t by)
{
	const uint32_t per_frame = 10U << p->cfg.numerology;
	uint64_t slot = s->at.slot + by;

	atomic_store_explicit(&s->next, atomic_load_explicit(&s->next, memory_order_relaxed) + by,
			      memory_order_relaxed);
	s->due_ns += by * phy_slot_ns(p->cfg.numerology);
	if (slot >= per_frame) {
		s->at.sfn = (uint16_t)((s->at.sfn + slot / per_frame) % (FAPI_SFN_MAX + 1));
		slot %= per_frame;
	}
	s->at.slot = (uint16_t)slot;
}

/** @return slots that the side's clock runs behind. */
static uint64_t
behind(const struct phy *p, const struct phy_slot *s)
{
	return p->requests && s == &p->slot[PHY_UES] ? p->cfg.ahead : 0;
}

/** The first visit of any side starts the clock of all. */
static void
clock_start(struct phy *p, struct phy_slot *s, uint64_t now_ns)
{
	uint64_t t0 = 0;

	if (!atomic_compare_exchange_strong(&p->t0_ns, &t0, now_ns))
		s->due_ns = t0;
	else
		s->due_ns = now_ns;
	s->due_ns += behind(p, s) * phy_slot_ns(p->cfg.numerology);
}

/** @return true when a slot is to be sent now; `s` then describes it. */
static bool
slot_due(struct phy *p, struct phy_slot *s, uint64_t now_ns)
{
	const uint64_t next = atomic_load_explicit(&s->next, memory_order_relaxed);
	const uint64_t period = phy_slot_ns(p->cfg.numerology);

	if (unlikely(s->due_ns == 0))
		clock_start(p, s, now_ns);
	if (next >= atomic_load_explicit(&p->limit, memory_order_relaxed))
		return false;
	if (p->cfg.stepped)
		return next + behind(p, s) < atomic_load_explicit(&p->steps, memory_order_acquire);
	if ((int64_t)(now_ns - s->due_ns) < 0)
		return false;
	if (unlikely(now_ns - s->due_ns >= period)) {
		uint64_t late = (now_ns - s->due_ns) / period;

		/* Grants that a gNB made reach its UEs, late or not. */
		if (p->requests && s == &p->slot[PHY_UES])
			late = phy_request_next(p, next, next + late) - next;
		s->slots_skipped += late;
		slot_advance(p, s, late);
	}
	return true;
}

uint8_t *
phy_frame_begin(const struct phy *p, uint32_t side, struct rte_mbuf *m, const struct nfapi_p7 *h,
		uint16_t body)
{
	uint8_t *q = rte_pktmbuf_mtod(m, uint8_t *);

	*ap_meta(m) = (struct ap_meta){.flags = AP_M_CONTROL, .carrier = (uint8_t)h->phy_id};
	m->data_len = NFAPI_ETHER_LEN + NFAPI_P7_LEN + body;
	m->pkt_len = m->data_len;
	memcpy(q, p->cfg.side[side].dst, 6);
	memcpy(q + 6, p->cfg.side[side].src, 6);
	be16_put(q + 12, p->cfg.ethertype);
	nfapi_p7_put(q + NFAPI_ETHER_LEN, h);
	return q + NFAPI_ETHER_LEN + NFAPI_P7_LEN;
}

static uint32_t
next_tb_bytes(const struct phy_carrier_cfg *c, uint8_t *turn)
{
	uint32_t bytes = c->tb_bytes[*turn];

	*turn = *turn + 1 < c->nb_tb_bytes ? *turn + 1 : 0;
	return bytes;
}

/** The grants a gNB asked for. */
static void
tti_frame(struct phy *p, uint32_t side, struct rte_mbuf *m, struct nfapi_p7 *h,
	  const struct phy_ul_tti *t)
{
	const uint16_t len = FAPI_UL_TTI_LEN(t->nb);

	h->message_id = FAPI_UL_TTI_REQUEST;
	h->length = NFAPI_P7_LEN + (uint32_t)len;
	fapi_ul_tti_encode(phy_frame_begin(p, side, m, h, len), len, p->slot[side].at, t->grant,
			   t->nb);
}

static void
grant_frame(struct phy *p, uint32_t side, struct rte_mbuf *m, struct nfapi_p7 *h,
	    const struct slot_todo *todo)
{
	const struct phy_slot *s = &p->slot[side];
	const bool downlink = p->cfg.side[side].downlink;
	const uint16_t len = downlink ? FAPI_DL_TTI_LEN(1) : FAPI_UL_TTI_LEN(1);
	struct fapi_grant g = full_band;
	uint8_t *q;

	g.rnti = p->cfg.rnti;
	g.tb_bytes = todo->tb_bytes;
	g.subcarrier_spacing = p->cfg.numerology;
	if (unlikely(phy_harq_on(&p->harq[side])))
		phy_harq_grant(&p->harq[side], (uint8_t)h->phy_id, todo->process, todo->tb_bytes,
			       atomic_load_explicit(&s->next, memory_order_relaxed), &g);
	h->message_id = downlink ? FAPI_DL_TTI_REQUEST : FAPI_UL_TTI_REQUEST;
	h->length = NFAPI_P7_LEN + (uint32_t)len;
	q = phy_frame_begin(p, side, m, h, len);
	if (downlink)
		fapi_dl_tti_encode(q, len, s->at, &g, 1);
	else
		fapi_ul_tti_encode(q, len, s->at, &g, 1);
}

static void
error_frame(struct phy *p, uint32_t side, struct rte_mbuf *m, struct nfapi_p7 *h,
	    const struct fapi_error *e)
{
	h->message_id = FAPI_ERROR_INDICATION;
	h->length = NFAPI_P7_LEN + FAPI_ERROR_INDICATION_LEN;
	h->sequence = p->slot[side].sequence++;
	fapi_error_put(phy_frame_begin(p, side, m, h, FAPI_ERROR_INDICATION_LEN), e);
}

/** CRC.indications of TBs that are missing. @return frames */
static uint16_t
missing_frames(struct phy *p, uint32_t side, struct rte_mbuf **out, struct nfapi_p7 *h,
	       const struct slot_news *news)
{
	uint16_t n = 0;

	h->message_id = FAPI_CRC_INDICATION;
	for (uint8_t c = 0; n < news->carriers; c++) {
		const uint16_t len = (uint16_t)FAPI_CRC_INDICATION_LEN(news->nb[c]);

		if (news->nb[c] == 0)
			continue;
		h->phy_id = c;
		h->length = NFAPI_P7_LEN + (uint32_t)len;
		h->sequence = p->slot[side].sequence++;
		fapi_crc_indication_encode(phy_frame_begin(p, side, out[n++], h, len), len,
					   news->at, news->crc[c], news->nb[c]);
	}
	h->phy_id = 0;
	return n;
}

static void
uci_frame(struct phy *p, uint32_t side, struct rte_mbuf *m, struct nfapi_p7 *h,
	  const struct slot_news *news)
{
	const uint16_t len = (uint16_t)FAPI_UCI_INDICATION_LEN(news->nb_cqis);

	h->message_id = FAPI_UCI_INDICATION;
	h->length = NFAPI_P7_LEN + (uint32_t)len;
	h->sequence = p->slot[side].sequence++;
	fapi_uci_indication_encode(phy_frame_begin(p, side, m, h, len), len, p->slot[side].at,
				   news->cqi, news->nb_cqis);
}

static void
answer_frame(struct phy *p, uint32_t side, struct rte_mbuf *m, struct nfapi_p7 *h,
	     const struct phy_downlink_news *a)
{
	const uint16_t len = (uint16_t)FAPI_UCI_HARQ_INDICATION_LEN(a->nb);

	h->phy_id = a->carrier;
	h->message_id = FAPI_UCI_INDICATION;
	h->length = NFAPI_P7_LEN + (uint32_t)len;
	h->sequence = p->slot[side].sequence++;
	fapi_uci_harq_encode(phy_frame_begin(p, side, m, h, len), len, a->at, a->harq, a->nb);
}

static void
slot_frames(struct phy *p, uint32_t side, uint64_t now_ns, const struct slot_todo *todo,
	    const struct slot_news *news, struct rte_mbuf **out)
{
	const uint64_t us = now_ns / AP_NS_PER_US;
	struct phy_slot *s = &p->slot[side];
	struct nfapi_p7 h = {.timestamp_us = (uint32_t)(us % NFAPI_TIMESTAMP_PERIOD_US)};
	uint16_t n = 0;

	for (uint8_t c = 0; c < p->cfg.carriers; c++) {
		if (!todo[c].grant)
			continue;
		h.phy_id = c;
		h.sequence = s->sequence++;
		if (todo[c].tti)
			tti_frame(p, side, out[n++], &h, todo[c].tti);
		else
			grant_frame(p, side, out[n++], &h, &todo[c]);
		s->grants += todo[c].tti ? todo[c].tti->nb : 1;
	}
	h.phy_id = 0;
	if (unlikely(news->carriers))
		n += missing_frames(p, side, out + n, &h, news);
	if (unlikely(news->nb_cqis))
		uci_frame(p, side, out[n++], &h, news);
	for (uint16_t i = 0; i < news->nb_answers; i++)
		answer_frame(p, side, out[n++], &h, &news->answers[i]);
	h.phy_id = 0;
	if (unlikely(news->refused))
		error_frame(p, side, out[n++], &h, &news->error);
	h.message_id = FAPI_SLOT_INDICATION;
	h.length = NFAPI_P7_LEN + FAPI_SLOT_INDICATION_LEN;
	h.sequence = s->sequence++;
	fapi_slot_put(phy_frame_begin(p, side, out[n], &h, FAPI_SLOT_INDICATION_LEN), s->at);
}

/** With a gNB: its UEs get what it asked for. @return carriers that are granted something. */
static uint16_t
slot_requested(struct phy *p, uint32_t side, struct slot_todo *todo)
{
	const struct phy_ul_tti *tti[PHY_REQUEST_CARRIERS] = {0};
	uint16_t grants = 0;

	if (side == PHY_UES)
		phy_request_grants(
			p, atomic_load_explicit(&p->slot[side].next, memory_order_relaxed), tti);
	for (uint8_t c = 0; c < p->cfg.carriers; c++) {
		todo[c] = (struct slot_todo){.grant = tti[c] != NULL, .tti = tti[c]};
		grants += todo[c].grant;
	}
	return grants;
}

/** @return carriers that are granted something. */
static uint16_t
slot_plan(struct phy *p, uint32_t side, struct slot_todo *todo)
{
	struct phy_slot *s = &p->slot[side];
	struct phy_harq *harq = &p->harq[side];
	uint16_t grants = 0;

	if (unlikely(phy_harq_on(harq)))
		phy_harq_reports(harq, atomic_load_explicit(&s->next, memory_order_relaxed));
	for (uint8_t c = 0; c < p->cfg.carriers; c++) {
		uint32_t bytes = atomic_load_explicit(&p->tb_bytes[c], memory_order_relaxed);

		if (bytes == 0)
			bytes = next_tb_bytes(&p->cfg.carrier[c], &s->turn[c]);
		if (unlikely(p->cfg.grant_on_sr) && !phy_sr_waiting(&p->sr[side]))
			bytes = 0;
		todo[c] = (struct slot_todo){.tb_bytes = bytes, .grant = bytes > 0};
		if (unlikely(phy_harq_on(harq))) {
			todo[c].process = phy_harq_pick(harq, c, bytes);
			todo[c].grant = todo[c].process >= 0;
		}
		grants += todo[c].grant;
	}
	return grants;
}

/** @return frames. */
static uint16_t
slot_news(struct phy *p, struct slot_news *news)
{
	const uint64_t next = atomic_load_explicit(&p->slot[PHY_GNB].next, memory_order_relaxed);

	news->refused = phy_request_error(p, &news->error);
	news->carriers = phy_uplink_missing(p, &news->at, news->crc, news->nb);
	news->nb_cqis = phy_channel_report(p, next, news->cqi);
	news->nb_answers = phy_downlink_tell(p, next, news->answers);
	return news->refused + news->carriers + (news->nb_cqis > 0) + news->nb_answers;
}

static void
slot_end(struct phy *p, uint32_t side)
{
	struct phy_slot *s = &p->slot[side];

	if (p->requests && side == PHY_UES)
		phy_request_done(p, atomic_load_explicit(&s->next, memory_order_relaxed));
	slot_advance(p, s, 1);
}

uint16_t
phy_slot_poll(struct phy *p, uint32_t side, uint64_t now_ns, struct rte_mbuf **out, uint64_t *drops)
{
	struct phy_slot *s = &p->slot[side];
	struct slot_todo todo[PHY_CARRIERS_MAX];
	struct slot_news news;
	uint16_t frames;

	if (!slot_due(p, s, now_ns))
		return 0;
	news.refused = false;
	news.carriers = 0;
	news.nb_cqis = 0;
	news.nb_answers = 0;
	if (p->requests) {
		frames = 1 + slot_requested(p, side, todo);
		if (side == PHY_GNB)
			frames += slot_news(p, &news);
	} else {
		frames = 1 + slot_plan(p, side, todo);
	}
	if (unlikely(rte_pktmbuf_alloc_bulk(p->cfg.pool, out, frames) != 0)) {
		drops[PHY_SLOT_NO_MBUF] += frames;
		slot_end(p, side);
		return 0;
	}
	slot_frames(p, side, now_ns, todo, &news, out);
	s->slots++;
	slot_end(p, side);
	return frames;
}

uint64_t
phy_slot_due(const struct phy *p, uint32_t side)
{
	const struct phy_slot *s = &p->slot[side];

	if (p->cfg.stepped || atomic_load_explicit(&s->next, memory_order_relaxed) >=
				      atomic_load_explicit(&p->limit, memory_order_relaxed))
		return 0;
	return s->due_ns;
}
