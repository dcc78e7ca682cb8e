/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "core/huge.h"
#include "modules/dpi/dpi_bloom.h"
#include "modules/dpi/dpi_texts.h"

#define LINE RTE_CACHE_LINE_MIN_SIZE
#define UNIT 8
#define AT_MAX (1U << 24)
#define EQUAL_MAX 8    /* texts with the same gram */
#define COMPARE_MAX 32 /* texts in one search; it stays short whatever the text is */

/** A gram of a text. */
struct slot {
	uint32_t tag;      /* of its hash */
	uint32_t at : 24;  /* of the text, in UNITs, from 1; 0: free */
	uint32_t gram : 8; /* which one of the text's window */
};

struct record {
	uint32_t id;
	uint16_t len;
	bool first; /* must be at the start */
	char text[];
};

struct dpi_texts {
	const struct dpi_sieve *sieve;
	struct slot *slots;
	uint8_t *records;
	uint32_t mask; /* slots - 1 */
	size_t records_len, memory;
};

static size_t
record_bytes(size_t len)
{
	return RTE_ALIGN_CEIL(offsetof(struct record, text) + len, UNIT);
}

static inline const struct record *
record_at(const struct dpi_texts *t, const struct slot *s)
{
	return (const struct record *)(const void *)(t->records + (s->at - 1) * (size_t)UNIT);
}

static inline uint32_t
slot_of(const struct dpi_texts *t, uint64_t hash)
{
	return (uint32_t)(hash >> 32) & t->mask;
}

/* @return false: too many have this gram */
static bool
slot_add(struct dpi_texts *t, uint64_t hash, uint32_t at, unsigned gram)
{
	const uint32_t tag = (uint32_t)hash;
	unsigned equal = 0;
	uint32_t i = slot_of(t, hash);

	for (; t->slots[i].at != 0; i = (i + 1) & t->mask)
		equal += t->slots[i].tag == tag;
	t->slots[i] = (struct slot){.tag = tag, .at = at & (AT_MAX - 1), .gram = (uint8_t)gram};
	return equal < EQUAL_MAX;
}

static bool
text_add(struct dpi_texts *t, const struct dpi_expression *e)
{
	const size_t len = strlen(e->text), bytes = record_bytes(len);
	uint8_t room[DPI_STEP_MAX + 2 * DPI_GRAM_MAX];
	const uint8_t *from = dpi_sieve_window_of(t->sieve, e->text, len, room);
	struct record *r;
	bool few = true;

	/* One that fits in a cache line is in one. */
	if (bytes <= LINE && t->records_len % LINE + bytes > LINE)
		t->records_len = RTE_ALIGN_CEIL(t->records_len, LINE);
	r = (struct record *)(void *)(t->records + t->records_len);
	r->id = e->id;
	r->len = (uint16_t)len;
	r->first = e->every;
	memcpy(r->text, e->text, len);
	for (unsigned i = 0; i < t->sieve->step && few; i++)
		few = slot_add(t, dpi_bloom_hash(dpi_gram_at(t->sieve, from + i)),
			       (uint32_t)(t->records_len / UNIT + 1), i);
	t->records_len += bytes;
	return few;
}

int
dpi_texts_build(const struct dpi_sieve *sieve, const struct dpi_expression *e, uint32_t nb,
		struct dpi_texts **made)
{
	struct dpi_texts *t;
	uint64_t slots = LINE / sizeof(struct slot);
	size_t octets = 0;

	*made = NULL;
	for (uint32_t i = 0; i < nb; i++)
		octets += 2 * record_bytes(strlen(e[i].text)); /* as much may be left free */
	if (!sieve || octets / UNIT >= AT_MAX)
		return 0;
	while (slots < 2 * (uint64_t)nb * sieve->step)
		slots *= 2;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->sieve = sieve;
	t->mask = (uint32_t)(slots - 1);
	t->slots = ap_huge_table(slots * sizeof(*t->slots));
	t->records = ap_huge_table(octets);
	if (!t->slots || !t->records) {
		dpi_texts_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < nb; i++)
		if (!text_add(t, &e[i])) {
			dpi_texts_free(t);
			return 0;
		}
	t->memory = sizeof(*t) + slots * sizeof(*t->slots) + t->records_len;
	*made = t;
	return 0;
}

void
dpi_texts_free(struct dpi_texts *t)
{
	if (!t)
		return;
	free(t->slots);
	free(t->records);
	free(t);
}

size_t
dpi_texts_memory(const struct dpi_texts *t)
{
	return t ? t->memory : 0;
}

/* --- lookup ----------------------------------------------------------------------------------- */

struct search {
	const struct dpi_texts *t;
	const struct dpi_text *text;
	unsigned compared;
	uint32_t best; /* id, or DPI_TEXT_NONE */
};

static inline uint64_t
hash_at(const struct dpi_texts *t, const struct dpi_text *text, unsigned at)
{
	return dpi_bloom_hash(dpi_gram_at(t->sieve, text->at + at));
}

static inline bool
is_here(const struct search *s, const struct record *r, unsigned at, unsigned gram)
{
	const unsigned before = r->len - dpi_sieve_window(s->t->sieve) + gram;

	return r->id < s->best && at >= before && (!r->first || at == before) &&
	       s->text->len - (at - before) >= r->len &&
	       memcmp(s->text->at + at - before, r->text, r->len) == 0;
}

/* Compares all that have the gram which is at `at`. */
static void
compare(struct search *s, uint64_t hash, unsigned at)
{
	const struct dpi_texts *t = s->t;

	for (uint32_t i = slot_of(t, hash); t->slots[i].at != 0; i = (i + 1) & t->mask) {
		const struct slot *slot = &t->slots[i];
		const struct record *r;

		if (slot->tag != (uint32_t)hash)
			continue;
		r = record_at(t, slot);
		s->compared++;
		if (is_here(s, r, at, slot->gram))
			s->best = r->id;
	}
}

void
dpi_texts_prefetch(const struct dpi_texts *t, struct dpi_hits hits)
{
	unsigned at;

	while (hits.bits != 0 && dpi_hits_next(&hits, &at))
		rte_prefetch0(&t->slots[slot_of(t, hash_at(t, hits.text, at))]);
}

uint32_t
dpi_texts_find(const struct dpi_texts *t, struct dpi_hits hits)
{
	struct search s = {.t = t, .text = hits.text, .best = DPI_TEXT_NONE};
	unsigned at;

	while (dpi_hits_next(&hits, &at)) {
		compare(&s, hash_at(t, hits.text, at), at);
		if (s.compared > COMPARE_MAX)
			return DPI_TEXT_UNKNOWN;
	}
	return s.best;
}
