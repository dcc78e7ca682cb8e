/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/gen/gen_seq.h"

static uint64_t *
word(struct gen_seq *s, uint64_t seq)
{
	return &s->bitmap[(seq & (s->window - 1)) / 64];
}

static uint64_t
bit(uint64_t seq)
{
	return 1ULL << (seq % 64);
}

/** @return whether `seq` was missing; it no longer is. */
static bool
clear(struct gen_seq *s, uint64_t seq)
{
	if (!(*word(s, seq) & bit(seq)))
		return false;
	*word(s, seq) &= ~bit(seq);
	s->missing--;
	return true;
}

/** Moves NextExp past `seq`; what is skipped is missing, what leaves the window is forgotten. */
static void
advance(struct gen_seq *s, uint64_t seq)
{
	uint64_t first = s->next;

	if (seq - s->next >= s->window) {
		memset(s->bitmap, 0, s->window / 8);
		s->missing = 0;
		first = seq - (s->window - 1);
	}
	for (uint64_t skipped = first; skipped < seq; skipped++) {
		clear(s, skipped);
		*word(s, skipped) |= bit(skipped);
		s->missing++;
	}
	clear(s, seq);
	s->next = seq + 1;
}

enum gen_seq_verdict
gen_seq_take_slow(struct gen_seq *s, uint64_t seq, uint64_t *opened)
{
	*opened = 0;
	if (seq >= s->next) {
		*opened = seq - s->next;
		advance(s, seq);
		return GEN_SEQ_IN_ORDER;
	}
	if (s->next - seq > s->window)
		return GEN_SEQ_LATE;
	return clear(s, seq) ? GEN_SEQ_REORDERED : GEN_SEQ_DUPLICATE;
}
