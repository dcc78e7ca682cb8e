/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_ethernet.h"

#include <string.h>

#include "codec/ip.h"
#include "modules/upf/upf_pdi.h"
#include "modules/upf/upf_report.h"
#include "modules/upf/upf_rules.h"

/** What rules look at. */
struct look {
	struct upf_frame frame;
	struct upf_packet packet;
	bool ip; /**< `packet` is filled in */
};

static bool
in(uint64_t mac, const uint64_t range[2])
{
	return mac >= range[0] && mac <= range[1];
}

static bool
rule_matches(const struct upf_ethernet_rule *r, const struct look *l)
{
	const struct upf_frame *f = &l->frame;

	if (!in(f->src, r->src) || !in(f->dst, r->dst))
		return false;
	if (r->flags & UPF_ETHERNET_TYPE && r->type != f->type)
		return false;
	if (r->flags & UPF_ETHERNET_C_TAG && (!f->has_c || (f->c_tag ^ r->c_tag) & r->c_mask))
		return false;
	if (r->flags & UPF_ETHERNET_S_TAG && (!f->has_s || (f->s_tag ^ r->s_tag) & r->s_mask))
		return false;
	return !(r->flags & UPF_ETHERNET_IP) ||
	       (l->ip && upf_filter_rule_match(&r->ip, &l->packet));
}

static bool
lane_matches(const struct upf_ethernet *e, unsigned lane, const struct look *l)
{
	if (e->first[lane] == e->first[lane + 1])
		return true;
	for (unsigned i = e->first[lane]; i < e->first[lane + 1]; i++)
		if (rule_matches(&e->rules[i], l))
			return true;
	return false;
}

static const struct upf_group *
group_of(const struct upf_rules *r, const struct upf_arrival *a)
{
	const uint32_t teid = a->rx & UPF_RX_TUNNEL ? a->teid : 0;

	for (unsigned i = 0; i < r->nb_groups; i++)
		if (r->groups[i].teid == teid && r->groups[i].interfaces >> a->interface & 1)
			return &r->groups[i];
	return NULL;
}

static bool
look_at(const struct upf_arrival *a, const uint8_t *p, uint32_t len, struct look *l)
{
	if (!upf_frame_read(p, len, &l->frame))
		return false;
	l->packet = (struct upf_packet){.qfi = a->rx & UPF_RX_QFI ? a->qfi : UPF_NO_QFI};
	l->ip = (l->frame.type == ETH_TYPE_IP4 || l->frame.type == ETH_TYPE_IP6) &&
		flow_decode(p + l->frame.at, len - l->frame.at, &l->packet.flow) >= 0 &&
		l->packet.flow.version == (l->frame.type == ETH_TYPE_IP4 ? 4 : 6);
	return true;
}

int
upf_ethernet_lane(const struct upf_session *s, const struct upf_arrival *a, const uint8_t *p,
		  uint32_t len)
{
	const struct upf_rules *r = s->rules;
	const struct upf_group *g = group_of(r, a);
	int miss = UPF_MISS_NO_PDR;
	struct look l;

	if (!look_at(a, p, len, &l))
		return UPF_MISS_BAD_INNER;
	for (unsigned i = 0; g != NULL && i < g->nb_lanes; i++) {
		const unsigned lane = g->lanes[i];
		const uint64_t qfis = r->pdrs[lane].qfis;

		if (!lane_matches(r->ethernet, lane, &l))
			continue;
		if (qfis == 0 || (a->rx & UPF_RX_QFI && qfis >> a->qfi & 1))
			return (int)lane;
		miss = UPF_MISS_QFI;
	}
	return miss;
}

/* --- addresses -------------------------------------------------------------------------------- */

/** The address's place, or one that is free or of an address forgotten by now; NULL: all in use. */
static struct upf_mac *
place_of(struct upf_ethernet *e, uint64_t key, uint32_t now_s)
{
	struct upf_mac *free = NULL;

	for (unsigned i = 0; i < UPF_MACS_MAX; i++) {
		struct upf_mac *m = &e->macs[i];

		if (m->key == key)
			return m;
		if (free == NULL && (m->key == 0 || now_s - m->told_s > e->age_s))
			free = m;
	}
	return free;
}

bool
upf_ethernet_learn(struct upf_ethernet *e, uint64_t key, uint32_t now_s, struct rte_ring *reports,
		   struct upf_recent *recent)
{
	const struct upf_report r = {
		.id = e->session->id, .kind = UPF_REPORT_MAC, .mac = {.key = key}};
	struct upf_mac *m = place_of(e, key, now_s);
	const unsigned at = recent->nb % UPF_RECENT;

	if (m == NULL)
		return false;
	if (m->key == key && now_s - m->told_s < e->tell_s)
		return true;
	/* A ring that is full is tried again with the next frame. */
	if (!upf_report_put(reports, &r))
		return true;
	*m = (struct upf_mac){.key = key, .told_s = now_s};
	recent->macs[at].key = key;
	recent->macs[at].handle = e->session->handle;
	recent->macs[at].interface = e->session->rules->core_interface;
	recent->nb++;
	return true;
}

void
upf_ethernet_join(struct upf_ethernet *e, struct upf_session *s, struct upf_ethernet *old,
		  struct upf_ethernet **head)
{
	if (old != NULL) {
		memcpy(e->macs, old->macs, sizeof(e->macs));
		upf_ethernet_leave(old);
	}
	e->session = s;
	e->next = *head;
	e->at = head;
	if (e->next != NULL)
		e->next->at = &e->next;
	*head = e;
}

void
upf_ethernet_leave(struct upf_ethernet *e)
{
	*e->at = e->next;
	if (e->next != NULL)
		e->next->at = e->at;
}
