/* SPDX-License-Identifier: BSD-3-Clause */
/* PDRs to groups, and what their packets look like to rules of a filter set. */
#include <errno.h>
#include <string.h>

#include "codec/be.h"
#include "modules/upf/upf_compile_internal.h"

#define FAMILIES (UPF_FILTER_IP4 | UPF_FILTER_IP6)

/* Alternatives of one side: the UE's own address, or one framed route. */
struct side {
	uint8_t ue;       /* enum upf_packet_ue, or 0 */
	uint8_t families; /* Σ UPF_FILTER_IP4, UPF_FILTER_IP6 */
	uint32_t is[4], mask[4];
};

static void
mask_of(unsigned bits, uint32_t mask[4])
{
	for (unsigned i = 0; i<4; i++, bits = bits> 32 ? bits - 32 : 0)
		mask[i] = bits >= 32 ? UINT32_MAX : bits == 0 ? 0 : ~0U << (32 - bits);
}

/* @return 0, or -1 for no prefix */
static int
side_of_prefix(const UpfPrefix *p, struct side *s)
{
	*s = (struct side){.families = FAMILIES};
	if (!p)
		return 0;
	if ((p->address.len != 4 && p->address.len != 16) || p->bits > p->address.len * 8)
		return -1;
	s->families = p->address.len == 4 ? UPF_FILTER_IP4 : UPF_FILTER_IP6;
	mask_of(p->bits, s->mask);
	for (unsigned i = 0; i < p->address.len / 4; i++)
		s->is[i] = be32_get(p->address.data + 4 * (size_t)i) & s->mask[i];
	return 0;
}

/* Both must hold: of two prefixes the longer, if it lies in the other. @return whether any packet
 * can. */
static bool
both(const struct side *a, const struct side *b, struct side *out)
{
	out->ue = a->ue | b->ue;
	out->families = a->families & b->families;
	for (unsigned i = 0; i < 4; i++) {
		if (((a->is[i] ^ b->is[i]) & a->mask[i] & b->mask[i]) != 0)
			return false;
		out->mask[i] = a->mask[i] | b->mask[i];
		out->is[i] = a->is[i] | b->is[i];
	}
	return out->families != 0;
}

/* The n-th alternative of a side that must be the UE's. @return false: there are no more. */
static bool
ue_side(const struct upf_work *w, const UpfPdr *pdr, bool wanted, uint8_t ue, unsigned n,
	struct side *s)
{
	uint8_t families = (uint8_t)((pdr->match_ip4 && w->has_ip4 ? UPF_FILTER_IP4 : 0) |
				     (pdr->match_ip6 && w->has_ip6 ? UPF_FILTER_IP6 : 0));

	if (!wanted) {
		*s = (struct side){.families = FAMILIES};
		return n == 0;
	}
	if (families != 0 && n-- == 0) {
		*s = (struct side){.ue = ue, .families = families};
		return true;
	}
	return n < pdr->n_framed_routes && side_of_prefix(pdr->framed_routes[n], s) == 0;
}

static int
add_rule(struct upf_work *w, const UpfPdr *pdr, const struct upf_filter_rule *r)
{
	if (w->nb_filter_rules == UPF_FILTER_RULES_MAX)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "too many filters and port ranges");
	w->filter_rules[w->nb_filter_rules++] = *r;
	return 0;
}

static bool
ranges_are_good(UpfFilter *f)
{
	Airpath__Upf__V1__PortRange **of[2] = {f->source_ports, f->destination_ports};
	size_t nb[2] = {f->n_source_ports, f->n_destination_ports};

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < nb[side]; i++)
			if (of[side][i]->first > of[side][i]->last ||
			    of[side][i]->last > UINT16_MAX)
				return false;
	return true;
}

/* One rule for each pair of port ranges. */
static int
add_ports(struct upf_work *w, const UpfPdr *pdr, const UpfFilter *f, struct upf_filter_rule *r)
{
	size_t nb_src = f && f->n_source_ports ? f->n_source_ports : 1;
	size_t nb_dst = f && f->n_destination_ports ? f->n_destination_ports : 1;

	if (!f || (f->n_source_ports == 0 && f->n_destination_ports == 0))
		return add_rule(w, pdr, r);
	r->flags |= UPF_FILTER_PORTS;
	for (size_t s = 0; s < nb_src; s++)
		for (size_t d = 0; d < nb_dst; d++) {
			r->src_ports[0] =
				f->n_source_ports ? (uint16_t)f->source_ports[s]->first : 0;
			r->src_ports[1] =
				f->n_source_ports ? (uint16_t)f->source_ports[s]->last : UINT16_MAX;
			r->dst_ports[0] = f->n_destination_ports
						  ? (uint16_t)f->destination_ports[d]->first
						  : 0;
			r->dst_ports[1] = f->n_destination_ports
						  ? (uint16_t)f->destination_ports[d]->last
						  : UINT16_MAX;
			if (add_rule(w, pdr, r) < 0)
				return -1;
		}
	return 0;
}

/* A filter, or none, with one alternative of either side. */
static int
add_filter(struct upf_work *w, const UpfPdr *pdr, const UpfFilter *f, uint8_t order,
	   const struct side *src, const struct side *dst)
{
	struct upf_filter_rule r = {
		.qfis = pdr->qfis, .order = order, .app = (uint16_t)pdr->application};
	struct side fs, fd, s, d;
	uint8_t families;

	side_of_prefix(f ? f->source : NULL, &fs);
	side_of_prefix(f ? f->destination : NULL, &fd);
	if (!both(src, &fs, &s) || !both(dst, &fd, &d))
		return 0;
	families = s.families & d.families;
	if (f && f->match_flow_label)
		families &= UPF_FILTER_IP6;
	if (families == 0)
		return 0;
	memcpy(r.src, s.is, sizeof(r.src));
	memcpy(r.src_mask, s.mask, sizeof(r.src_mask));
	memcpy(r.dst, d.is, sizeof(r.dst));
	memcpy(r.dst_mask, d.mask, sizeof(r.dst_mask));
	r.ue = s.ue | d.ue;
	r.flags = families;
	if (f && f->protocol <= UINT8_MAX) {
		r.flags |= UPF_FILTER_PROTO;
		r.proto = (uint8_t)f->protocol;
	}
	if (f) {
		r.tos_mask = (uint8_t)f->tos_mask;
		r.tos = (uint8_t)(f->tos & f->tos_mask);
	}
	if (f && f->match_spi) {
		r.flags |= UPF_FILTER_SPI;
		r.spi = f->spi;
	}
	if (f && f->match_flow_label) {
		r.flags |= UPF_FILTER_FLOW_LABEL;
		r.flow_label = f->flow_label;
	}
	return add_ports(w, pdr, f, &r);
}

static int
check_filter(struct upf_work *w, const UpfPdr *pdr, UpfFilter *f)
{
	struct side s;

	if (side_of_prefix(f->source, &s) < 0 || side_of_prefix(f->destination, &s) < 0)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "a filter's prefix is none");
	if (f->protocol > 256 || f->tos > UINT8_MAX || f->tos_mask > UINT8_MAX ||
	    f->flow_label > 0xFFFFF || !ranges_are_good(f))
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "a filter's number is out of range");
	return 0;
}

int
upf_compile_filters(struct upf_work *w, unsigned i, uint8_t order)
{
	const UpfPdr *pdr = w->pdrs[i];
	size_t nb = pdr->n_filters ? pdr->n_filters : 1;
	struct side src, dst;

	for (size_t k = 0; k < pdr->n_filters; k++)
		if (check_filter(w, pdr, pdr->filters[k]) < 0)
			return -1;
	for (size_t k = 0; k < nb; k++) {
		const UpfFilter *f = pdr->n_filters ? pdr->filters[k] : NULL;

		for (unsigned s = 0; ue_side(w, pdr, pdr->match_ue_source, UPF_SOURCE_UE, s, &src);
		     s++)
			for (unsigned d = 0; ue_side(w, pdr, pdr->match_ue_destination,
						     UPF_DESTINATION_UE, d, &dst);
			     d++)
				if (add_filter(w, pdr, f, order, &src, &dst) < 0)
					return -1;
	}
	return 0;
}

int
upf_compile_ip_filter(struct upf_work *w, const UpfPdr *pdr, UpfFilter *f)
{
	const struct side any = {.families = FAMILIES};

	w->nb_filter_rules = 0;
	if (check_filter(w, pdr, f) < 0)
		return -1;
	return add_filter(w, pdr, f, 0, &any, &any);
}

/* --- groups ----------------------------------------------------------------------------------- */

static uint32_t
teid_of(const struct upf_work *w, const UpfPdr *pdr)
{
	return pdr->tunnel ? w->m->tunnels[pdr->tunnel - 1]->teid : 0;
}

/* The group of a TEID's packets that come by one interface: a new one, or one just like it. */
static void
group_of(struct upf_work *w, uint32_t teid, unsigned interface, unsigned first_group)
{
	struct upf_new_group *g = &w->groups[w->nb_groups];

	*g = (struct upf_new_group){
		.teid = teid, .interfaces = 1U << interface, .first = (uint16_t)w->nb_group_lanes};
	for (unsigned i = 0; i < w->m->n_pdrs; i++)
		if (w->interfaces[i] >> interface & 1 && teid_of(w, w->pdrs[i]) == teid)
			w->group_lanes[g->first + g->nb++] = (uint8_t)i;
	if (g->nb == 0)
		return;
	for (unsigned i = first_group; i < w->nb_groups; i++)
		if (w->groups[i].nb == g->nb && memcmp(w->group_lanes + w->groups[i].first,
						       w->group_lanes + g->first, g->nb) == 0) {
			w->groups[i].interfaces |= g->interfaces;
			return;
		}
	w->nb_group_lanes += g->nb;
	w->nb_groups++;
}

static uint8_t
reads_of(const struct upf_work *w)
{
	uint8_t reads = 0;

	for (unsigned i = 0; i < w->nb_filter_rules; i++) {
		const struct upf_filter_rule *r = &w->filter_rules[i];

		reads |= (r->tos_mask ? UPF_READS_TOS : 0) | (r->qfis ? UPF_READS_QFI : 0) |
			 (r->flags & UPF_FILTER_FLOW_LABEL ? UPF_READS_LABEL : 0) |
			 (r->app ? UPF_READS_APP : 0);
	}
	return reads;
}

static bool
has_applications(const UpfSession *m)
{
	for (size_t i = 0; i < m->n_pdrs; i++)
		if (m->pdrs[i]->application != 0)
			return true;
	return false;
}

/* Flows are kept where there is something to choose, or to search for long; and of both directions
 * where one has an application, as that is learned from either. */
static void
group_flow(const struct upf_work *w, struct upf_new_group *g)
{
	g->reads = reads_of(w);
	g->flow = (g->nb > 1 || has_applications(w->m) ||
		   w->nb_filter_rules > UPF_FILTER_LINEAR_MAX) &&
		  g - w->groups <= UINT8_MAX;
}

static int
group_filters(struct upf_compiler *c, struct upf_new_group *g)
{
	struct upf_work *w = &c->work;
	int ret;

	w->nb_filter_rules = 0;
	for (unsigned i = 0; i < g->nb; i++)
		if (upf_compile_filters(w, w->group_lanes[g->first + i], (uint8_t)i) < 0)
			return -1;
	if (w->nb_filter_rules == 0)
		return 0;
	group_flow(w, g);
	ret = upf_filter_get(c->sets, w->filter_rules, w->nb_filter_rules, &g->filters);
	return ret < 0 ? upf_refuse_memory(w) : 0;
}

int
upf_compile_groups(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;

	w->nb_groups = w->nb_group_lanes = 0;
	/* That of downlink packets from the core comes first: UPF_SESSION_FLOW_DOWN. */
	if (w->m->core_interface != 0)
		group_of(w, 0, w->m->core_interface, 0);
	for (unsigned n = 1; n <= UPF_INTERFACES_MAX; n++)
		if (n != w->m->core_interface)
			group_of(w, 0, n, 0);
	for (unsigned i = 0; i < w->m->n_pdrs; i++) {
		uint32_t teid = teid_of(w, w->pdrs[i]);
		unsigned k = 0, first = w->nb_groups;

		while (teid_of(w, w->pdrs[k]) != teid)
			k++;
		for (unsigned n = 1; teid != 0 && k == i && n <= UPF_INTERFACES_MAX; n++)
			group_of(w, teid, n, first);
	}
	if (w->m->ethernet)
		return 0;
	for (unsigned i = 0; i < w->nb_groups; i++)
		if (group_filters(c, &w->groups[i]) < 0)
			return -1;
	return 0;
}
