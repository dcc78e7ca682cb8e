/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "core/copier.h"
#include "core/copier_dma.h"
#include "core/meta.h"
#include "core/pool.h"

#define CHUNK 64
#define AHEAD 6           /**< packets whose data is fetched ahead of the copy */
#define FETCH_BYTES 2048U /**< of each, at most */

/** A packet between burst and poll (DMA). */
struct flight {
	struct rte_mbuf *src; /**< NULL: the CPU copied it */
	struct rte_mbuf *dst;
	uint64_t last_op; /**< finished when the device has done so many operations in all */
	bool failed;
};

struct ap_copier {
	/* worker: rw */
	struct ap_copier_stats stats;
	uint64_t ops_queued;
	uint64_t ops_done;
	uint32_t head; /**< next entry of `flights` to fill */
	uint32_t tail; /**< oldest entry in flight */
	/* constant */
	uint32_t mask;
	enum ap_cfg_copy mode;
	struct rte_mempool *pool;
	uint32_t room; /**< data room of `pool`, B */
	struct flight *flights;
	struct dma_engine dma;
};

struct ap_copier *
ap_copier_create(const struct ap_copier_cfg *cfg, struct ap_error *err)
{
	uint32_t depth = cfg->depth ? cfg->depth : AP_COPIER_DEPTH;
	struct ap_copier *c;

	if (cfg->mode != AP_COPY_NONE && cfg->pool == NULL) {
		ap_error_set(err, "copier %s: no destination pool", cfg->name);
		return NULL;
	}
	if (!rte_is_power_of_2(depth) || depth > UINT16_MAX / 2) {
		ap_error_set(err, "copier %s: depth %u must be a power of 2 up to 16384", cfg->name,
			     depth);
		return NULL;
	}
	c = rte_zmalloc("ap_copier", sizeof(*c) + sizeof(*c->flights) * depth, RTE_CACHE_LINE_SIZE);
	if (c == NULL) {
		ap_error_set(err, "copier %s: out of memory", cfg->name);
		return NULL;
	}
	c->mode = cfg->mode;
	c->pool = cfg->pool;
	c->mask = depth - 1;
	c->flights = (struct flight *)(c + 1);
	c->room = cfg->pool != NULL ? ap_pool_room(cfg->pool) : 0;
	/* A frame in segments takes one descriptor for each. */
	if (cfg->mode == AP_COPY_DMA &&
	    dma_engine_open(&c->dma, cfg->dma_device, depth * 2, cfg->name, err) < 0) {
		rte_free(c);
		return NULL;
	}
	return c;
}

void
ap_copier_destroy(struct ap_copier *c)
{
	if (c == NULL)
		return;
	if (c->mode == AP_COPY_DMA)
		dma_engine_close(&c->dma);
	for (; c->tail != c->head; c->tail++) {
		rte_pktmbuf_free(c->flights[c->tail & c->mask].src);
		rte_pktmbuf_free(c->flights[c->tail & c->mask].dst);
	}
	rte_free(c);
}

static inline void
copy_data(struct rte_mbuf *dst, const struct rte_mbuf *src)
{
	uint8_t *to = rte_pktmbuf_mtod(dst, uint8_t *);

	if (likely(src->nb_segs == 1)) {
		rte_memcpy(to, rte_pktmbuf_mtod(src, void *), src->data_len);
		return;
	}
	for (const struct rte_mbuf *s = src; s != NULL; to += s->data_len, s = s->next)
		rte_memcpy(to, rte_pktmbuf_mtod(s, void *), s->data_len);
}

/** ap_ext lies in the second cache line: read only where a flag says that something is in it. */
static inline void
copy_header(struct rte_mbuf *dst, struct rte_mbuf *src)
{
	/* What rte_pktmbuf_reset() sets in the first line; the second one stays untouched. */
	dst->data_off = RTE_PKTMBUF_HEADROOM;
	dst->ol_flags = 0;
	dst->packet_type = 0;
	dst->data_len = (uint16_t)src->pkt_len;
	dst->pkt_len = src->pkt_len;
	dst->port = src->port;
	*ap_meta(dst) = *ap_meta(src);
	if (ap_meta(src)->flags != 0)
		*ap_ext(dst) = *ap_ext(src);
}

/** Drops packets no destination mbuf can hold. @return how many of `in` are kept in `keep`. */
static uint16_t
drop_long(struct ap_copier *c, struct rte_mbuf **in, uint16_t n, struct rte_mbuf **keep,
	  struct ap_copier_lost *lost)
{
	uint16_t k = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (likely(in[i]->pkt_len <= c->room)) {
			keep[k++] = in[i];
		} else {
			lost->too_long++;
			rte_pktmbuf_free(in[i]);
		}
	}
	return k;
}

/** Destination mbufs for the first packets of `src`; frees the others. @return how many got one. */
static uint16_t
alloc_dst(struct ap_copier *c, struct rte_mbuf **src, uint16_t n, struct rte_mbuf **dst,
	  struct ap_copier_lost *lost)
{
	uint16_t got = 0;

	if (likely(rte_mempool_get_bulk(c->pool, (void **)dst, n) == 0)) {
		for (uint16_t i = 0; i < n; i++)
			rte_prefetch0_write(dst[i]);
		return n;
	}
	while (got < n && (dst[got] = rte_pktmbuf_alloc(c->pool)) != NULL)
		got++;
	lost->no_mbuf += n - got;
	rte_pktmbuf_free_bulk(src + got, n - got);
	return got;
}

/**
 * Both buffers usually lie in the cache of another core: the source was written there, the
 * destination was last read there. The hardware follows a long packet by itself.
 */
static inline void
fetch(const struct rte_mbuf *src, const struct rte_mbuf *dst)
{
	const uint8_t *from = rte_pktmbuf_mtod(src, const uint8_t *);
	const uint8_t *to = (const uint8_t *)dst->buf_addr + RTE_PKTMBUF_HEADROOM;
	uint32_t bytes = RTE_MIN((uint32_t)src->data_len, FETCH_BYTES);

	rte_mbuf_prefetch_part2((struct rte_mbuf *)(uintptr_t)src); /* free() looks there */
	for (uint32_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE) {
		rte_prefetch1(from + at);
		rte_prefetch0_write(to + at);
	}
}

static uint16_t
burst_cpu(struct ap_copier *c, struct rte_mbuf **in, uint16_t n, struct rte_mbuf **out,
	  struct ap_copier_lost *lost)
{
	struct rte_mbuf *src[CHUNK];
	uint16_t k;

	k = drop_long(c, in, n, src, lost);
	k = alloc_dst(c, src, k, out, lost);
	for (uint16_t i = 0; i < RTE_MIN(k, AHEAD); i++)
		fetch(src[i], out[i]);
	for (uint16_t i = 0; i < k; i++) {
		if (i + AHEAD < k)
			fetch(src[i + AHEAD], out[i + AHEAD]);
		copy_header(out[i], src[i]);
		copy_data(out[i], src[i]);
	}
	rte_pktmbuf_free_bulk(src, k);
	c->stats.cpu_packets += k;
	return k;
}

/** Queues up to CHUNK packets on the device. */
static void
launch_dma(struct ap_copier *c, struct rte_mbuf **in, uint16_t n, struct ap_copier_lost *lost)
{
	struct rte_mbuf *src[CHUNK], *dst[CHUNK];
	uint32_t space = c->mask + 1 - (c->head - c->tail), ops;
	uint16_t k = drop_long(c, in, n, src, lost);

	if (unlikely(k > space)) {
		lost->full += k - space;
		rte_pktmbuf_free_bulk(src + space, k - space);
		k = space;
	}
	k = alloc_dst(c, src, k, dst, lost);
	for (uint16_t i = 0; i < k; i++) {
		struct flight *f = &c->flights[c->head++ & c->mask];

		bool taken = dma_engine_copy(&c->dma, dst[i], src[i], &ops);

		copy_header(dst[i], src[i]);
		if (!taken && ops == 0) {
			copy_data(dst[i], src[i]);
			rte_pktmbuf_free(src[i]);
			src[i] = NULL;
			c->stats.cpu_packets++;
		}
		c->ops_queued += ops;
		*f = (struct flight){
			.src = src[i], .dst = dst[i], .last_op = c->ops_queued, .failed = !taken};
	}
	dma_engine_submit(&c->dma);
}

/** Marks the packet that operation number `op` (from 1) belongs to. */
static void
mark_failed(struct ap_copier *c, uint64_t op)
{
	for (uint32_t i = c->tail; i != c->head; i++) {
		struct flight *f = &c->flights[i & c->mask];

		if (f->last_op < op)
			continue;
		f->failed = true;
		c->stats.dma_errors++;
		return;
	}
}

uint16_t
ap_copier_poll(struct ap_copier *c, struct rte_mbuf **out, uint16_t room)
{
	struct rte_mbuf *done[CHUNK];
	uint16_t k = 0, nb_done = 0;
	bool failed = false;

	if (c->head == c->tail)
		return 0;
	do {
		c->ops_done += dma_engine_completed(&c->dma, &failed);
		if (failed)
			mark_failed(c, c->ops_done);
	} while (failed);

	for (; c->tail != c->head && k < room; c->tail++) {
		struct flight *f = &c->flights[c->tail & c->mask];

		if (f->last_op > c->ops_done)
			break;
		out[k++] = f->dst;
		if (f->src == NULL)
			continue;
		if (unlikely(f->failed)) {
			copy_data(f->dst, f->src);
			c->stats.cpu_packets++;
		} else {
			c->stats.dma_packets++;
		}
		done[nb_done++] = f->src;
		if (nb_done == CHUNK) {
			rte_pktmbuf_free_bulk(done, nb_done);
			nb_done = 0;
		}
	}
	rte_pktmbuf_free_bulk(done, nb_done);
	return k;
}

uint16_t
ap_copier_burst(struct ap_copier *c, struct rte_mbuf **in, uint16_t n, struct rte_mbuf **out,
		uint16_t room, struct ap_copier_lost *lost)
{
	uint16_t k = 0;

	if (c->mode == AP_COPY_NONE) {
		memcpy(out, in, n * sizeof(*in));
		return n;
	}
	/* Finished ones first: that is what makes room for this burst. */
	if (c->mode == AP_COPY_DMA)
		k = ap_copier_poll(c, out, room);
	for (uint16_t i = 0, step; i < n; i += step) {
		step = RTE_MIN(n - i, CHUNK);
		if (c->mode == AP_COPY_CPU)
			k += burst_cpu(c, in + i, step, out + k, lost);
		else
			launch_dma(c, in + i, step, lost);
	}
	return k;
}

uint32_t
ap_copier_held(const struct ap_copier *c)
{
	return c->head - c->tail;
}

const char *
ap_copier_name(const struct ap_copier *c)
{
	switch (c->mode) {
	case AP_COPY_CPU:
		return "cpu";
	case AP_COPY_DMA:
		return c->dma.name;
	default:
		return "none";
	}
}

void
ap_copier_stats(const struct ap_copier *c, struct ap_copier_stats *stats)
{
	*stats = c->stats;
}
