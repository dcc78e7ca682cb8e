/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_cell.h"

static struct mac_net_harq *
harq_of(const struct mac_cell *cell, const struct mac_cell_way *way, uint32_t ue, uint32_t carrier)
{
	return &way->harq[ue * cell->cfg.nb_carriers + carrier];
}

/** Of downlink: TBs of the UE's that have come to an end need not be kept. */
static void
ended(struct mac_cell_way *way, uint32_t ue, uint32_t carrier, uint32_t processes)
{
	struct mac_cell_releases *r;

	if (likely(processes == 0) || way->releases == NULL)
		return;
	r = &way->releases[carrier];
	r->nb += (uint32_t)__builtin_popcount(processes & ~r->processes[ue]);
	r->processes[ue] |= processes;
}

uint32_t
mac_cell_release(struct mac_cell *cell, uint32_t carrier, struct mac_tb_release *out)
{
	struct mac_cell_releases *r = &cell->dl.releases[carrier];
	uint32_t nb = 0;

	while (r->nb > 0 && nb < MAC_TB_RELEASES) {
		uint32_t *set = &r->processes[r->next];
		const int process = __builtin_ffs((int)*set) - 1;

		if (process < 0) {
			r->next = r->next + 1 < cell->cfg.nb_ues ? r->next + 1 : 0;
			continue;
		}
		*set &= *set - 1;
		r->nb--;
		if (harq_of(cell, &cell->dl, r->next, carrier)->idle & 1U << process)
			out[nb++] = (struct mac_tb_release){.ue = (uint16_t)r->next,
							    .process = (uint8_t)process};
	}
	return nb;
}

static void
refused(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, uint32_t carrier, uint64_t at)
{
	struct mac_net_harq *h = harq_of(cell, way, ue, carrier);
	const uint32_t idle = h->idle;

	mac_net_harq_refused(h, at, &way->stats);
	ended(way, ue, carrier, h->idle & ~idle);
}

void
mac_cell_reset(struct mac_cell *cell, uint32_t ue)
{
	struct mac_cell_way *way = &cell->dl;

	for (uint32_t c = 0; way->harq && c < cell->cfg.nb_carriers; c++) {
		struct mac_net_harq *h = harq_of(cell, way, ue, c);
		const uint32_t idle = h->idle;

		mac_net_harq_reset(h, &way->stats);
		ended(way, ue, c, h->idle & ~idle);
	}
}

static void
heed(struct mac_cell *cell, const struct mac_tb_news *n)
{
	struct mac_cell_way *way = n->downlink ? &cell->dl : &cell->ul;
	const uint64_t at = mac_cell_slot_of(cell, (struct fapi_slot){n->sfn, n->slot});
	struct mac_net_harq *h;
	uint32_t idle;
	int process;

	if (way->harq == NULL) {
		way->stats.failed += n->verdict == MAC_TB_FAILED;
		way->stats.not_sent += n->verdict == MAC_TB_NOT_SENT;
		return;
	}
	if (n->verdict == MAC_TB_REFUSED) {
		for (uint32_t u = 0; u < cell->cfg.nb_ues; u++)
			for (uint32_t c = 0; c < cell->cfg.nb_carriers; c++)
				refused(cell, way, u, c, at);
		return;
	}
	if (n->ue >= cell->cfg.nb_ues || n->carrier >= cell->cfg.nb_carriers)
		return;
	h = harq_of(cell, way, n->ue, n->carrier);
	/* An answer is known by its slot. */
	process = n->downlink ? mac_net_harq_of_slot(h, at) : n->process;
	idle = h->idle;
	mac_net_harq_report(h, process < 0 ? MAC_HARQ_MAX : (uint8_t)process, at, n->verdict,
			    &way->stats);
	ended(way, n->ue, n->carrier, h->idle & ~idle);
}

void
mac_cell_take_news(struct mac_cell *cell)
{
	struct mac_tb_news n;

	while (mac_tb_box_get(&cell->box, &n))
		heed(cell, &n);
}

void
mac_cell_unsent(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, uint32_t carrier)
{
	if (way->harq)
		refused(cell, way, ue, carrier, cell->slot);
}

void
mac_cell_not_sent(struct mac_cell *cell, struct mac_cell_way *way, const struct l2 *l2,
		  uint32_t carrier)
{
	const struct mac_cell_tti *t = &way->tti[carrier];

	for (uint32_t i = 0; i < t->nb; i++)
		mac_cell_unsent(cell, way, (uint16_t)(t->grant[i].rnti - l2->rnti), carrier);
}

void
mac_cell_wanted(struct mac_cell *cell, struct mac_cell_way *way, uint32_t ue, bool wants)
{
	for (uint32_t c = 0; way->harq && c < cell->cfg.nb_carriers; c++) {
		struct mac_net_harq *h = harq_of(cell, way, ue, c);
		const uint32_t idle = h->idle;

		mac_net_harq_expire(h, cell->slot, &way->stats);
		ended(way, ue, c, h->idle & ~idle);
		if (wants)
			mac_net_harq_unpark(h);
	}
}

bool
mac_cell_free(const struct mac_cell *cell, const struct mac_cell_way *way, uint32_t ue,
	      uint32_t carrier)
{
	return way->harq == NULL || mac_net_harq_free(harq_of(cell, way, ue, carrier), cell->slot);
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
		struct fapi_grant *g;

		if (p < 0)
			continue;
		if (room->ues == 0 || h->process[p].part > room->part) {
			/* The next slot begins with the first one that found no room in this. */
			if (all)
				way->again_first = u;
			all = false;
			continue;
		}
		g = mac_cell_pdu(cell, l2, &way->tti[carrier], u);
		mac_net_harq_grant(h, p, 0, cell->slot, g, &way->stats);
		g->k1 = h->downlink ? MAC_CELL_K1 : 0;
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
	g->k1 = h->downlink ? MAC_CELL_K1 : 0;
}
