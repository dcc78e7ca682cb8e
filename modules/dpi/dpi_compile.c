/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hs/hs.h>

#include "modules/dpi/dpi_compile.h"
#include "modules/dpi/dpi_cost.h"
#include "modules/dpi/dpi_speed.h"

static const char *compiler;

void
dpi_compile_with(const char *program)
{
	compiler = program;
}

static uint64_t
thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static unsigned
flags_of(const struct dpi_expression *e)
{
	return HS_FLAG_DOTALL | (e->every ? 0 : HS_FLAG_SINGLEMATCH) |
	       (e->caseless ? HS_FLAG_CASELESS : 0);
}

/* --- one expression alone --------------------------------------------------------------------- */

static int
check_text(const struct dpi_expression *e, const struct dpi_limits *limits, struct dpi_error *err)
{
	uint64_t positions;
	const char *why;

	if (strlen(e->text) > limits->expression_octets) {
		snprintf(err->why, sizeof(err->why), "has %zu octets; %" PRIu32 " are allowed",
			 strlen(e->text), limits->expression_octets);
		return -E2BIG;
	}
	if (dpi_cost(e->text, &positions, &why) < 0) {
		snprintf(err->why, sizeof(err->why), "%s", why);
		return -EINVAL;
	}
	if (positions > limits->expression_positions) {
		snprintf(err->why, sizeof(err->why),
			 "costs too much: with its repeats written out it has %s%" PRIu64
			 " characters; %" PRIu32 " are allowed",
			 positions == DPI_COST_MAX ? "at least " : "", positions,
			 limits->expression_positions);
		return -E2BIG;
	}
	return 0;
}

static int
refused(hs_error_t code, hs_compile_error_t *error, struct dpi_error *err)
{
	snprintf(err->why, sizeof(err->why), "%s",
		 error ? error->message : "Vectorscan refuses it");
	hs_free_compile_error(error);
	return code == HS_NOMEM ? -ENOMEM : -EINVAL;
}

static int
check_width(const struct dpi_expression *e, struct dpi_error *err)
{
	hs_compile_error_t *error = NULL;
	hs_expr_info_t *info = NULL;
	hs_error_t code;
	unsigned least;

	code = hs_expression_info(e->text, flags_of(e) | HS_FLAG_ALLOWEMPTY, &info, &error);
	if (code != HS_SUCCESS)
		return refused(code, error, err);
	least = info->min_width;
	free(info);
	if (least > 0)
		return 0;
	snprintf(err->why, sizeof(err->why), "matches nothing at all, so every name");
	return -EINVAL;
}

/* @return 0, or -E2BIG and why */
static int
check_figures(const struct dpi_limits *limits, uint64_t ms, size_t size, uint64_t us,
	      struct dpi_error *err)
{
	if (ms > limits->expression_ms)
		snprintf(err->why, sizeof(err->why),
			 "costs too much: %" PRIu64 " ms to compile; %" PRIu32 " are allowed", ms,
			 limits->expression_ms);
	else if (size > limits->expression_memory)
		snprintf(err->why, sizeof(err->why),
			 "costs too much: %zu octets compiled; %" PRIu64 " are allowed", size,
			 limits->expression_memory);
	else if (us > limits->expression_us)
		snprintf(err->why, sizeof(err->why),
			 "costs too much: %" PRIu64 " us to look through %u octets; %" PRIu32
			 " are allowed",
			 us, DPI_URL_MAX, limits->expression_us);
	else
		return 0;
	return -E2BIG;
}

static int
check_compiled(const struct dpi_expression *e, const struct dpi_limits *limits,
	       struct dpi_error *err)
{
	uint64_t took = thread_cpu_ns(), scan = 0;
	hs_compile_error_t *error = NULL;
	hs_database_t *db = NULL;
	size_t size = 0;
	hs_error_t code;
	int ret;

	code = hs_compile(e->text, flags_of(e), HS_MODE_BLOCK, NULL, &db, &error);
	if (code != HS_SUCCESS)
		return refused(code, error, err);
	took = thread_cpu_ns() - took;
	hs_database_size(db, &size);
	ret = dpi_speed(db, e, 1, &scan);
	hs_free_database(db);
	return ret < 0 ? ret : check_figures(limits, took / 1000000, size, scan / 1000, err);
}

static int
check_each(const struct dpi_job *job, dpi_compile_at at, void *arg, struct dpi_error *err)
{
	int ret = 0;

	if (job->literal)
		return 0;
	for (uint32_t i = 0; i < job->nb && ret == 0; i++) {
		const struct dpi_expression *e = &job->expressions[i];

		err->rule = i;
		ret = check_text(e, job->limits, err);
		if (ret == 0 && at)
			at(arg, i);
		if (ret == 0)
			ret = check_width(e, err);
		if (ret == 0)
			ret = check_compiled(e, job->limits, err);
	}
	return ret;
}

/* --- all together ----------------------------------------------------------------------------- */

struct lists {
	const char **texts;
	unsigned *flags, *ids;
	size_t *lens;
};

static void
lists_free(struct lists *l)
{
	free(l->texts);
	free(l->flags);
	free(l->ids);
	free(l->lens);
}

static int
lists_make(const struct dpi_job *job, struct lists *l)
{
	l->texts = calloc(job->nb, sizeof(*l->texts));
	l->flags = calloc(job->nb, sizeof(*l->flags));
	l->ids = calloc(job->nb, sizeof(*l->ids));
	l->lens = calloc(job->nb, sizeof(*l->lens));
	if (!l->texts || !l->flags || !l->ids || !l->lens)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->nb; i++) {
		l->texts[i] = job->expressions[i].text;
		l->lens[i] = strlen(l->texts[i]);
		l->ids[i] = job->expressions[i].id;
		/* A text has no dots that match all. */
		l->flags[i] = flags_of(&job->expressions[i]) &
			      (job->literal ? ~(unsigned)HS_FLAG_DOTALL : UINT32_MAX);
	}
	return 0;
}

static int
serialize(hs_database_t *db, const struct dpi_job *job, struct dpi_compiled *out,
	  struct dpi_error *err)
{
	uint64_t ns;
	int ret = dpi_speed(db, job->expressions, job->nb, &ns);

	if (ret < 0)
		return ret;
	if (ns / 1000 > job->limits->scan_us) {
		snprintf(err->why, sizeof(err->why),
			 "%" PRIu32 " patterns take %" PRIu64
			 " us to look through %u octets; %" PRIu32 " are allowed",
			 job->nb, ns / 1000, DPI_URL_MAX, job->limits->scan_us);
		return -E2BIG;
	}
	return hs_serialize_database(db, &out->octets, &out->len) == HS_SUCCESS ? 0 : -ENOMEM;
}

static int
compile_all(const struct dpi_job *job, struct dpi_compiled *out, struct dpi_error *err)
{
	hs_compile_error_t *error = NULL;
	hs_database_t *db = NULL;
	struct lists l = {0};
	hs_error_t code;
	int ret = lists_make(job, &l);

	if (ret == 0) {
		code = job->literal ? hs_compile_lit_multi(l.texts, l.flags, l.ids, l.lens, job->nb,
							   HS_MODE_BLOCK, NULL, &db, &error)
				    : hs_compile_multi(l.texts, l.flags, l.ids, job->nb,
						       HS_MODE_BLOCK, NULL, &db, &error);
		if (code != HS_SUCCESS) {
			err->rule = error && error->expression >= 0 ? (uint32_t)error->expression
								    : DPI_NO_RULE;
			ret = refused(code, error, err);
		}
	}
	lists_free(&l);
	if (ret == 0)
		ret = serialize(db, job, out, err);
	hs_free_database(db);
	return ret;
}

int
dpi_compile_here(const struct dpi_job *job, dpi_compile_at at, void *arg, struct dpi_compiled *out,
		 struct dpi_error *err)
{
	uint64_t took = thread_cpu_ns();
	int ret = check_each(job, at, arg, err);

	if (ret < 0)
		return ret;
	err->rule = DPI_NO_RULE;
	if (at)
		at(arg, DPI_NO_RULE);
	ret = compile_all(job, out, err);
	if (ret < 0)
		return ret;
	took = (thread_cpu_ns() - took) / 1000000;
	if (took <= job->limits->build_ms)
		return 0;
	free(out->octets);
	snprintf(err->why, sizeof(err->why),
		 "%" PRIu32 " patterns take %" PRIu64 " ms to compile; %" PRIu32 " are allowed",
		 job->nb, took, job->limits->build_ms);
	return -E2BIG;
}

int
dpi_compile(const struct dpi_job *job, struct dpi_compiled *out, struct dpi_error *err)
{
	int ret = compiler ? dpi_compile_apart(compiler, job, out, err)
			   : dpi_compile_here(job, NULL, NULL, out, err);

	if (ret < 0)
		err->rule = err->rule < job->nb ? job->expressions[err->rule].rule : DPI_NO_RULE;
	return ret;
}
