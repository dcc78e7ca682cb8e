/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "modules/dpi/dpi_cost.h"

#define DEPTH_MAX 32

struct reader {
	const char *p;
	const char *why; /* NULL: nothing is wrong */
	unsigned depth;  /* of groups */
};

static uint64_t alternatives(struct reader *r);

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
wrong(struct reader *r, const char *why)
{
	if (!r->why)
		r->why = why;
	r->p += strlen(r->p);
	return 0;
}

/* Behind the next `end`. */
static uint64_t
skip_to(struct reader *r, const char *end, const char *why)
{
	const char *at = strstr(r->p, end);

	if (!at)
		return wrong(r, why);
	r->p = at + strlen(end);
	return 0;
}

/* \Q...\E: as it stands. */
static uint64_t
quoted(struct reader *r)
{
	const char *end = strstr(r->p, "\\E");
	size_t len = end ? (size_t)(end - r->p) : strlen(r->p);

	r->p += end ? len + 2 : len;
	return len;
}

static uint64_t
escape(struct reader *r)
{
	char c = r->p[1];

	if (c == '\0')
		return wrong(r, "ends in a backslash");
	r->p += 2;
	if (c == 'Q')
		return quoted(r);
	if (c == 'c' && *r->p != '\0')
		r->p++;
	else if (strchr("xpPNogk", c) && *r->p == '{')
		skip_to(r, "}", "'\\...{' without '}'");
	return 1;
}

/* [:alpha:] and the like, within a class. */
static bool
posix_class(struct reader *r)
{
	const char *p = r->p;
	char kind = p[1];

	if (kind != ':' && kind != '.' && kind != '=')
		return false;
	for (p += 2; isalpha((unsigned char)*p) || *p == '^';)
		p++;
	if (p[0] != kind || p[1] != ']')
		return false;
	r->p = p + 2;
	return true;
}

static uint64_t class(struct reader *r)
{
	r->p++;
	if (*r->p == '^')
		r->p++;
	if (*r->p == ']')
		r->p++;
	while (*r->p != ']') {
		if (*r->p == '\0')
			return wrong(r, "'[' without ']'");
		if (*r->p == '\\')
			escape(r);
		else if (*r->p != '[' || !posix_class(r))
			r->p++;
	}
	r->p++;
	return 1;
}

/* Behind (?... up to what the group has in it. @return whether it has anything */
static bool
group_head(struct reader *r)
{
	if (*r->p == '#') {
		skip_to(r, ")", "'(?#' without ')'");
		return false;
	}
	if (*r->p == 'P')
		r->p++;
	if (r->p[0] == '<' && r->p[1] != '=' && r->p[1] != '!') {
		skip_to(r, ">", "'(?<' without '>'");
		return true;
	}
	while (*r->p != ':' && *r->p != ')') {
		/* Where white space and comments do not count, this text does not tell. */
		if (*r->p == 'x') {
			wrong(r, "'(?x)': write it without white space and comments");
			return false;
		}
		if (strchr("=!>", *r->p)) /* the end of the text too */
			break;
		r->p++;
	}
	if (*r->p == '\0') {
		wrong(r, "'(' without ')'");
		return false;
	}
	return *r->p++ != ')';
}

static uint64_t
group(struct reader *r)
{
	uint64_t n;

	r->p++;
	if (*r->p == '*')
		return wrong(r, "'(*': verbs are not supported");
	if (*r->p == '?') {
		r->p++;
		if (!group_head(r))
			return 0;
	}
	if (++r->depth > DEPTH_MAX)
		return wrong(r, "groups nested too deep");
	n = alternatives(r);
	r->depth--;
	if (*r->p != ')')
		return wrong(r, "'(' without ')'");
	r->p++;
	return n;
}

static uint64_t
number(const char **p)
{
	uint64_t n = 0;

	for (; isdigit((unsigned char)**p); ++*p)
		n = least(10 * n + (uint64_t)(**p - '0'), DPI_COST_MAX);
	return n;
}

/* {m}, {m,} or {m,n}. @return false: no repeat, the brace stands for itself */
static bool
bounded_repeat(struct reader *r, uint64_t *times)
{
	const char *p = r->p + 1;
	uint64_t first, last;

	if (!isdigit((unsigned char)*p))
		return false;
	first = last = number(&p);
	if (*p == ',') {
		p++;
		if (*p != '}')
			last = number(&p);
	}
	if (*p != '}')
		return false;
	r->p = p + 1;
	*times = first > last ? first : last;
	return true;
}

static uint64_t
repeats(struct reader *r, uint64_t n)
{
	for (;;) {
		uint64_t times = 1;

		if (*r->p == '*' || *r->p == '+' || *r->p == '?')
			r->p++;
		else if (*r->p != '{' || !bounded_repeat(r, &times))
			return n;
		n = times > 1 && n > DPI_COST_MAX / times ? DPI_COST_MAX : n * (times ? times : 1);
	}
}

static uint64_t
atom(struct reader *r)
{
	switch (*r->p) {
	case '\\':
		return escape(r);
	case '[':
		return class(r);
	case '(':
		return group(r);
	default:
		r->p++;
		return 1;
	}
}

static uint64_t
alternatives(struct reader *r)
{
	uint64_t sum = 0;

	while (*r->p != '\0' && *r->p != ')') {
		if (*r->p == '|') {
			r->p++;
			continue;
		}
		sum = least(sum + repeats(r, atom(r)), DPI_COST_MAX);
	}
	return sum;
}

int
dpi_cost(const char *text, uint64_t *positions, const char **why)
{
	struct reader r = {.p = text};

	*positions = alternatives(&r);
	if (*r.p == ')')
		wrong(&r, "')' without '('");
	*why = r.why;
	return r.why ? -EINVAL : 0;
}
