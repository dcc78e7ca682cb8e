/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_SCHED_H
#define AIRPATH_MODULES_MAC_SCHED_H

/**
 * Who of many UEs gets how much of a carrier in a slot (TS 38.321 leaves it to the network).
 *
 * One scheduler a direction. It is asked once a carrier and slot with the UEs that have something
 * to send, and answers with TB sizes. It knows neither RLC nor FAPI, neither graph nor clock: what
 * UEs want and what their channel would give them is the caller's to say. Owner: one lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/l2/slot_box.h"

/** A UE that has something to send. */
struct mac_sched_want {
	uint16_t ue;    /**< 0..nb_ues - 1 */
	uint32_t bytes; /**< wanted, > 0 */
	uint32_t rate;  /**< what the whole carrier would give this UE in this slot, B, > 0 */
};

struct mac_sched_grant {
	uint16_t ue;
	uint32_t bytes; /**< > 0, at most what it wants */
};

struct mac_sched;

/** A slot of a carrier, in the unit of parts of it. */
#define MAC_SCHED_WHOLE (1ULL << 32)

/** What of a slot is to be shared out. */
struct mac_sched_room {
	uint64_t part; /**< of MAC_SCHED_WHOLE */
	uint32_t ues;  /**< UEs that may be granted something */
};

/** @return the part of a slot that `bytes` of a UE with `rate` take, rounded up. */
static inline uint64_t
mac_sched_part(uint32_t bytes, uint32_t rate)
{
	return ((uint64_t)bytes * MAC_SCHED_WHOLE + rate - 1) / rate;
}

/** A way to choose. Stateless itself; its state is in struct mac_sched. */
struct mac_sched_policy {
	const char *name;
	/**
	 * Orders the UEs: puts into s->order the places in `w` of those to be served, at most
	 * s->ues, the first one first. @return how many
	 */
	unsigned (*order)(struct mac_sched *s, const struct mac_sched_want *w, unsigned nb,
			  uint64_t now_ns);
	/** Those in order get equal parts, and what one leaves over the others; else the first
	 * gets all it wants, then the next. */
	bool equal_parts;
};

struct mac_sched_cfg {
	const char *policy;    /**< `round_robin` or `proportional_fair` */
	uint32_t nb_ues;       /**< 1.. */
	uint32_t ues_per_slot; /**< granted on a carrier and slot at most, 1..SLOT_UES_MAX */
	uint32_t ue_bytes;     /**< most a UE is granted on a carrier and slot, 0: no limit */
	uint32_t average_ms;   /**< proportional fair: over what its averages are; 0: 100 */
};

/** What proportional fair remembers of a UE. */
struct mac_sched_average {
	double bytes;       /**< served, decaying */
	uint64_t served_ns; /**< to when it has decayed */
};

struct mac_sched {
	/* owner: rw */
	uint32_t next; /**< round robin: who comes first */
	uint32_t ues;  /**< to be served at most in the run in hand, 1.. */
	struct mac_sched_average *average;
	uint16_t order[SLOT_UES_MAX]; /**< places in the wants */
	/* constant */
	const struct mac_sched_policy *policy;
	uint32_t nb_ues;
	uint32_t ues_per_slot;
	uint32_t ue_bytes;
	double average_ns;
};

/** @return the policy, or NULL. */
const struct mac_sched_policy *mac_sched_policy_find(const char *name);

/** Control thread. @return 0, -EINVAL or -ENOMEM. */
int mac_sched_init(struct mac_sched *s, const struct mac_sched_cfg *cfg);
void mac_sched_fini(struct mac_sched *s);

/**
 * Shares a carrier's slot out. A UE with `rate` takes bytes / rate of it.
 * @param w by rising UE, each once
 * @param room what of the slot there is, NULL: all
 * @param out room for ues_per_slot grants
 * @return how many
 */
unsigned mac_sched_run(struct mac_sched *s, const struct mac_sched_want *w, unsigned nb,
		       const struct mac_sched_room *room, uint64_t now_ns,
		       struct mac_sched_grant *out);

#endif
