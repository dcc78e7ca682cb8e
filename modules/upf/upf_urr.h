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

/** What the agent said: message Urr of the proto. Numbers of 0 mean none unless said otherwise. */
struct upf_urr_config {
	uint32_t id;
	uint32_t triggers;            /**< Σ enum upf_trigger asked for */
	bool volume, duration, event; /**< Measurement Method */
	bool before_qos;              /**< MBQE */
	bool inactive;                /**< INAM: nothing is measured or reported but on request */
	bool immediate_start; /**< ISTM: the time runs from the start, not from the first packet */
	bool has_quota_far;
	uint16_t quota_far; /**< index into the rules' FARs: in force while a quota is used up */
	struct upf_volume volume_threshold; /**< UPF_NO_LIMIT where there is none */
	struct upf_volume volume_quota;     /**< likewise; 0 lets nothing pass */
	uint64_t time_threshold_ns;
	uint64_t time_quota_ns; /**< UPF_NO_LIMIT: none; 0 lets nothing pass */
	uint64_t event_threshold;
	uint64_t event_quota; /**< UPF_NO_LIMIT: none */
	uint64_t period_ns;
	uint64_t quota_holding_ns;
	uint64_t inactivity_ns; /**< Inactivity Detection Time */
	uint64_t quota_validity_ns;
	uint64_t monitoring_unix_ms;                   /**< Monitoring Time */
	struct upf_volume subsequent_volume_threshold; /**< UPF_NO_LIMIT: none */
	uint64_t subsequent_time_threshold_ns;
	uint64_t dropped_dl_packets, dropped_dl_bytes; /**< Dropped DL Traffic Threshold */
	uint32_t quota_generation;
	uint16_t nb_linked;
	uint16_t
		linked[UPF_LINKED_URRS_MAX]; /**< indices of URRs whose report brings one of this */
};

/** What was used since some moment. */
struct upf_spent {
	uint64_t bytes[2];
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
	UPF_URR_EXHAUSTED =
		1 << 0, /**< a quota is used up: its PDRs' packets stop, or take quota_far */
	UPF_URR_MONITORED = 1 << 1, /**< the Monitoring Time is over: subsequent thresholds count */
	UPF_URR_BEFORE = 1 << 2,    /**< `before` holds usage to report */
	UPF_URR_STARTED = 1 << 3,   /**< traffic runs: START is reported */
	UPF_URR_HELD = 1 << 4,      /**< QUHTI was reported; again after the next packet */
	UPF_URR_VALIDITY_OVER = 1 << 5,
};

/** A URR and its counters. Zeroed but for `c` before upf_urr_start(). */
struct upf_urr {
	struct upf_urr_config c;
	struct upf_usage usage;  /**< since the last report */
	struct upf_usage before; /**< of it, up to the Monitoring Time */
	uint64_t before_end_ns;
	struct upf_spent threshold; /**< since the last report or the provision of thresholds */
	struct upf_spent quota;     /**< since the provision of quotas */
	uint64_t dropped_packets, dropped_bytes;
	uint64_t running_ns; /**< the time runs since, 0: it stands; folded up to here */
	uint64_t period_from_ns, validity_from_ns, holding_from_ns;
	uint32_t pending;  /**< triggers whose report the ring had no room for */
	uint16_t lanes[2]; /**< how many lanes count for it, by direction */
	uint16_t flags;    /**< enum upf_urr_flag */
};

/** Octets and packets of a lane before its QERs, where a URR asks for them and another does not. */
struct upf_lane_before {
	uint32_t bytes, look_bytes;
	uint32_t packets;
};

struct upf_charger;

/**
 * The accounts of a session: a part of struct upf_rules. Set by the control thread: `session`,
 * `urrs`, `pdrs`, `before`, numbers, `inactivity_ns`. Lane i is session->lanes[i], of pdrs[i].
 */
struct upf_accounts {
	struct ap_timer timer; /**< of all that depends on time, the inactivity timer included */
	struct upf_charger *charger; /**< the worker's, set by upf_urr_start() */
	struct upf_session *session;
	struct upf_urr *urrs;
	const struct upf_pdr *pdrs;
	struct upf_lane_before
		*before; /**< one a lane, or NULL: no URR with MBQE beside one without */
	uint16_t nb_urrs, nb_pdrs;
	uint64_t inactivity_ns; /**< User Plane Inactivity Timer, 0: none */
	uint64_t inactivity_from_ns;
};

/** What a worker's accounts share. The role fills it in before the worker starts. */
struct upf_charger {
	struct ap_wheel *wheel;     /**< the worker's */
	struct rte_ring *reports;   /**< upf_report_ring() to the control thread */
	uint64_t unix_offset_ns;    /**< Unix time less ap_clock_ns() */
	uint64_t checkpoint_ns;     /**< a dirty session is checkpointed so long after its packet */
	struct upf_session **dirty; /**< FIFO of sessions with UPF_SESSION_DIRTY; a power of 2 */
	uint64_t *dirty_ns;         /**< when each got there */
	uint32_t dirty_mask, dirty_head, dirty_tail;
	/** Quota used up or provided anew, where c.has_quota_far: the PDR's lane takes FAR `far`.
	 */
	void (*take_far)(struct upf_session *s, uint16_t lane, uint16_t far);
	uint64_t reports_late; /**< the ring was full: reported later */
};

/**
 * @param sessions most that can be dirty at once: all that the worker may hold
 * @return 0 or -ENOMEM. Control thread.
 */
int upf_charger_init(struct upf_charger *c, unsigned sessions, int socket);
void upf_charger_fini(struct upf_charger *c);

/**
 * The worker takes rules in use. Hands out budgets, arms the timer, closes lanes whose quota is
 * used up. Lanes and rules are in place.
 * @param old the rules these replace, or NULL: URRs of the same id go on from there; `old` is
 *        folded and its timer cancelled. Its removed URRs are to be read before, with
 *        upf_urr_take().
 */
void upf_urr_start(struct upf_accounts *a, struct upf_charger *c, struct upf_accounts *old,
		   uint64_t now_ns);

/** The session ends, or its worker: the timer is cancelled. Reports are to be taken before. */
void upf_urr_stop(struct upf_accounts *a);

/** The dirty list forgets a session that is about to be freed or moved. */
void upf_charger_forget(struct upf_charger *c, struct upf_session *s);

/** Usage before a restart: message Usage of Urr.carry. Before upf_urr_start(). */
void upf_urr_carry(struct upf_urr *u, const struct upf_usage_report *r, uint64_t unix_offset_ns);

/**
 * Ends the measurement and gives what it was: at a Query (IMMER), Delete or removal (TERMR).
 * @param out 2 elements
 * @return 1, or 2 when there is a part before the Monitoring Time, which comes first
 */
unsigned upf_urr_take(struct upf_accounts *a, unsigned urr, uint32_t triggers, uint64_t now_ns,
		      struct upf_usage_report out[2]);

/** Slow path of a packet already counted in lane `lane`, when its count reached look_bytes. */
void upf_urr_look(struct upf_accounts *a, unsigned lane, uint64_t now_ns);

/** Applications and flows count events (seam for the detection of applications). */
void upf_urr_event(struct upf_accounts *a, unsigned urr, uint64_t n, uint64_t now_ns);

/** A downlink packet of the lane's PDR was thrown away undelivered (DROTH). */
void upf_urr_dropped(struct upf_accounts *a, unsigned lane, uint32_t bytes, uint64_t now_ns);

/**
 * Checkpoints of sessions that became dirty checkpoint_ns ago, at most `max` of them; call it
 * once a walk. Stops early when the ring has no room.
 * @return how many
 */
unsigned upf_urr_checkpoints(struct upf_charger *c, unsigned max, uint64_t now_ns);

/** Puts the session on the dirty list; for upf_charge. */
static inline void
upf_urr_dirty(struct upf_charger *c, struct upf_session *s, uint64_t now_ns)
{
	uint32_t at = c->dirty_tail++ & c->dirty_mask;

	s->flags |= UPF_SESSION_DIRTY;
	c->dirty[at] = s;
	c->dirty_ns[at] = now_ns;
}

#endif
