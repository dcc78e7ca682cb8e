/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "modules/dpi/dpi_patterns_impl.h"

struct search {
	const struct pattern *patterns;
	unsigned best; /* the id found */
};

/* @return not 0: nothing comes before this */
static int
found(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *arg)
{
	struct search *s = arg;
	unsigned anchored = s->patterns[id].anchored;

	(void)from;
	(void)flags;
	if (id < s->best && (anchored == 0 || to == anchored))
		s->best = id;
	return s->best == 0;
}

/* What the sieves of a kind let through of some texts. */
struct sifted {
	uint64_t hits[FORMS][DPI_PATTERN_TEXTS];
};

static void
sift(const struct kind *k, const struct dpi_text texts[], unsigned nb, struct sifted *of)
{
	const struct dpi_sieve *one = k->sieves[LITERAL], *other = k->sieves[EXPRESSION];

	memset(of, 0, sizeof(*of));
	if (one)
		dpi_sieve_ask(one, texts, nb, of->hits[LITERAL]);
	if (other && other != one)
		dpi_sieve_ask(other, texts, nb, of->hits[EXPRESSION]);
	for (unsigned i = 0; i < nb && k->texts; i++)
		if (of->hits[LITERAL][i] != 0)
			dpi_texts_prefetch(k->texts,
					   (struct dpi_hits){.sieve = one,
							     .text = &texts[i],
							     .bits = of->hits[LITERAL][i]});
}

/* @return whether Vectorscan must be asked: `s` does not say yet what there is to say */
static bool
is_open(const struct kind *k, enum form form, const struct dpi_text *text, uint64_t bits,
	struct search *s)
{
	const struct dpi_sieve *sieve = k->sieves[form];
	const struct dpi_hits hits = {.sieve = sieve, .text = text, .bits = bits};

	if (!k->db[form] || (sieve && bits == 0 && text->len < sieve->reach))
		return false;
	if (!sieve)
		return true;
	if (form == LITERAL && k->texts) {
		const uint32_t id = dpi_texts_find(k->texts, hits);

		if (id == DPI_TEXT_UNKNOWN)
			return true;
		s->best = id;
		return false;
	}
	return dpi_grams_may(k->grams[form], hits);
}

static uint16_t
find(const struct kind *k, const struct dpi_text *text, const uint64_t bits[FORMS],
     struct hs_scratch *scratch)
{
	struct search s = {.patterns = k->patterns, .best = UINT32_MAX};

	for (unsigned form = 0; form < FORMS && s.best != 0; form++)
		if (is_open(k, form, text, bits[form], &s))
			hs_scan(k->db[form], (const char *)text->at, text->len, 0, scratch, found,
				&s);
	return s.best == UINT32_MAX ? 0 : k->patterns[s.best].app;
}

void
dpi_patterns_find(const struct dpi_patterns *p, enum dpi_pattern_kind kind,
		  const struct dpi_text texts[], unsigned nb, struct hs_scratch *scratch,
		  uint16_t apps[])
{
	const struct kind *k = &p->kinds[kind];
	const unsigned other = k->sieves[EXPRESSION] == k->sieves[LITERAL] ? LITERAL : EXPRESSION;
	struct sifted of;

	sift(k, texts, nb, &of);
	for (unsigned i = 0; i < nb; i++) {
		const uint64_t bits[FORMS] = {of.hits[LITERAL][i], of.hits[other][i]};

		apps[i] = find(k, &texts[i], bits, scratch);
	}
}
