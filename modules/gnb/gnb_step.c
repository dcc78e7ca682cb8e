/* SPDX-License-Identifier: BSD-3-Clause */
/** Changes of a PDU session, see gnb_step.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "modules/gnb/gnb_step.h"
#include "modules/upf/upf_peer.h"

/* --- messages --------------------------------------------------------------------------------- */

void
gnb_msg_free(struct gnb_msg *m)
{
	free(m);
}

/** A message with all it needs, one allocation. @param drbs rows it has room for */
static struct gnb_msg *
msg_make(enum gnb_msg_kind kind, uint32_t teid, bool image, unsigned drbs)
{
	size_t head = RTE_CACHE_LINE_ROUNDUP(sizeof(struct gnb_msg));
	size_t images = image ? sizeof(struct gnb_image) : 0;
	uint8_t *at =
		aligned_alloc(RTE_CACHE_LINE_SIZE, head + images + drbs * sizeof(struct gnb_drb));
	struct gnb_msg *m = (struct gnb_msg *)(void *)at;

	if (m == NULL)
		return NULL;
	*m = (struct gnb_msg){.kind = (uint8_t)kind, .teid = teid};
	m->image = image ? (struct gnb_image *)(void *)(at + head) : NULL;
	m->drbs = drbs ? (struct gnb_drb *)(void *)(at + head + images) : NULL;
	return m;
}

/* --- steps ------------------------------------------------------------------------------------ */

int
gnb_change_no_memory(struct gnb_change *ch)
{
	return gnb_fail(ch->c, ch->item, GNB_CAUSE(NO_RESOURCES), "no memory");
}

int
gnb_change_begin(struct gnb_change *ch, size_t steps)
{
	ch->nb = 0;
	ch->steps = ctl_arena_alloc(&ch->c->arena, (steps + 1) * sizeof(*ch->steps));
	return ch->steps ? 0 : gnb_change_no_memory(ch);
}

void
gnb_change_undo(struct gnb_change *ch)
{
	for (unsigned i = 0; i < ch->nb; i++) {
		struct gnb_step *s = &ch->steps[i];

		if (s->now && s->old == NULL && s->now->spec.teid != 0)
			gnb_ids_put(&ch->c->ids, s->now->spec.teid);
		if (s->entered)
			ch->c->cfg.radio->leave(ch->c->cfg.radio->arg, &s->now->spec);
		gnb_entry_free(ch->c, s->now);
		gnb_msg_free(s->msg);
	}
	ch->nb = 0;
}

/** Role `gnb` has few places: one that a release frees counts. @return whether one may have come.
 */
static bool
settled(struct gnb_control *c)
{
	if (c->cfg.radio == NULL || c->all_under_way == 0 || c->stop)
		return false;
	if (!gnb_control_replies(c))
		c->pause(c);
	return true;
}

static int
teid_get(struct gnb_change *ch, struct gnb_entry *e)
{
	struct gnb_control *c = ch->c;

	while (c->ids.nb == c->ids.capacity && settled(c))
		;
	e->spec.teid = gnb_ids_get(&c->ids, ap_clock_ns());
	if (e->spec.teid != 0)
		return 0;
	if (c->ids.nb == c->ids.capacity)
		return gnb_fail(c, ch->item, GNB_CAUSE(NO_RESOURCES),
				"table full: %u PDU sessions are the most here", c->ids.capacity);
	return gnb_fail(c, ch->item, GNB_CAUSE(NO_RESOURCES),
			"the %u free TEIDs were used up to 127 times in 30 s: they rest",
			c->ids.capacity - c->ids.nb);
}

static GnbCause
cause_of(int rc)
{
	return rc == -EINVAL   ? GNB_CAUSE(SEMANTIC_ERROR)
	       : rc == -EACCES ? GNB_CAUSE(SECURITY)
			       : GNB_CAUSE(NO_RESOURCES);
}

/** A place on the radio side, which a session that goes may still have. */
static int
radio_enter(struct gnb_change *ch, struct gnb_step *s)
{
	struct gnb_control *c = ch->c;
	const struct gnb_radio *radio = c->cfg.radio;
	struct gnb_session_spec *spec = &s->now->spec;
	const bool fresh = s->old == NULL;
	char why[120] = "";
	int rc;

	if (radio == NULL)
		return 0;
	do
		rc = radio->enter(radio->arg, spec, fresh, why, sizeof(why));
	while (rc == -EBUSY && settled(c));
	s->entered = fresh && rc == 0;
	return rc == 0 ? 0
		       : gnb_fail(c, ch->item, cause_of(rc), "PDU session %u: %s",
				  spec->pdu_session, why);
}

/** The step's image: the last thing that can be wrong. */
static int
step_finish(struct gnb_change *ch, struct gnb_step *s)
{
	unsigned drbs = gnb_drbs_per_session(ch->c->cfg.table);
	char why[96];

	if (radio_enter(ch, s) < 0)
		return -1;
	s->msg = msg_make(GNB_MSG_SET, s->now->spec.teid, true, drbs);
	if (s->msg == NULL)
		return gnb_change_no_memory(ch);
	s->msg->fresh = s->old == NULL;
	s->msg->spec = &s->now->spec;
	if (gnb_image_make(&s->now->spec, drbs, (struct gnb_image *)(uintptr_t)s->msg->image, why,
			   sizeof(why)) == 0)
		return 0;
	return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR), "PDU session %u: %s",
			s->now->spec.pdu_session, why);
}

/** @return the step about a session, or NULL. */
static struct gnb_step *
step_of(const struct gnb_change *ch, uint32_t pdu_session)
{
	for (unsigned i = ch->nb; i-- > 0;) {
		struct gnb_step *s = &ch->steps[i];

		if ((s->now ? s->now : s->old)->spec.pdu_session == pdu_session)
			return s;
	}
	return NULL;
}

static int
tunnel(struct gnb_change *ch, uint32_t pdu_session, const char *name, const GnbTunnel *t,
       uint16_t *peer, uint32_t *teid)
{
	char what[48];

	snprintf(what, sizeof(what), "PDU session %u: %s", pdu_session, name);
	return gnb_decode_tunnel(ch->c, ch->item, what, t, ch->c->cfg.n3, peer, teid);
}

int
gnb_step_setup(struct gnb_change *ch, const GnbPduSession *q, const struct gnb_ue_spec *radio)
{
	const struct gnb_step *before = step_of(ch, q->id);
	struct gnb_step *s = &ch->steps[ch->nb];
	struct gnb_entry *e;

	if (q->id < 1 || q->id > GNB_PDU_SESSION_ID_MAX)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
				"PDU session ID %u is not 1..255", q->id);
	if ((before && before->now) ||
	    (before == NULL && gnb_ue_find(ch->c, ch->item->ue_id, q->id)))
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(MULTIPLE_PDU_SESSION),
				"PDU session %u is there already", q->id);
	if (ch->c->cfg.radio && (ch->nb > 0 || gnb_ue_first(ch->c, ch->item->ue_id)))
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(NO_RESOURCES),
				"PDU session %u: a UE has one here: release the UE first", q->id);
	if (q->ul_up == NULL)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
				"PDU session %u has no tunnel to its UPF (ul_up)", q->id);
	e = gnb_entry_make(ch->c);
	if (e == NULL)
		return gnb_change_no_memory(ch);
	*s = (struct gnb_step){.now = e};
	ch->nb++;
	e->ue_id = ch->item->ue_id;
	e->spec.pdu_session = (uint8_t)q->id;
	e->spec.radio = *radio;
	if (tunnel(ch, q->id, "tunnel to the UPF", q->ul_up, &e->spec.upf, &e->spec.ul_teid) < 0)
		return -1;
	if (q->forwarding && tunnel(ch, q->id, "tunnel for forwarding", q->forwarding,
				    &e->spec.forward, &e->spec.forward_teid) < 0)
		return -1;
	for (size_t i = 0; i < q->n_drbs; i++)
		if (gnb_decode_drb(ch->c, ch->item, e, q->drbs[i]) < 0)
			return -1;
	return teid_get(ch, e) < 0 ? -1 : step_finish(ch, s);
}

static struct gnb_entry *
session_of(struct gnb_change *ch, uint32_t pdu_session)
{
	struct gnb_entry *e = gnb_ue_find(ch->c, ch->item->ue_id, pdu_session);

	if (e == NULL)
		gnb_fail(ch->c, ch->item, GNB_CAUSE(UNKNOWN_PDU_SESSION),
			 "there is no PDU session %u", pdu_session);
	else if (step_of(ch, pdu_session))
		gnb_fail(ch->c, ch->item, GNB_CAUSE(MULTIPLE_PDU_SESSION),
			 "PDU session %u is there twice", pdu_session);
	else
		return e;
	return NULL;
}

int
gnb_step_remove(struct gnb_change *ch, uint32_t pdu_session)
{
	struct gnb_entry *e = session_of(ch, pdu_session);
	struct gnb_step *s = &ch->steps[ch->nb];

	if (e == NULL)
		return -1;
	*s = (struct gnb_step){.old = e, .msg = msg_make(GNB_MSG_DELETE, e->spec.teid, false, 0)};
	if (s->msg == NULL)
		return gnb_change_no_memory(ch);
	ch->nb++;
	return 0;
}

/* --- changes of a session --------------------------------------------------------------------- */

static struct gnb_drb_spec *
drb_of(struct gnb_change *ch, struct gnb_entry *e, uint32_t id)
{
	for (unsigned i = 0; i < e->spec.nb_drbs; i++)
		if (e->spec.drbs[i].id == id)
			return &e->spec.drbs[i];
	gnb_fail(ch->c, ch->item, GNB_CAUSE(UNKNOWN_DRB), "PDU session %u has no DRB %u",
		 e->spec.pdu_session, id);
	return NULL;
}

static void
peer_replace(struct gnb_change *ch, uint16_t *peer, uint16_t now)
{
	if (*peer != 0)
		upf_peer_put(ch->c->cfg.peers, *peer, ap_clock_ns());
	*peer = now;
}

/** Another tunnel in place of one, whose peer is used no more by this entry. */
static int
tunnel_replace(struct gnb_change *ch, const char *what, const GnbTunnel *t, uint32_t interfaces,
	       uint16_t *peer, uint32_t *teid)
{
	uint16_t now;

	if (gnb_decode_tunnel(ch->c, ch->item, what, t, interfaces, &now, teid) < 0)
		return -1;
	peer_replace(ch, peer, now);
	return 0;
}

static int
drb_remove(struct gnb_change *ch, struct gnb_entry *e, uint32_t id)
{
	struct gnb_drb_spec *d = drb_of(ch, e, id);

	if (d == NULL)
		return -1;
	peer_replace(ch, &d->du, 0);
	*d = e->spec.drbs[--e->spec.nb_drbs];
	return 0;
}

static int
drb_modify(struct gnb_change *ch, struct gnb_entry *e, const Airpath__Gnb__V1__DrbChange *q)
{
	struct gnb_drb_spec *d = drb_of(ch, e, q->id);
	char what[32];
	bool ok = true;

	if (d == NULL)
		return -1;
	if (q->dl_up && ch->c->cfg.no_du)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u has a tunnel to a DU (dl_up): there is none here", q->id);
	snprintf(what, sizeof(what), "DRB %u: tunnel to the DU", q->id);
	if (q->dl_up && tunnel_replace(ch, what, q->dl_up, ch->c->cfg.f1, &d->du, &d->du_teid) < 0)
		return -1;
	if (q->replace_qfis)
		d->qfis = gnb_decode_qfis(ch->c, ch->item, q->id, q->qfis, q->n_qfis, &ok);
	if (q->has_default_drb)
		d->is_default = q->default_drb;
	if (q->has_dl_count && ch->c->cfg.radio)
		return gnb_fail(ch->c, ch->item, GNB_CAUSE(SEMANTIC_ERROR),
				"DRB %u: dl_count: COUNT runs on here; release the UE, and set it "
				"up with new keys",
				d->id);
	d->set_count = q->has_dl_count;
	d->count = q->dl_count;
	return ok ? 0 : -1;
}

/** What the request says of DRBs: remove, modify, set up. */
static int
drbs_change(struct gnb_change *ch, struct gnb_entry *e, const Airpath__Gnb__V1__PduSessionChange *q)
{
	int rc = 0;

	for (size_t i = 0; i < q->n_remove_drbs && rc == 0; i++)
		rc = drb_remove(ch, e, q->remove_drbs[i]);
	for (size_t i = 0; i < q->n_modify_drbs && rc == 0; i++)
		rc = drb_modify(ch, e, q->modify_drbs[i]);
	for (size_t i = 0; i < q->n_setup_drbs && rc == 0; i++)
		rc = gnb_decode_drb(ch->c, ch->item, e, q->setup_drbs[i]);
	return rc;
}

int
gnb_step_modify(struct gnb_change *ch, const Airpath__Gnb__V1__PduSessionChange *q)
{
	struct gnb_entry *old = session_of(ch, q->id), *e;
	struct gnb_step *s = &ch->steps[ch->nb];
	char what[48];

	if (old == NULL)
		return -1;
	e = gnb_entry_copy(ch->c, old);
	if (e == NULL)
		return gnb_change_no_memory(ch);
	*s = (struct gnb_step){.old = old, .now = e};
	ch->nb++;
	snprintf(what, sizeof(what), "PDU session %u: tunnel to the UPF", q->id);
	if (q->ul_up) {
		if (tunnel_replace(ch, what, q->ul_up, ch->c->cfg.n3, &e->spec.upf,
				   &e->spec.ul_teid) < 0)
			return -1;
		e->spec.flags &= (uint8_t)~GNB_SESSION_UL_STOPPED;
	}
	snprintf(what, sizeof(what), "PDU session %u: forwarding", q->id);
	if (q->forwarding && tunnel_replace(ch, what, q->forwarding, ch->c->cfg.n3,
					    &e->spec.forward, &e->spec.forward_teid) < 0)
		return -1;
	if (q->stop_forwarding) {
		peer_replace(ch, &e->spec.forward, 0);
		e->spec.forward_teid = 0;
	}
	return drbs_change(ch, e, q) < 0 ? -1 : step_finish(ch, s);
}
