/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>

#include "bench/json.h"

static void
put_str(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

/** Comma, line and key of the next value. */
static void
next(struct json *j, const char *key)
{
	if (j->more[j->depth])
		fputc(',', j->f);
	j->more[j->depth] = true;
	if (j->depth > 0)
		fprintf(j->f, "\n%*s", (int)j->depth, "");
	if (key != NULL) {
		put_str(j->f, key);
		fputs(": ", j->f);
	}
}

static void
open_level(struct json *j, const char *key, char c)
{
	next(j, key);
	fputc(c, j->f);
	if (j->depth + 1 < JSON_DEPTH_MAX)
		j->depth++;
	j->more[j->depth] = false;
}

static void
close_level(struct json *j, char c)
{
	bool some = j->more[j->depth];

	if (j->depth > 0)
		j->depth--;
	if (some)
		fprintf(j->f, "\n%*s", (int)j->depth, "");
	fputc(c, j->f);
	if (j->depth == 0)
		fputc('\n', j->f);
}

void
json_object(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void
json_object_end(struct json *j)
{
	close_level(j, '}');
}

void
json_array(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void
json_array_end(struct json *j)
{
	close_level(j, ']');
}

void
json_str(struct json *j, const char *key, const char *value)
{
	next(j, key);
	if (value == NULL)
		fputs("null", j->f);
	else
		put_str(j->f, value);
}

void
json_int(struct json *j, const char *key, int64_t value)
{
	next(j, key);
	fprintf(j->f, "%" PRId64, value);
}

void
json_num(struct json *j, const char *key, double value)
{
	next(j, key);
	if (isfinite(value))
		fprintf(j->f, fabs(value) < 1e9 ? "%.9g" : "%.15g", value);
	else
		fputs("null", j->f);
}

void
json_bool(struct json *j, const char *key, bool value)
{
	next(j, key);
	fputs(value ? "true" : "false", j->f);
}
