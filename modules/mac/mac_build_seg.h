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

#define MAC_BUILD_PAD_BURST 32

/**
 * Takes `n` mbufs that show the padding bytes, their lengths to be set. The reference count is
 * raised once for all: its line is contended by whoever frees padding.
 * @return false: pools.ind is dry.
 */
bool mac_build_zero_take(struct mac_build *b, struct rte_mbuf **segs, unsigned n);

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

/** Segments that `bytes` of padding take: what is left of the open fragment, then whole ones. */
static inline uint32_t
mac_build_pad_segments(const struct mac_build *b, uint32_t bytes)
{
	uint32_t first = b->room ? b->room : b->cfg.fragment_bytes;

	if (bytes <= first)
		return 1;
	return 1 + (bytes - first + b->cfg.fragment_bytes - 1) / b->cfg.fragment_bytes;
}

static __rte_always_inline bool
mac_build_seg_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run,
		  mac_build_append_fn append, const struct mac_build_ops *ops)
{
	uint32_t nb = mac_build_pad_segments(b, bytes), taken = 0;
	struct rte_mbuf *segs[MAC_BUILD_PAD_BURST];

	for (uint32_t i = 0; i < nb; i++) {
		struct rte_mbuf *m;
		uint32_t part;
		bool ok;

		if (i == taken) {
			uint32_t k = RTE_MIN(nb - i, (uint32_t)MAC_BUILD_PAD_BURST);

			if (!mac_build_zero_take(b, segs, k))
				return false;
			taken += k;
		}
		m = segs[i % MAC_BUILD_PAD_BURST];
		ok = mac_build_open(b, ops);
		part = RTE_MIN(bytes, b->room);
		m->data_off = i ? 1 : 0; /* only the first byte of all is 0x3F */
		m->data_len = (uint16_t)part;
		m->pkt_len = part;
		if (unlikely(!ok || !append(b, m))) {
			rte_pktmbuf_free_bulk(&segs[i % MAC_BUILD_PAD_BURST], taken - i);
			return false;
		}
		if (unlikely(!mac_build_took(b, part, run, ops))) {
			rte_pktmbuf_free_bulk(&segs[i % MAC_BUILD_PAD_BURST] + 1, taken - i - 1);
			return false;
		}
		bytes -= part;
	}
	return true;
}

#endif
