/* SPDX-License-Identifier: BSD-3-Clause */
/** RX queues of sleeping lcores, and who wakes them. Control thread. */
#include <errno.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_malloc.h>

#include "core/governor.h"
#include "core/node.h"
#include "core/port.h"
#include "core/run.h"
#include "core/worker.h"

/** Port queues that a port_rx node polls: n->index and every rx_nodes-th after it. */
static uint16_t
queues_of(const struct ap_plan_node *pn)
{
	const struct ap_port *p = pn->port ? pn->arg : NULL;

	if (p == NULL || p->rx_nodes == 0)
		return 1;
	return (uint16_t)((p->queues - pn->index + p->rx_nodes - 1) / p->rx_nodes);
}

/** Ring ports: the other end kicks. */
static enum ap_wake
port_wake(struct ap_run *run, struct ap_port *p, uint16_t queue, struct ap_sleep *s)
{
	struct ap_port *peer;

	if (p->rx_rings[0] == NULL)
		return ap_port_wake(p, queue, s);
	peer = ap_run_port(run, p->conf->peer);
	peer->tx_sleep[queue] = s;
	return AP_WAKE_KICK;
}

static void
rxq_make(struct ap_run *run, struct ap_plan_node *pn, uint16_t i, struct ap_rxq *q)
{
	struct ap_node *n = pn->inst;
	struct ap_port *p = pn->port ? pn->arg : NULL;

	q->node = n;
	q->queue = p ? (uint16_t)(pn->index + i * p->rx_nodes) : 0;
	q->wake = p                  ? port_wake(run, p, q->queue, n->worker->sleep)
		  : n->type->waiting ? AP_WAKE_KICK
				     : AP_WAKE_TIME;
}

static int
worker_setup(struct ap_run *run, struct ap_worker *w, const struct ap_plan_lcore *l,
	     struct ap_error *err)
{
	struct ap_plan *p = run->plan;
	struct rte_cpu_intrinsics intrinsics = {0};
	unsigned nb = 0;
	int rc;

	rte_cpu_get_intrinsics_support(&intrinsics);
	for (unsigned i = 0; i < p->nb_nodes; i++)
		if (p->nodes[i]->lcore == l && p->nodes[i]->type->source)
			nb += queues_of(p->nodes[i]);
	w->tpause = intrinsics.power_pause;
	w->sleep = rte_zmalloc("ap_sleep", sizeof(*w->sleep), RTE_CACHE_LINE_SIZE);
	w->rxqs = rte_calloc("ap_rxqs", nb + 1, sizeof(*w->rxqs), RTE_CACHE_LINE_SIZE);
	if (w->sleep == NULL || w->rxqs == NULL)
		return ap_error_set(err, "%s: out of memory", run->cfg->path);
	rc = ap_sleep_init(w->sleep);
	if (rc < 0)
		return ap_error_set(err, "%s: lcore %s: eventfd: %s", run->cfg->path, w->name,
				    strerror(-rc));
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_plan_node *pn = p->nodes[i];

		if (pn->lcore != l || !pn->type->source)
			continue;
		pn->inst->rxqs = &w->rxqs[w->nb_rxqs];
		for (uint16_t k = 0; k < queues_of(pn); k++)
			rxq_make(run, pn, k, &w->rxqs[w->nb_rxqs++]);
	}
	return 0;
}

static void
cuts_setup(struct ap_run *run)
{
	for (unsigned i = 0; i < run->plan->nb_cuts; i++) {
		struct ap_cut *c = run->plan->cuts[i];

		c->sleep = c->in->inst->worker->sleep;
	}
}

int
ap_governor_setup(struct ap_run *run, struct ap_error *err)
{
	for (unsigned i = 0; i < run->plan->nb_lcores; i++) {
		const struct ap_plan_lcore *l = &run->plan->lcores[i];
		struct ap_worker *w = &run->workers[i];

		if (w->governor->sleeps && worker_setup(run, w, l, err) < 0)
			return -EINVAL;
		if (w->governor->create &&
		    w->governor->create(w, ap_config_power(run->cfg, l->cfg), l->cfg->cpu, err) < 0)
			return -EINVAL;
	}
	cuts_setup(run);
	return 0;
}

void
ap_governor_fini(struct ap_run *run)
{
	for (unsigned i = 0; i < run->plan->nb_lcores && run->workers; i++) {
		struct ap_worker *w = &run->workers[i];

		if (w->governor && w->governor->destroy)
			w->governor->destroy(w);
		if (w->sleep)
			ap_sleep_fini(w->sleep);
		rte_free(w->sleep);
		rte_free(w->rxqs);
		w->sleep = NULL;
		w->rxqs = NULL;
		w->nb_rxqs = 0;
	}
}
