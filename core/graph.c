/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "core/graph.h"
#include "core/port.h"

/** Requested length; rte_graph allocates twice that, AP_STREAM_MAX objects. */
#define STREAM_REQUEST (AP_STREAM_MAX / 2)

/** The plan being made: rte_graph's init callback has no argument of ours. */
static struct ap_plan *making;
static unsigned making_serial;

static void
graph_node_name(char *buf, const char *name)
{
	snprintf(buf, RTE_NODE_NAMESIZE, "%u:%s", making_serial, name);
}

static int
node_bind(const struct rte_graph *graph, struct rte_node *node)
{
	const char *name = strchr(node->name, ':') + 1;
	struct ap_plan_node *pn = ap_plan_find(making, name);

	pn->inst->rte = node;
	pn->inst->graph = (struct rte_graph *)(uintptr_t)graph;
	*(struct ap_node **)(void *)node->ctx = pn->inst;
	return 0;
}

static void
timer_fire(struct ap_timer *t, uint64_t now_ns)
{
	struct ap_node *n = container_of(t, struct ap_node, timer);

	n->worker->work++;
	n->type->expire(n, now_ns);
}

static int
instance_make(struct ap_plan_node *pn, struct ap_worker *w)
{
	struct ap_node *n = rte_zmalloc(pn->name, sizeof(*n), RTE_CACHE_LINE_SIZE);

	if (n == NULL)
		return -ENOMEM;
	pn->inst = n;
	n->type = pn->type;
	n->worker = w;
	n->role = pn->role;
	n->arg = pn->arg;
	n->index = pn->index;
	n->timer.fire = timer_fire;
	memcpy(n->name, pn->name, sizeof(n->name));
	if (pn->type->priv_size) {
		n->priv = rte_zmalloc(pn->name, pn->type->priv_size, RTE_CACHE_LINE_SIZE);
		if (n->priv == NULL)
			return -ENOMEM;
	}
	return 0;
}

static struct ap_plan_node *
next_on_lcore(const struct ap_plan_node *pn, uint8_t edge)
{
	const struct ap_plan_link *l = &pn->links[edge];

	return l->cut ? l->cut->out : l->to;
}

/** Registers one instance with rte_graph; `sink` takes the edges that lead nowhere. */
static int
node_register(const struct ap_plan_node *pn, const char *sink)
{
	char names[AP_EDGES_MAX][RTE_NODE_NAMESIZE];
	struct rte_node_register *reg;
	rte_node_t id;

	reg = calloc(1, sizeof(*reg) + sizeof(char *) * AP_EDGES_MAX);
	if (reg == NULL)
		return -ENOMEM;
	graph_node_name(reg->name, pn->name);
	reg->flags = pn->type->source ? RTE_NODE_SOURCE_F : 0;
	reg->process = pn->type->process;
	reg->init = node_bind;
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->nb_edges = pn->type->nb_edges;
	for (uint8_t e = 0; e < pn->type->nb_edges; e++) {
		const struct ap_plan_node *to = next_on_lcore(pn, e);

		graph_node_name(names[e], to ? to->name : sink);
		reg->next_nodes[e] = names[e];
	}
	id = __rte_node_register(reg);
	free(reg);
	return id == RTE_NODE_ID_INVALID ? -rte_errno : 0;
}

static bool
has_open_edge(const struct ap_plan *p, const struct ap_plan_lcore *l)
{
	for (unsigned i = 0; i < p->nb_nodes; i++)
		for (uint8_t e = 0; e < p->nodes[i]->type->nb_edges; e++)
			if (p->nodes[i]->lcore == l && p->nodes[i]->links[e].to == NULL)
				return true;
	return false;
}

/** A sink per lcore that needs one joins the plan like any other node. */
static int
sinks_add(struct ap_plan *p, struct ap_error *err)
{
	for (unsigned i = 0; i < p->nb_lcores; i++) {
		struct ap_plan_lcore *l = &p->lcores[i];
		char name[16];
		struct ap_plan_node *n;

		if (!has_open_edge(p, l))
			continue;
		snprintf(name, sizeof(name), "lcore%u", l->id);
		n = ap_plan_add(p, name, "sink", "edge_sink", 0, err);
		if (n == NULL)
			return -EINVAL;
		n->lcore = l;
	}
	return 0;
}

static int
credit_add(struct ap_node *n, struct rte_ring *ring, uint32_t amp)
{
	uint16_t i;
	void *rings, *amps;

	/* The worst cases of several nodes multiply; an empty ring must still let a source go. */
	amp = RTE_MIN(amp, RTE_MAX(1U, rte_ring_get_capacity(ring) / 16));
	for (i = 0; i < n->nb_rings; i++)
		if (n->rings[i] == ring) {
			n->ring_amp[i] = RTE_MAX(n->ring_amp[i], amp);
			return 0;
		}
	rings = rte_realloc(n->rings, (i + 1) * sizeof(*n->rings), 0);
	n->rings = rings ? rings : n->rings;
	amps = rte_realloc(n->ring_amp, (i + 1) * sizeof(*n->ring_amp), 0);
	n->ring_amp = amps ? amps : n->ring_amp;
	if (rings == NULL || amps == NULL)
		return -ENOMEM;
	n->rings[i] = ring;
	n->ring_amp[i] = (uint16_t)amp;
	n->nb_rings++;
	return 0;
}

/** Rings that packets of `n` reach on its own lcore, with how many each can become. */
static int
credits_walk(struct ap_node *n, const struct ap_plan_node *at, uint32_t amp, unsigned depth)
{
	const struct ap_port *port = at->port ? at->arg : NULL;
	int rc = 0;

	if (depth > 64)
		return 0;
	/* A wire is lossy by nature; holding sources back for the worst case would starve them. */
	if (port && !at->type->source && port->tx_rings[0] && amp == 1)
		return credit_add(n, port->tx_rings[at->index], 1);
	amp = RTE_MIN((uint32_t)UINT16_MAX, amp * RTE_MAX(1U, at->type->amplification));
	for (uint8_t e = 0; e < at->type->nb_edges && rc == 0; e++) {
		const struct ap_plan_link *l = &at->links[e];

		if (at->type->rare_edges & 1U << e)
			continue;
		if (l->cut)
			rc = credit_add(n, l->cut->ring, amp);
		else if (l->to)
			rc = credits_walk(n, l->to, amp, depth + 1);
	}
	return rc;
}

static int
cut_ring_make(struct ap_cut *c, unsigned serial, unsigned i)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "cut%u.%u", serial, i);
	c->ring = rte_ring_create(name, c->size, SOCKET_ID_ANY,
				  RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	return c->ring ? 0 : -rte_errno;
}

static int
lcore_graph_make(struct ap_plan *p, struct ap_plan_lcore *l, struct ap_worker *w)
{
	const char **names = calloc(p->nb_nodes, sizeof(*names));
	char(*buf)[RTE_NODE_NAMESIZE] = calloc(p->nb_nodes, sizeof(*buf));
	struct rte_graph_param prm = {.socket_id = SOCKET_ID_ANY, .node_patterns = names};
	char graph_name[RTE_GRAPH_NAMESIZE];
	int rc = -ENOMEM;

	if (names == NULL || buf == NULL)
		goto out;
	for (unsigned i = 0; i < p->nb_nodes; i++)
		if (p->nodes[i]->lcore == l) {
			graph_node_name(buf[prm.nb_node_patterns], p->nodes[i]->name);
			names[prm.nb_node_patterns] = buf[prm.nb_node_patterns];
			prm.nb_node_patterns++;
		}
	snprintf(graph_name, sizeof(graph_name), "%u:%s", making_serial, l->cfg->name);
	rc = 0;
	if (rte_graph_create(graph_name, &prm) == RTE_GRAPH_ID_INVALID)
		rc = rte_errno ? -rte_errno : -EINVAL;
	else
		w->graph = rte_graph_lookup(graph_name);
out:
	free(names);
	free(buf);
	return rc;
}

static int
instances_start(struct ap_plan *p, struct ap_error *err)
{
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_node *n = p->nodes[i]->inst;
		int rc = 0;

		if (n->rte == NULL)
			return ap_error_set(err, "%s: node %s: not in the graph of lcore %s",
					    p->cfg->path, n->name, p->nodes[i]->lcore->cfg->name);
		if (!n->type->source && n->rte->size < AP_STREAM_MAX)
			__rte_node_stream_alloc_size(n->graph, n->rte, STREAM_REQUEST);
		if (n->type->source)
			rc = credits_walk(n, p->nodes[i], 1, 0);
		if (rc == 0 && n->type->init)
			rc = n->type->init(n);
		if (rc < 0)
			return ap_error_set(err, "%s: node %s: init failed: %s", p->cfg->path,
					    n->name, strerror(-rc));
	}
	return 0;
}

int
ap_graph_make(struct ap_plan *p, struct ap_worker *workers, unsigned serial, struct ap_error *err)
{
	int rc = 0;

	making = p;
	making_serial = serial;
	if (sinks_add(p, err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < p->nb_cuts && rc == 0; i++)
		rc = cut_ring_make(p->cuts[i], serial, i);
	for (unsigned i = 0; i < p->nb_nodes && rc == 0; i++) {
		const struct ap_plan_node *pn = p->nodes[i];
		char sink[32];

		snprintf(sink, sizeof(sink), "lcore%u.sink", pn->lcore->id);
		rc = instance_make(p->nodes[i], &workers[pn->lcore - p->lcores]);
		if (rc == 0)
			rc = node_register(pn, sink);
	}
	for (unsigned i = 0; i < p->nb_lcores && rc == 0; i++)
		rc = lcore_graph_make(p, &p->lcores[i], &workers[i]);
	if (rc == 0)
		rc = instances_start(p, err);
	making = NULL;
	if (rc == 0)
		return 0;
	ap_graph_free(p, workers);
	return ap_error_set(err, "%s: graph: %s", p->cfg->path, strerror(-rc));
}

static void
cut_free(struct ap_cut *c)
{
	void *m;

	while (c->ring && rte_ring_sc_dequeue(c->ring, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(c->ring);
	c->ring = NULL;
}

void
ap_graph_free(struct ap_plan *p, struct ap_worker *workers)
{
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_node *n = p->nodes[i]->inst;

		if (n == NULL)
			continue;
		/* A timer left armed would sit in a wheel that outlives it. */
		if (ap_timer_armed(&n->timer))
			ap_timer_cancel(n->worker->wheel, &n->timer);
		if (n->type->fini && n->rte)
			n->type->fini(n);
	}
	for (unsigned i = 0; i < p->nb_cuts; i++)
		cut_free(p->cuts[i]);
	for (unsigned i = 0; i < p->nb_lcores; i++) {
		if (workers[i].graph)
			rte_graph_destroy(workers[i].graph->id);
		workers[i].graph = NULL;
	}
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_node *n = p->nodes[i]->inst;

		if (n == NULL)
			continue;
		rte_free(n->rings);
		rte_free(n->ring_amp);
		rte_free(n->priv);
		rte_free(n);
		p->nodes[i]->inst = NULL;
	}
}
