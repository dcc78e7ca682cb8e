/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/upf/upf_urr_internal.h"

/* Which lanes count for which URR, and where in the chain. */
static void
join(struct upf_accounts *a)
{
	for (unsigned i = 0; i < a->nb_pdrs; i++) {
		struct upf_lane *lane = &a->session->lanes[i];
		const struct upf_pdr *pdr = &a->pdrs[i];
		unsigned active = 0, early = 0;

		for (unsigned k = 0; k < pdr->nb_urrs; k++) {
			struct upf_urr *u = &a->urrs[pdr->urrs[k]];

			u->lanes[lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL]++;
			active += !(u->flags & UPF_URR_INACTIVE);
			early += (u->flags & (UPF_URR_BEFORE_QOS | UPF_URR_INACTIVE)) ==
				 UPF_URR_BEFORE_QOS;
		}
		lane->flags &= ~(uint32_t)(UPF_LANE_URR | UPF_LANE_BEFORE_QOS);
		if (active != 0)
			lane->flags |= UPF_LANE_URR;
		if (early != 0 && early == active && a->before == NULL)
			lane->flags |= UPF_LANE_BEFORE_QOS;
	}
}

static void
begin_more(struct upf_urr *u, uint64_t now_ns)
{
	if ((u->flags & (UPF_URR_DURATION | UPF_URR_IMMEDIATE)) ==
	    (UPF_URR_DURATION | UPF_URR_IMMEDIATE))
		u->more->running_ns = now_ns;
	u->more->validity_from_ns = now_ns;
}

static void
go_on(struct upf_urr *u, const struct upf_urr *old, uint64_t now_ns)
{
	u->pending = old->pending & u->triggers;
	u->usage = old->usage;
	u->threshold = old->threshold;
	u->quota = old->quota;
	u->active_ns = old->active_ns;
	u->period_from_ns = u->period_ns == old->period_ns ? old->period_from_ns : now_ns;
	u->flags |= old->flags & (uint16_t)~UPF_URR_CONFIG_FLAGS;
	if (u->more != NULL && old->more != NULL) {
		u->more->before = old->more->before;
		u->more->before_time = old->more->before_time;
		u->more->usage_time = old->more->usage_time;
		u->more->threshold_time = old->more->threshold_time;
		u->more->quota_time = old->more->quota_time;
		u->more->running_ns = u->flags & UPF_URR_DURATION ? old->more->running_ns : 0;
		u->more->before_end_ns = old->more->before_end_ns;
		u->more->dropped_packets = old->more->dropped_packets;
		u->more->dropped_bytes = old->more->dropped_bytes;
		u->more->validity_from_ns = old->more->validity_from_ns;
		u->more->detected = old->more->detected;
		if (u->more->monitoring_unix_ms != old->more->monitoring_unix_ms)
			u->flags &= (uint16_t)~UPF_URR_MONITORED;
	} else {
		if (u->more != NULL)
			begin_more(u, now_ns);
		u->flags &= (uint16_t) ~(UPF_URR_MONITORED | UPF_URR_HAS_PART);
	}
	if (u->threshold_generation != old->threshold_generation) {
		memset(&u->threshold, 0, sizeof(u->threshold));
		if (u->more != NULL)
			u->more->threshold_time = (struct upf_urr_time){0};
	}
	if (u->generation == old->generation)
		return;
	memset(&u->quota, 0, sizeof(u->quota));
	u->flags &= (uint16_t) ~(UPF_URR_EXHAUSTED | UPF_URR_HELD | UPF_URR_LAPSED);
	if (u->more != NULL) {
		u->more->quota_time = (struct upf_urr_time){0};
		u->more->validity_from_ns = now_ns;
	}
}

static void
begin(struct upf_urr *u, uint64_t now_ns)
{
	if (u->usage.start_ns == 0)
		u->usage.start_ns = now_ns;
	u->active_ns = u->period_from_ns = now_ns;
	if (u->more != NULL)
		begin_more(u, now_ns);
}

static struct upf_urr *
find(const struct upf_accounts *a, uint32_t id)
{
	for (unsigned i = 0; a != NULL && i < a->nb_urrs; i++)
		if (a->urrs[i].id == id)
			return &a->urrs[i];
	return NULL;
}

void
upf_urr_start(struct upf_accounts *a, struct upf_charger *c, struct upf_accounts *old,
	      uint64_t now_ns)
{
	a->charger = c;
	a->timer.fire = upf_urr_on_timer;
	a->from_ns = old != NULL && old->inactivity_ns != 0 ? old->from_ns : now_ns;
	a->inactive_s = old != NULL ? old->inactive_s : 0;
	for (unsigned i = 0; i < a->nb_urrs; i++) {
		const struct upf_urr *from = find(old, a->urrs[i].id);

		if (from != NULL)
			go_on(&a->urrs[i], from, now_ns);
		else
			begin(&a->urrs[i], now_ns);
	}
	join(a);
	upf_urr_close_lanes(a);
	upf_urr_look(a, now_ns);
}

void
upf_urr_leave(struct upf_accounts *a, uint64_t now_ns)
{
	upf_urr_fold(a, now_ns);
	if (a->charger != NULL && ap_timer_armed(&a->timer))
		ap_timer_cancel(a->charger->wheel, &a->timer);
}
