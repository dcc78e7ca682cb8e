/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a running upf tells of a session, U being its name (left out: the first):
 *   /airpath/upf/session,ID[,U]   its rules and counters
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/upf/upf_control.h"
#include "modules/upf/upf_role.h"
#include "modules/upf/upf_rules.h"
#include "modules/upf/upf_tables.h"
#include "modules/upf/upf_telemetry.h"

#define RULES_MAX 64 /**< of a session that are told */

struct view_pdr {
	uint32_t id, precedence, teid, far, packets, bytes, flags;
};

struct view_urr {
	uint32_t id;
	uint64_t bytes[2], packets[2];
	bool quota_out;
};

struct view_gbr {
	uint32_t id;
	uint64_t yellow[2];
};

/** What its worker copies between two walks. */
struct view {
	const struct upf_worker *worker;
	uint64_t id;
	uint32_t handle;
	bool found;
	uint32_t version;
	uint8_t ue_ip4[4], ue_ip6[16];
	uint16_t nb_pdrs, nb_urrs, nb_fars, nb_qers, nb_gbrs, nb_tunnels;
	struct view_pdr pdrs[RULES_MAX];
	struct view_urr urrs[RULES_MAX];
	struct view_gbr gbrs[RULES_MAX];
};

static void
view_fill(struct view *v, const struct upf_session *s)
{
	const struct upf_rules *r = s->rules;

	v->found = true;
	v->version = r->version;
	memcpy(v->ue_ip4, r->ue_ip4, sizeof(r->ue_ip4));
	memcpy(v->ue_ip6, r->ue_ip6, sizeof(r->ue_ip6));
	v->nb_pdrs = r->nb_lanes;
	v->nb_urrs = r->accounts.nb_urrs;
	v->nb_fars = r->nb_fars;
	v->nb_qers = r->nb_qers;
	v->nb_tunnels = r->nb_tunnels;
	for (unsigned i = 0; i < r->nb_lanes && i < RULES_MAX; i++)
		v->pdrs[i] = (struct view_pdr){.id = r->pdrs[i].id,
					       .precedence = r->pdrs[i].precedence,
					       .teid = r->pdrs[i].teid,
					       .far = r->fars[r->pdrs[i].far].id,
					       .flags = s->lanes[i].flags};
	for (unsigned i = 0; i < r->accounts.nb_urrs && i < RULES_MAX; i++) {
		const struct upf_urr *u = &r->accounts.urrs[i];

		v->urrs[i].id = u->id;
		memcpy(v->urrs[i].bytes, u->usage.spent.bytes, sizeof(v->urrs[i].bytes));
		memcpy(v->urrs[i].packets, u->usage.packets, sizeof(v->urrs[i].packets));
		v->urrs[i].quota_out = u->flags & UPF_URR_EXHAUSTED;
	}
	for (unsigned i = 0; i < r->nb_qers && v->nb_gbrs < RULES_MAX; i++) {
		const struct upf_gbr *gbr = r->qers[i].gbr;

		if (gbr != NULL)
			v->gbrs[v->nb_gbrs++] = (struct view_gbr){
				.id = r->qers[i].id,
				.yellow = {gbr->yellow[UPF_UL], gbr->yellow[UPF_DL]}};
	}
}

static void
view_take(struct ap_worker *w, void *arg)
{
	struct view *v = arg;
	struct upf_session *s = upf_by_handle(v->worker->tables, v->handle);

	if (s == NULL || s->id != v->id)
		return;
	/* Lanes count ahead of their URRs. */
	upf_urr_look(upf_accounts_of(s), w->now_ns);
	view_fill(v, s);
}

static void
tell_rules(const struct view *v, struct rte_tel_data *pdrs, struct rte_tel_data *urrs,
	   struct rte_tel_data *gbrs)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	rte_tel_data_start_array(pdrs, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < v->nb_pdrs && i < RULES_MAX; i++) {
		const struct view_pdr *p = &v->pdrs[i];

		snprintf(text, sizeof(text), "PDR %u precedence %u %s%08x FAR %u%s%s%s%s", p->id,
			 p->precedence, p->teid ? "TEID " : "no tunnel ", p->teid, p->far,
			 p->flags & UPF_LANE_FORWARD ? " forward" : "",
			 p->flags & UPF_LANE_BUFFER ? " buffer" : "",
			 p->flags & UPF_LANE_GATE_CLOSED ? " gate closed" : "",
			 p->flags & UPF_LANE_QUOTA_OUT ? " quota used up" : "");
		rte_tel_data_add_array_string(pdrs, text);
	}
	rte_tel_data_start_array(urrs, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < v->nb_urrs && i < RULES_MAX; i++) {
		const struct view_urr *u = &v->urrs[i];

		snprintf(text, sizeof(text),
			 "URR %u up %" PRIu64 " octets %" PRIu64 " packets, down %" PRIu64
			 " octets %" PRIu64 " packets%s",
			 u->id, u->bytes[UPF_UL], u->packets[UPF_UL], u->bytes[UPF_DL],
			 u->packets[UPF_DL], u->quota_out ? ", quota used up" : "");
		rte_tel_data_add_array_string(urrs, text);
	}
	rte_tel_data_start_array(gbrs, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < v->nb_gbrs; i++) {
		const struct view_gbr *g = &v->gbrs[i];

		snprintf(text, sizeof(text),
			 "QER %u above its GBR up %" PRIu64 " octets, down %" PRIu64 " octets",
			 g->id, g->yellow[UPF_UL], g->yellow[UPF_DL]);
		rte_tel_data_add_array_string(gbrs, text);
	}
}

static int
tell_view(const struct view *v, struct rte_tel_data *d)
{
	struct rte_tel_data *pdrs = rte_tel_data_alloc(), *urrs = rte_tel_data_alloc(),
			    *gbrs = rte_tel_data_alloc();
	static const uint8_t none[16];
	char text[INET6_ADDRSTRLEN];

	if (pdrs == NULL || urrs == NULL || gbrs == NULL) {
		rte_tel_data_free(pdrs);
		rte_tel_data_free(urrs);
		rte_tel_data_free(gbrs);
		return -ENOMEM;
	}
	tell_rules(v, pdrs, urrs, gbrs);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "id", v->id);
	snprintf(text, sizeof(text), "%08x", v->handle);
	rte_tel_data_add_dict_string(d, "handle", text);
	rte_tel_data_add_dict_int(d, "bucket", (int)upf_teid_bucket(v->handle));
	rte_tel_data_add_dict_int(d, "worker", (int)v->worker->index);
	rte_tel_data_add_dict_int(d, "version", (int)v->version);
	if (memcmp(v->ue_ip4, none, 4) != 0) {
		upf_telemetry_address(v->ue_ip4, 4, text);
		rte_tel_data_add_dict_string(d, "ue_ip4", text);
	}
	if (memcmp(v->ue_ip6, none, 16) != 0) {
		upf_telemetry_address(v->ue_ip6, 16, text);
		rte_tel_data_add_dict_string(d, "ue_ip6", text);
	}
	rte_tel_data_add_dict_int(d, "tunnels", v->nb_tunnels);
	rte_tel_data_add_dict_int(d, "fars", v->nb_fars);
	rte_tel_data_add_dict_int(d, "qers", v->nb_qers);
	rte_tel_data_add_dict_container(d, "pdrs", pdrs, 0);
	rte_tel_data_add_dict_container(d, "urrs", urrs, 0);
	rte_tel_data_add_dict_container(d, "gbrs", gbrs, 0);
	return 0;
}

static int
tell_session(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	char id[32];
	struct upf *upf = upf_telemetry_find(run, params, id, sizeof(id));
	struct view v = {.id = strtoull(id, NULL, 0)};
	const struct ap_plan_node *node;
	unsigned k;
	int rc;

	if (upf == NULL)
		return -ENOENT;
	v.handle = upf_control_handle(upf->control, v.id);
	if (v.handle == 0)
		return ap_telemetry_refuse("there is no such session");
	k = upf_owner_of_teid(&upf->owners, v.handle);
	v.worker = &upf->workers[k];
	node = upf_plan_node(run->plan, upf->cfg, "control", NULL, 'w', k);
	rc = ap_worker_run(node->inst->worker, view_take, &v);
	if (rc < 0 || !v.found)
		return rc < 0 ? rc : ap_telemetry_refuse("there is no such session any more");
	return tell_view(&v, d);
}

RTE_INIT(upf_telemetry_session_register)
{
	ap_telemetry_add("/airpath/upf/session", tell_session, "One session: ID[,UPF].");
}
