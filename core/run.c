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
#include "core/run_impl.h"

#define WHEEL_TICK_NS (10 * AP_NS_PER_US)
#define QUIET_MS 20

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
	if (ap_run_ports_open(run, err) == 0)
		ap_run_ports_bind(run);
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
