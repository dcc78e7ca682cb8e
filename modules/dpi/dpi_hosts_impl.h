/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_HOSTS_IMPL_H
#define AIRPATH_DPI_HOSTS_IMPL_H

/**
 * The hash of dpi_hosts.h, between who builds it and who looks names up.
 *
 *   hash ─→ bucket of 16 slots, a cache line: a tag of the hash and where the rule is ─→ rule,
 *                                                                                    with its text
 * Slots are few enough to stay near; a name of no rule touches no more than them. A name's hash is
 * made of its labels from the last to the first, so those of its domains are on the way.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "modules/dpi/dpi_hosts.h"

#define LABELS_MAX ((DPI_HOST_MAX + 1) / 2 + 1)

#define SLOT_AT_BITS                                                                               \
	24 /* where the rule is, in units of RULE_UNIT octets, from 1; above: the tag */
#define SLOT_AT ((1U << SLOT_AT_BITS) - 1)
#define RULE_UNIT 8
#define BUCKET 16 /* slots of a cache line */

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

#ifdef __SSE2__
#define DOTS_AT_ONCE 16

/** @return bit k: octet k is a dot. */
static inline uint64_t
dots_of_block(const uint8_t *p)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('.')));
}

#else
#define DOTS_AT_ONCE 8

static inline uint64_t
dots_of_block(const uint8_t *p)
{
	const uint64_t ones = 0x0101010101010101ULL, low = 0x7F * ones;
	uint64_t v = get8(p) ^ '.' * ones;

	v = ~(((v & low) + low) | v | low); /* the top bit of octets that are 0, exactly */
	return (v >> 7) * 0x0102040810204080ULL >> 56;
}

#endif

static inline void
dots_find(const uint8_t *host, unsigned len, struct dots *d)
{
	unsigned i = 0;

	memset(d, 0, sizeof(*d));
	for (; i + DOTS_AT_ONCE <= len; i += DOTS_AT_ONCE)
		d->at[i / 64] |= dots_of_block(host + i) << i % 64;
	if (i == len)
		return;
	if (len >= DOTS_AT_ONCE) { /* the last ones, some of them for the second time */
		const unsigned from = len - DOTS_AT_ONCE;
		const uint64_t dots = dots_of_block(host + from);

		d->at[from / 64] |= dots << from % 64;
		if (from % 64 > 64 - DOTS_AT_ONCE)
			d->at[from / 64 + 1] |= dots >> (64 - from % 64);
		return;
	}
	for (; i < len; i++)
		d->at[0] |= (uint64_t)(host[i] == '.') << i;
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

/** @return the first slot of the bucket that a hash is in, or of the first of several. */
static inline uint32_t
bucket_of(const struct dpi_hosts *hosts, uint64_t hash)
{
	return (uint32_t)hash & hosts->mask & ~(uint32_t)(BUCKET - 1);
}

static inline const struct entry *
entry_at(const struct dpi_hosts *hosts, uint32_t slot)
{
	return (const struct entry *)(const void *)(hosts->rules +
						    ((slot & SLOT_AT) - 1) * (size_t)RULE_UNIT);
}

/** What a bucket has. */
struct bucket {
	uint16_t like; /**< bit n: slot n has the tag */
	bool full;     /**< there may be more in the next one */
};

static inline struct bucket
bucket_of_masks(uint32_t like, uint32_t used)
{
	return (struct bucket){.like = (uint16_t)(like & used), .full = used == UINT16_MAX};
}

/** bucket_look() one after another: for CPUs without AVX2. */
static inline struct bucket
bucket_look_plain(const uint32_t slots[BUCKET], uint64_t hash)
{
	uint32_t like = 0, used = 0;

	for (unsigned k = 0; k < BUCKET; k++) {
		like |= (uint32_t)((slots[k] & ~SLOT_AT) == tag_of(hash)) << k;
		used |= (uint32_t)(slots[k] != 0) << k;
	}
	return bucket_of_masks(like, used);
}

static inline struct bucket
bucket_look(const uint32_t slots[BUCKET], uint64_t hash)
{
#ifdef __AVX2__
	const __m256i high = _mm256_set1_epi32((int)~SLOT_AT);
	const __m256i tag = _mm256_set1_epi32((int)tag_of(hash));
	uint32_t like = 0, used = 0;

	for (unsigned k = 0; k < BUCKET; k += 8) {
		const __m256i v = _mm256_load_si256((const __m256i *)(const void *)&slots[k]);
		const __m256i same = _mm256_cmpeq_epi32(_mm256_and_si256(v, high), tag);
		const __m256i none = _mm256_cmpeq_epi32(v, _mm256_setzero_si256());

		like |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << k;
		used |= (~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(none)) & 0xFF) << k;
	}
	return bucket_of_masks(like, used);
#else
	return bucket_look_plain(slots, hash);
#endif
}

/** @return whether texts are the same, both of so many octets. */
static inline bool
is_same(const uint8_t *a, const uint8_t *b, unsigned len)
{
	uint64_t differ = 0;

	if (len >= 8) {
		for (unsigned i = 0; i + 8 < len; i += 8)
			differ |= get8(a + i) ^ get8(b + i);
		return (differ | (get8(a + len - 8) ^ get8(b + len - 8))) == 0;
	}
	if (len >= 4)
		return ((get4(a) ^ get4(b)) | (get4(a + len - 4) ^ get4(b + len - 4))) == 0;
	for (unsigned i = 0; i < len; i++)
		differ |= (uint64_t)(a[i] ^ b[i]);
	return differ == 0;
}

/** @param b what bucket_look() said of the first. @return NULL: no such text */
static inline const struct entry *
find_from(const struct dpi_hosts *hosts, uint64_t hash, struct bucket b, const uint8_t *text,
	  unsigned len)
{
	for (uint32_t i = bucket_of(hosts, hash);; b = bucket_look(&hosts->slots[i], hash)) {
		for (; b.like != 0; b.like &= (uint16_t)(b.like - 1)) {
			const struct entry *e =
				entry_at(hosts, hosts->slots[i + (unsigned)__builtin_ctz(b.like)]);

			if (e->len == len && is_same((const uint8_t *)e->text, text, len))
				return e;
		}
		if (!b.full)
			return NULL;
		i = (i + BUCKET) & hosts->mask;
	}
}

#endif
