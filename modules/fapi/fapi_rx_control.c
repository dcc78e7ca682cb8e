/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are not data: slots and their grants, and what a PHY tells a gNB. */
#include "codec/fapi_uci.h"
#include "modules/fapi/fapi_rx_impl.h"

static void
frame_used(struct rte_mbuf *m, struct fapi_rx_out *out)
{
	out->used++;
	rte_pktmbuf_free(m);
}

static void
grants_reset(struct fapi_rx *f)
{
	for (uint32_t u = 0; u < f->nb_granted; u++)
		for (unsigned c = 0; c < SLOT_CARRIERS_MAX; c++)
			f->grants_lost += f->grants[u].tb_bytes[c] > 0;
	f->nb_granted = 0;
}

/** @return the UE's record of the slot, a new one if it has none yet, NULL when there is no room.
 */
static struct slot_grant *
record_of(struct fapi_rx *f, uint32_t ue, struct fapi_slot at)
{
	struct slot_grant *g = &f->grants[f->place[ue]];

	if (f->place[ue] < f->nb_granted && g->ue == ue)
		return g;
	if (f->nb_granted == SLOT_UES_MAX)
		return NULL;
	f->place[ue] = (uint16_t)f->nb_granted;
	g = &f->grants[f->nb_granted++];
	*g = (struct slot_grant){.sfn = at.sfn, .slot = at.slot, .ue = (uint16_t)ue};
	return g;
}

/** One TB a UE, carrier and slot. */
static void
grant_take(struct fapi_rx *f, uint32_t ue, uint16_t carrier, struct fapi_slot at,
	   const struct fapi_grant *g)
{
	struct slot_grant *record = record_of(f, ue, at);

	f->grants_in++;
	if (record == NULL || record->tb_bytes[carrier] != 0) {
		f->grants_lost++;
		return;
	}
	record->rnti = g->rnti;
	record->tb_bytes[carrier] = g->tb_bytes;
	record->tb[carrier] = (struct slot_tb){
		.handle = (uint16_t)g->handle,
		.harq_process = g->harq_process,
		.new_data = g->new_data,
		.rv_index = g->rv_index,
		.subcarrier_spacing = g->subcarrier_spacing,
		.nr_of_symbols = g->nr_of_symbols,
	};
}

/** Whose grant it is. @return L2_NO_UE for one of nobody here. */
static inline uint32_t
ue_of(const struct fapi_rx *f, uint16_t rnti)
{
	const uint16_t ue = (uint16_t)(rnti - f->rnti);

	if (f->rnti == 0)
		return 0;
	return ue < f->nb_ues ? ue : L2_NO_UE;
}

/** UL_TTI.request or DL_TTI.request. @return 0 or -(enum codec_err). */
static int
tti_request(struct fapi_rx *f, const struct nfapi_p7 *h, const uint8_t *p, size_t len)
{
	struct fapi_grant g[FAPI_TTI_PDUS_MAX];
	unsigned nb = FAPI_TTI_PDUS_MAX;
	struct fapi_slot at;
	int ret = h->message_id == FAPI_UL_TTI_REQUEST ? fapi_ul_tti_decode(p, len, &at, g, &nb)
						       : fapi_dl_tti_decode(p, len, &at, g, &nb);

	if (ret < 0)
		return ret;
	if (at.slot >= f->slots_per_frame)
		return -CODEC_RESERVED;
	for (unsigned i = 0; i < nb; i++) {
		const uint32_t ue = ue_of(f, g[i].rnti);

		if (ue == L2_NO_UE) {
			f->grants_other++;
			continue;
		}
		if (f->nb_granted && (f->grants[0].sfn != at.sfn || f->grants[0].slot != at.slot))
			grants_reset(f);
		grant_take(f, ue, h->phy_id, at, &g[i]);
	}
	return 0;
}

/** A UE's scheduling request, to a gNB. @return 0 or -(enum codec_err). */
static int
sr_indication(struct fapi_rx *f, const uint8_t *p, size_t len)
{
	struct fapi_sr sr;
	uint32_t ue;
	int ret = fapi_sr_decode(p, len, &sr);

	if (ret < 0)
		return ret;
	ue = ue_of(f, sr.rnti);
	f->srs_in++;
	if (ue == L2_NO_UE)
		f->srs_other++;
	else
		mac_ul_request(&f->ul[ue]);
	return 0;
}

/** A PHY that received nothing has no SNR to tell of. */
static enum mac_tb_verdict
verdict(const struct fapi_crc *c)
{
	if (!c->failed)
		return MAC_TB_DECODED;
	return c->ul_cqi == FAPI_CQI_INVALID ? MAC_TB_NOT_SENT : MAC_TB_FAILED;
}

/** What became of uplink TBs. @return 0 or -(enum codec_err). */
static int
crc_indication(struct fapi_rx *f, uint16_t carrier, const uint8_t *p, size_t len)
{
	struct fapi_crc c[FAPI_CRCS_MAX];
	unsigned nb = FAPI_CRCS_MAX;
	struct fapi_slot at;
	int ret = fapi_crc_indication_decode(p, len, &at, c, &nb);

	if (ret < 0)
		return ret;
	if (at.slot >= f->slots_per_frame)
		return -CODEC_RESERVED;
	for (unsigned i = 0; i < nb; i++) {
		const uint32_t ue = ue_of(f, c[i].rnti);

		f->crcs_in++;
		if (ue == L2_NO_UE) {
			f->crcs_other++;
			continue;
		}
		mac_tb_box_put(f->box, (struct mac_tb_news){.sfn = at.sfn,
							    .slot = (uint8_t)at.slot,
							    .carrier = (uint8_t)carrier,
							    .ue = (uint16_t)ue,
							    .process = c[i].harq_id,
							    .verdict = verdict(&c[i])});
	}
	return 0;
}

/** What UEs answer to downlink TBs, k1 slots behind these. @return 0 or -(enum codec_err). */
static int
harq_feedback(struct fapi_rx *f, uint16_t carrier, const uint8_t *p, size_t len)
{
	struct fapi_harq h[FAPI_UCIS_MAX];
	unsigned nb = FAPI_UCIS_MAX;
	struct fapi_slot at;
	int ret = fapi_uci_harq_decode(p, len, &at, h, &nb);
	uint32_t slot;

	if (ret < 0)
		return ret;
	if (at.slot >= f->slots_per_frame)
		return -CODEC_RESERVED;
	slot = (at.sfn + FAPI_SFN_MAX + 1U) * f->slots_per_frame + at.slot - f->k1;
	at.sfn = (uint16_t)(slot / f->slots_per_frame % (FAPI_SFN_MAX + 1U));
	at.slot = (uint16_t)(slot % f->slots_per_frame);
	for (unsigned i = 0; i < nb; i++) {
		static const uint8_t verdicts[] = {[FAPI_HARQ_ACK] = MAC_TB_DECODED,
						   [FAPI_HARQ_NACK] = MAC_TB_FAILED,
						   [FAPI_HARQ_DTX] = MAC_TB_DTX};
		const uint32_t ue = ue_of(f, h[i].rnti);

		f->answers_in++;
		if (ue == L2_NO_UE) {
			f->answers_other++;
			continue;
		}
		mac_tb_box_put(f->box, (struct mac_tb_news){.sfn = at.sfn,
							    .slot = (uint8_t)at.slot,
							    .carrier = (uint8_t)carrier,
							    .ue = (uint16_t)ue,
							    .verdict = verdicts[h[i].value],
							    .downlink = true});
	}
	return 0;
}

/** What channels UEs have. @return 0 or -(enum codec_err). */
static int
uci_indication(struct fapi_rx *f, uint16_t carrier, const uint8_t *p, size_t len)
{
	struct fapi_cqi c[FAPI_UCIS_MAX];
	unsigned nb = FAPI_UCIS_MAX;
	struct fapi_slot at;
	int ret = fapi_uci_indication_decode(p, len, &at, c, &nb);

	for (unsigned i = 0; ret > 0 && i < nb; i++) {
		const uint32_t ue = ue_of(f, c[i].rnti);

		f->cqis_in++;
		if (ue == L2_NO_UE)
			f->cqis_other++;
		else
			mac_ul_channel(&f->ul[ue], c[i].cqi);
	}
	return ret < 0 || f->k1 == 0 ? ret : harq_feedback(f, carrier, p, len);
}

/** What the PHY refused. @return 0 or -(enum codec_err). */
static int
error_indication(struct fapi_rx *f, const uint8_t *p, size_t len)
{
	int ret = fapi_error_decode(p, len, &f->error);
	bool downlink;

	if (ret < 0)
		return ret;
	f->errors_in++;
	downlink = f->k1 && (f->error.message_id == FAPI_DL_TTI_REQUEST ||
			     f->error.message_id == FAPI_TX_DATA_REQUEST);
	if (f->box && (downlink || f->error.message_id == FAPI_UL_TTI_REQUEST))
		mac_tb_box_put(f->box, (struct mac_tb_news){.sfn = f->error.at.sfn,
							    .slot = (uint8_t)f->error.at.slot,
							    .verdict = MAC_TB_REFUSED,
							    .downlink = downlink});
	return 0;
}

/** Slots from `a` to `b`, 1 for the next. */
static uint32_t
slots_between(const struct fapi_rx *f, struct fapi_slot a, struct fapi_slot b)
{
	const uint32_t period = (FAPI_SFN_MAX + 1U) * f->slots_per_frame;

	const uint32_t from = a.sfn * f->slots_per_frame + a.slot;
	const uint32_t to = b.sfn * f->slots_per_frame + b.slot;

	return (to + period - from) % period;
}

/** SLOT.indication: its grants go to the MAC. @return 0 or -(enum codec_err). */
static int
slot_indication(struct fapi_rx *f, const uint8_t *p, size_t len, uint64_t now_ns)
{
	struct fapi_slot at;
	int ret = fapi_slot_decode(p, len, &at);

	if (ret < 0)
		return ret;
	if (at.slot >= f->slots_per_frame)
		return -CODEC_RESERVED;
	if (f->indicated)
		f->slots_lost += (slots_between(f, f->last, at) ?: 1) - 1;
	f->indicated = true;
	f->last = at;
	f->slots_in++;
	if (f->nb_granted && (f->grants[0].sfn != at.sfn || f->grants[0].slot != at.slot))
		grants_reset(f);
	if (f->nb_granted == 0)
		f->grants[f->nb_granted++] = (struct slot_grant){.sfn = at.sfn, .slot = at.slot};
	for (uint32_t u = 0; u < f->nb_granted; u++)
		f->grants[u].enter_ns = now_ns;
	slot_box_put_slot(f->slots, f->grants, f->nb_granted);
	f->nb_granted = 0;
	return 0;
}

void
fapi_rx_control(struct fapi_rx *f, const struct nfapi_p7 *h, struct rte_mbuf *m, uint64_t now_ns,
		struct fapi_rx_out *out)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_RX_HDR_LEN);
	const size_t len = m->data_len - FAPI_RX_HDR_LEN;
	int ret;

	if (h->more || h->segment != 0) {
		fapi_rx_lose(m, FAPI_RX_BAD_SEGMENT, out);
		return;
	}
	switch (h->message_id) {
	case FAPI_SLOT_INDICATION:
		ret = slot_indication(f, p, len, now_ns);
		break;
	case FAPI_UL_TTI_REQUEST:
	case FAPI_DL_TTI_REQUEST:
		ret = tti_request(f, h, p, len);
		break;
	case FAPI_SR_INDICATION:
		if (f->ul == NULL) {
			fapi_rx_lose(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = sr_indication(f, p, len);
		break;
	case FAPI_CRC_INDICATION:
		if (f->box == NULL) {
			fapi_rx_lose(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = crc_indication(f, h->phy_id, p, len);
		break;
	case FAPI_UCI_INDICATION:
		if (f->ul == NULL) {
			fapi_rx_lose(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = uci_indication(f, h->phy_id, p, len);
		break;
	case FAPI_ERROR_INDICATION:
		ret = error_indication(f, p, len);
		break;
	default:
		fapi_rx_lose(m, FAPI_RX_UNKNOWN_MESSAGE, out);
		return;
	}
	if (ret < 0)
		fapi_rx_lose(m, FAPI_RX_BAD_BODY, out);
	else
		frame_used(m, out);
}
