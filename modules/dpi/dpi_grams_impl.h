/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_GRAMS_IMPL_H
#define AIRPATH_DPI_GRAMS_IMPL_H

/** What a gram is, between the filter of grams and the index of those of texts. */

#include <string.h>

#include "modules/dpi/dpi_bloom.h"
#include "modules/dpi/dpi_grams.h"

struct dpi_grams {
	unsigned len; /**< octets of a gram */
	unsigned
		step; /**< grams of each pattern, and octets from one of a text to the next asked */
	uint64_t mask; /**< the octets of a gram */
	uint64_t fold; /**< what tells cases apart, where they are the same; else 0 */
	struct dpi_bloom bloom;
};

/** Octets of a pattern that its grams are of: the last ones, which tell more patterns apart. */
static inline unsigned
dpi_grams_window(const struct dpi_grams *g)
{
	return g->len + g->step - 1;
}

/** The gram at `at`, which is before `len`; reads nothing behind. */
static inline uint64_t
dpi_gram_at(const struct dpi_grams *g, const uint8_t *text, unsigned len, unsigned at)
{
	uint64_t v = 0;

	if (at + 8 <= len) {
		memcpy(&v, text + at, 8);
	} else {
		for (unsigned i = len; i-- > at;)
			v = v << 8 | text[i];
	}
	return (v & g->mask) | g->fold;
}

#endif
