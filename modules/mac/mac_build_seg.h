/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_BUILD_SEG_H
#define AIRPATH_MODULES_MAC_BUILD_SEG_H

/**
 * What the strategies that link mbufs (scatter, scheme 1, scheme 2) have in common;
 * private to mac_build_*.c. A strategy differs by `append` alone, which takes a chain
 * with right pkt_len and nb_segs, or leaves it to the caller and returns false.
 */

#include "core/pkt.h"
#include "modules/mac/mac_build_walk.h"

typedef bool (*mac_build_append_fn)(struct mac_build *b, struct rte_mbuf *m);

/** Padding bytes: 0x3F, then `bytes` zeros; alive until the last mbuf that shows them is freed. */
struct mac_build_zero *mac_build_zero_create(uint32_t bytes);
void mac_build_zero_release(struct mac_build_zero *z);

/** A segment of `bytes` of padding, with the 0x3F when `first`. @return NULL: pools.ind is dry. */
struct rte_mbuf *mac_build_zero_segment(struct mac_build *b, bool first, uint16_t bytes);

/**
 * Cuts chain `m` after `at` bytes, 0 < at < pkt_len; both parts get right lengths.
 * @return the rest, or NULL with `m` unchanged: pools.ind is dry.
 */
struct rte_mbuf *mac_build_cut(struct mac_build *b, struct rte_mbuf *m, uint32_t at);

/** Writes the subheader before `m`, in its headroom or in a new first segment. */
static __rte_always_inline bool
mac_build_prepend(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl)
{
	uint8_t lcid = ap_meta(*m)->lcid;
	uint8_t *p = ap_pkt_prepend(m, (uint16_t)hl, b->hdr);

	if (unlikely(p == NULL))
		return false;
	mac_subheader_put(p, lcid, len);
	return true;
}

static __rte_always_inline bool
mac_build_seg_whole(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
		    mac_build_append_fn append)
{
	if (unlikely(!mac_build_prepend(b, m, len, hl) || !append(b, *m)))
		return false;
	*m = NULL;
	return true;
}

/** Appends the chain *m, which may fill the open fragment and more. */
static __rte_always_inline bool
mac_build_seg_raw(struct mac_build *b, struct rte_mbuf **m, struct mac_build_run *run,
		  mac_build_append_fn append, const struct mac_build_ops *ops)
{
	while (*m) {
		struct rte_mbuf *rest = NULL;
		uint32_t bytes;

		if (!mac_build_open(b, ops))
			return false;
		if ((*m)->pkt_len > b->room) {
			rest = mac_build_cut(b, *m, b->room);
			if (rest == NULL)
				return false;
		}
		bytes = (*m)->pkt_len;
		if (!append(b, *m)) {
			rte_pktmbuf_free(rest);
			return false;
		}
		*m = rest;
		if (!mac_build_took(b, bytes, run, ops))
			return false;
	}
	return true;
}

static __rte_always_inline bool
mac_build_seg_across(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
		     struct mac_build_run *run, mac_build_append_fn append,
		     const struct mac_build_ops *ops)
{
	return mac_build_prepend(b, m, len, hl) && mac_build_seg_raw(b, m, run, append, ops);
}

/** The mark itself becomes the segment of its CEs. */
static __rte_always_inline bool
mac_build_seg_ce(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes,
		 struct mac_build_run *run, mac_build_append_fn append,
		 const struct mac_build_ops *ops)
{
	rte_pktmbuf_adj(*m, (uint16_t)offsetof(struct mac_tb_mark, ce));
	rte_pktmbuf_trim(*m, (uint16_t)((*m)->data_len - bytes));
	return mac_build_seg_raw(b, m, run, append, ops);
}

static __rte_always_inline bool
mac_build_seg_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run,
		  mac_build_append_fn append, const struct mac_build_ops *ops)
{
	for (bool first = true; bytes; first = false) {
		struct rte_mbuf *m;
		uint32_t part;

		if (!mac_build_open(b, ops))
			return false;
		part = RTE_MIN(bytes, b->room);
		m = mac_build_zero_segment(b, first, (uint16_t)part);
		if (m == NULL)
			return false;
		if (!append(b, m)) {
			rte_pktmbuf_free(m);
			return false;
		}
		if (!mac_build_took(b, part, run, ops))
			return false;
		bytes -= part;
	}
	return true;
}

#endif
