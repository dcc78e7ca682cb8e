/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_cell.h"

#include <errno.h>

#include <rte_malloc.h>

#include "modules/mac/mac_tx.h"

#define OVERHEAD 8 /* of a TB: a BSR, or the subheader of a segment */

/* What a TTI request says beside RNTI, TB size and index: there is no radio to be told of more. */
static const struct fapi_grant full_band = {
	.bwp_size = 273,
	.rb_size = 273,
	.nr_of_symbols = 14,
	.qam_mod_order = 8,
	.mcs_index = 27,
	.new_data = true,
};

struct mac_cell *
mac_cell_create(const struct mac_cell_cfg *cfg)
{
	struct mac_cell *cell = rte_zmalloc("mac_cell", sizeof(*cell), RTE_CACHE_LINE_SIZE);
	struct mac_sched_cfg sched = cfg->sched;
	int rc;

	if (cell == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	cell->cfg = *cfg;
	sched.nb_ues = cfg->nb_ues;
	sched.ues_per_slot = RTE_MIN(sched.ues_per_slot, cfg->pdus);
	cell->want = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->want), 0);
	cell->wants = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->wants), 0);
	cell->place = rte_zmalloc("mac_cell", cfg->nb_ues * sizeof(*cell->place), 0);
	rc = mac_sched_init(&cell->dl_sched, &sched);
	if (rc == 0)
		rc = mac_sched_init(&cell->ul_sched, &sched);
	if (rc == 0 && cell->want && cell->wants && cell->place)
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
	mac_sched_fini(&cell->dl_sched);
	mac_sched_fini(&cell->ul_sched);
	rte_free(cell->want);
	rte_free(cell->wants);
	rte_free(cell->place);
	rte_free(cell);
}

static uint32_t
slots_per_frame(const struct mac_cell *cell)
{
	return 10U << cell->cfg.numerology;
}

/** Counts the slots on from the last one. */
static void
slot_count(struct mac_cell *cell, const struct slot_grant *slot)
{
	const uint64_t period = (uint64_t)(FAPI_SFN_MAX + 1) * slots_per_frame(cell);
	const uint64_t at = (uint64_t)slot->sfn * slots_per_frame(cell) + slot->slot;

	/* Not from 0: what was before the first slot is counted as well. */
	cell->slot = cell->begun ? cell->slot + (at + period - cell->slot % period) % period
				 : period + at;
	cell->begun = true;
	cell->at = (struct fapi_slot){slot->sfn, slot->slot};
}

/**
 * Who is granted what of a carrier, as PDUs of its request; what they get is taken off the wants.
 * @return wants left
 */
static unsigned
share_carrier(struct mac_cell *cell, struct mac_sched *sched, const struct l2 *l2, uint32_t carrier,
	      unsigned nb, uint64_t now_ns, struct mac_cell_tti *tti)
{
	const uint32_t capacity = cell->cfg.tb_bytes[carrier];
	struct mac_sched_grant g[SLOT_UES_MAX];
	unsigned grants, kept = 0, w = 0;

	tti->nb = 0;
	for (unsigned i = 0; i < nb; i++)
		cell->wants[i].rate = capacity;
	grants = mac_sched_run(sched, cell->wants, nb, now_ns, g);
	for (unsigned i = 0; i < grants; i++) {
		struct fapi_grant *pdu = &tti->grant[tti->nb];

		*pdu = full_band;
		pdu->rnti = (uint16_t)(l2->rnti + g[i].ue);
		pdu->handle = tti->nb++;
		pdu->subcarrier_spacing = cell->cfg.numerology;
		pdu->tb_bytes = g[i].bytes;
		for (w = 0; cell->wants[w].ue != g[i].ue;)
			w++;
		cell->wants[w].bytes -= g[i].bytes;
	}
	for (unsigned i = 0; i < nb; i++)
		if (cell->wants[i].bytes > OVERHEAD)
			cell->wants[kept++] = cell->wants[i];
	return kept;
}

static void
share_uplink(struct mac_cell *cell, const struct l2 *l2, uint64_t now_ns)
{
	unsigned nb = 0;

	for (uint32_t u = 0; u < cell->cfg.nb_ues; u++) {
		const uint32_t bytes = mac_want(&cell->want[u], &cell->cfg.ul[u], cell->slot,
						slots_per_frame(cell));

		if (bytes > 0)
			cell->wants[nb++] = (struct mac_sched_want){.ue = (uint16_t)u,
								    .bytes = bytes + OVERHEAD};
	}
	for (uint32_t c = 0; c < cell->cfg.nb_carriers; c++) {
		struct mac_cell_tti *tti = &cell->ul[c];

		nb = share_carrier(cell, &cell->ul_sched, l2, c, nb, now_ns, tti);
		for (unsigned i = 0; i < tti->nb; i++) {
			mac_want_granted(&cell->want[tti->grant[i].rnti - l2->rnti], cell->slot,
					 tti->grant[i].tb_bytes);
			cell->ul_bytes += tti->grant[i].tb_bytes;
		}
		cell->ul_tbs += tti->nb;
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

static uint32_t
share_downlink(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
	       uint64_t now_ns, struct slot_grant *records)
{
	uint32_t nb_records = 0;
	unsigned nb = 0;

	for (uint32_t u = 0; u < cell->cfg.nb_ues; u++) {
		const uint64_t bytes = mac_tx_waiting(&l2->mac_tx[u]);

		if (bytes > 0)
			cell->wants[nb++] = (struct mac_sched_want){
				.ue = (uint16_t)u,
				.bytes = (uint32_t)RTE_MIN(bytes + OVERHEAD, (uint64_t)1 << 30)};
	}
	for (uint32_t c = 0; c < cell->cfg.nb_carriers; c++) {
		struct mac_cell_tti *tti = &cell->dl[c];
		uint32_t kept = 0;

		nb = share_carrier(cell, &cell->dl_sched, l2, c, nb, now_ns, tti);
		for (unsigned i = 0; i < tti->nb; i++) {
			const struct fapi_grant *g = &tti->grant[i];
			struct slot_grant *r = record_of(cell, slot, (uint16_t)(g->rnti - l2->rnti),
							 records, &nb_records);

			if (r == NULL)
				continue;
			r->rnti = g->rnti;
			r->tb_bytes[c] = g->tb_bytes;
			r->tb[c] = (struct slot_tb){.handle = (uint16_t)g->handle,
						    .new_data = true,
						    .subcarrier_spacing = cell->cfg.numerology,
						    .nr_of_symbols = g->nr_of_symbols};
			cell->dl_bytes += g->tb_bytes;
			tti->grant[kept++] = *g;
		}
		tti->nb = kept;
		cell->dl_tbs += kept;
	}
	return nb_records;
}

uint32_t
mac_cell_share(struct mac_cell *cell, const struct l2 *l2, const struct slot_grant *slot,
	       uint64_t now_ns, struct slot_grant *records)
{
	uint32_t nb;

	slot_count(cell, slot);
	share_uplink(cell, l2, now_ns);
	nb = share_downlink(cell, l2, slot, now_ns, records);
	if (nb == 0)
		record_of(cell, slot, 0, records, &nb);
	return nb;
}
