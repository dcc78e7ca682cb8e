/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "core/plan.h"
#include "core/role.h"

#define ROLE_TYPES_MAX 16
#define CUT_SIZE_MAX 32768U

static const struct ap_role_type *role_types[ROLE_TYPES_MAX];
static unsigned nb_role_types;

void
ap_role_type_add(const struct ap_role_type *type)
{
	unsigned i = nb_role_types++;

	RTE_VERIFY(i < ROLE_TYPES_MAX);
	/* By name, so that plans do not depend on link order. */
	for (; i > 0 && strcmp(role_types[i - 1]->kind, type->kind) > 0; i--)
		role_types[i] = role_types[i - 1];
	role_types[i] = type;
}

const struct ap_role_type *
ap_role_type_at(unsigned i)
{
	return i < nb_role_types ? role_types[i] : NULL;
}

static void *
grow(void *array, unsigned nb, size_t item)
{
	return nb % 16 ? array : realloc(array, (nb + 16) * item);
}

struct ap_plan_node *
ap_plan_find(const struct ap_plan *p, const char *name)
{
	for (unsigned i = 0; i < p->nb_nodes; i++)
		if (strcmp(p->nodes[i]->name, name) == 0)
			return p->nodes[i];
	return NULL;
}

static struct ap_plan_node *
add_named(struct ap_plan *p, const char *name, const char *type, uint32_t index,
	  struct ap_error *err)
{
	const char *path = p->cfg->path;
	struct ap_plan_node **nodes, *n;

	if (strlen(name) >= AP_NAME_LEN) {
		ap_error_set(err, "%s: node name %s is longer than %d", path, name,
			     AP_NAME_LEN - 1);
		return NULL;
	}
	if (ap_plan_find(p, name)) {
		ap_error_set(err, "%s: node %s exists twice", path, name);
		return NULL;
	}
	nodes = grow(p->nodes, p->nb_nodes, sizeof(*nodes));
	n = calloc(1, sizeof(*n));
	if (nodes)
		p->nodes = nodes;
	if (nodes == NULL || n == NULL || (n->type = ap_node_type_find(type)) == NULL) {
		ap_error_set(err,
			     n && nodes ? "%s: node %s: there is no node type %s"
					: "%s: node %s (%s): out of memory",
			     path, name, type);
		free(n);
		return NULL;
	}
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->index = index;
	p->nodes[p->nb_nodes++] = n;
	return n;
}

struct ap_plan_node *
ap_plan_add(struct ap_plan *p, const char *role, const char *node, const char *type, uint32_t index,
	    struct ap_error *err)
{
	char name[2 * AP_NAME_LEN];

	snprintf(name, sizeof(name), "%s.%s", role, node);
	return add_named(p, name, type, index, err);
}

/** Two roles cannot share a port, nor two nodes of one role a queue. */
static bool
is_taken(const struct ap_plan_node *n, const struct ap_cfg_port *port, const char *role,
	 const char *type, uint32_t queue)
{
	size_t len = strlen(role);

	if (n->port != port || strcmp(n->type->name, type) != 0)
		return false;
	return n->index == queue || strncmp(n->name, role, len) != 0 || n->name[len] != '.';
}

struct ap_plan_node *
ap_plan_add_queue(struct ap_plan *p, const char *role, const char *node, const char *type,
		  const char *port, uint32_t queue, struct ap_error *err)
{
	const struct ap_cfg_port *cfg = ap_config_port(p->cfg, port);
	struct ap_plan_node *n;

	if (cfg == NULL) {
		ap_config_bad(p->cfg, port, err, "%s.%s: there is no port '%s'", role, node, port);
		return NULL;
	}
	for (unsigned i = 0; i < p->nb_nodes; i++)
		if (is_taken(p->nodes[i], cfg, role, type, queue)) {
			ap_config_bad(p->cfg, port, err, "port %s has two owners: %s and %s.%s",
				      port, p->nodes[i]->name, role, node);
			return NULL;
		}
	n = ap_plan_add(p, role, node, type, queue, err);
	if (n)
		n->port = cfg;
	return n;
}

struct ap_plan_node *
ap_plan_add_port(struct ap_plan *p, const char *role, const char *node, const char *type,
		 const char *port, struct ap_error *err)
{
	return ap_plan_add_queue(p, role, node, type, port, 0, err);
}

void
ap_plan_link(struct ap_plan_node *from, uint8_t edge, struct ap_plan_node *to)
{
	RTE_VERIFY(edge < from->type->nb_edges);
	from->links[edge].to = to;
}

int
ap_plan_together(const struct ap_plan *p, const struct ap_plan_node *a,
		 const struct ap_plan_node *b, const char *why, struct ap_error *err)
{
	if (a->lcore == b->lcore)
		return 0;
	return ap_config_bad(p->cfg, b->place, err, "place: %s is on lcore %s and %s on %s: %s",
			     a->name, a->lcore->cfg->name, b->name, b->lcore->cfg->name, why);
}

int
ap_plan_queue(struct ap_plan *p, const struct ap_plan_queue *q)
{
	struct ap_plan_queue *queues = grow(p->queues, p->nb_queues, sizeof(*queues));

	if (queues == NULL)
		return -ENOMEM;
	p->queues = queues;
	p->queues[p->nb_queues++] = *q;
	return 0;
}

static struct ap_plan_lcore *
lcore_find(struct ap_plan *p, const char *name)
{
	for (unsigned i = 0; i < p->nb_lcores; i++)
		if (strcmp(p->lcores[i].cfg->name, name) == 0)
			return &p->lcores[i];
	return NULL;
}

static void
plan_lcores(struct ap_plan *p)
{
	const struct ap_config *cfg = p->cfg;

	for (unsigned i = 0; i < cfg->lcores_count; i++) {
		struct ap_plan_lcore *l = &p->lcores[p->nb_lcores++];

		l->cfg = &cfg->lcores[i];
		l->id = i + 1;
		for (unsigned j = 0; j < cfg->lcores_count; j++)
			if (j != i && cfg->lcores[j].cpu == cfg->lcores[i].cpu)
				l->shared = true;
	}
}

static int
place_one(struct ap_plan *p, unsigned line, struct ap_error *err)
{
	const struct ap_cfg_place *pl = &p->cfg->place[line];
	struct ap_plan_lcore *l = lcore_find(p, pl->lcore);
	bool exact = strpbrk(pl->node, "*?[") == NULL;
	unsigned matched = 0;

	if (l == NULL)
		return ap_config_bad(p->cfg, pl->lcore, err, "place[%u]: there is no lcore '%s'",
				     line, pl->lcore);
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_plan_node *n = p->nodes[i];

		if (fnmatch(pl->node, n->name, 0) != 0)
			continue;
		matched++;
		if (n->lcore && n->exact == exact && n->lcore != l)
			return ap_config_bad(p->cfg, pl->node, err,
					     "place[%u]: node %s has two owners: lcore %s by '%s', "
					     "lcore %s by '%s'",
					     line, n->name, n->lcore->cfg->name, n->place,
					     l->cfg->name, pl->node);
		if (n->lcore && n->exact && !exact)
			continue;
		n->lcore = l;
		n->exact = exact;
		n->place = pl->node;
	}
	if (matched == 0)
		return ap_config_bad(p->cfg, pl->node, err, "place[%u]: there is no node '%s'",
				     line, pl->node);
	return 0;
}

static int
plan_place(struct ap_plan *p, struct ap_error *err)
{
	for (unsigned i = 0; i < p->cfg->place_count; i++)
		if (place_one(p, i, err) < 0)
			return -EINVAL;
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_plan_node *n = p->nodes[i];

		if (n->lcore == NULL)
			return ap_config_bad(p->cfg, &p->cfg->place, err,
					     "place: node %s is on no lcore", n->name);
		n->lcore->nb_nodes++;
	}
	for (unsigned i = 0; i < p->nb_lcores; i++)
		if (p->lcores[i].nb_nodes == 0)
			return ap_config_bad(p->cfg, p->lcores[i].cfg->name, err,
					     "lcore %s has no node", p->lcores[i].cfg->name);
	return 0;
}

/** Last part of `role.node`. */
static const char *
short_name(const struct ap_plan_node *n)
{
	const char *dot = strchr(n->name, '.');

	return dot ? dot + 1 : n->name;
}

static int
cut_add(struct ap_plan *p, struct ap_plan_node *from, uint8_t edge, struct ap_error *err)
{
	struct ap_plan_node *to = from->links[edge].to;
	struct ap_cut **cuts = grow(p->cuts, p->nb_cuts, sizeof(*cuts));
	struct ap_cut *c = calloc(1, sizeof(*c));
	char name[3 * AP_NAME_LEN];

	if (cuts)
		p->cuts = cuts;
	if (cuts == NULL || c == NULL) {
		free(c);
		return ap_error_set(err, "%s: out of memory", p->cfg->path);
	}
	p->cuts[p->nb_cuts++] = c;
	*c = (struct ap_cut){.from = from, .to = to, .edge = edge};
	/* A source takes 256 packets a visit if each may become `amplification` of them. */
	c->size = RTE_MAX(p->cfg->cut_size,
			  RTE_MIN(CUT_SIZE_MAX, rte_align32pow2(256U * from->type->amplification)));
	from->links[edge].cut = c;
	snprintf(name, sizeof(name), "%s>%s", from->name, short_name(to));
	c->out = add_named(p, name, "ring_out", 0, err);
	snprintf(name, sizeof(name), "%s<%s", to->name, short_name(from));
	c->in = add_named(p, name, "ring_in", 0, err);
	if (c->out == NULL || c->in == NULL)
		return -EINVAL;
	c->out->lcore = from->lcore;
	c->in->lcore = to->lcore;
	c->out->arg = c->in->arg = c;
	c->in->links[0].to = to;
	return 0;
}

static int
plan_cuts(struct ap_plan *p, struct ap_error *err)
{
	unsigned nb = p->nb_nodes; /* cuts add nodes behind these */

	for (unsigned i = 0; i < nb; i++) {
		struct ap_plan_node *n = p->nodes[i];

		for (uint8_t e = 0; e < n->type->nb_edges; e++)
			if (n->links[e].to && n->links[e].to->lcore != n->lcore &&
			    cut_add(p, n, e, err) < 0)
				return -EINVAL;
	}
	return 0;
}

static int
plan_roles(struct ap_plan *p, struct ap_error *err)
{
	const struct ap_role_type *t;

	for (unsigned k = 0; (t = ap_role_type_at(k)) != NULL; k++)
		for (unsigned i = 0; i < t->count(p->cfg); i++)
			if (t->plan(p, i, err) < 0)
				return -EINVAL;
	if (p->nb_nodes == 0)
		return ap_error_set(
			err, "%s: there is no role: add ue, phy, gen, upf, gnb_header or smartnic",
			p->cfg->path);
	return 0;
}

static int
plan_check(struct ap_plan *p, struct ap_error *err)
{
	const struct ap_role_type *t;

	for (unsigned k = 0; (t = ap_role_type_at(k)) != NULL; k++)
		for (unsigned i = 0; t->placed && i < t->count(p->cfg); i++)
			if (t->placed(p, i, err) < 0)
				return -EINVAL;
	return 0;
}

struct ap_plan *
ap_plan_make(const struct ap_config *cfg, struct ap_error *err)
{
	struct ap_plan *p = calloc(1, sizeof(*p));

	err->text[0] = '\0';
	if (p == NULL) {
		ap_error_set(err, "%s: out of memory", cfg->path);
		return NULL;
	}
	p->cfg = cfg;
	plan_lcores(p);
	if (plan_roles(p, err) < 0 || plan_place(p, err) < 0 || plan_check(p, err) < 0 ||
	    plan_cuts(p, err) < 0) {
		ap_plan_free(p);
		return NULL;
	}
	return p;
}

void
ap_plan_free(struct ap_plan *p)
{
	if (p == NULL)
		return;
	for (unsigned i = 0; i < p->nb_nodes; i++)
		free(p->nodes[i]);
	for (unsigned i = 0; i < p->nb_cuts; i++)
		free(p->cuts[i]);
	free(p->nodes);
	free(p->cuts);
	free(p->queues);
	free(p);
}
