/* SPDX-License-Identifier: BSD-3-Clause */
/** Nodes of role `upf`, see upf.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "modules/upf/upf.h"
#include "modules/upf/upf_out.h"
#include "modules/upf/upf_role.h"

#define EDGE_RX_OUT 0

/** What a plan of one role needs at every step. */
struct making {
	struct ap_plan *p;
	const struct ap_cfg_upf *cfg;
	struct ap_error *err;
	const char *ports[UPF_INTERFACES_MAX]; /**< in the order of upf->ports */
	unsigned nb_ports;
};

unsigned
upf_ports(const struct ap_cfg_upf *cfg, const char *ports[UPF_INTERFACES_MAX])
{
	unsigned nb = 0;

	for (unsigned i = 0; i < cfg->interfaces_count; i++) {
		unsigned j = 0;

		while (j < nb && strcmp(ports[j], cfg->interfaces[i].port) != 0)
			j++;
		if (j == nb)
			ports[nb++] = cfg->interfaces[i].port;
	}
	return nb;
}

struct ap_plan_node *
upf_plan_node(const struct ap_plan *p, const struct ap_cfg_upf *cfg, const char *node,
	      const char *port, char kind, unsigned index)
{
	char name[AP_NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s%s%s_%c%u", cfg->name, node, port ? "_" : "",
		 port ? port : "", kind, index);
	return ap_plan_find(p, name);
}

/** Node `<node>[_<port>]_<kind><index>`; NULL after an error, also an earlier one. */
static struct ap_plan_node *
add(struct making *m, const char *node, const char *type, const char *port, char kind,
    unsigned index)
{
	char name[2 * AP_NAME_LEN];

	if (m->err->text[0] != '\0')
		return NULL;
	snprintf(name, sizeof(name), "%s%s%s_%c%u", node, port ? "_" : "", port ? port : "", kind,
		 index);
	if (strncmp(type, "port_", 5) == 0)
		return ap_plan_add_queue(m->p, m->cfg->name, name, type, port, index, m->err);
	return ap_plan_add(m->p, m->cfg->name, name, type, index, m->err);
}

static struct ap_plan_node *
find(const struct making *m, const char *node, const char *port, char kind, unsigned index)
{
	return upf_plan_node(m->p, m->cfg, node, port, kind, index);
}

static void
link(struct making *m, struct ap_plan_node *from, uint8_t edge, struct ap_plan_node *to)
{
	if (m->err->text[0] == '\0')
		ap_plan_link(from, edge, to);
}

/** What works on sessions and what sends. */
static void
plan_worker(struct making *m, unsigned k)
{
	static const struct {
		const char *node, *type;
	} nodes[] = {
		{"steer", "upf_steer"},   {"match", "upf_match"},     {"police", "upf_police"},
		{"charge", "upf_charge"}, {"forward", "upf_forward"}, {"out", "upf_out"},
		{"local", "upf_local"},   {"control", "upf_control"}, {"redirect", "upf_redirect"},
		{"flow", "upf_flow"},
	};
	struct ap_plan_node *n[RTE_DIM(nodes)], *tx;
	enum { STEER, MATCH, POLICE, CHARGE, FORWARD, OUT, LOCAL, CONTROL, REDIRECT, FLOW };

	for (unsigned i = 0; i < RTE_DIM(nodes); i++)
		n[i] = add(m, nodes[i].node, nodes[i].type, NULL, 'w', k);
	link(m, n[MATCH], UPF_MATCH_POLICE, n[POLICE]);
	link(m, n[MATCH], UPF_MATCH_LOCAL, n[LOCAL]);
	link(m, n[MATCH], UPF_MATCH_FLOW, n[FLOW]);
	link(m, n[FLOW], UPF_FLOW_POLICE, n[POLICE]);
	link(m, n[POLICE], UPF_POLICE_CHARGE, n[CHARGE]);
	link(m, n[CHARGE], UPF_CHARGE_FORWARD, n[FORWARD]);
	link(m, n[FORWARD], UPF_FORWARD_OUT, n[OUT]);
	link(m, n[FORWARD], UPF_FORWARD_REDIRECT, n[REDIRECT]);
	link(m, n[REDIRECT], UPF_REDIRECT_FORWARD, n[FORWARD]);
	link(m, n[REDIRECT], UPF_REDIRECT_STEER, n[STEER]);
	link(m, n[LOCAL], UPF_LOCAL_OUT, n[OUT]);
	link(m, n[OUT], UPF_OUT_STEER, n[STEER]);
	link(m, n[LOCAL], UPF_LOCAL_STEER, n[STEER]);
	link(m, n[CONTROL], UPF_CONTROL_OUT, n[OUT]);
	link(m, n[CONTROL], UPF_CONTROL_FORWARD, n[FORWARD]);
	for (unsigned i = 0; i < m->nb_ports; i++) {
		tx = add(m, "tx", "port_tx", m->ports[i], 'w', k);
		link(m, n[OUT], (uint8_t)i, tx);
	}
}

/** What receives: worker `index`, or dispatcher `index`, which has a steer of its own. */
static void
plan_receiver(struct making *m, char kind, unsigned index)
{
	struct ap_plan_node *steer, *local, *rx, *in;

	steer = kind == 'd' ? add(m, "steer", "upf_steer", NULL, 'd', index)
			    : find(m, "steer", NULL, 'w', index);
	local = find(m, "local", NULL, 'w', index % m->cfg->workers);
	for (unsigned i = 0; i < m->nb_ports; i++) {
		rx = add(m, "rx", "port_rx", m->ports[i], kind, index);
		in = add(m, "in", "upf_in", m->ports[i], kind, index);
		link(m, rx, EDGE_RX_OUT, in);
		link(m, in, UPF_IN_STEER, steer);
		link(m, in, UPF_IN_LOCAL, local);
	}
}

/** Hand-offs: every steer reaches every worker's match. */
static void
plan_steers(struct making *m, char kind, unsigned nb)
{
	for (unsigned k = 0; k < nb; k++)
		for (unsigned w = 0; w < m->cfg->workers; w++)
			link(m, find(m, "steer", NULL, kind, k), (uint8_t)w,
			     find(m, "match", NULL, 'w', w));
}

int
upf_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	struct making m = {.p = p, .cfg = &p->cfg->upf[i], .err = err};
	unsigned dispatchers = m.cfg->dispatchers;

	m.nb_ports = upf_ports(m.cfg, m.ports);
	for (unsigned k = 0; k < m.cfg->workers; k++)
		plan_worker(&m, k);
	for (unsigned k = 0; k < (dispatchers ? dispatchers : m.cfg->workers); k++)
		plan_receiver(&m, dispatchers ? 'd' : 'w', k);
	plan_steers(&m, 'w', m.cfg->workers);
	plan_steers(&m, 'd', dispatchers);
	return err->text[0] == '\0' ? 0 : -EINVAL;
}

/** What works on a worker's sessions has no locks: one lcore has all of it. */
int
upf_placed(const struct ap_plan *p, unsigned i, struct ap_error *err)
{
	static const char *const nodes[] = {"flow",    "police", "charge", "forward",
					    "control", "out",    "local",  "redirect"};
	const struct ap_cfg_upf *cfg = &p->cfg->upf[i];

	for (unsigned k = 0; k < cfg->workers; k++) {
		const struct ap_plan_node *match = upf_plan_node(p, cfg, "match", NULL, 'w', k);

		for (unsigned n = 0; n < RTE_DIM(nodes); n++) {
			const struct ap_plan_node *one =
				upf_plan_node(p, cfg, nodes[n], NULL, 'w', k);

			if (ap_plan_together(p, match, one,
					     "a worker's sessions belong to one lcore", err) < 0)
				return -EINVAL;
		}
	}
	return 0;
}
