/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/dpi/dpi_grams_impl.h"

#define BITS_OF_FEW 128 /* of a gram in the filter, where these are few */
#define FEW 2048
#define STEP_MAX 32
#define LETTERS 0x2020202020202020ULL /* what tells cases apart, in all octets */
#define GROUPS_MAX 32

/* --- what an expression requires -------------------------------------------------------------- */

struct reader {
	const char *p;
	bool unknown; /* there is something else: nothing is known of the expression */
};

/* Behind an escape, which begins; one of more than two octets is not known. */
static void
escape_skip(struct reader *r, const char *known)
{
	const char c = r->p[1];

	r->unknown |= c == '\0' || (isalnum((unsigned char)c) && !strchr(known, c));
	r->p += 1 + !r->unknown;
}

#define ESCAPES "dDwWsSbBhHvVnrtfae"
#define ESCAPES_SKIPPED ESCAPES "x" /* with what follows */

/* Behind a class, which begins. */
static void
class_skip(struct reader *r)
{
	r->p++;
	r->p += *r->p == '^';
	r->p += *r->p == ']';
	while (*r->p && *r->p != ']' && !r->unknown) {
		if (r->p[0] == '[' && r->p[1] == ':') {
			r->p += 2 + (r->p[2] == '^');
			while (isalpha((unsigned char)*r->p))
				r->p++;
			r->unknown |= r->p[0] != ':' || r->p[1] != ']';
			r->p += r->unknown ? 0 : 2;
		} else if (r->p[0] == '\\') {
			escape_skip(r, ESCAPES_SKIPPED);
		} else {
			r->unknown |= r->p[0] == '[' && (r->p[1] == '.' || r->p[1] == '=');
			r->p++;
		}
	}
	r->unknown |= *r->p == '\0';
	r->p += !r->unknown;
}

/* Behind a group, which begins. */
static void
group_skip(struct reader *r)
{
	unsigned depth = 0;

	do {
		if (*r->p == '[') {
			class_skip(r);
			continue;
		}
		if (*r->p == '\\') {
			escape_skip(r, ESCAPES_SKIPPED);
			continue;
		}
		/* Some that begin so are of another kind, or change what follows. */
		r->unknown |=
			r->p[0] == '(' && (r->p[1] == '*' || (r->p[1] == '?' && r->p[2] != ':'));
		r->unknown |= *r->p == '\0' || depth > GROUPS_MAX;
		if (r->unknown)
			return;
		depth += *r->p == '(';
		depth -= *r->p == ')';
		r->p++;
	} while (depth > 0 && !r->unknown);
}

/* Behind {2}, {2,} or {2,3}. */
static void
repeat_skip(struct reader *r)
{
	const char *p = r->p + 1;

	r->unknown |= !isdigit((unsigned char)*p);
	while (isdigit((unsigned char)*p))
		p++;
	p += *p == ',';
	while (isdigit((unsigned char)*p))
		p++;
	r->unknown |= *p != '}';
	r->p = p + !r->unknown;
}

/* @return an octet that must be there, or 0: something else was skipped */
static char
octet_read(struct reader *r)
{
	const char c = *r->p;

	switch (c) {
	case '(':
		group_skip(r);
		return 0;
	case '[':
		class_skip(r);
		return 0;
	case '|':
	case ')':
	case '{':
		r->unknown = true;
		return 0;
	case '\\':
		escape_skip(r, ESCAPES);
		return isalnum((unsigned char)r->p[-1]) ? 0 : r->p[-1];
	default:
		r->p++;
		return strchr(".^$]}", c) ? 0 : c;
	}
}

/* @return how often what was read must be there: 0: not at all, 1: once, 2: once and perhaps more
 */
static unsigned
times_read(struct reader *r)
{
	unsigned times = 1;

	switch (*r->p) {
	case '?':
	case '*':
		times = 0;
		r->p++;
		break;
	case '+':
		times = 2;
		r->p++;
		break;
	case '{':
		times = 0; /* often it is more: no matter */
		repeat_skip(r);
		break;
	default:
		return 1;
	}
	r->p += *r->p == '?' || *r->p == '+';
	return times;
}

size_t
dpi_grams_required(const char *expression, char *out)
{
	struct reader r = {.p = expression};
	size_t best = 0, best_len = 0, begin = 0, end = 0;

	while (*r.p && !r.unknown) {
		const char c = octet_read(&r);
		const unsigned times = r.unknown ? 0 : times_read(&r);

		if (c != 0 && times > 0)
			out[end++] = c;
		if (end - begin > best_len) {
			best = begin;
			best_len = end - begin;
		}
		if (c == 0 || times != 1)
			begin = end;
	}
	if (r.unknown)
		return 0;
	memmove(out, out + best, best_len);
	return best_len;
}

/* --- the filter ------------------------------------------------------------------------------- */

static void
insert(struct dpi_grams *g, const char *text, size_t len)
{
	const unsigned window = dpi_grams_window(g);
	const uint8_t *from = (const uint8_t *)text + len - window;

	for (unsigned i = 0; i < g->step; i++)
		dpi_bloom_add(&g->bloom, dpi_bloom_hash(dpi_gram_at(g, from, window, i)));
}

/* @return octets that any match has, at most `max`, in `out` */
static size_t
required(const struct dpi_expression *e, bool literal, char *out)
{
	const size_t len = strlen(e->text);

	if (!literal)
		return dpi_grams_required(e->text, out);
	memcpy(out, e->text, len);
	return len;
}

static int
fill(struct dpi_grams *g, const struct dpi_expression *e, uint32_t nb, bool literal, char *text)
{
	const uint64_t grams = (uint64_t)nb * g->step;

	g->mask = UINT64_MAX >> (64 - 8 * g->len);
	if (!dpi_bloom_make(&g->bloom, grams, grams > FEW ? DPI_BLOOM_BITS : BITS_OF_FEW))
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i++)
		insert(g, text, required(&e[i], literal, text));
	return 0;
}

int
dpi_grams_build(const struct dpi_expression *e, uint32_t nb, bool literal, struct dpi_grams **made)
{
	size_t least = SIZE_MAX, most = 0;
	struct dpi_grams *g = NULL;
	bool fold = false;
	char *text;
	int ret = 0;

	*made = NULL;
	for (uint32_t i = 0; i < nb; i++)
		most = strlen(e[i].text) > most ? strlen(e[i].text) : most;
	text = malloc(most + 1);
	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i++) {
		const size_t len = required(&e[i], literal, text);

		least = len < least ? len : least;
		fold |= e[i].caseless;
	}
	if (least >= DPI_GRAM_MIN && nb > 0) {
		g = calloc(1, sizeof(*g));
		ret = -ENOMEM;
	}
	if (g) {
		g->len = least * 2 / 3 < DPI_GRAM_MIN   ? DPI_GRAM_MIN
			 : least * 2 / 3 > DPI_GRAM_MAX ? DPI_GRAM_MAX
							: (unsigned)(least * 2 / 3);
		g->step = (unsigned)(least - g->len + 1);
		g->step = g->step > STEP_MAX ? STEP_MAX : g->step;
		g->fold = fold ? LETTERS : 0;
		ret = fill(g, e, nb, literal, text);
	}
	free(text);
	if (ret < 0)
		dpi_grams_free(g);
	else
		*made = g;
	return ret;
}

void
dpi_grams_free(struct dpi_grams *g)
{
	if (!g)
		return;
	free(g->bloom.words);
	free(g);
}

size_t
dpi_grams_memory(const struct dpi_grams *g)
{
	return g ? sizeof(*g) + dpi_bloom_memory(&g->bloom) : 0;
}

bool
dpi_grams_may(const struct dpi_grams *g, const uint8_t *text, unsigned len)
{
	if (!g)
		return true;
	for (unsigned at = 0; at + g->len <= len; at += g->step)
		if (dpi_bloom_has(&g->bloom, dpi_bloom_hash(dpi_gram_at(g, text, len, at))))
			return true;
	return false;
}
