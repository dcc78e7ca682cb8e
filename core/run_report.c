/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened: for people, and as JSON. */
#include <stdio.h>

#include "core/clock.h"
#include "core/run.h"

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
