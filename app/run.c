/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "app/app.h"
#include "app/progress.h"
#include "core/clock.h"
#include "core/eal.h"
#include "core/run.h"
#include "core/telemetry.h"

#define DRAIN_MS 2000
#define SECONDS_MAX 100000000

static volatile sig_atomic_t stopping;

static void
on_signal(int sig)
{
	(void)sig;
	/* A second signal ends the program even if something does not drain. */
	if (stopping++)
		_exit(130);
}

static int
usage(FILE *f)
{
	fprintf(f,
		"usage: airpath run [OPTIONS] FILE\n\n"
		"Runs a deployment until SIGINT or SIGTERM, then drains it and prints the books:\n"
		"rx = tx + held + drops, node by node. Exit status 0 if they balance.\n\n"
		"  -t, --seconds N   stop after N seconds\n"
		"  -j, --json FILE   write the final counters as JSON, - is standard output\n"
		"  -q, --quiet       no progress line and no table\n"
		"  -h, --help        this text\n");
	return f == stdout ? 0 : 2;
}

struct options {
	const char *path;
	const char *json;
	FILE *report; /**< of `json`, once it is open */
	double seconds;
	bool quiet;
};

/** Before the run, not after it; what stands in the file stays until the end. */
static int
open_json(struct options *o, struct ap_error *err)
{
	int fd = -1;

	if (o->json && strcmp(o->json, "-") != 0)
		fd = open(o->json, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	o->report = fd >= 0 ? fdopen(fd, "w") : stdout;
	if (o->json == NULL || strcmp(o->json, "-") == 0 || (fd >= 0 && o->report))
		return 0;
	return ap_error_set(err, "--json %s: cannot be written: %s", o->json, strerror(errno));
}

static int
write_json(const struct ap_run *run, const char *path, FILE *f)
{
	if (f != stdout && ftruncate(fileno(f), 0) < 0 && errno != EINVAL) {
		perror(path);
		return 1;
	}
	ap_run_json(run, f);
	if (fflush(f) != 0 || (f != stdout && fclose(f) != 0)) {
		perror(path);
		return 1;
	}
	return 0;
}

static int
run_until_stopped(struct ap_run *run, const struct options *o)
{
	struct ap_progress progress = {0};
	uint64_t end = ap_clock_ns() + (uint64_t)(o->seconds * 1e9);
	struct ap_account total;
	struct ap_error err;
	int rc = 0;

	while (!stopping && (o->seconds <= 0 || ap_clock_ns() < end)) {
		rte_delay_us_sleep(20000);
		ap_run_poll(run);
		if (!o->quiet)
			ap_progress_line(&progress, run);
	}
	ap_progress_end(&progress);
	if (!ap_run_quiesce(run, DRAIN_MS) && !o->quiet)
		fprintf(stderr, "still moving after %d ms: what is inside counts as held\n",
			DRAIN_MS);
	ap_run_stop(run);
	ap_account_total(run->plan, &total, &err);
	if (!o->quiet)
		ap_run_print(run, strcmp(o->json ? o->json : "", "-") ? stdout : stderr);
	if (o->json)
		rc = write_json(run, o->json, o->report);
	if (!total.balanced)
		fprintf(stderr, "the books do not balance: %s\n", err.text);
	return total.balanced ? rc : 1;
}

static int
run_file(struct options *o)
{
	struct ap_error err;
	struct ap_config *cfg = ap_config_load(o->path, &err);
	struct ap_plan *p = cfg ? ap_plan_make(cfg, &err) : NULL;
	struct ap_run *run = NULL;
	int rc = 1;

	if (p && cfg->warnings)
		fprintf(stderr, "%s", cfg->warnings);
	if (p && open_json(o, &err) == 0 && ap_eal_start(p, &err) == 0)
		run = ap_run_create(cfg, p, &err);
	if (run && ap_run_start(run, &err) == 0) {
		ap_telemetry_set(run);
		if (!o->quiet)
			ap_progress_banner(run);
		rc = run_until_stopped(run, o);
		ap_telemetry_set(NULL);
	} else {
		fprintf(stderr, "%s\n", err.text);
	}
	ap_run_destroy(run);
	ap_plan_free(p);
	ap_config_free(cfg);
	rte_eal_cleanup();
	return rc;
}

static bool
parse_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && *end == '\0' && *seconds > 0 && *seconds <= SECONDS_MAX)
		return true;
	fprintf(stderr, "airpath run: --seconds '%s' must be above 0 and at most %d\n\n", text,
		SECONDS_MAX);
	return false;
}

int
app_run(int argc, char **argv)
{
	static const struct option options[] = {
		{"seconds", required_argument, NULL, 't'},
		{"json", required_argument, NULL, 'j'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct options o = {0};
	int c;

	while ((c = getopt_long(argc, argv, "t:j:qh", options, NULL)) != -1) {
		if (c == 't' && !parse_seconds(optarg, &o.seconds))
			return usage(stderr);
		if (c == 't')
			continue;
		if (c == 'j')
			o.json = optarg;
		else if (c == 'q')
			o.quiet = true;
		else
			return usage(c == 'h' ? stdout : stderr);
	}
	if (optind != argc - 1)
		return usage(stderr);
	o.path = argv[optind];
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	return run_file(&o);
}
