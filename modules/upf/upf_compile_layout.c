/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the one allocation of struct upf_rules; its making and its end. */
#include <string.h>

#include <rte_common.h>

#include "modules/upf/upf_compile_internal.h"

/* The next `nb` of `size` octets, or where they would be when there is no memory yet. */
static void *
place(uint8_t *base, size_t *at, size_t nb, size_t size)
{
	void *p = base && nb ? base + *at : NULL;

	*at += RTE_ALIGN_CEIL(nb * size, sizeof(uint64_t));
	return p;
}

/* Whether a PDR has URRs that count before and others that count after its QERs. */
static bool
counts_twice(const UpfSession *m)
{
	for (size_t i = 0; i < m->n_pdrs; i++) {
		bool kind[2] = {false, false};

		for (size_t k = 0; k < m->pdrs[i]->n_urr_ids; k++)
			for (size_t u = 0; u < m->n_urrs; u++)
				if (m->urrs[u]->id == m->pdrs[i]->urr_ids[k])
					kind[m->urrs[u]->before_qos] = true;
		if (kind[0] && kind[1])
			return true;
	}
	return false;
}

/* Whether all PDRs of a QER can have its buckets in their lanes: one a direction, without another
 * QER. */
static bool
is_in_lanes(const UpfSession *m, uint32_t qer_id)
{
	unsigned nb[2] = {0, 0};

	for (size_t i = 0; i < m->n_pdrs; i++)
		for (size_t k = 0; k < m->pdrs[i]->n_qer_ids; k++)
			if (m->pdrs[i]->qer_ids[k] == qer_id) {
				nb[(unsigned)m->pdrs[i]->source == UPF_ACCESS]++;
				if (m->pdrs[i]->n_qer_ids > 1)
					return false;
			}
	return nb[0] <= 1 && nb[1] <= 1;
}

static void
ethernet_fill(const struct upf_work *w, struct upf_ethernet *e, uint16_t *first,
	      struct upf_ethernet_rule *rules)
{
	const size_t nb = w->m->n_pdrs;

	memcpy(first, w->ethernet_first, (nb + 1) * sizeof(*first));
	if (rules != NULL)
		memcpy(rules, w->ethernet_rules, first[nb] * sizeof(*rules));
	e->first = first;
	e->rules = rules;
	e->age_s = w->m->mac_age_s ? w->m->mac_age_s : UPF_MAC_AGE_S;
	e->tell_s = RTE_MIN(RTE_MAX(e->age_s / 3, 1U), (uint32_t)UPF_MAC_TELL_S);
}

/* Octets for what a FAR answers HTTP requests with. */
static size_t
redirect_bytes(const UpfFar *m)
{
	return upf_far_redirects(m) ? UPF_REDIRECT_TEXT_MAX : 0;
}

/* @return octets of it all; pointers are set when there is memory at `r` */
static size_t
lay_out(const struct upf_work *w, bool twice, struct upf_rules *r)
{
	const UpfSession *m = w->m;
	struct upf_rules none;
	uint8_t *base = (uint8_t *)r;
	size_t at = RTE_ALIGN_CEIL(sizeof(*r), sizeof(uint64_t));

	r = r ? r : &none;
	r->groups = place(base, &at, w->nb_groups, sizeof(*r->groups));
	r->accounts.urrs = place(base, &at, m->n_urrs, sizeof(*r->accounts.urrs));
	r->pdrs = place(base, &at, m->n_pdrs, sizeof(*r->pdrs));
	r->fars = place(base, &at, m->n_fars, sizeof(*r->fars));
	r->qers = place(base, &at, m->n_qers, sizeof(*r->qers));
	r->bars = place(base, &at, m->n_bars, sizeof(*r->bars));
	if (m->ethernet) {
		void *first = place(base, &at, m->n_pdrs + 1, sizeof(w->ethernet_first[0]));
		void *rules = place(base, &at, w->ethernet_first[m->n_pdrs],
				    sizeof(w->ethernet_rules[0]));

		r->ethernet = place(base, &at, 1, sizeof(*r->ethernet));
		if (base)
			ethernet_fill(w, r->ethernet, first, rules);
	}
	r->framed = place(base, &at, w->nb_framed, sizeof(*r->framed));
	r->accounts.before = place(base, &at, twice ? m->n_pdrs : 0, sizeof(*r->accounts.before));
	for (size_t i = 0; i < m->n_fars; i++) {
		void *p = place(base, &at, m->fars[i]->n_duplicates, sizeof(struct upf_forwarding));

		if (base)
			r->fars[i].duplicates = p;
		p = place(base, &at, redirect_bytes(m->fars[i]), 1);
		if (base)
			r->fars[i].redirect = p;
	}
	for (size_t i = 0; i < m->n_qers; i++) {
		void *p = place(base, &at, m->qers[i]->gbr != NULL, sizeof(struct upf_gbr));

		if (base)
			r->qers[i].gbr = p;
		p = place(base, &at, is_in_lanes(m, m->qers[i]->id) ? 0 : 2,
			  sizeof(struct rte_meter_srtcm));
		if (base)
			r->qers[i].meter = p;
	}
	for (size_t i = 0; i < m->n_urrs; i++) {
		void *p = place(base, &at, upf_urr_wants_more(m->urrs[i]),
				sizeof(struct upf_urr_more));

		if (base)
			r->accounts.urrs[i].more = p;
	}
	/* Last, octets that need no alignment behind what needs four. */
	r->tunnels = base ? (void *)(base + at) : NULL;
	at += m->n_tunnels * sizeof(*r->tunnels);
	if (base)
		memcpy(base + at, w->group_lanes, w->nb_group_lanes);
	for (unsigned i = 0; base && i < w->nb_groups; i++)
		r->groups[i].lanes = base + at + w->groups[i].first;
	return at + w->nb_group_lanes;
}

/* A group of one lane has any step. */
static void
group_step(struct upf_group *g)
{
	const int step = g->nb_lanes > 1 ? g->lanes[1] - g->lanes[0] : 1;

	for (unsigned i = 1; i < g->nb_lanes; i++)
		if (g->lanes[i] - g->lanes[i - 1] != step)
			return;
	g->first = g->lanes[0];
	g->step = (uint8_t)step;
}

static size_t
lanes_bytes(size_t nb)
{
	return RTE_MAX(nb, (size_t)UPF_INLINE_LANES) * sizeof(struct upf_lane);
}

/* The rules without what refers to other rules. The groups' filter sets are theirs from now on. */
static struct upf_rules *
make(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;
	const UpfSession *m = w->m;
	bool twice = counts_twice(m);
	size_t bytes = lay_out(w, twice, NULL);
	struct upf_rules *r = ap_slab_alloc(c->slab, bytes);

	if (!r)
		return NULL;
	lay_out(w, twice, r);
	r->bytes = (uint32_t)bytes;
	r->lanes = ap_slab_alloc(c->slab, lanes_bytes(m->n_pdrs));
	if (!r->lanes) {
		ap_slab_free(c->slab, r, bytes);
		return NULL;
	}
	r->id = m->id;
	r->handle = m->handle;
	r->version = m->version;
	memcpy(r->ue_ip4, w->ip4, sizeof(r->ue_ip4));
	memcpy(r->ue_ip6, w->ip6, sizeof(r->ue_ip6));
	r->ue_ip6_bits = w->ip6_bits;
	r->core_interface = (uint8_t)m->core_interface;
	r->nb_lanes = (uint16_t)m->n_pdrs;
	r->nb_fars = (uint16_t)m->n_fars;
	r->nb_qers = (uint16_t)m->n_qers;
	r->nb_bars = (uint16_t)m->n_bars;
	r->nb_tunnels = (uint16_t)m->n_tunnels;
	r->nb_groups = (uint16_t)w->nb_groups;
	r->nb_framed = (uint16_t)w->nb_framed;
	r->accounts.nb_urrs = (uint16_t)m->n_urrs;
	r->accounts.nb_pdrs = (uint16_t)m->n_pdrs;
	r->accounts.pdrs = r->pdrs;
	r->accounts.inactivity_ns = m->inactivity_s * 1000000000ULL;
	if (w->nb_framed > 0)
		memcpy(r->framed, w->framed, w->nb_framed * sizeof(*r->framed));
	for (unsigned i = 0; i < w->nb_groups; i++) {
		r->groups[i].filters = w->groups[i].filters;
		r->groups[i].teid = w->groups[i].teid;
		r->groups[i].interfaces = w->groups[i].interfaces;
		r->groups[i].nb_lanes = w->groups[i].nb;
		group_step(&r->groups[i]);
		r->groups[i].reads = w->groups[i].reads;
		r->groups[i].flow = w->groups[i].flow;
		r->groups[i].uplink =
			(unsigned)w->pdrs[r->groups[i].lanes[0]]->source == UPF_ACCESS;
		r->reads |= w->groups[i].flow ? w->groups[i].reads : 0;
	}
	for (size_t i = 0; i < m->n_urrs; i++)
		r->tells |= (m->urrs[i]->triggers & (UPF_TRIGGER_START | UPF_TRIGGER_STOPT)) != 0;
	for (size_t i = 0; i < m->n_tunnels; i++)
		r->tunnels[i] = (struct upf_tunnel){.teid = m->tunnels[i]->teid,
						    .interface = (uint8_t)m->tunnels[i]->interface,
						    .foreign = m->tunnels[i]->foreign};
	return r;
}

static void
put_groups(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;

	for (unsigned i = 0; i < w->nb_groups; i++)
		if (w->groups[i].filters)
			upf_filter_put(c->sets, w->groups[i].filters);
}

struct upf_rules *
upf_compile(struct upf_compiler *c, const UpfSession *m, struct upf_compile_error *e)
{
	struct upf_work *w = &c->work;
	struct upf_rules *r;

	*e = (struct upf_compile_error){0};
	w->m = m;
	w->e = e;
	w->nb_groups = 0;
	if (upf_compile_check(c) < 0)
		return NULL;
	if ((m->ethernet && upf_compile_ethernet(c) < 0) || upf_compile_groups(c) < 0) {
		put_groups(c);
		return NULL;
	}
	r = make(c);
	if (!r) {
		put_groups(c);
		upf_refuse_memory(w);
		return NULL;
	}
	if (upf_compile_fars(c, r) < 0 || upf_compile_qers(c, r) < 0 ||
	    upf_compile_urrs(c, r) < 0 || upf_compile_pdrs(c, r) < 0) {
		upf_rules_free(c, r);
		return NULL;
	}
	if (!m->ethernet)
		upf_compile_only(c, r);
	return r;
}

static void
put_peer(struct upf_compiler *c, const struct upf_forwarding *f)
{
	if (f->peer != 0)
		c->c.peer_put(c->c.arg, f->peer);
}

void
upf_rules_free(struct upf_compiler *c, struct upf_rules *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->nb_fars; i++) {
		put_peer(c, &r->fars[i].to);
		for (unsigned k = 0; k < r->fars[i].nb_duplicates; k++)
			put_peer(c, &r->fars[i].duplicates[k]);
	}
	for (unsigned i = 0; i < r->nb_qers; i++)
		for (unsigned d = UPF_UL; d <= UPF_DL; d++) {
			struct upf_qer *qer = &r->qers[i];

			if (qer->profile[d])
				upf_profile_put(c->profiles, qer->profile[d]);
			if (qer->gbr && qer->gbr->profile[d])
				upf_profile_put(c->profiles, qer->gbr->profile[d]);
		}
	for (unsigned i = 0; i < r->nb_groups; i++)
		if (r->groups[i].filters)
			upf_filter_put(c->sets, r->groups[i].filters);
	ap_slab_free(c->slab, r->lanes, lanes_bytes(r->nb_lanes));
	ap_slab_free(c->slab, r, r->bytes);
}

void
upf_rules_installed(struct upf_compiler *c, struct upf_lane *spent)
{
	ap_slab_free(c->slab, spent, lanes_bytes(UPF_INLINE_LANES));
}
