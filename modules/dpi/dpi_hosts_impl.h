/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_HOSTS_IMPL_H
#define AIRPATH_DPI_HOSTS_IMPL_H

/**
 * The hash of dpi_hosts.h, between who builds it and who looks names up.
 *
 *   hash ─→ slot: a tag of the hash and where the rule is, 16 a cache line ─→ rule, with its text
 *
 * Slots are few enough to stay near; a name of no rule touches no more than them. A name's hash is
 * made of its labels from the last to the first, so those of its domains are on the way.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "modules/dpi/dpi_hosts.h"

#define LABELS_MAX ((DPI_HOST_MAX + 1) / 2 + 1)

#define SLOT_AT_BITS                                                                               \
	24 /* where the rule is, in units of RULE_UNIT octets, from 1; above: the tag */
#define SLOT_AT ((1U << SLOT_AT_BITS) - 1)
#define RULE_UNIT 8

/** What rules say of a name or domain. */
struct entry {
	uint16_t exact; /* applications; 0: no such rule */
	uint16_t suffix;
	uint8_t len; /* octets of the text */
	char text[];
};

struct dpi_hosts {
	uint32_t mask;                  /* slots - 1 */
	unsigned max_labels;            /* of any rule */
	uint8_t labels[LABELS_MAX + 1]; /* whether a rule has so many */
	uint32_t *slots;                /* 0: free */
	uint8_t *rules;
	size_t rules_len, memory; /* octets */
};

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9E3779B97F4A7C15ULL) * (b ^ 0xE7037ED1A0B428DBULL);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t
get8(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t
get4(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/** @return a hash that goes on with a label in front of those `h` is of. */
static inline uint64_t
add_label(uint64_t h, const uint8_t *p, unsigned len)
{
	uint64_t last = len;

	for (; len > 8; p += 8, len -= 8)
		h = mix(h, get8(p));
	if (len >= 4)
		last |= get4(p) << 8 ^ get4(p + len - 4) << 32;
	else if (len > 0)
		last |= (uint64_t)p[0] << 8 | (uint64_t)p[len / 2] << 16 |
			(uint64_t)p[len - 1] << 24;
	return mix(h, last);
}

/** Bit i % 64 of word i / 64: a dot at octet i. */
struct dots {
	uint64_t at[(DPI_HOST_MAX + 1) / 64];
};

/** @return bit k: octet k of `v` is a dot. */
static inline uint64_t
dots_of(uint64_t v)
{
	const uint64_t ones = 0x0101010101010101ULL, low = 0x7F * ones;

	v ^= '.' * ones;
	v = ~(((v & low) + low) | v | low); /* the top bit of octets that are 0, exactly */
	return (v >> 7) * 0x0102040810204080ULL >> 56;
}

static inline void
dots_find(const uint8_t *host, unsigned len, struct dots *d)
{
	unsigned i = 0;

	memset(d, 0, sizeof(*d));
	for (; i + 8 <= len; i += 8)
		d->at[i / 64] |= dots_of(get8(host + i)) << i % 64;
	for (; i < len; i++)
		d->at[i / 64] |= (uint64_t)(host[i] == '.') << i % 64;
}

/** @return where the label before `end` begins. */
static inline unsigned
label_before(const struct dots *d, unsigned end)
{
	for (unsigned w = end / 64 + 1; w-- > 0;) {
		uint64_t at = d->at[w];

		if (w == end / 64)
			at &= ((uint64_t)1 << end % 64) - 1;
		if (at != 0)
			return 64 * w + 64 - (unsigned)__builtin_clzll(at);
	}
	return 0;
}

static inline uint32_t
tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) & ~SLOT_AT;
}

static inline const struct entry *
entry_at(const struct dpi_hosts *hosts, uint32_t slot)
{
	return (const struct entry *)(const void *)(hosts->rules +
						    ((slot & SLOT_AT) - 1) * (size_t)RULE_UNIT);
}

#define NO_SLOT UINT32_MAX

/** @return the first slot from `i` on whose tag is the hash's, or NO_SLOT. */
static inline uint32_t
likely_slot(const struct dpi_hosts *hosts, uint64_t hash, uint32_t i)
{
	for (;; i++) {
		const uint32_t slot = hosts->slots[i & hosts->mask];

		if (slot == 0)
			return NO_SLOT;
		if (((slot ^ tag_of(hash)) & ~SLOT_AT) == 0)
			return i & hosts->mask;
	}
}

/** @param i what likely_slot() said. @return NULL: no such text */
static inline const struct entry *
find_from(const struct dpi_hosts *hosts, uint64_t hash, uint32_t i, const uint8_t *text,
	  unsigned len)
{
	for (; i != NO_SLOT; i = likely_slot(hosts, hash, i + 1)) {
		const struct entry *e = entry_at(hosts, hosts->slots[i]);

		if (e->len == len && memcmp(e->text, text, len) == 0)
			return e;
	}
	return NULL;
}

#endif
