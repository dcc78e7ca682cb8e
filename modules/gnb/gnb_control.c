/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>

#include <rte_lcore.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "core/node.h"
#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net.h"

#define IDLE_MS 2           /**< how late an event may be told when nothing else happens */
#define WAIT_NS 10000       /**< between looks for acknowledgements */
#define REQUESTS_A_VISIT 16 /**< of a client, before others and replies are looked at */
#define REPLIES 64

/* --- replies ---------------------------------------------------------------------------------- */

static void
request_free(struct gnb_request *r)
{
	for (unsigned i = 0; i < r->nb_items; i++)
		for (struct gnb_msg *m = r->items[i].first, *next; m; m = next) {
			next = m->next;
			gnb_msg_free(m);
		}
	free(r->ready);
	free(r);
}

/** Answers requests in the order they came, as far as they are done. */
static void
requests_finish(struct gnb_control *c)
{
	struct gnb_request *r;

	while ((r = c->first) != NULL && r->waiting == 0) {
		struct ctl_client *client = ctl_client_of(&c->server, r->connection);

		c->first = r->next;
		if (c->first == NULL)
			c->last = NULL;
		if (r->ready) {
			ctl_send(client, r->ready);
			r->ready = NULL;
		} else {
			gnb_answer_results(c, client, r);
		}
		request_free(r);
	}
}

bool
gnb_control_replies(struct gnb_control *c)
{
	struct gnb_msg *msgs[REPLIES];
	bool any = false;

	for (unsigned k = 0; k < c->cfg.nb_workers; k++) {
		unsigned nb = rte_ring_sc_dequeue_burst(c->cfg.workers[k].replies, (void **)msgs,
							REPLIES, NULL);

		c->under_way[k] -= nb;
		c->all_under_way -= nb;
		for (unsigned i = 0; i < nb; i++)
			gnb_change_done(c, msgs[i]);
		any |= nb > 0;
	}
	return any;
}

/** Workers may share the CPU. Not sched_yield(): see core/worker.c. */
static void
sleep_short(struct gnb_control *c)
{
	const struct timespec wait = {.tv_nsec = WAIT_NS};

	(void)c;
	nanosleep(&wait, NULL);
}

static void
await(struct gnb_control *c)
{
	if (!gnb_control_replies(c))
		c->pause(c);
}

void
gnb_control_send(struct gnb_control *c, struct gnb_request *r, struct gnb_msg *m)
{
	unsigned w = gnb_control_worker(c, m->teid);

	m->request = r;
	if (c->alone) {
		gnb_do(&c->cfg.workers[w], m);
		gnb_change_done(c, m);
		return;
	}
	while (c->under_way[w] >= GNB_UNDER_WAY_MAX && !c->stop)
		await(c);
	if (r)
		r->waiting++;
	c->under_way[w]++;
	c->all_under_way++;
	/* With `stop` the ring, which holds twice as much, may be full: nobody takes it then. */
	if (rte_ring_sp_enqueue(c->cfg.workers[w].messages, m) == 0) {
		if (c->cfg.workers[w].node)
			ap_node_wake(c->cfg.workers[w].node);
		return;
	}
	c->under_way[w]--;
	c->all_under_way--;
	gnb_change_done(c, m);
}

void
gnb_control_finish(struct gnb_control *c)
{
	while (c->all_under_way > 0)
		await(c);
	requests_finish(c);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
receive(struct gnb_control *c, struct ctl_client *client)
{
	/* Who does not read its answers gets no new ones. */
	for (unsigned i = 0; i < REQUESTS_A_VISIT && client->nb_send < GNB_SEND_QUEUE_MAX; i++) {
		size_t bytes = ctl_receive(&c->server, client);

		if (bytes == 0)
			return;
		gnb_request_take(c, client, c->server.buf, bytes);
		requests_finish(c);
	}
}

static void
serve(struct gnb_control *c, const struct epoll_event *events, int nb)
{
	for (int i = 0; i < nb; i++)
		if (events[i].data.u64 == CTL_LISTENER)
			ctl_accept(&c->server);
		else
			receive(c, &c->server.clients[events[i].data.u64]);
}

static void
flush(struct gnb_control *c)
{
	struct ctl_client *listener = ctl_client_of(&c->server, c->events_connection);
	const struct ctl_packed *event;

	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		ctl_flush(&c->server, &c->server.clients[i]);
	while (listener && listener->nb_send == 0 &&
	       (event = ctl_events_peek(&c->events)) != NULL) {
		if (!ctl_transmit(&c->server, listener, event))
			return;
		c->events.sent++;
	}
}

static void
step(struct gnb_control *c)
{
	struct epoll_event events[CTL_CLIENTS_MAX + 1];
	bool waiting = c->all_under_way > 0;
	int nb = epoll_wait(c->server.epoll, events, CTL_CLIENTS_MAX + 1, waiting ? 0 : IDLE_MS);
	bool any;

	pthread_mutex_lock(&c->lock);
	serve(c, events, nb);
	any = gnb_control_replies(c);
	requests_finish(c);
	any |= gnb_events_take(c);
	flush(c);
	pthread_mutex_unlock(&c->lock);
	if (waiting && !any && nb <= 0)
		sleep_short(c);
}

static void *
control_main(void *arg)
{
	struct gnb_control *c = arg;

	prctl(PR_SET_TIMERSLACK, 1000UL);
	while (!c->stop)
		step(c);
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

/** A connection ended: who has its place next begins with Hello. */
static void
closed(void *arg, struct ctl_client *client)
{
	struct gnb_control *c = arg;

	c->greeted[client - c->server.clients] = false;
	if (client->nb == c->events_connection)
		c->events_connection = 0;
}

static int
memory_make(struct gnb_control *c)
{
	const uint32_t capacity = c->cfg.table->capacity;

	c->under_way = calloc(c->cfg.nb_workers, sizeof(*c->under_way));
	c->entry = calloc(capacity, sizeof(*c->entry));
	if (c->cfg.nb_workers > GNB_CONTROL_WORKERS_MAX || c->under_way == NULL ||
	    c->entry == NULL || gnb_ids_init(&c->ids, capacity) < 0 || upf_ids_init(&c->ues) < 0 ||
	    upf_remotes_init(&c->remotes) < 0 || ctl_events_init(&c->events, GNB_EVENTS_MAX) < 0 ||
	    getrandom(&c->instance, sizeof(c->instance), 0) != sizeof(c->instance))
		return -ENOMEM;
	return 0;
}

struct gnb_control *
gnb_control_create(const struct gnb_control_cfg *cfg, struct ap_error *err)
{
	struct gnb_control *c = calloc(1, sizeof(*c));
	char who[96];

	snprintf(who, sizeof(who), "%s %s", cfg->kind, cfg->name);
	if (c == NULL) {
		ap_error_set(err, "%s: out of memory", who);
		return NULL;
	}
	c->cfg = *cfg;
	c->offload_percent = cfg->offload_percent;
	c->pause = sleep_short;
	pthread_mutex_init(&c->lock, NULL);
	ctl_arena_init(&c->arena);
	if (ctl_server_init(&c->server, who, "client", cfg->socket, CTL_CLIENTS_MAX) < 0 ||
	    memory_make(c) < 0) {
		ap_error_set(err, "%s: out of memory", who);
	} else if (ctl_server_listen(&c->server, err) == 0) {
		c->server.send_max = GNB_SEND_QUEUE_MAX;
		c->server.closed = closed;
		c->server.arg = c;
		gnb_telemetry_add(c);
		return c;
	}
	gnb_control_destroy(c);
	return NULL;
}

int
gnb_control_preset(struct gnb_control *c, const Airpath__Gnb__V1__BearerContext *context,
		   struct ap_error *err)
{
	struct gnb_item item = {0};

	c->alone = true;
	gnb_change_preset(c, &item, context);
	c->alone = false;
	return item.cause == GNB_CAUSE(OK) ? 0
					   : ap_error_set(err, "%s: context of ue %u: %s",
							  c->server.who, item.ue_id, item.error);
}

void
gnb_control_complete(struct gnb_control *c)
{
	atomic_store(&c->cfg.net->live.refilled, true);
}

int
gnb_control_start(struct gnb_control *c, struct ap_error *err)
{
	int rc = rte_ctrl_thread_create(&c->thread, "gnb-control", NULL, control_main, c);

	c->started = rc == 0;
	return rc == 0 ? 0 : ap_error_set(err, "%s: no thread: %s", c->server.who, strerror(-rc));
}

void
gnb_control_stop(struct gnb_control *c)
{
	c->stop = true;
	if (c->started)
		pthread_join(c->thread, NULL);
	c->started = false;
	ctl_server_close(&c->server);
}

/** Messages that no worker took, and answers nobody waits for. */
static void
under_way_free(struct gnb_control *c)
{
	struct gnb_msg *m;

	for (unsigned k = 0; k < c->cfg.nb_workers; k++)
		while (rte_ring_sc_dequeue(c->cfg.workers[k].messages, (void **)&m) == 0)
			gnb_change_done(c, m);
	while (gnb_control_replies(c))
		;
	while (c->first) {
		struct gnb_request *r = c->first;

		c->first = r->next;
		request_free(r);
	}
}

void
gnb_control_destroy(struct gnb_control *c)
{
	if (c == NULL)
		return;
	gnb_telemetry_del(c);
	gnb_control_stop(c);
	if (c->under_way && c->entry && c->ids.free)
		under_way_free(c);
	for (uint32_t i = 0; c->entry && i < c->cfg.table->capacity; i++)
		gnb_entry_free(c, c->entry[i]);
	ctl_server_fini(&c->server);
	ctl_events_fini(&c->events);
	gnb_ids_fini(&c->ids);
	upf_ids_fini(&c->ues);
	upf_remotes_fini(&c->remotes);
	ctl_arena_fini(&c->arena);
	pthread_mutex_destroy(&c->lock);
	free(c->under_way);
	free(c->entry);
	free(c);
}

void
gnb_control_stats(struct gnb_control *c, struct gnb_control_stats *s)
{
	pthread_mutex_lock(&c->lock);
	*s = c->stats;
	s->connections = c->server.connections;
	s->bad_messages += c->server.bad_messages;
	s->sessions = c->ids.nb;
	s->drbs = c->nb_drbs;
	s->ues = c->ues.nb;
	s->capacity = c->ids.capacity;
	s->resting = gnb_ids_resting(&c->ids, ap_clock_ns());
	s->events_lost = c->events.lost;
	s->events_kept = (uint32_t)(c->events.next - c->events.first);
	s->loaded = atomic_load(&c->cfg.net->live.refilled);
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		s->clients += c->greeted[i];
	pthread_mutex_unlock(&c->lock);
}
