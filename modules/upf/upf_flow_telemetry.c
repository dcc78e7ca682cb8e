/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a running upf tells of flows and applications, U being its name (left out: the first):
 *   /airpath/upf/flows[,U]                  flow tables and scans, all workers together
 *   /airpath/upf/applications[,AFTER[,U]]   the rules in force, and flows of each application with
 *                                           an index above AFTER, up to 200
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "core/telemetry.h"
#include "modules/upf/upf_control.h"
#include "modules/upf/upf_flow.h"
#include "modules/upf/upf_flow_totals.h"
#include "modules/upf/upf_role.h"
#include "modules/upf/upf_scans.h"
#include "modules/upf/upf_telemetry.h"

#define APPS_MAX 200

void
upf_flow_totals(const struct upf *upf, struct upf_flow_totals *t)
{
	*t = (struct upf_flow_totals){0};
	for (unsigned k = 0; k < upf->nb_workers; k++) {
		const struct upf_flows *f = upf->workers[k].flows;
		const struct upf_scans *s = upf->workers[k].scans;

		t->entries += (uint64_t)f->nb_buckets * UPF_FLOW_WAYS;
		t->bytes += f->bytes;
		t->scan_bytes += upf_scans_bytes(s);
		t->flows += f->stats.live;
		t->made += f->stats.made;
		t->evicted += f->stats.evicted;
		t->expired += f->stats.expired;
		t->crowded += f->stats.crowded;
		t->capped += f->stats.capped;
		t->scanning += s->used;
		t->scans += s->stats.scans;
		t->packets += s->stats.packets;
		t->robbed += s->stats.robbed;
		t->nameless += s->stats.nameless;
		for (unsigned p = 0; p < DPI_PROTO_COUNT; p++) {
			t->found[p] += s->stats.found[p];
			t->bad[p] += s->stats.bad[p];
		}
	}
}

static int
tell_flows(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	static const char *const protocols[DPI_PROTO_COUNT] = {
		[DPI_HTTP] = "http", [DPI_TLS] = "tls", [DPI_DNS] = "dns", [DPI_QUIC] = "quic"};
	struct upf *upf = upf_telemetry_find(run, params, NULL, 0);
	struct upf_flow_totals t;
	char name[32];

	if (upf == NULL)
		return -ENOENT;
	upf_flow_totals(upf, &t);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_u64(d, "flows", t.flows);
	rte_tel_data_add_dict_u64(d, "entries", t.entries);
	rte_tel_data_add_dict_u64(d, "bytes", t.bytes);
	rte_tel_data_add_dict_u64(d, "new", t.made);
	rte_tel_data_add_dict_u64(d, "evicted", t.evicted);
	rte_tel_data_add_dict_u64(d, "expired", t.expired);
	rte_tel_data_add_dict_u64(d, "packets_without_entry_crowded", t.crowded);
	rte_tel_data_add_dict_u64(d, "packets_without_entry_capped", t.capped);
	rte_tel_data_add_dict_u64(d, "scanning", t.scanning);
	rte_tel_data_add_dict_u64(d, "scan_bytes", t.scan_bytes);
	rte_tel_data_add_dict_u64(d, "scans", t.scans);
	rte_tel_data_add_dict_u64(d, "scanned_packets", t.packets);
	rte_tel_data_add_dict_u64(d, "scans_robbed", t.robbed);
	rte_tel_data_add_dict_u64(d, "nameless", t.nameless);
	for (unsigned p = DPI_PROTO_NONE + 1; p < DPI_PROTO_COUNT; p++) {
		rte_tel_data_add_dict_u64(d, protocols[p], t.found[p]);
		snprintf(name, sizeof(name), "%s_bad", protocols[p]);
		rte_tel_data_add_dict_u64(d, name, t.bad[p]);
	}
	return 0;
}

static void
tell_view(const struct upf_apps_view *v, struct rte_tel_data *d)
{
	rte_tel_data_add_dict_u64(d, "generation", v->generation);
	rte_tel_data_add_dict_string(d, "building", v->building ? "yes" : "no");
	rte_tel_data_add_dict_u64(d, "sets_refused", v->refused);
	if (v->refused > 0)
		rte_tel_data_add_dict_string(d, "last_error", v->error);
	rte_tel_data_add_dict_u64(d, "applications", v->applications);
	rte_tel_data_add_dict_u64(d, "rules", v->rules);
	rte_tel_data_add_dict_u64(d, "memory_bytes", v->memory_bytes);
	rte_tel_data_add_dict_u64(d, "build_ms", v->build_ms);
	rte_tel_data_add_dict_u64(d, "hosts", v->figures.hosts);
	rte_tel_data_add_dict_u64(d, "suffixes", v->figures.suffixes);
	rte_tel_data_add_dict_u64(d, "literals", v->figures.literals);
	rte_tel_data_add_dict_u64(d, "expressions", v->figures.expressions);
	rte_tel_data_add_dict_u64(d, "headers", v->figures.flows);
}

static int
tell_applications(struct ap_run *run, const char *params, struct rte_tel_data *d)
{
	char after[16];
	struct upf *upf = upf_telemetry_find(run, params, after, sizeof(after));
	struct upf_app_view apps[APPS_MAX];
	struct rte_tel_data *list;
	struct upf_apps_view view;
	unsigned nb;

	if (upf == NULL)
		return -ENOENT;
	list = rte_tel_data_alloc();
	if (list == NULL)
		return -ENOMEM;
	nb = upf_control_applications(upf->control, (uint32_t)strtoul(after, NULL, 0), &view, apps,
				      APPS_MAX);
	rte_tel_data_start_dict(d);
	tell_view(&view, d);
	rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < nb; i++) {
		char text[RTE_TEL_MAX_STRING_LEN];

		snprintf(text, sizeof(text), "%u %s %" PRIu64, apps[i].index, apps[i].id,
			 apps[i].flows);
		rte_tel_data_add_array_string(list, text);
	}
	rte_tel_data_add_dict_container(d, "flows", list, 0);
	return 0;
}

RTE_INIT(upf_flow_telemetry_register)
{
	ap_telemetry_add("/airpath/upf/flows", tell_flows, "Flow tables and scans: [UPF].");
	ap_telemetry_add("/airpath/upf/applications", tell_applications,
			 "Applications and their flows: [AFTER[,UPF]].");
}
