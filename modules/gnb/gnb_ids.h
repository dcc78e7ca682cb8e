/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_IDS_H
#define AIRPATH_GNB_IDS_H

/**
 * Which TEIDs are free. An index that was freed comes back under the next of 255 generations, in
 * the order they were freed, and after GNB_INDEX_REST_NS: so a TEID rests 30 s before packets that
 * were under way to its former session could be taken for the new one's. Control thread.
 */

#include <stdint.h>

#define GNB_TEID_REST_NS 30000000000ULL
#define GNB_GENERATIONS 255
#define GNB_INDEX_REST_NS (GNB_TEID_REST_NS / (GNB_GENERATIONS - 1))

struct gnb_ids {
	uint32_t *free; /**< ring of indices: oldest first */
	uint64_t *freed_ns;
	uint8_t *generation; /**< of the last TEID; 0: none yet */
	uint32_t capacity;
	uint32_t head; /**< of the oldest free one */
	uint32_t nb;   /**< in use */
};

/** @return 0 or -ENOMEM. */
int gnb_ids_init(struct gnb_ids *t, uint32_t capacity);
void gnb_ids_fini(struct gnb_ids *t);

/** @return a TEID with GNB_SLOT_N3; 0: all are in use, or free ones rest. */
uint32_t gnb_ids_get(struct gnb_ids *t, uint64_t now_ns);

/** A TEID of gnb_ids_get() is not used any more. */
void gnb_ids_put(struct gnb_ids *t, uint32_t teid, uint64_t now_ns);

/** @return how many free indices rest still. */
uint32_t gnb_ids_resting(const struct gnb_ids *t, uint64_t now_ns);

#endif
