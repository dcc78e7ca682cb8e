/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_SLOT_BOX_H
#define AIRPATH_MODULES_SLOT_BOX_H

/**
 * Slot indications and their grants on the way from fapi_rx to mac_slot.
 *
 * Single producer, single consumer, 16 deep. A producer that finds it full drops the
 * new slot and counts it as missed: the consumer is more than 16 slots late.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define SLOT_BOX_SIZE 16
#define SLOT_CARRIERS_MAX 8

/** What else a grant says of a carrier's TB (SCF 222 table 3-46, 3-47). */
struct slot_tb {
	uint16_t handle;            /**< echoed to the PHY as the PDU index of the TB */
	uint8_t harq_process;       /**< 0..31 */
	bool new_data;              /**< NDI: toggled against the process's last grant: a new TB */
	uint8_t rv_index;           /**< redundancy version, 0..3 */
	uint8_t subcarrier_spacing; /**< numerology, 0..4 */
	uint8_t nr_of_symbols;      /**< PUSCH length, 1..14; 0: not told */
};

struct slot_grant {
	uint64_t enter_ns; /**< when the indication reached the role */
	uint16_t sfn;      /**< 0..1023 */
	uint16_t slot;     /**< 0..159 */
	uint16_t rnti;
	uint32_t tb_bytes[SLOT_CARRIERS_MAX]; /**< granted TB size per carrier, 0: no grant */
	struct slot_tb tb[SLOT_CARRIERS_MAX]; /**< of those granted */
};

struct slot_box {
	_Atomic uint32_t head __rte_cache_aligned; /* fapi_rx: rw */
	uint64_t missed;                           /* fapi_rx: rw */
	_Atomic uint32_t tail __rte_cache_aligned; /* mac_slot: rw */
	struct slot_grant slots[SLOT_BOX_SIZE];
};

/** fapi_rx only. @return false when full; then the slot counts as missed. */
static inline bool
slot_box_put(struct slot_box *b, const struct slot_grant *g)
{
	uint32_t head = atomic_load_explicit(&b->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&b->tail, memory_order_acquire) >= SLOT_BOX_SIZE) {
		b->missed++;
		return false;
	}
	b->slots[head % SLOT_BOX_SIZE] = *g;
	atomic_store_explicit(&b->head, head + 1, memory_order_release);
	return true;
}

/** mac_slot only. @return slots waiting. */
static inline uint32_t
slot_box_count(const struct slot_box *b)
{
	return atomic_load_explicit(&b->head, memory_order_acquire) -
	       atomic_load_explicit(&b->tail, memory_order_relaxed);
}

/** mac_slot only. @return false when empty. */
static inline bool
slot_box_get(struct slot_box *b, struct slot_grant *g)
{
	uint32_t tail = atomic_load_explicit(&b->tail, memory_order_relaxed);

	if (atomic_load_explicit(&b->head, memory_order_acquire) == tail)
		return false;
	*g = b->slots[tail % SLOT_BOX_SIZE];
	atomic_store_explicit(&b->tail, tail + 1, memory_order_release);
	return true;
}

#endif
