/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "core/clock.h"
#include "modules/upf/upf_urr_internal.h"

#define CHECKPOINT_BATCH 16
#define CHECKPOINT_MS_MAX 60000 /* what the 16 bits of a dirty entry's age tell, and some */
#define POINTER_MASK ((1ULL << 48) - 1)

static uint64_t
unix_ms(const struct upf_charger *c, uint64_t ns)
{
	return ns == 0 ? 0 : (ns + c->unix_offset_ns) / AP_NS_PER_MS;
}

static void
write_out(struct upf_usage_report *r, const struct upf_charger *c, const struct upf_urr *u,
	  const struct upf_usage *usage, uint64_t end_ns)
{
	static const struct upf_urr_time none;
	const struct upf_urr_more *more = u->more;
	const struct upf_urr_time *time = more == NULL             ? &none
					  : usage == &more->before ? &more->before_time
								   : &more->usage_time;
	const struct upf_urr_time *quota = more == NULL ? &none : &more->quota_time;

	*r = (struct upf_usage_report){
		.urr_id = u->id,
		.bytes = {usage->spent.bytes[UPF_UL], usage->spent.bytes[UPF_DL]},
		.packets = {usage->packets[UPF_UL], usage->packets[UPF_DL]},
		.duration_ms = time->duration_ns / AP_NS_PER_MS,
		.start_ms = unix_ms(c, usage->start_ns),
		.end_ms = unix_ms(c, end_ns),
		.first_ms = unix_ms(c, usage->first_ns),
		.last_ms = unix_ms(c, usage->last_ns),
		.events = time->events,
		.quota_bytes = {u->quota.bytes[UPF_UL], u->quota.bytes[UPF_DL]},
		.quota_duration_ms = quota->duration_ns / AP_NS_PER_MS,
		.quota_events = quota->events,
	};
}

/* A report: what is measured begins anew, and so do thresholds (§5.2.2.3.1); quotas do not. */
static unsigned
report(const struct upf_charger *c, struct upf_urr *u, uint64_t now_ns,
       struct upf_usage_report out[2])
{
	unsigned n = 0;

	if (u->flags & UPF_URR_HAS_PART) {
		write_out(&out[n], c, u, &u->more->before, u->more->before_end_ns);
		out[n++].triggers = UPF_TRIGGER_MONIT;
		u->flags &= (uint16_t)~UPF_URR_HAS_PART;
	}
	write_out(&out[n], c, u, &u->usage, now_ns);
	out[n++].triggers = u->pending;
	u->pending = 0;
	u->usage = (struct upf_usage){.start_ns = now_ns};
	memset(&u->threshold, 0, sizeof(u->threshold));
	if (u->more != NULL) {
		u->more->dropped_packets = u->more->dropped_bytes = 0;
		u->more->usage_time = u->more->threshold_time = (struct upf_urr_time){0};
	}
	return n;
}

/* A report of a URR brings those of the URRs that name it as linked (§5.2.2.2). */
static void
bring_linked(struct upf_accounts *a)
{
	for (unsigned i = 0; i < a->nb_urrs; i++) {
		struct upf_urr *u = &a->urrs[i];

		if (u->more == NULL || !(u->triggers & UPF_TRIGGER_LIUSA) || u->pending != 0)
			continue;
		for (unsigned k = 0; k < u->more->nb_linked; k++)
			if (a->urrs[u->more->linked[k]].pending & ~(uint32_t)UPF_TRIGGER_LIUSA)
				u->pending |= UPF_TRIGGER_LIUSA;
	}
}

/* Whether what is told of a URR tells of an application, too. */
static bool
is_detection(const struct upf_urr *u)
{
	return u->more != NULL && u->more->detected.app != 0 &&
	       u->pending & (UPF_TRIGGER_START | UPF_TRIGGER_STOPT);
}

/* Of what stopped no single flow is told. */
static void
tell_detected(struct upf_charger *c, const struct upf_accounts *a, const struct upf_urr *u)
{
	struct upf_report e = {
		.id = a->session->id,
		.kind = UPF_REPORT_DETECTED,
		.more = true,
		.detected = u->more->detected,
	};

	if (!(u->pending & UPF_TRIGGER_START))
		e.detected.version = 0;
	upf_report_put(c->reports, &e);
}

void
upf_urr_tell(struct upf_accounts *a, uint64_t now_ns)
{
	struct upf_charger *c = a->charger;
	struct upf_usage_report out[2];
	unsigned n = 0;

	for (unsigned i = 0; i < a->nb_urrs; i++)
		n += a->urrs[i].pending != 0;
	if (n == 0)
		return;
	bring_linked(a);
	n = 0;
	for (unsigned i = 0; i < a->nb_urrs; i++)
		if (a->urrs[i].pending != 0)
			n += 1 + !!(a->urrs[i].flags & UPF_URR_HAS_PART) +
			     is_detection(&a->urrs[i]);
	if (rte_ring_free_count(c->reports) < n) {
		c->reports_late++;
		return;
	}
	for (unsigned i = 0; i < a->nb_urrs; i++) {
		unsigned parts;

		if (a->urrs[i].pending == 0)
			continue;
		if (is_detection(&a->urrs[i])) {
			tell_detected(c, a, &a->urrs[i]);
			n--;
		}
		parts = report(c, &a->urrs[i], now_ns, out);
		for (unsigned k = 0; k < parts; k++) {
			struct upf_report e = {
				.id = a->session->id,
				.kind = UPF_REPORT_USAGE,
				.more = --n != 0,
				.usage = out[k],
			};

			upf_report_put(c->reports, &e);
		}
	}
}

unsigned
upf_urr_take(struct upf_accounts *a, unsigned urr, uint32_t triggers, uint64_t now_ns,
	     struct upf_usage_report out[2])
{
	struct upf_urr *u = &a->urrs[urr];
	unsigned n;

	upf_urr_fold(a, now_ns);
	u->pending |= triggers;
	n = report(a->charger, u, now_ns, out);
	if (ap_timer_armed(&a->timer) || a->session->rules == (void *)a)
		upf_urr_look(a, now_ns);
	return n;
}

void
upf_urr_tell_inactivity(struct upf_accounts *a, uint64_t now_ns)
{
	const uint32_t active_s = a->session->active_s;
	struct upf_report e = {.id = a->session->id, .kind = UPF_REPORT_INACTIVITY};

	if (a->inactivity_ns == 0 || a->inactive_s == active_s + 1 ||
	    now_ns < RTE_MAX(a->from_ns, (active_s + 1ULL) * AP_NS_PER_S) + a->inactivity_ns)
		return;
	if (upf_report_put(a->charger->reports, &e))
		a->inactive_s = active_s + 1;
	else
		a->charger->reports_late++;
}

void
upf_urr_carry(struct upf_urr *u, const struct upf_usage_report *r, uint64_t unix_offset_ns)
{
	const uint64_t moments[3] = {r->start_ms, r->first_ms, r->last_ms};
	uint64_t *to[3] = {&u->usage.start_ns, &u->usage.first_ns, &u->usage.last_ns};

	for (unsigned d = UPF_UL; d <= UPF_DL; d++) {
		u->usage.spent.bytes[d] = u->threshold.bytes[d] = r->bytes[d];
		u->usage.packets[d] = r->packets[d];
		u->quota.bytes[d] = r->quota_bytes[d];
	}
	if (u->more != NULL) {
		u->more->usage_time = u->more->threshold_time = (struct upf_urr_time){
			.duration_ns = r->duration_ms * AP_NS_PER_MS, .events = r->events};
		u->more->quota_time =
			(struct upf_urr_time){.duration_ns = r->quota_duration_ms * AP_NS_PER_MS,
					      .events = r->quota_events};
	}
	/* Another boot's times may lie before this clock's zero; they wrap and come back right. */
	for (unsigned i = 0; i < RTE_DIM(moments); i++)
		if (moments[i] != 0)
			*to[i] = moments[i] * AP_NS_PER_MS - unix_offset_ns;
}

int
upf_charger_init(struct upf_charger *c, unsigned sessions)
{
	const uint32_t n = rte_align32pow2(RTE_MAX(2 * sessions, 64U));

	c->dirty = calloc(n, sizeof(*c->dirty));
	if (c->dirty == NULL)
		return -ENOMEM;
	c->dirty_mask = n - 1;
	c->dirty_head = c->dirty_tail = 0;
	return 0;
}

void
upf_charger_fini(struct upf_charger *c)
{
	free(c->dirty);
	c->dirty = NULL;
}

/* A part kept back for the next report counts too. */
static void
add_part(struct upf_usage_report *r, const struct upf_charger *c, const struct upf_urr_more *more)
{
	const struct upf_usage *part = &more->before;

	for (unsigned d = UPF_UL; d <= UPF_DL; d++) {
		r->bytes[d] += part->spent.bytes[d];
		r->packets[d] += part->packets[d];
	}
	r->duration_ms += more->before_time.duration_ns / AP_NS_PER_MS;
	r->events += more->before_time.events;
	r->start_ms = unix_ms(c, part->start_ns);
	if (part->first_ns != 0)
		r->first_ms = unix_ms(c, part->first_ns);
	if (r->last_ms == 0)
		r->last_ms = unix_ms(c, part->last_ns);
}

/* One URR that counts octets alone: its lanes need not be folded to be told. */
static bool
is_plain(const struct upf_accounts *a)
{
	return a->nb_urrs == 1 && a->before == NULL && a->urrs[0].more == NULL &&
	       !(a->urrs[0].flags & UPF_URR_DURATION);
}

static void
add_lanes(struct upf_usage_report *r, const struct upf_accounts *a, uint64_t now_ns)
{
	const uint64_t now_ms = now_ns / AP_NS_PER_MS;

	for (unsigned i = 0; i < a->nb_pdrs; i++) {
		const struct upf_lane *lane = &a->session->lanes[i];
		const unsigned d = lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL;
		uint64_t first_ms;

		if (lane->packets == 0)
			continue;
		r->bytes[d] += lane->bytes;
		r->packets[d] += lane->packets;
		r->quota_bytes[d] += lane->bytes;
		first_ms = unix_ms(a->charger, upf_urr_ms_ago(now_ms, lane->first_ms));
		r->first_ms = r->first_ms == 0 ? first_ms : RTE_MIN(r->first_ms, first_ms);
		r->last_ms = RTE_MAX(r->last_ms,
				     unix_ms(a->charger, upf_urr_ms_ago(now_ms, lane->last_ms)));
	}
}

/* Usage up to now, which goes on being counted. */
static void
checkpoint(struct upf_charger *c, struct upf_session *s, uint64_t now_ns)
{
	struct upf_accounts *a = upf_accounts_of(s);
	const bool plain = is_plain(a);

	if (!plain)
		upf_urr_look(a, now_ns);
	for (unsigned i = 0; i < a->nb_urrs; i++) {
		struct upf_report e = {
			.id = s->id,
			.kind = UPF_REPORT_CHECKPOINT,
			.more = i + 1U < a->nb_urrs,
		};

		write_out(&e.usage, c, &a->urrs[i], &a->urrs[i].usage, now_ns);
		if (plain)
			add_lanes(&e.usage, a, now_ns);
		else if (a->urrs[i].flags & UPF_URR_HAS_PART)
			add_part(&e.usage, c, a->urrs[i].more);
		upf_report_put(c->reports, &e);
	}
}

/* Sessions whose time has come; @return how many. */
static unsigned
pop_due(struct upf_charger *c, struct upf_session **due, unsigned max, uint32_t now_ms)
{
	const uint64_t after_ms = RTE_MIN(c->checkpoint_ns / AP_NS_PER_MS, CHECKPOINT_MS_MAX);
	unsigned nb = 0;

	while (nb < max && c->dirty_head != c->dirty_tail) {
		const uint64_t e = c->dirty[c->dirty_head & c->dirty_mask];

		if ((uint16_t)(now_ms - (e >> 48)) < after_ms)
			break;
		c->dirty_head++;
		due[nb] = (struct upf_session *)(uintptr_t)(e & POINTER_MASK);
		rte_prefetch0(due[nb]);
		rte_prefetch0(&due[nb]->inline_lanes[0]);
		rte_prefetch0(&due[nb++]->inline_lanes[1]);
	}
	return nb;
}

uint64_t
upf_urr_checkpoint_ns(const struct upf_charger *c, uint64_t now_ns)
{
	const uint64_t after_ms = RTE_MIN(c->checkpoint_ns / AP_NS_PER_MS, CHECKPOINT_MS_MAX);
	uint64_t now_ms = now_ns / AP_NS_PER_MS;
	uint16_t age_ms;

	if (c->dirty_head == c->dirty_tail)
		return UINT64_MAX;
	age_ms = (uint16_t)(now_ms - (c->dirty[c->dirty_head & c->dirty_mask] >> 48));
	return (now_ms - age_ms + after_ms) * AP_NS_PER_MS;
}

static void
prefetch(const void *p, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(RTE_PTR_ADD(p, at));
}

unsigned
upf_urr_checkpoints(struct upf_charger *c, unsigned max, uint64_t now_ns)
{
	const uint32_t now_ms = (uint32_t)(now_ns / AP_NS_PER_MS);
	struct upf_session *due[CHECKPOINT_BATCH];
	unsigned nb, done = 0, room;

	if (c->dirty_head == c->dirty_tail)
		return 0;
	/* A quarter is kept for reports, which matter more than being late. */
	room = rte_ring_free_count(c->reports);
	room -= RTE_MIN(room, rte_ring_get_capacity(c->reports) / 4);
	nb = pop_due(c, due, RTE_MIN(RTE_MIN(max, room), CHECKPOINT_BATCH), now_ms);
	for (unsigned i = 0; i < nb; i++)
		if (due[i]->flags & UPF_SESSION_DIRTY)
			prefetch(due[i]->rules, sizeof(struct upf_accounts));
	for (unsigned i = 0; i < nb; i++)
		if (due[i]->flags & UPF_SESSION_DIRTY)
			prefetch(upf_accounts_of(due[i])->urrs, sizeof(struct upf_urr));
	for (unsigned i = 0; i < nb; i++) {
		struct upf_session *s = due[i];

		if (!(s->flags & UPF_SESSION_DIRTY))
			continue;
		s->flags &= (uint8_t)~UPF_SESSION_DIRTY;
		if (upf_accounts_of(s)->nb_urrs > room) {
			upf_urr_dirty(c, s, now_ms);
			continue;
		}
		room -= upf_accounts_of(s)->nb_urrs;
		checkpoint(c, s, now_ns);
		done++;
	}
	return done;
}
