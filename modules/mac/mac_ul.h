/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_UL_H
#define AIRPATH_MODULES_MAC_UL_H

/**
 * What a gNB's scheduler is told of one UE: buffer status reports by mac_demux, scheduling requests
 * and its channel by fapi_rx. Each field has one writer; the scheduler's lcore reads them.
 */

#include <stdatomic.h>
#include <stdint.h>

#include <rte_common.h>

#include "modules/mac/mac_cqi.h"

struct mac_ul {
	_Atomic uint64_t bsr __rte_cache_aligned; /* mac_demux: rw */
	_Atomic uint32_t srs __rte_cache_aligned; /* fapi_rx: rw; scheduling requests, wraps */
	_Atomic uint8_t cqi; /* fapi_rx: rw; 1 more than reported, 0: nothing yet */
};

/** A BSR and the slot of the TB that brought it. */
struct mac_ul_bsr {
	uint32_t bytes; /**< upper edges of the reported levels, all LCGs, at most UINT32_MAX */
	uint16_t sfn;
	uint8_t slot;
	uint8_t carrier;
	uint8_t count; /**< tells a report from the one before, wraps; 0 before the first */
};

/** mac_demux only. */
static inline void
mac_ul_report(struct mac_ul *ul, uint64_t bytes, uint8_t carrier, uint16_t sfn, uint16_t slot)
{
	const uint64_t old = atomic_load_explicit(&ul->bsr, memory_order_relaxed);
	const uint8_t count = (uint8_t)old == UINT8_MAX ? 1 : (uint8_t)((uint8_t)old + 1);

	if (bytes > UINT32_MAX)
		bytes = UINT32_MAX;
	atomic_store_explicit(&ul->bsr,
			      bytes << 32 | (uint64_t)(carrier & 7) << 26 |
				      (uint64_t)(sfn & 0x3FF) << 16 | (uint64_t)(slot & 0xFF) << 8 |
				      count,
			      memory_order_relaxed);
}

/** Any lcore. */
static inline struct mac_ul_bsr
mac_ul_bsr(const struct mac_ul *ul)
{
	const uint64_t v = atomic_load_explicit(&ul->bsr, memory_order_relaxed);

	return (struct mac_ul_bsr){.bytes = (uint32_t)(v >> 32),
				   .carrier = v >> 26 & 7,
				   .sfn = v >> 16 & 0x3FF,
				   .slot = (uint8_t)(v >> 8),
				   .count = (uint8_t)v};
}

/** fapi_rx only. @param cqi 0..15 */
static inline void
mac_ul_channel(struct mac_ul *ul, uint8_t cqi)
{
	atomic_store_explicit(&ul->cqi, (uint8_t)(cqi + 1), memory_order_relaxed);
}

/** Any lcore. @return the UE's CQI; one that never reported has the best. */
static inline uint8_t
mac_ul_cqi(const struct mac_ul *ul)
{
	const uint8_t cqi = atomic_load_explicit(&ul->cqi, memory_order_relaxed);

	return cqi ? (uint8_t)(cqi - 1) : MAC_CQI_MAX;
}

/** fapi_rx only. */
static inline void
mac_ul_request(struct mac_ul *ul)
{
	atomic_store_explicit(&ul->srs, atomic_load_explicit(&ul->srs, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/** Any lcore. */
static inline uint32_t
mac_ul_requests(const struct mac_ul *ul)
{
	return atomic_load_explicit(&ul->srs, memory_order_relaxed);
}

#endif
