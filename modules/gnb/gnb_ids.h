/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_IDS_H
#define AIRPATH_GNB_IDS_H

/**
 * Which TEIDs are free. An index that was freed comes back under the next of 255 generations, in
 * the order they were freed. A TEID rests 30 s at least, so that no packet under way to its former
 * session is taken for the new one's: generations have two halves, and one is entered 30 s after
 * the other was, when the last TEID of its own had been freed already. Control thread.
 */

#include <stdint.h>

#define GNB_TEID_REST_NS 30000000000ULL
#define GNB_GENERATIONS 255
#define GNB_GENERATION_HALF 128 /**< first of the second half */

struct gnb_ids {
	uint32_t *free;      /**< ring of indices: oldest first */
	uint64_t *half_ns;   /**< by index: when it entered this half of the generations */
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
void gnb_ids_put(struct gnb_ids *t, uint32_t teid);

/** @return how many free indices rest. Looks at all of them. */
uint32_t gnb_ids_resting(const struct gnb_ids *t, uint64_t now_ns);

#endif
