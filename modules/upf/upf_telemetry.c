/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a running upf tells, U being its name (left out: the first):
 *   /airpath/upf/info[,U]         sessions, requests, events, steering, hand-offs
 *   /airpath/upf/workers[,U]      sessions and hand-offs of each worker
 *   /airpath/upf/sessions[,AFTER[,U]]  ids above AFTER, up to 256
 *   /airpath/upf/owner,WHAT[,U]   whose a UE's address or a TEID is: bucket, worker, session
 *   /airpath/upf/peers[,U]        GTP-U peers in use
 *   /airpath/upf/pools[,U]        UE address pools with direct tables
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/upf/upf_control.h"
#include "modules/upf/upf_index.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_role.h"
#include "modules/upf/upf_tables.h"
#include "modules/upf/upf_telemetry.h"

#define IDS_MAX 256
#define PEERS_MAX 200

struct upf *
upf_telemetry_find(const struct ap_run *run, const char *params, char *what, size_t size)
{
	const char *name = params, *comma;

	if (what) {
		what[0] = '\0';
		comma = params ? strchr(params, ',') : NULL;
		if (params)
			snprintf(what, size, "%.*s",
				 (int)(comma ? comma - params : (long)strlen(params)), params);
		name = comma ? comma + 1 : NULL;
	}
	for (unsigned i = 0; i < run->cfg->upf_count; i++)
		if (name == NULL || name[0] == '\0' || strcmp(run->cfg->upf[i].name, name) == 0)
			return ap_run_role(run, "upf", i);
	ap_telemetry_refuse("there is no upf%s%s", name ? " " : "", name ? name : " here");
	return NULL;
}

void
upf_telemetry_address(const uint8_t *ip, unsigned octets, char text[INET6_ADDRSTRLEN])
{
	inet_ntop(octets == 4 ? AF_INET : AF_INET6, ip, text, INET6_ADDRSTRLEN);
}

static uint64_t
hand_offs(const struct upf *upf, unsigned steer)
{
	const struct ap_node *n = upf->steers[steer]->inst;
	uint64_t sum = 0;

	for (unsigned w = 0; n && w < upf->nb_workers; w++)
		if (steer >= upf->nb_workers || w != steer)
			sum += n->out[w];
	return sum;
}

static int
tell_info(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct upf *upf = upf_telemetry_find(run, params, NULL, 0);
	struct upf_control_stats s;
	uint64_t handed = 0, slots = 0;

	if (upf == NULL)
		return -ENOENT;
	for (unsigned k = 0; k < upf->nb_workers; k++)
		slots += upf_tables_slots(upf->workers[k].tables);
	upf_control_stats(upf->control, &s);
	for (unsigned k = 0; k < upf->nb_steers; k++)
		handed += hand_offs(upf, k);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "name", upf->cfg->name);
	rte_tel_data_add_dict_string(d, "steering", upf->steering);
	rte_tel_data_add_dict_int(d, "workers", (int)upf->nb_workers);
	rte_tel_data_add_dict_int(d, "dispatchers", (int)upf->nb_dispatchers);
	rte_tel_data_add_dict_u64(d, "handed_off", handed);
	rte_tel_data_add_dict_string(d, "agent", s.connected ? "connected" : "away");
	rte_tel_data_add_dict_u64(d, "sessions", s.sessions);
	rte_tel_data_add_dict_u64(d, "slots", slots);
	rte_tel_data_add_dict_u64(d, "slot_bytes", slots * sizeof(struct upf_session));
	rte_tel_data_add_dict_u64(d, "peers", s.peers);
	rte_tel_data_add_dict_u64(d, "requests", s.requests);
	rte_tel_data_add_dict_u64(d, "sets", s.sets);
	rte_tel_data_add_dict_u64(d, "deletes", s.deletes);
	rte_tel_data_add_dict_u64(d, "queries", s.queries);
	rte_tel_data_add_dict_u64(d, "failed", s.failed);
	rte_tel_data_add_dict_u64(d, "bad_messages", s.bad_messages);
	rte_tel_data_add_dict_u64(d, "connections", s.connections);
	rte_tel_data_add_dict_u64(d, "events", s.events);
	rte_tel_data_add_dict_u64(d, "events_kept", s.events_kept);
	rte_tel_data_add_dict_u64(d, "events_lost", s.events_lost);
	rte_tel_data_add_dict_u64(d, "told_kept", s.told_kept);
	rte_tel_data_add_dict_u64(d, "told_lost", s.told_lost);
	rte_tel_data_add_dict_u64(d, "strange_error_indications", s.strange_errors);
	rte_tel_data_add_dict_u64(d, "checkpoints", s.checkpoints);
	return 0;
}

static int
tell_workers(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct upf *upf = upf_telemetry_find(run, params, NULL, 0);

	if (upf == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(d);
	for (unsigned k = 0; k < upf->nb_steers; k++) {
		struct rte_tel_data *one = rte_tel_data_alloc();
		bool worker = k < upf->nb_workers;
		char name[32];

		if (one == NULL)
			return -ENOMEM;
		rte_tel_data_start_dict(one);
		if (worker) {
			rte_tel_data_add_dict_u64(one, "sessions",
						  upf->workers[k].tables->sessions);
			rte_tel_data_add_dict_u64(one, "messages", upf->workers[k].applied);
		}
		rte_tel_data_add_dict_u64(one, "handed_off", hand_offs(upf, k));
		snprintf(name, sizeof(name), "%s%u", worker ? "worker" : "dispatcher",
			 worker ? k : k - upf->nb_workers);
		rte_tel_data_add_dict_container(d, name, one, 0);
	}
	return 0;
}

static int
tell_sessions(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	uint64_t ids[IDS_MAX];
	char after[32];
	struct upf *upf = upf_telemetry_find(run, params, after, sizeof(after));
	int nb;

	if (upf == NULL)
		return -ENOENT;
	nb = upf_control_list(upf->control, strtoull(after, NULL, 0), ids, IDS_MAX);
	if (nb < 0)
		return nb;
	rte_tel_data_start_array(d, RTE_TEL_U64_VAL);
	for (int i = 0; i < nb; i++)
		rte_tel_data_add_array_u64(d, ids[i]);
	return 0;
}

static int
tell_peers(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct upf *upf = upf_telemetry_find(run, params, NULL, 0);
	struct upf_peer_view peers[PEERS_MAX];
	unsigned nb;

	if (upf == NULL)
		return -ENOENT;
	nb = upf_control_peers(upf->control, peers, PEERS_MAX);
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < nb; i++) {
		const struct upf_peer_key *k = &peers[i].key;
		char ip[INET6_ADDRSTRLEN], text[RTE_TEL_MAX_STRING_LEN];

		upf_telemetry_address(k->ip, k->octets, ip);
		snprintf(text, sizeof(text), "%s port %u by %s, %u uses", ip, k->port,
			 upf->net->links[k->interface].name, peers[i].refs);
		rte_tel_data_add_array_string(d, text);
	}
	return 0;
}

static int
tell_pools(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	struct upf *upf = upf_telemetry_find(run, params, NULL, 0);
	const struct upf_index_head *h;

	if (upf == NULL)
		return -ENOENT;
	h = upf_index_head(upf->index);
	rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < h->nb_pools; i++) {
		const struct upf_pool_table *p = &h->pools[i];
		uint8_t ip[16] = {0};
		/* An IPv4 mask has the upper 32 bits of the 64 too. */
		int bits = __builtin_popcountll(p->mask) - (p->ip6 ? 0 : 32);
		char text[RTE_TEL_MAX_STRING_LEN], address[INET6_ADDRSTRLEN];

		for (unsigned o = 0; o < (p->ip6 ? 8 : 4); o++)
			ip[o] = (uint8_t)(p->base >> (8 * ((p->ip6 ? 7 : 3) - o)));
		upf_telemetry_address(ip, p->ip6 ? 16 : 4, address);
		snprintf(text, sizeof(text), "%s/%d on %s", address, bits,
			 upf->net->links[p->interface].name);
		rte_tel_data_add_array_string(d, text);
	}
	return 0;
}

/* --- owner ------------------------------------------------------------------------------------ */

/** Looks an address up on every interface: the agent's pools are of one or several. */
static uint32_t
handle_of_address(const struct upf *upf, const uint8_t *ip, int octets)
{
	uint32_t handle = 0, ip4;

	for (unsigned i = 1; i <= upf->net->nb_links && handle == 0; i++) {
		memcpy(&ip4, ip, sizeof(ip4));
		handle = octets == 4 ? upf_index_ip4(upf->index, i, ip4)
				     : upf_index_ip6(upf->index, i, ip);
	}
	return handle;
}

static int
tell_owner(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	char what[64], text[32], *end;
	struct upf *upf = upf_telemetry_find(run, params, what, sizeof(what));
	uint8_t ip[16], bits;
	uint32_t handle, bucket;
	int octets;

	if (upf == NULL)
		return -ENOENT;
	if (what[0] == '\0')
		return ap_telemetry_refuse("of which address or TEID?");
	octets = ap_config_prefix(what, ip, &bits);
	if (octets > 0) {
		handle = handle_of_address(upf, ip, octets);
		bucket = octets == 4 ? upf_bucket_ip4(ip) : upf_bucket_prefix6(ip);
	} else {
		uint32_t teid = (uint32_t)strtoul(what, &end, 0), foreign;

		if (*end != '\0')
			return ap_telemetry_refuse("'%s' is neither an address nor a TEID", what);
		foreign = upf_index_foreign(upf->index, teid);
		handle = foreign ? foreign : teid;
		bucket = upf_teid_bucket(handle);
	}
	if (handle)
		bucket = upf_teid_bucket(handle);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "bucket", (int)bucket);
	rte_tel_data_add_dict_int(d, "worker", upf->owners.worker[bucket]);
	if (handle) {
		snprintf(text, sizeof(text), "%08x", handle);
		rte_tel_data_add_dict_string(d, "handle", text);
	}
	return 0;
}

RTE_INIT(upf_telemetry_register)
{
	ap_telemetry_add("/airpath/upf/info", tell_info, "Sessions, requests, events: [UPF].");
	ap_telemetry_add("/airpath/upf/workers", tell_workers, "Each worker of a upf: [UPF].");
	ap_telemetry_add("/airpath/upf/sessions", tell_sessions, "Ids of sessions: [AFTER[,UPF]].");
	ap_telemetry_add("/airpath/upf/owner", tell_owner,
			 "Who owns a UE's address or a TEID: WHAT[,UPF].");
	ap_telemetry_add("/airpath/upf/peers", tell_peers, "GTP-U peers in use: [UPF].");
	ap_telemetry_add("/airpath/upf/pools", tell_pools, "UE address pools: [UPF].");
}
