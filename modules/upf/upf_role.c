/* SPDX-License-Identifier: BSD-3-Clause */
/** Role `upf`: its object, see upf.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rte_malloc.h>

#include "core/clock.h"
#include "modules/upf/upf_control.h"
#include "modules/upf/upf_net.h"
#include "modules/upf/upf_role.h"

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

static int
workers_make(struct ap_run *run, struct upf *upf, unsigned i, struct ap_error *err)
{
	struct rte_mempool *hdr = ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err), *pkt = NULL;

	if (hdr)
		pkt = ap_run_pool(run, "upf", PKT_MBUFS, PKT_ROOM, err);
	if (pkt == NULL || upf_workers_init(upf, run->serial * AP_RUN_ROLES_MAX + i) < 0)
		return -ENOMEM;
	for (unsigned k = 0; k < upf->nb_workers; k++) {
		upf->workers[k].hdr_pool = hdr;
		upf->workers[k].pkt_pool = pkt;
	}
	return 0;
}

static void
steers_find(struct ap_run *run, struct upf *upf)
{
	for (unsigned k = 0; k < upf->nb_workers; k++)
		upf->steers[upf->nb_steers++] =
			upf_plan_node(run->plan, upf->cfg, "steer", NULL, 'w', k);
	for (unsigned k = 0; k < upf->nb_dispatchers; k++)
		upf->steers[upf->nb_steers++] =
			upf_plan_node(run->plan, upf->cfg, "steer", NULL, 'd', k);
}

static void
nodes_bind(struct ap_run *run, struct upf *upf)
{
	char kind = upf->nb_dispatchers ? 'd' : 'w';
	unsigned receivers = upf->nb_dispatchers ? upf->nb_dispatchers : upf->nb_workers;

	ap_run_bind(run, upf->cfg->name, upf);
	steers_find(run, upf);
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

static int
upf_start(void *obj, struct ap_error *err)
{
	struct upf *upf = obj;

	upf_steering_start(upf);
	return upf_control_start(upf->control, err);
}

static void
upf_quiesce(void *obj)
{
	struct upf *upf = obj;

	upf_control_stop(upf->control);
}

static void
upf_destroy(void *obj)
{
	struct upf *upf = obj;

	upf_control_destroy(upf->control);
	upf_workers_fini(upf);
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
	upf->unix_offset_ns = unix_offset();
	upf_steering_init(upf);
	if (net_make(run, upf, err) < 0 || workers_make(run, upf, i, err) < 0) {
		ap_error_set(err, "%s: upf %s: out of memory", run->cfg->path, cfg->name);
		upf_destroy(upf);
		return NULL;
	}
	upf->net->users = upf->index;
	nodes_bind(run, upf);
	upf->control = upf_control_create(upf, err);
	if (upf->control == NULL) {
		upf_destroy(upf);
		return NULL;
	}
	return upf;
}

static uint64_t
handed_off(const struct upf *upf)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < upf->nb_steers; k++)
		for (unsigned w = 0; w < upf->nb_workers; w++)
			if (upf->steers[k]->inst &&
			    (k >= upf->nb_workers || upf->steers[k]->index != w))
				sum += upf->steers[k]->inst->out[w];
	return sum;
}

static void
upf_report(const void *obj, double seconds, FILE *f, bool json)
{
	const struct upf *upf = obj;
	struct upf_control_stats s;

	(void)seconds;
	upf_control_stats(upf->control, &s);
	fprintf(f,
		json ? "{\"role\": \"%s\", \"sessions\": %u, \"peers\": %u, \"steering\": \"%s\", "
		       "\"handed_off\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"sets\": %" PRIu64
		       ", \"deletes\": %" PRIu64 ", \"queries\": %" PRIu64 ", \"failed\": %" PRIu64
		       ", \"events\": %" PRIu64 ", \"events_kept\": %u, \"events_lost\": %" PRIu64
		       ", \"checkpoints\": %" PRIu64 ", \"bad_messages\": %" PRIu64 "}"
		     : "%s: %u sessions, %u peers, steering %s, handed off %" PRIu64
		       ", requests %" PRIu64 ": set %" PRIu64 ", deleted %" PRIu64
		       ", queried %" PRIu64 ", failed %" PRIu64 "; events %" PRIu64
		       ", not acknowledged %u, lost %" PRIu64 "; checkpoints %" PRIu64
		       "; bad messages %" PRIu64 "\n",
		upf->cfg->name, s.sessions, s.peers, upf->steering, handed_off(upf), s.requests,
		s.sets, s.deletes, s.queries, s.failed, s.events, s.events_kept, s.events_lost,
		s.checkpoints, s.bad_messages);
}

static const struct ap_role_type upf = {
	.kind = "upf",
	.count = upf_count,
	.plan = upf_plan,
	.placed = upf_placed,
	.build = upf_build,
	.start = upf_start,
	.quiesce = upf_quiesce,
	.report = upf_report,
	.destroy = upf_destroy,
};

AP_ROLE_REGISTER(upf)
