/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "modules/mac/mac_tx.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/ue/ue.h"

static unsigned
ue_count(const struct ap_config *cfg)
{
	return cfg->ue_count;
}

/** @return the engine behind the UE's keys. */
static const char *
ciphering(const struct ue *ue)
{
	const struct l2 *l2 = &ue->l2;

	for (uint32_t i = 0; i < l2->nb_bearers; i++)
		if (l2->pdcp_tx[i].sec.keys != NULL)
			return pdcp_security_name(l2->pdcp_tx[i].sec.keys);
	return "none";
}

struct ue_counts {
	uint64_t tbs, harq_retx, harq_mismatch, srs, sr_failures;
};

/** Of all UEs. */
static struct ue_counts
ue_counts(const struct ue *ue)
{
	struct ue_counts c = {0};

	for (uint32_t u = 0; u < ue->l2.nb_ues; u++) {
		const struct mac_tx *tx = &ue->l2.mac_tx[u];

		c.tbs += tx->tbs;
		c.harq_retx += tx->harq_retx;
		c.harq_mismatch += tx->harq_mismatch;
		c.srs += tx->srs;
		c.sr_failures += tx->sr_failures;
	}
	return c;
}

static void
ue_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct ue *ue = obj;
	const uint64_t missed = ue->l2.mac_tx->slots_missed + ue->l2.slots.missed;
	struct ue_counts c = ue_counts(ue);
	const char *copier = ue->copy_dl_in ? ap_copier_name(ue->copy_dl_in) : "none";

	(void)seconds;
	fprintf(f,
		json ? "{\"role\": \"%s\", \"slots\": %" PRIu64 ", \"slots_missed\": %" PRIu64
		       ", \"tbs\": %" PRIu64 ", \"harq_retx\": %" PRIu64
		       ", \"harq_mismatch\": %" PRIu64 ", \"srs\": %" PRIu64
		       ", \"sr_failures\": %" PRIu64 ", \"copier\": \"%s\", \"security\": \"%s\"}"
		     : "%s: served %" PRIu64 " slots, missed %" PRIu64 ", sent %" PRIu64
		       " TBs, %" PRIu64 " again, %" PRIu64 " HARQ mismatches, %" PRIu64
		       " SRs, %" PRIu64 " times in vain, copier %s, security %s\n",
		ue->cfg->name, ue->l2.slots_served, missed, c.tbs, c.harq_retx, c.harq_mismatch,
		c.srs, c.sr_failures, copier, ciphering(ue));
}

static void
ue_destroy(void *obj)
{
	struct ue *ue = obj;

	ue_stack_fini(ue);
	rte_free(ue);
}

static void *
ue_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	struct ue *ue = rte_zmalloc("ue", sizeof(*ue), RTE_CACHE_LINE_SIZE);

	if (ue == NULL) {
		ap_error_set(err, "%s: out of memory", run->cfg->path);
		return NULL;
	}
	ue->cfg = &run->cfg->ue[i];
	ue->l2.tx_direction = L2_UPLINK;
	ue->l2.rx_direction = ue->cfg->loopback ? L2_UPLINK : L2_DOWNLINK;
	if (ue_stack_init(ue, run, err) < 0) {
		ue_destroy(ue);
		return NULL;
	}
	return ue;
}

static const struct ap_role_type ue = {
	.kind = "ue",
	.count = ue_count,
	.plan = ue_plan,
	.build = ue_build,
	.poll = ue_pdcp_poll,
	.report = ue_report,
	.destroy = ue_destroy,
};

AP_ROLE_REGISTER(ue)
