/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_DPI_DPI_STREAM_H
#define AIRPATH_MODULES_DPI_DPI_STREAM_H

/** The first octets of a stream of TCP or of CRYPTO frames, put together in any order. */

#include <stdbool.h>
#include <stdint.h>

#include "modules/dpi/dpi_look.h"

struct dpi_stream {
	uint32_t have; /**< octets there from the beginning on */
	bool gaps;     /**< `later` is set up: there are octets behind a gap */
	uint8_t data[DPI_SCAN_OCTETS];
	uint64_t later[DPI_SCAN_OCTETS / 64]; /**< of octets from `have` on: a bit each */
};

/** Empties it; the memory may hold anything. */
static inline void
dpi_stream_begin(struct dpi_stream *s)
{
	s->have = 0;
	s->gaps = false;
}

/**
 * Puts octets in their place; what is beyond DPI_SCAN_OCTETS is left out.
 * @return 0; -EINVAL: an octet differs from the one received before for the same place
 */
int dpi_stream_put(struct dpi_stream *s, uint64_t offset, const uint8_t *data, uint32_t len);

#endif
