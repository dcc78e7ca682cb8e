/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_WIRE_H
#define AIRPATH_MODULES_GEN_WIRE_H

/**
 * What a test packet carries behind its UDP header, and the bytes payloads are cut from.
 *
 * The test header is four little-endian words. The payload is a stretch of a seeded random
 * pattern, named by its offset, so that both ends know it without computing it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_hash_crc.h>

#define GEN_MAGIC 0x4e475041u /* "APGN" */
#define GEN_TEST_BYTES 32
#define GEN_BLOCK 64    /**< a vector register's worth; payloads are copied and compared by it */
#define GEN_VARIANTS 16 /**< stretches used: few, so that they stay in the first-level cache */
#define GEN_PATTERN_BYTES 12288 /**< GEN_IP_BYTES_MAX and the variants' shift fit */

/**
 * Test header: magic (32 bits), flow (32), seq (64), tx_ns (64), ip_bytes (16), pattern (16),
 * check (32): CRC-32C over all before it, begun with the seed.
 */
struct gen_test {
	uint32_t flow;     /**< stream (8 bits) and number of the flow */
	uint16_t ip_bytes; /**< length of the IP packet */
	uint16_t pattern;  /**< where in the pattern the payload starts */
	uint64_t seq;      /**< of the flow, from 0 */
	uint64_t tx_ns;    /**< ap_clock_ns() of the sender */
};

/** One step of CRC-32C; rte_hash_crc_8byte() would ask each time which CPU this is. */
static inline uint32_t
gen_crc(uint32_t crc, uint64_t word)
{
#if defined(__SSE4_2__) && defined(__x86_64__)
	return (uint32_t)__builtin_ia32_crc32di(crc, word);
#else
	return rte_hash_crc_8byte(word, crc);
#endif
}

/** CRC-32C over the header: finds every error within 32 neighbouring bits. */
static inline uint32_t
gen_test_check(const uint64_t word[4], uint32_t seed)
{
	/* The check's own place counts as 0. */
	return gen_crc(gen_crc(gen_crc(gen_crc(seed, word[0]), word[1]), word[2]),
		       word[3] & UINT32_MAX);
}

static inline void
gen_test_encode(uint8_t *p, const struct gen_test *t, uint32_t seed)
{
	uint64_t word[4] = {GEN_MAGIC | (uint64_t)t->flow << 32, t->seq, t->tx_ns,
			    t->ip_bytes | (uint64_t)t->pattern << 16};

	word[3] |= (uint64_t)gen_test_check(word, seed) << 32;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t le = rte_cpu_to_le_64(word[i]);

		memcpy(p + i * sizeof(le), &le, sizeof(le));
	}
}

enum gen_test_is {
	GEN_TEST_INTACT,
	GEN_TEST_CHANGED, /**< the magic, but not the check */
	GEN_TEST_OTHER,   /**< no magic */
};

/** @param t filled with what stands there, even if it is not intact */
static inline enum gen_test_is
gen_test_decode(const uint8_t *p, struct gen_test *t, uint32_t seed)
{
	uint64_t word[4];

	for (unsigned i = 0; i < 4; i++) {
		memcpy(&word[i], p + i * sizeof(word[i]), sizeof(word[i]));
		word[i] = rte_le_to_cpu_64(word[i]);
	}
	t->flow = (uint32_t)(word[0] >> 32);
	t->seq = word[1];
	t->tx_ns = word[2];
	t->ip_bytes = (uint16_t)word[3];
	t->pattern = (uint16_t)(word[3] >> 16);
	if ((uint32_t)word[0] != GEN_MAGIC)
		return GEN_TEST_OTHER;
	return gen_test_check(word, seed) == word[3] >> 32 ? GEN_TEST_INTACT : GEN_TEST_CHANGED;
}

/** 64 bytes at any address; the compiler picks the machine's vector registers. */
typedef uint64_t gen_block __attribute__((vector_size(GEN_BLOCK), aligned(1), may_alias));

/** Copies ⌈len / 64⌉ blocks: up to 63 bytes more than `len`, on both sides. */
static inline void
gen_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += GEN_BLOCK)
		*(gen_block *)(to + i) = *(const gen_block *)(from + i);
}

/** @return whether `len` bytes are the same; reads nothing beyond them. */
static inline bool
gen_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	gen_block differ = {0};
	uint64_t any = 0;

	if (len < GEN_BLOCK)
		return memcmp(a, b, len) == 0;
	for (uint32_t i = 0; i < len - GEN_BLOCK; i += GEN_BLOCK)
		differ |= *(const gen_block *)(a + i) ^ *(const gen_block *)(b + i);
	/* The last block ends with the data and may overlap the one before. */
	differ |= *(const gen_block *)(a + len - GEN_BLOCK) ^
		  *(const gen_block *)(b + len - GEN_BLOCK);
	for (unsigned i = 0; i < GEN_BLOCK / sizeof(uint64_t); i++)
		any |= differ[i];
	return any == 0;
}

#endif
