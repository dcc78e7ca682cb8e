/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "app/app.h"
#include "core/plan.h"
#include "modules/power/power_table.h"

static int
usage(FILE *f)
{
	fprintf(f, "usage: airpath check FILE...\n\n"
		   "Loads each deployment, plans its graph and placement, and says what is wrong:\n"
		   "file, line, reason. Exit status 0 if all are sound. Needs no privileges.\n");
	return f == stdout ? 0 : 2;
}

/** The file may be meant for another machine, so this is no error. */
static void
warn_cpus(const struct ap_plan *p)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (unsigned i = 0; i < p->nb_lcores; i++)
		if (p->lcores[i].cfg->cpu >= cpus)
			printf("%s:%u: warning: lcore %s: cpu %u: this machine has 0..%ld\n",
			       p->cfg->path, ap_config_line(p->cfg, &p->lcores[i].cfg->cpu),
			       p->lcores[i].cfg->name, p->lcores[i].cfg->cpu, cpus - 1);
}

/** Tables of power settings are files of their own. @return whether all are sound. */
static bool
tables_check(const struct ap_config *cfg)
{
	bool sound = true;

	for (unsigned i = 0; i < cfg->power_count; i++) {
		const struct ap_cfg_power *p = &cfg->power[i];
		struct ap_error err = {0};
		struct power_table *t =
			p->table ? power_table_load(p->table, cfg->path, &err) : NULL;

		if (p->table && t == NULL) {
			fprintf(stderr, "%s:%u: power %s: table: %s\n", cfg->path,
				ap_config_line(cfg, &p->table), p->name, err.text);
			sound = false;
		}
		power_table_free(t);
	}
	return sound;
}

static int
check_one(const char *path)
{
	struct ap_error err;
	struct ap_config *cfg = ap_config_load(path, &err);
	struct ap_plan *p = cfg ? ap_plan_make(cfg, &err) : NULL;

	if (p == NULL || !tables_check(cfg)) {
		if (p == NULL)
			fprintf(stderr, "%s\n", err.text);
		ap_plan_free(p);
		ap_config_free(cfg);
		return 1;
	}
	printf("%s: sound: %u nodes on %u lcores, %u cuts", path, p->nb_nodes - 2 * p->nb_cuts,
	       p->nb_lcores, p->nb_cuts);
	for (unsigned i = 0, said = 0; i < p->nb_lcores; i++)
		if (p->lcores[i].shared && !said++)
			printf("; lcores share CPUs: not a measurement of speed");
	printf("\n");
	if (cfg->warnings)
		printf("%s", cfg->warnings);
	warn_cpus(p);
	ap_plan_free(p);
	ap_config_free(cfg);
	return 0;
}

int
app_check(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int c, bad = 0;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		return usage(c == 'h' ? stdout : stderr);
	if (optind == argc)
		return usage(stderr);
	for (int i = optind; i < argc; i++)
		bad |= check_one(argv[i]);
	return bad;
}
