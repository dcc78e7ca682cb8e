/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_COPIER_DMA_H
#define AIRPATH_CORE_COPIER_DMA_H

/** One rte_dma device for one copier: finding, starting, feeding it. Private to the copier. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_dev.h>
#include <rte_dmadev.h>
#include <rte_mbuf.h>

#include "core/config.h"

struct dma_engine {
	int16_t dev;  /**< dmadev id */
	bool sva;     /**< the device takes virtual addresses, whatever the IOVA mode */
	bool created; /**< we made the device and take it down again */
	char device[RTE_DEV_NAME_MAX_LEN];
	char name[RTE_DEV_NAME_MAX_LEN + 48]; /**< what runs, for people */
};

/**
 * Claims and starts a device.
 * @param device as ap_copier_cfg.dma_device
 * @param descs descriptors wanted, power of two; the device's limits apply
 * @param owner kept by reference for messages to later claimants
 * @return 0 or -errno with `err` filled
 */
int dma_engine_open(struct dma_engine *e, const char *device, uint32_t descs, const char *owner,
		    struct ap_error *err);

/** Stops the device: when it returns, no copy is running. */
void dma_engine_close(struct dma_engine *e);

/**
 * Queues the copy of all segments of `src` to the data of `dst`; starts with dma_engine_submit().
 * @param ops operations that were queued
 * @return false when the device did not take all of the packet
 */
bool dma_engine_copy(struct dma_engine *e, struct rte_mbuf *dst, const struct rte_mbuf *src,
		     uint32_t *ops);

static inline void
dma_engine_submit(struct dma_engine *e)
{
	rte_dma_submit(e->dev, 0);
}

/**
 * Operations finished since the last call, in the order queued.
 * @param failed set when the last of them failed
 */
uint32_t dma_engine_completed(struct dma_engine *e, bool *failed);

#endif
