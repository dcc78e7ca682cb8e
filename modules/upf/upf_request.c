/* SPDX-License-Identifier: BSD-3-Clause */
/** What the agent asks for: each request to what becomes of it. */
#include <stdlib.h>

#include "core/clock.h"
#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_net.h"

#define CHECKPOINT_MS 500
#define ECHO_TIMEOUT_MS 2000
#define ECHO_TRIES 3

/* --- Config ----------------------------------------------------------------------------------- */

static bool
is_pool(const struct upf_control *c, const Airpath__Upf__V1__Pool *p)
{
	return (p->address.len == 4 || p->address.len == 16) &&
	       p->prefix_bits <= (p->address.len == 4 ? 32 : 64) && p->interface >= 1 &&
	       p->interface <= c->upf->net->nb_links;
}

/** @return an error for people, or NULL. */
static const char *
do_config(struct upf_control *c, const Airpath__Upf__V1__Config *config)
{
	struct upf_net_live *live = &c->upf->net->live;
	uint32_t checkpoint_ms = config->checkpoint_ms ? config->checkpoint_ms : CHECKPOINT_MS;

	for (size_t i = 0; i < config->n_pools; i++)
		if (!is_pool(c, config->pools[i]))
			return "pools: an address, prefix_bits or interface that is none";
	for (size_t i = 0; i < config->n_pools; i++) {
		const Airpath__Upf__V1__Pool *p = config->pools[i];

		if (upf_index_pool(c->upf->index, p->address.data, (unsigned)p->address.len,
				   p->prefix_bits, p->interface) < 0)
			return "pools: too many, or no memory for their tables";
	}
	for (unsigned k = 0; k < c->upf->nb_workers; k++)
		__atomic_store_n(&c->upf->workers[k].charger->checkpoint_ns,
				 checkpoint_ms * AP_NS_PER_MS, __ATOMIC_RELAXED);
	live->echo_interval_s = config->echo_interval_s;
	live->echo_timeout_ms = config->echo_timeout_ms ? config->echo_timeout_ms : ECHO_TIMEOUT_MS;
	live->echo_tries = config->echo_tries ? config->echo_tries : ECHO_TRIES;
	live->refilled = config->refilled;
	upf_load_start(c, config->load_ms);
	return NULL;
}

/* --- requests --------------------------------------------------------------------------------- */

static struct ctl_packed *
do_hello(struct upf_control *c, const UpfRequest *q)
{
	if (q->hello->protocol != 1)
		return upf_answer_error(q->seq, "protocol 1 is what is spoken here");
	if (!c->greeted) {
		c->stats.connections++;
		ctl_events_rewind(&c->events);
		ctl_events_rewind(&c->told);
	}
	c->greeted = c->agent->admitted = true;
	return upf_answer_welcome(c, q->seq);
}

/** What is answered at once. */
static struct ctl_packed *
do_other(struct upf_control *c, const UpfRequest *q)
{
	const char *error;

	if (q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_HELLO)
		return do_hello(c, q);
	if (!c->greeted)
		return upf_answer_error(q->seq, "Hello comes first");
	if (q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_CONFIG) {
		error = do_config(c, q->config);
		c->configured |= error == NULL;
		return error ? upf_answer_error(q->seq, error) : upf_answer_done(q->seq);
	}
	if (q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_APPLICATIONS) {
		error = upf_apps_take(c, q->applications);
		return error ? upf_answer_error(q->seq, error) : upf_answer_done(q->seq);
	}
	if (q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_LIST)
		return upf_answer_list(c, q->seq, q->list);
	return upf_answer_error(q->seq, "a request of no kind");
}

static void
request_add(struct upf_control *c, const UpfRequest *q)
{
	bool apply = q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_APPLY && c->greeted;
	unsigned nb_ops = apply ? (unsigned)q->apply->n_ops : 0;
	struct upf_request *r = calloc(1, sizeof(*r) + nb_ops * sizeof(r->ops[0]));

	if (r == NULL) {
		ctl_hang_up(&c->server, c->agent, "no memory for a request");
		return;
	}
	r->seq = q->seq;
	r->connection = c->agent->nb;
	r->nb_ops = nb_ops;
	if (c->last)
		c->last->next = r;
	else
		c->first = r;
	c->last = r;
	r->waiting++; /* not done before all of it is under way */
	if (apply)
		upf_request_apply(c, r, q->apply);
	else
		r->ready = do_other(c, q);
	r->waiting--;
}

void
upf_request_take(struct upf_control *c, const uint8_t *data, size_t bytes)
{
	UpfRequest *q;

	ctl_arena_reset(&c->arena);
	q = airpath__upf__v1__request__unpack(&c->arena.allocator, bytes, data);
	c->stats.requests++;
	if (q == NULL || q->seq == 0) {
		c->stats.bad_messages++;
		ctl_hang_up(&c->server, c->agent,
			    q ? "a request without seq" : "a message that is no Request");
	} else if (q->body_case == AIRPATH__UPF__V1__REQUEST__BODY_ACK) {
		ctl_events_ack(&c->events, q->ack->event);
		ctl_events_ack(&c->told, q->ack->told);
	} else {
		request_add(c, q);
	}
}
