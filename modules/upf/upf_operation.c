/* SPDX-License-Identifier: BSD-3-Clause */
/** Operations of an Apply: from the agent's message to a worker, and what came back. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring.h>

#include "core/clock.h"
#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_net.h"

static void __attribute__((format(printf, 4, 5)))
fail(struct upf_control *c, struct upf_op *op, uint32_t status, const char *fmt, ...)
{
	va_list ap;

	op->status = status;
	va_start(ap, fmt);
	vsnprintf(op->error, sizeof(op->error), fmt, ap);
	va_end(ap);
	c->stats.failed++;
}

/* --- messages --------------------------------------------------------------------------------- */

void
upf_msg_free(struct upf_control *c, struct upf_msg *m)
{
	uint64_t now_ns = ap_clock_ns();

	if (m == NULL)
		return;
	for (unsigned i = 0; i < m->nb_end_markers; i++)
		upf_peer_put(&c->upf->peers, m->end_markers[i].peer, now_ns);
	free(m);
}

/** A message and all lists it needs, one allocation. */
static struct upf_msg *
msg_make(unsigned urrs, unsigned nb_query, unsigned nb_end_markers)
{
	/* A report may be in two parts, and removed URRs have a list of their own. */
	size_t reports = 2 * (size_t)urrs * sizeof(struct upf_usage_report);
	size_t bytes = sizeof(struct upf_msg) + 2 * reports + nb_query * sizeof(uint32_t) +
		       nb_end_markers * sizeof(struct upf_end_marker);
	struct upf_msg *m = calloc(1, bytes);
	uint8_t *at = (uint8_t *)(m + 1);

	if (m == NULL)
		return NULL;
	m->reports = (struct upf_usage_report *)(void *)at;
	m->removed = (struct upf_usage_report *)(void *)(at + reports);
	m->end_markers = (struct upf_end_marker *)(void *)(at + 2 * reports);
	m->query = (uint32_t *)(void *)(m->end_markers + nb_end_markers);
	return m;
}

static unsigned
urrs_of(const struct upf_rules *r)
{
	return r ? r->accounts.nb_urrs : 0;
}

void
upf_worker_send(struct upf_control *c, unsigned worker, struct upf_msg *m)
{
	while (c->under_way[worker] >= UPF_UNDER_WAY_MAX && !c->stop)
		upf_control_await(c);
	c->under_way[worker]++;
	c->all_under_way++;
	rte_ring_sp_enqueue(c->upf->workers[worker].messages, m);
	if (c->upf->workers[worker].control_node != NULL)
		ap_node_wake(c->upf->workers[worker].control_node);
}

static void
msg_send(struct upf_control *c, struct upf_request *r, unsigned op, struct upf_msg *m)
{
	m->request = r;
	m->op = op;
	r->waiting++;
	upf_worker_send(c, upf_owner_of_teid(&c->upf->owners, m->handle), m);
}

/** A session has one message under way at a time: what comes after it finds it in its last state.
 */
static struct upf_id *
find_idle(struct upf_control *c, uint64_t id)
{
	struct upf_id *e = upf_ids_find(&c->ids, id);

	while (e && e->busy && !c->stop) {
		upf_control_await(c);
		e = upf_ids_find(&c->ids, id);
	}
	return e;
}

/** @return id of another session that has the slot of a handle or TEID, or 0. */
static uint64_t
slot_of_other(struct upf_control *c, uint32_t teid, uint64_t id)
{
	unsigned w = upf_owner_of_teid(&c->upf->owners, teid);
	struct upf_session *s = upf_slot(c->upf->workers[w].tables, teid);
	uint64_t other = s ? __atomic_load_n(&s->id, __ATOMIC_RELAXED) : 0;

	/* It may be about to go; afterwards nobody writes the slot but on a message of ours. */
	if (other == 0 || other == id || find_idle(c, other) == NULL)
		return 0;
	other = __atomic_load_n(&s->id, __ATOMIC_RELAXED);
	return other == id ? 0 : other;
}

/* --- operations ------------------------------------------------------------------------------- */

static int
end_markers(struct upf_control *c, struct upf_msg *m, const Airpath__Upf__V1__Session *s)
{
	for (size_t i = 0; i < s->n_end_markers; i++) {
		const Airpath__Upf__V1__EndMarker *e = s->end_markers[i];
		struct upf_peer_key key = {.octets = (uint8_t)e->peer.len,
					   .interface = (uint8_t)e->interface,
					   .port = e->port ? (uint16_t)e->port : GTPU_PORT,
					   .tos = (uint8_t)e->tos,
					   .tos_mask = 0xFF,
					   .gtpu = true};
		int peer;

		if ((key.octets != 4 && key.octets != 16) || e->interface > UPF_INTERFACES_MAX)
			return -EINVAL;
		memcpy(key.ip, e->peer.data, key.octets);
		peer = upf_peer_get(&c->upf->peers, &key, ap_clock_ns());
		if (peer < 0)
			return peer;
		m->end_markers[m->nb_end_markers++] =
			(struct upf_end_marker){.peer = (uint16_t)peer, .teid = e->teid};
	}
	return 0;
}

/** Memory at the worker for the session's slot and those of its other TEIDs. */
static int
slots_prepare(struct upf_control *c, const struct upf_rules *r)
{
	unsigned w = upf_owner_of_teid(&c->upf->owners, r->handle);
	int rc = upf_tables_prepare(c->upf->workers[w].tables, r->handle);

	for (unsigned i = 0; i < r->nb_tunnels && rc == 0; i++)
		if (!r->tunnels[i].foreign)
			rc = upf_tables_prepare(c->upf->workers[w].tables, r->tunnels[i].teid);
	for (unsigned i = 0; i < r->nb_groups; i++)
		if (r->groups[i].flow)
			upf_flows_touch(c->upf->workers[w].flows);
	return rc;
}

/** No session may have the slots of another: a failure there would end what leads to that one. */
static int
slots_check(struct upf_control *c, struct upf_op *op, const Airpath__Upf__V1__Session *s)
{
	uint64_t other = slot_of_other(c, s->handle, s->id);

	for (size_t i = 0; i < s->n_tunnels && other == 0; i++)
		if (!s->tunnels[i]->foreign)
			other = slot_of_other(c, s->tunnels[i]->teid, s->id);
	if (other == 0)
		return 0;
	fail(c, op, UPF_STATUS_RULE_FAILED,
	     "session %" PRIu64 " has the slot of its handle or of a TEID", other);
	return -1;
}

/** Everything that can fail before the worker has it. @return 0 or -1 with the op failed. */
static int
set_check(struct upf_control *c, struct upf_op *op, const struct upf_id *e,
	  const Airpath__Upf__V1__Session *s)
{
	if (s->id == 0 || upf_teid_generation(s->handle) == 0)
		fail(c, op, UPF_STATUS_RULE_FAILED,
		     "id and generation of the handle must not be 0");
	else if (e && e->handle != s->handle)
		fail(c, op, UPF_STATUS_RULE_FAILED, "the session's handle is %08x", e->handle);
	else if (e && s->version <= e->version)
		fail(c, op, UPF_STATUS_STALE, "version %u is held", e->version);
	else if (e == NULL && c->ids.nb >= c->upf->cfg->sessions)
		fail(c, op, UPF_STATUS_NO_RESOURCES, "%u sessions are the most here",
		     c->upf->cfg->sessions);
	else
		return 0;
	return -1;
}

static struct upf_rules *
set_compile(struct upf_control *c, struct upf_op *op, const struct upf_id *e,
	    const Airpath__Upf__V1__Session *s)
{
	struct upf_compile_error error = {0};
	struct upf_rules *rules = upf_compile(c->compiler, s, &error);
	int rc;

	if (rules == NULL) {
		fail(c, op, error.status, "%s", error.text);
		op->failed_kind = error.kind;
		op->failed_id = error.id;
		return NULL;
	}
	rc = slots_prepare(c, rules);
	if (rc == 0)
		rc = upf_index_add(c->upf->index, rules, e ? e->rules : NULL);
	if (rc == 0)
		return rules;
	upf_rules_free(c->compiler, rules);
	if (rc == -ENOMEM)
		fail(c, op, UPF_STATUS_NO_RESOURCES, "no memory");
	else
		fail(c, op, UPF_STATUS_RULE_FAILED,
		     rc == -EEXIST ? "another session has one of its addresses, routes or TEIDs"
				   : "a TEID is of another bucket than the handle");
	return NULL;
}

static void
do_set(struct upf_control *c, struct upf_request *r, unsigned i, const Airpath__Upf__V1__Session *s)
{
	struct upf_op *op = &r->ops[i];
	struct upf_rules *rules;
	struct upf_msg *m;
	struct upf_id *e;
	int rc;

	c->stats.sets++;
	if (slots_check(c, op, s) < 0)
		return;
	e = find_idle(c, s->id);
	if (set_check(c, op, e, s) < 0 || (rules = set_compile(c, op, e, s)) == NULL)
		return;
	m = msg_make(urrs_of(e ? e->rules : NULL) + urrs_of(rules), (unsigned)s->n_query_urrs,
		     (unsigned)s->n_end_markers);
	rc = m ? end_markers(c, m, s) : -ENOMEM;
	if (rc == 0 && e == NULL) {
		e = upf_ids_add(&c->ids, s->id);
		rc = e ? 0 : -ENOMEM;
	}
	if (rc < 0) {
		upf_index_remove(c->upf->index, rules, e ? e->rules : NULL);
		upf_rules_free(c->compiler, rules);
		upf_msg_free(c, m);
		fail(c, op, rc == -EINVAL ? UPF_STATUS_RULE_FAILED : UPF_STATUS_NO_RESOURCES,
		     rc == -EINVAL ? "end marker to an interface or address that is none"
				   : "no memory, or no room for another peer");
		return;
	}
	if (rules->ethernet)
		atomic_store(&c->upf->net->live.ethernet, true);
	m->kind = UPF_MSG_SET;
	m->id = s->id;
	m->handle = e->handle = s->handle;
	m->rules = rules;
	m->drop_buffered = s->drop_buffered;
	m->query_all = s->query_all;
	m->nb_query = (uint32_t)s->n_query_urrs;
	if (m->nb_query > 0)
		memcpy(m->query, s->query_urrs, m->nb_query * sizeof(uint32_t));
	e->busy = true;
	msg_send(c, r, i, m);
}

static void
do_delete(struct upf_control *c, struct upf_request *r, unsigned i, uint64_t id)
{
	struct upf_id *e = find_idle(c, id);
	struct upf_msg *m;

	c->stats.deletes++;
	if (e == NULL) {
		fail(c, &r->ops[i], UPF_STATUS_UNKNOWN_SESSION, "there is no such session");
		return;
	}
	m = msg_make(urrs_of(e->rules), 0, 0);
	if (m == NULL) {
		fail(c, &r->ops[i], UPF_STATUS_NO_RESOURCES, "no memory");
		return;
	}
	m->kind = UPF_MSG_DELETE;
	m->id = id;
	m->handle = e->handle;
	e->busy = true;
	msg_send(c, r, i, m);
}

static void
do_query(struct upf_control *c, struct upf_request *r, unsigned i, const Airpath__Upf__V1__Query *q)
{
	struct upf_id *e = find_idle(c, q->id);
	struct upf_msg *m;

	c->stats.queries++;
	if (e == NULL) {
		fail(c, &r->ops[i], UPF_STATUS_UNKNOWN_SESSION, "there is no such session");
		return;
	}
	m = msg_make(urrs_of(e->rules), (unsigned)q->n_urr_ids, 0);
	if (m == NULL) {
		fail(c, &r->ops[i], UPF_STATUS_NO_RESOURCES, "no memory");
		return;
	}
	m->kind = UPF_MSG_QUERY;
	m->id = q->id;
	m->handle = e->handle;
	m->query_all = q->n_urr_ids == 0;
	m->nb_query = (uint32_t)q->n_urr_ids;
	if (m->nb_query > 0)
		memcpy(m->query, q->urr_ids, m->nb_query * sizeof(uint32_t));
	e->busy = true;
	msg_send(c, r, i, m);
}

void
upf_request_apply(struct upf_control *c, struct upf_request *r,
		  const Airpath__Upf__V1__Apply *apply)
{
	for (unsigned i = 0; i < r->nb_ops && !c->stop; i++) {
		const Airpath__Upf__V1__Op *op = apply->ops[i];

		if (op->op_case == AIRPATH__UPF__V1__OP__OP_SET)
			do_set(c, r, i, op->set);
		else if (op->op_case == AIRPATH__UPF__V1__OP__OP_DELETE)
			do_delete(c, r, i, op->delete_->id);
		else if (op->op_case == AIRPATH__UPF__V1__OP__OP_QUERY)
			do_query(c, r, i, op->query);
		else
			fail(c, &r->ops[i], UPF_STATUS_RULE_FAILED, "an operation of no kind");
	}
}

/** The rules of a Set are in force, or were refused. */
static void
set_done(struct upf_control *c, struct upf_msg *m, struct upf_id *e)
{
	if (m->status != UPF_STATUS_OK) {
		upf_index_remove(c->upf->index, m->rules, e->rules);
		upf_rules_free(c->compiler, m->rules);
		if (e->rules == NULL)
			upf_ids_del(&c->ids, e);
		return;
	}
	e->version = m->rules->version;
	e->rules = m->rules;
	if (m->applied.old && m->applied.old->ethernet && !e->rules->ethernet)
		upf_macs_gone(&c->macs, m->id);
	else if (m->applied.old && m->applied.old->ethernet &&
		 m->applied.old->ethernet->age_s != e->rules->ethernet->age_s)
		upf_macs_age(&c->macs, m->id, e->rules->ethernet->age_s,
			     (uint32_t)(ap_clock_ns() / AP_NS_PER_S));
	upf_rules_installed(c->compiler, m->applied.spent);
	upf_remotes_replace(&c->remotes, c->upf->net, m->id, m->applied.old, e->rules);
	if (m->applied.old) {
		upf_index_remove(c->upf->index, m->applied.old, e->rules);
		upf_rules_free(c->compiler, m->applied.old);
	}
}

void
upf_request_done(struct upf_control *c, struct upf_msg *m)
{
	struct upf_request *r = m->request;
	struct upf_op *op;
	struct upf_id *e;

	if (m->kind == UPF_MSG_APPLICATIONS) {
		upf_apps_taken(c, m);
		return;
	}
	op = &r->ops[m->op];
	e = upf_ids_find(&c->ids, m->id);
	e->busy = false;
	if (m->status != UPF_STATUS_OK)
		fail(c, op, m->status, "%s",
		     m->error == -EEXIST ? "another session has the slot of its handle or TEID"
					 : strerror(-m->error));
	if (m->kind == UPF_MSG_SET) {
		set_done(c, m, e);
	} else if (m->kind == UPF_MSG_DELETE && m->status == UPF_STATUS_OK) {
		upf_remotes_replace(&c->remotes, c->upf->net, m->id, m->applied.old, NULL);
		upf_index_remove(c->upf->index, m->applied.old, NULL);
		if (m->applied.old->ethernet)
			upf_macs_gone(&c->macs, m->id);
		upf_rules_free(c->compiler, m->applied.old);
		upf_ids_del(&c->ids, e);
	}
	op->msg = m;
	r->waiting--;
}
