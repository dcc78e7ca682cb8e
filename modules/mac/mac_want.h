/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_WANT_H
#define AIRPATH_MODULES_MAC_WANT_H

/**
 * What a UE may have to send, as its gNB knows it from scheduling requests and buffer status
 * reports (TS 38.321 §5.4.4, §5.4.5).
 *
 * A BSR counts less what was granted for later slots than its own. A UE that has used up what it
 * reported and did not report that nothing is left is granted small TBs now and then, each twice
 * the one before, until it reports: its last BSR may be lost, or data may have come since.
 * A TB that HARQ had sent again brings the BSR of its first transmission: reports that newer ones
 * overtook are not heeded.
 * Owner: the scheduler's lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/mac/mac_ul.h"

#define MAC_WANT_PAST 16       /**< grants remembered, a power of two */
#define MAC_WANT_ASK_BYTES 128 /**< granted on an SR: a BSR and a small packet */
#define MAC_WANT_ASK_SLOTS 4   /**< between two grants that ask */
#define MAC_WANT_ASK_MAX 65536 /**< largest of them, B */
#define MAC_WANT_VAIN 32       /**< of them without a report, then the UE is left alone */
#define MAC_WANT_AGAIN 8       /**< retransmissions remembered, a power of two */

struct mac_want {
	bool active;         /**< reported data, or asked, and did not say that it is done */
	uint8_t bsr_count;   /**< of the last BSR heeded */
	uint32_t srs;        /**< SRs heeded */
	uint32_t left;       /**< reported and not granted, B */
	uint32_t ask;        /**< size of the next TB that asks, B */
	uint32_t vain;       /**< TBs that asked since the last report */
	uint64_t granted_at; /**< slot of the last grant */
	uint64_t newest;     /**< slot of the newest BSR heeded */
	uint32_t nb_again;
	struct {
		uint64_t slot;
		uint64_t first; /**< slot of the TB's first grant */
		uint32_t carrier;
	} again[MAC_WANT_AGAIN];
	uint32_t nb_past;
	struct {
		uint64_t slot;
		uint32_t bytes;
	} past[MAC_WANT_PAST];
};

/**
 * @param now the slot to be granted, counted without a wrap
 * @param slots_per_frame 10 << numerology
 * @return bytes to grant the UE, 0: none
 */
uint32_t mac_want(struct mac_want *w, const struct mac_ul *ul, uint64_t now,
		  uint32_t slots_per_frame);

/** It was granted `bytes` in slot `now`. */
void mac_want_granted(struct mac_want *w, uint64_t now, uint32_t bytes);

/** It was granted in slot `now` a TB again that it had first been granted in slot `first`. */
void mac_want_again(struct mac_want *w, uint64_t now, uint32_t carrier, uint64_t first);

#endif
