/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_COPY_H
#define AIRPATH_MODULES_PHY_COPY_H

/**
 * Copies many packets, each a list of segments, into contiguous buffers.
 *
 * The segments of a scatter TB were written by another core and hang on each other by
 * pointers, so walking one list costs a cache miss a segment. The lists are walked side by
 * side instead, a segment of each in turn, with the next ones on their way meanwhile. A
 * segment is freed right behind its copy, while its mbuf is in the first-level cache: of 140 B
 * segments that takes half the cycles of copying first and freeing after.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct phy_copy {
	struct rte_mbuf *seg;  /**< next to copy */
	struct rte_mbuf *next; /**< the one behind it */
	uint8_t *to;
	uint32_t left; /**< bytes wanted */
	bool last;     /**< nobody else copies from it: free it */
};

/** Prepares a copy of the first `len` bytes of `m`, which is freed when it is the `last`. */
static inline void
phy_copy_start(struct phy_copy *c, struct rte_mbuf *m, uint8_t *to, uint32_t len, bool last)
{
	*c = (struct phy_copy){.seg = m, .next = m->next, .to = to, .left = len, .last = last};
}

/** Does all of them; the array is used up. */
void phy_copy_all(struct phy_copy *c, unsigned nb);

#endif
