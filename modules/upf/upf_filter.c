/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>

#include "codec/be.h"
#include "modules/upf/upf_acl.h"
#include "modules/upf/upf_filter.h"

#define CHAINS 4096

struct upf_filter_set {
	struct upf_filter_set *next; /* of the chain */
	uint64_t hash;
	uint32_t refs;
	uint32_t nb;
	struct rte_acl_ctx *ctx[2]; /* by family, IPv6 second; NULL: gone through */
	struct upf_filter_rule rules[];
};

struct upf_filter_sets {
	int socket;
	unsigned nb;
	struct upf_filter_set *chains[CHAINS];
};

_Static_assert(sizeof(struct upf_filter_rule) == 8 + 64 + 8 + 8 + 8, "no padding");

struct upf_filter_sets *
upf_filter_sets_create(int socket)
{
	struct upf_filter_sets *s = calloc(1, sizeof(*s));

	if (s)
		s->socket = socket;
	return s;
}

void
upf_filter_sets_destroy(struct upf_filter_sets *s)
{
	free(s);
}

unsigned
upf_filter_sets_count(const struct upf_filter_sets *s)
{
	return s->nb;
}

static uint64_t
hash(const struct upf_filter_rule *rules, unsigned nb)
{
	const uint8_t *p = (const uint8_t *)rules;
	uint64_t h = 0xCBF29CE484222325ULL; /* FNV-1a, by words */

	for (size_t i = 0; i < nb * sizeof(*rules); i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p + i, sizeof(word));
		h = (h ^ word) * 0x100000001B3ULL;
		h ^= h >> 29;
	}
	return h;
}

static void
set_free(struct upf_filter_set *set)
{
	rte_acl_free(set->ctx[0]);
	rte_acl_free(set->ctx[1]);
	free(set);
}

static int
set_create(const struct upf_filter_rule *rules, unsigned nb, int socket,
	   struct upf_filter_set **made)
{
	struct upf_filter_set *set = calloc(1, sizeof(*set) + nb * sizeof(*rules));
	unsigned of[2] = {0, 0};
	int ret = 0;

	if (!set)
		return -ENOMEM;
	set->nb = nb;
	memcpy(set->rules, rules, nb * sizeof(*rules));
	for (unsigned i = 0; i < nb; i++) {
		of[0] += (rules[i].flags & UPF_FILTER_IP4) != 0;
		of[1] += (rules[i].flags & UPF_FILTER_IP6) != 0;
	}
	for (unsigned ip6 = 0; ip6 < 2 && ret == 0; ip6++)
		if (of[ip6] > UPF_FILTER_LINEAR_MAX)
			ret = upf_acl_build(rules, nb, ip6, socket, &set->ctx[ip6]);
	if (ret < 0)
		set_free(set);
	else
		*made = set;
	return ret;
}

int
upf_filter_get(struct upf_filter_sets *s, const struct upf_filter_rule *rules, unsigned nb,
	       struct upf_filter_set **set)
{
	uint64_t h = hash(rules, nb);
	struct upf_filter_set **chain = &s->chains[h % CHAINS];
	int ret;

	if (nb == 0 || nb > UPF_FILTER_RULES_MAX)
		return -EINVAL;
	for (struct upf_filter_set *f = *chain; f; f = f->next)
		if (f->hash == h && f->nb == nb &&
		    memcmp(f->rules, rules, nb * sizeof(*rules)) == 0) {
			f->refs++;
			*set = f;
			return 0;
		}
	ret = set_create(rules, nb, s->socket, set);
	if (ret < 0)
		return ret;
	(*set)->hash = h;
	(*set)->refs = 1;
	(*set)->next = *chain;
	*chain = *set;
	s->nb++;
	return 0;
}

void
upf_filter_put(struct upf_filter_sets *s, struct upf_filter_set *set)
{
	struct upf_filter_set **at = &s->chains[set->hash % CHAINS];

	if (--set->refs != 0)
		return;
	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
	s->nb--;
	set_free(set);
}

/* --- lookup ----------------------------------------------------------------------------------- */

static inline bool
in_prefix(const uint8_t *address, const uint32_t *is, const uint32_t *mask, unsigned words)
{
	uint32_t differs = 0;

	for (unsigned i = 0; i < words; i++)
		differs |= (be32_get(address + 4 * i) ^ is[i]) & mask[i];
	return differs == 0;
}

static inline bool
in_range(uint16_t port, const uint16_t range[2])
{
	return port >= range[0] && port <= range[1];
}

static inline bool
rule_matches(const struct upf_filter_rule *r, const struct upf_packet *p, bool any_qfi)
{
	const struct flow *f = &p->flow;
	unsigned words = f->version == 4 ? 1 : 4;

	if (!(r->flags & (f->version == 4 ? UPF_FILTER_IP4 : UPF_FILTER_IP6)) ||
	    (r->ue & ~p->ue) != 0)
		return false;
	if (r->app != 0 && r->app != p->app)
		return false;
	if (!any_qfi && r->qfis != 0 && (p->qfi > 63 || !(r->qfis >> p->qfi & 1)))
		return false;
	if (((r->tos ^ f->tos) & r->tos_mask) != 0)
		return false;
	if (!in_prefix(f->src, r->src, r->src_mask, words) ||
	    !in_prefix(f->dst, r->dst, r->dst_mask, words))
		return false;
	if (r->flags & UPF_FILTER_PROTO && r->proto != f->proto)
		return false;
	if (r->flags & UPF_FILTER_PORTS && (!f->has_ports || !in_range(f->ports[0], r->src_ports) ||
					    !in_range(f->ports[1], r->dst_ports)))
		return false;
	if (r->flags & UPF_FILTER_SPI && (!f->has_spi || r->spi != f->spi))
		return false;
	return !(r->flags & UPF_FILTER_FLOW_LABEL) ||
	       (f->version == 6 && r->flow_label == f->flow_label);
}

bool
upf_filter_rule_match(const struct upf_filter_rule *r, const struct upf_packet *p)
{
	return rule_matches(r, p, false);
}

static int
match_each(const struct upf_filter_set *set, const struct upf_packet *p, bool any_qfi)
{
	for (unsigned i = 0; i < set->nb; i++)
		if (rule_matches(&set->rules[i], p, any_qfi))
			return set->rules[i].order;
	return -1;
}

int
upf_filter_match(const struct upf_filter_set *set, const struct upf_packet *p)
{
	const struct rte_acl_ctx *ctx = set->ctx[p->flow.version == 6];

	return ctx ? upf_acl_match(ctx, p) : match_each(set, p, false);
}

int
upf_filter_match_any_qfi(const struct upf_filter_set *set, const struct upf_packet *p)
{
	return match_each(set, p, true);
}

bool
upf_filter_is_compiled(const struct upf_filter_set *set, bool ip6)
{
	return set->ctx[ip6] != NULL;
}
