/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_BITS_H
#define AIRPATH_MODULES_RLC_BITS_H

/** A bit for each SN of a window: slot = SN mod `slots`, a power of two from 64 on. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

static inline bool
rlc_bits_get(const uint64_t *bits, uint32_t slots, uint32_t sn)
{
	sn &= slots - 1;
	return bits[sn / 64] >> (sn % 64) & 1;
}

static inline void
rlc_bits_set(uint64_t *bits, uint32_t slots, uint32_t sn)
{
	sn &= slots - 1;
	bits[sn / 64] |= 1ULL << (sn % 64);
}

static inline void
rlc_bits_clear(uint64_t *bits, uint32_t slots, uint32_t sn)
{
	sn &= slots - 1;
	bits[sn / 64] &= ~(1ULL << (sn % 64));
}

/** Clears the bits of `n` SNs from `sn` on. */
static inline void
rlc_bits_clear_range(uint64_t *bits, uint32_t slots, uint32_t sn, uint32_t n)
{
	while (n > 0) {
		uint32_t at = sn & (slots - 1), part = RTE_MIN(n, 64 - at % 64);

		bits[at / 64] &= ~(UINT64_MAX >> (64 - part) << at % 64);
		sn += part;
		n -= part;
	}
}

/** How far behind `sn` the first bit equal to `value` is, `n` if not among the next `n`. */
static inline uint32_t
rlc_bits_find(const uint64_t *bits, uint32_t slots, uint32_t sn, uint32_t n, bool value)
{
	const uint64_t flip = value ? 0 : UINT64_MAX;
	uint32_t done = 0;

	while (done < n) {
		uint32_t at = (sn + done) & (slots - 1);
		uint64_t word = (bits[at / 64] ^ flip) >> at % 64;

		if (word)
			return RTE_MIN(done + (uint32_t)__builtin_ctzll(word), n);
		done += 64 - at % 64;
	}
	return n;
}

#endif
