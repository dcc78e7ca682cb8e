/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_PATTERNS_H
#define AIRPATH_DPI_PATTERNS_H

/** Texts and expressions in host names and URLs, as Vectorscan databases. For dpi_set.c. */

#include "modules/dpi/dpi_set.h"
#include "modules/dpi/dpi_sieve.h"

#define DPI_PATTERN_TEXTS 16

struct dpi_patterns;
struct hs_scratch;

enum dpi_pattern_kind { DPI_HOSTS, DPI_URLS, DPI_PATTERN_KINDS };

/** The rules of the pattern kinds; others are passed over.
 * @return 0 and `*patterns`, NULL when there are none; as dpi_set_build() */
int dpi_patterns_build(const struct dpi_rule *rules, uint32_t nb, const struct dpi_limits *limits,
		       struct dpi_patterns **patterns, struct dpi_error *err);
void dpi_patterns_free(struct dpi_patterns *patterns);
size_t dpi_patterns_memory(const struct dpi_patterns *patterns);
bool dpi_patterns_has(const struct dpi_patterns *patterns, enum dpi_pattern_kind kind);

/** @return 0 and `*scratch`, for scans of all kinds by one thread at a time; -ENOMEM */
int dpi_patterns_scratch(const struct dpi_patterns *patterns, struct hs_scratch **scratch);

/**
 * Looks all texts up, with one wait for memory where nothing matches.
 * @param nb at most DPI_PATTERN_TEXTS
 * @param apps application of the first rule that is found in each, or 0
 */
void dpi_patterns_find(const struct dpi_patterns *patterns, enum dpi_pattern_kind kind,
		       const struct dpi_text texts[], unsigned nb, struct hs_scratch *scratch,
		       uint16_t apps[]);

#endif
