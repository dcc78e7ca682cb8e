/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hs/hs.h>
#include <rte_common.h>

#include "modules/dpi/dpi_hosts.h"
#include "modules/dpi/dpi_nets.h"
#include "modules/dpi/dpi_patterns.h"

#define VECTOR 16 /* names that are looked up at once */
static_assert(VECTOR <= DPI_HOSTS_NAMES && VECTOR <= DPI_PATTERN_TEXTS, "they take as many");

struct dpi_set {
	uint32_t generation;
	struct dpi_hosts *hosts; /* these three NULL: no such rules */
	struct dpi_patterns *patterns;
	struct dpi_nets *nets;
	struct dpi_figures figures;
};

struct dpi_scratch {
	hs_scratch_t *hs;                                        /* NULL: the set has no patterns */
	uint8_t octets[VECTOR * DPI_URL_MAX + DPI_SIEVE_BEHIND]; /* of texts, one after another */
};

const struct dpi_limits dpi_limits_default = {
	.rules = 200000,
	.expressions = 2000,
	.expression_octets = 1000,
	.expression_positions = 1000,
	.expression_ms = 1000,
	.expression_memory = 1 << 20,
	.expression_us = 1000,
	.scan_us = 5000,
	.build_ms = 60000,
	.build_memory = 2ULL << 30,
	.memory = 512ULL << 20,
};

/* --- building --------------------------------------------------------------------------------- */

static int
check(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits,
      struct dpi_figures *f, struct dpi_error *err)
{
	*f = (struct dpi_figures){0};
	if (nb > limits->rules) {
		snprintf(err->why, sizeof(err->why), "%" PRIu32 " rules; %" PRIu32 " are allowed",
			 nb, limits->rules);
		return -E2BIG;
	}
	for (uint32_t i = 0; i < nb; i++) {
		bool is_pattern = rules[i].kind == DPI_RULE_HOST_PATTERN ||
				  rules[i].kind == DPI_RULE_URL_PATTERN;

		if (rules[i].app == 0 || rules[i].kind > DPI_RULE_URL_PATTERN) {
			err->rule = i;
			snprintf(err->why, sizeof(err->why),
				 rules[i].app == 0 ? "of no application" : "of no kind there is");
			return -EINVAL;
		}
		f->flows += rules[i].kind == DPI_RULE_FLOW;
		f->hosts += rules[i].kind == DPI_RULE_HOST;
		f->suffixes += rules[i].kind == DPI_RULE_SUFFIX;
		f->literals += is_pattern && !rules[i].pattern_is_regex;
		f->expressions += is_pattern && rules[i].pattern_is_regex;
	}
	return 0;
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static uint32_t
ms_since(uint64_t *from)
{
	uint64_t now = now_ms(), took = now - *from;

	*from = now;
	return (uint32_t)took;
}

static int
build(struct dpi_set *set, const struct dpi_rule *rules, uint32_t nb,
      const struct dpi_limits *limits, struct dpi_error *err)
{
	struct dpi_figures *f = &set->figures;
	uint64_t clock = now_ms();
	int ret = dpi_hosts_build(rules, nb, &set->hosts, err);

	f->hosts_ms = ms_since(&clock);
	if (ret == 0)
		ret = dpi_nets_build(rules, nb, limits->memory, &set->nets, err);
	f->flows_ms = ms_since(&clock);
	if (ret == 0)
		ret = dpi_patterns_build(rules, nb, limits, &set->patterns, err);
	f->patterns_ms = ms_since(&clock);
	if (ret < 0)
		return ret;
	f->hosts_memory = dpi_hosts_memory(set->hosts);
	f->flows_memory = dpi_nets_memory(set->nets);
	f->patterns_memory = dpi_patterns_memory(set->patterns);
	if (dpi_set_memory(set) <= limits->memory)
		return 0;
	snprintf(err->why, sizeof(err->why), "the rules need %zu octets; %" PRIu64 " are allowed",
		 dpi_set_memory(set), limits->memory);
	return -E2BIG;
}

int
dpi_set_build(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits,
	      uint32_t generation, struct dpi_set **made, struct dpi_error *err)
{
	struct dpi_set *set = calloc(1, sizeof(*set));
	int ret = -ENOMEM;

	*made = NULL;
	*err = (struct dpi_error){.rule = DPI_NO_RULE};
	if (!limits)
		limits = &dpi_limits_default;
	if (set) {
		set->generation = generation;
		ret = check(rules, nb, limits, &set->figures, err);
		if (ret == 0)
			ret = build(set, rules, nb, limits, err);
	}
	if (ret == 0) {
		*made = set;
		return 0;
	}
	dpi_set_free(set);
	if (err->why[0] == '\0')
		snprintf(err->why, sizeof(err->why), "%s", strerror(-ret));
	return ret;
}

void
dpi_set_free(struct dpi_set *set)
{
	if (!set)
		return;
	dpi_hosts_free(set->hosts);
	dpi_patterns_free(set->patterns);
	dpi_nets_free(set->nets);
	free(set);
}

/* --- what it is ------------------------------------------------------------------------------- */

uint32_t
dpi_set_generation(const struct dpi_set *set)
{
	return set->generation;
}

size_t
dpi_set_memory(const struct dpi_set *set)
{
	const struct dpi_figures *f = &set->figures;

	return sizeof(*set) + f->hosts_memory + f->patterns_memory + f->flows_memory;
}

bool
dpi_set_has_names(const struct dpi_set *set)
{
	return set->hosts || set->patterns;
}

bool
dpi_set_has_flows(const struct dpi_set *set)
{
	return set->nets != NULL;
}

void
dpi_set_figures(const struct dpi_set *set, struct dpi_figures *f)
{
	*f = set->figures;
}

struct dpi_scratch *
dpi_scratch_alloc(const struct dpi_set *set)
{
	struct dpi_scratch *s = calloc(1, sizeof(*s));

	if (s && dpi_patterns_scratch(set->patterns, &s->hs) < 0) {
		free(s);
		s = NULL;
	}
	return s;
}

void
dpi_scratch_free(struct dpi_scratch *s)
{
	if (!s)
		return;
	hs_free_scratch(s->hs);
	free(s);
}

/* --- lookup ----------------------------------------------------------------------------------- */

/* memcpy() of some tens of octets, which compilers make a slow instruction of. */
static inline void
copy(uint8_t *to, const uint8_t *from, size_t len)
{
	if (len < 8) {
		for (size_t i = 0; i < len; i++)
			to[i] = from[i];
		return;
	}
	if (len < 16) {
		memcpy(to, from, 8);
		memcpy(to + len - 8, from + len - 8, 8);
		return;
	}
	for (size_t i = 0; i + 16 < len; i += 16)
		memcpy(to + i, from + i, 16);
	memcpy(to + len - 16, from + len - 16, 16);
}

/* Names that are looked up at once, and what is said of them so far. */
struct vector {
	unsigned nb;
	const struct dpi_name *names[VECTOR];
	uint16_t apps[VECTOR];
};

/* The texts of those that nothing is said of. */
struct texts {
	unsigned nb, octets;
	struct dpi_text text[VECTOR];
	uint8_t of[VECTOR];
};

static inline void
text_add(struct dpi_scratch *s, struct texts *t, const struct dpi_name *name, unsigned path_len,
	 unsigned of)
{
	uint8_t *at = s->octets + t->octets;
	const unsigned host_len = name->host_len;

	copy(at, name->host, host_len);
	copy(at + host_len, name->path, path_len);
	t->text[t->nb] = (struct dpi_text){.at = at, .len = host_len + path_len};
	t->of[t->nb++] = (uint8_t)of;
	t->octets += host_len + path_len;
}

static inline void
urls_add(struct dpi_scratch *s, const struct vector *v, struct texts *t)
{
	for (unsigned i = 0; i < v->nb; i++) {
		const struct dpi_name *name = v->names[i];
		const unsigned most = DPI_URL_MAX - name->host_len;

		if (name->path_len > 0)
			text_add(s, t, name, RTE_MIN((unsigned)name->path_len, most), i);
	}
}

static inline void
hosts_add(struct dpi_scratch *s, const struct vector *v, struct texts *t)
{
	for (unsigned i = 0; i < v->nb; i++)
		if (v->apps[i] == 0)
			text_add(s, t, v->names[i], 0, i);
}

static inline void
patterns_tell(const struct dpi_set *set, struct dpi_scratch *s, enum dpi_pattern_kind kind,
	      const struct texts *t, struct vector *v)
{
	uint16_t apps[VECTOR];

	dpi_patterns_find(set->patterns, kind, t->text, t->nb, s->hs, apps);
	for (unsigned i = 0; i < t->nb; i++)
		v->apps[t->of[i]] = apps[i];
}

/* The table of hosts comes from memory while URLs are looked through. */
static void
find(const struct dpi_set *set, struct dpi_scratch *s, struct vector *v)
{
	struct texts urls = {.nb = 0}, hosts = {.nb = 0};
	struct dpi_hosts_asked asked;

	memset(v->apps, 0, sizeof(v->apps));
	if (set->hosts)
		dpi_hosts_ask(set->hosts, v->names, v->nb, &asked);
	if (dpi_patterns_has(set->patterns, DPI_URLS))
		urls_add(s, v, &urls);
	if (set->hosts)
		dpi_hosts_look(set->hosts, &asked);
	if (urls.nb > 0)
		patterns_tell(set, s, DPI_URLS, &urls, v);
	if (set->hosts)
		dpi_hosts_tell(set->hosts, &asked, v->apps);
	if (dpi_patterns_has(set->patterns, DPI_HOSTS))
		hosts_add(s, v, &hosts);
	if (hosts.nb > 0)
		patterns_tell(set, s, DPI_HOSTS, &hosts, v);
}

void
dpi_set_names(const struct dpi_set *set, struct dpi_scratch *s, const struct dpi_name names[],
	      unsigned nb, uint16_t apps[])
{
	uint8_t of[VECTOR];
	struct vector v;

	for (unsigned i = 0; i < nb;) {
		for (v.nb = 0; i < nb && v.nb < VECTOR; i++) {
			apps[i] = 0;
			if (names[i].host_len == 0 || names[i].host_len > DPI_HOST_MAX)
				continue;
			of[v.nb] = (uint8_t)i;
			v.names[v.nb++] = &names[i];
		}
		find(set, s, &v);
		for (unsigned k = 0; k < v.nb; k++)
			apps[of[k]] = v.apps[k];
	}
}

uint16_t
dpi_set_name(const struct dpi_set *set, struct dpi_scratch *s, const struct dpi_name *name)
{
	uint16_t app;

	dpi_set_names(set, s, name, 1, &app);
	return app;
}

void
dpi_set_flows(const struct dpi_set *set, const struct flow *const flows[], uint64_t uplink,
	      unsigned nb, uint16_t apps[])
{
	if (set->nets)
		dpi_nets_find(set->nets, flows, uplink, nb, apps);
	else
		memset(apps, 0, nb * sizeof(*apps));
}

uint16_t
dpi_set_flow(const struct dpi_set *set, const struct flow *flow, bool uplink)
{
	uint16_t app;

	dpi_set_flows(set, &flow, uplink, 1, &app);
	return app;
}
