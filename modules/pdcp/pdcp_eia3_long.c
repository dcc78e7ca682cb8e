/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <wmmintrin.h>

#include <rte_byteorder.h>

#include "modules/pdcp/pdcp_mb.h"

/** Reverses the bits of each byte. */
static inline uint32_t
reverse_bits_of_bytes(uint32_t x)
{
	x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
	x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
	return (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
}

/** Σ over the set bits of a word of the 32 bits of keystream that start at each. */
static inline uint32_t
word_mac(uint32_t message, uint64_t stream)
{
	/* The message's first bit is the least significant one of its reversal, and takes the
	 * keystream unshifted. */
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)stream),
					       _mm_cvtsi32_si128((int)message), 0);

	return (uint32_t)((uint64_t)_mm_cvtsi128_si64(product) >> 32);
}

/** Enciphers zeros; by a job, for the library's call for one buffer has the same limit as its EIA3.
 */
static void
keystream(struct pdcp_mb *e, const uint8_t *key, const void *iv, uint32_t words)
{
	uint32_t *z = e->stream;
	IMB_JOB *job = IMB_GET_NEXT_JOB(e->mgr);

	memset(z, 0, words * sizeof(*z));
	*job = (IMB_JOB){.cipher_mode = IMB_CIPHER_ZUC_EEA3,
			 .cipher_direction = IMB_DIR_ENCRYPT,
			 .hash_alg = IMB_AUTH_NULL,
			 .chain_order = IMB_ORDER_CIPHER_HASH,
			 .enc_keys = key,
			 .dec_keys = key,
			 .key_len_in_bytes = PDCP_KEY_LEN,
			 .iv = iv,
			 .iv_len_in_bytes = 16,
			 .src = (const uint8_t *)z,
			 .dst = (uint8_t *)z,
			 .msg_len_to_cipher_in_bytes = words * sizeof(*z)};
	if (IMB_SUBMIT_JOB_NOCHECK(e->mgr) == NULL)
		IMB_FLUSH_JOB(e->mgr);
	for (uint32_t i = 0; i < words; i++)
		z[i] = rte_be_to_cpu_32(z[i]);
}

uint32_t
pdcp_eia3_long(struct pdcp_mb *e, const uint8_t *key, const void *iv, const uint8_t *message,
	       uint32_t bytes)
{
	uint32_t *z = e->stream;
	const uint32_t whole = bytes / 4, rest = bytes % 4;
	uint32_t mac = 0, last = 0;

	keystream(e, key, iv, whole + 3);
	for (uint32_t i = 0; i < whole; i++) {
		uint32_t m;

		memcpy(&m, message + 4 * i, sizeof(m));
		mac ^= word_mac(reverse_bits_of_bytes(m), (uint64_t)z[i] << 32 | z[i + 1]);
	}
	memcpy(&last, message + 4 * whole, rest);
	mac ^= word_mac(reverse_bits_of_bytes(last), (uint64_t)z[whole] << 32 | z[whole + 1]);
	/* The bits that follow the message, and the last whole word. */
	mac ^= (uint32_t)(((uint64_t)z[whole] << 32 | z[whole + 1]) >> (32 - 8 * rest));
	mac ^= z[whole + (rest ? 2 : 1)];
	return rte_cpu_to_be_32(mac);
}
