/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_memcpy.h>

#include "modules/mac/mac_build_walk.h"

/* Gather: every SDU is copied once, straight to its place in a buffer of pools.phy. */

/* The one place where payload is copied. */
static __rte_always_inline void
mac_build_copy(uint8_t *dst, const void *src, uint32_t bytes)
{
	rte_memcpy(dst, src, bytes);
}

static inline bool
gather_open(struct mac_build *b)
{
	b->head = rte_pktmbuf_alloc(b->phy);
	if (unlikely(b->head == NULL))
		return false;
	b->dst = rte_pktmbuf_mtod(b->head, uint8_t *);
	return true;
}

static inline bool
gather_close(struct mac_build *b)
{
	b->head->data_len = (uint16_t)b->open_bytes;
	b->head->pkt_len = b->open_bytes;
	return true;
}

/** The PHY's port read this buffer last, on another core: its lines are asked for in time. */
static inline void
gather_fetch(const uint8_t *dst, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0_write(dst + at);
}

static inline uint16_t
gather_run(struct mac_build *b, struct rte_mbuf **in, uint16_t nb)
{
	uint8_t *dst = b->dst;
	uint32_t room = b->room;
	uint16_t i;

	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = in[i];
		uint32_t need = mac_build_plain(m, room);
		uint32_t len = m->pkt_len;

		mac_build_prefetch(in, i, nb, 2);
		if (unlikely(need == 0))
			break;
		gather_fetch(dst + 2 * need, RTE_MIN(need, room > 3 * need ? need : 0));
		mac_subheader_put(dst, ap_meta(m)->lcid, len);
		mac_build_copy(dst + need - len, rte_pktmbuf_mtod(m, const void *), len);
		dst += need;
		room -= need;
	}
	b->dst = dst;
	b->room = room;
	return i;
}

static inline bool
gather_whole(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl)
{
	const struct rte_mbuf *s = *m;
	uint8_t *dst = b->dst;

	b->dst += hl + len;
	mac_subheader_put(dst, ap_meta(*m)->lcid, len);
	dst += hl;
	if (likely(s->nb_segs == 1)) {
		mac_build_copy(dst, rte_pktmbuf_mtod(s, const void *), len);
		return true;
	}
	for (; s; s = s->next) {
		mac_build_copy(dst, rte_pktmbuf_mtod(s, const void *), s->data_len);
		dst += s->data_len;
	}
	return true;
}

static const struct mac_build_ops gather_ops;

/* Appends bytes over as many fragments as they fill. */
static bool
gather_bytes(struct mac_build *b, const uint8_t *src, uint32_t bytes, struct mac_build_run *run)
{
	while (bytes) {
		uint32_t part;

		if (!mac_build_open(b, &gather_ops))
			return false;
		part = RTE_MIN(bytes, b->room);
		mac_build_copy(b->dst, src, part);
		b->dst += part;
		if (!mac_build_took(b, part, run, &gather_ops))
			return false;
		src += part;
		bytes -= part;
	}
	return true;
}

static bool
gather_across(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
	      struct mac_build_run *run)
{
	uint8_t subheader[MAC_SUBHEADER_MAX];
	bool ok;

	mac_subheader_put(subheader, ap_meta(*m)->lcid, len);
	ok = gather_bytes(b, subheader, hl, run);
	for (const struct rte_mbuf *s = *m; ok && s; s = s->next)
		ok = gather_bytes(b, rte_pktmbuf_mtod(s, const uint8_t *), s->data_len, run);
	return ok;
}

static bool
gather_ce(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes, struct mac_build_run *run)
{
	return gather_bytes(b, rte_pktmbuf_mtod(*m, const struct mac_tb_mark *)->ce, bytes, run);
}

static bool
gather_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run)
{
	for (bool first = true; bytes; first = false) {
		uint32_t part;

		if (!mac_build_open(b, &gather_ops))
			return false;
		part = RTE_MIN(bytes, b->room);
		memset(b->dst, 0, part);
		if (first)
			b->dst[0] = MAC_PADDING_OCTET;
		b->dst += part;
		if (!mac_build_took(b, part, run, &gather_ops))
			return false;
		bytes -= part;
	}
	return true;
}

static const struct mac_build_ops gather_ops = {
	.run = gather_run,
	.copies = true,
	.open = gather_open,
	.whole = gather_whole,
	.across = gather_across,
	.ce = gather_ce,
	.pad = gather_pad,
	.close = gather_close,
	.data_lines = 2,
};

void
mac_build_gather(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run)
{
	mac_build_walk(b, in, nb, run, &gather_ops);
}
