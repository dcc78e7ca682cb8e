/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_SLOT_H
#define AIRPATH_MODULES_POWER_SLOT_H

/**
 * When the next packets come: what governor `slot-aware` knows beyond Algorithm 1.
 *
 * Traffic of a radio network comes in bursts, one a slot. The period is configured, or learned
 * from the starts of bursts; when several in a row came as expected, the lcore sleeps as soon as a
 * burst is over and is awake again just before the next. How much earlier is learned too: how late
 * sleeps of this machine end (deep C-states take 100 us and more), how punctual bursts are, and for
 * how long packets stay out within one.
 *
 * A burst that the lcore watched beginning tells when it came. One that came while the lcore slept
 * tells only that it came between the last look and now: it confirms what was expected of that
 * time, and else moves nothing by more than such sleeps usually last too long. What does not come
 * as expected ends the sleep, as any packet does; what does not come at all is soon expected no
 * more.
 *
 * A budget keeps wake-ups below those of Algorithm 1: what it would have slept through after its
 * 300 empty polls earns less than a sleep. Who has none left stays awake until the next burst. Nor
 * is a short sleep begun: it saves little, and where bursts fill most of the slot, packets that
 * waited for a late wake-up are caught up with slowly.
 *
 * Pure: time is a parameter. Owner: the lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

/** Zero is its start. */
struct power_slot {
	uint64_t looked_ns; /**< last look that found nothing */
	uint64_t last_ns;   /**< last packets */
	uint64_t burst_ns;  /**< when their burst began */
	uint64_t next_ns;   /**< when the next one is expected */
	uint64_t period_ns; /**< 0: not known yet */
	uint64_t jitter_ns; /**< mean distance of bursts from when they were expected */
	uint64_t late_ns;   /**< how late sleeps end, rather too much than too little */
	uint64_t usual_ns;  /**< how late they usually end */
	uint64_t settle_ns; /**< a burst may go on for so long after its last packets; 0: least */
	uint32_t hits;      /**< bursts in a row that came as expected */
	uint32_t strays;    /**< ... how often they came at another time lately */
	uint32_t misses;    /**< ... that did not come at all */
	uint32_t sure;      /**< hits from which the lcore relies on it: fewer when it was told */
	int32_t budget;     /**< sleeps that it may begin, in percent of one; < 0: too many */
	uint32_t poll_64;   /**< time from one empty poll to the next, ns x 64 */
	bool slept;         /**< since the last packets */
};

/** What to do after a pass that found nothing. */
enum power_slot_advice {
	POWER_SLOT_UNKNOWN, /**< Algorithm 1 decides: nothing is expected, or too soon for a sleep
			     */
	POWER_SLOT_POLL,    /**< packets may come any moment */
	POWER_SLOT_SLEEP,   /**< until the time given */
};

/** A pass found packets. @param now_ns when it began */
void power_slot_packets(const struct ap_cfg_power *cfg, struct power_slot *s, uint64_t now_ns);

/** A sleep that was to end by itself was over `late_ns` after its time. */
void power_slot_slept(struct power_slot *s, uint64_t late_ns);

/** A pass found nothing. @param until_ns set with POWER_SLOT_SLEEP */
enum power_slot_advice power_slot_idle(const struct ap_cfg_power *cfg, struct power_slot *s,
				       uint64_t now_ns, uint64_t *until_ns);

/** The lcore has slept, be it on Algorithm 1's advice. */
void power_slot_spend(struct power_slot *s);

/** @return how much before an event the lcore must be told to wake, ns. */
uint64_t power_slot_guard(const struct power_slot *s);

#endif
