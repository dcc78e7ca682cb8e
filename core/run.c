/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "core/clock.h"
#include "core/graph.h"
#include "core/pool.h"
#include "core/run.h"

#define WHEEL_TICK_NS (10 * AP_NS_PER_US)
#define QUIET_MS 20
#define HDR_MBUFS 16384
#define HDR_ROOM 128
#define RX_MBUFS 8192
#define QUEUED_MBUFS 32768

struct rte_mempool *
ap_run_pool(struct ap_run *run, const char *name, uint32_t mbufs, uint32_t room,
	    struct ap_error *err)
{
	struct ap_run_pool *slot = &run->pools[run->nb_pools];
	char unique[RTE_MEMPOOL_NAMESIZE];
	struct ap_cfg_pool cfg = {.name = unique, .mbufs = mbufs, .data_room = room, .cache = 256};

	for (unsigned i = 0; i < run->nb_pools; i++)
		if (strcmp(run->pools[i].name, name) == 0)
			return run->pools[i].mp;
	if (run->nb_pools == AP_RUN_POOLS_MAX) {
		ap_error_set(err, "%s: more than %d pools", run->cfg->path, AP_RUN_POOLS_MAX);
		return NULL;
	}
	for (unsigned i = 0; i < run->cfg->pools_count; i++)
		if (strcmp(run->cfg->pools[i].name, name) == 0) {
			cfg = run->cfg->pools[i];
			cfg.name = unique;
		}
	snprintf(unique, sizeof(unique), "%.16s.%u", name, run->serial);
	slot->mp = ap_pool_create(&cfg, err);
	if (slot->mp == NULL)
		return NULL;
	snprintf(slot->name, sizeof(slot->name), "%s", name);
	run->nb_pools++;
	return slot->mp;
}

/** Data room that holds whatever this deployment can send to a port. */
static uint32_t
port_room(const struct ap_config *cfg, const struct ap_cfg_port *port)
{
	uint32_t room = RTE_MAX(2048U, ap_port_room(port));

	if (port->framing != AP_FRAMING_RAW || ap_config_n3(cfg, port->name))
		return room;
	for (unsigned i = 0; ap_config_stack(cfg, i) != NULL; i++)
		room = RTE_MAX(room, ap_config_stack(cfg, i)->frame_bytes);
	for (unsigned i = 0; i < cfg->phy_count; i++)
		room = RTE_MAX(room, cfg->phy[i].frame_bytes);
	return room;
}

/** mbufs for what a port receives: with those that a upf or RLC may keep, which are to starve no
 * port. */
static uint32_t
port_mbufs(const struct ap_config *cfg, const struct ap_cfg_port *port)
{
	const struct ap_cfg_gnb *gnb = ap_config_n3(cfg, port->name);
	uint32_t mbufs = RX_MBUFS, queued = 0;

	for (unsigned i = 0; gnb && i < gnb->l2.bearers_count; i++)
		queued += gnb->l2.bearers[i].rlc.queue_sdus;
	if (gnb) /* the queues of many UEs are not all full */
		mbufs += RTE_MAX(queued, RTE_MIN(queued * gnb->l2.count, (uint32_t)QUEUED_MBUFS));

	for (unsigned i = 0; i < cfg->upf_count; i++) {
		const struct ap_cfg_upf *upf = &cfg->upf[i];
		unsigned k = 0;

		while (k < upf->interfaces_count &&
		       strcmp(upf->interfaces[k].port, port->name) != 0)
			k++;
		if (k < upf->interfaces_count) /* for UEs, and for neighbours */
			mbufs += 2 * upf->buffer_packets;
	}
	return mbufs;
}

static void
pool_kept(struct ap_run *run, const struct rte_mempool *mp)
{
	for (unsigned i = 0; i < run->nb_pools; i++)
		run->pools[i].kept |= run->pools[i].mp == mp;
}

static bool
some_lcore_sleeps(const struct ap_config *cfg)
{
	for (unsigned i = 0; i < cfg->lcores_count; i++)
		if (ap_governor_find(cfg->lcores[i].governor, false)->sleeps)
			return true;
	return false;
}

static int
ports_open(struct ap_run *run, struct ap_error *err)
{
	const struct ap_config *cfg = run->cfg;

	run->ports = calloc(cfg->ports_count, sizeof(struct ap_port *));
	if (run->ports == NULL && cfg->ports_count)
		return ap_error_set(err, "%s: out of memory", cfg->path);
	for (unsigned i = 0; i < cfg->ports_count; i++) {
		const struct ap_cfg_port *conf = &cfg->ports[i];
		struct ap_port_cfg pc = {.conf = conf,
					 .burst = (uint16_t)cfg->burst,
					 .sleeps = some_lcore_sleeps(cfg)};
		char name[32];

		snprintf(name, sizeof(name), "rx_%.20s", conf->name);
		pc.hdr_pool = ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err);
		if (pc.hdr_pool == NULL)
			return -EINVAL;
		if (conf->preset != AP_PRESET_RING) {
			pc.rx_pool = ap_run_pool(run, conf->pool ? conf->pool : name,
						 port_mbufs(cfg, conf), port_room(cfg, conf), err);
			if (pc.rx_pool == NULL)
				return -EINVAL;
		}
		if (ap_port_open(&run->ports[i], &pc, err) < 0)
			return -EINVAL;
		if (strcmp(run->ports[i]->driver, "net_af_xdp") == 0)
			pool_kept(run, pc.rx_pool);
		if (run->ports[i]->note[0] != '\0')
			fprintf(stderr, "port %s: %s\n", conf->name, run->ports[i]->note);
	}
	return 0;
}

/** Port nodes work on their port; everything else is told by its role. */
static void
ports_bind(struct ap_run *run)
{
	for (unsigned i = 0; i < run->plan->nb_nodes; i++) {
		struct ap_plan_node *n = run->plan->nodes[i];

		if (n->port)
			n->arg = ap_run_port(run, n->port->name);
	}
}

static int
roles_build(struct ap_run *run, struct ap_error *err)
{
	const struct ap_role_type *t;

	for (unsigned k = 0; (t = ap_role_type_at(k)) != NULL; k++)
		for (unsigned i = 0; i < t->count(run->cfg); i++) {
			struct ap_run_role *r = &run->roles[run->nb_roles];

			if (run->nb_roles == AP_RUN_ROLES_MAX)
				return ap_error_set(err, "%s: more than %d roles", run->cfg->path,
						    AP_RUN_ROLES_MAX);
			*r = (struct ap_run_role){t, i, t->build(run, i, err)};
			if (r->obj == NULL)
				return -EINVAL;
			run->nb_roles++;
		}
	return 0;
}

static int
workers_make(struct ap_run *run, struct ap_error *err)
{
	const struct ap_plan *p = run->plan;

	run->workers = rte_zmalloc("ap_workers", p->nb_lcores * sizeof(struct ap_worker),
				   RTE_CACHE_LINE_SIZE);
	if (run->workers == NULL)
		return ap_error_set(err, "%s: out of memory", run->cfg->path);
	for (unsigned i = 0; i < p->nb_lcores; i++) {
		const struct ap_plan_lcore *l = &p->lcores[i];
		struct ap_worker *w = &run->workers[i];

		w->name = l->cfg->name;
		w->lcore = l->id;
		w->deployment = run->cfg->path;
		w->priority = l->cfg->priority;
		w->stats = run->cfg->stats == AP_CFG_ON;
		w->governor = ap_governor_find(l->cfg->governor, l->shared);
		w->wheel = ap_wheel_create(WHEEL_TICK_NS, ap_clock_ns());
		if (w->wheel == NULL)
			return ap_error_set(err, "%s: out of memory", run->cfg->path);
	}
	return 0;
}

struct ap_run *
ap_run_create(const struct ap_config *cfg, struct ap_plan *plan, struct ap_error *err)
{
	static unsigned serial;
	struct ap_run *run = calloc(1, sizeof(*run));

	err->text[0] = '\0';
	if (run == NULL) {
		ap_error_set(err, "%s: out of memory", cfg->path);
		return NULL;
	}
	run->cfg = cfg;
	run->plan = plan;
	run->serial = serial++;
	if (ports_open(run, err) == 0)
		ports_bind(run);
	if (err->text[0] != '\0' || workers_make(run, err) < 0 || roles_build(run, err) < 0 ||
	    ap_graph_make(plan, run->workers, run->serial, err) < 0) {
		ap_run_destroy(run);
		return NULL;
	}
	return run;
}

int
ap_run_start(struct ap_run *run, struct ap_error *err)
{
	for (unsigned i = 0; i < run->cfg->ports_count; i++)
		if (ap_port_start(run->ports[i], err) < 0)
			return -EINVAL;
	if (ap_governor_setup(run, err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < run->nb_roles; i++)
		if (run->roles[i].type->start &&
		    run->roles[i].type->start(run->roles[i].obj, err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		struct ap_worker *w = &run->workers[i];

		w->stop = false;
		if (rte_eal_remote_launch(ap_worker_main, w, w->lcore) < 0)
			return ap_error_set(err, "%s: lcore %s (%u) did not start", run->cfg->path,
					    w->name, w->lcore);
	}
	run->running = true;
	run->started_ns = ap_clock_ns();
	return 0;
}

/** Packets moved by all nodes so far, but for empty polls and slot indications without data. */
static uint64_t
movement(const struct ap_run *run)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < run->plan->nb_nodes; i++) {
		const struct ap_node *n = run->plan->nodes[i]->inst;

		sum += n->in + n->made;
	}
	return sum;
}

void
ap_run_poll(struct ap_run *run)
{
	for (unsigned i = 0; i < run->nb_roles; i++)
		if (run->roles[i].type->poll)
			run->roles[i].type->poll(run->roles[i].obj);
	for (unsigned i = 0; i < run->plan->nb_lcores; i++)
		if (run->workers[i].governor->poll)
			run->workers[i].governor->poll(&run->workers[i]);
}

bool
ap_run_quiesce(struct ap_run *run, unsigned timeout_ms)
{
	uint64_t end = ap_clock_ns() + timeout_ms * AP_NS_PER_MS;
	uint64_t last = 0, since = ap_clock_ns();

	run->quiet_ns = ap_clock_ns();
	for (unsigned i = 0; i < run->nb_roles; i++)
		if (run->roles[i].type->quiesce)
			run->roles[i].type->quiesce(run->roles[i].obj);
	while (ap_clock_ns() < end) {
		uint64_t now = movement(run);

		if (now != last)
			since = ap_clock_ns();
		else if (ap_clock_ns() - since >= QUIET_MS * AP_NS_PER_MS)
			return true;
		last = now;
		rte_delay_us_sleep(1000);
	}
	return false;
}

static void
worker_stop(struct ap_worker *w)
{
	atomic_store(&w->stop, true);
	ap_worker_wake(w);
}

void
ap_run_stop(struct ap_run *run)
{
	if (!run->running)
		return;
	for (unsigned i = 0; i < run->plan->nb_lcores; i++)
		worker_stop(&run->workers[i]);
	for (unsigned i = 0; i < run->plan->nb_lcores; i++)
		rte_eal_wait_lcore(run->workers[i].lcore);
	run->running = false;
}

void
ap_run_destroy(struct ap_run *run)
{
	if (run == NULL)
		return;
	ap_run_stop(run);
	ap_governor_fini(run);
	for (unsigned i = 0; i < run->cfg->ports_count && run->ports; i++)
		if (run->ports[i])
			ap_port_stop(run->ports[i]);
	if (run->workers)
		ap_graph_free(run->plan, run->workers);
	for (unsigned i = run->nb_roles; i-- > 0;)
		run->roles[i].type->destroy(run->roles[i].obj);
	for (unsigned i = 0; i < run->cfg->ports_count && run->ports; i++)
		if (run->ports[i])
			ap_port_close(run->ports[i]);
	for (unsigned i = 0; i < run->plan->nb_lcores && run->workers; i++)
		ap_wheel_destroy(run->workers[i].wheel);
	for (unsigned i = 0; i < run->nb_pools; i++) {
		unsigned lost = rte_mempool_in_use_count(run->pools[i].mp);

		if (lost && !run->pools[i].kept)
			fprintf(stderr, "pool %s: %u mbufs did not come back\n", run->pools[i].name,
				lost);
		rte_mempool_free(run->pools[i].mp);
	}
	rte_free(run->workers);
	free(run->ports);
	free(run);
}

static double
seconds(const struct ap_run *run)
{
	uint64_t end = run->quiet_ns ? run->quiet_ns : ap_clock_ns();

	return (double)(end - run->started_ns) / 1e9;
}

void
ap_run_print(const struct ap_run *run, FILE *f)
{
	ap_account_print(run->plan, f);
	for (unsigned i = 0; i < run->nb_roles; i++)
		if (run->roles[i].type->report)
			run->roles[i].type->report(run->roles[i].obj, seconds(run), f, false);
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		const struct ap_worker *w = &run->workers[i];

		if (w->governor->report)
			w->governor->report(w, run->started_ns, f, false);
		else if (w->priority == AP_PRIORITY_HIGH)
			fprintf(f,
				"power: lcore %s: priority high: no effect, governor %s leaves "
				"P-states alone\n",
				w->name, w->governor->name);
	}
}

void
ap_run_json(const struct ap_run *run, FILE *f)
{
	bool first = true;

	fprintf(f, "{");
	ap_account_json(run->plan, f);
	fprintf(f, ",\n  \"roles\": [");
	for (unsigned i = 0; i < run->nb_roles; i++) {
		if (run->roles[i].type->report == NULL)
			continue;
		fprintf(f, "%s\n    ", first ? "" : ",");
		run->roles[i].type->report(run->roles[i].obj, seconds(run), f, true);
		first = false;
	}
	fprintf(f, "],\n  \"power\": [");
	first = true;
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		const struct ap_worker *w = &run->workers[i];

		if (w->governor->report == NULL && w->priority != AP_PRIORITY_HIGH)
			continue;
		fprintf(f, "%s\n    ", first ? "" : ",");
		if (w->governor->report)
			w->governor->report(w, run->started_ns, f, true);
		else
			fprintf(f,
				"{\"lcore\": \"%s\", \"governor\": \"%s\", \"priority\": "
				"\"high\", \"priority_effect\": \"no effect\"}",
				w->name, w->governor->name);
		first = false;
	}
	fprintf(f, "]}\n");
}

struct ap_port *
ap_run_port(const struct ap_run *run, const char *name)
{
	for (unsigned i = 0; i < run->cfg->ports_count; i++)
		if (strcmp(run->cfg->ports[i].name, name) == 0)
			return run->ports[i];
	return NULL;
}

void
ap_run_bind(struct ap_run *run, const char *role_name, void *obj)
{
	size_t len = strlen(role_name);

	for (unsigned i = 0; i < run->plan->nb_nodes; i++) {
		struct ap_plan_node *n = run->plan->nodes[i];

		if (strncmp(n->name, role_name, len) == 0 && n->name[len] == '.')
			n->role = obj;
	}
}

void *
ap_run_role(const struct ap_run *run, const char *kind, unsigned i)
{
	for (unsigned r = 0; r < run->nb_roles; r++)
		if (run->roles[r].index == i && strcmp(run->roles[r].type->kind, kind) == 0)
			return run->roles[r].obj;
	return NULL;
}
