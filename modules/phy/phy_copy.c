/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "modules/phy/phy_copy.h"

/* What is fetched of the next segment: the hardware sees the rest coming. */
#define AHEAD_BYTES 256
#define PENDING 64

/** Free mbufs of one pool on their way back. */
struct pending {
	struct rte_mempool *pool;
	unsigned nb;
	void *m[PENDING];
};

static void
pending_flush(struct pending *p)
{
	if (p->nb > 0)
		rte_mempool_put_bulk(p->pool, p->m, p->nb);
	p->nb = 0;
}

static inline void
segment_free(struct pending *p, struct rte_mbuf *m)
{
	m = rte_pktmbuf_prefree_seg(m);
	if (m == NULL)
		return;
	if (unlikely(p->pool != m->pool || p->nb == PENDING)) {
		pending_flush(p);
		p->pool = m->pool;
	}
	p->m[p->nb++] = m;
}

static inline void
segment_prefetch(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint32_t len = RTE_MIN(m->data_len, AHEAD_BYTES);

	for (uint32_t at = 0; at < len; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(p + at);
}

static inline void
mbuf_prefetch(const struct rte_mbuf *m)
{
	rte_prefetch0(m);
	rte_prefetch0((const uint8_t *)m + RTE_CACHE_LINE_MIN_SIZE);
}

/** Copies one segment and moves on. @return false when it was the last one wanted. */
static inline bool
segment_copy(struct phy_copy *c, struct pending *p)
{
	const uint32_t n = RTE_MIN(c->left, (uint32_t)c->seg->data_len);
	struct rte_mbuf *done = c->seg;
	bool more;

	rte_memcpy(c->to, rte_pktmbuf_mtod(done, const uint8_t *), n);
	c->to += n;
	c->left -= n;
	c->seg = c->next;
	more = c->left > 0 && c->seg != NULL;
	if (more) {
		segment_prefetch(c->seg);
		c->next = c->seg->next;
		if (c->next)
			mbuf_prefetch(c->next);
	}
	if (likely(c->last)) {
		segment_free(p, done);
		if (unlikely(!more))
			rte_pktmbuf_free(c->seg); /* only padding of the frame */
	}
	return more;
}

void
phy_copy_all(struct phy_copy *c, unsigned nb)
{
	struct pending p = {0};

	for (unsigned i = 0; i < nb; i++)
		if (c[i].next)
			mbuf_prefetch(c[i].next);
	while (nb > 0) {
		for (unsigned i = 0; i < nb;) {
			if (segment_copy(&c[i], &p))
				i++;
			else
				c[i] = c[--nb];
		}
	}
	pending_flush(&p);
}
