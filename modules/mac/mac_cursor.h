/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_CURSOR_H
#define AIRPATH_MODULES_MAC_CURSOR_H

/**
 * Reads a TB over the segments of its mbuf chain, and gives each segment up when it is passed;
 * private to mac_rx.c.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

/** Where in the TB we are. */
struct cursor {
	const uint8_t *p;
	const uint8_t *end; /**< of the segment's data */
	uint32_t left;      /**< TB bytes from p on */
	uint32_t refs;      /**< SDUs that point into the segment */
	struct rte_mbuf *seg;
	uint64_t ol_flags; /**< of an mbuf attached to the segment's buffer */
	uint8_t carrier;
};

static inline void
cursor_enter(struct cursor *c, struct rte_mbuf *seg)
{
	c->seg = seg;
	c->refs = 0;
	c->p = rte_pktmbuf_mtod(seg, const uint8_t *);
	c->end = c->p + seg->data_len;
	c->ol_flags = RTE_MBUF_HAS_EXTBUF(seg) ? RTE_MBUF_F_EXTERNAL : RTE_MBUF_F_INDIRECT;
	if (seg->next)
		rte_prefetch0(seg->next);
}

/*
 * The segment is done: its buffer now belongs to the SDUs in it, which the TB's own reference
 * pays for in part. A segment that shows another's buffer is freed after that was referenced.
 */
static inline void
cursor_leave(struct cursor *c)
{
	struct rte_mbuf *seg = c->seg;

	if (likely(c->refs && RTE_MBUF_DIRECT(seg))) {
		if (c->refs > 1)
			rte_mbuf_refcnt_update(seg, (int16_t)(c->refs - 1));
		return;
	}
	if (c->refs && RTE_MBUF_HAS_EXTBUF(seg))
		rte_mbuf_ext_refcnt_update(seg->shinfo, (int16_t)c->refs);
	else if (c->refs)
		rte_mbuf_refcnt_update(rte_mbuf_from_indirect(seg), (int16_t)c->refs);
	rte_pktmbuf_free_seg(seg);
}

/* @return false at the end of the chain, then c->seg is NULL. */
static inline bool
cursor_next(struct cursor *c)
{
	struct rte_mbuf *next = c->seg->next;

	cursor_leave(c);
	if (next == NULL) {
		c->seg = NULL;
		return false;
	}
	cursor_enter(c, next);
	return true;
}

/* Moves `bytes` on, across segments; the caller has checked that the TB has them. */
static inline bool
cursor_skip(struct cursor *c, uint32_t bytes)
{
	c->left -= bytes;
	while (bytes > (size_t)(c->end - c->p)) {
		bytes -= (uint32_t)(c->end - c->p);
		if (!cursor_next(c))
			return false;
	}
	c->p += bytes;
	return true;
}

/* Copies the next bytes without moving. @return how many there are, at most `max`. */
static inline uint32_t
cursor_peek(const struct cursor *c, uint8_t *to, uint32_t max)
{
	const struct rte_mbuf *seg = c->seg;
	const uint8_t *p = c->p;
	uint32_t here = (uint32_t)(c->end - c->p), n = 0;

	max = RTE_MIN(max, c->left);
	for (;;) {
		uint32_t part = RTE_MIN(here, max - n);

		memcpy(to + n, p, part);
		n += part;
		seg = seg->next;
		if (n == max || seg == NULL)
			return n;
		p = rte_pktmbuf_mtod(seg, const uint8_t *);
		here = seg->data_len;
	}
}

/* Fetches the line `distance` ahead of the cursor, which may lie in the next segment. */
static inline void
cursor_prefetch(const struct cursor *c, uint32_t distance)
{
	uint32_t here = (uint32_t)(c->end - c->p);

	if (likely(distance < here))
		rte_prefetch0(c->p + distance);
	else if (c->seg->next)
		rte_prefetch0(
			rte_pktmbuf_mtod_offset(c->seg->next, const uint8_t *, distance - here));
}

static inline void
cursor_free(struct cursor *c)
{
	struct rte_mbuf *rest;

	if (c->seg == NULL)
		return;
	rest = c->seg->next;
	cursor_leave(c);
	while (rest) {
		struct rte_mbuf *next = rest->next;

		rte_pktmbuf_free_seg(rest);
		rest = next;
	}
}

#endif
