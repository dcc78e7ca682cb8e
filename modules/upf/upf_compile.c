/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "codec/be.h"
#include "modules/upf/upf_compile_internal.h"

struct upf_compiler *
upf_compiler_create(const struct upf_compiler_config *config)
{
	struct upf_compiler *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->c = *config;
	c->c.burst_ms = c->c.burst_ms ? c->c.burst_ms : UPF_BURST_MS;
	c->c.burst_bytes = c->c.burst_bytes ? c->c.burst_bytes : UPF_BURST_DEFAULT_MIN;
	c->sets = upf_filter_sets_create(config->socket);
	c->profiles = upf_profiles_create(config->socket);
	c->slab = ap_slab_create();
	if (!c->sets || !c->profiles || !c->slab) {
		upf_compiler_destroy(c);
		return NULL;
	}
	return c;
}

void
upf_compiler_destroy(struct upf_compiler *c)
{
	if (!c)
		return;
	upf_filter_sets_destroy(c->sets);
	upf_profiles_destroy(c->profiles);
	ap_slab_destroy(c->slab);
	free(c);
}

unsigned
upf_compiler_sets(const struct upf_compiler *c)
{
	return upf_filter_sets_count(c->sets);
}

unsigned
upf_compiler_profiles(const struct upf_compiler *c)
{
	return upf_profiles_count(c->profiles);
}

int
upf_refuse(struct upf_work *w, uint32_t kind, uint32_t id, const char *text)
{
	w->e->status = AIRPATH__UPF__V1__STATUS__RULE_FAILED;
	w->e->kind = kind;
	w->e->id = id;
	snprintf(w->e->text, sizeof(w->e->text), "%s", text);
	return -1;
}

int
upf_refuse_memory(struct upf_work *w)
{
	upf_refuse(w, UPF_KIND(NONE), 0, "no memory");
	w->e->status = AIRPATH__UPF__V1__STATUS__NO_RESOURCES;
	return -1;
}

/* --- checks ----------------------------------------------------------------------------------- */

#define CHECK_IDS(field, kind, text)                                                               \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < m->n_##field; i_++)                                       \
			for (size_t k_ = 0; k_ < i_; k_++)                                         \
				if (m->field[i_]->id == m->field[k_]->id)                          \
					return upf_refuse(w, UPF_KIND(kind), m->field[i_]->id,     \
							  text);                                   \
	} while (0)

static int
check_numbers(struct upf_work *w)
{
	const UpfSession *m = w->m;

	if (m->id == 0 || upf_teid_generation(m->handle) == 0)
		return upf_refuse(w, UPF_KIND(NONE), 0, "no session id or handle");
	if (m->n_pdrs > UPF_RULES_MAX || m->n_fars > UPF_RULES_MAX || m->n_qers > UPF_RULES_MAX ||
	    m->n_urrs > UPF_RULES_MAX || m->n_bars > UPF_RULES_MAX)
		return upf_refuse(w, UPF_KIND(NONE), 0, "more than 256 rules of a kind");
	if (m->n_tunnels > UPF_TUNNELS_MAX)
		return upf_refuse(w, UPF_KIND(NONE), 0, "too many tunnels");
	CHECK_IDS(pdrs, PDR, "a PDR id twice");
	CHECK_IDS(fars, FAR, "a FAR id twice");
	CHECK_IDS(qers, QER, "a QER id twice");
	CHECK_IDS(urrs, URR, "a URR id twice");
	CHECK_IDS(bars, BAR, "a BAR id twice");
	for (size_t i = 0; i < m->n_fars; i++)
		if (m->fars[i]->n_duplicates > UPF_DUPLICATES_MAX)
			return upf_refuse(w, UPF_KIND(FAR), m->fars[i]->id, "too many duplicates");
	return 0;
}

static int
check_addresses(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;
	const UpfSession *m = w->m;
	uint64_t prefix = 0;

	if ((m->ue_ip4.len != 0 && m->ue_ip4.len != 4) ||
	    (m->ue_ip6.len != 0 && m->ue_ip6.len != 16) || m->ue_ip6_bits > 128)
		return upf_refuse(w, UPF_KIND(NONE), 0, "the UE's address is none");
	if (m->core_interface > UPF_INTERFACES_MAX ||
	    (m->core_interface != 0 && !c->c.interface_types[m->core_interface]))
		return upf_refuse(w, UPF_KIND(NONE), 0, "no such core interface");
	if (m->core_interface != 0 &&
	    (bool)(c->c.lans >> m->core_interface & 1) != (bool)m->ethernet)
		return upf_refuse(w, UPF_KIND(NONE), 0,
				  "a LAN is for Ethernet sessions, and these for LANs");
	memset(w->ip4, 0, sizeof(w->ip4));
	if (m->ue_ip4.len != 0)
		memcpy(w->ip4, m->ue_ip4.data, sizeof(w->ip4));
	w->has_ip4 = be32_get(w->ip4) != 0;
	if (m->ue_ip6.len != 0) {
		/* A UE has a /64 (TS 23.501 §5.8.2.2.3) or, delegated, a shorter prefix. */
		w->ip6_bits =
			m->ue_ip6_bits == 0 || m->ue_ip6_bits > 64 ? 64 : (uint8_t)m->ue_ip6_bits;
		prefix = be64_get(m->ue_ip6.data) & ~0ULL << (64 - w->ip6_bits);
	}
	for (unsigned i = 0; i < 8; i++)
		w->ip6[i] = (uint8_t)(prefix >> (56 - 8 * i));
	w->has_ip6 = prefix != 0;
	w->ip6_bits = w->has_ip6 ? w->ip6_bits : 0;
	return 0;
}

static int
check_tunnels(struct upf_work *w)
{
	const UpfSession *m = w->m;

	for (size_t i = 0; i < m->n_tunnels; i++) {
		if (m->tunnels[i]->teid == 0)
			return upf_refuse(w, UPF_KIND(NONE), 0, "a TEID of 0");
		if (!m->tunnels[i]->foreign && upf_teid_generation(m->tunnels[i]->teid) == 0)
			return upf_refuse(w, UPF_KIND(NONE), 0, "a TEID that is not ours");
		for (size_t k = 0; k < i; k++)
			if (m->tunnels[i]->teid == m->tunnels[k]->teid)
				return upf_refuse(w, UPF_KIND(NONE), 0, "a TEID twice");
	}
	return 0;
}

static int
add_framed(struct upf_work *w, const UpfPdr *pdr)
{
	if (pdr->n_framed_routes > UPF_FRAMED_MAX)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "too many framed routes");
	for (size_t i = 0; i < pdr->n_framed_routes; i++) {
		const UpfPrefix *p = pdr->framed_routes[i];
		struct upf_framed_route f = {.octets = (uint8_t)p->address.len,
					     .bits = (uint8_t)p->bits};
		unsigned k;

		if ((p->address.len != 4 && p->address.len != 16) || p->bits > p->address.len * 8)
			return upf_refuse(w, UPF_KIND(PDR), pdr->id, "a framed route is none");
		for (k = 0; k < p->address.len; k++)
			f.address[k] = p->bits >= 8 * (k + 1) ? p->address.data[k]
				       : p->bits > 8 * k
					       ? (uint8_t)(p->address.data[k] &
							   0xFF << (8 * (k + 1) - p->bits))
					       : 0;
		/* Those of uplink PDRs are sources; packets are found by destinations. */
		if (!pdr->match_ue_destination)
			continue;
		for (k = 0; k < w->nb_framed; k++)
			if (memcmp(&w->framed[k], &f, sizeof(f)) == 0)
				break;
		if (k < w->nb_framed)
			continue;
		if (w->nb_framed == UPF_FRAMED_MAX)
			return upf_refuse(w, UPF_KIND(PDR), pdr->id, "too many framed routes");
		w->framed[w->nb_framed++] = f;
	}
	return 0;
}

static int
check_pdr(struct upf_compiler *c, unsigned i)
{
	struct upf_work *w = &c->work;
	const UpfPdr *pdr = w->pdrs[i];

	if (pdr->id == 0 || pdr->id > UINT16_MAX || (unsigned)pdr->source > UPF_LI_FUNCTION)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "its id or source is out of range");
	if (pdr->tunnel > w->m->n_tunnels)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "its tunnel is not there");
	if (pdr->application > UINT16_MAX)
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "its application is out of range");
	if (pdr->interface > UPF_INTERFACES_MAX ||
	    (pdr->interface != 0 && !c->c.interface_types[pdr->interface]))
		return upf_refuse(w, UPF_KIND(PDR), pdr->id, "no such interface");
	w->interfaces[i] = pdr->interface ? 1U << pdr->interface : 0;
	for (unsigned n = 1; pdr->interface == 0 && n <= UPF_INTERFACES_MAX; n++)
		w->interfaces[i] |= (uint32_t)(c->c.interface_types[n] >> pdr->source & 1) << n;
	return add_framed(w, pdr);
}

static int
by_precedence(const void *a, const void *b)
{
	const UpfPdr *x = *(const UpfPdr *const *)a, *y = *(const UpfPdr *const *)b;

	if (x->precedence != y->precedence)
		return x->precedence < y->precedence ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

int
upf_compile_check(struct upf_compiler *c)
{
	struct upf_work *w = &c->work;

	w->nb_framed = 0;
	if (check_numbers(w) < 0 || check_addresses(c) < 0 || check_tunnels(w) < 0)
		return -1;
	for (size_t i = 0; i < w->m->n_pdrs; i++)
		w->pdrs[i] = w->m->pdrs[i];
	qsort(w->pdrs, w->m->n_pdrs, sizeof(w->pdrs[0]), by_precedence);
	for (unsigned i = 0; i < w->m->n_pdrs; i++)
		if (check_pdr(c, i) < 0)
			return -1;
	return 0;
}
