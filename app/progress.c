/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/progress.h"
#include "core/clock.h"
#include "core/eal.h"

void
ap_progress_banner(const struct ap_run *run)
{
	const struct ap_plan *p = run->plan;
	unsigned shared = 0;

	for (unsigned i = 0; i < p->nb_lcores; i++)
		shared += p->lcores[i].shared;
	fprintf(stderr, "%s: %u nodes on %u lcores, %u cuts, %s\n", run->cfg->name,
		p->nb_nodes - 2 * p->nb_cuts, p->nb_lcores, p->nb_cuts,
		ap_eal_hugepages() ? "hugepages" : "no hugepages");
	if (shared)
		fprintf(stderr,
			"%u lcores share CPUs and take turns: this shows the layout, not its "
			"speed\n",
			shared);
}

/** Packets received and sent on all ports. */
static void
port_packets(const struct ap_run *run, uint64_t *rx, uint64_t *tx, uint64_t *drops)
{
	*rx = *tx = *drops = 0;
	for (unsigned i = 0; i < run->plan->nb_nodes; i++) {
		const struct ap_plan_node *pn = run->plan->nodes[i];

		if (pn->port && pn->type->source)
			*rx += pn->inst->in;
		else if (pn->port)
			*tx += pn->inst->used;
		for (uint8_t d = 0; d < pn->type->nb_drops; d++)
			*drops += pn->inst->drops[d];
	}
}

void
ap_progress_line(struct ap_progress *p, const struct ap_run *run)
{
	bool tty = isatty(STDERR_FILENO);
	uint64_t now = ap_clock_ns(), rx, tx, drops;
	double seconds;

	if (now < p->next_ns)
		return;
	port_packets(run, &rx, &tx, &drops);
	if (p->next_ns) {
		seconds = (double)(now - p->last_ns) / 1e9;
		fprintf(stderr, "%sports: rx %.3f Mpps, tx %.3f Mpps, drops %lu%s", tty ? "\r" : "",
			(double)(rx - p->rx) / seconds / 1e6, (double)(tx - p->tx) / seconds / 1e6,
			drops, tty ? "   " : "\n");
		p->shown = tty;
	}
	p->rx = rx;
	p->tx = tx;
	p->last_ns = now;
	p->next_ns = now + (tty ? 500 : 2000) * AP_NS_PER_MS;
}

void
ap_progress_end(struct ap_progress *p)
{
	if (p->shown)
		fprintf(stderr, "\n");
}
