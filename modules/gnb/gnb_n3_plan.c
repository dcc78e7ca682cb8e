/* SPDX-License-Identifier: BSD-3-Clause */
/** Nodes of the N3 side of role `gnb`, see gnb_n3.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "modules/gnb/gnb_n3_impl.h"
#include "modules/upf/upf_role.h"

#define EDGE_OUT 0 /* of port_rx, copy and gnb_bearer */

static const char *const types[GNB_N3_NODES] = {
	[GNB_N3_DRB] = "gnb_drb", [GNB_N3_BEARER] = "gnb_bearer", [GNB_N3_TUNNEL] = "gnb_tunnel",
	[GNB_N3_OUT] = "upf_out", [GNB_N3_LOCAL] = "upf_local",   [GNB_N3_CONTROL] = "gnb_control",
};
static const char *const names[GNB_N3_NODES] = {
	[GNB_N3_DRB] = "drb", [GNB_N3_BEARER] = "bearer", [GNB_N3_TUNNEL] = "tunnel",
	[GNB_N3_OUT] = "out", [GNB_N3_LOCAL] = "local",   [GNB_N3_CONTROL] = "control",
};

struct ap_plan_node *
gnb_n3_port_node(const struct ap_plan *p, const struct ap_cfg_gnb *cfg, const char *node,
		 const char *port)
{
	char name[2 * AP_NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s_%s", cfg->l2.name, node, port);
	return ap_plan_find(p, name);
}

struct ap_plan_node *
gnb_n3_node(const struct ap_plan *p, const struct ap_cfg_gnb *cfg, unsigned node)
{
	char name[2 * AP_NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s", cfg->l2.name, names[node]);
	return ap_plan_find(p, name);
}

static struct ap_plan_node *
of_stack(const struct ap_plan *p, const struct ap_cfg_gnb *cfg, const char *node)
{
	char name[2 * AP_NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s", cfg->l2.name, node);
	return ap_plan_find(p, name);
}

/** What receives and sends on port `i`. */
static int
plan_port(struct ap_plan *p, const struct ap_cfg_gnb *cfg, unsigned i, const char *port,
	  struct ap_plan_node *const *n, struct ap_error *err)
{
	static const char *const nodes[] = {"rx", "in", "tx"};
	static const char *const of[] = {"port_rx", "gnb_in", "port_tx"};
	struct ap_plan_node *made[3];
	enum { RX, IN, TX };

	for (unsigned k = 0; k < RTE_DIM(nodes); k++) {
		char name[2 * AP_NAME_LEN];

		snprintf(name, sizeof(name), "%s_%s", nodes[k], port);
		made[k] = k == IN ? ap_plan_add(p, cfg->l2.name, name, of[k], 0, err)
				  : ap_plan_add_port(p, cfg->l2.name, name, of[k], port, err);
		if (made[k] == NULL)
			return -EINVAL;
	}
	ap_plan_link(made[RX], EDGE_OUT, made[IN]);
	ap_plan_link(made[IN], GNB_IN_DRB, n[GNB_N3_DRB]);
	ap_plan_link(made[IN], GNB_IN_LOCAL, n[GNB_N3_LOCAL]);
	ap_plan_link(n[GNB_N3_TUNNEL], (uint8_t)i, made[TX]);
	ap_plan_link(n[GNB_N3_OUT], (uint8_t)i, made[TX]);
	return 0;
}

int
gnb_n3_plan(struct ap_plan *p, const struct ap_cfg_gnb *cfg, struct ap_error *err)
{
	const char *ports[UPF_INTERFACES_MAX];
	const unsigned nb = upf_ports(&cfg->n3, ports);
	struct ap_plan_node *n[GNB_N3_NODES];

	for (unsigned i = 0; i < GNB_N3_NODES; i++) {
		n[i] = ap_plan_add(p, cfg->l2.name, names[i], types[i], 0, err);
		if (n[i] == NULL)
			return -EINVAL;
	}
	ap_plan_link(n[GNB_N3_CONTROL], 0, n[GNB_N3_DRB]);
	ap_plan_link(n[GNB_N3_DRB], GNB_DRB_DOWN, n[GNB_N3_BEARER]);
	ap_plan_link(n[GNB_N3_DRB], GNB_DRB_LOCAL, n[GNB_N3_LOCAL]);
	ap_plan_link(n[GNB_N3_DRB], GNB_DRB_OUT, n[GNB_N3_OUT]);
	ap_plan_link(n[GNB_N3_TUNNEL], GNB_HDR_OUT, n[GNB_N3_OUT]);
	ap_plan_link(n[GNB_N3_LOCAL], UPF_LOCAL_OUT, n[GNB_N3_OUT]);
	ap_plan_link(n[GNB_N3_LOCAL], UPF_LOCAL_STEER, n[GNB_N3_DRB]);
	ap_plan_link(n[GNB_N3_BEARER], EDGE_OUT, of_stack(p, cfg, "copy_ul_in"));
	ap_plan_link(of_stack(p, cfg, "copy_dl_out"), EDGE_OUT, n[GNB_N3_TUNNEL]);
	for (unsigned i = 0; i < nb; i++)
		if (plan_port(p, cfg, i, ports[i], n, err) < 0)
			return -EINVAL;
	return 0;
}

int
gnb_n3_placed(const struct ap_plan *p, const struct ap_cfg_gnb *cfg, struct ap_error *err)
{
	const struct ap_plan_node *drb = gnb_n3_node(p, cfg, GNB_N3_DRB);

	for (unsigned i = 0; i < GNB_N3_NODES; i++) {
		const struct ap_plan_node *one = gnb_n3_node(p, cfg, i);

		if (ap_plan_together(p, drb, one, "contexts belong to one lcore", err) < 0)
			return -EINVAL;
	}
	return 0;
}
