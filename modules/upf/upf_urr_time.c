/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_urr_internal.h"

#define RETRY_NS (10 * AP_NS_PER_MS) /* for reports the ring had no room for */

static uint64_t
deadline_more(const struct upf_accounts *a, const struct upf_urr *u)
{
	const struct upf_urr_more *more = u->more;
	uint64_t d = UINT64_MAX;

	if (more->running_ns != 0) {
		if (time_threshold(u) != 0 && u->triggers & UPF_TRIGGER_TIMTH)
			d = more->running_ns +
			    left(time_threshold(u), more->threshold_time.duration_ns);
		if (more->time_quota_ns != UPF_NO_LIMIT && !(u->flags & UPF_URR_EXHAUSTED))
			d = RTE_MIN(d, more->running_ns + left(more->time_quota_ns,
							       more->quota_time.duration_ns));
		if (more->inactivity_ns != 0)
			d = RTE_MIN(d, u->active_ns + more->inactivity_ns);
	}
	if (more->quota_holding_ns != 0 && has_quota(u) && !(u->flags & UPF_URR_HELD))
		d = RTE_MIN(d, u->active_ns + more->quota_holding_ns);
	if (more->quota_validity_ns != 0 && !(u->flags & UPF_URR_LAPSED))
		d = RTE_MIN(d, more->validity_from_ns + more->quota_validity_ns);
	if (more->monitoring_unix_ms != 0 && !(u->flags & UPF_URR_MONITORED))
		d = RTE_MIN(d,
			    more->monitoring_unix_ms * AP_NS_PER_MS - a->charger->unix_offset_ns);
	return d;
}

/* @return when the session has to be looked at without a packet; UINT64_MAX: never */
static uint64_t
deadline(const struct upf_accounts *a, uint64_t now_ns)
{
	uint64_t d = UINT64_MAX;

	if (a->inactivity_ns != 0)
		d = RTE_MAX(a->from_ns, (a->session->active_s + 1ULL) * AP_NS_PER_S) +
		    a->inactivity_ns;
	if (d <= now_ns)
		d = now_ns + a->inactivity_ns; /* told; to see whether packets come again */
	for (unsigned i = 0; i < a->nb_urrs; i++) {
		const struct upf_urr *u = &a->urrs[i];

		if (u->flags & UPF_URR_INACTIVE)
			continue;
		if (u->pending != 0)
			d = RTE_MIN(d, now_ns + RETRY_NS);
		if (u->period_ns != 0)
			d = RTE_MIN(d, u->period_from_ns + u->period_ns);
		if (u->flags & UPF_URR_STARTED)
			d = RTE_MIN(d, u->active_ns + stop_ns(u));
		if (u->more != NULL)
			d = RTE_MIN(d, deadline_more(a, u));
	}
	return d;
}

void
upf_urr_arm(struct upf_accounts *a, uint64_t now_ns)
{
	uint64_t d = deadline(a, now_ns);

	if (d != UINT64_MAX)
		ap_timer_set(a->charger->wheel, &a->timer, d);
	else if (ap_timer_armed(&a->timer))
		ap_timer_cancel(a->charger->wheel, &a->timer);
}

void
upf_urr_on_timer(struct ap_timer *t, uint64_t now_ns)
{
	struct upf_accounts *a = RTE_PTR_SUB(t, offsetof(struct upf_accounts, timer));

	upf_urr_tell_inactivity(a, now_ns);
	upf_urr_look(a, now_ns);
}
