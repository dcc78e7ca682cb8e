/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_fib.h"

typedef unsigned __int128 u128;

/* A prefix as a range of numbers of the family's width. */
struct range {
	u128 first, last;
	uint16_t hop;
	uint8_t bits;
	unsigned order;
};

static u128
number(const uint8_t *p, unsigned octets)
{
	u128 v = 0;

	for (unsigned i = 0; i < octets; i++)
		v = v << 8 | p[i];
	return v;
}

static u128
host_mask(unsigned width, unsigned bits)
{
	return width - bits == 128 ? ~(u128)0 : ((u128)1 << (width - bits)) - 1;
}

/** Outer ranges before what lies in them; of equal prefixes the last given comes last. */
static int
compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/**
 * Cuts nested ranges into disjoint ones.
 * @param first, hop room for 2 * nb + 1
 * @return how many; 1 with UPF_NO_ROUTE when there is nothing
 */
static unsigned
flatten(const struct range *r, unsigned nb, u128 top, u128 *first, uint16_t *hop, unsigned *stack)
{
	unsigned depth = 0, n = 0;
	u128 at;

	first[n] = 0;
	hop[n++] = UPF_NO_ROUTE;
	for (unsigned i = 0; i <= nb; i++) {
		/* What ends before this one gives way to what is around it. */
		while (depth > 0 && (i == nb || r[stack[depth - 1]].last < r[i].first)) {
			at = r[stack[--depth]].last;
			if (at == top)
				continue;
			if (n > 0 && first[n - 1] == at + 1)
				n--;
			first[n] = at + 1;
			hop[n++] = depth > 0 ? r[stack[depth - 1]].hop : UPF_NO_ROUTE;
		}
		if (i == nb)
			break;
		if (first[n - 1] == r[i].first)
			n--;
		first[n] = r[i].first;
		hop[n++] = r[i].hop;
		stack[depth++] = i;
	}
	return n;
}

static int
build(struct upf_fib *to, const struct upf_fib_route *routes, unsigned nb, bool v6)
{
	const unsigned width = v6 ? 128 : 32;
	struct range *r = calloc(nb + 1, sizeof(*r));
	unsigned *stack = calloc(nb + 1, sizeof(*stack)), n = 0;
	u128 *first = aligned_alloc(16, (2 * (size_t)nb + 2) * sizeof(*first));
	uint16_t *hop = calloc(2 * (size_t)nb + 2, sizeof(*hop));
	uint32_t *first4 = v6 ? NULL : calloc(2 * (size_t)nb + 2, sizeof(*first4));
	bool ok = r && stack && first && hop && (v6 || first4);

	for (unsigned i = 0; ok && i < nb; i++) {
		const struct upf_net_prefix *p = &routes[i].prefix;

		if (p->v6 != v6)
			continue;
		r[n].first = number(p->address, width / 8) & ~host_mask(width, p->bits);
		r[n].last = r[n].first | host_mask(width, p->bits);
		r[n].hop = routes[i].hop;
		r[n].bits = p->bits;
		r[n].order = i;
		n++;
	}
	if (ok) {
		qsort(r, n, sizeof(*r), compare);
		n = flatten(r, n, host_mask(width, 0), first, hop, stack);
		for (unsigned i = 0; !v6 && i < n; i++)
			first4[i] = (uint32_t)first[i];
		if (v6) {
			to->first6 = first;
			to->hop6 = hop;
			to->nb6 = n;
		} else {
			to->first4 = first4;
			to->hop4 = hop;
			to->nb4 = n;
		}
	}
	free(r);
	free(stack);
	if (!v6 || !ok)
		free(first);
	if (!ok) {
		free(hop);
		free(first4);
	}
	return ok ? 0 : -ENOMEM;
}

int
upf_fib_build(struct upf_fib *r, const struct upf_fib_route *routes, unsigned nb)
{
	int rc;

	memset(r, 0, sizeof(*r));
	if (nb > UPF_FIB_ROUTES_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < nb; i++)
		if (routes[i].prefix.bits > (routes[i].prefix.v6 ? 128 : 32) ||
		    routes[i].hop == UPF_NO_ROUTE)
			return -EINVAL;
	rc = build(r, routes, nb, false);
	if (rc == 0)
		rc = build(r, routes, nb, true);
	if (rc < 0)
		upf_fib_free(r);
	return rc;
}

void
upf_fib_free(struct upf_fib *r)
{
	free(r->first4);
	free(r->hop4);
	free(r->first6);
	free(r->hop6);
	memset(r, 0, sizeof(*r));
}

uint16_t
upf_fib_find6(const struct upf_fib *r, const uint8_t *address)
{
	uint64_t high, low;
	uint32_t at = 0;
	u128 v;

	if (r->nb6 == 0)
		return UPF_NO_ROUTE;
	memcpy(&high, address, 8);
	memcpy(&low, address + 8, 8);
	v = (u128)__builtin_bswap64(high) << 64 | __builtin_bswap64(low);
	for (uint32_t n = r->nb6; n > 1;) {
		uint32_t half = n / 2;

		at += r->first6[at + half] <= v ? half : 0;
		n -= half;
	}
	return r->hop6[at];
}

bool
upf_prefix_has(const struct upf_net_prefix *p, const uint8_t *address)
{
	unsigned whole = p->bits / 8, rest = p->bits % 8;

	if (memcmp(p->address, address, whole) != 0)
		return false;
	return rest == 0 || (p->address[whole] ^ address[whole]) >> (8 - rest) == 0;
}
