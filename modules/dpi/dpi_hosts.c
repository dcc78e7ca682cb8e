/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "core/huge.h"
#include "modules/dpi/dpi_hosts_impl.h"

#define LINE RTE_CACHE_LINE_MIN_SIZE
static_assert(BUCKET * sizeof(uint32_t) == LINE, "a bucket is a line");

static uint64_t
hash_of(const uint8_t *text, unsigned len, unsigned *nb_labels)
{
	unsigned end = len, start;
	struct dots dots;
	uint64_t h = 0;

	dots_find(text, len, &dots);
	for (*nb_labels = 1;; ++*nb_labels, end = start - 1) {
		start = label_before(&dots, end);
		h = add_label(h, text + start, end - start);
		if (start == 0)
			return h;
	}
}

static size_t
entry_bytes(unsigned len)
{
	return RTE_ALIGN_CEIL(offsetof(struct entry, text) + len, RULE_UNIT);
}

static struct entry *
entry_add(struct dpi_hosts *hosts, uint64_t hash, const char *text, unsigned len)
{
	const size_t bytes = entry_bytes(len);
	uint32_t i = bucket_of(hosts, hash);
	struct entry *e;

	/* One that fits in a cache line is in one. */
	if (bytes <= LINE && hosts->rules_len % LINE + bytes > LINE)
		hosts->rules_len = RTE_ALIGN_CEIL(hosts->rules_len, LINE);
	e = (struct entry *)(void *)(hosts->rules + hosts->rules_len);
	while (hosts->slots[i] != 0)
		i = (i + 1) & hosts->mask;
	hosts->slots[i] = tag_of(hash) | (uint32_t)(hosts->rules_len / RULE_UNIT + 1);
	hosts->rules_len += bytes;
	e->len = (uint8_t)len;
	memcpy(e->text, text, len);
	return e;
}

static void
insert(struct dpi_hosts *hosts, const char *text, unsigned len, bool is_suffix, uint16_t app)
{
	unsigned nb_labels;
	const uint64_t hash = hash_of((const uint8_t *)text, len, &nb_labels);
	struct entry *e = (struct entry *)(uintptr_t)find_from(
		hosts, hash, bucket_look(&hosts->slots[bucket_of(hosts, hash)], hash),
		(const uint8_t *)text, len);
	uint16_t *of;

	if (!e) {
		e = entry_add(hosts, hash, text, len);
		hosts->labels[nb_labels] = 1;
		if (nb_labels > hosts->max_labels)
			hosts->max_labels = nb_labels;
	}
	of = is_suffix ? &e->suffix : &e->exact;
	if (*of == 0) /* of equal rules the first wins */
		*of = app;
}

/* --- building --------------------------------------------------------------------------------- */

static bool
is_of_hosts(const struct dpi_rule *r)
{
	return r->kind == DPI_RULE_HOST || r->kind == DPI_RULE_SUFFIX;
}

/* How many rules there are, and how many octets they take at most; all are sound. */
static int
check(const struct dpi_rule *rules, uint32_t nb, uint32_t *count, size_t *octets,
      struct dpi_error *err)
{
	char text[DPI_HOST_MAX];

	*count = 0;
	*octets = 0;
	for (uint32_t i = 0; i < nb; i++) {
		const char *why;
		int len;

		if (!is_of_hosts(&rules[i]))
			continue;
		len = dpi_host_normal(rules[i].text, rules[i].kind == DPI_RULE_SUFFIX, text, &why);
		if (len < 0) {
			err->rule = i;
			snprintf(err->why, sizeof(err->why), "%s", why);
			return len;
		}
		++*count;
		*octets += 2 * entry_bytes((unsigned)len); /* as much may be left free before it */
	}
	if (*octets / RULE_UNIT < SLOT_AT)
		return 0;
	snprintf(err->why, sizeof(err->why), "host names and domains of more than %u MB",
		 ((SLOT_AT + 1) >> 20) * RULE_UNIT / 2);
	return -E2BIG;
}

int
dpi_hosts_build(const struct dpi_rule *rules, uint32_t nb, struct dpi_hosts **made,
		struct dpi_error *err)
{
	uint32_t count, size = BUCKET;
	struct dpi_hosts *hosts;
	size_t octets;
	int ret = check(rules, nb, &count, &octets, err);

	*made = NULL;
	if (ret < 0 || count == 0)
		return ret;
	while (size < 2 * (uint64_t)count)
		size *= 2;
	hosts = calloc(1, sizeof(*hosts));
	if (!hosts)
		return -ENOMEM;
	hosts->mask = size - 1;
	hosts->slots = ap_huge_table(size * sizeof(*hosts->slots));
	hosts->rules = ap_huge_table(octets);
	if (!hosts->slots || !hosts->rules) {
		dpi_hosts_free(hosts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++) {
		bool is_suffix = rules[i].kind == DPI_RULE_SUFFIX;
		char text[DPI_HOST_MAX];
		const char *why;
		int len;

		if (!is_of_hosts(&rules[i]))
			continue;
		len = dpi_host_normal(rules[i].text, is_suffix, text, &why);
		insert(hosts, text, (unsigned)len, is_suffix, rules[i].app);
	}
	hosts->memory = sizeof(*hosts) + hosts->rules_len + size * sizeof(*hosts->slots);
	*made = hosts;
	return 0;
}

void
dpi_hosts_free(struct dpi_hosts *hosts)
{
	if (!hosts)
		return;
	free(hosts->slots);
	free(hosts->rules);
	free(hosts);
}

size_t
dpi_hosts_memory(const struct dpi_hosts *hosts)
{
	return hosts ? hosts->memory : 0;
}
