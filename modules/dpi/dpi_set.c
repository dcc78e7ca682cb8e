/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hs/hs.h>

#include "modules/dpi/dpi_hosts.h"
#include "modules/dpi/dpi_nets.h"
#include "modules/dpi/dpi_patterns.h"

struct dpi_set {
	uint32_t generation;
	struct dpi_hosts *hosts; /* these three NULL: no such rules */
	struct dpi_patterns *patterns;
	struct dpi_nets *nets;
	struct dpi_figures figures;
};

struct dpi_scratch {
	hs_scratch_t *hs; /* NULL: the set has no patterns */
	uint8_t url[DPI_URL_MAX];
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
	if (len < 16) {
		for (size_t i = 0; i < len; i++)
			to[i] = from[i];
		return;
	}
	for (size_t i = 0; i + 16 < len; i += 16)
		memcpy(to + i, from + i, 16);
	memcpy(to + len - 16, from + len - 16, 16);
}

static uint16_t
find_url(const struct dpi_set *set, struct dpi_scratch *s, const struct dpi_name *name)
{
	size_t path_len = name->path_len, host_len = name->host_len;

	if (path_len > DPI_URL_MAX - host_len)
		path_len = DPI_URL_MAX - host_len;
	copy(s->url, name->host, host_len);
	copy(s->url + host_len, name->path, path_len);
	return dpi_patterns_find(set->patterns, DPI_URLS, s->url, (unsigned)(host_len + path_len),
				 s->hs);
}

/** What URL patterns say, and where they say nothing, what has to be asked next. */
static unsigned
find_urls(const struct dpi_set *set, struct dpi_scratch *s, const struct dpi_name names[],
	  unsigned nb, uint16_t apps[], uint8_t left[])
{
	const bool any = dpi_patterns_has(set->patterns, DPI_URLS);
	unsigned nb_left = 0;

	for (unsigned i = 0; i < nb; i++) {
		const struct dpi_name *name = &names[i];

		apps[i] = 0;
		if (name->host_len == 0 || name->host_len > DPI_HOST_MAX)
			continue;
		if (any && name->path_len > 0)
			apps[i] = find_url(set, s, name);
		if (apps[i] == 0)
			left[nb_left++] = (uint8_t)i;
	}
	return nb_left;
}

void
dpi_set_names(const struct dpi_set *set, struct dpi_scratch *s, const struct dpi_name names[],
	      unsigned nb, uint16_t apps[])
{
	const bool patterns = dpi_patterns_has(set->patterns, DPI_HOSTS);
	const struct dpi_name *ask[DPI_NAMES_MAX];
	uint16_t said[DPI_NAMES_MAX];
	uint8_t left[DPI_NAMES_MAX];
	const unsigned nb_left = find_urls(set, s, names, nb, apps, left);

	for (unsigned i = 0; i < nb_left; i++)
		ask[i] = &names[left[i]];
	if (set->hosts)
		dpi_hosts_find(set->hosts, ask, nb_left, said);
	else
		memset(said, 0, nb_left * sizeof(said[0]));
	for (unsigned i = 0; i < nb_left; i++) {
		if (said[i] == 0 && patterns)
			said[i] = dpi_patterns_find(set->patterns, DPI_HOSTS, ask[i]->host,
						    ask[i]->host_len, s->hs);
		apps[left[i]] = said[i];
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
