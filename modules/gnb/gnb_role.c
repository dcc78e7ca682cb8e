/* SPDX-License-Identifier: BSD-3-Clause */
/** Role `gnb_header`: its object, see gnb.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_control.h"
#include "modules/gnb/gnb_frame.h"
#include "modules/gnb/gnb_role.h"
#include "modules/p4/p4_host.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_role.h"

#define HDR_MBUFS 16384
#define HDR_ROOM 128
#define PKT_MBUFS 8191
#define PKT_ROOM 2048
#define IND_MBUFS 16383
#define REPORTS 4096

static unsigned
gnb_count(const struct ap_config *cfg)
{
	return cfg->gnb_header_count;
}

static int
net_make(struct ap_run *run, struct gnb *gnb, struct ap_error *err)
{
	const struct ap_cfg_upf *cfg = gnb->edge.cfg;
	struct upf_net_cfg net = {.mtu_mode = UPF_MTU_FRAGMENT,
				  .opaque = true,
				  .error_indications_per_s = cfg->error_indications_s,
				  .reassembly_packets = cfg->reassembly_packets,
				  .reassembly_ms = cfg->reassembly_ms};
	const char *names[UPF_INTERFACES_MAX];
	struct ap_port **ports = gnb->edge.ports;

	gnb->edge.nb_ports = gnb_rx_ports(gnb->cfg, 0, names);
	for (unsigned p = 0; p < gnb->edge.nb_ports; p++)
		ports[p] = ap_run_port(run, names[p]);
	for (unsigned i = 0; i < cfg->interfaces_count; i++)
		gnb->side[i + 1] = (uint8_t)cfg->interfaces[i].side;
	net.pool = ap_run_pool(run, "upf", PKT_MBUFS, PKT_ROOM, err);
	net.indirect = net.pool ? ap_run_pool(run, "ind", IND_MBUFS, 0, err) : NULL;
	if (net.indirect == NULL)
		return -ENOMEM;
	gnb->edge.net = upf_interfaces_net(cfg, ports, &net, err);
	return gnb->edge.net ? upf_peers_init(&gnb->edge.peers, gnb->edge.net) : -EINVAL;
}

/** The port side of a worker, and its own. @return 0 or -ENOMEM. */
static int
worker_make(struct ap_run *run, struct gnb *gnb, unsigned k, unsigned serial, struct ap_error *err)
{
	struct upf_worker *w = &gnb->edge.workers[k];
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "gnb_edge%u.%u", serial, k);
	w->upf = &gnb->edge;
	w->index = k;
	w->reports = upf_report_ring(name, REPORTS, SOCKET_ID_ANY);
	w->hdr_pool = ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err);
	w->pkt_pool = gnb->edge.net->cfg.pool;
	gnb->ctx[k].edge_reports = w->reports;
	gnb->workers[k].frames = rte_zmalloc("gnb_frames", UPF_PEERS_MAX * sizeof(struct gnb_frame),
					     _Alignof(struct gnb_frame));
	return w->reports && w->hdr_pool && gnb->workers[k].frames ? 0 : -ENOMEM;
}

static int
workers_make(struct ap_run *run, struct gnb *gnb, unsigned serial, struct ap_error *err)
{
	const unsigned nb = gnb->edge.nb_workers;

	gnb->table = gnb_table_create(gnb->edge.cfg->sessions, gnb->cfg->drbs_per_session,
				      SOCKET_ID_ANY);
	gnb->ctx = gnb->table ? gnb_ctx_workers_init(gnb->table, nb, serial) : NULL;
	gnb->edge.workers =
		rte_zmalloc("gnb_edge", nb * sizeof(struct upf_worker), RTE_CACHE_LINE_SIZE);
	gnb->workers =
		rte_zmalloc("gnb_workers", nb * sizeof(struct gnb_worker), RTE_CACHE_LINE_SIZE);
	if (!gnb->ctx || !gnb->edge.workers || !gnb->workers)
		return -ENOMEM;
	for (unsigned k = 0; k < nb; k++)
		if (worker_make(run, gnb, k, serial, err) < 0)
			return -ENOMEM;
	return 0;
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
	const struct ap_cfg_upf *cfg = gnb->edge.cfg;
	struct gnb_control_cfg c = {
		.kind = cfg->kind,
		.name = cfg->name,
		.socket = cfg->socket,
		.table = gnb->table,
		.workers = gnb->ctx,
		.nb_workers = gnb->edge.nb_workers,
		.net = gnb->edge.net,
		.peers = &gnb->edge.peers,
		.split_pdcp = gnb->cfg->split == AP_GNB_SPLIT_PDCP,
		.offload = gnb->offload,
		.arg = gnb->offload_arg,
		.offload_percent = gnb->offload_percent,
	};

	for (unsigned i = 1; i <= gnb->edge.net->nb_links; i++)
		*(gnb->side[i] == AP_GNB_N3 ? &c.n3 : &c.f1) |= 1U << i;
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
	struct gnb_control_stats s = {0};

	(void)seconds;
	if (gnb->control)
		gnb_control_stats(gnb->control, &s);
	fprintf(f,
		json ? "{\"role\": \"%s\", \"sessions\": %u, \"drbs\": %u, \"requests\": %" PRIu64
		       ", \"setups\": %" PRIu64 ", \"modifications\": %" PRIu64
		       ", \"releases\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"events\": %" PRIu64
		       ", \"events_lost\": %" PRIu64 ", \"bad_messages\": %" PRIu64 "}"
		     : "%s: %u sessions, %u DRBs; requests %" PRIu64 ": set up %" PRIu64
		       ", modified %" PRIu64 ", released %" PRIu64 ", failed %" PRIu64
		       "; events %" PRIu64 ", lost %" PRIu64 "; bad messages %" PRIu64 "\n",
		gnb->cfg->edge.name, s.sessions, s.drbs, s.requests, s.setups, s.modifications,
		s.releases, s.failed, s.events, s.events_lost, s.bad_messages);
}

static void
gnb_destroy(void *obj)
{
	struct gnb *gnb = obj;

	gnb_control_destroy(gnb->control);
	for (unsigned k = 0; k < gnb->edge.nb_workers; k++) {
		if (gnb->edge.workers)
			rte_ring_free(gnb->edge.workers[k].reports);
		if (gnb->workers)
			rte_free(gnb->workers[k].frames);
	}
	gnb_ctx_workers_fini(gnb->ctx, gnb->edge.nb_workers);
	gnb_table_destroy(gnb->table);
	rte_free(gnb->edge.workers);
	rte_free(gnb->workers);
	upf_peers_fini(&gnb->edge.peers);
	upf_net_destroy(gnb->edge.net);
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
	gnb->edge.cfg = &cfg->edge;
	gnb->edge.nb_workers = cfg->edge.workers;
	if ((cfg->vfs_count && p4_host_init() < 0) || net_make(run, gnb, err) < 0 ||
	    workers_make(run, gnb, run->serial * AP_RUN_ROLES_MAX + i, err) < 0) {
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
