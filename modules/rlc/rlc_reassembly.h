/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_REASSEMBLY_H
#define AIRPATH_MODULES_RLC_REASSEMBLY_H

/**
 * Putting one SDU together from segments that come in any order, twice, or overlapping.
 *
 * Segments stay packets of their own, sorted by offset and free of overlap, until the
 * SDU is complete; then they are chained. Descriptors come from a bounded table, which
 * also bounds how many mbufs a peer can make an entity keep. Used by one lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/** A kept segment; index 0 of the table stands for "none". */
struct rlc_seg {
	struct rte_mbuf *m; /**< payload only */
	uint32_t next;      /**< the segment after it, or the next free descriptor */
	uint16_t so;        /**< offset of its first byte, B */
	uint16_t len;       /**< B */
};

struct rlc_seg_table {
	struct rlc_seg *segs;
	uint32_t free; /**< first free descriptor */
};

/** One SDU; all zero when nothing is known of it. */
struct rlc_sdu {
	uint32_t first; /**< segment with the lowest offset */
	uint32_t last;  /**< segment with the highest offset */
	uint16_t bytes; /**< received so far */
	uint16_t end;   /**< length, 0 until the last segment came */
	bool delivered; /**< reassembled before; kept by the entity while in its window */
};

enum rlc_insert {
	RLC_INSERT_OK,
	RLC_INSERT_DUPLICATE, /**< no new byte */
	RLC_INSERT_CONFLICT,  /**< beyond the known end, or a second, different end */
	RLC_INSERT_FULL,      /**< no descriptor left */
};

/** @param nb segments at most, > 0. @return 0 or -ENOMEM. */
int rlc_seg_table_init(struct rlc_seg_table *t, uint32_t nb);
void rlc_seg_table_fini(struct rlc_seg_table *t);

/**
 * Adds the bytes of `m` that are new. Owned by the SDU if RLC_INSERT_OK, else by the
 * caller still. The SDU can become complete with RLC_INSERT_DUPLICATE too, when the
 * segment only told the end.
 * @param so offset of the first byte; so + pkt_len ≤ 65535, pkt_len > 0
 * @param last the segment ends the SDU
 * @param covered out: older segments freed because `m` has all of their bytes
 */
enum rlc_insert rlc_sdu_insert(struct rlc_seg_table *t, struct rlc_sdu *s, struct rte_mbuf *m,
			       uint16_t so, bool last, unsigned *covered);

static inline bool
rlc_sdu_is_complete(const struct rlc_sdu *s)
{
	return s->end != 0 && s->bytes == s->end;
}

/** A byte before the last received one is missing. */
static inline bool
rlc_sdu_has_gap(const struct rlc_seg_table *t, const struct rlc_sdu *s)
{
	const struct rlc_seg *last = &t->segs[s->last];

	return s->last != 0 && s->bytes != last->so + last->len;
}

/**
 * Chains a complete SDU and empties `s`.
 * @param segments out: packets that became one. @return the SDU, meta of its first byte.
 */
struct rte_mbuf *rlc_sdu_join(struct rlc_seg_table *t, struct rlc_sdu *s, unsigned *segments);

/** Frees what is kept and empties `s`. @return segments freed. */
unsigned rlc_sdu_drop(struct rlc_seg_table *t, struct rlc_sdu *s);

#endif
