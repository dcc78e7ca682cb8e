/* SPDX-License-Identifier: BSD-3-Clause */
/** What roles `gnb_header` and `gnb` have in common, see gnb_edge.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "modules/gnb/gnb_edge.h"
#include "modules/gnb/gnb_frame.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_role.h"

#define HDR_MBUFS 16384
#define HDR_ROOM 128
#define PKT_MBUFS 8191
#define PKT_ROOM 2048
#define IND_MBUFS 16383
#define REPORTS 4096

int
gnb_edge_init(struct ap_run *run, struct gnb *gnb, const struct ap_cfg_upf *cfg,
	      const char *const *ports, unsigned nb_ports, struct ap_error *err)
{
	struct upf_net_cfg net = {.mtu_mode = UPF_MTU_FRAGMENT,
				  .opaque = true,
				  .error_indications_per_s = cfg->error_indications_s,
				  .reassembly_packets = cfg->reassembly_packets,
				  .reassembly_ms = cfg->reassembly_ms};

	gnb->edge.cfg = cfg;
	gnb->edge.nb_workers = cfg->workers;
	gnb->edge.nb_ports = nb_ports;
	for (unsigned p = 0; p < nb_ports; p++)
		gnb->edge.ports[p] = ap_run_port(run, ports[p]);
	for (unsigned i = 0; i < cfg->interfaces_count; i++)
		gnb->side[i + 1] = (uint8_t)cfg->interfaces[i].side;
	net.pool = ap_run_pool(run, "upf", PKT_MBUFS, PKT_ROOM, err);
	net.indirect = net.pool ? ap_run_pool(run, "ind", IND_MBUFS, 0, err) : NULL;
	if (net.indirect == NULL)
		return -ENOMEM;
	gnb->edge.net = upf_interfaces_net(cfg, gnb->edge.ports, &net, err);
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

int
gnb_edge_workers(struct ap_run *run, struct gnb *gnb, unsigned drbs_per_session, unsigned serial,
		 struct ap_error *err)
{
	const unsigned nb = gnb->edge.nb_workers;

	gnb->table = gnb_table_create(gnb->edge.cfg->sessions, drbs_per_session, SOCKET_ID_ANY);
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

void
gnb_edge_fini(struct gnb *gnb)
{
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
}

struct gnb_control_cfg
gnb_edge_control(struct gnb *gnb)
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
	};

	for (unsigned i = 1; i <= gnb->edge.net->nb_links; i++)
		*(gnb->side[i] == AP_GNB_N3 ? &c.n3 : &c.f1) |= 1U << i;
	return c;
}

void
gnb_edge_report(const struct gnb *gnb, FILE *f, bool json)
{
	struct gnb_control_stats s = {0};

	if (gnb->control)
		gnb_control_stats(gnb->control, &s);
	fprintf(f,
		json ? "\"sessions\": %u, \"drbs\": %u, \"requests\": %" PRIu64
		       ", \"setups\": %" PRIu64 ", \"modifications\": %" PRIu64
		       ", \"releases\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"events\": %" PRIu64
		       ", \"events_lost\": %" PRIu64 ", \"bad_messages\": %" PRIu64
		     : "%u sessions, %u DRBs; requests %" PRIu64 ": set up %" PRIu64
		       ", modified %" PRIu64 ", released %" PRIu64 ", failed %" PRIu64
		       "; events %" PRIu64 ", lost %" PRIu64 "; bad messages %" PRIu64,
		s.sessions, s.drbs, s.requests, s.setups, s.modifications, s.releases, s.failed,
		s.events, s.events_lost, s.bad_messages);
}
