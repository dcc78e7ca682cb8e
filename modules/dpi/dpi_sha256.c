/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/dpi/dpi_sha256.h"

#include <string.h>

#ifdef __SHA__
#include <immintrin.h>
#endif

static const uint32_t k256[64] __attribute__((aligned(16))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static const struct dpi_sha256 begin = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

#ifdef __SHA__
/*
 * These instructions have no VEX form: with the upper halves of registers in use each of them costs
 * some 200 cycles. So nothing that the compiler makes 256 bits wide may be in this function.
 */
__attribute__((noinline)) void
dpi_sha256_block(struct dpi_sha256 *s, const uint8_t block[DPI_SHA256_BLOCK])
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i *h = (__m128i *)(void *)s->h;
	/* The instructions want the state as ABEF and CDGH, highest word first. */
	__m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128(h), 0xb1);
	__m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(h + 1), 0x1b);
	__m128i abef = _mm_alignr_epi8(dcba, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
	const __m128i abef_was = abef, cdgh_was = cdgh;
	__m128i w[4];

#ifdef __AVX__
	_mm256_zeroupper();
#endif
	for (unsigned i = 0; i < 16; i++) {
		__m128i *t = &w[i % 4], rounds;

		if (i < 4)
			*t = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)block + i), swap);
		else /* the word of 16 rounds before is the one that is replaced */
			*t = _mm_sha256msg2_epu32(
				_mm_add_epi32(_mm_sha256msg1_epu32(*t, w[(i + 1) % 4]),
					      _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4)),
				w[(i + 3) % 4]);
		rounds = _mm_add_epi32(*t, _mm_load_si128((const __m128i *)(const void *)k256 + i));
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, rounds);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(rounds, 0x0e));
	}
	abef = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_was), 0x1b); /* FEBA */
	cdgh = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_was), 0xb1); /* DCHG */
	_mm_storeu_si128(h, _mm_blend_epi16(abef, cdgh, 0xf0));
	_mm_storeu_si128(h + 1, _mm_alignr_epi8(cdgh, abef, 8));
}
#else
static uint32_t
ror(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

/* FIPS 180-4 §6.2.2 */
void
dpi_sha256_block(struct dpi_sha256 *s, const uint8_t block[DPI_SHA256_BLOCK])
{
	uint32_t w[64], v[8];

	for (unsigned t = 0; t < 64; t++) {
		const uint8_t *p = block + 4 * t;

		w[t] = t < 16 ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
					p[3]
			      : (ror(w[t - 2], 17) ^ ror(w[t - 2], 19) ^ w[t - 2] >> 10) +
					w[t - 7] +
					(ror(w[t - 15], 7) ^ ror(w[t - 15], 18) ^ w[t - 15] >> 3) +
					w[t - 16];
	}
	memcpy(v, s->h, sizeof(v));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t a = v[0], e = v[4];
		uint32_t t1 = v[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + k256[t] + w[t];
		uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		s->h[i] += v[i];
}
#endif

void
dpi_hmac_key(struct dpi_hmac *k, const uint8_t *key, uint32_t len)
{
	uint8_t pad[DPI_SHA256_BLOCK] = {0};

	memcpy(pad, key, len);
	for (unsigned i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36;
	k->inner = k->outer = begin;
	dpi_sha256_block(&k->inner, pad);
	for (unsigned i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	dpi_sha256_block(&k->outer, pad);
}

/** The last block of a text of two, padded (FIPS 180-4 §5.1.1), and the digest. */
static void
finish(const struct dpi_sha256 *from, const uint8_t *text, uint32_t len,
       uint8_t digest[DPI_SHA256_DIGEST])
{
	const uint32_t bits = (DPI_SHA256_BLOCK + len) * 8;
	uint8_t block[DPI_SHA256_BLOCK] = {0};
	struct dpi_sha256 s = *from;

	memcpy(block, text, len);
	block[len] = 0x80;
	block[62] = (uint8_t)(bits >> 8);
	block[63] = (uint8_t)bits;
	dpi_sha256_block(&s, block);
	for (unsigned i = 0; i < DPI_SHA256_DIGEST; i++)
		digest[i] = (uint8_t)(s.h[i / 4] >> (24 - 8 * (i % 4)));
}

void
dpi_hmac(const struct dpi_hmac *k, const uint8_t *text, uint32_t len,
	 uint8_t digest[DPI_SHA256_DIGEST])
{
	uint8_t inner[DPI_SHA256_DIGEST];

	finish(&k->inner, text, len, inner);
	finish(&k->outer, inner, sizeof(inner), digest);
}
