/* SPDX-License-Identifier: BSD-3-Clause */
/** What belongs to workers, and what they share: rings, tables, accounts, the index. */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_role.h"
#include "modules/upf/upf_rules.h"
#include "modules/upf/upf_scans.h"
#include "modules/upf/upf_tables.h"

#define MESSAGES 1024
#define REPORTS 4096
#define CHECKPOINT_MS 500

static struct rte_ring *
ring_make(const char *what, unsigned serial, unsigned k)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "upf_%s%u.%u", what, serial, k);
	return rte_ring_create(name, MESSAGES, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/** A URR's quota ran out, or was provided anew: its PDRs' packets take another FAR. */
static void
take_far(struct upf_session *s, uint16_t lane, uint16_t far)
{
	s->rules->pdrs[lane].far = (uint8_t)far;
	upf_lane_take_far(&s->lanes[lane], &s->rules->fars[far]);
}

/** @return 0 or -ENOMEM. */
static int
charger_make(struct upf_worker *w)
{
	const struct upf *upf = w->upf;
	/* Buckets spread sessions evenly, but not all agents fill buckets so. */
	uint64_t sessions =
		RTE_MIN(upf->cfg->sessions, 2ULL * upf->cfg->sessions / upf->nb_workers + 65536);

	w->charger = rte_zmalloc("upf_charger", sizeof(*w->charger), RTE_CACHE_LINE_SIZE);
	if (w->charger == NULL || upf_charger_init(w->charger, (unsigned)sessions) < 0)
		return -ENOMEM;
	w->charger->reports = w->reports;
	w->charger->unix_offset_ns = (uint64_t)upf->unix_offset_ns;
	w->charger->checkpoint_ns = CHECKPOINT_MS * AP_NS_PER_MS;
	w->charger->take_far = take_far;
	return 0;
}

static int
worker_make(struct upf_worker *w, unsigned serial)
{
	char name[RTE_RING_NAMESIZE];

	w->messages = ring_make("msg", serial, w->index);
	w->replies = ring_make("rep", serial, w->index);
	snprintf(name, sizeof(name), "upf_use%u.%u", serial, w->index);
	w->reports = upf_report_ring(name, REPORTS, SOCKET_ID_ANY);
	w->tables = upf_tables_create(&w->upf->owners, w->index, SOCKET_ID_ANY);
	w->flows = upf_flows_create(w->upf->cfg->flows);
	w->scans = upf_scans_create(w->upf->cfg->dpi.scans);
	if (!w->messages || !w->replies || !w->reports || !w->tables || !w->flows || !w->scans)
		return -ENOMEM;
	return charger_make(w);
}

int
upf_workers_init(struct upf *upf, unsigned serial)
{
	static bool looks; /* of all upfs */

	if (!looks && dpi_look_init() == -ENOMEM)
		return -ENOMEM;
	looks = true;
	upf->index = upf_index_create(SOCKET_ID_ANY);
	upf->workers = rte_zmalloc("upf_workers", upf->nb_workers * sizeof(struct upf_worker),
				   RTE_CACHE_LINE_SIZE);
	if (upf->index == NULL || upf->workers == NULL)
		return -ENOMEM;
	for (unsigned k = 0; k < upf->nb_workers; k++) {
		struct upf_worker *w = &upf->workers[k];

		w->upf = upf;
		w->index = k;
		if (worker_make(w, serial) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void
worker_free(struct upf_worker *w)
{
	if (w->charger)
		upf_charger_fini(w->charger);
	rte_free(w->charger);
	upf_tables_destroy(w->tables);
	upf_flows_destroy(w->flows);
	upf_scans_destroy(w->scans);
	rte_ring_free(w->messages);
	rte_ring_free(w->replies);
	rte_ring_free(w->reports);
}

void
upf_workers_fini(struct upf *upf)
{
	for (unsigned k = 0; upf->workers && k < upf->nb_workers; k++)
		worker_free(&upf->workers[k]);
	rte_free(upf->workers);
	upf_index_destroy(upf->index);
	upf->workers = NULL;
	upf->index = NULL;
}
