/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_SEQ_H
#define AIRPATH_MODULES_GEN_SEQ_H

/**
 * Sequence of one flow at the receiver: loss, duplicates, reordering.
 *
 * Kept are the next expected number (RFC 4737 §3.3 NextExp) and a bitmap of the numbers in the
 * window below it that are missing. While nothing is missing, which is nearly always, the bitmap
 * is all zero and stays untouched.
 */

#include <stdbool.h>
#include <stdint.h>

enum gen_seq_verdict {
	GEN_SEQ_IN_ORDER,
	GEN_SEQ_REORDERED, /**< first arrival, but a later one came before */
	GEN_SEQ_DUPLICATE,
	GEN_SEQ_LATE, /**< below the window: cannot be told */
};

/** Owner: the verifying lcore. A new one expects sequence number 0. */
struct gen_seq {
	uint64_t next;    /**< NextExp */
	uint32_t missing; /**< bits set in the bitmap */
	uint32_t window;  /**< power of 2, ≥ 64: how far back late is told from duplicate */
	uint64_t *bitmap; /**< [window / 64], all zero at first */
};

/** gen_seq_take() for all but the in-order packet. @param opened set to the numbers skipped */
enum gen_seq_verdict gen_seq_take_slow(struct gen_seq *s, uint64_t seq, uint64_t *opened);

/**
 * Takes one arrival.
 * @param opened set to how many numbers before `seq` turned out missing
 * @return what the packet is
 */
static inline enum gen_seq_verdict
gen_seq_take(struct gen_seq *s, uint64_t seq, uint64_t *opened)
{
	if (seq != s->next || s->missing != 0)
		return gen_seq_take_slow(s, seq, opened);
	s->next++;
	*opened = 0;
	return GEN_SEQ_IN_ORDER;
}

#endif
