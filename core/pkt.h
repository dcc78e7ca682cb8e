/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_PKT_H
#define AIRPATH_CORE_PKT_H

/**
 * Headers and trailers of a packet, whatever its buffers are.
 *
 * A shared buffer is read-only: what has to stand before or behind it goes into a
 * segment of its own. Removing bytes only moves lengths and offsets, payload stays.
 * The inline half is what nearly every packet takes and stays in the mbuf's first
 * cache line; the rest handles chains.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "core/meta.h"

/**
 * @return how many packets at the front of the vector belong to the bearer of the first, ≥ 1.
 * Looks at every mbuf's first cache line and fetches those of the packets behind.
 */
static inline uint16_t
ap_run_of_bearer(struct rte_mbuf *const *pkts, uint16_t nb)
{
	const uint32_t bearer = ap_meta(pkts[0])->bearer;
	const uint16_t ahead = 8;
	uint16_t i = 1;

	for (; i + ahead < nb; i++) {
		rte_prefetch0(pkts[i + ahead]);
		if (ap_meta(pkts[i])->bearer != bearer)
			return i;
	}
	for (; i < nb; i++)
		if (ap_meta(pkts[i])->bearer != bearer)
			break;
	return i;
}

/** @return true when the segment's buffer belongs to this mbuf alone. */
static inline bool
ap_seg_writable(const struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
}

/** Copies what belongs to the packet and not to its first segment: meta, ext and port. */
static inline void
ap_pkt_take_fields(struct rte_mbuf *to, struct rte_mbuf *from)
{
	*ap_meta(to) = *ap_meta(from);
	*ap_ext(to) = *ap_ext(from);
	to->port = from->port;
}

/** @return true when headers may be written before the data of this segment. */
static inline bool
ap_seg_prependable(struct rte_mbuf *m)
{
	return RTE_MBUF_DIRECT(m) &&
	       (rte_mbuf_refcnt_read(m) == 1 || ap_meta(m)->flags & AP_M_RETAINED);
}

/** ap_pkt_prepend() when the first segment will not do. */
uint8_t *ap_pkt_prepend_seg(struct rte_mbuf **m, uint16_t len, struct rte_mempool *hdr);

/**
 * Makes room for `len` bytes in front. `*m` becomes a new segment from `hdr`, which takes over meta
 * and ext, when the first one is shared or its headroom is used up.
 * @return the first byte, or NULL (`*m` untouched) when `hdr` is exhausted.
 */
static inline uint8_t *
ap_pkt_prepend(struct rte_mbuf **m, uint16_t len, struct rte_mempool *hdr)
{
	struct rte_mbuf *s = *m;

	if (unlikely(!ap_seg_prependable(s) || s->data_off < len)) {
		/* By way of a copy, so that the caller's variable can stay in a register. */
		struct rte_mbuf *first = s;
		uint8_t *p = ap_pkt_prepend_seg(&first, len, hdr);

		*m = first;
		return p;
	}
	s->data_off -= len;
	s->data_len += len;
	s->pkt_len += len;
	return rte_pktmbuf_mtod(s, uint8_t *);
}

/**
 * Makes room for `len` bytes behind, in the last segment or a new one from `hdr`.
 * Searches the last segment: for the rare trailer, not for building chains.
 * @return the first of the contiguous bytes, or NULL when `hdr` is exhausted.
 */
uint8_t *ap_pkt_append(struct rte_mbuf *m, uint16_t len, struct rte_mempool *hdr);

/** ap_pkt_strip() across segments. */
struct rte_mbuf *ap_pkt_strip_seg(struct rte_mbuf *m, uint16_t len);

/**
 * Removes `len` bytes in front; the packet must be longer than that.
 * @return the packet, whose first segment is another when the old one became empty.
 */
static inline struct rte_mbuf *
ap_pkt_strip(struct rte_mbuf *m, uint16_t len)
{
	if (unlikely(m->data_len <= len))
		return ap_pkt_strip_seg(m, len);
	m->data_off += len;
	m->data_len -= len;
	m->pkt_len -= len;
	return m;
}

/** Removes `len` bytes behind; the packet must be longer than that. Emptied segments are freed. */
void ap_pkt_trim(struct rte_mbuf *m, uint16_t len);

#endif
