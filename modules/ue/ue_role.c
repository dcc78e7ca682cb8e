/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "modules/mac/mac_rx.h"
#include "modules/mac/mac_tx.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/pdcp/pdcp_status.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/ue/ue.h"

/* Pools unless the deployment sizes them. */
#define USER_MBUFS 16383
#define PROTO_MBUFS 8191 /* and what the RLC queues hold */
#define PHY_MBUFS 4095
#define FRAME_MBUFS 8191
#define HDR_MBUFS 16384
#define IND_MBUFS 65535
#define HARQ_MBUFS 512 /* SDUs that a HARQ process may keep */
#define USER_ROOM 2048
#define HDR_ROOM 128
#define PDCP_MBUFS 16383

static unsigned
ue_count(const struct ap_config *cfg)
{
	return cfg->ue_count;
}

static int
pools_get(struct ap_run *run, struct ue *ue, struct ap_error *err)
{
	struct l2_pools *p = &ue->l2.pools;
	uint32_t frame = ue->cfg->frame_bytes, user = USER_ROOM, proto = PROTO_MBUFS;

	/* Full RLC queues must not starve the port. */
	for (unsigned i = 0; i < ue->cfg->bearers_count; i++)
		proto += ue->cfg->bearers[i].rlc.queue_sdus;
	proto += HARQ_MBUFS * ue->cfg->harq.processes * ue->cfg->carriers;
	for (unsigned i = 0; i < run->cfg->ports_count; i++)
		user = RTE_MAX(user, run->cfg->ports[i].mtu + RTE_ETHER_HDR_LEN);
	p->user = ap_run_pool(run, "user", USER_MBUFS, user, err);
	p->phy = p->user ? ap_run_pool(run, "phy", PHY_MBUFS, frame, err) : NULL;
	p->proto = p->phy ? ap_run_pool(run, "frame", FRAME_MBUFS, frame, err) : NULL;
	p->hdr = p->proto ? ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err) : NULL;
	p->ind = p->hdr ? ap_run_pool(run, "ind", IND_MBUFS, 0, err) : NULL;
	if (p->ind == NULL)
		return -ENOMEM;
	if (ue->cfg->security.nea != 0 || ue->cfg->security.nia != 0) {
		p->pdcp = ap_run_pool(run, "pdcp", PDCP_MBUFS, PDCP_SECURITY_ROOM, err);
		if (p->pdcp == NULL)
			return -ENOMEM;
	}
	ue->copy_ul_in = (struct ap_copier_cfg){
		.name = ue->cfg->name, .mode = ue->cfg->copy, .dma_device = ue->cfg->dma_device};
	ue->copy_dl_out = ue->copy_ul_in;
	ue->copy_dl_out.pool = p->user;
	ue->copy_ul_in.pool = ap_run_pool(run, "proto", proto, user, err);
	return ue->copy_ul_in.pool ? 0 : -ENOMEM;
}

static int
fapi_make(struct ue *ue, struct ap_error *err)
{
	struct l2 *l2 = &ue->l2;
	struct fapi_rx_cfg rx = {.carriers = (uint8_t)l2->nb_carriers,
				 .rnti = ue->cfg->any_rnti ? 0 : ue->cfg->rnti,
				 .slots = &l2->slots,
				 .proto = l2->pools.proto};
	struct ap_copier_cfg copy = ue->copy_ul_in;

	if (ue->cfg->copy != AP_COPY_NONE) {
		copy.pool = l2->pools.proto;
		ue->copy_dl_in = ap_copier_create(&copy, err);
		if (ue->copy_dl_in == NULL)
			return -EINVAL;
	}
	rx.copier = ue->copy_dl_in;
	rx.numerology = ue->cfg->numerology;
	l2->fapi_tx = rte_zmalloc("fapi_tx", l2->nb_carriers * sizeof(struct fapi_tx),
				  RTE_CACHE_LINE_SIZE);
	l2->fapi_rx = rte_zmalloc("fapi_rx", sizeof(struct fapi_rx), RTE_CACHE_LINE_SIZE);
	if (l2->fapi_tx == NULL || l2->fapi_rx == NULL || fapi_rx_init(l2->fapi_rx, &rx) < 0)
		return ap_error_set(err, "ue %s: no memory for FAPI", ue->cfg->name);
	for (uint32_t c = 0; c < l2->nb_carriers; c++) {
		struct fapi_tx_cfg tx = {.carrier = (uint8_t)c,
					 .src = {2, 0, 0, 0, 0, 0x10},
					 .dst = {2, 0, 0, 0, 0, 0x20},
					 .frame_bytes = ue->cfg->frame_bytes,
					 .hdr = l2->pools.hdr};

		if (fapi_tx_init(&l2->fapi_tx[c], &tx) < 0)
			return ap_error_set(err, "ue %s: frame_bytes %u cannot hold FAPI headers",
					    ue->cfg->name, ue->cfg->frame_bytes);
	}
	return 0;
}

/** A list as a bit mask; an empty one restricts nothing. */
static uint8_t
bits(const uint8_t *list, unsigned nb)
{
	uint8_t mask = 0;

	for (unsigned i = 0; i < nb; i++)
		mask |= (uint8_t)(1 << list[i]);
	return mask;
}

static int
mac_make(struct ue *ue, struct ap_error *err)
{
	const struct ap_cfg_ue *cfg = ue->cfg;
	struct l2 *l2 = &ue->l2;
	struct mac_tx_lc_cfg lcs[MAC_TX_LCS_MAX];
	struct mac_tx_cfg tx = {.direction = l2->tx_direction,
				.nb_carriers = l2->nb_carriers,
				.nb_lcs = cfg->bearers_count,
				.lcs = lcs,
				.harq_processes = cfg->harq.processes,
				.periodicBSR_ms = cfg->periodic_bsr_ms,
				.retxBSR_ms = cfg->retx_bsr_ms,
				.phr = {.on = cfg->phr.report == AP_CFG_ON,
					.periodic_ms = cfg->phr.periodic_ms,
					.prohibit_ms = cfg->phr.prohibit_ms,
					.value = {.ph = cfg->phr.ph, .pcmax = cfg->phr.pcmax}},
				.sr = {.trans_max = cfg->sr.trans_max,
				       .prohibit_ms = cfg->sr.prohibit_ms,
				       .rnti = cfg->rnti},
				.hdr = l2->pools.hdr};
	struct mac_rx_cfg rx = {.direction = l2->rx_direction,
				.rnti = cfg->any_rnti ? 0 : cfg->rnti,
				.ind = l2->pools.ind};

	for (unsigned i = 0; i < cfg->bearers_count; i++) {
		const struct ap_cfg_bearer *b = &cfg->bearers[i];

		lcs[i] = (struct mac_tx_lc_cfg){
			.rlc = &l2->rlc_tx[i],
			.lcid = b->lcid,
			.priority = b->mac.priority,
			.lcg = b->mac.lcg,
			.carriers = bits(b->mac.serving_cells, b->mac.serving_cells_count),
			.scs = bits(b->mac.scs, b->mac.scs_count),
			.max_pusch_us = b->mac.max_pusch_us,
			.pbr_kbytes_s = b->mac.pbr_kbytes_s,
			.bsd_ms = b->mac.bsd_ms};
	}
	for (uint32_t i = 0; i <= L2_LCID_MAX; i++)
		rx.bearer_of_lcid[i] = L2_NO_BEARER;
	for (unsigned i = 0; i < cfg->bearers_count; i++)
		rx.bearer_of_lcid[cfg->bearers[i].lcid] = i;
	l2->mac_tx = rte_zmalloc("mac_tx", sizeof(struct mac_tx), RTE_CACHE_LINE_SIZE);
	l2->mac_rx = rte_zmalloc("mac_rx", sizeof(struct mac_rx), RTE_CACHE_LINE_SIZE);
	if (l2->mac_tx == NULL || l2->mac_rx == NULL || mac_tx_init(l2->mac_tx, &tx) < 0 ||
	    mac_rx_init(l2->mac_rx, &rx) < 0)
		return ap_error_set(err, "ue %s: MAC: impossible configuration", cfg->name);
	ue->build = (struct mac_build_cfg){
		.strategy = (enum mac_strategy)cfg->strategy,
		.fragment_bytes = fapi_frag_payload(cfg->frame_bytes),
		.harq_processes = cfg->harq.processes,
		.harq_max_tx = cfg->harq.max_tx,
	};
	return 0;
}

static int
reports_make(struct ap_run *run, struct ue *ue, unsigned i, struct ap_error *err)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "reports%u.%u", run->serial, i);
	ue->l2.reports = rte_ring_create(name, PDCP_REPORTS_MAX + 1, SOCKET_ID_ANY,
					 RING_F_SP_ENQ | RING_F_SC_DEQ);
	return ue->l2.reports ? 0
			      : ap_error_set(err, "ue %s: PDCP reports: %s", ue->cfg->name,
					     rte_strerror(rte_errno));
}

static void
reports_free(struct rte_ring *r)
{
	void *m;

	while (r && rte_ring_sc_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

static void
nodes_bind(struct ap_run *run, struct ue *ue)
{
	char name[AP_NAME_LEN];

	ap_run_bind(run, ue->cfg->name, &ue->l2);
	for (uint32_t c = 0; c < ue->l2.nb_carriers; c++) {
		snprintf(name, sizeof(name), "%s.mac_build_fa%u", ue->cfg->name, c);
		ap_plan_find(run->plan, name)->arg = &ue->build;
	}
	snprintf(name, sizeof(name), "%s.copy_ul_in", ue->cfg->name);
	ap_plan_find(run->plan, name)->arg = &ue->copy_ul_in;
	snprintf(name, sizeof(name), "%s.copy_dl_out", ue->cfg->name);
	ap_plan_find(run->plan, name)->arg = &ue->copy_dl_out;
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

static void
ue_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct ue *ue = obj;
	const struct mac_tx *tx = ue->l2.mac_tx;
	uint64_t missed = tx->slots_missed + ue->l2.slots.missed;
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
		ue->cfg->name, tx->slots, missed, tx->tbs, tx->harq_retx, tx->harq_mismatch,
		tx->srs, tx->sr_failures, copier, ciphering(ue));
}

static void
ue_destroy(void *obj)
{
	struct ue *ue = obj;

	ue_bearers_fini(ue);
	reports_free(ue->l2.reports);
	if (ue->l2.mac_tx)
		mac_tx_fini(ue->l2.mac_tx);
	ap_copier_destroy(ue->copy_dl_in);
	rte_free(ue->l2.fapi_tx);
	rte_free(ue->l2.fapi_rx);
	rte_free(ue->l2.mac_tx);
	rte_free(ue->l2.mac_rx);
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
	ue->l2.nb_carriers = ue->cfg->carriers;
	ue->l2.tx_direction = L2_UPLINK;
	ue->l2.rx_direction = ue->cfg->loopback ? L2_UPLINK : L2_DOWNLINK;
	if (pools_get(run, ue, err) < 0 || ue_bearers_init(ue, err) < 0 || fapi_make(ue, err) < 0 ||
	    mac_make(ue, err) < 0 || reports_make(run, ue, i, err) < 0) {
		ue_destroy(ue);
		return NULL;
	}
	nodes_bind(run, ue);
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
