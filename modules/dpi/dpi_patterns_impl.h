/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_PATTERNS_IMPL_H
#define AIRPATH_DPI_PATTERNS_IMPL_H

/**
 * Patterns between who builds them and who looks names up. A text goes through the sieves of its
 * kind; what they let through is compared by the index of texts, or searched by Vectorscan.
 */

#include <hs/hs.h>

#include "modules/dpi/dpi_grams.h"
#include "modules/dpi/dpi_patterns.h"
#include "modules/dpi/dpi_texts.h"

enum form { LITERAL, EXPRESSION, FORMS };

struct pattern {
	uint16_t app;
	uint16_t anchored; /* octets of a text that must be at the start; 0: anywhere */
};

struct kind {
	hs_database_t *db[FORMS];        /* NULL: no rules */
	struct dpi_sieve *sieves[FORMS]; /* of both perhaps the same; NULL: any text may match */
	struct dpi_grams *grams[FORMS];  /* not NULL where the sieve is not */
	struct dpi_texts *texts;         /* of the LITERAL ones; NULL: no index */
	struct pattern *patterns;        /* by id: the first rule is 0 */
	uint32_t nb;
};

struct dpi_patterns {
	struct kind kinds[DPI_PATTERN_KINDS];
	size_t memory;
};

#endif
