/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "modules/dpi/dpi_hosts.h"

#define LABEL_MAX 63
#define LABELS_MAX ((DPI_HOST_MAX + 1) / 2 + 1)

struct entry {
	uint32_t hash;
	uint32_t text;  /* where in the texts */
	uint16_t exact; /* applications; 0: no such rule */
	uint16_t suffix;
	uint8_t len; /* 0: free */
	uint8_t pad[3];
};

struct dpi_hosts {
	uint32_t mask;
	unsigned max_labels;            /* of any rule */
	uint8_t labels[LABELS_MAX + 1]; /* whether a rule has so many */
	size_t texts_len, memory;
	char *texts;
	struct entry *entries;
};

_Static_assert(sizeof(struct entry) == 16, "four a cache line");

/* --- text of rules ---------------------------------------------------------------------------- */

static bool
is_host_octet(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* [2001:db8::1], as HTTP's Host has it. */
static bool
is_ip6_literal(const char *s, size_t len)
{
	if (len < 4 || s[0] != '[' || s[len - 1] != ']')
		return false;
	for (size_t i = 1; i < len - 1; i++)
		if (!isxdigit((unsigned char)s[i]) && s[i] != ':' && s[i] != '.')
			return false;
	return true;
}

static const char *
labels_wrong(const char *s, size_t len)
{
	size_t label = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && s[i] != '.') {
			if (!is_host_octet(s[i]))
				return (s[i] & 0x80)
					       ? "not ASCII: an international name is written "
						 "xn--..."
					       : "a host name has letters, digits, '-', '_' and "
						 "'.' only";
			label++;
			continue;
		}
		if (label == 0)
			return "an empty label: two dots in a row, or one at the start";
		if (label > LABEL_MAX)
			return "a label of more than 63 octets";
		label = 0;
	}
	return NULL;
}

int
dpi_host_normal(const char *text, bool is_suffix, char *out, const char **why)
{
	size_t len = text ? strlen(text) : 0;

	*why = NULL;
	if (is_suffix && len > 1 && text[0] == '.') {
		text++;
		len--;
	}
	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0)
		*why = "no host name";
	else if (len > DPI_HOST_MAX)
		*why = "longer than a host name can be";
	else if (!is_ip6_literal(text, len))
		*why = labels_wrong(text, len);
	if (*why)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	return (int)len;
}

/* --- the hash --------------------------------------------------------------------------------- */

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9E3779B97F4A7C15ULL) * (b ^ 0xE7037ED1A0B428DBULL);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t
get8(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t
get4(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* A name's hash is made of its labels from the last to the first, so those of its domains are on
 * the way. */
static inline uint64_t
add_label(uint64_t h, const uint8_t *p, unsigned len)
{
	uint64_t last = len;

	for (; len > 8; p += 8, len -= 8)
		h = mix(h, get8(p));
	if (len >= 4)
		last |= get4(p) << 8 ^ get4(p + len - 4) << 32;
	else if (len > 0)
		last |= (uint64_t)p[0] << 8 | (uint64_t)p[len / 2] << 16 |
			(uint64_t)p[len - 1] << 24;
	return mix(h, last);
}

/* Where the label before `end` begins. */
static inline unsigned
label_before(const uint8_t *host, unsigned end)
{
	unsigned start = end;

	while (start > 0 && host[start - 1] != '.')
		start--;
	return start;
}

static uint64_t
hash_of(const uint8_t *text, unsigned len, unsigned *nb_labels)
{
	unsigned end = len, start;
	uint64_t h = 0;

	for (*nb_labels = 1;; ++*nb_labels, end = start - 1) {
		start = label_before(text, end);
		h = add_label(h, text + start, end - start);
		if (start == 0)
			return h;
	}
}

static inline const struct entry *
find(const struct dpi_hosts *hosts, uint32_t hash, const uint8_t *text, unsigned len)
{
	for (uint32_t i = hash & hosts->mask;; i = (i + 1) & hosts->mask) {
		const struct entry *e = &hosts->entries[i];

		if (e->len == 0)
			return NULL;
		if (e->hash == hash && e->len == len &&
		    memcmp(hosts->texts + e->text, text, len) == 0)
			return e;
	}
}

static void
insert(struct dpi_hosts *hosts, const char *text, unsigned len, bool is_suffix, uint16_t app)
{
	unsigned nb_labels;
	uint32_t hash = (uint32_t)hash_of((const uint8_t *)text, len, &nb_labels), i;
	struct entry *e = (struct entry *)(uintptr_t)find(hosts, hash, (const uint8_t *)text, len);
	uint16_t *of;

	if (!e) {
		for (i = hash & hosts->mask; hosts->entries[i].len != 0;)
			i = (i + 1) & hosts->mask;
		e = &hosts->entries[i];
		*e = (struct entry){
			.hash = hash, .text = (uint32_t)hosts->texts_len, .len = (uint8_t)len};
		memcpy(hosts->texts + hosts->texts_len, text, len);
		hosts->texts_len += len;
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

/* How many rules there are, and how long their texts may be; all are sound. */
static int
check(const struct dpi_rule *rules, uint32_t nb, uint32_t *count, size_t *texts,
      struct dpi_error *err)
{
	char text[DPI_HOST_MAX];

	*count = 0;
	*texts = 0;
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
		*texts += (size_t)len;
	}
	return 0;
}

int
dpi_hosts_build(const struct dpi_rule *rules, uint32_t nb, struct dpi_hosts **made,
		struct dpi_error *err)
{
	uint32_t count, size = 16;
	struct dpi_hosts *hosts;
	size_t texts;
	int ret = check(rules, nb, &count, &texts, err);

	*made = NULL;
	if (ret < 0 || count == 0)
		return ret;
	while (size < 2 * (uint64_t)count)
		size *= 2;
	hosts = calloc(1, sizeof(*hosts));
	if (!hosts)
		return -ENOMEM;
	hosts->mask = size - 1;
	hosts->texts = malloc(texts);
	if (posix_memalign((void **)&hosts->entries, 64, size * sizeof(struct entry)) != 0)
		hosts->entries = NULL;
	if (!hosts->texts || !hosts->entries) {
		dpi_hosts_free(hosts);
		return -ENOMEM;
	}
	memset(hosts->entries, 0, size * sizeof(struct entry));
	hosts->memory = sizeof(*hosts) + texts + size * sizeof(struct entry);
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
	*made = hosts;
	return 0;
}

void
dpi_hosts_free(struct dpi_hosts *hosts)
{
	if (!hosts)
		return;
	free(hosts->texts);
	free(hosts->entries);
	free(hosts);
}

size_t
dpi_hosts_memory(const struct dpi_hosts *hosts)
{
	return hosts ? hosts->memory : 0;
}

/* --- lookup ----------------------------------------------------------------------------------- */

uint16_t
dpi_hosts_find(const struct dpi_hosts *hosts, const uint8_t *host, unsigned len)
{
	uint32_t hashes[LABELS_MAX];
	uint8_t starts[LABELS_MAX];
	unsigned end = len, nb = 0;
	uint64_t h = 0;

	/* No rule has more labels, so no more of the name counts. */
	while (nb < hosts->max_labels) {
		unsigned start = label_before(host, end);

		h = add_label(h, host + start, end - start);
		hashes[nb] = (uint32_t)h;
		starts[nb++] = (uint8_t)start;
		if (hosts->labels[nb])
			rte_prefetch0(&hosts->entries[(uint32_t)h & hosts->mask]);
		if (start == 0)
			break;
		end = start - 1;
	}
	while (nb-- > 0) {
		const struct entry *e;

		if (!hosts->labels[nb + 1])
			continue;
		e = find(hosts, hashes[nb], host + starts[nb], len - starts[nb]);
		if (!e)
			continue;
		if (starts[nb] == 0 && e->exact != 0)
			return e->exact;
		if (e->suffix != 0)
			return e->suffix;
	}
	return 0;
}
