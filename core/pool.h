/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_POOL_H
#define AIRPATH_CORE_POOL_H

/** mbuf pools of a deployment. Control thread only; the pools themselves are thread-safe. */

#include <stdint.h>

#include <rte_mempool.h>

#include "core/config.h"

/** Largest ap_cfg_pool.data_room, B: a buffer's length has 16 bits and includes the headroom. */
#define AP_POOL_ROOM_MAX (UINT16_MAX - RTE_PKTMBUF_HEADROOM)

/**
 * Creates the pool `cfg` asks for. cfg->cache 0 means 256, less for a small pool.
 * @param err filled on failure, with what would have been needed
 * @return the pool, or NULL
 */
struct rte_mempool *ap_pool_create(const struct ap_cfg_pool *cfg, struct ap_error *err);

/** @return memory the pool needs, in B, with mempool headers. */
uint64_t ap_pool_bytes(const struct ap_cfg_pool *cfg);

/** @return memory EAL can still hand out, in B: free heap plus free hugepages it may take. */
uint64_t ap_pool_bytes_free(void);

/** @return data room behind the headroom of `pool`, B. */
uint32_t ap_pool_room(struct rte_mempool *pool);

#endif
