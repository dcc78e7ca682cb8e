/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include <rte_ring.h>

#include "core/account.h"

static bool
is_cut(const struct ap_plan_node *pn, const char *end)
{
	return strcmp(pn->type->name, end) == 0;
}

void
ap_account_node(const struct ap_plan_node *pn, struct ap_account_row *row)
{
	const struct ap_node *n = pn->inst;

	*row = (struct ap_account_row){.node = pn};
	row->in = n->in;
	row->made = n->made;
	row->used = n->used;
	for (uint8_t e = 0; e < n->type->nb_edges; e++)
		row->out += n->out[e];
	for (uint8_t d = 0; d < n->type->nb_drops; d++)
		row->drops += n->drops[d];
	row->held = n->type->held ? n->type->held(n) : 0;
	row->calls = n->rte->total_calls;
	row->objs = n->rte->total_objs;
	row->cycles = n->rte->total_cycles;
	row->balanced = row->in + row->made == row->out + row->used + row->drops + row->held;
}

/** What left `pn` by all its links must be what its successors took in, or lies in a cut. */
static bool
edges_balanced(const struct ap_plan *p, const struct ap_plan_node *to)
{
	uint64_t sent = 0;
	bool linked = false;

	for (unsigned i = 0; i < p->nb_nodes; i++) {
		const struct ap_plan_node *from = p->nodes[i];

		for (uint8_t e = 0; e < from->type->nb_edges; e++) {
			const struct ap_plan_link *l = &from->links[e];

			if ((l->cut ? l->cut->out : l->to) != to)
				continue;
			sent += from->inst->out[e];
			linked = true;
		}
	}
	return !linked || sent == to->inst->in;
}

void
ap_account_total(const struct ap_plan *p, struct ap_account *total, struct ap_error *err)
{
	*total = (struct ap_account){.balanced = true};
	err->text[0] = '\0';
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		const struct ap_plan_node *pn = p->nodes[i];
		struct ap_account_row row;

		ap_account_node(pn, &row);
		total->held += row.held;
		total->drops += row.drops;
		total->rx += row.made;
		if (pn->type->source && !is_cut(pn, "ring_in"))
			total->rx += row.in;
		if (!is_cut(pn, "ring_out"))
			total->tx += row.used;
		if (!row.balanced || !edges_balanced(p, pn)) {
			total->balanced = false;
			ap_error_set(err,
				     "node %s: in %" PRIu64 " + made %" PRIu64 " ≠ out %" PRIu64
				     " + used %" PRIu64 " + drops %" PRIu64 " + held %" PRIu64,
				     pn->name, row.in, row.made, row.out, row.used, row.drops,
				     row.held);
		}
	}
	for (unsigned i = 0; i < p->nb_cuts; i++) {
		const struct ap_cut *c = p->cuts[i];
		uint64_t held = rte_ring_count(c->ring);

		total->held += held;
		if (c->out->inst->used != c->in->inst->in + held) {
			total->balanced = false;
			ap_error_set(err, "cut %s: %" PRIu64 " in ≠ %" PRIu64 " out + %" PRIu64,
				     c->out->name, c->out->inst->used, c->in->inst->in, held);
		}
	}
	for (unsigned i = 0; i < p->nb_queues; i++) {
		uint64_t held = p->queues[i].held(p->queues[i].from->inst);

		/* The node before the queue has counted them as used. */
		total->held += held;
		total->tx -= held;
	}
	if (total->rx != total->tx + total->held + total->drops) {
		total->balanced = false;
		ap_error_set(err,
			     "rx %" PRIu64 " ≠ tx %" PRIu64 " + held %" PRIu64 " + drops %" PRIu64,
			     total->rx, total->tx, total->held, total->drops);
	}
}

static void
print_drops(const struct ap_node *n, FILE *f)
{
	for (uint8_t d = 0; d < n->type->nb_drops; d++)
		if (n->drops[d])
			fprintf(f, "    %-34s drop %s_%s: %" PRIu64 "\n", n->name, n->type->name,
				n->type->drops[d], n->drops[d]);
}

void
ap_account_print(const struct ap_plan *p, FILE *f)
{
	struct ap_account total;
	struct ap_error err;

	fprintf(f, "%-38s %-15s %12s %12s %10s %8s %8s %8s\n", "node", "lcore", "in+made",
		"out+used", "drops", "held", "pkt/call", "cyc/pkt");
	for (unsigned i = 0; i < p->nb_nodes; i++) {
		struct ap_account_row r;
		uint64_t pkts;

		ap_account_node(p->nodes[i], &r);
		pkts = RTE_MAX(r.in + r.made, 1UL);
		fprintf(f, "%-38s %-15s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %8" PRIu64,
			r.node->name, r.node->lcore->cfg->name, r.in + r.made, r.out + r.used,
			r.drops, r.held);
		if (r.calls)
			fprintf(f, " %8.1f %8.1f", (double)r.objs / (double)r.calls,
				(double)r.cycles / (double)pkts);
		fprintf(f, "%s\n", r.balanced ? "" : "  UNBALANCED");
	}
	for (unsigned i = 0; i < p->nb_nodes; i++)
		print_drops(p->nodes[i]->inst, f);
	ap_account_total(p, &total, &err);
	fprintf(f,
		"accounting: rx %" PRIu64 " = tx %" PRIu64 " + held %" PRIu64 " + drops %" PRIu64
		": %s\n",
		total.rx, total.tx, total.held, total.drops,
		total.balanced ? "every packet accounted for" : err.text);
}

static void
json_node(const struct ap_plan_node *pn, bool first, FILE *f)
{
	const struct ap_node *n = pn->inst;
	struct ap_account_row r;
	bool comma = false;

	ap_account_node(pn, &r);
	fprintf(f,
		"%s\n    {\"node\": \"%s\", \"type\": \"%s\", \"lcore\": \"%s\", \"cpu\": %u, "
		"\"in\": %" PRIu64 ", \"made\": %" PRIu64 ", \"out\": %" PRIu64
		", \"used\": %" PRIu64 ", \"held\": %" PRIu64 ", \"calls\": %" PRIu64
		", \"cycles\": %" PRIu64 ", \"balanced\": %s, \"drops\": {",
		first ? "" : ",", pn->name, pn->type->name, pn->lcore->cfg->name,
		pn->lcore->cfg->cpu, r.in, r.made, r.out, r.used, r.held, r.calls, r.cycles,
		r.balanced ? "true" : "false");
	for (uint8_t d = 0; d < n->type->nb_drops; d++) {
		if (n->drops[d] == 0)
			continue;
		fprintf(f, "%s\"%s_%s\": %" PRIu64, comma ? ", " : "", n->type->name,
			n->type->drops[d], n->drops[d]);
		comma = true;
	}
	fprintf(f, "}}");
}

void
ap_account_json(const struct ap_plan *p, FILE *f)
{
	struct ap_account total;
	struct ap_error err;

	ap_account_total(p, &total, &err);
	fprintf(f,
		"\"deployment\": \"%s\", \"rx\": %" PRIu64 ", \"tx\": %" PRIu64
		", \"held\": %" PRIu64 ", \"drops\": %" PRIu64
		", \"balanced\": %s,\n  \"nodes\": [",
		p->cfg->name, total.rx, total.tx, total.held, total.drops,
		total.balanced ? "true" : "false");
	for (unsigned i = 0; i < p->nb_nodes; i++)
		json_node(p->nodes[i], i == 0, f);
	fprintf(f, "],\n  \"cuts\": [");
	for (unsigned i = 0; i < p->nb_cuts; i++) {
		const struct ap_cut *c = p->cuts[i];

		fprintf(f,
			"%s\n    {\"from\": \"%s\", \"to\": \"%s\", \"rare\": %s, "
			"\"packets\": %" PRIu64 "}",
			i ? "," : "", c->from->name, c->to->name,
			c->from->type->rare_edges >> c->edge & 1 ? "true" : "false",
			c->out->inst->used);
	}
	fprintf(f, "]");
}
