/* SPDX-License-Identifier: BSD-3-Clause */
/** Setup, modification and release of contexts. */
#include <errno.h>

#include "modules/gnb/gnb_step.h"

/** Directory and workers are told. What can fail still is memory for the UE's id, at its first
 * step. */
static void
commit(struct gnb_change *ch, struct gnb_request *r)
{
	struct gnb_control *c = ch->c;
	struct gnb_item *item = ch->item;

	if (ch->nb > 0 && gnb_ue_replace(c, ch->steps[0].old, ch->steps[0].now) < 0) {
		gnb_change_no_memory(ch);
		gnb_change_undo(ch);
		return;
	}
	for (unsigned i = 0; i < ch->nb; i++) {
		struct gnb_step *s = &ch->steps[i];

		if (i > 0)
			gnb_ue_replace(c, s->old, s->now);
		s->msg->old = s->old;
		if (c->cfg.radio && s->now)
			c->cfg.radio->begin(c->cfg.radio->arg, &s->now->spec);
		if (item->last)
			item->last->next = s->msg;
		else
			item->first = s->msg;
		item->last = s->msg;
	}
	for (struct gnb_msg *m = item->first, *next; m; m = next) {
		next = m->next;
		gnb_control_send(c, r, m);
	}
}

static unsigned
ue_sessions(const struct gnb_change *ch)
{
	unsigned nb = 0;

	for (const struct gnb_entry *e = gnb_ue_first(ch->c, ch->item->ue_id); e;
	     e = gnb_ue_next(ch->c, e))
		nb++;
	return nb;
}

/** A UE has some sessions, and not too many. @return 0 or -1, failed. */
static int
sessions_check(struct gnb_change *ch)
{
	int left = (int)ue_sessions(ch);

	for (unsigned i = 0; i < ch->nb; i++)
		left += (ch->steps[i].old == NULL) - (ch->steps[i].now == NULL);
	if (left <= 0)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
				"UE %u would have no PDU session: release it", ch->item->ue_id);
	if (left > GNB_PDU_SESSIONS_MAX)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(NO_RESOURCES),
				"UE %u would have %d PDU sessions: %d are the most",
				ch->item->ue_id, left, GNB_PDU_SESSIONS_MAX);
	return 0;
}

static void
setup_one(struct gnb_change *ch, struct gnb_request *r, const Airpath__Gnb__V1__BearerContext *q)
{
	struct gnb_ue_spec radio = {0};
	int rc = 0;

	if (gnb_ue_first(ch->c, q->ue_id))
		rc = gnb_fail(ch->c, ch->item, GNB_CAUSE(UE_IN_USE), "UE %u is there already",
			      q->ue_id);
	else if (q->n_pdu_sessions == 0)
		rc = gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
			      "UE %u has no PDU session in it", q->ue_id);
	else
		rc = gnb_decode_ue(ch->c, ch->item, &radio, q->security, q->f1);
	if (rc < 0 || gnb_change_begin(ch, q->n_pdu_sessions) < 0)
		return;
	for (size_t i = 0; i < q->n_pdu_sessions && rc == 0; i++)
		rc = gnb_step_setup(ch, q->pdu_sessions[i], &radio);
	if (rc == 0)
		rc = sessions_check(ch);
	if (rc < 0) {
		gnb_change_undo(ch);
		return;
	}
	ch->c->stats.setups++;
	commit(ch, r);
}

static int
modify_steps(struct gnb_change *ch, const Airpath__Gnb__V1__BearerContextChange *q,
	     const struct gnb_ue_spec *radio)
{
	int rc = 0;

	for (size_t i = 0; i < q->n_remove && rc == 0; i++)
		rc = gnb_step_remove(ch, q->remove[i]);
	for (size_t i = 0; i < q->n_modify && rc == 0; i++)
		rc = gnb_step_modify(ch, q->modify[i]);
	for (size_t i = 0; i < q->n_setup && rc == 0; i++)
		rc = gnb_step_setup(ch, q->setup[i], radio);
	return rc;
}

static void
modify_one(struct gnb_change *ch, struct gnb_request *r,
	   const Airpath__Gnb__V1__BearerContextChange *q)
{
	const struct gnb_entry *e = gnb_ue_first(ch->c, q->ue_id);
	struct gnb_ue_spec radio;
	int rc;

	if (e == NULL) {
		gnb_fail(ch->c, ch->item, GNB_CAUSE(UNKNOWN_UE), "there is no UE %u", q->ue_id);
		return;
	}
	if (gnb_change_begin(ch, q->n_remove + q->n_modify + q->n_setup) < 0)
		return;
	radio = e->spec.radio;
	rc = modify_steps(ch, q, &radio);
	if (rc == 0)
		rc = sessions_check(ch);
	if (rc < 0) {
		gnb_change_undo(ch);
		return;
	}
	ch->c->stats.modifications++;
	commit(ch, r);
}

static void
release_one(struct gnb_change *ch, struct gnb_request *r)
{
	uint32_t ue_id = ch->item->ue_id;
	unsigned sessions = ue_sessions(ch);
	int rc = 0;

	if (sessions == 0) {
		gnb_fail(ch->c, ch->item, GNB_CAUSE(UNKNOWN_UE), "there is no UE %u", ue_id);
		return;
	}
	if (gnb_change_begin(ch, sessions) < 0)
		return;
	for (const struct gnb_entry *e = gnb_ue_first(ch->c, ue_id); e && rc == 0;
	     e = gnb_ue_next(ch->c, e))
		rc = gnb_step_remove(ch, e->spec.pdu_session);
	if (rc < 0) {
		gnb_change_undo(ch);
		return;
	}
	ch->c->stats.releases++;
	commit(ch, r);
}

void
gnb_change_preset(struct gnb_control *c, struct gnb_item *item,
		  const Airpath__Gnb__V1__BearerContext *q)
{
	struct gnb_change ch = {.c = c, .item = item};

	item->ue_id = q->ue_id;
	setup_one(&ch, NULL, q);
}

void
gnb_change_setup(struct gnb_control *c, struct gnb_request *r,
		 const Airpath__Gnb__V1__BearerContextSetupRequest *q)
{
	for (unsigned i = 0; i < r->nb_items; i++) {
		struct gnb_change ch = {.c = c, .item = &r->items[i]};

		r->items[i].ue_id = q->contexts[i]->ue_id;
		setup_one(&ch, r, q->contexts[i]);
	}
}

void
gnb_change_modify(struct gnb_control *c, struct gnb_request *r,
		  const Airpath__Gnb__V1__BearerContextModificationRequest *q)
{
	for (unsigned i = 0; i < r->nb_items; i++) {
		struct gnb_change ch = {.c = c, .item = &r->items[i]};

		r->items[i].ue_id = q->contexts[i]->ue_id;
		modify_one(&ch, r, q->contexts[i]);
	}
}

void
gnb_change_release(struct gnb_control *c, struct gnb_request *r,
		   const Airpath__Gnb__V1__BearerContextReleaseCommand *q)
{
	for (unsigned i = 0; i < r->nb_items; i++) {
		struct gnb_change ch = {.c = c, .item = &r->items[i]};

		r->items[i].ue_id = q->ue_ids[i];
		release_one(&ch, r);
	}
}

void
gnb_change_done(struct gnb_control *c, struct gnb_msg *m)
{
	struct gnb_request *r = m->request;

	if (m->kind == GNB_MSG_DELETE) {
		const struct gnb_entry *gone = m->old;

		gnb_ids_put(&c->ids, m->teid);
		if (c->cfg.radio && gone)
			c->cfg.radio->leave(c->cfg.radio->arg, &gone->spec);
	}
	gnb_entry_free(c, m->old);
	m->old = NULL;
	m->spec = NULL;
	if (r)
		r->waiting--;
	else
		gnb_msg_free(m); /* GNB_MSG_STOP: nobody waits */
}
