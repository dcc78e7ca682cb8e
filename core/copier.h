/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_COPIER_H
#define AIRPATH_CORE_COPIER_H

/**
 * Copies packets from one pool to another: by the CPU, by a DMA device, or not at all.
 *
 * A copy is one contiguous mbuf of the destination pool with the packet's ap_meta
 * and, when its meta has flags, its ap_ext. The source is freed once it was read:
 * at once by the CPU, later by DMA. Packets leave in the order they came.
 *
 * With DMA a packet the device has no descriptor for, or failed on, is copied by the
 * CPU in its place in the order; ap_copier_stats tells how many those were.
 *
 * A copier and its DMA device belong to one lcore; create, destroy and name are the
 * control thread's.
 */

#include <stdint.h>

#include <rte_mbuf.h>

#include "core/config.h"

#define AP_COPIER_DEPTH 1024 /**< packets in flight unless the configuration says otherwise */

struct ap_copier_cfg {
	const char *name; /**< whose copier it is, for messages */
	enum ap_cfg_copy mode;
	struct rte_mempool *pool; /**< destination; unused with AP_COPY_NONE */
	/**
	 * AP_COPY_DMA: NULL or "auto" (a free DMA engine, else the skeleton driver), a
	 * dmadev's name, a PCI address, or "dma_skeleton…[,lcore=N]" to create one.
	 */
	const char *dma_device;
	uint32_t depth; /**< packets in flight, power of two, 0: AP_COPIER_DEPTH */
};

/** Packets a burst lost, freed and counted by reason. */
struct ap_copier_lost {
	uint32_t no_mbuf;  /**< destination pool empty */
	uint32_t too_long; /**< longer than the destination's data room */
	uint32_t full;     /**< as many in flight as the copier can hold */
};

struct ap_copier_stats {
	uint64_t cpu_packets; /**< copied by the CPU; with AP_COPY_DMA: what the device could not
				 take */
	uint64_t dma_packets; /**< copied by the device */
	uint64_t dma_errors;  /**< copies the device reported as failed */
};

struct ap_copier;

/** @param err filled on failure. @return NULL on failure. */
struct ap_copier *ap_copier_create(const struct ap_copier_cfg *cfg, struct ap_error *err);

/** Frees what is in flight, stops the device. */
void ap_copier_destroy(struct ap_copier *c);

/**
 * Takes all `n` packets of `in`; gives back finished copies, which with DMA are those of
 * earlier bursts. `out` has room for `room` packets, room ≥ n.
 * @param lost counts are added to it
 * @return packets written to `out`
 */
uint16_t ap_copier_burst(struct ap_copier *c, struct rte_mbuf **in, uint16_t n,
			 struct rte_mbuf **out, uint16_t room, struct ap_copier_lost *lost);

/** Copies finished since, without new input. @return packets written to `out`, at most `room`. */
uint16_t ap_copier_poll(struct ap_copier *c, struct rte_mbuf **out, uint16_t room);

/** @return packets taken and not given back yet. */
uint32_t ap_copier_held(const struct ap_copier *c);

/** What runs: "none", "cpu", "dma: NAME (DRIVER)"; the skeleton driver is called an emulation. */
const char *ap_copier_name(const struct ap_copier *c);

void ap_copier_stats(const struct ap_copier *c, struct ap_copier_stats *stats);

#endif
