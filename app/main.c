/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "modules/dpi/dpi_set.h"

struct command {
	const char *name;
	const char *help; /* NULL: not for people */
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{"run", "run a deployment until it is stopped", app_run},
	{"check", "say whether a deployment is sound, and if not, where", app_check},
	{"show", "nodes, graph and statistics of a file or of what is running", app_show},
	{"ctl", "contexts of a gNB that runs: list, add, modify, delete, load", app_ctl},
	{"bench", "measure, and print the papers' figures beside ours", app_bench},
	{"dpi-compile", NULL, app_dpi_compile},
};

static int
usage(FILE *f)
{
	fprintf(f, "airpath: the 5G/6G user plane on DPDK\n\nusage: airpath COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].help)
			fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].help);
	fprintf(f, "\n'airpath COMMAND --help' tells more.\n");
	return f == stdout ? 0 : 2;
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return usage(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		printf("airpath " AIRPATH_VERSION "\n");
		return 0;
	}
	dpi_compile_with("/proc/self/exe");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "airpath: there is no command '%s'\n\n", argv[1]);
	return usage(stderr);
}
