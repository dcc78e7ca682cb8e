/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_cell.h"

static struct mac_net_harq *
harq_of(const struct mac_cell *cell, const struct mac_cell_way *way, uint32_t ue, uint32_t carrier)
{
	return &way->harq[ue * cell->cfg.nb_carriers + carrier];
}

static void
refused(const struct mac_cell *cell, struct mac_cell_way *way, uint64_t at)
{
	const uint32_t nb = cell->cfg.nb_ues * cell->cfg.nb_carriers;

	for (uint32_t i = 0; i < nb; i++)
		mac_net_harq_refused(&way->harq[i], at, &way->stats);
}

static void
heed(const struct mac_cell *cell, struct mac_cell_way *way, const struct mac_tb_news *n)
{
	const uint64_t at = mac_cell_slot_of(cell, (struct fapi_slot){n->sfn, n->slot});
	struct mac_net_harq *h;

	if (way->harq == NULL) {
		way->stats.failed += n->verdict == MAC_TB_FAILED;
		way->stats.not_sent += n->verdict == MAC_TB_NOT_SENT;
		return;
	}
	if (n->verdict == MAC_TB_REFUSED) {
		refused(cell, way, at);
		return;
	}
	if (n->ue >= cell->cfg.nb_ues || n->carrier >= cell->cfg.nb_carriers)
		return;
	h = harq_of(cell, way, n->ue, n->carrier);
	mac_net_harq_report(h, &cell->cfg.harq, n->process, at, n->verdict, &way->stats);
}

void
mac_cell_take_news(struct mac_cell *cell)
{
	struct mac_tb_news n;

	while (mac_tb_box_get(&cell->box, &n))
		heed(cell, &cell->ul, &n);
}

void
mac_cell_not_sent(struct mac_cell *cell, const struct l2 *l2, uint32_t carrier)
{
	struct mac_cell_way *way = &cell->ul;
	const struct mac_cell_tti *t = &way->tti[carrier];

	for (uint32_t i = 0; way->harq && i < t->nb; i++)
		mac_net_harq_refused(
			harq_of(cell, way, (uint16_t)(t->grant[i].rnti - l2->rnti), carrier),
			cell->slot, &way->stats);
}

void
mac_cell_wanted(const struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, bool wants)
{
	for (uint32_t c = 0; way->harq && c < cell->cfg.nb_carriers; c++) {
		struct mac_net_harq *h = harq_of(cell, way, ue, c);

		mac_net_harq_expire(h, cell->slot, &way->stats);
		if (wants)
			mac_net_harq_unpark(h);
	}
}

bool
mac_cell_free(const struct mac_cell *cell, const struct mac_cell_way *way, uint32_t ue,
	      uint32_t carrier)
{
	const struct mac_net_harq *h;

	if (way->harq == NULL)
		return true;
	h = harq_of(cell, way, ue, carrier);
	return h->idle != 0 && h->last != cell->slot;
}

void
mac_cell_again(struct mac_cell *cell, struct mac_cell_way *way, const struct l2 *l2,
	       uint32_t carrier, struct mac_sched_room *room)
{
	const uint32_t nb = cell->cfg.nb_ues;
	uint32_t u = way->again_first < nb ? way->again_first : 0;
	bool all = true;

	for (uint32_t i = 0; way->harq && i < nb; i++, u = u + 1 < nb ? u + 1 : 0) {
		struct mac_net_harq *h = harq_of(cell, way, u, carrier);
		const int p = h->pending ? mac_net_harq_pending(h) : -1;

		if (p < 0)
			continue;
		if (room->ues == 0 || h->process[p].part > room->part) {
			/* The next slot begins with the first one that found no room in this. */
			if (all)
				way->again_first = u;
			all = false;
			continue;
		}
		mac_net_harq_grant(h, p, 0, cell->slot,
				   mac_cell_pdu(cell, l2, &way->tti[carrier], u), &way->stats);
		if (way == &cell->ul)
			mac_want_again(&cell->want[u], cell->slot, carrier, h->process[p].first_at);
		room->part -= h->process[p].part;
		room->ues--;
	}
}

void
mac_cell_new(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, uint32_t carrier,
	     uint64_t part, struct fapi_grant *g)
{
	struct mac_net_harq *h;

	if (way->harq == NULL)
		return;
	h = harq_of(cell, way, ue, carrier);
	mac_net_harq_grant(h, mac_net_harq_idle(h), part, cell->slot, g, &way->stats);
}
