/* SPDX-License-Identifier: BSD-3-Clause */
/** Role `gnb_header`: its object, see gnb.h. */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_edge.h"
#include "modules/gnb/gnb_role.h"
#include "modules/p4/p4_host.h"

static unsigned
gnb_count(const struct ap_config *cfg)
{
	return cfg->gnb_header_count;
}

static int
edge_make(struct ap_run *run, struct gnb *gnb, unsigned serial, struct ap_error *err)
{
	const char *ports[UPF_INTERFACES_MAX];
	const unsigned nb = gnb_rx_ports(gnb->cfg, 0, ports);
	int rc = gnb_edge_init(run, gnb, &gnb->cfg->edge, ports, nb, err);

	return rc < 0 ? rc : gnb_edge_workers(run, gnb, gnb->cfg->drbs_per_session, serial, err);
}

static void
nodes_bind(struct ap_run *run, const struct gnb *gnb)
{
	ap_run_bind(run, gnb->cfg->edge.name, (void *)(uintptr_t)gnb);
	for (unsigned k = 0; k < gnb->edge.nb_workers; k++) {
		const char *ports[UPF_INTERFACES_MAX];
		const unsigned nb = gnb_rx_ports(gnb->cfg, k, ports);

		gnb_plan_node(run->plan, gnb->cfg, "control", NULL, k)->arg = &gnb->ctx[k];
		for (unsigned p = 0; p < nb; p++)
			gnb_plan_node(run->plan, gnb->cfg, "in", ports[p], k)->arg =
				(void *)(intptr_t)(gnb->cfg->vfs_count ? -1 : (int)p);
	}
}

static struct gnb_control *
control_make(struct gnb *gnb, struct ap_error *err)
{
	struct gnb_control_cfg c = gnb_edge_control(gnb);

	c.split_pdcp = gnb->cfg->split == AP_GNB_SPLIT_PDCP;
	c.offload = gnb->offload;
	c.arg = gnb->offload_arg;
	c.offload_percent = gnb->offload_percent;
	return gnb_control_create(&c, err);
}

static int
gnb_start(void *obj, struct ap_error *err)
{
	struct gnb *gnb = obj;

	gnb->control = control_make(gnb, err);
	return gnb->control ? gnb_control_start(gnb->control, err) : -EINVAL;
}

static void
gnb_quiesce(void *obj)
{
	struct gnb *gnb = obj;

	if (gnb->control)
		gnb_control_stop(gnb->control);
}

static void
gnb_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct gnb *gnb = obj;

	(void)seconds;
	fprintf(f, json ? "{\"role\": \"%s\", " : "%s: ", gnb->cfg->edge.name);
	gnb_edge_report(gnb, f, json);
	fputs(json ? "}" : "\n", f);
}

static void
gnb_destroy(void *obj)
{
	struct gnb *gnb = obj;

	gnb_control_destroy(gnb->control);
	gnb_edge_fini(gnb);
	rte_free(gnb);
}

static void *
gnb_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_gnb_header *cfg = &run->cfg->gnb_header[i];
	struct gnb *gnb = rte_zmalloc("gnb", sizeof(*gnb), RTE_CACHE_LINE_SIZE);

	if (gnb == NULL) {
		ap_error_set(err, "%s: gnb_header %s: out of memory", run->cfg->path,
			     cfg->edge.name);
		return NULL;
	}
	gnb->cfg = cfg;
	if ((cfg->vfs_count && p4_host_init() < 0) ||
	    edge_make(run, gnb, run->serial * AP_RUN_ROLES_MAX + i, err) < 0) {
		ap_error_set(err, "%s: gnb_header %s: out of memory", run->cfg->path,
			     cfg->edge.name);
		gnb_destroy(gnb);
		return NULL;
	}
	nodes_bind(run, gnb);
	return gnb;
}

static const struct ap_role_type gnb_header = {
	.kind = "gnb_header",
	.count = gnb_count,
	.plan = gnb_plan,
	.placed = gnb_placed,
	.build = gnb_build,
	.start = gnb_start,
	.quiesce = gnb_quiesce,
	.report = gnb_report,
	.destroy = gnb_destroy,
};

AP_ROLE_REGISTER(gnb_header)
