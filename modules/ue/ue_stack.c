/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "modules/mac/mac_cell.h"
#include "modules/mac/mac_rx.h"
#include "modules/mac/mac_tx.h"
#include "modules/pdcp/pdcp_security.h"
#include "modules/pdcp/pdcp_status.h"
#include "modules/ue/ue.h"

/* Pools unless the deployment sizes them. */
#define USER_MBUFS 16383
#define PROTO_MBUFS 8191   /* and what the RLC queues hold */
#define QUEUED_MBUFS 65536 /* what those of several UEs hold, at most, unless one holds more */
#define PHY_MBUFS 4095
#define FRAME_MBUFS 8191
#define HDR_MBUFS 16384
#define IND_MBUFS 65535
#define HARQ_MBUFS 512 /* SDUs that a HARQ process may keep */
#define HARQ_FRAMES 2  /* frames that it keeps where they are copies */
#define USER_ROOM 2048
#define HDR_ROOM 128
#define PDCP_MBUFS 16383

/** What the TBs that a stack's HARQ keeps may hold. */
static uint32_t
kept_sdus(const struct ap_cfg_ue *cfg)
{
	const uint32_t one = HARQ_MBUFS * cfg->harq.processes * cfg->carriers;

	return RTE_MAX(one, RTE_MIN(one * cfg->count, (uint32_t)QUEUED_MBUFS));
}

static uint32_t
kept_frames(const struct ap_cfg_ue *cfg)
{
	if ((enum mac_strategy)cfg->strategy == MAC_SCATTER)
		return 0;
	return RTE_MIN(HARQ_FRAMES * cfg->harq.processes * cfg->carriers * cfg->count,
		       (uint32_t)FRAME_MBUFS);
}

static int
pools_get(struct ap_run *run, struct ue *ue, struct ap_error *err)
{
	struct l2_pools *p = &ue->l2.pools;
	uint32_t frame = ue->cfg->frame_bytes, user = USER_ROOM, proto = PROTO_MBUFS;
	uint32_t queued = 0, phy = PHY_MBUFS, sdus = 0;

	/* Full RLC queues must not starve the port; those of many UEs are not all full. */
	for (unsigned i = 0; i < ue->cfg->bearers_count; i++)
		queued += ue->cfg->bearers[i].rlc.queue_sdus;
	proto += RTE_MAX(queued, RTE_MIN(queued * ue->cfg->count, (uint32_t)QUEUED_MBUFS));
	/* The first stack makes the pools of all, and UEs that do not answer a gNB must not keep
	 * what TBs to others are made of, nor what its mac_build is told with. */
	for (unsigned i = 0; i < run->cfg->gnb_count; i++) {
		sdus += kept_sdus(&run->cfg->gnb[i].l2);
		phy += kept_frames(&run->cfg->gnb[i].l2);
	}
	proto += sdus + (ue->ul ? 0 : kept_sdus(ue->cfg));
	phy += ue->ul ? 0 : kept_frames(ue->cfg);
	for (unsigned i = 0; i < run->cfg->ports_count; i++)
		user = RTE_MAX(user, run->cfg->ports[i].mtu + RTE_ETHER_HDR_LEN);
	p->user = ap_run_pool(run, "user", USER_MBUFS, user, err);
	p->phy = p->user ? ap_run_pool(run, "phy", phy, frame, err) : NULL;
	p->proto = p->phy ? ap_run_pool(run, "frame", FRAME_MBUFS, frame, err) : NULL;
	p->hdr = p->proto ? ap_run_pool(run, "hdr", HDR_MBUFS + sdus, HDR_ROOM, err) : NULL;
	p->ind = p->hdr ? ap_run_pool(run, "ind", IND_MBUFS + sdus, 0, err) : NULL;
	if (p->ind == NULL)
		return -ENOMEM;
	if (ue->cfg->security.nea != 0 || ue->cfg->security.nia != 0) {
		p->pdcp = ap_run_pool(run, "pdcp", PDCP_MBUFS + RTE_MIN(sdus, (uint32_t)PDCP_MBUFS),
				      PDCP_SECURITY_ROOM, err);
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
				 .nb_ues = l2->nb_ues,
				 .ul = ue->ul,
				 .box = l2->cell ? &l2->cell->box : NULL,
				 .k1 = l2->cell && ue->cfg->harq.processes ? MAC_CELL_K1 : 0,
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
		return ap_error_set(err, "%s %s: no memory for FAPI", ue->cfg->kind, ue->cfg->name);
	for (uint32_t c = 0; c < l2->nb_carriers; c++) {
		struct fapi_tx_cfg tx = {.carrier = (uint8_t)c,
					 .src = {2, 0, 0, 0, 0, 0x10},
					 .dst = {2, 0, 0, 0, 0, 0x20},
					 .frame_bytes = ue->cfg->frame_bytes,
					 .hdr = l2->pools.hdr};

		if (fapi_tx_init(&l2->fapi_tx[c], &tx) < 0)
			return ap_error_set(err, "%s %s: frame_bytes %u cannot hold FAPI headers",
					    ue->cfg->kind, ue->cfg->name, ue->cfg->frame_bytes);
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

/** The MAC entities of UE `u`. */
static int
mac_ue_init(struct ue *ue, uint32_t u)
{
	const struct ap_cfg_ue *cfg = ue->cfg;
	const uint32_t first = u * cfg->bearers_count;
	struct l2 *l2 = &ue->l2;
	struct mac_tx_lc_cfg lcs[MAC_TX_LCS_MAX];
	struct mac_tx_cfg tx = {.direction = l2->tx_direction,
				.nb_carriers = l2->nb_carriers,
				.nb_lcs = cfg->bearers_count,
				.lcs = lcs,
				.harq_processes = cfg->harq.processes,
				/* UEs of a gNB, which grants what is asked for and no more */
				.every_slot = ue->ul || cfg->address || cfg->address6,
				.periodicBSR_ms = cfg->periodic_bsr_ms,
				.retxBSR_ms = cfg->retx_bsr_ms,
				.phr = {.on = cfg->phr.report == AP_CFG_ON,
					.periodic_ms = cfg->phr.periodic_ms,
					.prohibit_ms = cfg->phr.prohibit_ms,
					.value = {.ph = cfg->phr.ph, .pcmax = cfg->phr.pcmax}},
				.sr = {.trans_max = cfg->sr.trans_max,
				       .prohibit_ms = cfg->sr.prohibit_ms,
				       .rnti = (uint16_t)(cfg->rnti + u)},
				.hdr = l2->pools.hdr};
	struct mac_rx_cfg rx = {.direction = l2->rx_direction,
				.rnti = cfg->any_rnti ? 0 : (uint16_t)(cfg->rnti + u),
				.ind = l2->pools.ind,
				.spares = u > 0 ? &l2->mac_rx[0].own : NULL,
				.ul = ue->ul ? &ue->ul[u] : NULL};

	for (unsigned i = 0; i < cfg->bearers_count; i++) {
		const struct ap_cfg_bearer *b = &cfg->bearers[i];

		lcs[i] = (struct mac_tx_lc_cfg){
			.rlc = &l2->rlc_tx[first + i],
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
		rx.bearer_of_lcid[cfg->bearers[i].lcid] = first + i;
	return mac_tx_init(&l2->mac_tx[u], &tx) < 0 ? -EINVAL : mac_rx_init(&l2->mac_rx[u], &rx);
}

static int
mac_make(struct ue *ue, struct ap_error *err)
{
	const struct ap_cfg_ue *cfg = ue->cfg;
	struct l2 *l2 = &ue->l2;
	int rc = -ENOMEM;

	l2->mac_tx = rte_zmalloc("mac_tx", l2->nb_ues * sizeof(struct mac_tx), RTE_CACHE_LINE_SIZE);
	l2->mac_rx = rte_zmalloc("mac_rx", l2->nb_ues * sizeof(struct mac_rx), RTE_CACHE_LINE_SIZE);
	if (l2->mac_tx && l2->mac_rx)
		rc = 0;
	for (uint32_t u = 0; u < l2->nb_ues && rc == 0; u++)
		rc = mac_ue_init(ue, u);
	if (rc < 0)
		return ap_error_set(err, "%s %s: MAC: %s", cfg->kind, cfg->name,
				    rc == -ENOMEM ? "out of memory" : "impossible configuration");
	ue->build = (struct mac_build_cfg){
		.strategy = (enum mac_strategy)cfg->strategy,
		.fragment_bytes = fapi_frag_payload(cfg->frame_bytes),
		.harq_processes = cfg->harq.processes,
		.harq_ues = cfg->count,
	};
	return 0;
}

/** UE u has the first UE's addresses plus u; one UE without any takes every packet. */
static void
ues_init(struct ue *ue)
{
	const struct ap_cfg_ue *cfg = ue->cfg;
	struct l2_addresses *a = &ue->l2.addresses;
	uint8_t text[16], bits;

	ue->l2.nb_ues = cfg->count;
	ue->l2.mapped = cfg->user_port == NULL;
	ue->l2.rnti = cfg->rnti;
	ue->l2.nb_carriers = cfg->carriers;
	*a = (struct l2_addresses){.nb = cfg->address || cfg->address6 ? cfg->count : 0,
				   .source = ue->l2.tx_direction == L2_UPLINK};
	a->has_v4 = cfg->address && ap_config_prefix(cfg->address, text, &bits) == 4;
	if (a->has_v4)
		a->v4 = be32_get(text);
	a->has_v6 = cfg->address6 && ap_config_prefix(cfg->address6, text, &bits) == 16;
	if (a->has_v6)
		a->v6 = be64_get(text);
}

static int
reports_make(struct ap_run *run, struct ue *ue, struct ap_error *err)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "reports%u.%" PRIxPTR, run->serial, (uintptr_t)ue);
	ue->l2.reports = rte_ring_create(name, PDCP_REPORTS_MAX + 1, SOCKET_ID_ANY,
					 RING_F_SP_ENQ | RING_F_SC_DEQ);
	return ue->l2.reports ? 0
			      : ap_error_set(err, "%s %s: PDCP reports: %s", ue->cfg->kind,
					     ue->cfg->name, rte_strerror(rte_errno));
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

int
ue_stack_init(struct ue *ue, struct ap_run *run, struct ap_error *err)
{
	ues_init(ue);
	if (pools_get(run, ue, err) < 0 || ue_bearers_init(ue, err) < 0 || fapi_make(ue, err) < 0 ||
	    mac_make(ue, err) < 0 || reports_make(run, ue, err) < 0)
		return -EINVAL;
	nodes_bind(run, ue);
	return 0;
}

void
ue_stack_fini(struct ue *ue)
{
	ue_bearers_fini(ue);
	reports_free(ue->l2.reports);
	for (uint32_t u = 0; ue->l2.mac_tx && u < ue->l2.nb_ues; u++)
		mac_tx_fini(&ue->l2.mac_tx[u]);
	ap_copier_destroy(ue->copy_dl_in);
	rte_free(ue->l2.fapi_tx);
	rte_free(ue->l2.fapi_rx);
	rte_free(ue->l2.mac_tx);
	rte_free(ue->l2.mac_rx);
}

struct ue *
ue_stack_named(const struct ap_run *run, const char *name)
{
	for (unsigned i = 0; i < run->cfg->ue_count; i++)
		if (strcmp(run->cfg->ue[i].name, name) == 0)
			return ap_run_role(run, "ue", i);
	for (unsigned i = 0; i < run->cfg->gnb_count; i++)
		if (strcmp(run->cfg->gnb[i].l2.name, name) == 0)
			return ap_run_role(run, "gnb", i);
	return NULL;
}
