/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "core/pool.h"

#define CACHE_DEFAULT 256
#define MB (1024.0 * 1024.0)

/*
 * Last in, first out: the mbuf that comes next was in a cache a moment ago. With DPDK's default, a
 * ring, every mbuf of the pool takes its turn and arrives cold; the S0 loopback ran at half the
 * rate. The stack's lock is taken once per cache refill, not per packet.
 */
#define POOL_OPS "stack"

static uint32_t
element_bytes(const struct ap_cfg_pool *cfg)
{
	return sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM + cfg->data_room;
}

uint64_t
ap_pool_bytes(const struct ap_cfg_pool *cfg)
{
	return (uint64_t)rte_mempool_calc_obj_size(element_bytes(cfg), 0, NULL) * cfg->mbufs;
}

uint32_t
ap_pool_room(struct rte_mempool *pool)
{
	uint16_t room = rte_pktmbuf_data_room_size(pool);

	return room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
}

/** Free hugepages of every size the kernel has, B. */
static uint64_t
hugepages_free(void)
{
	static const char *const base = "/sys/kernel/mm/hugepages";
	uint64_t bytes = 0, kb, pages;
	char path[300];
	DIR *dir = opendir(base);

	for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
		if (sscanf(d->d_name, "hugepages-%" SCNu64 "kB", &kb) != 1)
			continue;
		snprintf(path, sizeof(path), "%s/%s/free_hugepages", base, d->d_name);
		FILE *f = fopen(path, "r");

		if (f != NULL && fscanf(f, "%" SCNu64, &pages) == 1)
			bytes += pages * kb * 1024;
		if (f != NULL)
			fclose(f);
	}
	if (dir != NULL)
		closedir(dir);
	return bytes;
}

uint64_t
ap_pool_bytes_free(void)
{
	uint64_t bytes = rte_eal_has_hugepages() ? hugepages_free() : 0;
	struct rte_malloc_socket_stats stats;

	for (unsigned i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			bytes += stats.heap_freesz_bytes;
	return bytes;
}

/** A cache may hold 1.5 times its size on every lcore, so a small pool gets a small one. */
static uint32_t
cache_size(const struct ap_cfg_pool *cfg)
{
	return cfg->cache ? cfg->cache : RTE_MIN(cfg->mbufs / 16, (uint32_t)CACHE_DEFAULT);
}

static int
pool_check(const struct ap_cfg_pool *cfg, struct ap_error *err)
{
	if (cfg->mbufs == 0)
		return ap_error_set(err, "pool %s: mbufs is 0: give at least 1", cfg->name);
	if (cfg->data_room > AP_POOL_ROOM_MAX)
		return ap_error_set(err,
				    "pool %s: data_room %u B is over %u B, an mbuf's limit: "
				    "use chains of smaller ones",
				    cfg->name, cfg->data_room, AP_POOL_ROOM_MAX);
	if (cfg->cache > RTE_MEMPOOL_CACHE_MAX_SIZE || (uint64_t)cfg->cache * 3 > cfg->mbufs * 2ULL)
		return ap_error_set(err, "pool %s: cache %u is over %u, the most for %u mbufs",
				    cfg->name, cfg->cache,
				    RTE_MIN((uint32_t)RTE_MEMPOOL_CACHE_MAX_SIZE,
					    (uint32_t)(cfg->mbufs * 2ULL / 3)),
				    cfg->mbufs);
	return 0;
}

struct rte_mempool *
ap_pool_create(const struct ap_cfg_pool *cfg, struct ap_error *err)
{
	uint64_t need = ap_pool_bytes(cfg), avail;
	struct rte_mempool *pool;

	if (pool_check(cfg, err) < 0)
		return NULL;
	avail = ap_pool_bytes_free();
	if (need <= avail) {
		pool = rte_pktmbuf_pool_create_by_ops(cfg->name, cfg->mbufs, cache_size(cfg), 0,
						      RTE_PKTMBUF_HEADROOM + cfg->data_room,
						      rte_socket_id(), POOL_OPS);
		if (pool != NULL)
			return pool;
		if (rte_errno != ENOMEM) {
			ap_error_set(err, "pool %s: %s", cfg->name,
				     rte_errno == EEXIST ? "there is a pool of this name already"
							 : rte_strerror(rte_errno));
			return NULL;
		}
	}
	ap_error_set(err,
		     "pool %s: %u x %u B needs %.0f MB, %.0f MB free: lower mbufs or "
		     "data_room, or raise memory.mb",
		     cfg->name, cfg->mbufs, element_bytes(cfg), need / MB, avail / MB);
	return NULL;
}
