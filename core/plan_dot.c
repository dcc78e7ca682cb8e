/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "core/plan.h"

static const char *const colours[] = {"#dce9f7", "#e3f2e1", "#fdf1d6", "#f6e1ea",
				      "#e8e4f5", "#def2f1", "#f4e9dd", "#eceff1"};

static bool
is_cut_end(const struct ap_plan_node *n)
{
	return strncmp(n->type->name, "ring_", 5) == 0;
}

static void
dot_lcore(const struct ap_plan *p, const struct ap_plan_lcore *l, FILE *f)
{
	unsigned i = (unsigned)(l - p->lcores);

	fprintf(f, "  subgraph cluster_%u {\n", i);
	fprintf(f, "    label=\"%s · cpu %u\"; style=\"rounded,filled\"; color=\"#90a4ae\"; ",
		l->cfg->name, l->cfg->cpu);
	fprintf(f, "fillcolor=\"%s\";\n", colours[i % RTE_DIM(colours)]);
	for (unsigned k = 0; k < p->nb_nodes; k++) {
		const struct ap_plan_node *n = p->nodes[k];

		if (n->lcore != l || is_cut_end(n))
			continue;
		fprintf(f, "    \"%s\" [label=\"%s", n->name, n->name);
		if (n->port)
			fprintf(f, "\\nport %s", n->port->name);
		fprintf(f, "\"%s];\n", n->type->source ? ", shape=house, orientation=270" : "");
	}
	fprintf(f, "  }\n");
}

static void
dot_edges(const struct ap_plan_node *n, FILE *f)
{
	for (uint8_t e = 0; e < n->type->nb_edges; e++) {
		const struct ap_plan_link *l = &n->links[e];

		if (l->to == NULL || is_cut_end(n))
			continue;
		fprintf(f, "  \"%s\" -> \"%s\"", n->name, l->to->name);
		if (l->cut)
			fprintf(f, " [style=dashed, color=\"#c62828\", label=\"cut %u\"]",
				l->cut->size);
		fprintf(f, ";\n");
	}
}

void
ap_plan_dot(const struct ap_plan *p, FILE *f)
{
	fprintf(f, "digraph \"%s\" {\n  rankdir=LR; compound=true; fontname=\"Helvetica\";\n",
		p->cfg->name);
	fprintf(f, "  node [shape=box, style=\"rounded,filled\", fillcolor=white, ");
	fprintf(f, "fontname=\"Helvetica\", fontsize=11];\n");
	fprintf(f, "  edge [fontname=\"Helvetica\", fontsize=9];\n");
	for (unsigned i = 0; i < p->nb_lcores; i++)
		dot_lcore(p, &p->lcores[i], f);
	for (unsigned i = 0; i < p->nb_nodes; i++)
		dot_edges(p->nodes[i], f);
	for (unsigned i = 0; i < p->nb_queues; i++)
		fprintf(f, "  \"%s\" -> \"%s\" [penwidth=3, arrowhead=box, label=\"%s\"];\n",
			p->queues[i].from->name, p->queues[i].to->name, p->queues[i].name);
	for (unsigned i = 0; i < p->cfg->ports_count; i++) {
		const struct ap_cfg_port *a = &p->cfg->ports[i];
		const struct ap_plan_node *from = NULL, *to = NULL;

		if (a->preset != AP_PRESET_RING)
			continue;
		for (unsigned k = 0; k < p->nb_nodes; k++) {
			const struct ap_plan_node *n = p->nodes[k];

			if (n->port == a && !n->type->source)
				from = n;
			if (n->port && strcmp(n->port->name, a->peer) == 0 && n->type->source)
				to = n;
		}
		if (from && to)
			fprintf(f, "  \"%s\" -> \"%s\" [style=dotted, label=\"wire\"];\n",
				from->name, to->name);
	}
	fprintf(f, "}\n");
}
