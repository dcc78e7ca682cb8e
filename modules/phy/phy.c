/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "codec/nfapi.h"
#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/l2/l2.h"
#include "modules/phy/phy.h"

#define HOLD_FRAMES 16384
#define RNTI 0x4601

static bool
probability(double p)
{
	return p >= 0 && p <= 1;
}

static bool
cfg_ok(const struct phy_cfg *c)
{
	const struct phy_impair *i = &c->impair;

	if (c->numerology > 4 || c->carriers < 1 || c->carriers > PHY_CARRIERS_MAX)
		return false;
	if (!probability(i->tb_loss) || !probability(i->frame_loss) || !probability(i->duplicate) ||
	    !probability(i->reorder) || !(i->bit_error_rate >= 0 && i->bit_error_rate <= 0.5))
		return false;
	if (c->frame_bytes > UINT16_MAX || fapi_frag_payload(c->frame_bytes) == 0)
		return false;
	if (c->gnb && (!c->cross_connect || c->grant_on_sr || !probability(c->harq.soft_loss) ||
		       !probability(c->dl_soft_loss) || !probability(c->feedback_loss) ||
		       c->ahead >= PHY_REQUEST_SLOTS / 2 || c->nb_ues > L2_UES_MAX))
		return false;
	if (c->pool == NULL ||
	    rte_pktmbuf_data_room_size(c->pool) < c->frame_bytes + RTE_PKTMBUF_HEADROOM)
		return false;
	for (unsigned k = 0; k < c->carriers; k++) {
		const struct phy_carrier_cfg *one = &c->carrier[k];

		if (one->nb_tb_bytes < 1 || one->nb_tb_bytes > PHY_TB_SIZES_MAX)
			return false;
		for (unsigned s = 0; s < one->nb_tb_bytes; s++)
			if (one->tb_bytes[s] > fapi_tb_max(c->frame_bytes))
				return false;
	}
	return rte_is_power_of_2(c->hold_frames);
}

int
phy_init(struct phy *p, const struct phy_cfg *cfg)
{
	p->cfg = *cfg;
	if (p->cfg.rnti == 0)
		p->cfg.rnti = RNTI;
	if (p->cfg.ethertype == 0)
		p->cfg.ethertype = NFAPI_ETHERTYPE;
	if (p->cfg.frame_bytes == 0)
		p->cfg.frame_bytes = FAPI_FRAME_BYTES;
	if (p->cfg.hold_frames == 0)
		p->cfg.hold_frames = HOLD_FRAMES;
	if (p->cfg.nb_ues == 0)
		p->cfg.nb_ues = 1;
	if (!cfg_ok(&p->cfg))
		return -EINVAL;
	for (uint32_t side = 0; side < PHY_SIDES; side++) {
		/* A PDSCH PDU has neither HARQ process nor NDI: they are in the DCI. */
		if (p->cfg.side[side].downlink && cfg->harq.processes)
			return -EINVAL;
		phy_sr_init(&p->sr[side], p->cfg.numerology);
		if (!p->cfg.gnb &&
		    phy_harq_init(&p->harq[side], &p->cfg.harq, p->cfg.numerology) != 0)
			return -EINVAL;
	}
	if (p->cfg.gnb) {
		p->requests = phy_requests_create();
		if (p->requests == NULL || phy_uplink_init(p) != 0 || phy_downlink_init(p) != 0 ||
		    phy_channel_init(p) != 0) {
			phy_fini(p);
			return -ENOMEM;
		}
	}
	atomic_store(&p->limit, cfg->slots ? cfg->slots : PHY_SLOTS_FOREVER);
	for (uint32_t side = 0; side < PHY_SIDES; side++)
		if (phy_path_init(p, side) != 0) {
			phy_fini(p);
			return -ENOMEM;
		}
	return 0;
}

void
phy_fini(struct phy *p)
{
	for (uint32_t side = 0; side < PHY_SIDES; side++)
		phy_path_fini(&p->path[side]);
	phy_uplink_fini(p);
	phy_downlink_fini(p);
	phy_channel_fini(p);
	phy_requests_destroy(p->requests);
	p->requests = NULL;
}

void
phy_step(struct phy *p, uint64_t slots)
{
	atomic_fetch_add_explicit(&p->steps, slots, memory_order_release);
}

void
phy_stop_after(struct phy *p, uint64_t slots)
{
	uint64_t newest = 0;

	for (uint32_t side = 0; side < PHY_SIDES; side++)
		newest = RTE_MAX(newest,
				 atomic_load_explicit(&p->slot[side].next, memory_order_relaxed));
	atomic_store_explicit(&p->limit, newest + slots, memory_order_relaxed);
}

void
phy_set_tb(struct phy *p, uint8_t carrier, uint32_t bytes)
{
	atomic_store_explicit(&p->tb_bytes[carrier], bytes, memory_order_relaxed);
}
