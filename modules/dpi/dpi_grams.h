/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_GRAMS_H
#define AIRPATH_DPI_GRAMS_H

/**
 * What patterns require, and a second look at what a sieve lets through: whether it is of this
 * list of patterns, with far fewer let through by chance. For dpi_patterns.c.
 */

#include "modules/dpi/dpi_sieve.h"

struct dpi_grams;

/**
 * @param literal texts as they stand; no expressions
 * @return 0 and what all of them require; -ENOMEM
 */
int dpi_grams_need(const struct dpi_expression *e, uint32_t nb, bool literal,
		   struct dpi_need *need);

/**
 * @param sieve made for at most what these need; their grams go into it, too. NULL is allowed
 * @return 0 and `*grams`, NULL without a sieve; -ENOMEM
 */
int dpi_grams_build(const struct dpi_expression *e, uint32_t nb, bool literal,
		    struct dpi_sieve *sieve, struct dpi_grams **grams);
void dpi_grams_free(struct dpi_grams *grams);
size_t dpi_grams_memory(const struct dpi_grams *grams);

/** @return false: no pattern of the list matches. Any thread. */
bool dpi_grams_may(const struct dpi_grams *grams, struct dpi_hits hits);

/**
 * The longest text that all matches of an expression have in them, as far as that is easy to see.
 * @param out as long as the expression
 * @return its octets; 0: none
 */
size_t dpi_grams_required(const char *expression, char *out);

#endif
