/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/result.h"

#define OPTS_MAX 32
#define NUM_LIMIT 1e9 /**< no option needs as much */

static const char *const operands[] = {"", " N", " X", " TEXT", " N,N,…"};

static void
print_help(const char *name, const char *about, const struct bench_opt *opts, unsigned n)
{
	char left[64];

	printf("usage: airpath bench %s [OPTIONS]\n\n%s\n\n", name, about);
	for (unsigned i = 0; i < n; i++) {
		snprintf(left, sizeof(left), "--%s%s", opts[i].name, operands[opts[i].kind]);
		printf("  %-24s %s\n", left, opts[i].help);
	}
	printf("  %-24s %s\n", "--help", "this text");
}

static bool
parse_uint(const char *text, char **end, unsigned *v)
{
	unsigned long n;

	errno = 0;
	n = strtoul(text, end, 10);
	if (*end == text || errno != 0 || n > UINT_MAX || strchr(text, '-') != NULL)
		return false;
	*v = (unsigned)n;
	return true;
}

static bool
parse_uints(const char *text, struct bench_uints *list)
{
	char *end = NULL;

	for (list->n = 0; list->n < sizeof(list->v) / sizeof(list->v[0]); text = end + 1) {
		if (!parse_uint(text, &end, &list->v[list->n]))
			return false;
		list->n++;
		if (*end == '\0')
			return true;
		if (*end != ',')
			return false;
	}
	return false;
}

static bool
take(const struct bench_opt *o, char *text)
{
	char *end;
	double num;
	unsigned n;

	switch (o->kind) {
	case BENCH_OPT_FLAG:
		*(bool *)o->value = true;
		return true;
	case BENCH_OPT_UINT:
		if (!parse_uint(text, &end, &n) || *end != '\0')
			return false;
		*(unsigned *)o->value = n;
		return true;
	case BENCH_OPT_NUM:
		num = strtod(text, &end);
		if (end == text || *end != '\0' || !(num > 0 && num < NUM_LIMIT))
			return false;
		*(double *)o->value = num;
		return true;
	case BENCH_OPT_STR:
		*(const char **)o->value = text;
		return true;
	default:
		return parse_uints(text, o->value);
	}
}

int
bench_options(int argc, char **argv, const char *about, struct bench_common *common,
	      const struct bench_opt *own)
{
	struct bench_opt opts[OPTS_MAX] = {
		{"seconds", BENCH_OPT_NUM, &common->seconds, "time to measure, s"},
		{"json", BENCH_OPT_STR, &common->json,
		 "also write JSON to this file, - is standard output"},
	};
	struct option longs[OPTS_MAX + 1] = {{0}};
	unsigned n = 2;
	int c;

	for (; own != NULL && own->name != NULL && n < OPTS_MAX - 1; own++)
		opts[n++] = *own;
	for (unsigned i = 0; i < n; i++)
		longs[i] = (struct option){opts[i].name,
					   opts[i].kind == BENCH_OPT_FLAG ? no_argument
									  : required_argument,
					   NULL, (int)i + 256};
	longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	optind = 0;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h') {
			print_help(argv[0], about, opts, n);
			return 1;
		}
		if (c < 256)
			return -EINVAL;
		if (!take(&opts[c - 256], optarg)) {
			fprintf(stderr, "bench %s: --%s: '%s' will not do\n", argv[0],
				opts[c - 256].name, optarg);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "bench %s: what is '%s'? See --help\n", argv[0], argv[optind]);
		return -EINVAL;
	}
	return 0;
}

const char *
bench_deployment(const char *given, const char *usual)
{
	static char path[1024];
	char exe[512] = "";

	if (given)
		return given;
	if (access(usual, R_OK) == 0)
		return usual;
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) <= 0)
		return usual;
	snprintf(path, sizeof(path), "%s/../%s", dirname(exe), usual);
	return path;
}
