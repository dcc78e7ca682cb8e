/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_build_seg.h"

/*
 * Schemes 1 and 2 of Song and Chung: a fragment ends as one buffer of pools.phy.
 * rte_pktmbuf_chain() looks for the last segment on every call; scheme 1 therefore
 * makes N(N-1)/2 steps for N subPDUs, scheme 2, whose list never exceeds two, N-1.
 */

static inline bool
chain_open(struct mac_build *b)
{
	b->head = rte_pktmbuf_alloc(b->phy);
	return b->head != NULL;
}

static inline bool
chain_append(struct mac_build *b, struct rte_mbuf *m)
{
	return rte_pktmbuf_chain(b->head, m) == 0;
}

static inline bool
linearize_append(struct mac_build *b, struct rte_mbuf *m)
{
	/* The tailroom was checked at start, so that linearizing what was chained cannot fail. */
	return rte_pktmbuf_chain(b->head, m) == 0 && rte_pktmbuf_linearize(b->head) == 0;
}

static inline bool
chain_close(struct mac_build *b)
{
	return rte_pktmbuf_linearize(b->head) == 0;
}

static const struct mac_build_ops scheme1_ops;
static const struct mac_build_ops scheme2_ops;

static inline bool
scheme1_whole(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl)
{
	return mac_build_seg_whole(b, m, len, hl, chain_append);
}

static bool
scheme1_across(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
	       struct mac_build_run *run)
{
	return mac_build_seg_across(b, m, len, hl, run, chain_append, &scheme1_ops);
}

static bool
scheme1_ce(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_ce(b, m, bytes, run, chain_append, &scheme1_ops);
}

static bool
scheme1_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_pad(b, bytes, run, chain_append, &scheme1_ops);
}

static inline bool
scheme2_whole(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl)
{
	return mac_build_seg_whole(b, m, len, hl, linearize_append);
}

static bool
scheme2_across(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
	       struct mac_build_run *run)
{
	return mac_build_seg_across(b, m, len, hl, run, linearize_append, &scheme2_ops);
}

static bool
scheme2_ce(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_ce(b, m, bytes, run, linearize_append, &scheme2_ops);
}

static bool
scheme2_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_pad(b, bytes, run, linearize_append, &scheme2_ops);
}

static const struct mac_build_ops scheme1_ops = {
	.open = chain_open,
	.whole = scheme1_whole,
	.across = scheme1_across,
	.ce = scheme1_ce,
	.pad = scheme1_pad,
	.close = chain_close,
	.data_lines = 1,
};

static const struct mac_build_ops scheme2_ops = {
	.open = chain_open,
	.whole = scheme2_whole,
	.across = scheme2_across,
	.ce = scheme2_ce,
	.pad = scheme2_pad,
	.close = chain_close,
	.data_lines = 1,
};

void
mac_build_scheme1(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run)
{
	mac_build_walk(b, in, nb, run, &scheme1_ops);
}

void
mac_build_scheme2(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run)
{
	mac_build_walk(b, in, nb, run, &scheme2_ops);
}
