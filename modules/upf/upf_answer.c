/* SPDX-License-Identifier: BSD-3-Clause */
/** Answers to the agent's requests. */
#include <stdio.h>
#include <string.h>

#include "modules/upf/upf_answer_usage.h"
#include "modules/upf/upf_net.h"

#define LIST_MAX 4096
#define HEADER_BYTES 64 /**< what surrounds results */

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
	to->reports = upf_answer_usage_reports(&c->arena, op->msg->reports, NULL, to->n_reports);
	to->n_removed = op->msg->nb_removed;
	to->removed = upf_answer_usage_reports(&c->arena, op->msg->removed, NULL, to->n_removed);
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
