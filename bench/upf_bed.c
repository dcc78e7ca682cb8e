/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_malloc.h>

#include "bench/gnb_churn.h"
#include "bench/gnb_frames.h"
#include "bench/upf_bed_impl.h"
#include "core/account.h"
#include "core/clock.h"
#include "core/eal.h"
#include "core/slab.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_owner.h"

#define GENERATOR_CPU 0
#define MEMORY_MB 768
#define SESSION_OCTETS 1536 /**< EAL memory to ask for, generously */
#define POOL_MBUFS 32767
#define POOL_ROOM 2048
#define SLOTS 1024 /**< of a bucket: 4 million sessions */

/* As deploy/upf-bench.yaml has them. */
#define UES 0x0A000000U /* 10.0.0.0 */
#define GNBS 0xAC100001U
#define SERVER 0xC6336401U
static const struct upf_wire_cfg wire_cfg = {
	.gnb_mac = {2, 0, 0, 0, 1, 3},
	.net_mac = {2, 0, 0, 0, 1, 6},
	.n3_ip = RTE_BE32(0xC0A80101),
	.gnb_ip = RTE_BE32(GNBS),
	.server_ip = RTE_BE32(SERVER),
	.bytes = 64,
};
/* As deploy/gnb-header-bench.yaml has them. */
static const struct upf_wire_cfg gnb_wire_cfg = {
	.gnb_mac = {2, 0, 0, 0, 1, 3},
	.net_mac = {2, 0, 0, 0, 1, 7},
	.n3_ip = RTE_BE32(0xC0A80301),
	.f1_ip = RTE_BE32(0xC0A80701),
	.gnb_ip = RTE_BE32(0xAC100301),
	.server_ip = RTE_BE32(0xAC100701),
	.bytes = GNB_FRAMES_TPDU_MIN,
};

static int
deployment_load(struct upf_bed *b, struct ap_error *err)
{
	struct ap_cfg_upf *edge;
	bool gnb;

	b->conf = ap_config_load(b->cfg.deployment, err);
	if (b->conf == NULL)
		return -EINVAL;
	gnb = b->conf->gnb_header_count == 1;
	if (b->conf->upf_count + b->conf->gnb_header_count != 1)
		return ap_error_set(err, "%s: the bench wants one upf, or one gnb_header",
				    b->conf->path);
	edge = gnb ? &b->conf->gnb_header[0].edge : &b->conf->upf[0];
	snprintf(b->socket, sizeof(b->socket), "/tmp/airpath-bench-upf.%d.sock", (int)getpid());
	free(edge->socket);
	edge->socket = strdup(b->socket);
	if (edge->socket == NULL)
		abort();
	if (b->cfg.dpi)
		b->cfg.sessions += b->cfg.active;
	edge->sessions = RTE_MAX(edge->sessions, b->cfg.sessions + (gnb ? GNB_CHURN_SESSIONS : 0));
	/* Two time stamps a node visit: only where somebody wants to see them. */
	b->conf->stats = b->cfg.nodes ? AP_CFG_ON : AP_CFG_OFF;
	b->conf->memory.mb = RTE_MAX(
		b->conf->memory.mb, MEMORY_MB + (uint32_t)(b->cfg.sessions / 1e6 * SESSION_OCTETS));
	if (b->cfg.adjust && b->cfg.adjust(b->conf, err) < 0)
		return -EINVAL;
	b->plan = ap_plan_make(b->conf, err);
	return b->plan ? ap_eal_start(b->plan, err) : -EINVAL;
}

/** The generator holds the far ends of n3 and n6, or of f1 and n3. */
static int
generator_start(struct upf_bed *b, struct ap_error *err)
{
	const bool gnb = b->gnb != NULL;
	/* By which uplink, and downlink, packets come. */
	struct ap_port *up = ap_run_port(b->run, gnb ? "f1" : "n3");
	struct ap_port *down = ap_run_port(b->run, gnb ? "n3" : "n6");
	struct upf_gen *g = &b->gen;
	struct upf_wire_cfg wire = gnb ? gnb_wire_cfg : wire_cfg;

	if (up == NULL || down == NULL || up->rx_rings[0] == NULL || down->rx_rings[0] == NULL)
		return ap_error_set(err, "%s: the bench wants ring ports n3 and %s", b->conf->path,
				    gnb ? "f1" : "n6");
	memcpy(wire.n3_mac, gnb ? &down->mac : &up->mac, sizeof(wire.n3_mac));
	memcpy(wire.n6_mac, gnb ? &up->mac : &down->mac, sizeof(wire.n6_mac));
	(gnb ? gnb_frames_init : upf_wire_init)(&b->wire, &wire);
	g->wire = &b->wire;
	g->nb_sessions = b->cfg.sessions;
	g->active = b->cfg.active;
	g->window = RTE_MIN(b->cfg.window, rte_ring_get_capacity(up->rx_rings[0]));
	g->pool = ap_run_pool(b->run, "bench", POOL_MBUFS, POOL_ROOM, err);
	g->cpu = GENERATOR_CPU;
	g->port[UPF_WIRE_UP] = ap_run_port(b->run, up->conf->peer);
	g->port[UPF_WIRE_DOWN] = ap_run_port(b->run, down->conf->peer);
	g->flow[UPF_WIRE_UP].to = up->rx_rings[0];
	g->flow[UPF_WIRE_DOWN].to = down->rx_rings[0];
	for (unsigned q = 0; q < up->queues; q++) {
		g->flow[UPF_WIRE_UP].from[q] = down->tx_rings[q];
		g->flow[UPF_WIRE_DOWN].from[q] = up->tx_rings[q];
	}
	g->queues = up->queues;
	if (g->pool == NULL || upf_bed_flows_make(b, &wire, err) < 0)
		return -ENOMEM;
	return upf_gen_start(g, b->cfg.seed) < 0
		       ? ap_error_set(err, "the generator does not start on CPU %u", GENERATOR_CPU)
		       : 0;
}

/** UE addresses in a row; TEIDs as the agent would give them out. A gNB chooses its own. */
static int
sessions_make(struct upf_bed *b, struct ap_error *err)
{
	struct upf_teids *teids = upf_teids_create(SLOTS, 1);
	uint32_t n = b->cfg.sessions;
	int rc = 0;

	b->gen.sessions = rte_zmalloc("bench", n * sizeof(struct upf_wire_session), 64);
	if (b->gen.sessions == NULL || teids == NULL)
		rc = ap_error_set(err, "out of memory");
	for (uint32_t i = 0; i < n && rc == 0 && b->gnb == NULL; i++) {
		struct upf_wire_session *s = &b->gen.sessions[i];
		uint32_t teid = 0;

		s->ue = htonl(UES + i);
		rc = upf_teids_alloc(teids, upf_bucket_ip4((uint8_t *)&s->ue), ap_clock_ns(),
				     &teid);
		s->teid = htonl(teid);
		if (rc < 0)
			ap_error_set(err, "no TEID for session %u", i);
	}
	upf_teids_destroy(teids);
	return rc;
}

static void
session_fill(void *arg, uint32_t i, struct upf_agent_session *s)
{
	const struct upf_bed *b = arg;
	const struct upf_wire_session *w = &b->gen.sessions[i];

	*s = (struct upf_agent_session){.id = i + 1,
					.teid = ntohl(w->teid),
					.ue = w->ue,
					.gnb_ip = upf_wire_gnb_ip(&b->wire, i),
					.gnb_teid = ntohl(upf_wire_gnb_teid(i)),
					.policies = b->cfg.dpi && i < b->cfg.active};
}

/** Octets that are in use: of the C library, of slabs, and of EAL. */
static double
memory(void)
{
	struct mallinfo2 c = mallinfo2();
	struct rte_malloc_socket_stats s;
	double octets = (double)c.uordblks + (double)c.hblkhd + (double)ap_slab_bytes();

	for (unsigned i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &s) == 0)
			octets += (double)s.heap_allocsz_bytes;
	return octets;
}

static int
install(struct upf_bed *b, struct ap_error *err)
{
	struct trial_progress progress;
	unsigned bits = 32;
	double before;
	uint64_t start;
	int rc;

	if (b->gnb)
		return gnb_churn_install(b, err);
	while (bits > 8 && 1ULL << (32 - bits) < b->cfg.sessions)
		bits--;
	b->agent = upf_agent_open(b->socket, err);
	rc = b->agent ? upf_agent_config(b->agent, "n3", "n6", htonl(UES), bits,
					 b->cfg.checkpoint_ms, err)
		      : -EIO;
	if (rc == 0 && b->load != NULL)
		rc = upf_bed_rules_send(b, err);
	if (rc < 0)
		return rc;
	trial_progress_init(&progress, stderr);
	before = memory();
	start = ap_clock_ns();
	rc = upf_agent_install(b->agent, b->cfg.sessions, session_fill, b, &progress, err);
	b->install.seconds = (double)(ap_clock_ns() - start) / 1e9;
	b->install.octets_per_session = (memory() - before) / b->cfg.sessions;
	trial_progress_end(&progress, "%u sessions in %.1f s, %.0f B each", b->cfg.sessions,
			   b->install.seconds, b->install.octets_per_session);
	return rc;
}

static void
down(struct upf_bed *b)
{
	upf_agent_close(b->agent);
	rte_free(b->gen.sessions);
	upf_bed_flows_free(b);
	ap_run_destroy(b->run);
	ap_plan_free(b->plan);
	ap_config_free(b->conf);
	unlink(b->socket);
	free(b);
	rte_eal_cleanup();
}

struct upf_bed *
upf_bed_open(const struct upf_bed_cfg *cfg)
{
	/* The generator's lines must not share what others write. */
	struct upf_bed *b = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*b));
	struct ap_error err = {0};

	if (b == NULL)
		return NULL;
	memset(b, 0, sizeof(*b));
	b->cfg = *cfg;
	if (deployment_load(b, &err) == 0)
		b->run = ap_run_create(b->conf, b->plan, &err);
	b->upf = b->run && b->conf->upf_count ? ap_run_role(b->run, "upf", 0) : NULL;
	b->gnb = b->run && !b->upf ? ap_run_role(b->run, "gnb_header", 0) : NULL;
	if (b->run && sessions_make(b, &err) == 0 && ap_run_start(b->run, &err) == 0 &&
	    upf_bed_clocks(b) == 0 && generator_start(b, &err) == 0 && install(b, &err) == 0)
		return b;
	fprintf(stderr, "bench upf: %s\n", err.text);
	upf_gen_stop(&b->gen);
	down(b);
	return NULL;
}

const struct upf_bed_install *
upf_bed_install(const struct upf_bed *b)
{
	return &b->install;
}

const char *
upf_bed_device(const struct upf_bed *b)
{
	return b->gnb ? "gnb_header" : "upf";
}

const char *
upf_bed_steering(const struct upf_bed *b)
{
	return b->upf->steering;
}

double
upf_bed_starved(const struct upf_bed *b)
{
	return (double)b->starved_ns / 1e9;
}

unsigned
upf_bed_workers(const struct upf_bed *b)
{
	return b->upf->nb_workers;
}

bool
upf_bed_shared(const struct upf_bed *b)
{
	bool shared = false;

	for (unsigned i = 0; i < b->plan->nb_lcores; i++)
		shared |= b->plan->lcores[i].shared;
	return shared;
}

void
upf_bed_size(struct upf_bed *b, uint16_t bytes)
{
	struct upf_wire_cfg cfg = b->wire.cfg;

	cfg.bytes = bytes;
	b->wire.ops->init(&b->wire, &cfg);
}

struct sum {
	const struct upf_bed *b;
	struct upf_bed_usage *u;
};

/** @return whether a rating group was charged anything else than the flows say. */
static bool
groups_wrong(const struct upf_bed *b, uint32_t i, const struct upf_agent_usage *use)
{
	const struct upf_traffic *f = upf_bed_flows_of(b, i);
	bool wrong = false;

	for (unsigned g = 0; f && g < UPF_LOAD_RATING_GROUPS; g++)
		for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
			wrong |=
				use->group[g].octets[d] != upf_traffic_used(f, i, g + 1)->octets[d];
	return wrong;
}

static void
usage_add(void *arg, uint32_t i, const struct upf_agent_usage *use)
{
	struct sum *sum = arg;
	const struct upf_wire_session *s = &sum->b->gen.sessions[i];
	bool wrong = false;

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		sum->u->octets += use->octets[d];
		wrong |= (uint32_t)use->octets[d] != s->octets[d];
	}
	for (unsigned g = 0; g < UPF_LOAD_RATING_GROUPS; g++)
		sum->u->records += (use->group[g].octets[0] | use->group[g].octets[1]) != 0;
	sum->u->wrong += wrong || groups_wrong(sum->b, i, use);
}

int
upf_bed_usage(struct upf_bed *b, struct upf_bed_usage *u)
{
	struct sum sum = {b, u};
	struct trial_progress progress;
	struct ap_error err = {0};
	int rc;

	*u = (struct upf_bed_usage){0};
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		u->sent_octets += atomic_load(&b->gen.flow[d].c.sent_octets);
	trial_progress_init(&progress, stderr);
	rc = upf_agent_query(b->agent, b->cfg.sessions, usage_add, &sum, &progress, &err);
	trial_progress_end(&progress, "usage reported: %" PRIu64 " octets, sent %" PRIu64,
			   u->octets, u->sent_octets);
	if (rc < 0)
		fprintf(stderr, "bench upf: %s\n", err.text);
	return rc;
}

bool
upf_bed_close(struct upf_bed *b, FILE *nodes)
{
	struct ap_account total;
	struct ap_error err = {0};

	upf_gen_stop(&b->gen);
	ap_run_quiesce(b->run, 1000);
	ap_run_stop(b->run);
	ap_account_total(b->plan, &total, &err);
	if (nodes)
		ap_account_print(b->plan, nodes);
	if (!total.balanced)
		fprintf(stderr, "bench upf: the books do not balance: %s\n", err.text);
	down(b);
	return total.balanced;
}
