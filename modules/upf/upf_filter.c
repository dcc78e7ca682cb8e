/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_common.h>

#include "codec/be.h"
#include "modules/upf/upf_acl.h"
#include "modules/upf/upf_filter.h"

#define CHAINS 4096
#define APP_BUCKETS 64
#define NO_ORDER (UINT8_MAX + 1)

/* A rule that asks for an application and no other field of the header. */
struct app_rule {
	uint64_t qfis;
	uint16_t app;
	uint8_t order, ue, flags;
};

struct upf_filter_set {
	struct upf_filter_set *next; /* of the chain */
	uint64_t hash;
	uint32_t refs;
	uint32_t nb, nb_rest;
	struct rte_acl_ctx *ctx[2];          /* by family, IPv6 second; NULL: gone through */
	uint16_t app_first[APP_BUCKETS + 1]; /* of `apps`, by low bits of the application */
	struct app_rule *apps;
	struct upf_filter_rule *rest; /* rules that are not among `apps` */
	struct upf_filter_rule rules[];
};

struct upf_filter_sets {
	int socket;
	unsigned nb;
	struct upf_filter_set *chains[CHAINS];
};

_Static_assert(sizeof(struct upf_filter_rule) == 8 + 64 + 8 + 8 + 8, "no padding");
_Static_assert(sizeof(struct app_rule) <= sizeof(struct upf_filter_rule), "takes its place");
_Static_assert(UPF_FILTER_RULES_MAX <= UINT16_MAX, "app_first");

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

static bool
asks_app_alone(const struct upf_filter_rule *r)
{
	uint32_t masks = r->tos_mask;

	for (unsigned i = 0; i < 4; i++)
		masks |= r->src_mask[i] | r->dst_mask[i];
	return r->app != 0 && masks == 0 && (r->flags & ~(UPF_FILTER_IP4 | UPF_FILTER_IP6)) == 0;
}

/* Rules of an application stand together, by rising order. */
static void
set_split(struct upf_filter_set *set)
{
	uint16_t nb = 0;

	set->rest = set->rules + set->nb;
	for (unsigned i = 0; i < set->nb; i++)
		if (!asks_app_alone(&set->rules[i]))
			set->rest[set->nb_rest++] = set->rules[i];
	set->apps = (struct app_rule *)(void *)(set->rest + set->nb_rest);
	for (unsigned b = 0; b < APP_BUCKETS; b++) {
		set->app_first[b] = nb;
		for (unsigned i = 0; i < set->nb; i++) {
			const struct upf_filter_rule *r = &set->rules[i];

			if (r->app % APP_BUCKETS == b && asks_app_alone(r))
				set->apps[nb++] = (struct app_rule){.qfis = r->qfis,
								    .app = r->app,
								    .order = r->order,
								    .ue = r->ue,
								    .flags = r->flags};
		}
	}
	set->app_first[APP_BUCKETS] = nb;
}

static int
set_create(const struct upf_filter_rule *rules, unsigned nb, int socket,
	   struct upf_filter_set **made)
{
	struct upf_filter_set *set = calloc(1, sizeof(*set) + 2 * nb * sizeof(*rules));
	unsigned of[2] = {0, 0};
	int ret = 0;

	if (!set)
		return -ENOMEM;
	set->nb = nb;
	memcpy(set->rules, rules, nb * sizeof(*rules));
	set_split(set);
	for (unsigned i = 0; i < set->nb_rest; i++) {
		of[0] += (set->rest[i].flags & UPF_FILTER_IP4) != 0;
		of[1] += (set->rest[i].flags & UPF_FILTER_IP6) != 0;
	}
	for (unsigned ip6 = 0; ip6 < 2 && ret == 0; ip6++)
		if (of[ip6] > UPF_FILTER_LINEAR_MAX)
			ret = upf_acl_build(set->rest, set->nb_rest, ip6, socket, &set->ctx[ip6]);
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

/* @return order of the first rule that asks for the packet's application alone, or NO_ORDER */
static unsigned
match_app(const struct upf_filter_set *set, const struct upf_packet *p)
{
	const uint8_t family = p->flow.version == 4 ? UPF_FILTER_IP4 : UPF_FILTER_IP6;
	const unsigned bucket = p->app % APP_BUCKETS;

	if (p->app == 0)
		return NO_ORDER;
	for (unsigned i = set->app_first[bucket]; i < set->app_first[bucket + 1]; i++) {
		const struct app_rule *r = &set->apps[i];

		if (r->app == p->app && r->flags & family && (r->ue & ~p->ue) == 0 &&
		    (r->qfis == 0 || (p->qfi <= 63 && r->qfis >> p->qfi & 1)))
			return r->order;
	}
	return NO_ORDER;
}

int
upf_filter_match(const struct upf_filter_set *set, const struct upf_packet *p)
{
	const struct rte_acl_ctx *ctx = set->ctx[p->flow.version == 6];
	unsigned order = match_app(set, p);

	if (ctx) {
		const int rest = upf_acl_match(ctx, p);

		if (rest >= 0)
			order = RTE_MIN(order, (unsigned)rest);
	} else {
		for (unsigned i = 0; i < set->nb_rest && set->rest[i].order < order; i++)
			if (rule_matches(&set->rest[i], p, false))
				order = set->rest[i].order;
	}
	return order == NO_ORDER ? -1 : (int)order;
}

int
upf_filter_match_any_qfi(const struct upf_filter_set *set, const struct upf_packet *p)
{
	for (unsigned i = 0; i < set->nb; i++)
		if (rule_matches(&set->rules[i], p, true))
			return set->rules[i].order;
	return -1;
}

bool
upf_filter_is_compiled(const struct upf_filter_set *set, bool ip6)
{
	return set->ctx[ip6] != NULL;
}
