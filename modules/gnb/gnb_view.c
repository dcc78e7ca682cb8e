/* SPDX-License-Identifier: BSD-3-Clause */
/** Contexts as they were asked for, and what their workers count: ContextQuery. */
#include <string.h>

#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_peer.h"

#define CONTEXTS_MAX 256
#define MESSAGE_BYTES (CTL_MESSAGE_MAX - 1024)

typedef Airpath__Gnb__V1__ContextView GnbContextView;
typedef Airpath__Gnb__V1__PduSessionView GnbSessionView;
typedef Airpath__Gnb__V1__DrbView GnbDrbView;

static void *
take(struct gnb_control *c, size_t bytes)
{
	void *p = ctl_arena_alloc(&c->arena, bytes + 1);

	if (p)
		memset(p, 0, bytes);
	return p;
}

static GnbTunnel *
tunnel_of(struct gnb_control *c, uint16_t peer, uint32_t teid)
{
	const struct upf_peer_key *key = &c->cfg.peers->peer[peer].key;
	GnbTunnel *t = peer ? take(c, sizeof(*t)) : NULL;

	if (t == NULL)
		return NULL;
	airpath__gnb__v1__tunnel__init(t);
	t->address = (ProtobufCBinaryData){key->octets, (uint8_t *)(uintptr_t)key->ip};
	t->interface = key->interface;
	t->teid = teid;
	return t;
}

static GnbDrb *
drb_of(struct gnb_control *c, const struct gnb_drb_spec *s)
{
	GnbDrb *d = take(c, sizeof(*d));
	unsigned nb = (unsigned)__builtin_popcountll(s->qfis);

	if (d == NULL)
		return NULL;
	airpath__gnb__v1__drb__init(d);
	d->qfis = take(c, nb * sizeof(*d->qfis));
	for (unsigned qfi = 0; d->qfis && qfi <= GNB_QFI_MAX; qfi++)
		if (s->qfis >> qfi & 1)
			d->qfis[d->n_qfis++] = qfi;
	d->id = s->id;
	d->default_drb = s->is_default;
	d->sdap_ul_header = s->sdap_ul;
	d->sdap_dl_header = s->sdap_dl;
	d->pdcp_sn_bits = s->pdcp_sn_bits;
	d->rlc_mode = (Airpath__Gnb__V1__RlcMode)s->rlc_mode;
	d->rlc_sn_bits = s->rlc_sn_bits;
	d->dl_up = c->cfg.no_du ? NULL : tunnel_of(c, s->du, s->du_teid);
	d->lcid = s->lcid;
	d->priority = s->priority;
	return d;
}

static GnbDrbView *
drb_view(struct gnb_control *c, const struct gnb_session_spec *e, const struct gnb_drb_spec *s)
{
	const struct gnb_drb *row = gnb_drb_at(c->cfg.table, e->teid, s->slot);
	GnbDrbView *v = take(c, sizeof(*v));

	if (v == NULL)
		return NULL;
	airpath__gnb__v1__drb_view__init(v);
	v->id = s->id;
	v->ul_teid = c->cfg.no_du ? 0 : gnb_teid_with_slot(e->teid, s->slot);
	/* The worker's words, each whole. */
	v->dl_count = c->cfg.radio ? c->cfg.radio->count(c->cfg.radio->arg, s->bearer)
				   : __atomic_load_n(&row->tx_next, __ATOMIC_RELAXED);
	v->on_nic = __atomic_load_n(&row->owner, __ATOMIC_RELAXED) == GNB_OWNER_NIC;
	v->dl_packets = __atomic_load_n(&row->dl_packets, __ATOMIC_RELAXED);
	v->dl_bytes = __atomic_load_n(&row->dl_bytes, __ATOMIC_RELAXED);
	v->ul_packets = __atomic_load_n(&row->ul_packets, __ATOMIC_RELAXED);
	v->ul_bytes = __atomic_load_n(&row->ul_bytes, __ATOMIC_RELAXED);
	v->drops = __atomic_load_n(&row->drops, __ATOMIC_RELAXED);
	return v;
}

static GnbSessionView *
session_view(struct gnb_control *c, const struct gnb_session_spec *e)
{
	GnbSessionView *v = take(c, sizeof(*v));
	GnbPduSession *s = take(c, sizeof(*s));
	GnbDrb **drbs = take(c, e->nb_drbs * sizeof(GnbDrb *));
	GnbDrbView **views = take(c, e->nb_drbs * sizeof(GnbDrbView *));

	if (v == NULL || s == NULL || drbs == NULL || views == NULL)
		return NULL;
	airpath__gnb__v1__pdu_session_view__init(v);
	airpath__gnb__v1__pdu_session__init(s);
	s->id = e->pdu_session;
	s->ul_up = tunnel_of(c, e->upf, e->ul_teid);
	s->forwarding = tunnel_of(c, e->forward, e->forward_teid);
	s->drbs = drbs;
	v->session = s;
	v->dl_teid = e->teid;
	v->worker = gnb_control_worker(c, e->teid);
	v->ul_stopped = e->flags & GNB_SESSION_UL_STOPPED;
	v->drbs = views;
	for (unsigned i = 0; i < e->nb_drbs; i++) {
		drbs[i] = drb_of(c, &e->drbs[i]);
		views[i] = drb_view(c, e, &e->drbs[i]);
		if (drbs[i] == NULL || views[i] == NULL)
			return NULL;
		s->n_drbs++;
		v->n_drbs++;
	}
	return v;
}

static GnbContextView *
context_view(struct gnb_control *c, uint32_t ue_id)
{
	GnbContextView *v = take(c, sizeof(*v));
	GnbSessionView **sessions = take(c, GNB_PDU_SESSIONS_MAX * sizeof(GnbSessionView *));

	if (v == NULL || sessions == NULL)
		return NULL;
	airpath__gnb__v1__context_view__init(v);
	v->ue_id = ue_id;
	v->pdu_sessions = sessions;
	for (const struct gnb_entry *e = gnb_ue_first(c, ue_id); e; e = gnb_ue_next(c, e)) {
		GnbSessionView *s = session_view(c, &e->spec);

		if (s == NULL)
			return NULL;
		sessions[v->n_pdu_sessions++] = s;
	}
	return v;
}

/** Ids of UEs from `from` on. @return how many, or < 0 without memory */
static int
ues_from(struct gnb_control *c, uint32_t from, uint64_t *ids, uint32_t max)
{
	/* The key of a UE is its id + 1, and those above `from` are asked for. */
	return upf_ids_list(&c->ues, from, ids, max);
}

struct ctl_packed *
gnb_answer_contexts(struct gnb_control *c, uint64_t seq, const Airpath__Gnb__V1__ContextQuery *q)
{
	uint32_t max = q->max && q->max < CONTEXTS_MAX ? q->max : CONTEXTS_MAX;
	Airpath__Gnb__V1__Contexts answer = AIRPATH__GNB__V1__CONTEXTS__INIT;
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;
	GnbContextView *list[CONTEXTS_MAX];
	uint64_t ids[CONTEXTS_MAX + 1];
	size_t bytes = 0;
	int nb = 1;

	ids[0] = q->ue_id + 1ULL;
	if (q->one && gnb_ue_first(c, q->ue_id) == NULL)
		return gnb_answer_error(seq, "there is no such UE");
	if (!q->one)
		nb = ues_from(c, q->ue_id, ids, max + 1);
	if (nb < 0)
		return gnb_answer_error(seq, "no memory");
	answer.contexts = list;
	for (int i = 0; i < nb && !answer.more; i++) {
		GnbContextView *v = i < (int)max ? context_view(c, (uint32_t)(ids[i] - 1)) : NULL;

		if (v == NULL && i < (int)max)
			return gnb_answer_error(seq, "no memory");
		bytes += v ? airpath__gnb__v1__context_view__get_packed_size(v) + 6 : 0;
		if (v == NULL || (bytes > MESSAGE_BYTES && i > 0))
			answer.more = true;
		else
			list[answer.n_contexts++] = v;
	}
	reply.seq = seq;
	reply.body_case = AIRPATH__GNB__V1__REPLY__BODY_CONTEXTS;
	reply.contexts = &answer;
	return gnb_answer_reply(&reply);
}
