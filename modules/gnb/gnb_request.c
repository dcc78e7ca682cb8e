/* SPDX-License-Identifier: BSD-3-Clause */
/** What clients ask for: each request to what becomes of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net.h"

#define ECHO_TIMEOUT_MS 2000
#define ECHO_TRIES 3

#define BODY(name) AIRPATH__GNB__V1__REQUEST__BODY_##name

static struct ctl_packed *
do_hello(struct gnb_control *c, struct ctl_client *client, const GnbRequest *q)
{
	if (q->hello->protocol != 1)
		return gnb_answer_error(q->seq, "protocol 1 is what is spoken here");
	c->greeted[client - c->server.clients] = true;
	if (q->hello->events) {
		c->events_connection = client->nb;
		ctl_events_rewind(&c->events);
	}
	return gnb_answer_welcome(c, q->seq);
}

static struct ctl_packed *
do_offload(struct gnb_control *c, const GnbRequest *q)
{
	char error[96];
	int rc;

	if (c->cfg.offload == NULL)
		return gnb_answer_error(q->seq,
					"no SmartNIC takes part here (offload): there is no "
					"share to set");
	if (q->offload->percent > 100) {
		snprintf(error, sizeof(error), "a share of %u %%: 0..100 is one",
			 q->offload->percent);
		return gnb_answer_error(q->seq, error);
	}
	rc = c->cfg.offload(c->cfg.arg, q->offload->percent);
	if (rc < 0) {
		snprintf(error, sizeof(error), "the share stays: %s", strerror(-rc));
		return gnb_answer_error(q->seq, error);
	}
	c->offload_percent = q->offload->percent;
	return gnb_answer_status(c, q->seq);
}

static struct ctl_packed *
do_paths(struct gnb_control *c, const GnbRequest *q)
{
	struct upf_net_live *live = &c->cfg.net->live;
	const Airpath__Gnb__V1__PathSupervision *p = q->paths;

	atomic_store(&live->echo_timeout_ms,
		     p->echo_timeout_ms ? p->echo_timeout_ms : ECHO_TIMEOUT_MS);
	atomic_store(&live->echo_tries, p->echo_tries ? p->echo_tries : ECHO_TRIES);
	atomic_store(&live->echo_interval_s, p->echo_interval_s);
	return gnb_answer_done(q->seq);
}

/** What is answered at once. */
static struct ctl_packed *
do_other(struct gnb_control *c, struct ctl_client *client, const GnbRequest *q)
{
	if (q->body_case == BODY(HELLO))
		return do_hello(c, client, q);
	if (!c->greeted[client - c->server.clients])
		return gnb_answer_error(q->seq, "Hello comes first");
	switch (q->body_case) {
	case BODY(QUERY):
		return gnb_answer_contexts(c, q->seq, q->query);
	case BODY(OFFLOAD):
		return do_offload(c, q);
	case BODY(STATUS):
		return gnb_answer_status(c, q->seq);
	case BODY(COMPLETE):
		atomic_store(&c->cfg.net->live.refilled, q->complete->complete);
		return gnb_answer_done(q->seq);
	case BODY(PATHS):
		return do_paths(c, q);
	default:
		return gnb_answer_error(q->seq, "a request of no kind");
	}
}

/** @return contexts that a request changes; -1: it is of another kind */
static ssize_t
items_of(const GnbRequest *q)
{
	switch (q->body_case) {
	case BODY(SETUP):
		return (ssize_t)q->setup->n_contexts;
	case BODY(MODIFICATION):
		return (ssize_t)q->modification->n_contexts;
	case BODY(RELEASE):
		return (ssize_t)q->release->n_ue_ids;
	default:
		return -1;
	}
}

static void
do_change(struct gnb_control *c, struct gnb_request *r, const GnbRequest *q)
{
	if (q->body_case == BODY(SETUP))
		gnb_change_setup(c, r, q->setup);
	else if (q->body_case == BODY(MODIFICATION))
		gnb_change_modify(c, r, q->modification);
	else
		gnb_change_release(c, r, q->release);
}

static void
request_add(struct gnb_control *c, struct ctl_client *client, const GnbRequest *q)
{
	ssize_t nb = c->greeted[client - c->server.clients] ? items_of(q) : -1;
	size_t items = nb > 0 ? (size_t)nb : 0;
	struct gnb_request *r = calloc(1, sizeof(*r) + items * sizeof(r->items[0]));

	if (r == NULL) {
		ctl_hang_up(&c->server, client, "no memory for a request");
		return;
	}
	r->seq = q->seq;
	r->connection = client->nb;
	r->nb_items = (unsigned)items;
	if (c->last)
		c->last->next = r;
	else
		c->first = r;
	c->last = r;
	r->waiting++; /* not done before all of it is under way */
	if (nb >= 0)
		do_change(c, r, q);
	else
		r->ready = do_other(c, client, q);
	r->waiting--;
}

void
gnb_request_take(struct gnb_control *c, struct ctl_client *client, const uint8_t *data,
		 size_t bytes)
{
	GnbRequest *q;

	ctl_arena_reset(&c->arena);
	q = airpath__gnb__v1__request__unpack(&c->arena.allocator, bytes, data);
	c->stats.requests++;
	if (q == NULL || q->seq == 0) {
		c->stats.bad_messages++;
		ctl_hang_up(&c->server, client,
			    q ? "a request without seq" : "a message that is no Request");
	} else if (q->body_case == BODY(ACK)) {
		if (client->nb == c->events_connection)
			ctl_events_ack(&c->events, q->ack->event);
	} else {
		request_add(c, client, q);
	}
}
