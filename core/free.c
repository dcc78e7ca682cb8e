/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/free.h"

#define POOLS 2 /* headers and indirect mbufs alternate; more pools only cost speed */
#define BATCH 64

/** mbufs on their way back to one pool. */
struct batch {
	struct rte_mempool *pool;
	uint16_t n;
	struct rte_mbuf *mbufs[BATCH];
};

struct freeing {
	struct batch batches[POOLS];
	struct rte_mbuf *shared; /* buffer the last indirect mbufs lay in */
	uint16_t shared_by;      /* how many of them are still to be taken off its count */
};

static void
flush(struct batch *b)
{
	if (b->n)
		rte_mempool_put_bulk(b->pool, (void **)b->mbufs, b->n);
	b->n = 0;
}

/** An mbuf that is as a pool wants it. */
static inline void
put(struct freeing *f, struct rte_mbuf *m)
{
	struct batch *b = &f->batches[0];

	if (m->pool != b->pool) {
		b = &f->batches[1];
		if (m->pool != b->pool) {
			flush(b);
			b->pool = m->pool;
		}
	}
	b->mbufs[b->n++] = m;
	if (b->n == BATCH)
		flush(b);
}

/** Takes the neighbours off the shared buffer's count, and frees it when they were the last. */
static void
release_shared(struct freeing *f)
{
	struct rte_mbuf *m = f->shared;

	f->shared = NULL;
	if (m == NULL || rte_mbuf_refcnt_update(m, (int16_t)-f->shared_by) != 0)
		return;
	/* As rte_pktmbuf_detach() leaves a buffer nobody refers to. */
	m->next = NULL;
	m->nb_segs = 1;
	rte_mbuf_refcnt_set(m, 1);
	put(f, m);
}

/** rte_pktmbuf_detach(), but for the count of the buffer. */
static inline void
detach(struct freeing *f, struct rte_mbuf *m)
{
	struct rte_mbuf *buffer = rte_mbuf_from_indirect(m);
	const struct rte_pktmbuf_pool_private *pool = rte_mempool_get_priv(m->pool);
	uint32_t own = (uint32_t)sizeof(*m) + pool->mbuf_priv_size;

	if (buffer != f->shared) {
		release_shared(f);
		f->shared = buffer;
		f->shared_by = 0;
	}
	f->shared_by++;
	m->priv_size = pool->mbuf_priv_size;
	m->buf_addr = (char *)m + own;
	rte_mbuf_iova_set(m, rte_mempool_virt2iova(m) + own);
	m->buf_len = pool->mbuf_data_room_size;
	rte_pktmbuf_reset_headroom(m);
	m->data_len = 0;
	m->ol_flags = 0;
}

static inline void
free_segment(struct freeing *f, struct rte_mbuf *m)
{
	if (unlikely(rte_mbuf_refcnt_read(m) != 1 || RTE_MBUF_HAS_EXTBUF(m))) {
		rte_pktmbuf_free_seg(m);
		return;
	}
	if (RTE_MBUF_CLONED(m))
		detach(f, m);
	if (m->next != NULL)
		m->next = NULL;
	if (m->nb_segs != 1)
		m->nb_segs = 1;
	put(f, m);
}

void
ap_free_bulk(struct rte_mbuf **pkts, uint16_t n)
{
	struct freeing f;

	f.shared = NULL;
	for (unsigned i = 0; i < POOLS; i++) {
		f.batches[i].pool = NULL;
		f.batches[i].n = 0;
	}
	if (n)
		f.batches[0].pool = pkts[0]->pool;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *next;

		for (struct rte_mbuf *m = pkts[i]; m != NULL; m = next) {
			next = m->next;
			free_segment(&f, m);
		}
	}
	release_shared(&f);
	for (unsigned i = 0; i < POOLS; i++)
		flush(&f.batches[i]);
}
