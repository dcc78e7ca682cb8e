/* SPDX-License-Identifier: BSD-3-Clause */
/* Thresholds and quotas: what is due, and what each lane may count until something may be. */
#include <string.h>

#include "modules/upf/upf_urr_internal.h"

/* What a lane may count at most before it is folded: its octets have 32 bits. */
#define LOOK_MAX 0x7FFFFFFFU

static uint64_t
volume_left(const struct upf_volume *v, const struct upf_spent *s, int direction)
{
	return direction < 0 ? left(v->total, s->bytes[UPF_UL] + s->bytes[UPF_DL])
			     : left(v->of[direction], s->bytes[direction]);
}

static bool
volume_reached(const struct upf_volume *v, const struct upf_spent *s)
{
	return volume_left(v, s, -1) == 0 || volume_left(v, s, UPF_UL) == 0 ||
	       volume_left(v, s, UPF_DL) == 0;
}

/* Subsequent thresholds count from the Monitoring Time on, where there are any, §5.2.2.2.1. */
static const struct upf_volume *
volume_threshold(const struct upf_urr *u)
{
	const struct upf_urr_more *more = u->more;

	if (more != NULL && u->flags & UPF_URR_MONITORED) {
		const struct upf_volume *v = &more->subsequent_volume_threshold;

		if (v->total != UPF_NO_LIMIT || v->of[0] != UPF_NO_LIMIT ||
		    v->of[1] != UPF_NO_LIMIT)
			return v;
	}
	return &u->volume_threshold;
}

static uint64_t
unix_ns(const struct upf_accounts *a, uint64_t now_ns)
{
	return now_ns + a->charger->unix_offset_ns;
}

/* The Monitoring Time comes: usage up to it is reported apart, thresholds begin anew. */
static void
monitor(const struct upf_accounts *a, struct upf_urr *u, uint64_t now_ns)
{
	struct upf_urr_more *more = u->more;

	if (more->monitoring_unix_ms == 0 || u->flags & UPF_URR_MONITORED ||
	    unix_ns(a, now_ns) / AP_NS_PER_MS < more->monitoring_unix_ms)
		return;
	u->flags |= UPF_URR_MONITORED | UPF_URR_HAS_PART;
	more->before = u->usage;
	more->before_time = more->usage_time;
	more->before_end_ns = now_ns;
	more->usage_time = (struct upf_urr_time){0};
	u->usage = (struct upf_usage){.start_ns = now_ns};
	if (volume_threshold(u) != &u->volume_threshold)
		memset(u->threshold.bytes, 0, sizeof(u->threshold.bytes));
	if (more->subsequent_time_threshold_ns != 0)
		more->threshold_time.duration_ns = 0;
}

static uint32_t
due_more(struct upf_urr *u, uint64_t now_ns)
{
	const struct upf_urr_more *more = u->more;
	uint32_t due = 0;

	if (time_threshold(u) != 0 && more->threshold_time.duration_ns >= time_threshold(u))
		due |= UPF_TRIGGER_TIMTH;
	if (more->event_threshold != 0 && more->threshold_time.events >= more->event_threshold)
		due |= UPF_TRIGGER_EVETH;
	if (!(u->flags & UPF_URR_EXHAUSTED)) {
		if (left(more->time_quota_ns, more->quota_time.duration_ns) == 0)
			due |= UPF_TRIGGER_TIMQU;
		if (left(more->event_quota, more->quota_time.events) == 0)
			due |= UPF_TRIGGER_EVEQU;
	}
	if (more->quota_holding_ns != 0 && has_quota(u) && !(u->flags & UPF_URR_HELD) &&
	    now_ns >= u->active_ns + more->quota_holding_ns) {
		u->flags |= UPF_URR_HELD;
		due |= UPF_TRIGGER_QUHTI;
	}
	if (more->quota_validity_ns != 0 && !(u->flags & UPF_URR_LAPSED) &&
	    now_ns >= more->validity_from_ns + more->quota_validity_ns) {
		u->flags |= UPF_URR_LAPSED;
		due |= UPF_TRIGGER_QUVTI;
	}
	if ((more->dropped_dl_packets != 0 && more->dropped_packets >= more->dropped_dl_packets) ||
	    (more->dropped_dl_bytes != 0 && more->dropped_bytes >= more->dropped_dl_bytes))
		due |= UPF_TRIGGER_DROTH;
	return due;
}

/* @return whether a quota was used up */
static bool
look_at(const struct upf_accounts *a, struct upf_urr *u, uint64_t now_ns)
{
	const uint32_t quotas = UPF_TRIGGER_VOLQU | UPF_TRIGGER_TIMQU | UPF_TRIGGER_EVEQU;
	uint32_t due = 0;

	if (u->flags & UPF_URR_INACTIVE)
		return false;
	if (u->more != NULL)
		monitor(a, u, now_ns);
	if (volume_reached(volume_threshold(u), &u->threshold))
		due |= UPF_TRIGGER_VOLTH;
	if (!(u->flags & UPF_URR_EXHAUSTED) && volume_reached(&u->volume_quota, &u->quota))
		due |= UPF_TRIGGER_VOLQU;
	if (u->period_ns != 0 && now_ns >= u->period_from_ns + u->period_ns) {
		u->period_from_ns += u->period_ns;
		if (now_ns >= u->period_from_ns + u->period_ns)
			u->period_from_ns = now_ns; /* the worker stood still: no burst */
		due |= UPF_TRIGGER_PERIO;
	}
	if (u->flags & UPF_URR_STARTED && now_ns >= u->active_ns + stop_ns(u)) {
		u->flags &= (uint16_t)~UPF_URR_STARTED;
		due |= UPF_TRIGGER_STOPT;
	}
	if (u->more != NULL)
		due |= due_more(u, now_ns);
	u->pending |= due & u->triggers;
	if (!(due & quotas))
		return false;
	u->flags |= UPF_URR_EXHAUSTED;
	return true;
}

static const struct upf_urr *
exhausted_by(const struct upf_accounts *a, unsigned lane)
{
	const struct upf_pdr *pdr = &a->pdrs[lane];

	for (unsigned k = 0; k < pdr->nb_urrs; k++)
		if (a->urrs[pdr->urrs[k]].flags & UPF_URR_EXHAUSTED)
			return &a->urrs[pdr->urrs[k]];
	return NULL;
}

/*
 * A lane whose PDR has a URR without quota left lets nothing pass, or does as that URR's FAR for
 * Quota Action says (§5.2.2.2.1); this from the next vector on, as packets already counted are
 * still on their way to the FAR.
 */
void
upf_urr_close_lanes(struct upf_accounts *a)
{
	for (unsigned i = 0; i < a->nb_pdrs; i++) {
		struct upf_lane *lane = &a->session->lanes[i];
		const struct upf_urr *by = exhausted_by(a, i);

		lane->flags &= ~(uint32_t)(UPF_LANE_QUOTA_OUT | UPF_LANE_QUOTA_FAR);
		if (by == NULL)
			continue;
		lane->flags |= UPF_LANE_QUOTA_OUT;
		if (by->flags & UPF_URR_QUOTA_FAR && by->more != NULL)
			lane->flags |= UPF_LANE_QUOTA_FAR;
	}
}

void
upf_urr_quota_far(struct upf_accounts *a, unsigned lane)
{
	const struct upf_urr *by = exhausted_by(a, lane);

	a->session->lanes[lane].flags &= ~(uint32_t)(UPF_LANE_QUOTA_OUT | UPF_LANE_QUOTA_FAR);
	if (by != NULL && by->more != NULL)
		a->charger->take_far(a->session, (uint16_t)lane, by->more->quota_far);
}

/* Octets of one direction that each lane may count until a limit may be reached. */
static uint32_t
share(const struct upf_urr *u, unsigned direction)
{
	const struct upf_volume *threshold = volume_threshold(u);
	const bool report = u->triggers & ~u->pending & UPF_TRIGGER_VOLTH;
	const bool stop = !(u->flags & UPF_URR_EXHAUSTED);
	const uint64_t lanes = (uint64_t)u->lanes[UPF_UL] + u->lanes[UPF_DL];
	uint64_t all = UPF_NO_LIMIT, one = UPF_NO_LIMIT, s;

	if (u->flags & UPF_URR_INACTIVE || u->lanes[direction] == 0)
		return LOOK_MAX;
	if (u->flags & UPF_URR_HELD || upf_urr_stands(u) ||
	    (!(u->flags & UPF_URR_STARTED) && wants_start(u)))
		return 1; /* the next packet means something */
	if (report) {
		all = volume_left(threshold, &u->threshold, -1);
		one = volume_left(threshold, &u->threshold, (int)direction);
	}
	if (stop) {
		all = RTE_MIN(all, volume_left(&u->volume_quota, &u->quota, -1));
		one = RTE_MIN(one, volume_left(&u->volume_quota, &u->quota, (int)direction));
	}
	s = LOOK_MAX;
	if (all != UPF_NO_LIMIT)
		s = RTE_MIN(s, all / lanes);
	if (one != UPF_NO_LIMIT)
		s = RTE_MIN(s, one / u->lanes[direction]);
	return (uint32_t)RTE_MAX(s, 1U);
}

static void
hand_out(struct upf_accounts *a)
{
	uint32_t shares[UPF_RULES_MAX][2];

	for (unsigned i = 0; i < a->nb_urrs; i++)
		for (unsigned d = UPF_UL; d <= UPF_DL; d++)
			shares[i][d] = share(&a->urrs[i], d);
	for (unsigned i = 0; i < a->nb_pdrs; i++) {
		struct upf_lane *lane = &a->session->lanes[i];
		struct upf_lane_before *before = a->before != NULL ? &a->before[i] : NULL;
		const struct upf_pdr *pdr = &a->pdrs[i];
		const unsigned d = lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL;

		lane->look_bytes = LOOK_MAX;
		if (before != NULL)
			before->look_bytes = LOOK_MAX;
		for (unsigned k = 0; k < pdr->nb_urrs; k++) {
			const struct upf_urr *u = &a->urrs[pdr->urrs[k]];
			uint32_t *look = before != NULL && u->flags & UPF_URR_BEFORE_QOS
						 ? &before->look_bytes
						 : &lane->look_bytes;

			*look = RTE_MIN(*look, shares[pdr->urrs[k]][d]);
		}
	}
}

void
upf_urr_look(struct upf_accounts *a, uint64_t now_ns)
{
	bool exhausted = false;

	upf_urr_fold(a, now_ns);
	for (unsigned i = 0; i < a->nb_urrs; i++)
		exhausted |= look_at(a, &a->urrs[i], now_ns);
	if (exhausted)
		upf_urr_close_lanes(a);
	upf_urr_tell(a, now_ns);
	hand_out(a);
	upf_urr_arm(a, now_ns);
}
