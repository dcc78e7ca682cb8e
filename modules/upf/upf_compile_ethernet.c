/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet Packet Filters, TS 29.244 §5.13.3, to rules that frames are compared with. */
#include "modules/upf/upf_compile_internal.h"

#define MAC_MAX 0xFFFFFFFFFFFFULL

typedef Airpath__Upf__V1__EthernetFilter UpfEthernetFilter;
typedef Airpath__Upf__V1__MacFilter UpfMacFilter;

static bool
is_mac(const ProtobufCBinaryData *d)
{
	return d->len == 0 || d->len == 6;
}

/* @return whether first and last may be a range; without both any address */
static bool
range(const ProtobufCBinaryData *first, const ProtobufCBinaryData *last, uint64_t to[2])
{
	if (!is_mac(first) || !is_mac(last) || (last->len != 0 && first->len == 0))
		return false;
	to[0] = first->len ? upf_mac_get(first->data) : 0;
	to[1] = last->len ? upf_mac_get(last->data) : first->len ? to[0] : MAC_MAX;
	return to[0] <= to[1];
}

static bool
tag(const Airpath__Upf__V1__VlanTag *m, uint16_t *value, uint16_t *mask)
{
	*mask = (uint16_t)m->mask;
	*value = (uint16_t)(m->value & m->mask);
	return m->value <= UINT16_MAX && m->mask <= UINT16_MAX;
}

static int
add(struct upf_work *w, const UpfPdr *pdr, unsigned *nb, const struct upf_ethernet_rule *r)
{
	if (*nb == UPF_ETHERNET_RULES_MAX)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "too many filters of frames");
	w->ethernet_rules[(*nb)++] = *r;
	return 0;
}

/* One rule for each filter of the packets within, or one without. */
static int
add_packets(struct upf_work *w, const UpfPdr *pdr, const UpfEthernetFilter *f, unsigned *nb,
	    struct upf_ethernet_rule *r)
{
	if (f->n_filters == 0)
		return add(w, pdr, nb, r);
	r->flags |= UPF_ETHERNET_IP;
	for (size_t i = 0; i < f->n_filters; i++) {
		if (upf_compile_ip_filter(w, pdr, f->filters[i]) < 0)
			return -1;
		for (unsigned k = 0; k < w->nb_filter_rules; k++) {
			r->ip = w->filter_rules[k];
			r->ip.qfis = 0; /* the PDR's, looked at apart */
			if (add(w, pdr, nb, r) < 0)
				return -1;
		}
	}
	return 0;
}

static int
add_filter(struct upf_work *w, const UpfPdr *pdr, const UpfEthernetFilter *f, unsigned *nb)
{
	static const UpfMacFilter any = AIRPATH__UPF__V1__MAC_FILTER__INIT;
	struct upf_ethernet_rule r = {.type = (uint16_t)f->type};

	if (f->type > UINT16_MAX || (f->c_tag && !tag(f->c_tag, &r.c_tag, &r.c_mask)) ||
	    (f->s_tag && !tag(f->s_tag, &r.s_tag, &r.s_mask)))
		return upf_refuse(w, UPF_KIND(PDR), pdr->id,
				  "a number of a filter of frames is out of range");
	r.flags = (uint8_t)((f->match_type ? UPF_ETHERNET_TYPE : 0) |
			    (f->c_tag ? UPF_ETHERNET_C_TAG : 0) |
			    (f->s_tag ? UPF_ETHERNET_S_TAG : 0));
	for (size_t i = 0; i < (f->n_macs ? f->n_macs : 1); i++) {
		const UpfMacFilter *m = f->n_macs ? f->macs[i] : &any;

		if (!range(&m->source, &m->source_upper, r.src) ||
		    !range(&m->destination, &m->destination_upper, r.dst))
			return upf_refuse(
				w, UPF_KIND(PDR), pdr->id,
				"a MAC address has 6 octets, and the upper is not the lower");
		if (add_packets(w, pdr, f, nb, &r) < 0)
			return -1;
	}
	return 0;
}

int
upf_compile_ethernet(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;
	unsigned nb = 0;

	if (w->has_ip4 || w->has_ip6)
		return upf_refuse(w, UPF_KIND(NONE), 0, "an Ethernet session has no IP address");
	for (unsigned i = 0; i < w->m->n_pdrs; i++) {
		const UpfPdr *pdr = w->pdrs[i];

		w->ethernet_first[i] = (uint16_t)nb;
		if (pdr->n_filters || pdr->n_framed_routes || pdr->match_ue_source ||
		    pdr->match_ue_destination || pdr->application)
			return upf_refuse(w, UPF_KIND(PDR), pdr->id,
					  "frames have no UE address, routes nor applications");
		for (size_t k = 0; k < pdr->n_ethernet_filters; k++)
			if (add_filter(w, pdr, pdr->ethernet_filters[k], &nb) < 0)
				return -1;
	}
	w->ethernet_first[w->m->n_pdrs] = (uint16_t)nb;
	return 0;
}
