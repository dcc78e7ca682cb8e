/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "codec/fapi_uci.h"
#include "core/pkt.h"
#include "modules/fapi/fapi_rx.h"

#define HDR_LEN (NFAPI_ETHER_LEN + NFAPI_P7_LEN)
#define ETHER_MIN 60 /* frames are padded to this; only such padding may follow a message */

int
fapi_rx_init(struct fapi_rx *f, const struct fapi_rx_cfg *cfg)
{
	if (cfg->carriers < 1 || cfg->carriers > L2_CARRIERS_MAX || cfg->numerology > 4 ||
	    cfg->nb_ues > L2_UES_MAX)
		return -EINVAL;
	*f = (struct fapi_rx){
		.ethertype = __builtin_bswap16(cfg->ethertype ? cfg->ethertype : NFAPI_ETHERTYPE),
		.slots_per_frame = (uint16_t)(10 << cfg->numerology),
		.rnti = cfg->rnti,
		.carriers = cfg->carriers,
		.checksum = cfg->checksum,
		.reassembly_ns = cfg->reassembly_ns ? cfg->reassembly_ns : FAPI_REASSEMBLY_NS,
		.nb_ues = cfg->nb_ues ? cfg->nb_ues : 1,
		.slots = cfg->slots,
		.ul = cfg->ul,
		.box = cfg->box,
		.k1 = cfg->k1,
		.copier = cfg->copier,
	};
	for (uint8_t i = 0; i < cfg->carriers; i++)
		fapi_reassembly_init(&f->carrier[i], i, cfg->proto);
	return 0;
}

void
fapi_rx_fini(struct fapi_rx *f)
{
	for (unsigned i = 0; i < f->carriers; i++)
		fapi_reassembly_fini(&f->carrier[i]);
}

uint64_t
fapi_rx_held(const struct fapi_rx *f)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < f->carriers; i++)
		held += fapi_reassembly_held(&f->carrier[i]);
	return held;
}

uint64_t
fapi_rx_expire(struct fapi_rx *f, uint64_t now_ns, struct fapi_rx_out *out)
{
	uint64_t due = 0;

	for (unsigned i = 0; i < f->carriers; i++) {
		uint64_t next;

		next = fapi_reassembly_expire(&f->carrier[i], now_ns, f->reassembly_ns, out);
		if (next != 0 && (due == 0 || next < due))
			due = next;
	}
	return due;
}

/** Drops a frame. @return -1, for the caller to pass on. */
static int
frame_drop(struct rte_mbuf *m, enum fapi_rx_drop reason, struct fapi_rx_out *out)
{
	out->drops[reason]++;
	rte_pktmbuf_free(m);
	return -1;
}

static void
frame_used(struct rte_mbuf *m, struct fapi_rx_out *out)
{
	out->used++;
	rte_pktmbuf_free(m);
}

static bool
checksum_fits(const struct rte_mbuf *m, const struct nfapi_p7 *h)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, NFAPI_ETHER_LEN);
	uint32_t crc = nfapi_p7_crc32c(p);

	crc = nfapi_crc32c(crc, p + NFAPI_P7_LEN, m->data_len - HDR_LEN);
	for (m = m->next; m != NULL; m = m->next)
		crc = nfapi_crc32c(crc, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	return nfapi_checksum(crc) == h->checksum;
}

/** Ethernet and P7 header. @return 0, or -1 with the frame dropped. */
static inline int
frame_check(const struct fapi_rx *f, struct rte_mbuf *m, struct nfapi_p7 *h,
	    struct fapi_rx_out *out)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type;
	int ret;

	if (unlikely(m->data_len < HDR_LEN))
		return frame_drop(m, FAPI_RX_SHORT, out);
	memcpy(&type, p + 12, sizeof(type));
	if (unlikely(type != f->ethertype))
		return frame_drop(m, FAPI_RX_NOT_FAPI, out);
	ret = nfapi_p7_decode(p + NFAPI_ETHER_LEN, m->data_len - NFAPI_ETHER_LEN,
			      m->pkt_len - NFAPI_ETHER_LEN, h);
	if (unlikely(ret < 0))
		return frame_drop(m, FAPI_RX_BAD_LENGTH, out);
	if (unlikely(h->length + NFAPI_ETHER_LEN != m->pkt_len)) {
		if (m->pkt_len > ETHER_MIN)
			return frame_drop(m, FAPI_RX_BAD_LENGTH, out);
		ap_pkt_trim(m, (uint16_t)(m->pkt_len - NFAPI_ETHER_LEN - h->length));
	}
	if (unlikely(f->checksum && h->checksum != 0 && !checksum_fits(m, h)))
		return frame_drop(m, FAPI_RX_BAD_CHECKSUM, out);
	if (unlikely(h->phy_id >= f->carriers))
		return frame_drop(m, FAPI_RX_UNKNOWN_CARRIER, out);
	return 0;
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

/** Messages that are not data: whole in one contiguous segment. */
static void
control_message(struct fapi_rx *f, const struct nfapi_p7 *h, struct rte_mbuf *m, uint64_t now_ns,
		struct fapi_rx_out *out)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, HDR_LEN);
	const size_t len = m->data_len - HDR_LEN;
	int ret;

	if (h->more || h->segment != 0) {
		frame_drop(m, FAPI_RX_BAD_SEGMENT, out);
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
			frame_drop(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = sr_indication(f, p, len);
		break;
	case FAPI_CRC_INDICATION:
		if (f->box == NULL) {
			frame_drop(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = crc_indication(f, h->phy_id, p, len);
		break;
	case FAPI_UCI_INDICATION:
		if (f->ul == NULL) {
			frame_drop(m, FAPI_RX_UNKNOWN_MESSAGE, out);
			return;
		}
		ret = uci_indication(f, h->phy_id, p, len);
		break;
	case FAPI_ERROR_INDICATION:
		ret = error_indication(f, p, len);
		break;
	default:
		frame_drop(m, FAPI_RX_UNKNOWN_MESSAGE, out);
		return;
	}
	if (ret < 0)
		frame_drop(m, FAPI_RX_BAD_BODY, out);
	else
		frame_used(m, out);
}

static inline void
frame_one(struct fapi_rx *f, struct rte_mbuf *m, uint64_t now_ns, struct fapi_rx_out *out)
{
	struct nfapi_p7 h;

	if (unlikely(frame_check(f, m, &h, out) < 0))
		return;
	if (unlikely(h.message_id != FAPI_RX_DATA_INDICATION &&
		     h.message_id != FAPI_TX_DATA_REQUEST)) {
		control_message(f, &h, m, now_ns, out);
		return;
	}
	if (unlikely(h.length == NFAPI_P7_LEN)) {
		frame_drop(m, FAPI_RX_BAD_LENGTH, out);
		return;
	}
	m = ap_pkt_strip(m, HDR_LEN);
	fapi_reassembly_add(&f->carrier[h.phy_id], &h, m, now_ns, out);
}

uint16_t
fapi_rx_burst(struct fapi_rx *f, struct rte_mbuf **frames, uint16_t nb, uint64_t now_ns,
	      struct fapi_rx_out *out)
{
	const uint16_t ahead = 8;
	uint16_t i;

	for (i = 0; i < RTE_MIN(nb, ahead); i++)
		rte_prefetch0(frames[i]);
	for (i = 0; i < nb && out->nb + FAPI_PDUS_MAX <= FAPI_RX_ROOM; i++) {
		/* Of the mbuf also the second line, for the chain: another core wrote both. */
		if (i + ahead < nb)
			rte_prefetch0(frames[i + ahead]);
		if (i + ahead / 2 < nb) {
			rte_prefetch0(rte_pktmbuf_mtod(frames[i + ahead / 2], void *));
			rte_mbuf_prefetch_part2(frames[i + ahead / 2]);
		}
		frame_one(f, frames[i], now_ns, out);
	}
	return i;
}
