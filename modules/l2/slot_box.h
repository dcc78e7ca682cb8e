/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_SLOT_BOX_H
#define AIRPATH_MODULES_SLOT_BOX_H

/**
 * Slot indications and their grants on the way from fapi_rx to mac_slot.
 *
 * A slot is a group of records, one a UE that is granted something, at least one. Single
 * producer, single consumer. A producer that finds no room for a slot drops it whole and counts
 * it as missed: the consumer is many slots late.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define SLOT_BOX_SIZE 1024 /**< records, a power of two: 16 slots of SLOT_UES_MAX UEs */
#define SLOT_UES_MAX 64    /**< UEs granted in one slot */
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

/** What one UE is granted in a slot. */
struct slot_grant {
	uint64_t enter_ns; /**< when the indication reached the role */
	uint16_t sfn;      /**< 0..1023 */
	uint16_t slot;     /**< 0..159 */
	uint16_t rnti;
	uint16_t ue;                          /**< index in the role */
	uint16_t more;                        /**< records of the same slot that follow */
	uint32_t tb_bytes[SLOT_CARRIERS_MAX]; /**< granted TB size per carrier, 0: no grant */
	struct slot_tb tb[SLOT_CARRIERS_MAX]; /**< of those granted */
};

struct slot_box {
	_Atomic uint32_t head __rte_cache_aligned; /* fapi_rx: rw */
	uint64_t missed;                           /* fapi_rx: rw */
	_Atomic uint32_t tail __rte_cache_aligned; /* mac_slot: rw */
	struct slot_grant slots[SLOT_BOX_SIZE];
};

/**
 * fapi_rx only: the `nb` records of a slot, 1..SLOT_UES_MAX.
 * @return false when full; then the slot counts as missed.
 */
static inline bool
slot_box_put_slot(struct slot_box *b, const struct slot_grant *g, uint32_t nb)
{
	uint32_t head = atomic_load_explicit(&b->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&b->tail, memory_order_acquire) > SLOT_BOX_SIZE - nb) {
		b->missed++;
		return false;
	}
	for (uint32_t i = 0; i < nb; i++) {
		struct slot_grant *to = &b->slots[(head + i) % SLOT_BOX_SIZE];

		*to = g[i];
		to->more = (uint16_t)(nb - 1 - i);
	}
	atomic_store_explicit(&b->head, head + nb, memory_order_release);
	return true;
}

/** The same for a slot of one record. */
static inline bool
slot_box_put(struct slot_box *b, const struct slot_grant *g)
{
	return slot_box_put_slot(b, g, 1);
}

/** mac_slot only. @return records waiting. */
static inline uint32_t
slot_box_count(const struct slot_box *b)
{
	return atomic_load_explicit(&b->head, memory_order_acquire) -
	       atomic_load_explicit(&b->tail, memory_order_relaxed);
}

/** mac_slot only: the next record of those waiting. */
static inline const struct slot_grant *
slot_box_first(const struct slot_box *b)
{
	return &b->slots[atomic_load_explicit(&b->tail, memory_order_relaxed) % SLOT_BOX_SIZE];
}

/** mac_slot only: is done with `nb` records that waited. */
static inline void
slot_box_skip(struct slot_box *b, uint32_t nb)
{
	uint32_t tail = atomic_load_explicit(&b->tail, memory_order_relaxed);

	atomic_store_explicit(&b->tail, tail + nb, memory_order_release);
}

/** mac_slot only: takes a record. @return false when empty. */
static inline bool
slot_box_get(struct slot_box *b, struct slot_grant *g)
{
	if (slot_box_count(b) == 0)
		return false;
	*g = *slot_box_first(b);
	slot_box_skip(b, 1);
	return true;
}

#endif
