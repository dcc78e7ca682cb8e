/* SPDX-License-Identifier: BSD-3-Clause */
/** Role `upf`: its object, see upf.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "core/clock.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_role.h"

#define MESSAGES 1024
#define REPORTS 4096
#define HDR_MBUFS 16384
#define HDR_ROOM 128
#define PKT_MBUFS 8191
#define PKT_ROOM 2048
#define IND_MBUFS 16383

static unsigned
upf_count(const struct ap_config *cfg)
{
	return cfg->upf_count;
}

static struct rte_ring *
ring_make(const char *what, unsigned serial, unsigned i, unsigned k)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "upf_%s%u.%u.%u", what, serial, i, k);
	return rte_ring_create(name, MESSAGES, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int
workers_make(struct ap_run *run, struct upf *upf, unsigned i, struct ap_error *err)
{
	struct rte_mempool *hdr = ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err), *pkt = NULL;
	char name[RTE_RING_NAMESIZE];

	if (hdr)
		pkt = ap_run_pool(run, "upf", PKT_MBUFS, PKT_ROOM, err);
	if (pkt == NULL)
		return -ENOMEM;
	upf->workers = rte_zmalloc("upf_workers", upf->nb_workers * sizeof(struct upf_worker),
				   RTE_CACHE_LINE_SIZE);
	for (unsigned k = 0; upf->workers && k < upf->nb_workers; k++) {
		struct upf_worker *w = &upf->workers[k];

		w->upf = upf;
		w->index = k;
		w->hdr_pool = hdr;
		w->pkt_pool = pkt;
		w->messages = ring_make("msg", run->serial, i, k);
		w->replies = w->messages ? ring_make("rep", run->serial, i, k) : NULL;
		snprintf(name, sizeof(name), "upf_use%u.%u.%u", run->serial, i, k);
		w->reports = w->replies ? upf_report_ring(name, REPORTS, SOCKET_ID_ANY) : NULL;
		if (w->reports == NULL)
			return ap_error_set(err, "%s: upf %s: rings: %s", run->cfg->path,
					    upf->cfg->name, rte_strerror(rte_errno));
	}
	return upf->workers ? 0
			    : ap_error_set(err, "%s: upf %s: out of memory", run->cfg->path,
					   upf->cfg->name);
}

static void
nodes_bind(struct ap_run *run, struct upf *upf)
{
	char kind = upf->nb_dispatchers ? 'd' : 'w';
	unsigned receivers = upf->nb_dispatchers ? upf->nb_dispatchers : upf->nb_workers;

	ap_run_bind(run, upf->cfg->name, upf);
	for (unsigned k = 0; k < receivers; k++)
		for (unsigned p = 0; p < upf->nb_ports; p++)
			upf_plan_node(run->plan, upf->cfg, "in", upf->ports[p]->name, kind, k)
				->arg = (void *)(uintptr_t)p;
}

/** Unix time less ap_clock_ns(). */
static int64_t
unix_offset(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * (int64_t)AP_NS_PER_S + t.tv_nsec - (int64_t)ap_clock_ns();
}

static int
net_make(struct ap_run *run, struct upf *upf, struct ap_error *err)
{
	const struct ap_cfg_upf *cfg = upf->cfg;
	struct upf_net_cfg net = {.mtu_mode = (enum upf_mtu_mode)cfg->oversize,
				  .error_indications_per_s = cfg->error_indications_s,
				  .reassembly_packets = cfg->reassembly_packets,
				  .reassembly_ms = cfg->reassembly_ms};

	net.pool = ap_run_pool(run, "upf", PKT_MBUFS, PKT_ROOM, err);
	net.indirect = net.pool ? ap_run_pool(run, "ind", IND_MBUFS, 0, err) : NULL;
	if (net.indirect == NULL || upf_interfaces_init(run, upf, &net, err) < 0)
		return -EINVAL;
	return upf_peers_init(&upf->peers, upf->net);
}

static void
upf_destroy(void *obj)
{
	struct upf *upf = obj;

	for (unsigned k = 0; upf->workers && k < upf->nb_workers; k++) {
		rte_ring_free(upf->workers[k].messages);
		rte_ring_free(upf->workers[k].replies);
		rte_ring_free(upf->workers[k].reports);
	}
	rte_free(upf->workers);
	upf_peers_fini(&upf->peers);
	upf_net_destroy(upf->net);
	rte_free(upf);
}

static void *
upf_build(struct ap_run *run, unsigned i, struct ap_error *err)
{
	const struct ap_cfg_upf *cfg = &run->cfg->upf[i];
	struct upf *upf = rte_zmalloc("upf", sizeof(*upf), RTE_CACHE_LINE_SIZE);

	if (upf == NULL) {
		ap_error_set(err, "%s: upf %s: out of memory", run->cfg->path, cfg->name);
		return NULL;
	}
	upf->cfg = cfg;
	upf->nb_workers = cfg->workers;
	upf->nb_dispatchers = cfg->dispatchers;
	upf_owner_map_init(&upf->owners, upf->nb_workers, UPF_BUCKETS);
	upf->unix_offset_ns = unix_offset();
	if (net_make(run, upf, err) < 0 || workers_make(run, upf, i, err) < 0) {
		ap_error_set(err, "%s: upf %s: out of memory", run->cfg->path, cfg->name);
		upf_destroy(upf);
		return NULL;
	}
	nodes_bind(run, upf);
	return upf;
}

static const struct ap_role_type upf = {
	.kind = "upf",
	.count = upf_count,
	.plan = upf_plan,
	.build = upf_build,
	.destroy = upf_destroy,
};

AP_ROLE_REGISTER(upf)
