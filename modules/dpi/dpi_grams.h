/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_GRAMS_H
#define AIRPATH_DPI_GRAMS_H

/**
 * Tells most texts that no pattern of a list can match, for a fraction of what a search for all of
 * them takes: a few octets that every match has, at any of some places in a row, are in a Bloom
 * filter; so only every so many octets of a text are asked for. For dpi_patterns.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "modules/dpi/dpi_compile.h"

#define DPI_GRAM_MIN 4 /**< octets: patterns that need not have so many in a row have no filter */
#define DPI_GRAM_MAX 8

struct dpi_grams;

/**
 * @param literal texts as they stand; no expressions
 * @return 0 and `*grams`, NULL where any text may match; -ENOMEM
 */
int dpi_grams_build(const struct dpi_expression *e, uint32_t nb, bool literal,
		    struct dpi_grams **grams);
void dpi_grams_free(struct dpi_grams *grams);
size_t dpi_grams_memory(const struct dpi_grams *grams);

/** @param grams NULL is allowed. @return false: no pattern matches. Any thread. */
bool dpi_grams_may(const struct dpi_grams *grams, const uint8_t *text, unsigned len);

/**
 * The longest text that all matches of an expression have in them, as far as that is easy to see.
 * @param out as long as the expression
 * @return its octets; 0: none
 */
size_t dpi_grams_required(const char *expression, char *out);

#endif
