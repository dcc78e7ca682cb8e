/* SPDX-License-Identifier: BSD-3-Clause */
/** PDU sessions as the control thread knows them: by index of their TEID, and by UE. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_peer.h"

static size_t
entry_bytes(const struct gnb_control *c)
{
	size_t drbs = gnb_drbs_per_session(c->cfg.table) * sizeof(struct gnb_drb_spec);

	return offsetof(struct gnb_entry, spec.drbs) + drbs;
}

struct gnb_entry *
gnb_entry_make(const struct gnb_control *c)
{
	return calloc(1, entry_bytes(c));
}

static void
peer_put(struct gnb_control *c, uint16_t peer, uint64_t now_ns)
{
	if (peer != 0)
		upf_peer_put(c->cfg.peers, peer, now_ns);
}

void
gnb_entry_free(struct gnb_control *c, struct gnb_entry *e)
{
	uint64_t now_ns = ap_clock_ns();

	if (e == NULL)
		return;
	peer_put(c, e->spec.upf, now_ns);
	peer_put(c, e->spec.forward, now_ns);
	for (unsigned i = 0; i < e->spec.nb_drbs; i++)
		peer_put(c, e->spec.drbs[i].du, now_ns);
	free(e);
}

/** One more use of a peer that is in use. */
static void
peer_again(struct gnb_control *c, uint16_t peer)
{
	if (peer != 0)
		c->cfg.peers->peer[peer].refs++;
}

struct gnb_entry *
gnb_entry_copy(struct gnb_control *c, const struct gnb_entry *e)
{
	struct gnb_entry *copy = gnb_entry_make(c);

	if (copy == NULL)
		return NULL;
	memcpy(copy, e, entry_bytes(c));
	peer_again(c, e->spec.upf);
	peer_again(c, e->spec.forward);
	for (unsigned i = 0; i < e->spec.nb_drbs; i++) {
		peer_again(c, e->spec.drbs[i].du);
		copy->spec.drbs[i].set_count = false;
	}
	return copy;
}

/* --- of a UE ---------------------------------------------------------------------------------- */

struct gnb_entry *
gnb_ue_first(const struct gnb_control *c, uint32_t ue_id)
{
	const struct upf_id *ue = upf_ids_find(&c->ues, ue_id + 1ULL);

	return ue ? c->entry[ue->handle - 1] : NULL;
}

struct gnb_entry *
gnb_ue_next(const struct gnb_control *c, const struct gnb_entry *e)
{
	return e->next ? c->entry[e->next - 1] : NULL;
}

struct gnb_entry *
gnb_ue_find(const struct gnb_control *c, uint32_t ue_id, uint32_t pdu_session)
{
	struct gnb_entry *e = gnb_ue_first(c, ue_id);

	while (e && e->spec.pdu_session != pdu_session)
		e = gnb_ue_next(c, e);
	return e;
}

/** What leads to an entry leads to index `to` - 1 from now on; 0: the UE has no other. */
static void
relink(struct gnb_control *c, const struct gnb_entry *e, uint32_t to)
{
	struct upf_id *ue = upf_ids_find(&c->ues, e->ue_id + 1ULL);
	struct gnb_entry *before = c->entry[ue->handle - 1];

	if (before != e) {
		while (gnb_ue_next(c, before) != e)
			before = gnb_ue_next(c, before);
		before->next = to;
	} else if (to != 0) {
		ue->handle = to;
	} else {
		upf_ids_del(&c->ues, ue);
	}
}

/** The tunnels that the session sends to: an Error Indication names them. */
static void
remotes(struct gnb_control *c, const struct gnb_entry *e,
	int (*one)(struct gnb_control *c, uint32_t id, uint16_t peer, uint32_t teid))
{
	const struct gnb_session_spec *s = &e->spec;

	one(c, s->teid, s->upf, s->ul_teid);
	for (unsigned i = 0; i < s->nb_drbs && !c->cfg.no_du; i++)
		one(c, gnb_teid_with_slot(s->teid, s->drbs[i].slot), s->drbs[i].du,
		    s->drbs[i].du_teid);
}

/** Without memory an Error Indication about it goes unheard. */
static int
remote_add(struct gnb_control *c, uint32_t id, uint16_t peer, uint32_t teid)
{
	return upf_remotes_add(&c->remotes, c->cfg.net, id, peer, teid);
}

static int
remote_del(struct gnb_control *c, uint32_t id, uint16_t peer, uint32_t teid)
{
	upf_remotes_del(&c->remotes, c->cfg.net, id, peer, teid);
	return 0;
}

/** A session more of its UE, which may be new. */
static int
link_new(struct gnb_control *c, struct gnb_entry *e, uint32_t index)
{
	struct upf_id *ue = upf_ids_find(&c->ues, e->ue_id + 1ULL);

	if (ue == NULL && (ue = upf_ids_add(&c->ues, e->ue_id + 1ULL)) == NULL)
		return -ENOMEM;
	e->next = ue->handle;
	ue->handle = index + 1;
	return 0;
}

int
gnb_ue_replace(struct gnb_control *c, struct gnb_entry *old, struct gnb_entry *now)
{
	uint32_t index = gnb_teid_index(now ? now->spec.teid : old->spec.teid);

	if (old && now) {
		now->next = old->next;
	} else if (old) {
		relink(c, old, old->next);
	} else if (link_new(c, now, index) < 0) {
		return -ENOMEM;
	}
	if (old) {
		remotes(c, old, remote_del);
		c->nb_drbs -= old->spec.nb_drbs;
	}
	c->entry[index] = now;
	if (now) {
		remotes(c, now, remote_add);
		c->nb_drbs += now->spec.nb_drbs;
	}
	return 0;
}
