/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "core/huge.h"
#include "modules/dpi/dpi_sieve.h"

#define WORD_BITS 32
#define BITS 16         /* of a gram, or up to twice as many: one in 200 others is let through */
#define BITS_OF_FEW 128 /* where these are few */
#define FEW 2048
#define LETTERS 0x2020202020202020ULL /* what tells cases apart, in all octets */

/* A gram's hash is of 32 bits, as eight of them fit in a register. */
#define MUL_LOW 0x9E3779B1U
#define MUL_HIGH 0x85EBCA77U
#define MUL_WORD 0xC2B2AE3DU
#define MUL_BITS 0x27D4EB2FU
#define FOLD_SHIFT 15

struct place {
	uint32_t word, bits;
};

/* The top bits of a product depend on all of its factor. */
static inline struct place
place_of(const struct dpi_sieve *s, uint64_t gram)
{
	uint32_t h = (uint32_t)gram * MUL_LOW + (uint32_t)(gram >> 32) * MUL_HIGH, b;

	h ^= h >> FOLD_SHIFT;
	b = h * MUL_BITS;
	return (struct place){.word = h * MUL_WORD >> s->shift,
			      .bits = 0x80000000U >> (b >> 27) | 0x80000000U >> (b << 5 >> 27) |
				      0x80000000U >> (b << 10 >> 27)};
}

unsigned
dpi_sieve_gram(const struct dpi_need *need)
{
	const unsigned len = need->least * 2 / 3;

	if (need->least < DPI_GRAM_MIN)
		return 0;
	return len < DPI_GRAM_MIN ? DPI_GRAM_MIN : len > DPI_GRAM_MAX ? DPI_GRAM_MAX : len;
}

static int
words_make(struct dpi_sieve *s, uint64_t grams)
{
	const uint64_t bits = grams * (grams > FEW ? BITS : BITS_OF_FEW);
	uint64_t words = 2;

	s->shift = 31;
	while (words * WORD_BITS < bits) {
		words *= 2;
		s->shift--;
	}
	s->words = ap_huge_table(words * sizeof(*s->words));
	return s->words ? 0 : -ENOMEM;
}

int
dpi_sieve_make(const struct dpi_need *need, uint32_t patterns, struct dpi_sieve **made)
{
	const unsigned len = dpi_sieve_gram(need);
	struct dpi_sieve *s;

	*made = NULL;
	if (len == 0 || patterns == 0)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->len = len;
	s->step = need->least - len + 1;
	s->step = s->step > DPI_STEP_MAX ? DPI_STEP_MAX : s->step;
	s->reach = DPI_SIEVE_GRAMS * s->step + len;
	s->mask = UINT64_MAX >> (64 - 8 * len);
	s->fold = need->fold ? LETTERS : 0;
	for (unsigned i = 0; i < DPI_SIEVE_LANES; i++)
		s->offsets[i] = (int32_t)(i * s->step);
	if (words_make(s, (uint64_t)patterns * s->step) < 0) {
		free(s);
		return -ENOMEM;
	}
	*made = s;
	return 0;
}

void
dpi_sieve_free(struct dpi_sieve *s)
{
	if (!s)
		return;
	free(s->words);
	free(s);
}

size_t
dpi_sieve_memory(const struct dpi_sieve *s)
{
	return s ? sizeof(*s) + (sizeof(*s->words) << (32 - s->shift)) : 0;
}

void
dpi_sieve_add(struct dpi_sieve *s, uint64_t gram)
{
	const struct place p = place_of(s, gram);

	s->words[p.word] |= p.bits;
}

/* --- lookup ----------------------------------------------------------------------------------- */

uint64_t
dpi_sieve_hits_plain(const struct dpi_sieve *s, const struct dpi_text *text, unsigned from)
{
	uint64_t hits = 0;

	for (unsigned i = 0; i < DPI_SIEVE_GRAMS && from + s->len <= text->len; i++) {
		const struct place p = place_of(s, dpi_gram_at(s, text->at + from));

		hits |= (uint64_t)((s->words[p.word] & p.bits) == p.bits) << i;
		from += s->step;
	}
	return hits;
}

#ifdef __AVX2__

static inline __m256i
all(uint64_t v)
{
	return _mm256_set1_epi32((int)(uint32_t)v);
}

/* Eight loads: as one instruction they take longer where they are not all near. */
static inline __m256i
words_at(const struct dpi_sieve *s, __m256i at)
{
	const __m128i low = _mm256_castsi256_si128(at), high = _mm256_extracti128_si256(at, 1);
	const uint64_t a = (uint64_t)_mm_cvtsi128_si64(low),
		       b = (uint64_t)_mm_extract_epi64(low, 1);
	const uint64_t c = (uint64_t)_mm_cvtsi128_si64(high);
	const uint64_t d = (uint64_t)_mm_extract_epi64(high, 1);
	const uint32_t *w = s->words;

	return _mm256_setr_epi32((int)w[(uint32_t)a], (int)w[a >> 32], (int)w[(uint32_t)b],
				 (int)w[b >> 32], (int)w[(uint32_t)c], (int)w[c >> 32],
				 (int)w[(uint32_t)d], (int)w[d >> 32]);
}

/* place_of() and the look at its word, of eight grams. @return bit n: the n-th is in the filter */
static inline unsigned
hits_of_eight(const struct dpi_sieve *s, const uint8_t *p, __m256i offsets)
{
	__m256i low = _mm256_i32gather_epi32((const int *)(const void *)p, offsets, 1);
	__m256i high = _mm256_i32gather_epi32((const int *)(const void *)(p + 4), offsets, 1);
	__m256i h, b, w;

	low = _mm256_or_si256(_mm256_and_si256(low, all(s->mask)), all(s->fold));
	high = _mm256_or_si256(_mm256_and_si256(high, all(s->mask >> 32)), all(s->fold >> 32));
	h = _mm256_add_epi32(_mm256_mullo_epi32(low, all(MUL_LOW)),
			     _mm256_mullo_epi32(high, all(MUL_HIGH)));
	h = _mm256_xor_si256(h, _mm256_srli_epi32(h, FOLD_SHIFT));
	b = _mm256_mullo_epi32(h, all(MUL_BITS));
	h = _mm256_srl_epi32(_mm256_mullo_epi32(h, all(MUL_WORD)),
			     _mm_cvtsi32_si128((int)s->shift));
	w = words_at(s, h);
	/* Each of the three bits where the sign is. */
	h = _mm256_sllv_epi32(w, _mm256_srli_epi32(b, 27));
	b = _mm256_slli_epi32(b, 5);
	h = _mm256_and_si256(h, _mm256_sllv_epi32(w, _mm256_srli_epi32(b, 27)));
	b = _mm256_slli_epi32(b, 5);
	h = _mm256_and_si256(h, _mm256_sllv_epi32(w, _mm256_srli_epi32(b, 27)));
	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(h));
}

static inline uint64_t
hits_from(const struct dpi_sieve *s, const struct dpi_text *text, unsigned from)
{
	const __m256i offsets = _mm256_loadu_si256((const __m256i *)(const void *)s->offsets);
	uint64_t hits = 0;

	for (unsigned i = 0; i < DPI_SIEVE_GRAMS && from + s->len <= text->len;
	     i += DPI_SIEVE_LANES) {
		const __m256i last = all(text->len - s->len - from);
		const __m256i behind = _mm256_cmpgt_epi32(offsets, last);
		const unsigned none = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(behind));

		hits |= (uint64_t)(hits_of_eight(s, text->at + from, offsets) & ~none) << i;
		from += DPI_SIEVE_LANES * s->step;
	}
	return hits;
}

#else

static inline uint64_t
hits_from(const struct dpi_sieve *s, const struct dpi_text *text, unsigned from)
{
	return dpi_sieve_hits_plain(s, text, from);
}

#endif

uint64_t
dpi_sieve_hits(const struct dpi_sieve *s, const struct dpi_text *text, unsigned from)
{
	return hits_from(s, text, from);
}

void
dpi_sieve_ask(const struct dpi_sieve *s, const struct dpi_text texts[], unsigned nb,
	      uint64_t hits[])
{
	for (unsigned i = 0; i < nb; i++)
		hits[i] = hits_from(s, &texts[i], 0);
}
