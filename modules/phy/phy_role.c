/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Role `phy`, a side for each stack:
 *
 *   slotN → txN                the slot clock and its grants
 *   rxN → loopN → txN          loopback, or with two ports → tx of the other side
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "core/role.h"
#include "core/run.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"

#define PHY_MBUFS 8191
#define DRAIN_MS 100 /* slots that are still given when traffic ends, so that queues empty */

static unsigned
phy_count(const struct ap_config *cfg)
{
	return cfg->phy_count;
}

static int
check_sizes(const struct ap_plan *p, const struct ap_cfg_phy *phy, struct ap_error *err)
{
	uint32_t max = fapi_tb_max(phy->frame_bytes);

	for (unsigned i = 0; i < phy->tb_bytes_count; i++)
		if (phy->tb_bytes[i] > max)
			return ap_config_bad(p->cfg, &phy->tb_bytes[i], err,
					     "phy %s: tb_bytes[%u] = %u: frames of %u B carry at "
					     "most %u in the 128 segments nFAPI can number",
					     phy->name, i, phy->tb_bytes[i], phy->frame_bytes, max);
	return 0;
}

static int
phy_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_phy *phy = &p->cfg->phy[i];
	const char *ports[PHY_SIDES] = {phy->port, phy->port2};
	struct ap_plan_node *loop[PHY_SIDES] = {0}, *tx[PHY_SIDES] = {0};
	uint32_t sides = phy->port2 ? 2 : 1;

	if (check_sizes(p, phy, err) < 0)
		return -EINVAL;
	for (uint32_t s = 0; s < sides; s++) {
		struct ap_plan_node *rx, *slot;
		char name[16];

		snprintf(name, sizeof(name), "rx%u", s);
		rx = ap_plan_add_port(p, phy->name, name, "port_rx", ports[s], err);
		snprintf(name, sizeof(name), "tx%u", s);
		tx[s] = rx ? ap_plan_add_port(p, phy->name, name, "port_tx", ports[s], err) : NULL;
		snprintf(name, sizeof(name), "loop%u", s);
		loop[s] = tx[s] ? ap_plan_add(p, phy->name, name, "phy_loop", s, err) : NULL;
		snprintf(name, sizeof(name), "slot%u", s);
		slot = loop[s] ? ap_plan_add(p, phy->name, name, "phy_slot", s, err) : NULL;
		if (slot == NULL)
			return -EINVAL;
		ap_plan_link(rx, 0, loop[s]);
		ap_plan_link(slot, 0, tx[s]);
		if (rx->port->framing != AP_FRAMING_RAW)
			return ap_config_bad(p->cfg, &rx->port->framing, err,
					     "phy %s: port %s: framing must be raw", phy->name,
					     ports[s]);
	}
	for (uint32_t s = 0; s < sides; s++)
		for (uint32_t e = 0; e < sides; e++)
			ap_plan_link(loop[s], (uint8_t)e, tx[e]);
	return 0;
}

static void
phy_cfg_fill(struct phy_cfg *c, const struct ap_cfg_phy *phy)
{
	*c = (struct phy_cfg){
		.numerology = phy->numerology,
		.rnti = phy->rnti,
		.carriers = (uint8_t)phy->tb_bytes_count,
		.cross_connect = phy->port2 != NULL,
		.gnb = phy->side == AP_PHY_GNB,
		.nb_ues = phy->ues,
		.ahead = phy->ahead,
		.side = {{{2, 0, 0, 0, 0, 0x20}, {2, 0, 0, 0, 0, 0x10}, false},
			 {{2, 0, 0, 0, 0, 0x21}, {2, 0, 0, 0, 0, 0x11}, false}},
		.impair = {.tb_loss = phy->tb_loss,
			   .frame_loss = phy->frame_loss,
			   .duplicate = phy->duplicate,
			   .reorder = phy->reorder,
			   .delay_ns = phy->delay_us * AP_NS_PER_US,
			   .jitter_ns = phy->jitter_us * AP_NS_PER_US,
			   .bit_error_rate = phy->bit_error_rate},
		.harq = {.processes = (uint8_t)phy->harq.processes,
			 .max_tx = (uint8_t)phy->harq.max_tx,
			 .soft_loss = phy->soft_loss},
		.dl_soft_loss = phy->dl_soft_loss,
		.feedback_loss = phy->feedback_loss,
		.grant_on_sr = phy->grant_on_sr,
		.seed = phy->seed,
		.frame_bytes = phy->frame_bytes,
		.slots = phy->slots,
	};
	c->channel.nb = (uint8_t)phy->cqi_count;
	c->channel.spread = (uint8_t)phy->cqi_spread;
	for (unsigned i = 0; i < phy->cqi_count; i++)
		c->channel.cqi[i] = phy->cqi[i];
	for (unsigned i = 0; i < phy->tb_bytes_count; i++)
		c->carrier[i] = (struct phy_carrier_cfg){{phy->tb_bytes[i]}, 1};
}

static void *
phy_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_phy *cfg = &run->cfg->phy[i];
	struct phy *phy = rte_zmalloc("phy", sizeof(*phy), RTE_CACHE_LINE_SIZE);
	struct phy_cfg c;
	int rc = -ENOMEM;

	phy_cfg_fill(&c, cfg);
	c.pool = ap_run_pool(run, "emu", PHY_MBUFS, cfg->frame_bytes, err);
	if (c.pool && phy)
		rc = phy_init(phy, &c);
	if (rc < 0) {
		ap_error_set(err, "%s: phy %s: %s", run->cfg->path, cfg->name, strerror(-rc));
		rte_free(phy);
		return NULL;
	}
	ap_run_bind(run, cfg->name, phy);
	return phy;
}

static void
phy_quiesce(void *obj)
{
	struct phy *phy = obj;

	phy_stop_after(phy, (uint64_t)DRAIN_MS << phy->cfg.numerology);
}

static void
phy_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct phy *phy = obj;
	struct phy_path_stats s = {0};
	struct {
		uint64_t soft_lost, retx, lost, dtx, stalls, slots, grants, srs;
	} h = {0};

	(void)seconds;
	for (uint32_t i = 0; i < (phy->cfg.cross_connect ? 2U : 1U); i++) {
		const struct phy_path_stats *p = &phy->path[i].stats;

		s.tb_in += p->tb_in;
		s.tb_out += p->tb_out;
		s.tb_lost += p->tb_lost;
		s.tb_duplicated += p->tb_duplicated;
		s.tb_reordered += p->tb_reordered;
		s.bits_flipped += p->bits_flipped;
		h.soft_lost += phy->harq[i].soft_lost;
		h.retx += phy->harq[i].retx;
		h.lost += phy->harq[i].lost;
		h.dtx += phy->harq[i].dtx;
		h.stalls += phy->harq[i].stalls;
		h.slots += phy->slot[i].slots;
		h.grants += phy->slot[i].grants;
		h.srs += phy->sr[i].srs;
	}
	h.soft_lost += phy->uplink.failed;
	h.dtx += phy->uplink.missing;
	fprintf(f,
		json ? "{\"role\": \"phy\", \"tb_in\": %" PRIu64 ", \"tb_out\": %" PRIu64
		       ", \"tb_lost\": %" PRIu64 ", \"tb_duplicated\": %" PRIu64
		       ", \"tb_reordered\": %" PRIu64 ", \"bits_flipped\": %" PRIu64
		       ", \"tb_soft_lost\": %" PRIu64 ", \"harq_retx\": %" PRIu64
		       ", \"dl_tb_soft_lost\": %" PRIu64 ", \"dl_harq_repeats\": %" PRIu64
		       ", \"feedback_lost\": %" PRIu64 ", \"harq_dtx\": %" PRIu64
		       ", \"harq_stalls\": %" PRIu64 ", \"slots\": %" PRIu64
		       ", \"grants\": %" PRIu64 ", \"srs\": %" PRIu64 "}"
		     : "phy emulator: TBs in %" PRIu64 ", out %" PRIu64 ", lost %" PRIu64
		       ", duplicated %" PRIu64 ", reordered %" PRIu64 ", bits flipped %" PRIu64
		       "; HARQ: not decoded %" PRIu64 ", granted again %" PRIu64
		       ", downlink not decoded %" PRIu64 ", decoded before %" PRIu64
		       ", feedback lost %" PRIu64 ", not sent %" PRIu64 ", stalled slots %" PRIu64
		       "; slots %" PRIu64 ", grants %" PRIu64 ", SRs %" PRIu64 "\n",
		s.tb_in, s.tb_out, s.tb_lost + h.lost, s.tb_duplicated, s.tb_reordered,
		s.bits_flipped, h.soft_lost, h.retx, phy->downlink.failed, phy->downlink.again,
		phy->downlink.missed + phy->downlink.box_full, h.dtx, h.stalls, h.slots, h.grants,
		h.srs);
}

static void
phy_destroy(void *obj)
{
	phy_fini(obj);
	rte_free(obj);
}

static const struct ap_role_type phy = {
	.kind = "phy",
	.count = phy_count,
	.plan = phy_plan,
	.build = phy_build,
	.quiesce = phy_quiesce,
	.report = phy_report,
	.destroy = phy_destroy,
};

AP_ROLE_REGISTER(phy)
