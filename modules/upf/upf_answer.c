/* SPDX-License-Identifier: BSD-3-Clause */
/** What the agent is told: answers, events, checkpoints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_urr.h"

#define LIST_MAX 4096
#define REPORTS_A_VISIT 1024
#define GROUP_MAX 512            /**< reports of one session: twice its URRs */
#define CHECKPOINT_BYTES_MAX 256 /**< of a URR's usage: 17 numbers of at most 11 octets */
#define CHECKPOINTS_MAX 512      /**< URRs a message: far below UPF_MESSAGE_MAX */
#define HEADER_BYTES 64          /**< what surrounds results */

typedef Airpath__Upf__V1__UsageReport UpfUsageReport;
typedef Airpath__Upf__V1__Usage UpfUsage;

static struct ctl_packed *
reply_pack(Airpath__Upf__V1__Reply *reply)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;

	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_REPLY;
	a.reply = reply;
	return ctl_pack(&a.base);
}

struct ctl_packed *
upf_answer_error(uint64_t seq, const char *text)
{
	Airpath__Upf__V1__Reply reply = AIRPATH__UPF__V1__REPLY__INIT;

	reply.seq = seq;
	reply.error = (char *)(uintptr_t)text;
	return reply_pack(&reply);
}

struct ctl_packed *
upf_answer_done(uint64_t seq)
{
	Airpath__Upf__V1__Reply reply = AIRPATH__UPF__V1__REPLY__INIT;

	reply.seq = seq;
	return reply_pack(&reply);
}

/* --- Welcome ---------------------------------------------------------------------------------- */

struct welcome_interface {
	Airpath__Upf__V1__Interface pb;
	Airpath__Upf__V1__InterfaceType types[8];
	uint8_t ip4[4], ip6[16];
};

static void
interface_fill(struct welcome_interface *to, const struct upf_link *link,
	       const struct ap_cfg_upf_interface *cfg)
{
	unsigned types;

	airpath__upf__v1__interface__init(&to->pb);
	to->pb.index = link->index;
	to->pb.name = cfg->name;
	to->pb.types = to->types;
	to->pb.lan = (link->types & UPF_LINK_LAN) != 0;
	types = link->types & UPF_LINK_LAN ? UPF_LAN_TYPES : link->types;
	for (unsigned t = 0; t < 8; t++)
		if (types >> t & 1)
			to->types[to->pb.n_types++] = (Airpath__Upf__V1__InterfaceType)t;
	to->pb.n_network_instances = cfg->network_instances_count;
	to->pb.network_instances = cfg->network_instances;
	if (link->nb_ip4) {
		memcpy(to->ip4, &link->ip4[0], sizeof(to->ip4));
		to->pb.ip4 = (ProtobufCBinaryData){sizeof(to->ip4), to->ip4};
	}
	/* The last one is the link-local address, which is nobody's F-TEID. */
	if (link->nb_ip6 > 1) {
		memcpy(to->ip6, link->ip6[0], sizeof(to->ip6));
		to->pb.ip6 = (ProtobufCBinaryData){sizeof(to->ip6), to->ip6};
	}
}

struct ctl_packed *
upf_answer_welcome(struct upf_control *c, uint64_t seq)
{
	Airpath__Upf__V1__Reply reply = AIRPATH__UPF__V1__REPLY__INIT;
	Airpath__Upf__V1__Welcome w = AIRPATH__UPF__V1__WELCOME__INIT;
	struct welcome_interface interfaces[UPF_INTERFACES_MAX] = {0};
	Airpath__Upf__V1__Interface *list[UPF_INTERFACES_MAX];
	uint32_t workers[UPF_BUCKETS];
	const struct upf *upf = c->upf;
	char unit[64];

	snprintf(unit, sizeof(unit), "%s (airpath " AIRPATH_VERSION ")", upf->cfg->name);
	for (unsigned i = 0; i < upf->net->nb_links; i++) {
		interface_fill(&interfaces[i], &upf->net->links[i + 1], &upf->cfg->interfaces[i]);
		list[i] = &interfaces[i].pb;
	}
	for (unsigned b = 0; b < UPF_BUCKETS; b++)
		workers[b] = upf->owners.worker[b];
	w.instance = c->instance;
	w.unit = unit;
	w.n_interfaces = upf->net->nb_links;
	w.interfaces = list;
	w.workers = upf->nb_workers;
	w.steering = (char *)(uintptr_t)upf->steering;
	w.n_bucket_workers = UPF_BUCKETS;
	w.bucket_workers = workers;
	w.sessions = c->ids.nb;
	w.acked_event = c->events.acked;
	w.told = c->told.first < c->told.next ? c->told.next - 1 : 0;
	w.applications_generation = c->apps.view.generation;
	w.buffering_packets_max = upf->cfg->buffer_session_packets;
	reply.seq = seq;
	reply.body_case = AIRPATH__UPF__V1__REPLY__BODY_WELCOME;
	reply.welcome = &w;
	return reply_pack(&reply);
}

/* --- List ------------------------------------------------------------------------------------- */

struct ctl_packed *
upf_answer_list(struct upf_control *c, uint64_t seq, const Airpath__Upf__V1__List *list)
{
	Airpath__Upf__V1__Reply reply = AIRPATH__UPF__V1__REPLY__INIT;
	Airpath__Upf__V1__Sessions s = AIRPATH__UPF__V1__SESSIONS__INIT;
	uint32_t max = list->max && list->max < LIST_MAX ? list->max : LIST_MAX;
	Airpath__Upf__V1__SessionVersion *versions =
		ctl_arena_alloc(&c->arena, max * sizeof(*versions));
	Airpath__Upf__V1__SessionVersion **pointers =
		ctl_arena_alloc(&c->arena, max * sizeof(Airpath__Upf__V1__SessionVersion *));
	uint64_t *ids = ctl_arena_alloc(&c->arena, (max + 1ULL) * sizeof(*ids));
	int nb =
		versions && pointers && ids ? upf_ids_list(&c->ids, list->after, ids, max + 1) : -1;

	if (nb < 0)
		return upf_answer_error(seq, "no memory");
	s.more = nb > (int)max;
	s.sessions = pointers;
	for (int i = 0; i < nb && i < (int)max; i++) {
		const struct upf_id *e = upf_ids_find(&c->ids, ids[i]);

		/* One that is being made has no version yet: it is not there before its answer. */
		if (e->rules == NULL)
			continue;
		airpath__upf__v1__session_version__init(&versions[s.n_sessions]);
		versions[s.n_sessions].id = e->id;
		versions[s.n_sessions].version = e->version;
		pointers[s.n_sessions] = &versions[s.n_sessions];
		s.n_sessions++;
	}
	reply.seq = seq;
	reply.body_case = AIRPATH__UPF__V1__REPLY__BODY_SESSIONS;
	reply.sessions = &s;
	return reply_pack(&reply);
}

/* --- usage ------------------------------------------------------------------------------------ */

static void
usage_fill(UpfUsage *to, const struct upf_usage_report *r)
{
	airpath__upf__v1__usage__init(to);
	to->ul_bytes = r->bytes[UPF_UL];
	to->dl_bytes = r->bytes[UPF_DL];
	to->total_bytes = to->ul_bytes + to->dl_bytes;
	to->ul_packets = r->packets[UPF_UL];
	to->dl_packets = r->packets[UPF_DL];
	to->total_packets = to->ul_packets + to->dl_packets;
	to->duration_ms = r->duration_ms;
	to->start_unix_ms = r->start_ms;
	to->end_unix_ms = r->end_ms;
	to->first_unix_ms = r->first_ms;
	to->last_unix_ms = r->last_ms;
	to->events = r->events;
	to->quota_ul_bytes = r->quota_bytes[UPF_UL];
	to->quota_dl_bytes = r->quota_bytes[UPF_DL];
	to->quota_total_bytes = to->quota_ul_bytes + to->quota_dl_bytes;
	to->quota_duration_ms = r->quota_duration_ms;
	to->quota_events = r->quota_events;
}

struct usage_report {
	UpfUsageReport pb;
	UpfUsage usage;
};

/** Application Detection Information in the arena, or NULL. */
static Airpath__Upf__V1__ApplicationDetected *
detected_fill(struct ctl_arena *a, struct upf_detected *d)
{
	struct {
		Airpath__Upf__V1__ApplicationDetected pb;
		Airpath__Upf__V1__Filter flow;
		Airpath__Upf__V1__Prefix ends[2];
		Airpath__Upf__V1__PortRange ports[2], *lists[2];
	} *to = ctl_arena_alloc(a, sizeof(*to));
	const size_t octets = d->version == 4 ? 4 : 16;

	if (to == NULL)
		return NULL;
	airpath__upf__v1__application_detected__init(&to->pb);
	to->pb.application = d->app;
	if (d->version == 0)
		return &to->pb;
	airpath__upf__v1__filter__init(&to->flow);
	to->pb.flow = &to->flow;
	to->flow.protocol = d->proto;
	for (unsigned i = 0; i < 2; i++) {
		airpath__upf__v1__prefix__init(&to->ends[i]);
		to->ends[i].address = (ProtobufCBinaryData){octets, i == 0 ? d->src : d->dst};
		to->ends[i].bits = (uint32_t)(8 * octets);
		airpath__upf__v1__port_range__init(&to->ports[i]);
		to->ports[i].first = to->ports[i].last = d->ports[i];
		to->lists[i] = &to->ports[i];
	}
	to->flow.source = &to->ends[0];
	to->flow.destination = &to->ends[1];
	to->flow.n_source_ports = to->flow.n_destination_ports = d->has_ports;
	to->flow.source_ports = &to->lists[0];
	to->flow.destination_ports = &to->lists[1];
	return &to->pb;
}

/** @param detected as many, app 0: nothing; or NULL. @return `nb` reports in the arena, or NULL. */
static UpfUsageReport **
reports_fill(struct ctl_arena *a, const struct upf_usage_report *from,
	     struct upf_detected *detected, size_t nb)
{
	struct usage_report *reports = ctl_arena_alloc(a, (nb + 1) * sizeof(*reports));
	UpfUsageReport **list = ctl_arena_alloc(a, (nb + 1) * sizeof(UpfUsageReport *));

	for (size_t i = 0; reports && list && i < nb; i++) {
		airpath__upf__v1__usage_report__init(&reports[i].pb);
		reports[i].pb.urr_id = from[i].urr_id;
		reports[i].pb.triggers = from[i].triggers;
		reports[i].pb.usage = &reports[i].usage;
		if (detected && detected[i].app != 0)
			reports[i].pb.detected = detected_fill(a, &detected[i]);
		usage_fill(&reports[i].usage, &from[i]);
		list[i] = &reports[i].pb;
	}
	return reports ? list : NULL;
}

/* --- results of Apply ------------------------------------------------------------------------- */

static bool
result_fill(struct upf_control *c, UpfOpResult *to, const struct upf_op *op)
{
	airpath__upf__v1__op_result__init(to);
	to->status = (Airpath__Upf__V1__Status)op->status;
	to->error = (char *)(uintptr_t)op->error;
	to->failed_kind = (Airpath__Upf__V1__RuleKind)op->failed_kind;
	to->failed_id = op->failed_id;
	if (op->msg == NULL)
		return true;
	to->n_reports = op->msg->nb_reports;
	to->reports = reports_fill(&c->arena, op->msg->reports, NULL, to->n_reports);
	to->n_removed = op->msg->nb_removed;
	to->removed = reports_fill(&c->arena, op->msg->removed, NULL, to->n_removed);
	return to->reports && to->removed;
}

/**
 * The usage is out of the worker's accounts: should the agent end before it has stored it, the next
 * one is told.
 */
static void
told_keep(struct upf_control *c, uint64_t id, UpfOpResult *r, bool here)
{
	UpfAnswer a = AIRPATH__UPF__V1__ANSWER__INIT;
	Airpath__Upf__V1__Told t = AIRPATH__UPF__V1__TOLD__INIT;
	uint64_t number = c->told.next;
	bool all_sent = c->told.sent == number;

	if (r->n_reports + r->n_removed == 0)
		return;
	t.number = number;
	t.id = id;
	t.n_reports = r->n_reports;
	t.reports = r->reports;
	t.n_removed = r->n_removed;
	t.removed = r->removed;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_TOLD;
	a.told = &t;
	ctl_events_add(&c->told, ctl_pack(&a.base));
	if (c->told.next == number)
		return; /* lost: no memory */
	r->told = number;
	if (here && all_sent)
		c->told.sent = c->told.next;
}

static void
results_send(struct upf_control *c, uint64_t seq, UpfOpResult **results, unsigned nb, bool more)
{
	Airpath__Upf__V1__Reply reply = AIRPATH__UPF__V1__REPLY__INIT;
	Airpath__Upf__V1__ApplyResult result = AIRPATH__UPF__V1__APPLY_RESULT__INIT;

	result.n_results = nb;
	result.results = results;
	result.more = more;
	reply.seq = seq;
	reply.body_case = AIRPATH__UPF__V1__REPLY__BODY_RESULT;
	reply.result = &result;
	ctl_send(c->agent, reply_pack(&reply));
}

void
upf_answer_results(struct upf_control *c, const struct upf_request *r, bool here)
{
	UpfOpResult *results, **list;
	unsigned from = 0;
	size_t bytes = HEADER_BYTES;

	ctl_arena_reset(&c->arena);
	results = ctl_arena_alloc(&c->arena, (r->nb_ops + 1) * sizeof(*results));
	list = ctl_arena_alloc(&c->arena, (r->nb_ops + 1) * sizeof(UpfOpResult *));
	for (unsigned i = 0; i < r->nb_ops; i++) {
		size_t more;

		if (!results || !list || !result_fill(c, &results[i], &r->ops[i])) {
			if (here)
				ctl_hang_up(&c->server, c->agent, "no memory for results");
			return;
		}
		if (r->ops[i].msg)
			told_keep(c, r->ops[i].msg->id, &results[i], here);
		list[i] = &results[i];
		more = airpath__upf__v1__op_result__get_packed_size(&results[i]) + 6;
		if (here && bytes + more > UPF_MESSAGE_MAX && i > from) {
			results_send(c, r->seq, &list[from], i - from, true);
			from = i;
			bytes = HEADER_BYTES;
		}
		bytes += more;
	}
	if (here)
		results_send(c, r->seq, &list[from], r->nb_ops - from, false);
}

/* --- what workers report ---------------------------------------------------------------------- */

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
	u.reports = reports_fill(&c->arena, r, detected, nb);
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
	usage_fill(&g->urr[i].usage, &r->usage);
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
