/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hs/hs.h>

#include "modules/dpi/dpi_compile.h"
#include "modules/dpi/dpi_patterns_impl.h"

/* Rules of one kind on their way to its databases. */
struct lists {
	struct dpi_expression *of[FORMS];
	uint32_t nb[FORMS];
	char *texts; /* as databases have them, one after another */
	size_t texts_len;
};

static int
wrong(struct dpi_error *err, uint32_t rule, const char *why)
{
	err->rule = rule;
	snprintf(err->why, sizeof(err->why), "%s", why);
	return -EINVAL;
}

/* --- texts of rules --------------------------------------------------------------------------- */

/* @return octets of a URL's scheme that it begins with */
static size_t
scheme_of(const char *text)
{
	return strncasecmp(text, "http://", 7) == 0    ? 7
	       : strncasecmp(text, "https://", 8) == 0 ? 8
						       : 0;
}

static const char *
text_wrong(const struct dpi_rule *r)
{
	if (!r->text || r->text[0] == '\0')
		return "an empty pattern";
	if (!r->pattern_is_regex && strlen(r->text) > DPI_URL_MAX)
		return "longer than what is looked at";
	if (!r->pattern_is_regex && r->kind == DPI_RULE_URL_PATTERN && scheme_of(r->text) > 0 &&
	    strchr("/?#:", r->text[scheme_of(r->text)])) /* the end too */
		return "a URL without a host";
	for (const char *p = r->text; *p; p++)
		if (*p < ' ' + !r->pattern_is_regex || *p > '~')
			return "not ASCII, or with white space";
	return NULL;
}

static char *
add_lower(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*to++ = (char)tolower((unsigned char)from[i]);
	return to;
}

/* http://Example.com:80/path to example.com/path: the host as parsers tell it, and at least the
 * slash that ends it. @return end of what was written, or NULL: no such text */
static char *
add_url(char *to, const char *text)
{
	size_t scheme = scheme_of(text);
	const char *host = text + scheme, *path, *port;

	if (scheme == 0)
		return NULL;
	path = host + strcspn(host, "/?#");
	port = memrchr(host, ':', (size_t)(path - host));
	if (!port || memchr(port, ']', (size_t)(path - port)))
		port = path;
	to = add_lower(to, host, (size_t)(port - host));
	if (*path != '/')
		*to++ = '/';
	return stpcpy(to, path);
}

/* The text of a rule as its database has it. @return octets that must be at the start; 0: none */
static uint16_t
add_text(struct lists *l, const struct dpi_rule *r)
{
	char *to = l->texts + l->texts_len, *end;
	uint16_t anchored = 0;

	if (r->pattern_is_regex) {
		end = stpcpy(to, r->text);
	} else if (r->kind == DPI_RULE_HOST_PATTERN) {
		end = add_lower(to, r->text, strlen(r->text));
	} else {
		end = add_url(to, r->text);
		if (end)
			anchored = (uint16_t)(end - to);
		else
			end = stpcpy(to, r->text);
	}
	*end = '\0';
	l->texts_len += (size_t)(end + 1 - to);
	return anchored;
}

static void
add(struct lists *l, struct kind *k, const struct dpi_rule *r, uint32_t rule)
{
	enum form form = r->pattern_is_regex ? EXPRESSION : LITERAL;
	struct dpi_expression *e = &l->of[form][l->nb[form]++];

	*e = (struct dpi_expression){.text = l->texts + l->texts_len,
				     .id = k->nb,
				     .rule = rule,
				     .caseless = r->pattern_is_regex &&
						 r->kind == DPI_RULE_HOST_PATTERN};
	k->patterns[k->nb] = (struct pattern){.app = r->app, .anchored = add_text(l, r)};
	e->every = k->patterns[k->nb++].anchored > 0;
}

/* --- building --------------------------------------------------------------------------------- */

static bool
is_of(const struct dpi_rule *r, enum dpi_pattern_kind kind)
{
	return r->kind == (kind == DPI_HOSTS ? DPI_RULE_HOST_PATTERN : DPI_RULE_URL_PATTERN);
}

static int
gather(const struct dpi_rule *rules, uint32_t nb, enum dpi_pattern_kind kind, struct kind *k,
       struct lists *l)
{
	size_t texts = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < nb; i++)
		if (is_of(&rules[i], kind)) {
			texts += strlen(rules[i].text) + 2; /* a slash, the end */
			count++;
		}
	if (count == 0)
		return 0;
	k->patterns = calloc(count, sizeof(*k->patterns));
	l->texts = malloc(texts);
	for (unsigned form = 0; form < FORMS; form++)
		l->of[form] = calloc(count, sizeof(*l->of[form]));
	if (!k->patterns || !l->texts || !l->of[LITERAL] || !l->of[EXPRESSION])
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i++)
		if (is_of(&rules[i], kind))
			add(l, k, &rules[i], i);
	return 0;
}

static int
compile(const struct dpi_job *job, hs_database_t **db, size_t *memory, struct dpi_error *err)
{
	struct dpi_compiled c;
	hs_error_t code;
	size_t size = 0;
	int ret = dpi_compile(job, &c, err);

	if (ret < 0)
		return ret;
	code = hs_deserialize_database(c.octets, c.len, db);
	free(c.octets);
	if (code != HS_SUCCESS) {
		wrong(err, DPI_NO_RULE, "the compiler made no database that can be read");
		return code == HS_NOMEM ? -ENOMEM : -EIO;
	}
	hs_database_size(*db, &size);
	*memory += size;
	return 0;
}

/* One sieve for texts and expressions where it is as good as two: they are walked once. */
static int
sieves_make(struct kind *k, const struct lists *l, size_t *memory)
{
	struct dpi_need need[FORMS];
	bool one = l->nb[LITERAL] > 0 && l->nb[EXPRESSION] > 0;
	int ret = 0;

	for (unsigned form = 0; form < FORMS && ret == 0; form++)
		ret = dpi_grams_need(l->of[form], l->nb[form], form == LITERAL, &need[form]);
	if (ret < 0)
		return ret;
	one = one && dpi_sieve_gram(&need[LITERAL]) == dpi_sieve_gram(&need[EXPRESSION]);
	if (one) {
		need[LITERAL].fold |= need[EXPRESSION].fold;
		if (need[EXPRESSION].least < need[LITERAL].least)
			need[LITERAL].least = need[EXPRESSION].least;
	}
	ret = dpi_sieve_make(&need[LITERAL], l->nb[LITERAL] + (one ? l->nb[EXPRESSION] : 0),
			     &k->sieves[LITERAL]);
	if (one)
		k->sieves[EXPRESSION] = k->sieves[LITERAL];
	else if (ret == 0)
		ret = dpi_sieve_make(&need[EXPRESSION], l->nb[EXPRESSION], &k->sieves[EXPRESSION]);
	*memory += dpi_sieve_memory(k->sieves[LITERAL]);
	*memory += one ? 0 : dpi_sieve_memory(k->sieves[EXPRESSION]);
	return ret;
}

static int
build_form(struct dpi_patterns *p, struct kind *k, enum form form, const struct lists *l,
	   const struct dpi_limits *limits, struct dpi_error *err)
{
	const struct dpi_job job = {.expressions = l->of[form],
				    .nb = l->nb[form],
				    .literal = form == LITERAL,
				    .limits = limits};
	int ret = compile(&job, &k->db[form], &p->memory, err);

	if (ret == 0)
		ret = dpi_grams_build(job.expressions, job.nb, job.literal, k->sieves[form],
				      &k->grams[form]);
	p->memory += dpi_grams_memory(k->grams[form]);
	if (form == LITERAL && ret == 0) {
		ret = dpi_texts_build(k->sieves[form], job.expressions, job.nb, &k->texts);
		p->memory += dpi_texts_memory(k->texts);
	}
	return ret;
}

static int
build_kind(struct dpi_patterns *p, enum dpi_pattern_kind kind, const struct dpi_rule *rules,
	   uint32_t nb, const struct dpi_limits *limits, struct dpi_error *err)
{
	struct kind *k = &p->kinds[kind];
	struct lists l = {0};
	int ret = gather(rules, nb, kind, k, &l);

	if (ret == 0)
		ret = sieves_make(k, &l, &p->memory);
	for (unsigned form = 0; form < FORMS && ret == 0; form++)
		if (l.nb[form] > 0)
			ret = build_form(p, k, form, &l, limits, err);
	p->memory += k->nb * sizeof(*k->patterns);
	free(l.of[LITERAL]);
	free(l.of[EXPRESSION]);
	free(l.texts);
	return ret;
}

static int
check(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits, uint32_t *count,
      struct dpi_error *err)
{
	uint32_t expressions = 0;

	*count = 0;
	for (uint32_t i = 0; i < nb; i++) {
		const char *why;

		if (!is_of(&rules[i], DPI_HOSTS) && !is_of(&rules[i], DPI_URLS))
			continue;
		++*count;
		why = text_wrong(&rules[i]);
		if (why)
			return wrong(err, i, why);
		if (rules[i].pattern_is_regex && ++expressions > limits->expressions) {
			err->rule = i;
			snprintf(err->why, sizeof(err->why),
				 "more than the %" PRIu32 " expressions that a set may have",
				 limits->expressions);
			return -E2BIG;
		}
	}
	return 0;
}

int
dpi_patterns_build(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits,
		   struct dpi_patterns **made, struct dpi_error *err)
{
	struct dpi_patterns *p;
	uint32_t count;
	int ret = check(rules, nb, limits, &count, err);

	*made = NULL;
	if (ret < 0 || count == 0)
		return ret;
	if (hs_valid_platform() != HS_SUCCESS) {
		wrong(err, DPI_NO_RULE, "patterns need a CPU with SSSE3, or NEON");
		return -ENOTSUP;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->memory = sizeof(*p);
	for (unsigned kind = 0; kind < DPI_PATTERN_KINDS && ret == 0; kind++)
		ret = build_kind(p, kind, rules, nb, limits, err);
	if (ret < 0)
		dpi_patterns_free(p);
	else
		*made = p;
	return ret;
}

void
dpi_patterns_free(struct dpi_patterns *p)
{
	if (!p)
		return;
	for (unsigned kind = 0; kind < DPI_PATTERN_KINDS; kind++) {
		for (unsigned form = 0; form < FORMS; form++) {
			hs_free_database(p->kinds[kind].db[form]);
			dpi_grams_free(p->kinds[kind].grams[form]);
		}
		if (p->kinds[kind].sieves[EXPRESSION] != p->kinds[kind].sieves[LITERAL])
			dpi_sieve_free(p->kinds[kind].sieves[EXPRESSION]);
		dpi_sieve_free(p->kinds[kind].sieves[LITERAL]);
		dpi_texts_free(p->kinds[kind].texts);
		free(p->kinds[kind].patterns);
	}
	free(p);
}

size_t
dpi_patterns_memory(const struct dpi_patterns *p)
{
	return p ? p->memory : 0;
}

bool
dpi_patterns_has(const struct dpi_patterns *p, enum dpi_pattern_kind kind)
{
	return p && p->kinds[kind].nb > 0;
}

int
dpi_patterns_scratch(const struct dpi_patterns *p, struct hs_scratch **scratch)
{
	*scratch = NULL;
	for (unsigned kind = 0; p && kind < DPI_PATTERN_KINDS; kind++)
		for (unsigned form = 0; form < FORMS; form++) {
			const hs_database_t *db = p->kinds[kind].db[form];

			if (db && hs_alloc_scratch(db, scratch) != HS_SUCCESS) {
				hs_free_scratch(*scratch);
				*scratch = NULL;
				return -ENOMEM;
			}
		}
	return 0;
}
