/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_TEXTS_H
#define AIRPATH_DPI_TEXTS_H

/**
 * Finds texts in others by an index of their grams: what a sieve lets through has a text in it
 * far more often than not, and Vectorscan's search for all of them takes ten times as long as to
 * compare it with the few that have the gram. For dpi_patterns.c.
 */

#include "modules/dpi/dpi_sieve.h"

#define DPI_TEXT_NONE UINT32_MAX
#define DPI_TEXT_UNKNOWN (UINT32_MAX - 1)

struct dpi_texts;

/**
 * @param sieve of the same texts; stays. NULL is allowed
 * @param e texts, in the order of their ids; with `every`: must be at the start of the text
 * @return 0 and `*texts`, NULL where no index is worth it; -ENOMEM
 */
int dpi_texts_build(const struct dpi_sieve *sieve, const struct dpi_expression *e, uint32_t nb,
		    struct dpi_texts **texts);
void dpi_texts_free(struct dpi_texts *texts);
size_t dpi_texts_memory(const struct dpi_texts *texts);

/** Has dpi_texts_find() of a text begin with less waiting: only the hits known so far. */
void dpi_texts_prefetch(const struct dpi_texts *texts, struct dpi_hits hits);

/** @return the least id of the texts that are in the one of these hits; DPI_TEXT_NONE;
 *          DPI_TEXT_UNKNOWN: too many may be. Any thread. */
uint32_t dpi_texts_find(const struct dpi_texts *texts, struct dpi_hits hits);

#endif
