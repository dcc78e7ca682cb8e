/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_URR_INTERNAL_H
#define AIRPATH_UPF_URR_INTERNAL_H

/**
 * What the engine's files share: upf_urr.c counts, upf_urr_limit.c watches limits, upf_urr_time.c
 * knows when to look without a packet, upf_urr_start.c takes rules in use, upf_urr_report.c
 * reports.
 */

#include "core/clock.h"
#include "modules/upf/upf_urr.h"

/** Brings counters of lanes, and time, into the URRs. Lanes' budgets are stale afterwards. */
void upf_urr_fold(struct upf_accounts *a, uint64_t now_ns);

/** Reports all that is pending, if the ring has room for all. */
void upf_urr_tell(struct upf_accounts *a, uint64_t now_ns);

/** Tells of no packets for inactivity_ns, once until packets come again. */
void upf_urr_tell_inactivity(struct upf_accounts *a, uint64_t now_ns);

/** Closes lanes whose PDR has a URR without quota left, opens the others. */
void upf_urr_close_lanes(struct upf_accounts *a);

/** Arms the timer for what is due next, if anything. */
void upf_urr_arm(struct upf_accounts *a, uint64_t now_ns);

/** upf_accounts.timer.fire */
void upf_urr_on_timer(struct ap_timer *t, uint64_t now_ns);

/** @return what is left of a limit. */
static inline uint64_t
left(uint64_t limit, uint64_t spent)
{
	return limit == UPF_NO_LIMIT ? UPF_NO_LIMIT : limit > spent ? limit - spent : 0;
}

static inline uint64_t
time_threshold(const struct upf_urr *u)
{
	if (u->flags & UPF_URR_MONITORED && u->more->subsequent_time_threshold_ns != 0)
		return u->more->subsequent_time_threshold_ns;
	return u->more->time_threshold_ns;
}

/** Whether its packets and pauses mean anything by themselves. */
static inline bool
wants_start(const struct upf_urr *u)
{
	return u->triggers & (UPF_TRIGGER_START | UPF_TRIGGER_STOPT) || u->flags & UPF_URR_EVENT;
}

/** Without packets for so long, traffic has stopped. */
static inline uint64_t
stop_ns(const struct upf_urr *u)
{
	return u->more != NULL && u->more->inactivity_ns != 0 ? u->more->inactivity_ns
							      : UPF_STOP_NS;
}

/** Whether the next packet sets the time running. */
/** @return ns of a moment whose low bits of the ms a lane keeps, not after `now_ms` */
static inline uint64_t
upf_urr_ms_ago(uint64_t now_ms, uint32_t low)
{
	return (now_ms - (uint32_t)((uint32_t)now_ms - low)) * AP_NS_PER_MS;
}

static inline bool
upf_urr_stands(const struct upf_urr *u)
{
	return u->flags & UPF_URR_DURATION && u->more != NULL && u->more->running_ns == 0;
}

static inline bool
has_quota(const struct upf_urr *u)
{
	const struct upf_volume *v = &u->volume_quota;

	return v->total != UPF_NO_LIMIT || v->of[0] != UPF_NO_LIMIT || v->of[1] != UPF_NO_LIMIT ||
	       (u->more != NULL &&
		(u->more->time_quota_ns != UPF_NO_LIMIT || u->more->event_quota != UPF_NO_LIMIT));
}

#endif
