/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_SIEVE_H
#define AIRPATH_DPI_SIEVE_H

/**
 * Tells most texts that no pattern can match, for a fraction of what a search takes: a few octets
 * in a row that every match has (a gram), at any of some places in a row, are in a filter; so only
 * every so many octets of a text are asked for, eight at once where the CPU can. One filter may be
 * of several lists of patterns. For dpi_patterns.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "modules/dpi/dpi_compile.h"

#define DPI_GRAM_MIN 4 /**< octets: patterns that need not have so many in a row have no filter */
#define DPI_GRAM_MAX 8
#define DPI_STEP_MAX 32
#define DPI_SIEVE_LANES 8
#define DPI_SIEVE_GRAMS 64 /**< of a text that are asked for at once */
/** Octets behind a text that may be read, whatever they are. */
#define DPI_SIEVE_BEHIND ((DPI_SIEVE_LANES - 1) * DPI_STEP_MAX + DPI_GRAM_MAX)

/** What all patterns of a list require. */
struct dpi_need {
	unsigned least; /**< octets in a row of every match */
	bool fold;      /**< cases are the same to some */
};

/** Constant once filled; read by any thread. */
struct dpi_sieve {
	unsigned len;   /**< octets of a gram */
	unsigned step;  /**< grams of a pattern, and octets from one of a text to the next asked */
	unsigned reach; /**< octets of the least text that has more than DPI_SIEVE_GRAMS */
	unsigned shift; /**< of a hash, to the index of its word */
	uint64_t mask;  /**< the octets of a gram */
	uint64_t fold;  /**< what tells cases apart, where they are the same; else 0 */
	uint32_t *words;
	int32_t offsets[DPI_SIEVE_LANES]; /**< of grams asked for at once */
};

/** A text to look patterns up in; DPI_SIEVE_BEHIND octets may be read behind it. */
struct dpi_text {
	const uint8_t *at;
	unsigned len;
};

/** @return octets of the grams of patterns that require so many; 0: there is no filter of them. */
unsigned dpi_sieve_gram(const struct dpi_need *need);

/** @return 0 and `*sieve`, empty, for so many patterns; NULL where they have none; -ENOMEM */
int dpi_sieve_make(const struct dpi_need *need, uint32_t patterns, struct dpi_sieve **sieve);
void dpi_sieve_free(struct dpi_sieve *sieve);
size_t dpi_sieve_memory(const struct dpi_sieve *sieve);
void dpi_sieve_add(struct dpi_sieve *sieve, uint64_t gram);

/** @return bit n: a pattern may have the gram at `from` + n steps, for the first DPI_SIEVE_GRAMS of
 *          them. */
uint64_t dpi_sieve_hits(const struct dpi_sieve *sieve, const struct dpi_text *text, unsigned from);
/** The same, one after another: for CPUs without AVX2. */
uint64_t dpi_sieve_hits_plain(const struct dpi_sieve *sieve, const struct dpi_text *text,
			      unsigned from);
/** dpi_sieve_hits() of the beginnings of all texts, whose waits for memory are one. */
void dpi_sieve_ask(const struct dpi_sieve *sieve, const struct dpi_text texts[], unsigned nb,
		   uint64_t hits[]);

/** Octets of a pattern that its grams are of: the last ones, which tell more patterns apart. */
static inline unsigned
dpi_sieve_window(const struct dpi_sieve *s)
{
	return s->len + s->step - 1;
}

/** That part of a pattern, where octets behind can be read. @return where it is in `room` */
static inline const uint8_t *
dpi_sieve_window_of(const struct dpi_sieve *s, const char *pattern, size_t len,
		    uint8_t room[DPI_STEP_MAX + 2 * DPI_GRAM_MAX])
{
	const unsigned window = dpi_sieve_window(s);

	memset(room, 0, DPI_STEP_MAX + 2 * DPI_GRAM_MAX);
	return memcpy(room, pattern + len - window, window);
}

/** The gram at `p`, of DPI_GRAM_MAX octets that can be read. */
static inline uint64_t
dpi_gram_at(const struct dpi_sieve *s, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return (v & s->mask) | s->fold;
}

/** Places of a text whose grams are let through, one by one. */
struct dpi_hits {
	const struct dpi_sieve *sieve;
	const struct dpi_text *text;
	unsigned from;
	uint64_t bits; /**< not told yet, of those from `from` on; at first the text's
			  dpi_sieve_ask() */
};

/** @return false: there are no more. */
static inline bool
dpi_hits_next(struct dpi_hits *h, unsigned *at)
{
	while (h->bits == 0) {
		h->from += DPI_SIEVE_GRAMS * h->sieve->step;
		if (h->from + h->sieve->len > h->text->len)
			return false;
		h->bits = dpi_sieve_hits(h->sieve, h->text, h->from);
	}
	*at = h->from + (unsigned)__builtin_ctzll(h->bits) * h->sieve->step;
	h->bits &= h->bits - 1;
	return true;
}

#endif
