/* SPDX-License-Identifier: BSD-3-Clause */
/* PDRs and their lanes: what a packet's one cache line says. */
#include "modules/upf/upf_compile_internal.h"

static enum upf_direction
direction_of(const struct upf_pdr *pdr)
{
	return pdr->source == UPF_ACCESS ? UPF_UL : UPF_DL;
}

static int
resolve(struct upf_compiler *c, const struct upf_rules *r, const UpfPdr *m, struct upf_pdr *pdr)
{
	struct upf_work *w = &c->work;
	int at = upf_rules_find_far(r, m->far_id);

	if (at < 0)
		return upf_refuse(w, UPF_KIND(PDR), m->id, "its FAR is not there");
	pdr->far = (uint8_t)at;
	if (m->n_qer_ids > UPF_PDR_QERS_MAX || m->n_urr_ids > UPF_PDR_URRS_MAX)
		return upf_refuse(w, UPF_KIND(PDR), m->id, "it names too many QERs or URRs");
	for (size_t i = 0; i < m->n_qer_ids; i++) {
		at = upf_rules_find_qer(r, m->qer_ids[i]);
		if (at < 0)
			return upf_refuse(w, UPF_KIND(PDR), m->id, "a QER of its is not there");
		pdr->qers[pdr->nb_qers++] = (uint8_t)at;
	}
	for (size_t i = 0; i < m->n_urr_ids; i++) {
		at = upf_rules_find_urr(r, m->urr_ids[i]);
		if (at < 0)
			return upf_refuse(w, UPF_KIND(PDR), m->id, "a URR of its is not there");
		pdr->urrs[pdr->nb_urrs++] = (uint8_t)at;
	}
	return 0;
}

static int
compile_pdr(struct upf_compiler *c, const struct upf_rules *r, unsigned i, struct upf_pdr *pdr)
{
	const UpfPdr *m = c->work.pdrs[i];

	pdr->id = (uint16_t)m->id;
	pdr->precedence = m->precedence;
	pdr->source = (uint8_t)m->source;
	pdr->interface = (uint8_t)m->interface;
	pdr->teid = m->tunnel ? c->work.m->tunnels[m->tunnel - 1]->teid : 0;
	pdr->match_source = m->match_ue_source;
	pdr->match_destination = m->match_ue_destination;
	pdr->match_ip4 = m->match_ip4;
	pdr->match_ip6 = m->match_ip6;
	pdr->outer_removal = m->outer_header_removal;
	pdr->remove_extension = m->remove_extension;
	pdr->qfis = m->qfis;
	pdr->app = (uint16_t)m->application;
	if (resolve(c, r, m, pdr) < 0)
		return -1;
	pdr->out_interface = r->fars[pdr->far].to.interface;
	pdr->qfi = UPF_NO_QFI;
	for (unsigned k = 0; k < pdr->nb_qers && pdr->qfi == UPF_NO_QFI; k++)
		pdr->qfi = r->qers[pdr->qers[k]].qfi;
	return 0;
}

static bool
limits(const struct upf_qer *qer, enum upf_direction d)
{
	return qer->profile[d] || (qer->gbr && qer->gbr->profile[d]);
}

static unsigned
pdrs_with_qer(const struct upf_rules *r, unsigned qer, enum upf_direction d)
{
	unsigned nb = 0;

	for (unsigned i = 0; i < r->nb_lanes; i++)
		for (unsigned k = 0; k < r->pdrs[i].nb_qers; k++)
			nb += r->pdrs[i].qers[k] == qer && direction_of(&r->pdrs[i]) == d;
	return nb;
}

/* The lane has the bucket of the one QER that limits its PDR, if that limits no other of the
 * direction and has no GBR; else all QERs are gone through. */
static void
compile_qos(const struct upf_rules *r, const struct upf_pdr *pdr, struct upf_lane *lane)
{
	enum upf_direction d = direction_of(pdr);
	unsigned nb = 0, one = 0;

	for (unsigned k = 0; k < pdr->nb_qers; k++) {
		const struct upf_qer *qer = &r->qers[pdr->qers[k]];

		lane->flags |= qer->closed[d] ? UPF_LANE_GATE_CLOSED : 0;
		lane->flags |= qer->rqi ? UPF_LANE_RQI : 0;
		if (limits(qer, d)) {
			nb++;
			one = pdr->qers[k];
		}
	}
	if (nb == 0)
		return;
	if (nb == 1 && r->qers[one].profile[d] && pdrs_with_qer(r, one, d) == 1) {
		lane->flags |= UPF_LANE_METER;
		lane->profile = r->qers[one].profile[d];
	} else {
		lane->flags |= UPF_LANE_MORE;
	}
}

static void
compile_lane(const struct upf_rules *r, unsigned i)
{
	const struct upf_pdr *pdr = &r->pdrs[i];
	struct upf_lane *lane = &r->lanes[i];

	upf_lane_take_far(lane, &r->fars[pdr->far]);
	lane->qfi = pdr->qfi;
	lane->flags |= direction_of(pdr) == UPF_DL ? UPF_LANE_DOWN : 0;
	lane->flags |= pdr->match_source ? UPF_LANE_CHECK_SOURCE : 0;
	lane->flags |= pdr->qfis == 0 ? UPF_LANE_ANY_QFI : 0;
	lane->flags |= r->accounts.before ? UPF_LANE_MORE : 0;
	lane->flags |= r->ethernet ? UPF_LANE_ETHERNET | UPF_LANE_MORE : 0;
	compile_qos(r, pdr, lane);
}

int
upf_compile_pdrs(struct upf_compiler *c, struct upf_rules *r)
{
	for (unsigned i = 0; i < r->nb_lanes; i++)
		if (compile_pdr(c, r, i, &r->pdrs[i]) < 0)
			return -1;
	for (unsigned i = 0; i < r->nb_lanes; i++)
		compile_lane(r, i);
	return 0;
}

/* --- no lookup -------------------------------------------------------------------------------- */

/* The only group of a TEID there is, if it has one PDR, without filters. @return lane or -1 */
static int
only_pdr(const struct upf_compiler *c, const struct upf_rules *r, uint32_t teid,
	 uint32_t interfaces, uint32_t *come_by)
{
	const struct upf_work *w = &c->work;
	int lane = -1;

	for (unsigned i = 0; i < w->nb_groups; i++) {
		const struct upf_new_group *g = &w->groups[i];

		if (g->teid != teid || !(g->interfaces & interfaces))
			continue;
		if (lane >= 0 || g->nb != 1 || !g->filters)
			return -1;
		lane = w->group_lanes[g->first];
		*come_by = g->interfaces;
	}
	if (lane < 0 || w->pdrs[lane]->n_filters != 0 || r->pdrs[lane].remove_extension)
		return -1;
	return lane;
}

/* Whether "the UE's address" is any address the session has. */
static bool
matches_whole_ue(const struct upf_work *w, const struct upf_pdr *pdr)
{
	return (!w->has_ip4 || pdr->match_ip4) && (!w->has_ip6 || pdr->match_ip6);
}

static void
only_of_tunnel(struct upf_compiler *c, struct upf_rules *r, struct upf_tunnel *t)
{
	const struct upf_work *w = &c->work;
	int i = only_pdr(c, r, t->teid, UINT32_MAX, &t->interfaces);
	const struct upf_pdr *pdr;

	if (i < 0)
		return;
	pdr = &r->pdrs[i];
	/* More than 254 lanes cannot be said; of a set of QFIs no single one can. */
	if (i >= UINT8_MAX || (pdr->qfis & (pdr->qfis - 1)) != 0 || pdr->match_destination)
		return;
	/* What upf_source_is_ue() can tell: the UE's own addresses, an IPv6 one by its /64. */
	if (pdr->match_source &&
	    (w->pdrs[i]->n_framed_routes != 0 || !matches_whole_ue(w, pdr) ||
	     (!w->has_ip4 && !w->has_ip6) || (w->has_ip6 && w->ip6_bits != 64)))
		return;
	t->only = (uint8_t)(i + 1);
	if (pdr->qfis != 0)
		t->only_qfi = (uint8_t)__builtin_ctzll(pdr->qfis);
}

static void
only_down(struct upf_compiler *c, struct upf_rules *r)
{
	const struct upf_work *w = &c->work;
	int i = only_pdr(c, r, 0, 1U << r->core_interface, &r->down_interfaces);
	const struct upf_pdr *pdr;

	if (i < 0 || i >= UINT8_MAX)
		return;
	pdr = &r->pdrs[i];
	if (pdr->qfis != 0 || pdr->match_source)
		return;
	/* Found by an address or framed route, so that it has to match any of these. */
	if (pdr->match_destination &&
	    (!matches_whole_ue(w, pdr) || w->pdrs[i]->n_framed_routes < r->nb_framed))
		return;
	r->only_down = (uint8_t)(i + 1);
}

/* --- lookups that are kept by flow ------------------------------------------------------------ */

/* The tunnel's first group that wants it; of another interface's line 0 says nothing. */
static void
flow_of_tunnel(const struct upf_rules *r, struct upf_tunnel *t)
{
	for (unsigned i = 0; i < r->nb_groups && !t->flow; i++) {
		if (r->groups[i].teid != t->teid || !r->groups[i].flow)
			continue;
		t->flow = true;
		t->only_qfi = (uint8_t)i;
		t->interfaces = r->groups[i].interfaces;
	}
}

static void
flow_down(struct upf_rules *r)
{
	const struct upf_group *g = r->groups;

	if (r->nb_groups == 0 || g->teid != 0 || !g->flow ||
	    !(g->interfaces >> r->core_interface & 1))
		return;
	r->flow_down = true;
	r->down_interfaces = g->interfaces;
}

void
upf_compile_only(struct upf_compiler *c, struct upf_rules *r)
{
	for (unsigned i = 0; i < r->nb_tunnels; i++) {
		r->tunnels[i].only_qfi = 0xFF;
		if (!(r->reads & UPF_READS_APP))
			only_of_tunnel(c, r, &r->tunnels[i]);
		if (r->tunnels[i].only == 0)
			flow_of_tunnel(r, &r->tunnels[i]);
	}
	if (r->core_interface != 0 && !(r->reads & UPF_READS_APP))
		only_down(c, r);
	if (r->core_interface != 0 && r->only_down == 0)
		flow_down(r);
}
