/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_BLOOM_H
#define AIRPATH_DPI_BLOOM_H

/** A set that says of a few things too many that they are in it, and of nothing in it that it is
 * not; asking is a look at one word. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/huge.h"

#define DPI_BLOOM_BITS 20 /**< of a thing: one in 2,000 others is let through */

struct dpi_bloom {
	uint64_t *words;
	uint32_t nb_words;
};

static inline uint64_t
dpi_bloom_hash(uint64_t thing)
{
	thing *= 0x9E3779B97F4A7C15ULL;
	thing ^= thing >> 32;
	return thing * 0xE7037ED1A0B428DBULL;
}

static inline uint64_t *
dpi_bloom_word(const struct dpi_bloom *b, uint64_t hash)
{
	return &b->words[(hash >> 32) * b->nb_words >> 32];
}

/** Four bits of the word, of the hash's low 24. */
static inline uint64_t
dpi_bloom_bits(uint64_t hash)
{
	return (uint64_t)1 << (hash & 63) | (uint64_t)1 << (hash >> 6 & 63) |
	       (uint64_t)1 << (hash >> 12 & 63) | (uint64_t)1 << (hash >> 18 & 63);
}

static inline void
dpi_bloom_add(const struct dpi_bloom *b, uint64_t hash)
{
	*dpi_bloom_word(b, hash) |= dpi_bloom_bits(hash);
}

static inline bool
dpi_bloom_has(const struct dpi_bloom *b, uint64_t hash)
{
	const uint64_t bits = dpi_bloom_bits(hash);

	return (*dpi_bloom_word(b, hash) & bits) == bits;
}

/** @param bits_each of a thing. @return false: no memory. free() `words`. */
static inline bool
dpi_bloom_make(struct dpi_bloom *b, uint64_t things, unsigned bits_each)
{
	const uint64_t words = things * bits_each / 64 + 1;

	b->nb_words = (uint32_t)words;
	b->words = words > UINT32_MAX ? NULL : ap_huge_table(words * sizeof(*b->words));
	return b->words != NULL;
}

static inline size_t
dpi_bloom_memory(const struct dpi_bloom *b)
{
	return b->nb_words * sizeof(*b->words);
}

#endif
