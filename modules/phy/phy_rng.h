/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_RNG_H
#define AIRPATH_MODULES_PHY_RNG_H

/** Seeded random draws: xoshiro256** (Blackman, Vigna), its state from splitmix64. */

#include <stdbool.h>
#include <stdint.h>

struct phy_rng {
	uint64_t s[4];
};

static inline void
phy_rng_seed(struct phy_rng *r, uint64_t seed)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9E3779B97F4A7C15;

		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
		r->s[i] = z ^ (z >> 31);
	}
}

static inline uint64_t
phy_rng_rotl(uint64_t x, unsigned k)
{
	return x << k | x >> (64 - k);
}

static inline uint64_t
phy_rng_next(struct phy_rng *r)
{
	const uint64_t result = phy_rng_rotl(r->s[1] * 5, 7) * 9;
	const uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = phy_rng_rotl(r->s[3], 45);
	return result;
}

/** A probability as phy_rng_hit() takes it: 0 never, 2^53 always. */
static inline uint64_t
phy_rng_odds(double probability)
{
	return (uint64_t)(probability * 9007199254740992.0);
}

static inline bool
phy_rng_hit(struct phy_rng *r, uint64_t odds)
{
	return odds != 0 && phy_rng_next(r) >> 11 < odds;
}

/** @return 0..n-1, all alike; 0 for n = 0. */
static inline uint64_t
phy_rng_below(struct phy_rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)phy_rng_next(r) * n) >> 64);
}

#define PHY_GAP_BITS 44

/** Distance between errors of a channel with independent bit errors. */
struct phy_ber {
	bool on;
	uint64_t odds[PHY_GAP_BITS]; /**< that bit k of a gap is set */
	uint64_t gap;                /**< good bits before the next bad one */
};

/**
 * The binary digits of a geometrically distributed number are independent: with q = 1 - rate,
 * digit k is set with probability q^(2^k) / (1 + q^(2^k)). So a gap needs no logarithm.
 */
static inline uint64_t
phy_ber_gap(const struct phy_ber *b, struct phy_rng *r)
{
	uint64_t gap = 0;

	for (unsigned k = 0; k < PHY_GAP_BITS; k++)
		gap |= (uint64_t)phy_rng_hit(r, b->odds[k]) << k;
	return gap;
}

static inline void
phy_ber_init(struct phy_ber *b, double rate, struct phy_rng *r)
{
	double q = 1 - rate;

	b->on = rate > 0;
	for (unsigned k = 0; k < PHY_GAP_BITS; k++, q *= q)
		b->odds[k] = phy_rng_odds(q / (1 + q));
	b->gap = b->on ? phy_ber_gap(b, r) : 0;
}

/** Flips the bits of `len` bytes that the channel gets wrong. @return how many. */
static inline uint32_t
phy_ber_apply(struct phy_ber *b, struct phy_rng *r, uint8_t *p, uint32_t len)
{
	const uint64_t bits = (uint64_t)len * 8;
	uint64_t at = b->gap;
	uint32_t flipped = 0;

	for (; at < bits; at += phy_ber_gap(b, r) + 1, flipped++)
		p[at / 8] ^= (uint8_t)(0x80 >> at % 8);
	b->gap = at - bits;
	return flipped;
}

#endif
