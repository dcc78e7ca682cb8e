/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_WIRE_H
#define AIRPATH_MODULES_GEN_WIRE_H

/**
 * What a test packet carries behind its UDP header, and the bytes payloads are cut from.
 *
 * Fields are in host byte order: both ends are this program. The payload is a stretch of a
 * seeded random pattern, named by its offset, so that both ends know it without computing it.
 */

#include <stdint.h>
#include <string.h>

#include <rte_hash_crc.h>

#define GEN_MAGIC 0x4e475041u /* "APGN" */
#define GEN_TEST_BYTES 32
#define GEN_BLOCK 64    /**< a vector register's worth; payloads are copied and compared by it */
#define GEN_VARIANTS 16 /**< stretches used: few, so that they stay in the first-level cache */
#define GEN_PATTERN_BYTES 12288 /**< GEN_IP_BYTES_MAX and the variants' shift fit */

struct gen_test {
	uint32_t magic;
	uint32_t flow;     /**< stream (8 bits) and number of the flow */
	uint64_t seq;      /**< of the flow, from 0 */
	uint64_t tx_ns;    /**< ap_clock_ns() of the sender */
	uint16_t ip_bytes; /**< length of the IP packet */
	uint16_t pattern;  /**< where in the pattern the payload starts */
	uint32_t check;    /**< CRC-32C over all the above, begun with the seed */
};
_Static_assert(sizeof(struct gen_test) == GEN_TEST_BYTES, "wire layout");

/** CRC-32C: finds every error within 32 neighbouring bits. */
static inline uint32_t
gen_test_check(const struct gen_test *t, uint32_t seed)
{
	uint64_t word[3];
	uint32_t lengths, crc = seed;

	memcpy(word, t, sizeof(word));
	memcpy(&lengths, &t->ip_bytes, sizeof(lengths));
	for (unsigned i = 0; i < 3; i++)
		crc = rte_hash_crc_8byte(word[i], crc);
	return rte_hash_crc_4byte(lengths, crc);
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
	differ |=
	    *(const gen_block *)(a + len - GEN_BLOCK) ^ *(const gen_block *)(b + len - GEN_BLOCK);
	for (unsigned i = 0; i < GEN_BLOCK / sizeof(uint64_t); i++)
		any |= differ[i];
	return any == 0;
}

#endif
