/* SPDX-License-Identifier: BSD-3-Clause */
/* What a phy and a ue of one file must agree on when ring ports join them. */
#include <string.h>

#include "core/config_check.h"
#include "core/config_schema.h"

static struct ap_cfg_ue *
ue_behind(struct ap_config *cfg, const char *phy_port)
{
	const struct ap_cfg_port *port = phy_port ? ap_config_port(cfg, phy_port) : NULL;

	if (port == NULL || port->preset != AP_PRESET_RING)
		return NULL;
	for (unsigned i = 0; i < cfg->ue_count; i++)
		if (strcmp(cfg->ue[i].phy_port, port->peer) == 0)
			return &cfg->ue[i];
	return NULL;
}

static int
join(const struct ap_config *cfg, struct ap_cfg_phy *phy, const struct ap_cfg_ue *ue,
     struct ap_error *err)
{
	if (phy->tb_bytes_count > ue->carriers)
		BAD(&phy->tb_bytes, "phy %s: tb_bytes: %u carriers, but ue %s at its port has %u",
		    phy->name, phy->tb_bytes_count, ue->name, ue->carriers);
	if (ue->count > 1)
		BAD(&ue->count, "phy %s: ue %s at its port has %u UEs, this phy grants one",
		    phy->name, ue->name, ue->count);
	if (phy->numerology != ue->numerology)
		BAD(&phy->numerology, "phy %s: numerology %u, but ue %s at its port has %u",
		    phy->name, phy->numerology, ue->name, ue->numerology);
	if (phy->rnti != ue->rnti && !ue->any_rnti)
		BAD(&phy->rnti, "phy %s: rnti %u, but ue %s at its port has %u", phy->name,
		    phy->rnti, ue->name, ue->rnti);
	if (phy->harq.processes == 0)
		phy->harq = ue->harq;
	if (phy->harq.processes > ue->harq.processes)
		BAD(&phy->harq.processes, "phy %s: harq.processes %u, but ue %s at its port has %u",
		    phy->name, phy->harq.processes, ue->name, ue->harq.processes);
	if (phy->grant_on_sr && ue->sr.trans_max == 0)
		BAD(&phy->grant_on_sr, "phy %s: grant_on_sr, but ue %s at its port has no 'sr'",
		    phy->name, ue->name);
	return 0;
}

int
ap_config_join(struct ap_config *cfg, struct ap_error *err)
{
	for (unsigned i = 0; i < cfg->phy_count; i++) {
		struct ap_cfg_phy *phy = &cfg->phy[i];
		const char *ports[] = {phy->port, phy->port2};
		const struct ap_cfg_ue *ends[2];

		if (phy->side == AP_PHY_GNB) {
			if (config_phy_gnb_join(cfg, phy, err) < 0)
				return -1;
			continue;
		}
		for (unsigned s = 0; s < 2; s++) {
			ends[s] = ue_behind(cfg, ports[s]);
			if (ends[s] && join(cfg, phy, ends[s], err) < 0)
				return -1;
		}
		if (ends[0] && ends[1] && config_pair(cfg, ends[0], ends[1], err) < 0)
			return -1;
		if (phy->soft_loss > 0 && phy->harq.processes == 0)
			BAD(&phy->soft_loss, "phy %s: soft_loss needs 'harq', here or at the ue",
			    phy->name);
	}
	return 0;
}
