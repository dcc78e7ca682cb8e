/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "modules/dpi/dpi_bloom.h"
#include "modules/dpi/dpi_nets_filter.h"
#include "modules/dpi/dpi_nets_near.h"

/*
 * Networks are known by their first bits: by so many that most addresses are of none, and if those
 * are of one, by some more. A shorter prefix is written out, or with the coarse bits alone *whole*.
 * Rules without an address are known by the remote port, or by the protocol alone.
 */
#define SPREAD_BITS 8                /* a prefix is written out as at most so many more bits tell */
#define KEYS_MAX (UINT64_C(1) << 22) /* more, and rte_acl is asked of all */

static const struct family {
	uint8_t coarse, fine; /* bits */
} families[2] = {{16, 24}, {32, 48}};

struct dpi_nets_filter {
	struct dpi_bloom nets;
	struct dpi_near near;       /* by fine keys */
	uint64_t protos[4];         /* bit: of a rule by protocol alone */
	uint64_t ports[65536 / 64]; /* bit: of a rule by remote port */
	bool any[2];                /* by family: a rule asks for none of all that */
	bool by_port;
	bool crowded; /* more than KEYS_MAX */
};

/* --- keys ------------------------------------------------------------------------------------- */

/* The first 64 bits of an address, those of IPv4 on top. */
static inline uint64_t
head_of(const uint8_t *address, bool ip6)
{
	uint64_t head = 0;
	uint32_t head4;

	if (!ip6) {
		memcpy(&head4, address, sizeof(head4));
		return (uint64_t)__builtin_bswap32(head4) << 32;
	}
	memcpy(&head, address, sizeof(head));
	return __builtin_bswap64(head);
}

enum level { COARSE, FINE };

/* Low bits, which no prefix here has, tell keys of one kind from those of another. */
static inline uint64_t
key_of(uint64_t head, bool ip6, enum level level)
{
	const unsigned bits = level == COARSE ? families[ip6].coarse : families[ip6].fine;

	return dpi_bloom_hash((head & UINT64_MAX << (64 - bits)) | (uint64_t)ip6 << 1 | level);
}

/* Of a coarse key, in the same word. */
static inline uint64_t
whole_of(uint64_t key)
{
	return (key & ~(uint64_t)0xFFFFFF) | (key * 0x9E3779B97F4A7C15ULL >> 40);
}

/* --- building --------------------------------------------------------------------------------- */

static void
net_add(struct dpi_nets_filter *f, uint32_t rule, const struct dpi_prefix *p, bool ip6,
	uint64_t *count)
{
	const struct family *fam = &families[ip6];
	uint64_t head = head_of(p->address, ip6);
	unsigned bits = p->bits < fam->fine ? p->bits : fam->fine;
	const bool whole = bits + SPREAD_BITS < fam->fine;
	const unsigned to = whole ? fam->coarse : fam->fine;
	uint64_t n;

	if (whole && bits + SPREAD_BITS < fam->coarse) {
		f->any[ip6] = true;
		return;
	}
	bits = bits > to ? to : bits;
	head &= UINT64_MAX << (64 - bits);
	n = (uint64_t)1 << (to - bits);
	*count += n;
	if (!f->nets.words)
		return;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t one = head | i << (64 - to), coarse = key_of(one, ip6, COARSE);

		if (whole) {
			dpi_bloom_add(&f->nets, whole_of(coarse));
			continue;
		}
		dpi_bloom_add(&f->nets, coarse);
		dpi_bloom_add(&f->nets, key_of(one, ip6, FINE));
		dpi_near_add(&f->near, key_of(one, ip6, FINE), rule);
	}
}

static void
rule_add(struct dpi_nets_filter *f, uint32_t rule, const struct dpi_net *n, uint64_t *count)
{
	if (n->src.bits > 0) {
		net_add(f, rule, &n->src, (n->flags & DPI_NET_IP6) != 0, count);
	} else if (n->flags & DPI_NET_PORTS &&
		   (n->src_ports[0] > 0 || n->src_ports[1] < UINT16_MAX)) {
		f->by_port = true;
		for (unsigned p = n->src_ports[0]; p <= n->src_ports[1]; p++)
			f->ports[p / 64] |= (uint64_t)1 << p % 64;
	} else if (n->flags & DPI_NET_PROTO) {
		f->protos[n->proto / 64] |= (uint64_t)1 << n->proto % 64;
	} else {
		f->any[0] |= (n->flags & DPI_NET_IP4) != 0;
		f->any[1] |= (n->flags & DPI_NET_IP6) != 0;
	}
}

struct dpi_nets_filter *
dpi_nets_filter_make(const struct dpi_rule *rules, uint32_t nb)
{
	struct dpi_nets_filter *f = calloc(1, sizeof(*f));
	uint64_t count = 0;

	if (!f)
		return NULL;
	/* Once to count, once to add. */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0, flow = 0; i < nb; i++)
			if (rules[i].kind == DPI_RULE_FLOW)
				rule_add(f, flow++, &rules[i].flow, &count);
		if (pass != 0)
			break;
		f->crowded = count > KEYS_MAX;
		count = f->crowded ? 0 : count;
		/* A fine key is under a coarse one. */
		if (!dpi_bloom_make(&f->nets, 2 * count, DPI_BLOOM_BITS) ||
		    dpi_near_make(&f->near, rules, nb, count) < 0) {
			dpi_nets_filter_free(f);
			return NULL;
		}
		if (f->crowded)
			break;
	}
	return f;
}

void
dpi_nets_filter_free(struct dpi_nets_filter *f)
{
	if (!f)
		return;
	free(f->nets.words);
	dpi_near_free(&f->near);
	free(f);
}

size_t
dpi_nets_filter_memory(const struct dpi_nets_filter *f)
{
	return f ? sizeof(*f) + dpi_bloom_memory(&f->nets) + dpi_near_memory(&f->near) : 0;
}

/* --- lookup ----------------------------------------------------------------------------------- */

static inline bool
is_loose(const struct dpi_nets_filter *f, const struct flow *flow, bool uplink)
{
	const uint16_t port = flow->ports[uplink];

	return f->any[flow->version == 6] || f->protos[flow->proto / 64] >> flow->proto % 64 & 1 ||
	       (f->by_port && flow->has_ports && f->ports[port / 64] >> port % 64 & 1);
}

/* Keys of networks that rules name, or may name: their lines are fetched. */
static uint64_t
fine_keys(const struct dpi_nets_filter *f, const struct flow *const flows[], uint64_t asked,
	  const uint64_t head[], uint64_t key[])
{
	uint64_t fine = 0;

	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		if (!dpi_bloom_has(&f->nets, key[i]))
			continue;
		fine |= left & -left;
		key[i] = key_of(head[i], flows[i]->version == 6, FINE);
		rte_prefetch0(dpi_bloom_word(&f->nets, key[i]));
	}
	asked = fine;
	for (uint64_t left = asked; left != 0; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		if (dpi_bloom_has(&f->nets, key[i]))
			rte_prefetch0(dpi_near_slot(&f->near, key[i]));
		else
			fine &= ~(left & -left);
	}
	for (uint64_t left = fine; left != 0; left &= left - 1)
		dpi_near_prefetch(&f->near, key[__builtin_ctzll(left)]);
	return fine;
}

uint64_t
dpi_nets_filter_find(const struct dpi_nets_filter *f, const struct flow *const flows[],
		     uint64_t uplink, unsigned nb, uint16_t apps[])
{
	uint64_t head[DPI_FLOWS_MAX], key[DPI_FLOWS_MAX];
	const uint64_t all = UINT64_MAX >> (64 - nb);
	uint64_t unknown = 0;

	memset(apps, 0, nb * sizeof(*apps));
	if (f->crowded)
		return all;
	for (unsigned i = 0; i < nb; i++) {
		const struct flow *flow = flows[i];
		const bool up = uplink >> i & 1, ip6 = flow->version == 6;

		head[i] = head_of(up ? flow->dst : flow->src, ip6);
		key[i] = key_of(head[i], ip6, COARSE);
		rte_prefetch0(dpi_bloom_word(&f->nets, key[i]));
		unknown |= (uint64_t)is_loose(f, flow, up) << i;
	}
	for (unsigned i = 0; i < nb; i++)
		unknown |= (uint64_t)dpi_bloom_has(&f->nets, whole_of(key[i])) << i;
	for (uint64_t left = fine_keys(f, flows, all & ~unknown, head, key); left != 0;
	     left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		if (!dpi_near_find(&f->near, key[i], flows[i], uplink >> i & 1, &apps[i]))
			unknown |= left & -left;
	}
	return unknown;
}
