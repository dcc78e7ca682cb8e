/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/phy/phy_channel.h"

#include <errno.h>

#include <rte_malloc.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"

#define CQI_MIN 1
#define CQI_MAX 15

/** @return the value that a UE's CQI wanders about. */
static int
base_of(const struct phy *p, uint32_t ue)
{
	return p->cfg.channel.cqi[ue % p->cfg.channel.nb];
}

int
phy_channel_init(struct phy *p)
{
	struct phy_channel *c = &p->channel;
	uint32_t room =
		(p->cfg.frame_bytes - FAPI_HDR_LEN - FAPI_UCI_INDICATION_LEN(0)) / FAPI_UCI_LEN;

	if (p->cfg.channel.nb == 0)
		return 0;
	room = RTE_MIN(room, (uint32_t)FAPI_UCIS_MAX);
	c->period = RTE_MAX((uint32_t)PHY_CHANNEL_SLOTS, (p->cfg.nb_ues + room - 1) / room);
	c->cqi = rte_zmalloc("phy_channel", p->cfg.nb_ues, 0);
	if (c->cqi == NULL)
		return -ENOMEM;
	for (uint32_t u = 0; u < p->cfg.nb_ues; u++)
		c->cqi[u] = (uint8_t)base_of(p, u);
	phy_rng_seed(&c->rng, p->cfg.seed + PHY_SIDES);
	return 0;
}

void
phy_channel_fini(struct phy *p)
{
	rte_free(p->channel.cqi);
	p->channel.cqi = NULL;
}

/** A step up, down, or none. */
static uint8_t
wander(struct phy *p, uint32_t ue)
{
	const int base = base_of(p, ue), spread = p->cfg.channel.spread;
	const int to = p->channel.cqi[ue] + (int)phy_rng_below(&p->channel.rng, 3) - 1;

	return (uint8_t)RTE_MAX(RTE_MAX(CQI_MIN, base - spread),
				RTE_MIN(to, RTE_MIN(CQI_MAX, base + spread)));
}

uint16_t
phy_channel_report(struct phy *p, uint64_t slot, struct fapi_cqi c[FAPI_UCIS_MAX])
{
	struct phy_channel *ch = &p->channel;
	uint16_t nb = 0;

	if (ch->cqi == NULL)
		return 0;
	for (uint32_t u = (uint32_t)(slot % ch->period); u < p->cfg.nb_ues; u += ch->period) {
		ch->cqi[u] = wander(p, u);
		c[nb++] = (struct fapi_cqi){.rnti = (uint16_t)(p->cfg.rnti + u), .cqi = ch->cqi[u]};
	}
	return nb;
}
