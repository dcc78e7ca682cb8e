/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "modules/upf/upf_apply.h"
#include "modules/upf/upf_ethernet.h"

static bool
is_own_slot(const struct upf_rules *r, const struct upf_tunnel *t)
{
	return upf_teid_slot(t->teid) == upf_teid_slot(r->handle) &&
	       upf_teid_bucket(t->teid) == upf_teid_bucket(r->handle);
}

/* --- what goes on ----------------------------------------------------------------------------- */

static enum upf_direction
direction_of(const struct upf_lane *lane)
{
	return lane->flags & UPF_LANE_DOWN ? UPF_DL : UPF_UL;
}

/* The lane that has the bucket of a QER in a direction, or NULL. */
static struct upf_lane *
lane_of_qer(const struct upf_rules *r, struct upf_lane *lanes, unsigned qer, enum upf_direction d)
{
	for (unsigned i = 0; i < r->nb_lanes; i++) {
		if (!(lanes[i].flags & UPF_LANE_METER) || direction_of(&lanes[i]) != d)
			continue;
		for (unsigned k = 0; k < r->pdrs[i].nb_qers; k++)
			if (r->pdrs[i].qers[k] == qer &&
			    lanes[i].profile == r->qers[qer].profile[d])
				return &lanes[i];
	}
	return NULL;
}

/* Where a QER's bucket of the MBR is, whatever kind it is of. */
struct bucket {
	uint64_t *time, *tokens;
	uint64_t *committed_time, *committed; /* with a GBR, else NULL */
	uint64_t full, committed_full;
};

static struct bucket
bucket_of(const struct upf_rules *r, struct upf_lane *lanes, unsigned i, enum upf_direction d)
{
	struct upf_qer *qer = &r->qers[i];
	struct rte_meter_srtcm *meter;
	struct upf_lane *lane;

	if (qer->gbr && qer->gbr->profile[d]) {
		struct rte_meter_trtcm *m = &qer->gbr->meter[d];

		return (struct bucket){&m->time_tp,
				       &m->tp,
				       &m->time_tc,
				       &m->tc,
				       qer->gbr->profile[d]->pbs,
				       qer->gbr->profile[d]->cbs};
	}
	if (!qer->profile[d])
		return (struct bucket){0};
	lane = lane_of_qer(r, lanes, i, d);
	if (lane)
		meter = &lane->meter;
	else if (qer->meter)
		meter = &qer->meter[d];
	else
		return (struct bucket){0}; /* no PDR of the direction */
	return (struct bucket){
		.time = &meter->time, .tokens = &meter->tc, .full = qer->profile[d]->cbs};
}

static void
fill(struct bucket *b, uint64_t now_ns)
{
	*b->time = now_ns;
	*b->tokens = b->full;
	if (b->committed) {
		*b->committed_time = now_ns;
		*b->committed = b->committed_full;
	}
}

/* Tokens stay, so that a modification grants no burst; a smaller burst takes the excess. */
static void
pour(struct bucket *to, const struct bucket *from)
{
	*to->time = *from->time;
	*to->tokens = RTE_MIN(*from->tokens, to->full);
	if (to->committed && from->committed) {
		*to->committed_time = *from->committed_time;
		*to->committed = RTE_MIN(*from->committed, to->committed_full);
	}
}

static void
carry_meters(const struct upf_rules *now, struct upf_lane *lanes, const struct upf_rules *old,
	     struct upf_lane *old_lanes, uint64_t now_ns)
{
	for (unsigned i = 0; i < now->nb_qers; i++) {
		int was = old ? upf_rules_find_qer(old, now->qers[i].id) : -1;

		for (unsigned d = UPF_UL; d <= UPF_DL; d++) {
			struct bucket to = bucket_of(now, lanes, i, d), from = {0};

			if (!to.tokens)
				continue;
			if (was >= 0)
				from = bucket_of(old, old_lanes, (unsigned)was, d);
			fill(&to, now_ns);
			if (from.tokens)
				pour(&to, &from);
			if (was >= 0 && now->qers[i].gbr && old->qers[was].gbr)
				now->qers[i].gbr->yellow[d] = old->qers[was].gbr->yellow[d];
		}
	}
}

/* --- slots ------------------------------------------------------------------------------------ */

/* Whether all slots are free or this session's. */
int
upf_apply_check(const struct upf_tables *t, const struct upf_rules *r)
{
	struct upf_session *s = upf_slot(t, r->handle);

	if (!s)
		return -EINVAL;
	if (s->id != 0 && (s->id != r->id || s->handle != r->handle))
		return -EEXIST;
	for (unsigned i = 0; i < r->nb_tunnels; i++) {
		const struct upf_session *a;

		if (r->tunnels[i].foreign)
			continue;
		a = upf_slot(t, r->tunnels[i].teid);
		if (!a)
			return -EINVAL;
		if (a == s || a->id == 0)
			continue;
		if (!(a->flags & UPF_SESSION_ALIAS) || a->of != s)
			return -EEXIST;
	}
	return 0;
}

static void
clear_aliases(const struct upf_tables *t, const struct upf_rules *r)
{
	for (unsigned i = 0; i < r->nb_tunnels; i++) {
		struct upf_session *a = upf_slot(t, r->tunnels[i].teid);

		if (!r->tunnels[i].foreign && !is_own_slot(r, &r->tunnels[i]))
			memset(a, 0, offsetof(struct upf_session, inline_lanes));
	}
}

static void
set_tunnel(struct upf_session *a, const struct upf_tunnel *t)
{
	a->generation = (uint8_t)upf_teid_generation(t->teid);
	a->only_up = t->only;
	a->only_qfi = t->only_qfi;
	a->up_interfaces = t->interfaces;
	a->flags |= t->flow ? UPF_SESSION_FLOW_UP : 0;
}

static void
set_tunnels(const struct upf_tables *t, struct upf_session *s, const struct upf_rules *r)
{
	s->generation = 0; /* no TEID has it */
	s->only_up = 0;
	s->up_interfaces = 0;
	for (unsigned i = 0; i < r->nb_tunnels; i++) {
		struct upf_session *a = upf_slot(t, r->tunnels[i].teid);

		if (r->tunnels[i].foreign)
			continue;
		if (!is_own_slot(r, &r->tunnels[i])) {
			a->id = r->id;
			a->handle = r->handle;
			a->of = s;
			a->flags = UPF_SESSION_ALIAS;
			/* So that a source can be checked, and a lane found, without the session.
			 */
			a->ue_ip4 = s->ue_ip4;
			a->ue_ip6 = s->ue_ip6;
			a->lanes = s->lanes;
			a->nb_lanes = s->nb_lanes;
		}
		set_tunnel(a, &r->tunnels[i]);
	}
}

static uint8_t
flags_of(const struct upf_rules *r)
{
	return (uint8_t)((r->accounts.inactivity_ns ? UPF_SESSION_INACTIVITY : 0) |
			 (r->flow_down ? UPF_SESSION_FLOW_DOWN : 0) |
			 (r->reads & UPF_READS_TOS ? UPF_SESSION_READS_TOS : 0) |
			 (r->reads & UPF_READS_QFI ? UPF_SESSION_READS_QFI : 0) |
			 (r->reads & UPF_READS_LABEL ? UPF_SESSION_READS_LABEL : 0));
}

/* Line 0, from the rules. */
static void
set_session(struct upf_session *s, struct upf_rules *r)
{
	s->id = r->id;
	s->handle = r->handle;
	memcpy(&s->ue_ip4, r->ue_ip4, sizeof(s->ue_ip4));
	memcpy(&s->ue_ip6, r->ue_ip6, sizeof(s->ue_ip6));
	s->rules = r;
	s->stamp++;
	s->nb_lanes = (uint8_t)r->nb_lanes;
	s->only_down = r->only_down;
	s->down_interfaces = r->down_interfaces;
	s->flags = (uint8_t)((s->flags & UPF_SESSION_DIRTY) | flags_of(r));
	r->accounts.session = s;
}

/* The lanes of few PDRs move into the session. @return what then is of no use */
static struct upf_lane *
set_lanes(struct upf_session *s, struct upf_rules *r)
{
	struct upf_lane *spent = r->lanes;

	if (r->nb_lanes > UPF_INLINE_LANES) {
		s->lanes = r->lanes;
		return NULL;
	}
	memcpy(s->inline_lanes, r->lanes, r->nb_lanes * sizeof(struct upf_lane));
	s->lanes = s->inline_lanes;
	r->lanes = NULL;
	return spent;
}

/* A session may turn from IP to Ethernet: whatever it was ends. */
static void
set_ethernet(struct upf_tables *t, struct upf_session *s, struct upf_rules *r,
	     struct upf_rules *old)
{
	if (r->ethernet)
		upf_ethernet_join(r->ethernet, s, old ? old->ethernet : NULL, &t->ethernet);
	else if (old && old->ethernet)
		upf_ethernet_leave(old->ethernet);
}

/* A slot's next session has another stamp, should its handle be an old one's. */
static void
begin(struct upf_tables *t, struct upf_session *s)
{
	memset(s, 0, offsetof(struct upf_session, inline_lanes));
	s->stamp = t->stamps++;
	t->sessions++;
}

int
upf_apply_set(struct upf_tables *t, struct upf_rules *r, struct upf_charger *charger,
	      uint64_t now_ns, struct upf_applied *out)
{
	struct upf_session *s = upf_slot(t, r->handle);
	int ret = upf_apply_check(t, r);
	struct upf_rules *old;

	if (ret < 0)
		return ret;
	old = s->id != 0 ? s->rules : NULL;
	if (old)
		upf_urr_leave(&old->accounts, now_ns);
	else
		begin(t, s);
	carry_meters(r, r->lanes, old, s->lanes, now_ns);
	if (old) {
		clear_aliases(t, old);
		r->nb_flows = old->nb_flows;
	}
	*out = (struct upf_applied){.session = s, .old = old, .spent = set_lanes(s, r)};
	set_session(s, r);
	set_tunnels(t, s, r);
	set_ethernet(t, s, r, old);
	upf_urr_start(&r->accounts, charger, old ? &old->accounts : NULL, now_ns);
	return 0;
}

int
upf_apply_delete(struct upf_tables *t, uint32_t handle, uint64_t id, uint64_t now_ns,
		 struct upf_applied *out)
{
	struct upf_session *s = upf_by_handle(t, handle);

	if (!s || s->id != id)
		return -ENOENT;
	*out = (struct upf_applied){.old = s->rules};
	upf_urr_leave(&s->rules->accounts, now_ns);
	clear_aliases(t, s->rules);
	if (s->rules->ethernet)
		upf_ethernet_leave(s->rules->ethernet);
	memset(s, 0, offsetof(struct upf_session, inline_lanes));
	t->sessions--;
	return 0;
}
