/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "modules/upf/upf_control_impl.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_tables.h"

#define IDLE_MS 2           /**< how late an event may be told when nothing else happens */
#define WAIT_NS 10000       /**< between looks for acknowledgements */
#define REQUESTS_A_VISIT 16 /**< before replies and reports are looked at again */
#define REPLIES 64

/* --- replies ---------------------------------------------------------------------------------- */

static void
request_free(struct upf_control *c, struct upf_request *r)
{
	for (unsigned i = 0; i < r->nb_ops; i++)
		upf_msg_free(c, r->ops[i].msg);
	free(r->ready);
	free(r);
}

/** Answers requests in the order they came, as far as they are done. */
static void
requests_finish(struct upf_control *c)
{
	struct upf_request *r;

	while ((r = c->first) != NULL && r->waiting == 0) {
		c->first = r->next;
		if (c->first == NULL)
			c->last = NULL;
		if (r->ready == NULL) {
			upf_answer_results(c, r, r->connection == c->agent->nb);
		} else if (r->connection == c->agent->nb) {
			ctl_send(c->agent, r->ready);
			r->ready = NULL;
		}
		request_free(c, r);
	}
}

bool
upf_control_replies(struct upf_control *c)
{
	struct upf_msg *msgs[REPLIES];
	bool any = false;

	for (unsigned k = 0; k < c->upf->nb_workers; k++) {
		unsigned nb = rte_ring_sc_dequeue_burst(c->upf->workers[k].replies, (void **)msgs,
							REPLIES, NULL);

		c->under_way[k] -= nb;
		c->all_under_way -= nb;
		for (unsigned i = 0; i < nb; i++)
			upf_request_done(c, msgs[i]);
		any |= nb > 0;
	}
	return any;
}

/** Workers may share the CPU. Not sched_yield(): see core/worker.c. */
static void
sleep_short(struct upf_control *c)
{
	const struct timespec wait = {.tv_nsec = WAIT_NS};

	(void)c;
	nanosleep(&wait, NULL);
}

void
upf_control_await(struct upf_control *c)
{
	if (!upf_control_replies(c))
		c->pause(c);
}

void
upf_control_finish(struct upf_control *c)
{
	while (c->all_under_way > 0)
		upf_control_await(c);
	requests_finish(c);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void
receive(struct upf_control *c, struct ctl_client *client)
{
	/* Who does not read its answers gets no new ones. */
	for (unsigned i = 0; i < REQUESTS_A_VISIT && client->nb_send < UPF_SEND_QUEUE_MAX; i++) {
		size_t bytes = ctl_receive(&c->server, client);

		if (bytes == 0)
			return;
		if (upf_socket_admit(c, client, c->server.buf, bytes))
			upf_request_take(c, c->server.buf, bytes);
		requests_finish(c);
	}
}

static void
serve(struct upf_control *c, const struct epoll_event *events, int nb)
{
	for (int i = 0; i < nb; i++)
		if (events[i].data.u64 == CTL_LISTENER)
			ctl_accept(&c->server);
	for (int i = 0; i < nb; i++)
		if (events[i].data.u64 != CTL_LISTENER)
			receive(c, &c->server.clients[events[i].data.u64]);
}

static void
step(struct upf_control *c)
{
	struct epoll_event events[CTL_CLIENTS_MAX + 1];
	bool waiting = c->all_under_way > 0;
	int nb = epoll_wait(c->server.epoll, events, CTL_CLIENTS_MAX + 1, waiting ? 0 : IDLE_MS);
	bool any;

	pthread_mutex_lock(&c->lock);
	serve(c, events, nb);
	any = upf_control_replies(c);
	requests_finish(c);
	any |= upf_answer_reports(c);
	any |= upf_apps_step(c);
	upf_load_tell(c);
	upf_socket_flush(c);
	ctl_expire(&c->server);
	pthread_mutex_unlock(&c->lock);
	if (waiting && !any && nb <= 0)
		sleep_short(c);
}

static void *
control_main(void *arg)
{
	struct upf_control *c = arg;

	prctl(PR_SET_TIMERSLACK, 1000UL);
	while (!c->stop)
		step(c);
	return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

static int
peer_get(void *arg, const UpfForwarding *f)
{
	struct upf_control *c = arg;
	struct upf_peer_key key = {.port = f->port ? (uint16_t)f->port : GTPU_PORT,
				   .octets = (uint8_t)f->peer.len,
				   .interface = (uint8_t)f->interface,
				   .tos = (uint8_t)(f->tos & f->tos_mask),
				   .tos_mask = (uint8_t)f->tos_mask,
				   .gtpu = f->gtpu};

	memcpy(key.ip, f->peer.data, key.octets);
	return upf_peer_get(&c->upf->peers, &key, ap_clock_ns());
}

static void
peer_put(void *arg, uint16_t peer)
{
	struct upf_control *c = arg;

	upf_peer_put(&c->upf->peers, peer, ap_clock_ns());
}

static struct upf_compiler *
compiler_make(struct upf_control *c)
{
	const struct upf *upf = c->upf;
	struct upf_compiler_config cfg = {.burst_bytes = upf->cfg->burst_bytes,
					  .unix_offset_ns = (uint64_t)upf->unix_offset_ns,
					  .socket = SOCKET_ID_ANY,
					  .peer_get = peer_get,
					  .peer_put = peer_put,
					  .arg = c};

	for (unsigned i = 1; i <= upf->net->nb_links; i++) {
		if (upf->net->links[i].types & UPF_LINK_LAN) {
			cfg.interface_types[i] = UPF_LAN_TYPES;
			cfg.lans |= 1U << i;
		} else {
			cfg.interface_types[i] = upf->net->links[i].types;
		}
	}
	return upf_compiler_create(&cfg);
}

struct upf_control *
upf_control_create(struct upf *upf, struct ap_error *err)
{
	struct upf_control *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		ap_error_set(err, "upf %s: out of memory", upf->cfg->name);
		return NULL;
	}
	c->upf = upf;
	c->pause = sleep_short;
	c->server.listener = c->server.epoll = -1;
	c->agent = &c->server.clients[0];
	pthread_mutex_init(&c->lock, NULL);
	ctl_arena_init(&c->arena);
	upf_apps_init(&c->apps);
	c->under_way = calloc(upf->nb_workers, sizeof(*c->under_way));
	c->compiler = compiler_make(c);
	if (c->under_way == NULL || c->compiler == NULL || upf_ids_init(&c->ids) < 0 ||
	    upf_remotes_init(&c->remotes) < 0 || upf_answer_macs(c) < 0 ||
	    ctl_events_init(&c->events, UPF_EVENTS_MAX) < 0 ||
	    ctl_events_init(&c->told, UPF_TOLD_MAX) < 0 ||
	    getrandom(&c->instance, sizeof(c->instance), 0) != sizeof(c->instance)) {
		ap_error_set(err, "upf %s: out of memory", upf->cfg->name);
	} else if (upf_socket_listen(c, err) == 0) {
		return c;
	}
	upf_control_destroy(c);
	return NULL;
}

int
upf_control_start(struct upf_control *c, struct ap_error *err)
{
	int rc = rte_ctrl_thread_create(&c->thread, "upf-control", NULL, control_main, c);

	c->started = rc == 0;
	return rc == 0 ? 0
		       : ap_error_set(err, "upf %s: no thread: %s", c->upf->cfg->name,
				      strerror(-rc));
}

void
upf_control_stop(struct upf_control *c)
{
	c->stop = true;
	if (c->started)
		pthread_join(c->thread, NULL);
	c->started = false;
	upf_socket_flush(c);
	ctl_server_close(&c->server);
}

static void
rules_free(struct upf_session *s, void *arg)
{
	struct upf_control *c = arg;

	upf_rules_free(c->compiler, s->rules);
	s->rules = NULL;
}

/** Messages that no worker took, and answers nobody waits for. */
static void
under_way_free(struct upf_control *c)
{
	struct upf_msg *m;

	for (unsigned k = 0; k < c->upf->nb_workers; k++)
		while (rte_ring_sc_dequeue(c->upf->workers[k].messages, (void **)&m) == 0) {
			if (m->kind == UPF_MSG_SET)
				upf_rules_free(c->compiler, m->rules);
			dpi_scratch_free(m->scratch);
			upf_msg_free(c, m);
		}
	while (upf_control_replies(c))
		;
	while (c->first) {
		struct upf_request *r = c->first;

		c->first = r->next;
		request_free(c, r);
	}
}

void
upf_control_destroy(struct upf_control *c)
{
	if (c == NULL)
		return;
	upf_control_stop(c);
	c->greeted = false; /* nobody is told any more */
	if (c->compiler && c->under_way) {
		under_way_free(c);
		for (unsigned k = 0; k < c->upf->nb_workers; k++)
			upf_tables_each(c->upf->workers[k].tables, rules_free, c);
		upf_compiler_destroy(c->compiler);
	}
	upf_apps_fini(c);
	ctl_server_fini(&c->server);
	ctl_events_fini(&c->events);
	ctl_events_fini(&c->told);
	upf_ids_fini(&c->ids);
	upf_remotes_fini(&c->remotes);
	upf_macs_fini(&c->macs);
	ctl_arena_fini(&c->arena);
	pthread_mutex_destroy(&c->lock);
	free(c->under_way);
	free(c);
}

/* --- questions -------------------------------------------------------------------------------- */

void
upf_control_stats(struct upf_control *c, struct upf_control_stats *s)
{
	pthread_mutex_lock(&c->lock);
	*s = c->stats;
	s->bad_messages += c->server.bad_messages;
	s->sessions = c->ids.nb;
	s->peers = c->upf->peers.live;
	s->events_kept = (uint32_t)(c->events.next - c->events.first);
	s->events_lost = c->events.lost;
	s->told_kept = (uint32_t)(c->told.next - c->told.first);
	s->told_lost = c->told.lost;
	s->connected = c->greeted;
	pthread_mutex_unlock(&c->lock);
}

uint32_t
upf_control_handle(struct upf_control *c, uint64_t id)
{
	const struct upf_id *e;
	uint32_t handle;

	pthread_mutex_lock(&c->lock);
	e = upf_ids_find(&c->ids, id);
	handle = e ? e->handle : 0;
	pthread_mutex_unlock(&c->lock);
	return handle;
}

int
upf_control_list(struct upf_control *c, uint64_t after, uint64_t *ids, uint32_t max)
{
	int nb;

	pthread_mutex_lock(&c->lock);
	nb = upf_ids_list(&c->ids, after, ids, max);
	pthread_mutex_unlock(&c->lock);
	return nb;
}

unsigned
upf_control_peers(struct upf_control *c, struct upf_peer_view *peers, unsigned max)
{
	const struct upf_peers *p = &c->upf->peers;
	unsigned nb = 0;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 1; i < p->nb && nb < max; i++)
		if (p->peer[i].refs > 0)
			peers[nb++] = (struct upf_peer_view){p->peer[i].key, p->peer[i].refs};
	pthread_mutex_unlock(&c->lock);
	return nb;
}

unsigned
upf_control_applications(struct upf_control *c, uint32_t after, struct upf_apps_view *view,
			 struct upf_app_view *apps, unsigned max)
{
	const struct upf_apps_rules *r;
	unsigned nb = 0;

	pthread_mutex_lock(&c->lock);
	upf_apps_look(&c->apps, view);
	r = c->apps.in_force;
	for (uint32_t i = after + 1; r != NULL && i < UPF_APPS && nb < max; i++) {
		if (r->ids[i] == NULL)
			continue;
		apps[nb] = (struct upf_app_view){.index = (uint16_t)i};
		snprintf(apps[nb].id, sizeof(apps[nb].id), "%s", r->ids[i]);
		for (unsigned k = 0; k < c->upf->nb_workers; k++)
			apps[nb].flows += c->upf->workers[k].scans->apps[i];
		nb++;
	}
	pthread_mutex_unlock(&c->lock);
	return nb;
}
