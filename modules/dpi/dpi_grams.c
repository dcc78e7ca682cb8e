/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "modules/dpi/dpi_bloom.h"
#include "modules/dpi/dpi_grams.h"

#define BITS_OF_FEW 128 /* of a gram in the filter, where these are few */
#define FEW 2048
#define GROUPS_MAX 32

/* Of one list: the sieve may be of two, and lets more through. */
struct dpi_grams {
	struct dpi_bloom bloom;
};

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

/* @return octets that any match has, in `out` */
static size_t
required(const struct dpi_expression *e, bool literal, char *out)
{
	const size_t len = strlen(e->text);

	if (!literal)
		return dpi_grams_required(e->text, out);
	memcpy(out, e->text, len);
	return len;
}

/* @return room for what any of them requires; NULL: no memory */
static char *
room_for(const struct dpi_expression *e, uint32_t nb)
{
	size_t most = 0;

	for (uint32_t i = 0; i < nb; i++)
		most = strlen(e[i].text) > most ? strlen(e[i].text) : most;
	return malloc(most + 1);
}

int
dpi_grams_need(const struct dpi_expression *e, uint32_t nb, bool literal, struct dpi_need *need)
{
	char *text = room_for(e, nb);

	*need = (struct dpi_need){.least = UINT_MAX};
	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i++) {
		const size_t len = required(&e[i], literal, text);

		need->least = len < need->least ? (unsigned)len : need->least;
		need->fold |= e[i].caseless;
	}
	free(text);
	return 0;
}

static void
insert(struct dpi_grams *g, struct dpi_sieve *s, const char *text, size_t len)
{
	uint8_t room[DPI_STEP_MAX + 2 * DPI_GRAM_MAX];
	const uint8_t *from = dpi_sieve_window_of(s, text, len, room);

	for (unsigned i = 0; i < s->step; i++) {
		const uint64_t gram = dpi_gram_at(s, from + i);

		dpi_sieve_add(s, gram);
		dpi_bloom_add(&g->bloom, dpi_bloom_hash(gram));
	}
}

int
dpi_grams_build(const struct dpi_expression *e, uint32_t nb, bool literal, struct dpi_sieve *sieve,
		struct dpi_grams **made)
{
	struct dpi_grams *g;
	uint64_t grams;
	char *text;

	*made = NULL;
	if (!sieve || nb == 0)
		return 0;
	grams = (uint64_t)nb * sieve->step;
	text = room_for(e, nb);
	g = calloc(1, sizeof(*g));
	if (!text || !g ||
	    !dpi_bloom_make(&g->bloom, grams, grams > FEW ? DPI_BLOOM_BITS : BITS_OF_FEW)) {
		free(text);
		free(g);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++)
		insert(g, sieve, text, required(&e[i], literal, text));
	free(text);
	*made = g;
	return 0;
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
dpi_grams_may(const struct dpi_grams *g, struct dpi_hits hits)
{
	unsigned at;

	while (dpi_hits_next(&hits, &at)) {
		const uint64_t gram = dpi_gram_at(hits.sieve, hits.text->at + at);

		if (dpi_bloom_has(&g->bloom, dpi_bloom_hash(gram)))
			return true;
	}
	return false;
}
