/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_QUEUE_H
#define AIRPATH_CORE_QUEUE_H

/**
 * Bounded queue of SDUs between two nodes: the `⇥` of the architecture (RLC→MAC).
 *
 * One producer lcore, one consumer lcore (which may be the same). The consumer can
 * look at the head without taking it, which segmentation needs. Length and arrival
 * time travel in the entry, so that scheduling does not touch the mbuf.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

struct ap_queue_entry {
	struct rte_mbuf *m;
	uint32_t bytes;    /**< packet length when queued */
	uint32_t enter_us; /**< low 32 bits of ap_clock_ns() / 1000 (wraps after 71 min) */
};

struct ap_queue {
	/* producer: rw, consumer: ro */
	_Atomic uint32_t head __rte_cache_aligned; /**< next entry to write */
	uint32_t tail_seen;                        /**< producer's last view of tail */
	_Atomic uint64_t bytes_in;                 /**< Σ bytes ever queued */
	/* consumer: rw, producer: ro */
	_Atomic uint32_t tail __rte_cache_aligned; /**< next entry to read */
	uint32_t head_seen;
	_Atomic uint64_t bytes_out; /**< Σ bytes ever taken */
	/* constant */
	uint32_t mask __rte_cache_aligned;
	struct ap_queue_entry *entries;
};

/** @param size power of two. @return 0, -EINVAL or -ENOMEM. */
static inline int
ap_queue_init(struct ap_queue *q, uint32_t size)
{
	if (!rte_is_power_of_2(size))
		return -EINVAL;
	*q = (struct ap_queue){.mask = size - 1};
	q->entries = rte_zmalloc("ap_queue", sizeof(*q->entries) * size, RTE_CACHE_LINE_SIZE);
	return q->entries ? 0 : -ENOMEM;
}

/** Entries waiting. Exact for the consumer; for the producer an upper bound. */
static inline uint32_t
ap_queue_count(const struct ap_queue *q)
{
	return atomic_load_explicit(&q->head, memory_order_acquire) -
	       atomic_load_explicit(&q->tail, memory_order_acquire);
}

static inline uint64_t
ap_queue_bytes(const struct ap_queue *q)
{
	return atomic_load_explicit(&q->bytes_in, memory_order_acquire) -
	       atomic_load_explicit(&q->bytes_out, memory_order_relaxed);
}

/** Producer. @return free entries, at least. */
static inline uint32_t
ap_queue_room(struct ap_queue *q)
{
	uint32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);

	q->tail_seen = atomic_load_explicit(&q->tail, memory_order_acquire);
	return q->mask + 1 - (head - q->tail_seen);
}

/** Producer. @return how many of `n` were queued, first ones first. */
static inline uint32_t
ap_queue_push(struct ap_queue *q, const struct ap_queue_entry *e, uint32_t n)
{
	uint32_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	uint64_t bytes = 0;

	if (q->mask + 1 - (head - q->tail_seen) < n)
		n = RTE_MIN(n, ap_queue_room(q));
	for (uint32_t i = 0; i < n; i++) {
		q->entries[(head + i) & q->mask] = e[i];
		bytes += e[i].bytes;
	}
	atomic_store_explicit(&q->bytes_in,
			      atomic_load_explicit(&q->bytes_in, memory_order_relaxed) + bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&q->head, head + n, memory_order_release);
	return n;
}

/**
 * Producer: the i-th free entry, to be filled before ap_queue_commit(); i below
 * ap_queue_room(). Spares bulk producers the copy that ap_queue_push() makes.
 */
static inline struct ap_queue_entry *
ap_queue_slot(struct ap_queue *q, uint32_t i)
{
	return &q->entries[(atomic_load_explicit(&q->head, memory_order_relaxed) + i) & q->mask];
}

/** Producer: the first `n` free entries are filled and hold `bytes` in all. */
static inline void
ap_queue_commit(struct ap_queue *q, uint32_t n, uint64_t bytes)
{
	atomic_store_explicit(&q->bytes_in,
			      atomic_load_explicit(&q->bytes_in, memory_order_relaxed) + bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&q->head, atomic_load_explicit(&q->head, memory_order_relaxed) + n,
			      memory_order_release);
}

/** Consumer. @return the i-th waiting entry, or NULL when fewer wait. */
static inline const struct ap_queue_entry *
ap_queue_peek(struct ap_queue *q, uint32_t i)
{
	uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	if (q->head_seen - tail <= i) {
		q->head_seen = atomic_load_explicit(&q->head, memory_order_acquire);
		if (q->head_seen - tail <= i)
			return NULL;
	}
	return &q->entries[(tail + i) & q->mask];
}

/** Consumer: forgets the first `n` entries, which held `bytes` in all. */
static inline void
ap_queue_take(struct ap_queue *q, uint32_t n, uint64_t bytes)
{
	atomic_store_explicit(&q->bytes_out,
			      atomic_load_explicit(&q->bytes_out, memory_order_relaxed) + bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&q->tail, atomic_load_explicit(&q->tail, memory_order_relaxed) + n,
			      memory_order_release);
}

/**
 * Consumer: takes out the waiting entries for which `match` is true; the others keep their
 * order. It is asked from the newest to the oldest, and what it says yes to becomes its own.
 * @return how many.
 */
static inline uint32_t
ap_queue_remove(struct ap_queue *q, bool (*match)(void *arg, const struct ap_queue_entry *e),
		void *arg)
{
	uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	uint32_t to;
	uint64_t bytes = 0;

	/* What lies between tail and head is the consumer's: those that stay move up to head. */
	q->head_seen = atomic_load_explicit(&q->head, memory_order_acquire);
	to = q->head_seen;
	for (uint32_t i = q->head_seen; i != tail;) {
		const struct ap_queue_entry e = q->entries[--i & q->mask];

		if (match(arg, &e))
			bytes += e.bytes;
		else
			q->entries[--to & q->mask] = e;
	}
	ap_queue_take(q, to - tail, bytes);
	return to - tail;
}

/** Both ends stopped: frees waiting mbufs and the memory. */
static inline void
ap_queue_fini(struct ap_queue *q)
{
	const struct ap_queue_entry *e;

	while (q->entries && (e = ap_queue_peek(q, 0)) != NULL) {
		rte_pktmbuf_free(e->m);
		ap_queue_take(q, 1, e->bytes);
	}
	rte_free(q->entries);
	q->entries = NULL;
}

#endif
