/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What roles with contexts tell, G being a role's name (left out: the first):
 *   /airpath/gnb/info[,G]     contexts, requests, events, and the control socket
 *   /airpath/gnb/workers[,G]  sessions and messages of each worker
 *   /airpath/gnb/peers[,G]    GTP-U peers in use
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/gnb/gnb_control_impl.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_peer.h"

#define CONTROLS_MAX 16
#define PEERS_MAX 200

/* The telemetry thread looks while the control threads of roles come and go. */
static struct gnb_control *controls[CONTROLS_MAX];
static pthread_mutex_t controls_lock = PTHREAD_MUTEX_INITIALIZER;

void
gnb_telemetry_add(struct gnb_control *c)
{
	unsigned i = 0;

	pthread_mutex_lock(&controls_lock);
	while (i < CONTROLS_MAX && controls[i])
		i++;
	if (i < CONTROLS_MAX)
		controls[i] = c;
	pthread_mutex_unlock(&controls_lock);
}

void
gnb_telemetry_del(const struct gnb_control *c)
{
	pthread_mutex_lock(&controls_lock);
	for (unsigned i = 0; i < CONTROLS_MAX; i++)
		if (controls[i] == c)
			controls[i] = NULL;
	pthread_mutex_unlock(&controls_lock);
}

typedef int tell_fn(struct gnb_control *c, struct rte_tel_data *d);

static int
tell(const char *name, struct rte_tel_data *d, tell_fn *fn)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&controls_lock);
	for (unsigned i = 0; i < CONTROLS_MAX && rc == -ENOENT; i++)
		if (controls[i] &&
		    (name == NULL || name[0] == '\0' || !strcmp(controls[i]->cfg.name, name)))
			rc = fn(controls[i], d);
	pthread_mutex_unlock(&controls_lock);
	if (rc == -ENOENT)
		return ap_telemetry_refuse("there is no gnb%s%s", name ? " " : "",
					   name ? name : " here");
	return rc;
}

static int
info(struct gnb_control *c, struct rte_tel_data *d)
{
	struct gnb_control_stats s;

	gnb_control_stats(c, &s);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "name", c->cfg.name);
	rte_tel_data_add_dict_string(d, "kind", c->cfg.kind);
	rte_tel_data_add_dict_string(d, "socket", c->cfg.socket);
	rte_tel_data_add_dict_u64(d, "clients", s.clients);
	rte_tel_data_add_dict_string(d, "contexts", s.loaded ? "complete" : "being loaded");
	rte_tel_data_add_dict_u64(d, "ues", s.ues);
	rte_tel_data_add_dict_u64(d, "pdu_sessions", s.sessions);
	rte_tel_data_add_dict_u64(d, "pdu_sessions_max", s.capacity);
	rte_tel_data_add_dict_u64(d, "teids_resting", s.resting);
	rte_tel_data_add_dict_u64(d, "drbs", s.drbs);
	rte_tel_data_add_dict_u64(d, "requests", s.requests);
	rte_tel_data_add_dict_u64(d, "setups", s.setups);
	rte_tel_data_add_dict_u64(d, "modifications", s.modifications);
	rte_tel_data_add_dict_u64(d, "releases", s.releases);
	rte_tel_data_add_dict_u64(d, "failed", s.failed);
	rte_tel_data_add_dict_u64(d, "bad_messages", s.bad_messages);
	rte_tel_data_add_dict_u64(d, "connections", s.connections);
	rte_tel_data_add_dict_u64(d, "events", s.events);
	rte_tel_data_add_dict_u64(d, "events_kept", s.events_kept);
	rte_tel_data_add_dict_u64(d, "events_lost", s.events_lost);
	rte_tel_data_add_dict_u64(d, "strange_error_indications", s.strange_errors);
	return 0;
}

static int
workers(struct gnb_control *c, struct rte_tel_data *d)
{
	uint32_t sessions[GNB_CONTROL_WORKERS_MAX] = {0};

	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < c->cfg.table->capacity; i++)
		if (c->entry[i])
			sessions[gnb_worker_of(i, c->cfg.nb_workers)]++;
	pthread_mutex_unlock(&c->lock);
	rte_tel_data_start_dict(d);
	for (unsigned k = 0; k < c->cfg.nb_workers; k++) {
		struct rte_tel_data *one = rte_tel_data_alloc();
		char name[32];

		if (one == NULL)
			return -ENOMEM;
		rte_tel_data_start_dict(one);
		rte_tel_data_add_dict_u64(one, "pdu_sessions", sessions[k]);
		rte_tel_data_add_dict_u64(one, "messages", c->cfg.workers[k].applied);
		snprintf(name, sizeof(name), "worker%u", k);
		rte_tel_data_add_dict_container(d, name, one, 0);
	}
	return 0;
}

static int
peers(struct gnb_control *c, struct rte_tel_data *d)
{
	const struct upf_peers *p = c->cfg.peers;
	unsigned nb = 0;

	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	pthread_mutex_lock(&c->lock);
	for (unsigned i = 1; i < p->nb && nb < PEERS_MAX; i++) {
		const struct upf_peer_key *key = &p->peer[i].key;
		char ip[INET6_ADDRSTRLEN], text[128];

		if (p->peer[i].refs == 0)
			continue;
		inet_ntop(key->octets == 4 ? AF_INET : AF_INET6, key->ip, ip, sizeof(ip));
		snprintf(text, sizeof(text), "%s by %s: %u tunnels", ip,
			 c->cfg.net->links[key->interface].name, p->peer[i].refs);
		rte_tel_data_add_array_string(d, text);
		nb++;
	}
	pthread_mutex_unlock(&c->lock);
	return 0;
}

static int
tell_info(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	(void)run;
	return tell(params, d, info);
}

static int
tell_workers(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	(void)run;
	return tell(params, d, workers);
}

static int
tell_peers(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	(void)run;
	return tell(params, d, peers);
}

RTE_INIT(gnb_telemetry_register)
{
	ap_telemetry_add("/airpath/gnb/info", tell_info, "Contexts, requests, events: [GNB].");
	ap_telemetry_add("/airpath/gnb/workers", tell_workers, "Each worker of a gNB: [GNB].");
	ap_telemetry_add("/airpath/gnb/peers", tell_peers, "GTP-U peers in use: [GNB].");
}
