/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_URR_H
#define AIRPATH_UPF_URR_H

/**
 * Usage reporting rules, TS 29.244 §5.2.2.
 *
 * A lane counts packets and octets of its PDR for all URRs of that PDR at once; the engine *folds*
 * them into the URRs when it has a reason: a report, a checkpoint, a timer, or the lane's own
 * count reached look_bytes. So usage of a URR is what it holds plus what its lanes have not yet
 * folded, and a packet costs two additions however many URRs its PDR has.
 *
 * Thresholds and quotas are exact to the packet that crosses them: of the octets that remain until
 * the nearest limit each of the URR's n lanes gets the n-th part as its look_bytes, so the sum
 * cannot cross unless one lane looks; each look hands out anew what is left.
 *
 * Everything belongs to the session's worker; the control thread fills in the configuration before
 * the worker sees it. `now_ns` is ap_clock_ns().
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "core/wheel.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_session.h"

#define UPF_LINKED_URRS_MAX 16
#define UPF_NO_LIMIT UINT64_MAX
#define UPF_STOP_NS 30000000000ULL /**< traffic has stopped after this, without inactivity_s */

enum upf_trigger { /* as in api/upf.proto */
		   UPF_TRIGGER_PERIO = 1 << 0,
		   UPF_TRIGGER_VOLTH = 1 << 1,
		   UPF_TRIGGER_TIMTH = 1 << 2,
		   UPF_TRIGGER_QUHTI = 1 << 3,
		   UPF_TRIGGER_START = 1 << 4,
		   UPF_TRIGGER_STOPT = 1 << 5,
		   UPF_TRIGGER_DROTH = 1 << 6,
		   UPF_TRIGGER_LIUSA = 1 << 7,
		   UPF_TRIGGER_VOLQU = 1 << 8,
		   UPF_TRIGGER_TIMQU = 1 << 9,
		   UPF_TRIGGER_ENVCL = 1 << 10,
		   UPF_TRIGGER_EVETH = 1 << 11,
		   UPF_TRIGGER_EVEQU = 1 << 12,
		   UPF_TRIGGER_MONIT = 1 << 13,
		   UPF_TRIGGER_IMMER = 1 << 14,
		   UPF_TRIGGER_TERMR = 1 << 15,
		   UPF_TRIGGER_UPINT = 1 << 16,
		   UPF_TRIGGER_QUVTI = 1 << 17,
};

/** Octets, or UPF_NO_LIMIT. */
struct upf_volume {
	uint64_t total;
	uint64_t of[2]; /**< enum upf_direction */
};

/** What was used since some moment. */
struct upf_spent {
	uint64_t bytes[2];
};

/** Likewise; URRs that measure one of these have `more`. */
struct upf_urr_time {
	uint64_t duration_ns;
	uint64_t events;
};

struct upf_usage {
	struct upf_spent spent;
	uint64_t packets[2];
	uint64_t start_ns;          /**< of the measurement */
	uint64_t first_ns, last_ns; /**< packets, 0: none */
};

enum upf_urr_flag {
	/* what the agent said */
	UPF_URR_VOLUME = 1 << 0, /**< Measurement Method */
	UPF_URR_DURATION = 1 << 1,
	UPF_URR_EVENT = 1 << 2,
	UPF_URR_BEFORE_QOS = 1 << 3, /**< MBQE */
	UPF_URR_INACTIVE = 1 << 4,   /**< INAM: nothing is measured */
	UPF_URR_IMMEDIATE = 1 << 5,  /**< ISTM: the time runs at once, not from the first packet */
	UPF_URR_QUOTA_FAR = 1 << 6,  /**< more->quota_far is in force while a quota is used up */
	/* what became of it */
	UPF_URR_EXHAUSTED = 1 << 8, /**< a quota is used up: its PDRs' packets stop */
	UPF_URR_MONITORED = 1 << 9, /**< the Monitoring Time is over: subsequent thresholds count */
	UPF_URR_HAS_PART = 1 << 10, /**< more->before holds usage to report */
	UPF_URR_STARTED = 1 << 11,  /**< traffic runs: START was told */
	UPF_URR_HELD = 1 << 12,     /**< QUHTI was told; again after the next packet */
	UPF_URR_LAPSED = 1 << 13,   /**< QUVTI was told */
};
#define UPF_URR_CONFIG_FLAGS 0x00FF

/** What few URRs have. Zero: none. Configuration first, `quota_far` to `nb_linked`. */
struct upf_urr_more {
	uint64_t time_threshold_ns;
	uint64_t time_quota_ns; /**< UPF_NO_LIMIT: none; 0 lets nothing pass */
	uint64_t event_threshold;
	uint64_t event_quota; /**< UPF_NO_LIMIT: none */
	uint64_t quota_holding_ns;
	uint64_t inactivity_ns; /**< Inactivity Detection Time */
	uint64_t quota_validity_ns;
	uint64_t monitoring_unix_ms;                   /**< Monitoring Time */
	struct upf_volume subsequent_volume_threshold; /**< UPF_NO_LIMIT: none */
	uint64_t subsequent_time_threshold_ns;
	uint64_t dropped_dl_packets, dropped_dl_bytes; /**< Dropped DL Traffic Threshold */
	uint16_t quota_far;                            /**< index into the rules' FARs */
	uint16_t nb_linked;
	uint16_t linked[UPF_LINKED_URRS_MAX]; /**< URRs, by index, whose report brings this one's */
	/* counters */
	struct upf_usage before; /**< usage up to the Monitoring Time */
	struct upf_urr_time before_time, usage_time, threshold_time, quota_time;
	uint64_t before_end_ns;
	uint64_t running_ns; /**< the time is counted up to here; 0: it stands */
	uint64_t dropped_packets, dropped_bytes;
	uint64_t validity_from_ns;
	struct upf_detected detected; /**< of its PDRs' last flow that has an application */
};

/** A URR and its counters. The control thread zeroes it and sets what stands first. */
struct upf_urr {
	uint32_t id;
	uint32_t triggers;                  /**< Σ enum upf_trigger asked for */
	uint32_t generation;                /**< quota_generation of the proto */
	uint16_t flags;                     /**< enum upf_urr_flag */
	uint16_t threshold_generation;      /**< of the proto, mod 2^16 */
	struct upf_volume volume_threshold; /**< UPF_NO_LIMIT where there is none */
	struct upf_volume volume_quota;     /**< likewise; 0 lets nothing pass */
	uint64_t period_ns;                 /**< 0: none */
	struct upf_urr_more *more;          /**< or NULL, with UPF_URR_VOLUME alone */
	/* worker: rw */
	uint16_t lanes[2];          /**< how many lanes count for it, by direction */
	uint32_t pending;           /**< triggers not yet reported: the ring had no room */
	struct upf_usage usage;     /**< since the last report */
	struct upf_spent threshold; /**< since the last report, or since thresholds were provided */
	struct upf_spent quota;     /**< since quotas were provided */
	uint64_t active_ns;         /**< when its last packet came, or it began */
	uint64_t period_from_ns;
};

/** Octets and packets of a lane before its QERs, where a URR asks for them and another does not. */
struct upf_lane_before {
	uint32_t bytes, look_bytes;
	uint32_t packets;
	uint32_t first_ms; /**< as in struct upf_lane */
};

struct upf_charger;

/**
 * The accounts of a session: the first member of struct upf_rules. Set by the control thread:
 * `session`, `urrs`, `pdrs`, `before`, numbers, `inactivity_ns`. Lane i is session->lanes[i], of
 * pdrs[i].
 */
struct upf_accounts {
	struct ap_timer timer; /**< of all that depends on time, the inactivity timer included */
	struct upf_charger *charger; /**< the worker's, set by upf_urr_start() */
	struct upf_session *session;
	struct upf_urr *urrs;
	const struct upf_pdr *pdrs;
	struct upf_lane_before
		*before; /**< one a lane; NULL: no PDR has URRs with and without MBQE */
	uint16_t nb_urrs, nb_pdrs;
	uint32_t inactive_s;    /**< active_s it was last reported of, + 1 */
	uint64_t inactivity_ns; /**< User Plane Inactivity Timer, 0: none */
	uint64_t from_ns;       /**< when it began */
};

/** What a worker's accounts share. The role fills it in before the worker starts. */
struct upf_charger {
	struct ap_wheel *wheel;   /**< the worker's */
	struct rte_ring *reports; /**< upf_report_ring() to the control thread */
	uint64_t unix_offset_ns;  /**< Unix time less ap_clock_ns() */
	uint64_t checkpoint_ns;   /**< a dirty session is checkpointed so long after its packet */
	/** FIFO of sessions with UPF_SESSION_DIRTY, low bits of the ms they got there on top. */
	uint64_t *dirty;
	uint32_t dirty_mask, dirty_head, dirty_tail;
	/** Quota used up or provided anew, with UPF_URR_QUOTA_FAR: the lane takes FAR `far` of its
	 * rules.
	 */
	void (*take_far)(struct upf_session *s, uint16_t lane, uint16_t far);
	uint64_t reports_late; /**< the ring was full: reported later */
};

/**
 * @param sessions most that the worker may hold
 * @return 0 or -ENOMEM. Control thread.
 */
int upf_charger_init(struct upf_charger *c, unsigned sessions);
void upf_charger_fini(struct upf_charger *c);

/**
 * The worker takes rules in use, when session->lanes are theirs: hands out budgets, arms the
 * timer, closes lanes whose quota is used up, sets UPF_LANE_URR and UPF_LANE_BEFORE_QOS. Counts of
 * the lanes are to be 0.
 * @param old the rules these replace, after upf_urr_leave(), or NULL: URRs of the same id go on
 */
void upf_urr_start(struct upf_accounts *a, struct upf_charger *c, struct upf_accounts *old,
		   uint64_t now_ns);

/**
 * Rules go out of use, while session->lanes are still theirs: what lanes counted is folded and the
 * timer cancelled. Then upf_urr_take() reads URRs that end here.
 */
void upf_urr_leave(struct upf_accounts *a, uint64_t now_ns);

/** Usage before a restart: message Usage of Urr.carry. Before upf_urr_start(). */
void upf_urr_carry(struct upf_urr *u, const struct upf_usage_report *r, uint64_t unix_offset_ns);

/**
 * Ends the measurement and gives what it was: at a Query (IMMER), Delete or removal (TERMR).
 * @param out 2 elements
 * @return 1, or 2 when there is a part before the Monitoring Time, which comes first
 */
unsigned upf_urr_take(struct upf_accounts *a, unsigned urr, uint32_t triggers, uint64_t now_ns,
		      struct upf_usage_report out[2]);

/**
 * Brings everything up to `now_ns`: reports what is due, closes and opens lanes, hands out budgets,
 * arms the timer. For a packet whose lane's count reached look_bytes, after it was counted.
 */
void upf_urr_look(struct upf_accounts *a, uint64_t now_ns);

/** The lane, which has UPF_LANE_QUOTA_FAR, takes that FAR. Between two vectors. */
void upf_urr_quota_far(struct upf_accounts *a, unsigned lane);

/**
 * A packet that upf_charge_count() counted after the QERs was lost in this very vector: it is no
 * usage. What a report has told of meanwhile stays told, and a quota it used up stays so.
 */
void upf_urr_uncount(struct upf_accounts *a, unsigned lane, uint32_t bytes);

/** Applications and flows count events (seam for the detection of applications). */
void upf_urr_event(struct upf_accounts *a, unsigned urr, uint64_t n, uint64_t now_ns);

/** A flow of the application that the lane's PDR asks for: START and STOPT tell of it. */
void upf_urr_detected(struct upf_accounts *a, unsigned lane, const struct upf_detected *d);

/** A downlink packet of the lane's PDR was thrown away undelivered (DROTH). */
void upf_urr_dropped(struct upf_accounts *a, unsigned lane, uint32_t bytes, uint64_t now_ns);

/**
 * Checkpoints of sessions that became dirty checkpoint_ns ago, at most `max` of them; call it
 * once a walk. Stops early when the ring has no room.
 * @return how many
 */
unsigned upf_urr_checkpoints(struct upf_charger *c, unsigned max, uint64_t now_ns);

/** @return when the first of them is due, ns, or UINT64_MAX when no session is dirty. */
uint64_t upf_urr_checkpoint_ns(const struct upf_charger *c, uint64_t now_ns);

/** The accounts of a session that has rules, which begin with them. */
static inline struct upf_accounts *
upf_accounts_of(const struct upf_session *s)
{
	return (struct upf_accounts *)(void *)s->rules;
}

/**
 * Puts the session on the dirty list; for upf_charge. The list keeps its address: memory of
 * sessions stays, and one that ends loses the flag, which is all it takes to leave the list.
 */
static inline void
upf_urr_dirty(struct upf_charger *c, struct upf_session *s, uint32_t now_ms)
{
	if (unlikely(c->dirty_tail - c->dirty_head > c->dirty_mask))
		return; /* its next packet tries again */
	/* The list is longer than caches are large. */
	rte_prefetch0_write(&c->dirty[(c->dirty_tail + 16) & c->dirty_mask]);
	s->flags |= UPF_SESSION_DIRTY;
	c->dirty[c->dirty_tail++ & c->dirty_mask] = (uint64_t)now_ms << 48 | (uint64_t)(uintptr_t)s;
}

#endif
