/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_cell.h"

#include <errno.h>

#include <rte_malloc.h>

#include "codec/fapi_dci.h"
#include "modules/mac/mac_tx.h"

/* What a TTI request says beside RNTI, TB size and index: there is no radio to be told of more. */
static const struct fapi_grant full_band = {
	.bwp_size = 273,
	.rb_size = 273,
	.nr_of_symbols = 14,
	.qam_mod_order = 8,
	.mcs_index = 27,
	.new_data = true,
};

static int
releases_make(struct mac_cell_way *way, const struct mac_cell_cfg *cfg)
{
	struct mac_cell_releases *r = rte_zmalloc("mac_cell", cfg->nb_carriers * sizeof(*r), 0);

	way->releases = r;
	if (r == NULL)
		return -ENOMEM;
	r[0].processes = rte_zmalloc("mac_cell",
				     cfg->nb_carriers * cfg->nb_ues * sizeof(*r[0].processes), 0);
	if (r[0].processes == NULL)
		return -ENOMEM;
	for (uint32_t c = 1; c < cfg->nb_carriers; c++)
		r[c].processes = r[0].processes + c * cfg->nb_ues;
	return 0;
}

static int
way_make(struct mac_cell_way *way, const struct mac_cell_cfg *cfg,
	 const struct mac_net_harq_cfg *harq)
{
	const uint32_t nb = cfg->nb_ues * cfg->nb_carriers;
	struct mac_sched_cfg sched = cfg->sched;
	int rc;

	sched.nb_ues = cfg->nb_ues;
	sched.ues_per_slot = RTE_MIN(sched.ues_per_slot, cfg->pdus);
	rc = mac_sched_init(&way->sched, &sched);
	if (rc < 0 || harq->processes == 0)
		return rc;
	if (harq->processes > (harq->downlink ? FAPI_DCI_PROCESSES : MAC_HARQ_MAX) ||
	    harq->max_tx == 0 || harq->max_tx > UINT8_MAX)
		return -EINVAL;
	way->harq = rte_zmalloc("mac_cell", nb * sizeof(*way->harq), RTE_CACHE_LINE_SIZE);
	for (uint32_t i = 0; way->harq && i < nb; i++)
		mac_net_harq_init(&way->harq[i], harq);
	if (way->harq == NULL || !harq->downlink)
		return way->harq ? 0 : -ENOMEM;
	return releases_make(way, cfg);
}

static void
way_free(struct mac_cell_way *way)
{
	mac_sched_fini(&way->sched);
	rte_free(way->harq);
	if (way->releases)
		rte_free(way->releases[0].processes);
	rte_free(way->releases);
}

struct mac_cell *
mac_cell_create(const struct mac_cell_cfg *cfg)
{
	struct mac_cell *cell = rte_zmalloc("mac_cell", sizeof(*cell), RTE_CACHE_LINE_SIZE);
	int rc;

	if (cell == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	cell->cfg = *cfg;
	cell->cfg.harq.downlink = false;
	cell->cfg.dl_harq.downlink = true;
	cell->want = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->want), 0);
	cell->wants = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->wants), 0);
	cell->offer = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->offer), 0);
	cell->place = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->place), 0);
	rc = way_make(&cell->ul, &cell->cfg, &cell->cfg.harq);
	if (rc == 0)
		rc = way_make(&cell->dl, &cell->cfg, &cell->cfg.dl_harq);
	if (rc == 0 && cell->want && cell->wants && cell->offer && cell->place)
		return cell;
	mac_cell_destroy(cell);
	errno = rc < 0 ? -rc : ENOMEM;
	return NULL;
}

void
mac_cell_destroy(struct mac_cell *cell)
{
	if (cell == NULL)
		return;
	way_free(&cell->ul);
	way_free(&cell->dl);
	rte_free(cell->want);
	rte_free(cell->wants);
	rte_free(cell->offer);
	rte_free(cell->place);
	rte_free(cell);
}

/** Counts the slots on from the last one. */
static void
slot_count(struct mac_cell *cell, const struct slot_grant *slot)
{
	const uint64_t period = (uint64_t)(FAPI_SFN_MAX + 1) * mac_cell_slots_per_frame(cell);
	const uint64_t at = (uint64_t)slot->sfn * mac_cell_slots_per_frame(cell) + slot->slot;

	/* Not from 0: what was before the first slot is counted as well. */
	cell->slot = cell->begun ? cell->slot + (at + period - cell->slot % period) % period
				 : period + at;
	cell->begun = true;
	cell->at = (struct fapi_slot){slot->sfn, slot->slot};
}

struct fapi_grant *
mac_cell_pdu(const struct mac_cell *cell, const struct l2 *l2, struct mac_cell_tti *tti,
	     uint32_t ue)
{
	struct fapi_grant *pdu = &tti->grant[tti->nb];

	*pdu = full_band;
	pdu->rnti = (uint16_t)(l2->rnti + ue);
	pdu->handle = tti->nb++;
	pdu->subcarrier_spacing = cell->cfg.numerology;
	return pdu;
}

/** Those of the wants that the carrier can serve. @return how many */
static unsigned
offer_make(struct mac_cell *cell, const struct mac_cell_way *way, uint32_t carrier, unsigned nb)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nb; i++) {
		const uint16_t ue = cell->wants[i].ue;
		const uint32_t rate =
			mac_cqi_bytes(cell->cfg.tb_bytes[carrier], mac_ul_cqi(&cell->cfg.ul[ue]));

		if (rate == 0 || !mac_cell_free(cell, way, ue, carrier))
			continue;
		cell->offer[n] = cell->wants[i];
		cell->offer[n++].rate = rate;
	}
	return n;
}

/** @return the rate of a UE that is among the offers. */
static uint32_t
rate_of(const struct mac_sched_want *offer, uint16_t ue)
{
	while (offer->ue != ue)
		offer++;
	return offer->rate;
}

/**
 * Who is granted what of a carrier, as PDUs of its request: first what did not decode; what UEs
 * get of new data is taken off the wants.
 * @return wants left
 */
static unsigned
share_carrier(struct mac_cell *cell, struct mac_cell_way *way, const struct l2 *l2,
	      uint32_t carrier, unsigned nb, uint64_t now_ns)
{
	struct mac_sched_room room = {MAC_SCHED_WHOLE, way->sched.ues_per_slot};
	struct mac_cell_tti *tti = &way->tti[carrier];
	struct mac_sched_grant g[SLOT_UES_MAX];
	unsigned offers, grants, kept = 0;

	tti->nb = 0;
	mac_cell_again(cell, way, l2, carrier, &room);
	offers = offer_make(cell, way, carrier, nb);
	grants = mac_sched_run(&way->sched, cell->offer, offers, &room, now_ns, g);
	for (unsigned i = 0; i < grants; i++) {
		struct fapi_grant *pdu = mac_cell_pdu(cell, l2, tti, g[i].ue);
		unsigned w = 0;

		while (cell->wants[w].ue != g[i].ue)
			w++;
		cell->wants[w].bytes -= g[i].bytes;
		pdu->tb_bytes = g[i].bytes;
		mac_cell_new(cell, way, g[i].ue, carrier,
			     mac_sched_part(g[i].bytes, rate_of(cell->offer, g[i].ue)), pdu);
		if (way == &cell->ul)
			mac_want_granted(&cell->want[g[i].ue], cell->slot, g[i].bytes);
	}
	for (unsigned i = 0; i < nb; i++)
		if (cell->wants[i].bytes > MAC_CELL_OVERHEAD)
			cell->wants[kept++] = cell->wants[i];
	return kept;
}

static void
count(struct mac_cell_way *way, uint32_t carrier)
{
	const struct mac_cell_tti *tti = &way->tti[carrier];

	way->tbs += tti->nb;
	for (uint32_t i = 0; i < tti->nb; i++)
		way->bytes += tti->grant[i].tb_bytes;
}

static void
share_uplink(struct mac_cell *cell, const struct l2 *l2, uint64_t now_ns)
{
	unsigned nb = 0;

	for (uint32_t u = 0; u < cell->cfg.nb_ues; u++) {
		const uint32_t bytes = mac_want(&cell->want[u], &cell->cfg.ul[u], cell->slot,
						mac_cell_slots_per_frame(cell));

		mac_cell_wanted(cell, &cell->ul, u, bytes > 0);
		if (bytes > 0)
			cell->wants[nb++] = (struct mac_sched_want){
				.ue = (uint16_t)u, .bytes = bytes + MAC_CELL_OVERHEAD};
	}
	for (uint32_t c = 0; c < cell->cfg.nb_carriers; c++) {
		nb = share_carrier(cell, &cell->ul, l2, c, nb, now_ns);
		count(&cell->ul, c);
	}
}

/** @return the UE's record, or NULL when too many UEs have one. */
static struct slot_grant *
record_of(struct mac_cell *cell, const struct slot_grant *slot, uint32_t ue,
	  struct slot_grant *records, uint32_t *nb)
{
	struct slot_grant *r = &records[cell->place[ue]];

	if (cell->place[ue] < *nb && r->ue == ue)
		return r;
	if (*nb == SLOT_UES_MAX)
		return NULL;
	cell->place[ue] = (uint16_t)*nb;
	r = &records[(*nb)++];
	*r = (struct slot_grant){.enter_ns = slot->enter_ns,
				 .sfn = slot->sfn,
				 .slot = slot->slot,
				 .ue = (uint16_t)ue};
	return r;
}

/** Records of those that the carrier's request grants something. @return records */
static uint32_t
record_carrier(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
	       uint32_t carrier, struct slot_grant *records, uint32_t nb_records)
{
	struct mac_cell_tti *tti = &cell->dl.tti[carrier];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tti->nb; i++) {
		const struct fapi_grant *g = &tti->grant[i];
		const uint16_t ue = (uint16_t)(g->rnti - l2->rnti);
		struct slot_grant *r = record_of(cell, slot, ue, records, &nb_records);

		if (r == NULL) {
			mac_cell_unsent(cell, &cell->dl, ue, carrier);
			continue;
		}
		r->rnti = g->rnti;
		r->tb_bytes[carrier] = g->tb_bytes;
		r->tb[carrier] = (struct slot_tb){.handle = (uint16_t)g->handle,
						  .harq_process = g->harq_process,
						  .new_data = g->new_data,
						  .rv_index = g->rv_index,
						  .subcarrier_spacing = cell->cfg.numerology,
						  .nr_of_symbols = g->nr_of_symbols};
		tti->grant[kept++] = *g;
	}
	tti->nb = kept;
	return nb_records;
}

static uint32_t
share_downlink(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
	       uint64_t now_ns, struct slot_grant *records)
{
	uint32_t nb_records = 0;
	unsigned nb = 0;

	for (uint32_t u = 0; u < cell->cfg.nb_ues; u++) {
		const uint64_t bytes = mac_tx_waiting(&l2->mac_tx[u]);

		if (cell->dl.harq)
			mac_cell_wanted(cell, &cell->dl, u, bytes > 0);
		if (bytes > 0)
			cell->wants[nb++] = (struct mac_sched_want){
				.ue = (uint16_t)u,
				.bytes = (uint32_t)RTE_MIN(bytes + MAC_CELL_OVERHEAD,
							   (uint64_t)1 << 30)};
	}
	for (uint32_t c = 0; c < cell->cfg.nb_carriers; c++) {
		nb = share_carrier(cell, &cell->dl, l2, c, nb, now_ns);
		nb_records = record_carrier(cell, l2, slot, c, records, nb_records);
		count(&cell->dl, c);
	}
	return nb_records;
}

uint32_t
mac_cell_share(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
	       uint64_t now_ns, struct slot_grant *records)
{
	uint32_t nb;

	slot_count(cell, slot);
	mac_cell_take_news(cell);
	share_uplink(cell, l2, now_ns);
	nb = share_downlink(cell, l2, slot, now_ns, records);
	if (nb == 0)
		record_of(cell, slot, 0, records, &nb);
	return nb;
}
