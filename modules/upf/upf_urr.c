/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting: from lanes into URRs, and what is taken off or added there. */
#include "modules/upf/upf_urr_internal.h"

static void
add_events(struct upf_urr *u, uint64_t n)
{
	if (u->more == NULL)
		return;
	u->more->usage_time.events += n;
	u->more->threshold_time.events += n;
	u->more->quota_time.events += n;
}

static void
add_time(struct upf_urr_more *more, uint64_t ns)
{
	more->usage_time.duration_ns += ns;
	more->threshold_time.duration_ns += ns;
	more->quota_time.duration_ns += ns;
}

static void
count(struct upf_urr *u, unsigned direction, uint32_t bytes, uint32_t packets, uint64_t first_ns,
      uint64_t last_ns)
{
	u->usage.spent.bytes[direction] += bytes;
	u->threshold.bytes[direction] += bytes;
	u->quota.bytes[direction] += bytes;
	u->usage.packets[direction] += packets;
	if (u->usage.first_ns == 0 || (int64_t)(first_ns - u->usage.first_ns) < 0)
		u->usage.first_ns = first_ns;
	if ((int64_t)(last_ns - u->usage.last_ns) > 0) /* what was carried over may lie before 0 */
		u->usage.last_ns = last_ns;
	u->active_ns = RTE_MAX(u->active_ns, last_ns);
	if (upf_urr_stands(u))
		u->more->running_ns = last_ns;
	u->flags &= (uint16_t)~UPF_URR_HELD;
	if (!(u->flags & UPF_URR_STARTED) && wants_start(u)) {
		u->flags |= UPF_URR_STARTED;
		u->pending |= u->triggers & UPF_TRIGGER_START;
		if (u->flags & UPF_URR_EVENT)
			add_events(u, 1);
	}
}

/* Time runs on to `now_ns`, or stands still the Inactivity Detection Time after the last packet. */
static void
run_time(struct upf_urr *u, uint64_t now_ns)
{
	struct upf_urr_more *more = u->more;
	uint64_t to = now_ns;
	bool stops = false;

	if (more == NULL || more->running_ns == 0)
		return;
	if (more->inactivity_ns != 0) {
		stops = u->active_ns + more->inactivity_ns <= now_ns;
		if (stops)
			to = u->active_ns + more->inactivity_ns;
	}
	if (to > more->running_ns)
		add_time(more, to - more->running_ns);
	more->running_ns = stops ? 0 : now_ns;
}

static void
fold_lane(struct upf_accounts *a, unsigned i, uint64_t now_ns)
{
	struct upf_lane *lane = &a->session->lanes[i];
	struct upf_lane_before *before = a->before != NULL ? &a->before[i] : NULL;
	const struct upf_pdr *pdr = &a->pdrs[i];
	const unsigned direction = lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL;
	const uint64_t now_ms = now_ns / AP_NS_PER_MS;
	uint64_t last_ns;

	if (lane->packets == 0 && (before == NULL || before->packets == 0))
		return;
	last_ns = upf_urr_ms_ago(now_ms, lane->last_ms);
	for (unsigned k = 0; k < pdr->nb_urrs; k++) {
		struct upf_urr *u = &a->urrs[pdr->urrs[k]];
		const bool early = before != NULL && u->flags & UPF_URR_BEFORE_QOS;
		const uint32_t packets = early ? before->packets : lane->packets;

		if (packets != 0 && !(u->flags & UPF_URR_INACTIVE))
			count(u, direction, early ? before->bytes : lane->bytes, packets,
			      upf_urr_ms_ago(now_ms, early ? before->first_ms : lane->first_ms),
			      last_ns);
	}
	lane->packets = lane->bytes = 0;
	if (before != NULL)
		before->packets = before->bytes = 0;
}

void
upf_urr_fold(struct upf_accounts *a, uint64_t now_ns)
{
	for (unsigned i = 0; i < a->nb_pdrs; i++)
		fold_lane(a, i, now_ns);
	for (unsigned i = 0; i < a->nb_urrs; i++)
		run_time(&a->urrs[i], now_ns);
}

static void
take_off(struct upf_urr *u, unsigned direction, uint32_t bytes)
{
	struct upf_spent *of[] = {&u->usage.spent, &u->threshold, &u->quota};

	if (u->flags & UPF_URR_INACTIVE || u->usage.packets[direction] == 0)
		return;
	u->usage.packets[direction]--;
	for (unsigned i = 0; i < RTE_DIM(of); i++)
		of[i]->bytes[direction] -= RTE_MIN(of[i]->bytes[direction], (uint64_t)bytes);
}

void
upf_urr_uncount(struct upf_accounts *a, unsigned l, uint32_t bytes)
{
	struct upf_lane *lane = &a->session->lanes[l];
	const unsigned direction = lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL;
	const struct upf_pdr *pdr = &a->pdrs[l];

	if (lane->packets != 0 && lane->bytes >= bytes) {
		lane->packets--;
		lane->bytes -= bytes;
		return;
	}
	for (unsigned k = 0; k < pdr->nb_urrs; k++) {
		struct upf_urr *u = &a->urrs[pdr->urrs[k]];

		if (a->before == NULL || !(u->flags & UPF_URR_BEFORE_QOS))
			take_off(u, direction, bytes);
	}
}

void
upf_urr_event(struct upf_accounts *a, unsigned urr, uint64_t n, uint64_t now_ns)
{
	add_events(&a->urrs[urr], n);
	upf_urr_look(a, now_ns);
}

void
upf_urr_detected(struct upf_accounts *a, unsigned lane, const struct upf_detected *d)
{
	const struct upf_pdr *pdr = &a->pdrs[lane];

	for (unsigned k = 0; k < pdr->nb_urrs; k++) {
		struct upf_urr *u = &a->urrs[pdr->urrs[k]];

		if (u->more != NULL && u->triggers & (UPF_TRIGGER_START | UPF_TRIGGER_STOPT))
			u->more->detected = *d;
	}
}

void
upf_urr_dropped(struct upf_accounts *a, unsigned lane, uint32_t bytes, uint64_t now_ns)
{
	const struct upf_pdr *pdr = &a->pdrs[lane];
	bool due = false;

	for (unsigned k = 0; k < pdr->nb_urrs; k++) {
		struct upf_urr *u = &a->urrs[pdr->urrs[k]];

		if (u->more == NULL || !(u->triggers & UPF_TRIGGER_DROTH))
			continue;
		u->more->dropped_packets++;
		u->more->dropped_bytes += bytes;
		due = true;
	}
	if (due)
		upf_urr_look(a, now_ns);
}
