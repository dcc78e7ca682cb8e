/* SPDX-License-Identifier: BSD-3-Clause */
/** Nodes of role `gnb_header`, see gnb.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "modules/gnb/gnb_role.h"
#include "modules/p4/p4_host.h"
#include "modules/upf/upf_out.h"
#include "modules/upf/upf_role.h"

#define EDGE_RX_OUT 0

/** What a plan of one role needs at every step. */
struct making {
	struct ap_plan *p;
	const struct ap_cfg_gnb_header *cfg;
	struct ap_error *err;
};

unsigned
gnb_rx_ports(const struct ap_cfg_gnb_header *cfg, unsigned worker,
	     const char *ports[UPF_INTERFACES_MAX])
{
	if (cfg->vfs_count == 0)
		return upf_ports(&cfg->edge, ports);
	ports[0] = cfg->vfs[worker];
	return 1;
}

struct ap_plan_node *
gnb_plan_node(const struct ap_plan *p, const struct ap_cfg_gnb_header *cfg, const char *node,
	      const char *port, unsigned index)
{
	return upf_plan_node(p, &cfg->edge, node, port, 'w', index);
}

/** Node `<node>[_<port>]_w<index>`; NULL after an error, also an earlier one. */
static struct ap_plan_node *
add(struct making *m, const char *node, const char *type, const char *port, unsigned index)
{
	const char *role = m->cfg->edge.name;
	char name[2 * AP_NAME_LEN];

	if (m->err->text[0] != '\0')
		return NULL;
	snprintf(name, sizeof(name), "%s%s%s_w%u", node, port ? "_" : "", port ? port : "", index);
	if (strncmp(type, "port_", 5) == 0) /* a virtual function has one queue */
		return ap_plan_add_queue(m->p, role, name, type, port,
					 m->cfg->vfs_count ? 0 : index, m->err);
	return ap_plan_add(m->p, role, name, type, index, m->err);
}

static void
link(struct making *m, struct ap_plan_node *from, uint8_t edge, struct ap_plan_node *to)
{
	if (m->err->text[0] == '\0')
		ap_plan_link(from, edge, to);
}

/** A SmartNIC is on the way in, and hands bearers over: modules/p4. */
static void
plan_vf(struct making *m, unsigned k, struct ap_plan_node *rx, struct ap_plan_node *in,
	struct ap_plan_node *hdr_tx, struct ap_plan_node *tx)
{
	struct ap_plan_node *vf = add(m, "vf", "p4_vf", NULL, k);
	struct ap_plan_node *inject = add(m, "inject", "p4_inject", NULL, k);

	link(m, rx, EDGE_RX_OUT, vf);
	link(m, vf, P4_VF_IN, in);
	link(m, vf, P4_VF_PORT, tx);
	link(m, hdr_tx, GNB_HDR_NIC, inject);
	link(m, inject, P4_INJECT_PORT, tx);
}

static void
plan_worker(struct making *m, unsigned k)
{
	static const struct {
		const char *node, *type;
	} nodes[] = {
		{"drb", "gnb_drb"},     {"hdr_tx", "gnb_hdr_tx"}, {"hdr_rx", "gnb_hdr_rx"},
		{"out", "upf_out"},     {"local", "upf_local"},   {"control", "gnb_control"},
		{"steer", "gnb_steer"},
	};
	enum { DRB, TX, RX, OUT, LOCAL, CONTROL, STEER, NODES };
	const char *ports[UPF_INTERFACES_MAX];
	const unsigned nb = gnb_rx_ports(m->cfg, k, ports);
	const bool steer = m->cfg->edge.workers > 1;
	struct ap_plan_node *n[NODES] = {NULL}, *first, *tx[UPF_INTERFACES_MAX];

	for (unsigned i = 0; i < (steer ? NODES : STEER); i++)
		n[i] = add(m, nodes[i].node, nodes[i].type, NULL, k);
	first = steer ? n[STEER] : n[DRB];
	link(m, n[CONTROL], 0, n[DRB]);
	link(m, n[DRB], GNB_DRB_DOWN, n[TX]);
	link(m, n[DRB], GNB_DRB_UP, n[RX]);
	link(m, n[DRB], GNB_DRB_LOCAL, n[LOCAL]);
	link(m, n[DRB], GNB_DRB_OUT, n[OUT]);
	link(m, n[TX], GNB_HDR_OUT, n[OUT]);
	link(m, n[RX], GNB_HDR_OUT, n[OUT]);
	link(m, n[RX], GNB_HDR_LOCAL, n[LOCAL]);
	link(m, n[LOCAL], UPF_LOCAL_OUT, n[OUT]);
	link(m, n[LOCAL], UPF_LOCAL_STEER, first);
	for (unsigned i = 0; i < nb; i++) {
		struct ap_plan_node *rx = add(m, "rx", "port_rx", ports[i], k);
		struct ap_plan_node *in = add(m, "in", "gnb_in", ports[i], k);

		tx[i] = add(m, "tx", "port_tx", ports[i], k);
		if (m->cfg->vfs_count)
			plan_vf(m, k, rx, in, n[TX], tx[i]);
		else
			link(m, rx, EDGE_RX_OUT, in);
		link(m, in, GNB_IN_DRB, first);
		link(m, in, GNB_IN_LOCAL, n[LOCAL]);
	}
	/* By virtual functions every interface sends on the worker's own. */
	for (unsigned i = 0; i < (m->cfg->vfs_count ? m->cfg->edge.interfaces_count : nb); i++) {
		struct ap_plan_node *to = tx[m->cfg->vfs_count ? 0 : i];

		link(m, n[TX], (uint8_t)i, to);
		link(m, n[RX], (uint8_t)i, to);
		link(m, n[OUT], (uint8_t)i, to);
	}
}

int
gnb_plan(struct ap_plan *p, unsigned i, struct ap_error *err)
{
	struct making m = {.p = p, .cfg = &p->cfg->gnb_header[i], .err = err};
	const unsigned workers = m.cfg->edge.workers;

	for (unsigned k = 0; k < workers; k++)
		plan_worker(&m, k);
	for (unsigned k = 0; workers > 1 && k < workers; k++)
		for (unsigned w = 0; w < workers; w++)
			link(&m, gnb_plan_node(p, m.cfg, "steer", NULL, k), (uint8_t)w,
			     gnb_plan_node(p, m.cfg, "drb", NULL, w));
	return err->text[0] == '\0' ? 0 : -EINVAL;
}

/** What works on a worker's sessions has no locks: one lcore has all of it. */
int
gnb_placed(const struct ap_plan *p, unsigned i, struct ap_error *err)
{
	static const char *const nodes[] = {"hdr_tx", "hdr_rx", "out",    "local",
					    "vf",     "inject", "control"};
	const struct ap_cfg_gnb_header *cfg = &p->cfg->gnb_header[i];

	for (unsigned k = 0; k < cfg->edge.workers; k++) {
		const struct ap_plan_node *drb = gnb_plan_node(p, cfg, "drb", NULL, k);

		for (unsigned n = 0; n < RTE_DIM(nodes); n++) {
			const struct ap_plan_node *one = gnb_plan_node(p, cfg, nodes[n], NULL, k);

			if (one &&
			    ap_plan_together(p, drb, one, "a worker's sessions belong to one lcore",
					     err) < 0)
				return -EINVAL;
		}
	}
	return 0;
}
