/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that carry no TB: SRs of UEs, and a gNB's requests for TBs. */
#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"
#include "modules/phy/phy_job.h"

/** A frame's body that is no data. @param[out] len what of it lies in the first segment */
static const uint8_t *
body_of(const struct rte_mbuf *m, const struct nfapi_p7 *h, size_t *len)
{
	*len = RTE_MIN(m->data_len - (size_t)FAPI_HDR_LEN, (size_t)h->length - NFAPI_P7_LEN);
	return rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_HDR_LEN);
}

/** A UE's SR goes to the gNB as SR.indication, in its own frame. */
static void
sr_forward(struct phy *p, uint32_t side, struct rte_mbuf *m, const struct nfapi_p7 *h)
{
	const uint32_t egress = phy_egress(p, side);
	struct phy_path *path = &p->path[side];
	uint8_t *q = rte_pktmbuf_mtod(m, uint8_t *);
	struct nfapi_p7 to = *h;

	to.message_id = FAPI_SR_INDICATION;
	to.checksum = 0;
	memcpy(q, p->cfg.side[egress].dst, 6);
	memcpy(q + 6, p->cfg.side[egress].src, 6);
	nfapi_p7_put(q + NFAPI_ETHER_LEN, &to);
	*ap_meta(m) = (struct ap_meta){.flags = AP_M_CONTROL};
	path->out[path->nb_out++] = m;
}

/** What a gNB's PHY takes beside TX_Data.request. @return whether it was such a message */
static bool
gnb_request(struct phy *p, uint32_t side, struct rte_mbuf *m, const struct nfapi_p7 *h,
	    uint16_t *used, uint64_t *drops)
{
	const bool uplink = h->message_id == FAPI_UL_TTI_REQUEST;
	const uint8_t *body;
	struct fapi_sr sr;
	size_t len;
	int reason;

	if (side == PHY_UES ? h->message_id != FAPI_SR_REQUEST
			    : !uplink && h->message_id != FAPI_DL_TTI_REQUEST)
		return false;
	body = body_of(m, h, &len);
	if (side == PHY_UES) {
		reason = fapi_sr_decode(body, len, &sr) < 0 ? (int)PHY_BAD_BODY
			 : (uint16_t)(sr.rnti - p->cfg.rnti) >= p->cfg.nb_ues
				 ? (int)PHY_UNKNOWN_RNTI
				 : -1;
		if (reason < 0) {
			p->sr[side].srs++;
			sr_forward(p, side, m, h);
			return true;
		}
	} else {
		reason = phy_request_take(p, uplink, (uint8_t)h->phy_id, body, len);
	}
	if (reason >= 0) {
		phy_path_lose(m, reason, drops);
		return true;
	}
	(*used)++;
	rte_pktmbuf_free(m);
	return true;
}

void
phy_path_control(struct phy *p, uint32_t side, struct rte_mbuf *m, const struct nfapi_p7 *h,
		 int reason, uint16_t *used, uint64_t *drops)
{
	const uint8_t *body;
	struct fapi_sr sr;
	size_t len;

	if (p->requests && reason == PHY_UNKNOWN_MESSAGE && gnb_request(p, side, m, h, used, drops))
		return;
	if (reason != PHY_UNKNOWN_MESSAGE || h->message_id != FAPI_SR_REQUEST || p->requests) {
		phy_path_lose(m, reason, drops);
		return;
	}
	body = body_of(m, h, &len);
	if (fapi_sr_decode(body, len, &sr) < 0) {
		phy_path_lose(m, PHY_BAD_BODY, drops);
	} else if (sr.rnti != p->cfg.rnti) {
		phy_path_lose(m, PHY_UNKNOWN_RNTI, drops);
	} else {
		phy_sr_request(&p->sr[side], &sr);
		(*used)++;
		rte_pktmbuf_free(m);
	}
}
