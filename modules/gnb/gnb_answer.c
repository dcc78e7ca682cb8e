/* SPDX-License-Identifier: BSD-3-Clause */
/** What clients are answered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net.h"

#define HEADER_BYTES 64 /**< what surrounds results */

typedef Airpath__Gnb__V1__ContextResult GnbContextResult;
typedef Airpath__Gnb__V1__PduSessionResult GnbSessionResult;
typedef Airpath__Gnb__V1__DrbResult GnbDrbResult;

struct ctl_packed *
gnb_answer_reply(GnbReply *reply)
{
	GnbAnswer a = AIRPATH__GNB__V1__ANSWER__INIT;

	a.body_case = AIRPATH__GNB__V1__ANSWER__BODY_REPLY;
	a.reply = reply;
	return ctl_pack(&a.base);
}

struct ctl_packed *
gnb_answer_error(uint64_t seq, const char *text)
{
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;

	reply.seq = seq;
	reply.error = (char *)(uintptr_t)text;
	return gnb_answer_reply(&reply);
}

struct ctl_packed *
gnb_answer_done(uint64_t seq)
{
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;

	reply.seq = seq;
	return gnb_answer_reply(&reply);
}

/* --- Welcome, Status -------------------------------------------------------------------------- */

struct welcome_interface {
	Airpath__Gnb__V1__Interface pb;
	uint8_t ip4[4], ip6[16];
};

static void
interface_fill(struct welcome_interface *to, const struct gnb_control *c,
	       const struct upf_link *link)
{
	airpath__gnb__v1__interface__init(&to->pb);
	to->pb.index = link->index;
	to->pb.name = (char *)(uintptr_t)link->name;
	to->pb.n3 = c->cfg.n3 >> link->index & 1;
	to->pb.f1 = c->cfg.f1 >> link->index & 1;
	if (link->nb_ip4) {
		memcpy(to->ip4, &link->ip4[0], 4);
		to->pb.ip4 = (ProtobufCBinaryData){4, to->ip4};
	}
	if (link->nb_ip6) {
		memcpy(to->ip6, link->ip6[0], 16);
		to->pb.ip6 = (ProtobufCBinaryData){16, to->ip6};
	}
}

struct ctl_packed *
gnb_answer_welcome(struct gnb_control *c, uint64_t seq)
{
	struct welcome_interface interfaces[UPF_INTERFACES_MAX];
	Airpath__Gnb__V1__Interface *list[UPF_INTERFACES_MAX];
	Airpath__Gnb__V1__Welcome w = AIRPATH__GNB__V1__WELCOME__INIT;
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;
	char unit[128];

	snprintf(unit, sizeof(unit), "%s (airpath " AIRPATH_VERSION ")", c->cfg.name);
	for (unsigned i = 0; i < c->cfg.net->nb_links; i++) {
		interface_fill(&interfaces[i], c, &c->cfg.net->links[i + 1]);
		list[i] = &interfaces[i].pb;
	}
	w.instance = c->instance;
	w.unit = unit;
	w.kind = (char *)(uintptr_t)c->cfg.kind;
	w.n_interfaces = c->cfg.net->nb_links;
	w.interfaces = list;
	w.workers = c->cfg.nb_workers;
	w.sessions_max = c->ids.capacity;
	w.drbs_per_session = gnb_drbs_per_session(c->cfg.table);
	reply.seq = seq;
	reply.body_case = AIRPATH__GNB__V1__REPLY__BODY_WELCOME;
	reply.welcome = &w;
	return gnb_answer_reply(&reply);
}

struct ctl_packed *
gnb_answer_status(struct gnb_control *c, uint64_t seq)
{
	Airpath__Gnb__V1__Status s = AIRPATH__GNB__V1__STATUS__INIT;
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;

	s.ues = c->ues.nb;
	s.pdu_sessions = c->ids.nb;
	s.drbs = c->nb_drbs;
	s.sessions_max = c->ids.capacity;
	s.complete = atomic_load(&c->cfg.net->live.refilled);
	s.has_offload = c->cfg.offload != NULL;
	s.offload_percent = c->offload_percent;
	s.setups = c->stats.setups;
	s.modifications = c->stats.modifications;
	s.releases = c->stats.releases;
	s.failed = c->stats.failed;
	s.events = c->stats.events;
	s.events_lost = c->events.lost;
	reply.seq = seq;
	reply.body_case = AIRPATH__GNB__V1__REPLY__BODY_STATUS;
	reply.status = &s;
	return gnb_answer_reply(&reply);
}

/* --- Results ---------------------------------------------------------------------------------- */

/** DRBs of a session, as they were when the worker had changed it. */
static bool
drbs_fill(struct gnb_control *c, GnbSessionResult *to, const struct gnb_msg *m)
{
	unsigned slots = gnb_drbs_per_session(c->cfg.table);
	GnbDrbResult *drbs = ctl_arena_alloc(&c->arena, slots * sizeof(*drbs));

	to->drbs = ctl_arena_alloc(&c->arena, slots * sizeof(GnbDrbResult *));
	if (drbs == NULL || to->drbs == NULL)
		return false;
	for (unsigned i = 0; i < slots; i++) {
		const struct gnb_drb *d = &m->drbs[i];
		GnbDrbResult *one = &drbs[to->n_drbs];

		if (d->config.id == 0)
			continue;
		airpath__gnb__v1__drb_result__init(one);
		one->id = d->config.id;
		one->ul_teid = c->cfg.no_du ? 0 : gnb_teid_with_slot(m->teid, i);
		one->dl_count = c->cfg.radio
					? c->cfg.radio->count(c->cfg.radio->arg, d->config.bearer)
					: d->tx_next;
		to->drbs[to->n_drbs++] = one;
	}
	return true;
}

static bool
sessions_fill(struct gnb_control *c, GnbContextResult *to, const struct gnb_item *item)
{
	unsigned nb = 0;
	GnbSessionResult *sessions;

	for (const struct gnb_msg *m = item->first; m; m = m->next)
		nb += m->kind == GNB_MSG_SET && m->done;
	sessions = ctl_arena_alloc(&c->arena, nb * sizeof(*sessions));
	to->pdu_sessions = ctl_arena_alloc(&c->arena, nb * sizeof(GnbSessionResult *));
	if (nb > 0 && (sessions == NULL || to->pdu_sessions == NULL))
		return false;
	for (const struct gnb_msg *m = item->first; m; m = m->next) {
		GnbSessionResult *s = &sessions[to->n_pdu_sessions];

		if (m->kind != GNB_MSG_SET || !m->done)
			continue;
		airpath__gnb__v1__pdu_session_result__init(s);
		s->id = m->image->session.pdu_session;
		s->dl_teid = m->teid;
		s->worker = gnb_control_worker(c, m->teid);
		to->pdu_sessions[to->n_pdu_sessions++] = s;
		if (!drbs_fill(c, s, m))
			return false;
	}
	return true;
}

static void
results_send(struct ctl_client *client, uint64_t seq, GnbContextResult **list, unsigned nb,
	     bool more)
{
	GnbReply reply = AIRPATH__GNB__V1__REPLY__INIT;
	Airpath__Gnb__V1__Results r = AIRPATH__GNB__V1__RESULTS__INIT;

	r.n_contexts = nb;
	r.contexts = list;
	r.more = more;
	reply.seq = seq;
	reply.body_case = AIRPATH__GNB__V1__REPLY__BODY_RESULTS;
	reply.results = &r;
	ctl_send(client, gnb_answer_reply(&reply));
}

void
gnb_answer_results(struct gnb_control *c, struct ctl_client *client, const struct gnb_request *r)
{
	GnbContextResult *results, **list;
	size_t bytes = HEADER_BYTES;
	unsigned from = 0;

	ctl_arena_reset(&c->arena);
	results = ctl_arena_alloc(&c->arena, (r->nb_items + 1) * sizeof(*results));
	list = ctl_arena_alloc(&c->arena, (r->nb_items + 1) * sizeof(GnbContextResult *));
	for (unsigned i = 0; i < r->nb_items; i++) {
		const struct gnb_item *item = &r->items[i];
		size_t more;

		if (results == NULL || list == NULL) {
			if (client)
				ctl_hang_up(&c->server, client, "no memory for results");
			return;
		}
		airpath__gnb__v1__context_result__init(&results[i]);
		results[i].ue_id = item->ue_id;
		results[i].cause = (GnbCause)item->cause;
		results[i].error = (char *)(uintptr_t)item->error;
		if (!sessions_fill(c, &results[i], item)) {
			if (client)
				ctl_hang_up(&c->server, client, "no memory for results");
			return;
		}
		list[i] = &results[i];
		more = airpath__gnb__v1__context_result__get_packed_size(&results[i]) + 6;
		if (bytes + more > CTL_MESSAGE_MAX && i > from) {
			results_send(client, r->seq, &list[from], i - from, true);
			from = i;
			bytes = HEADER_BYTES;
		}
		bytes += more;
	}
	results_send(client, r->seq, &list[from], r->nb_items - from, false);
}
