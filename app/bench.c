/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>

#include "app/app.h"
#include "bench/bench.h"
#include "core/eal.h"

#define PLAIN_MB 512

struct bench {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
	bool deployment; /**< starts EAL itself, for a deployment */
};

static const struct bench benches[] = {
	{"ue-loopback", "S0: throughput and queueing delay of the UE L2 by packet size",
	 bench_ue_loopback, true},
	{"mac-build", "S4: cycles to build a TB, by strategy, subPDUs and size", bench_mac_build,
	 false},
	{"pdcp", "cycles of PDCP with each cipher, beside the cipher library's own", bench_pdcp,
	 false},
	{"rlc-am", "cycles of RLC AM: sending, receiving in several orders, acknowledging",
	 bench_rlc_am, false},
	{"cut", "cycles a cut between lcores costs, and moving bytes between cores", bench_cut,
	 true},
	{"gnb", "S3: a gNB's header processing on one worker, and its share for SmartNICs",
	 bench_gnb, true},
	{"upf", "S2: a forwarding unit of one worker, with its sessions: throughput and delay",
	 bench_upf, true},
	{"power", "S3: CPU time, watts, frequency and delay by load, for each governor",
	 bench_power, true},
	{"port-limits", "S1: packet rate of a software loopback, zero-copy and single-copy",
	 bench_port_limits, false},
};

static int
usage(FILE *f)
{
	fprintf(f, "usage: airpath bench NAME [OPTIONS]\n\n");
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		fprintf(f, "  %-12s %s\n", benches[i].name, benches[i].help);
	fprintf(f, "\nCommon options: --json FILE (- is standard output), --seconds N, --help\n");
	return f == stdout ? 0 : 2;
}

static bool
wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

static int
run(const struct bench *b, int argc, char **argv)
{
	struct ap_error err = {0};
	int rc;

	if (b->deployment || wants_help(argc, argv))
		return b->run(argc, argv);
	if (ap_eal_start_plain(b->name, PLAIN_MB, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	rc = b->run(argc, argv);
	rte_eal_cleanup();
	return rc;
}

int
app_bench(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr);
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		if (strcmp(argv[1], benches[i].name) == 0)
			return run(&benches[i], argc - 1, argv + 1);
	if (wants_help(argc, argv))
		return usage(stdout);
	fprintf(stderr, "airpath bench: there is no bench '%s'\n\n", argv[1]);
	return usage(stderr);
}
