/* SPDX-License-Identifier: BSD-3-Clause */
/** What workers report, as the agent is told of it: events and checkpoints. */
#include <string.h>

#include "modules/upf/upf_answer_usage.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_urr.h"

#define REPORTS_A_VISIT 1024
#define GROUP_MAX 512            /**< reports of one session: twice its URRs */
#define CHECKPOINT_BYTES_MAX 256 /**< of a URR's usage: 17 numbers of at most 11 octets */
#define CHECKPOINTS_MAX 512      /**< URRs a message: far below UPF_MESSAGE_MAX */

static void
event_add(struct upf_control *c, Airpath__Upf__V1__Event *e, Airpath__Upf__V1__Event__BodyCase kind)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;

	e->body_case = kind;
	e->number = c->events.next;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_EVENT;
	a.event = e;
	c->stats.events++;
	ctl_events_add(&c->events, ctl_pack(&a.base));
}

/** Reports of one session that belong together. */
static void
usage_event(struct upf_control *c, uint64_t id, const struct upf_usage_report *r,
	    struct upf_detected *detected, unsigned nb)
{
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__UsageEvent u = AIRPATH__UPF__V1__USAGE_EVENT__INIT;

	ctl_arena_reset(&c->arena);
	u.id = id;
	u.n_reports = nb;
	u.reports = upf_answer_usage_reports(&c->arena, r, detected, nb);
	e.usage = &u;
	if (u.reports)
		event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_USAGE);
	else
		c->events.lost++;
}

static void
downlink_event(struct upf_control *c, const struct upf_report *r)
{
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__DownlinkData d = AIRPATH__UPF__V1__DOWNLINK_DATA__INIT;

	d.id = r->id;
	d.pdr_id = r->downlink.pdr_id;
	d.has_qfi = r->downlink.qfi != 0xFF;
	d.qfi = d.has_qfi ? r->downlink.qfi : 0;
	d.has_ppi = r->downlink.ppi != 0xFF;
	d.ppi = d.has_ppi ? r->downlink.ppi : 0;
	e.downlink_data = &d;
	event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_DOWNLINK_DATA);
}

static void
error_event(struct upf_control *c, const struct upf_report *r)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__ErrorIndication i = AIRPATH__UPF__V1__ERROR_INDICATION__INIT;
	const uint8_t *peer = r->error.peer;
	bool v4 = memcmp(peer, mapped, sizeof(mapped)) == 0;

	i.id = upf_remotes_find(&c->remotes, c->upf->net, !v4, v4 ? peer + 12 : peer,
				r->error.teid);
	if (i.id == 0) {
		c->stats.strange_errors++;
		return;
	}
	i.teid = r->error.teid;
	i.peer = (ProtobufCBinaryData){v4 ? 4 : 16, (uint8_t *)(uintptr_t)(v4 ? peer + 12 : peer)};
	e.error_indication = &i;
	event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_ERROR_INDICATION);
}

static void
path_event(struct upf_control *c, const struct upf_report *r)
{
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__PathEvent p = AIRPATH__UPF__V1__PATH_EVENT__INIT;

	p.peer = (ProtobufCBinaryData){r->path.octets, (uint8_t *)(uintptr_t)r->path.ip};
	p.interface = r->path.interface;
	p.up = r->path.up;
	e.path = &p;
	event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_PATH);
}

static void
inactivity_event(struct upf_control *c, const struct upf_report *r)
{
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__Inactivity i = AIRPATH__UPF__V1__INACTIVITY__INIT;

	i.id = r->id;
	e.inactivity = &i;
	event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_INACTIVITY);
}

static void
mac_event(void *arg, const struct upf_mac_owner *o, bool removed)
{
	struct upf_control *c = arg;
	Airpath__Upf__V1__Event e = AIRPATH__UPF__V1__EVENT__INIT;
	Airpath__Upf__V1__MacEvent m = AIRPATH__UPF__V1__MAC_EVENT__INIT;
	uint8_t mac[6];

	upf_mac_put(mac, o->key & 0xFFFFFFFFFFFFULL);
	m.id = o->id;
	m.removed = removed;
	m.mac = (ProtobufCBinaryData){sizeof(mac), mac};
	m.vid = (uint32_t)(o->key >> 48);
	e.mac = &m;
	event_add(c, &e, AIRPATH__UPF__V1__EVENT__BODY_MAC);
}

/** A session's frames come from an address. */
static void
mac_report(struct upf_control *c, const struct upf_report *r)
{
	const struct upf_id *e = upf_ids_find(&c->ids, r->id);
	struct upf_mac_owner o = {.id = r->id, .key = r->mac.key};

	if (e == NULL || e->rules == NULL || e->rules->ethernet == NULL)
		return; /* ended meanwhile */
	o.handle = e->handle;
	o.interface = e->rules->core_interface;
	o.age_s = e->rules->ethernet->age_s;
	upf_macs_seen(&c->macs, &o, (uint32_t)(ap_clock_ns() / AP_NS_PER_S));
}

/** Checkpoints of a visit, by session: consecutive ones of a session are one. */
struct gathering {
	struct {
		Airpath__Upf__V1__UrrUsage pb;
		UpfUsage usage;
	} urr[CHECKPOINTS_MAX];
	Airpath__Upf__V1__UrrUsage *urrs[CHECKPOINTS_MAX];
	Airpath__Upf__V1__Checkpoint session[CHECKPOINTS_MAX];
	Airpath__Upf__V1__Checkpoint *sessions[CHECKPOINTS_MAX];
	unsigned nb_urrs, nb_sessions;
};
_Static_assert(CHECKPOINTS_MAX *CHECKPOINT_BYTES_MAX < UPF_MESSAGE_MAX, "one message");

static void
checkpoints_send(struct upf_control *c, struct gathering *g)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;
	Airpath__Upf__V1__Checkpoints m = AIRPATH__UPF__V1__CHECKPOINTS__INIT;

	if (g->nb_urrs == 0)
		return;
	m.n_sessions = g->nb_sessions;
	m.sessions = g->sessions;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_CHECKPOINTS;
	a.checkpoints = &m;
	if (c->configured)
		ctl_send(c->agent, ctl_pack(&a.base));
	g->nb_urrs = g->nb_sessions = 0;
}

static void
checkpoint_add(struct upf_control *c, struct gathering *g, const struct upf_report *r)
{
	unsigned i = g->nb_urrs, s;

	c->stats.checkpoints++;
	if (i == CHECKPOINTS_MAX) {
		checkpoints_send(c, g);
		i = 0;
	}
	g->nb_urrs++;
	airpath__upf__v1__urr_usage__init(&g->urr[i].pb);
	g->urr[i].pb.urr_id = r->usage.urr_id;
	g->urr[i].pb.usage = &g->urr[i].usage;
	upf_answer_usage(&g->urr[i].usage, &r->usage);
	g->urrs[i] = &g->urr[i].pb;
	if (g->nb_sessions == 0 || g->session[g->nb_sessions - 1].id != r->id) {
		s = g->nb_sessions++;
		airpath__upf__v1__checkpoint__init(&g->session[s]);
		g->session[s].id = r->id;
		g->session[s].urrs = &g->urrs[i];
		g->sessions[s] = &g->session[s];
	}
	g->session[g->nb_sessions - 1].n_urrs++;
}

static bool
worker_reports(struct upf_control *c, struct upf_worker *w, struct gathering *g)
{
	struct upf_usage_report group[GROUP_MAX];
	struct upf_detected detected[GROUP_MAX], next = {0};
	struct upf_report r;
	unsigned nb = 0, in_group = 0;

	/* A group is in the ring whole: the worker asks for room first. */
	while ((nb < REPORTS_A_VISIT || in_group || next.app != 0) &&
	       upf_report_get(w->reports, &r)) {
		nb++;
		if (r.kind == UPF_REPORT_USAGE) {
			/* Of two parts of a report the second is the one of now. */
			detected[in_group] = (struct upf_detected){0};
			if (r.usage.triggers != UPF_TRIGGER_MONIT) {
				detected[in_group] = next;
				next.app = 0;
			}
			group[in_group++] = r.usage;
			if (!r.more || in_group == GROUP_MAX) {
				usage_event(c, r.id, group, detected, in_group);
				in_group = 0;
			}
		} else if (r.kind == UPF_REPORT_DETECTED) {
			next = r.detected;
		} else if (r.kind == UPF_REPORT_CHECKPOINT) {
			checkpoint_add(c, g, &r);
		} else if (r.kind == UPF_REPORT_DOWNLINK) {
			downlink_event(c, &r);
		} else if (r.kind == UPF_REPORT_ERROR) {
			error_event(c, &r);
		} else if (r.kind == UPF_REPORT_PATH) {
			path_event(c, &r);
		} else if (r.kind == UPF_REPORT_MAC) {
			mac_report(c, &r);
		} else {
			inactivity_event(c, &r);
		}
	}
	return nb > 0;
}

int
upf_answer_macs(struct upf_control *c)
{
	return upf_macs_init(&c->macs, c->upf->index, mac_event, c);
}

bool
upf_answer_reports(struct upf_control *c)
{
	static __thread struct gathering g;
	bool any = false;

	for (unsigned k = 0; k < c->upf->nb_workers; k++)
		any |= worker_reports(c, &c->upf->workers[k], &g);
	checkpoints_send(c, &g);
	upf_macs_expire(&c->macs, (uint32_t)(ap_clock_ns() / AP_NS_PER_S));
	return any;
}
