/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_COPY_H
#define AIRPATH_MODULES_PHY_COPY_H

/**
 * Copies many packets, each a list of segments, into contiguous buffers.
 *
 * The segments of a scatter TB were written by another core and hang on each other by
 * pointers, so walking one list costs a cache miss a segment. The lists are walked side by
 * side instead, a segment of each in turn, with the next ones on their way meanwhile.
 */

#include <stdint.h>

#include <rte_mbuf.h>

struct phy_copy {
	const struct rte_mbuf *seg; /**< next to copy */
	const struct rte_mbuf *next; /**< the one behind it */
	uint8_t *to;
	uint32_t left; /**< bytes wanted */
};

/** Prepares a copy of the first `len` bytes of `m`. */
static inline void
phy_copy_start(struct phy_copy *c, const struct rte_mbuf *m, uint8_t *to, uint32_t len)
{
	*c = (struct phy_copy){.seg = m, .next = m->next, .to = to, .left = len};
}

/** Does all of them; the array is used up. */
void phy_copy_all(struct phy_copy *c, unsigned nb);

#endif
