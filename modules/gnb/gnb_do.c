/* SPDX-License-Identifier: BSD-3-Clause */
/** What a worker does with a message of the control thread, and its rings. */
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_msg.h"

#define MESSAGES 1024
#define REPORTS 1024

static void
drbs_copy(const struct gnb_table *t, struct gnb_msg *m)
{
	if (m->drbs)
		memcpy(m->drbs, gnb_drb_at(t, m->teid, 0), sizeof(*m->drbs) << t->drb_shift);
}

void
gnb_do(struct gnb_ctx_worker *w, struct gnb_msg *m)
{
	struct gnb_session *s = gnb_session_at(w->table, m->teid);

	w->applied++;
	m->done = m->kind == GNB_MSG_SET || gnb_session_is(s, m->teid);
	if (!m->done)
		return;
	switch (m->kind) {
	case GNB_MSG_SET:
		gnb_session_set(w->table, m->image);
		drbs_copy(w->table, m);
		if (w->changed)
			w->changed(w->changed_arg, m);
		break;
	case GNB_MSG_DELETE:
		if (w->changed)
			w->changed(w->changed_arg, m);
		gnb_session_clear(w->table, m->teid);
		break;
	default:
		s->flags |= GNB_SESSION_UL_STOPPED;
	}
}

/* --- rings ------------------------------------------------------------------------------------ */

static struct rte_ring *
ring_make(const char *what, unsigned serial, unsigned k)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "gnb_%s%u.%u", what, serial, k);
	return rte_ring_create(name, MESSAGES, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

struct gnb_ctx_worker *
gnb_ctx_workers_init(struct gnb_table *t, unsigned nb, unsigned serial)
{
	struct gnb_ctx_worker *w =
		rte_zmalloc("gnb_ctx_workers", nb * sizeof(*w), RTE_CACHE_LINE_SIZE);
	char name[RTE_RING_NAMESIZE];

	for (unsigned k = 0; w && k < nb; k++) {
		w[k].table = t;
		w[k].index = k;
		w[k].messages = ring_make("msg", serial, k);
		w[k].replies = ring_make("rep", serial, k);
		snprintf(name, sizeof(name), "gnb_use%u.%u", serial, k);
		w[k].reports = gnb_report_ring(name, REPORTS, SOCKET_ID_ANY);
		if (w[k].messages && w[k].replies && w[k].reports)
			continue;
		gnb_ctx_workers_fini(w, nb);
		return NULL;
	}
	return w;
}

void
gnb_ctx_workers_fini(struct gnb_ctx_worker *w, unsigned nb)
{
	for (unsigned k = 0; w && k < nb; k++) {
		rte_ring_free(w[k].messages);
		rte_ring_free(w[k].replies);
		rte_ring_free(w[k].reports);
	}
	rte_free(w);
}
