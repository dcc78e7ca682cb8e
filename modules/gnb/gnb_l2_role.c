/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Role `gnb`: the stack of its UEs (modules/ue) on the network's side. Downlink packets find their
 * UE by tunnel (gnb_n3.h) or, from a user_port, by destination address; who is sent what when,
 * mac_sched says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "core/role.h"
#include "core/run.h"
#include "modules/gnb/gnb_n3.h"
#include "modules/mac/mac_cell.h"
#include "modules/mac/mac_tx.h"
#include "modules/ue/ue.h"

struct gnb_l2 {
	struct ue stack;   /**< first: what ue_stack_named() and ue_pdcp_poll() take it for */
	struct gnb_n3 *n3; /**< NULL: there is a user_port */
	const struct ap_cfg_gnb *cfg;
};

static const char *const policies[] = {
	[AP_SCHEDULER_ROUND_ROBIN] = "round_robin",
	[AP_SCHEDULER_PROPORTIONAL_FAIR] = "proportional_fair",
};

static unsigned
gnb_count(const struct ap_config *cfg)
{
	return cfg->gnb_count;
}

static int
gnb_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gnb *gnb = &p->cfg->gnb[i];
	const uint32_t max = fapi_tb_max(gnb->l2.frame_bytes);

	for (unsigned c = 0; c < gnb->tb_bytes_count; c++)
		if (gnb->tb_bytes[c] > max)
			return ap_config_bad(p->cfg, &gnb->tb_bytes[c], err,
					     "gnb %s: tb_bytes[%u] = %u: frames of %u B carry at "
					     "most %u in the 128 segments nFAPI can number",
					     gnb->l2.name, c, gnb->tb_bytes[c], gnb->l2.frame_bytes,
					     max);
	if (ue_stack_plan(p, &gnb->l2, "mac_sched", err) < 0)
		return -EINVAL;
	return gnb->n3.interfaces_count ? gnb_n3_plan(p, gnb, err) : 0;
}

static int
gnb_placed(const struct ap_plan *p, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gnb *gnb = &p->cfg->gnb[i];

	return gnb->n3.interfaces_count ? gnb_n3_placed(p, gnb, err) : 0;
}

static int
cell_make(struct gnb_l2 *gnb, struct ap_error *err)
{
	const struct ap_cfg_gnb *cfg = gnb->cfg;
	struct mac_cell_cfg c = {
		.nb_ues = cfg->l2.count,
		.nb_carriers = cfg->l2.carriers,
		.numerology = cfg->l2.numerology,
		.pdus = fapi_tti_pdus(cfg->l2.frame_bytes),
		.sched = {.policy = policies[cfg->scheduler],
			  .ues_per_slot = cfg->ues_per_slot,
			  .ue_bytes = cfg->ue_slot_bytes,
			  .average_ms = cfg->average_ms},
		.harq = {.processes = cfg->harq.processes, .max_tx = cfg->harq.max_tx},
		.dl_harq = {.processes = cfg->l2.harq.processes, .max_tx = cfg->l2.harq.max_tx},
		.ul = gnb->stack.ul,
	};

	if (c.dl_harq.processes)
		c.pdus = RTE_MIN(c.pdus, fapi_dci_pdus(cfg->l2.frame_bytes));
	memcpy(c.tb_bytes, cfg->tb_bytes, cfg->tb_bytes_count * sizeof(c.tb_bytes[0]));
	gnb->stack.l2.cell = mac_cell_create(&c);
	return gnb->stack.l2.cell
		       ? 0
		       : ap_error_set(err, "gnb %s: scheduler: %s", cfg->l2.name, strerror(errno));
}

static void
gnb_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct gnb_l2 *gnb = obj;
	const struct l2 *l2 = &gnb->stack.l2;
	const struct mac_cell *c = l2->cell;
	const uint64_t missed = l2->mac_tx->slots_missed + l2->slots.missed;

	(void)seconds;
	fprintf(f,
		json ? "{\"role\": \"%s\", \"slots\": %" PRIu64 ", \"slots_missed\": %" PRIu64
		       ", \"dl_tbs\": %" PRIu64 ", \"dl_tb_bytes\": %" PRIu64
		       ", \"ul_tbs\": %" PRIu64 ", \"ul_tb_bytes\": %" PRIu64
		       ", \"ul_crc_failed\": %" PRIu64 ", \"harq_retx\": %" PRIu64
		       ", \"harq_lost\": %" PRIu64 ", \"harq_dtx\": %" PRIu64
		       ", \"dl_harq_acked\": %" PRIu64 ", \"dl_harq_nacked\": %" PRIu64
		       ", \"dl_harq_dtx\": %" PRIu64 ", \"dl_harq_retx\": %" PRIu64
		       ", \"dl_harq_given_up\": %" PRIu64 ", \"tb_news_lost\": %" PRIu64
		       ", \"srs\": %" PRIu64 ", \"phy_errors\": %" PRIu64 ", \"scheduler\": \"%s\""
		     : "%s: shared %" PRIu64 " slots, missed %" PRIu64 ", sent %" PRIu64
		       " TBs of %" PRIu64 " B, granted %" PRIu64 " of %" PRIu64 " B, %" PRIu64
		       " did not decode, %" PRIu64 " granted again, %" PRIu64 " lost, %" PRIu64
		       " not sent; downlink acknowledged %" PRIu64 ", not %" PRIu64
		       ", unanswered %" PRIu64 ", sent again %" PRIu64 ", given up %" PRIu64
		       "; reports on TBs lost %" PRIu64 "; heard %" PRIu64 " SRs and %" PRIu64
		       " errors of the PHY, scheduler %s",
		gnb->cfg->l2.name, l2->slots_served, missed, c->dl.tbs, c->dl.bytes, c->ul.tbs,
		c->ul.bytes, c->ul.stats.failed, c->ul.stats.retx, c->ul.stats.lost,
		c->ul.stats.not_sent, c->dl.stats.decoded, c->dl.stats.failed, c->dl.stats.dtx,
		c->dl.stats.retx, c->dl.stats.lost, c->box.full, l2->fapi_rx->srs_in,
		l2->fapi_rx->errors_in, policies[gnb->cfg->scheduler]);
	if (gnb->n3) {
		fputs(json ? ", " : "; ", f);
		gnb_n3_report(gnb->n3, f, json);
	}
	fputs(json ? "}" : "\n", f);
}

static int
gnb_start(void *obj, struct ap_error *err)
{
	struct gnb_l2 *gnb = obj;

	return gnb->n3 ? gnb_n3_start(gnb->n3, err) : 0;
}

static void
gnb_quiesce(void *obj)
{
	struct gnb_l2 *gnb = obj;

	if (gnb->n3)
		gnb_n3_quiesce(gnb->n3);
}

static void
gnb_destroy(void *obj)
{
	struct gnb_l2 *gnb = obj;

	gnb_n3_destroy(gnb->n3);
	ue_stack_fini(&gnb->stack);
	mac_cell_destroy(gnb->stack.l2.cell);
	rte_free(gnb->stack.ul);
	rte_free(gnb);
}

static void *
gnb_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gnb *cfg = &run->cfg->gnb[i];
	struct gnb_l2 *gnb = rte_zmalloc("gnb", sizeof(*gnb), RTE_CACHE_LINE_SIZE);

	if (gnb)
		gnb->stack.ul = rte_zmalloc("mac_ul", cfg->l2.count * sizeof(struct mac_ul),
					    RTE_CACHE_LINE_SIZE);
	if (gnb == NULL || gnb->stack.ul == NULL) {
		ap_error_set(err, "%s: out of memory", run->cfg->path);
		rte_free(gnb);
		return NULL;
	}
	gnb->cfg = cfg;
	gnb->stack.cfg = &cfg->l2;
	gnb->stack.l2.tx_direction = L2_DOWNLINK;
	gnb->stack.l2.rx_direction = L2_UPLINK;
	if (cell_make(gnb, err) < 0 || ue_stack_init(&gnb->stack, run, err) < 0) {
		gnb_destroy(gnb);
		return NULL;
	}
	if (cfg->n3.interfaces_count) {
		const unsigned serial =
			run->serial * AP_RUN_ROLES_MAX + run->cfg->gnb_header_count + i;

		gnb->n3 = gnb_n3_create(run, cfg, &gnb->stack, serial, err);
		if (gnb->n3 == NULL) {
			gnb_destroy(gnb);
			return NULL;
		}
	}
	return gnb;
}

static const struct ap_role_type gnb = {
	.kind = "gnb",
	.count = gnb_count,
	.plan = gnb_plan,
	.placed = gnb_placed,
	.build = gnb_build,
	.start = gnb_start,
	.quiesce = gnb_quiesce,
	.poll = ue_pdcp_poll,
	.report = gnb_report,
	.destroy = gnb_destroy,
};

AP_ROLE_REGISTER(gnb)
