/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_TB_BOX_H
#define AIRPATH_MODULES_MAC_TB_BOX_H

/**
 * What a gNB's PHY says of TBs, on the way from fapi_rx to mac_sched: of those of the uplink by
 * CRC.indications, of those of the downlink by UEs' HARQ feedback, and requests that it refused.
 * Single producer, single consumer. News that find no room are lost; the scheduler repeats a grant
 * that it hears nothing of.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define MAC_TB_BOX 2048 /**< a power of two */

/** What became of a TB. */
enum mac_tb_verdict {
	MAC_TB_DECODED,
	MAC_TB_FAILED,   /**< it did not decode */
	MAC_TB_NOT_SENT, /**< no TB came */
	MAC_TB_REFUSED,  /**< the request: of all UEs and carriers in that slot */
	MAC_TB_DTX,      /**< downlink: no answer came */
};

struct mac_tb_news {
	uint16_t sfn; /**< of the TB's grant */
	uint16_t ue;  /**< index in the role */
	uint8_t slot;
	uint8_t carrier;
	uint8_t process;     /**< uplink */
	uint8_t verdict : 7; /**< enum mac_tb_verdict */
	uint8_t downlink : 1;
};

struct mac_tb_box {
	_Atomic uint32_t head __rte_cache_aligned; /* fapi_rx: rw */
	uint64_t full;                             /* fapi_rx: rw, control: ro; news lost */
	_Atomic uint32_t tail __rte_cache_aligned; /* mac_sched: rw */
	struct mac_tb_news news[MAC_TB_BOX];
};

/** fapi_rx only. */
static inline void
mac_tb_box_put(struct mac_tb_box *b, struct mac_tb_news n)
{
	const uint32_t head = atomic_load_explicit(&b->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&b->tail, memory_order_acquire) >= MAC_TB_BOX) {
		b->full++;
		return;
	}
	b->news[head % MAC_TB_BOX] = n;
	atomic_store_explicit(&b->head, head + 1, memory_order_release);
}

/** mac_sched only. @return false when empty. */
static inline bool
mac_tb_box_get(struct mac_tb_box *b, struct mac_tb_news *n)
{
	const uint32_t tail = atomic_load_explicit(&b->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&b->head, memory_order_acquire))
		return false;
	*n = b->news[tail % MAC_TB_BOX];
	atomic_store_explicit(&b->tail, tail + 1, memory_order_release);
	return true;
}

#endif
