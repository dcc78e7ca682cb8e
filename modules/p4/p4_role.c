/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Role `smartnic`: the emulation of a SmartNIC between a wire and the virtual functions of a
 * gnb_header.
 *
 *   wire_rx → wire ─┬→ wire_tx          vf<k>_rx → host ─→ wire_tx, vf<k>_tx
 *                   └→ vf<k>_tx         control
 *
 * All of it but rx and tx nodes is on one lcore: a program has one thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "core/role.h"
#include "core/run.h"
#include "modules/gnb/gnb.h"
#include "modules/p4/p4_nic.h"

#define MBUFS 4095
#define ROOM 2048
#define EDGE_VF 1

struct smartnic {
	struct ap_run *run;
	const struct ap_cfg_smartnic *cfg;
	struct p4_nic *nic;
	struct gnb *gnb;
};

static unsigned
nic_count(const struct ap_config *cfg)
{
	return cfg->smartnic_count;
}

static const struct ap_cfg_gnb_header *
gnb_of_cfg(const struct ap_config *cfg, const char *name, unsigned *index)
{
	for (unsigned i = 0; i < cfg->gnb_header_count; i++) {
		if (strcmp(cfg->gnb_header[i].edge.name, name) != 0)
			continue;
		*index = i;
		return &cfg->gnb_header[i];
	}
	return NULL;
}

static struct ap_plan_node *
port_add(struct ap_plan *p, const struct ap_cfg_smartnic *c, const char *what, unsigned k, bool tx,
	 const char *port, struct ap_error *err)
{
	char name[16];

	if (c->vfs_count <= k)
		snprintf(name, sizeof(name), "%s_%s", what, tx ? "tx" : "rx");
	else
		snprintf(name, sizeof(name), "%s%u_%s", what, k, tx ? "tx" : "rx");
	return ap_plan_add_port(p, c->name, name, tx ? "port_tx" : "port_rx", port, err);
}

static int
nic_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_smartnic *c = &p->cfg->smartnic[i];
	struct ap_plan_node *rx = port_add(p, c, "wire", UINT32_MAX, false, c->wire, err), *tx;
	struct ap_plan_node *wire =
		ap_plan_add(p, c->name, "wire", "p4_pipeline", P4_SIDE_WIRE, err);
	struct ap_plan_node *host = ap_plan_add(p, c->name, "host", "p4_pipeline", P4_SIDE_VF, err);
	struct ap_plan_node *control = ap_plan_add(p, c->name, "control", "p4_control", 0, err);

	tx = port_add(p, c, "wire", UINT32_MAX, true, c->wire, err);
	if (!rx || !tx || !wire || !host || !control)
		return -EINVAL;
	ap_plan_link(rx, 0, wire);
	ap_plan_link(control, 0, wire);
	ap_plan_link(wire, 0, tx);
	ap_plan_link(host, 0, tx);
	for (unsigned k = 0; k < c->vfs_count; k++) {
		rx = port_add(p, c, "vf", k, false, c->vfs[k], err);
		tx = rx ? port_add(p, c, "vf", k, true, c->vfs[k], err) : NULL;
		if (tx == NULL)
			return -EINVAL;
		ap_plan_link(rx, 0, host);
		ap_plan_link(wire, (uint8_t)(EDGE_VF + k), tx);
		ap_plan_link(host, (uint8_t)(EDGE_VF + k), tx);
	}
	return 0;
}

static int
nic_placed(const struct ap_plan *p, unsigned i, struct ap_error *err)
{
	static const char *const names[] = {"wire", "host", "control"};
	const struct ap_cfg_smartnic *c = &p->cfg->smartnic[i];
	const struct ap_plan_node *n[RTE_DIM(names)];

	for (unsigned k = 0; k < RTE_DIM(names); k++) {
		char name[AP_NAME_LEN];

		snprintf(name, sizeof(name), "%s.%s", c->name, names[k]);
		n[k] = ap_plan_find(p, name);
		if (ap_plan_together(p, n[0], n[k], "a SmartNIC's program runs on one lcore", err) <
		    0)
			return -EINVAL;
	}
	return 0;
}

/** Interfaces and addresses of the gNB: the program takes what is for their first IPv4 one. */
static void
interfaces_fill(struct p4_cfg *to, const struct ap_cfg_upf *edge)
{
	for (unsigned i = 0; i < edge->interfaces_count; i++) {
		const struct ap_cfg_upf_interface *in = &edge->interfaces[i];
		struct p4_interface f = {.n3 = in->side == AP_GNB_N3};
		bool first = true;

		ap_config_mac(in->mac, f.mac);
		for (unsigned a = 0; a < in->addresses_count; a++) {
			uint8_t address[16], bits;

			if (ap_config_prefix(in->addresses[a], address, &bits) != 4)
				continue;
			memcpy(&f.ip4, address, 4);
			if (to->nb_own < P4_OWN_MAX)
				to->own[to->nb_own++] = f.ip4;
			if (first && in->vlan == 0 && to->nb_interfaces < P4_INTERFACES_MAX)
				to->interfaces[to->nb_interfaces++] = f;
			first = false;
		}
	}
}

static void
nic_destroy(void *obj)
{
	struct smartnic *s = obj;

	p4_nic_destroy(s->nic);
	rte_free(s);
}

static int
offload(void *arg, unsigned percent)
{
	return p4_nic_offload(arg, percent);
}

static void *
nic_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_smartnic *c = &run->cfg->smartnic[i];
	unsigned index = 0;
	const struct ap_cfg_gnb_header *g = gnb_of_cfg(run->cfg, c->gnb, &index);
	struct smartnic *s = rte_zmalloc("smartnic", sizeof(*s), RTE_CACHE_LINE_SIZE);
	struct p4_nic_cfg cfg = {
		.program = {.name = c->name,
			    .sessions = g->edge.sessions,
			    .drb_shift = (unsigned)__builtin_ctz(g->drbs_per_session),
			    .nb_vfs = c->vfs_count,
			    .socket = SOCKET_ID_ANY},
		.by_mark = c->mark == AP_SMARTNIC_MARK_SENDER,
		.offload_percent = c->offload_percent,
		.serial = run->serial * AP_RUN_ROLES_MAX + i,
	};

	interfaces_fill(&cfg.program, &g->edge);
	cfg.program.pool = ap_run_pool(run, "smartnic", MBUFS, ROOM, err);
	if (s == NULL || cfg.program.pool == NULL) {
		ap_error_set(err, "%s: smartnic %s: out of memory", run->cfg->path, c->name);
		rte_free(s);
		return NULL;
	}
	s->run = run;
	s->cfg = c;
	s->gnb = ap_run_role(run, "gnb_header", index); /* roles are built by kind's name */
	s->nic = p4_nic_create(&cfg, err);
	if (s->nic == NULL) {
		rte_free(s);
		return NULL;
	}
	s->gnb->offload = offload;
	s->gnb->offload_arg = s->nic;
	s->gnb->offload_percent = c->offload_percent;
	ap_run_bind(run, c->name, s->nic);
	return s;
}

/** From here on the tables follow the gNB's contexts; those it has already go in now. */
static int
nic_start(void *obj, struct ap_error *err)
{
	struct smartnic *s = obj;
	const struct gnb_table *t = s->gnb->table;

	(void)err;
	for (unsigned k = 0; k < s->gnb->edge.nb_workers; k++) {
		s->gnb->ctx[k].changed = p4_nic_changed;
		s->gnb->ctx[k].changed_arg = &s->nic->feeds[k];
	}
	for (uint32_t i = 0; i < t->capacity; i++) {
		if (t->sessions[i].teid == 0)
			continue;
		p4_nic_feed(s->nic, t, t->sessions[i].teid);
		p4_nic_poll(s->nic);
	}
	p4_nic_peers(s->nic, s->gnb->edge.net, &s->gnb->edge.peers);
	return 0;
}

static void
nic_poll(void *obj)
{
	struct smartnic *s = obj;

	p4_nic_peers(s->nic, s->gnb->edge.net, &s->gnb->edge.peers);
}

static void
nic_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct smartnic *s = obj;
	const struct p4_nic *nic = s->nic;

	(void)seconds;
	fprintf(f,
		json ? "{\"role\": \"%s\", \"smartnic\": \"emulation rte_swx\", \"changes\": "
		       "%" PRIu64 ", \"no_space\": %" PRIu64 ", \"behind\": %s}"
		     : "%s: smartnic: emulation rte_swx; changes of contexts %" PRIu64
		       ", no room in tables %" PRIu64 ", changes lost: %s\n",
		s->cfg->name, nic->changes, nic->no_space,
		nic->behind ? json ? "true" : "yes, all to the host since"
		: json      ? "false"
			    : "no");
}

static const struct ap_role_type smartnic = {
	.kind = "smartnic",
	.count = nic_count,
	.plan = nic_plan,
	.placed = nic_placed,
	.build = nic_build,
	.start = nic_start,
	.poll = nic_poll,
	.report = nic_report,
	.destroy = nic_destroy,
};

AP_ROLE_REGISTER(smartnic)
