/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <hs/hs.h>

#include "modules/dpi/dpi_speed.h"

#define TIMES 4
#define DRAWN_MAX 24
#define LETTERS_MAX 128

enum text {
	DRAWN,   /* letters of the expression, at random */
	INTURN,  /* in the order in which it has them, again and again */
	LEADING, /* once so, then at random */
	TEXTS,
};

struct letters {
	char of[LETTERS_MAX];
	unsigned nb;
};

static void
letters_of(const char *text, struct letters *l)
{
	l->nb = 0;
	for (; *text && l->nb < LETTERS_MAX - 1; text++)
		if (isalnum((unsigned char)*text) || strchr("-_/:", *text))
			l->of[l->nb++] = *text;
	if (l->nb == 0)
		l->of[l->nb++] = 'a';
	l->of[l->nb] = '.'; /* at random only: most are not a dot, but something else */
}

static void
fill(char *to, const struct letters *l, enum text how, uint64_t *seed)
{
	for (unsigned i = 0; i < DPI_URL_MAX; i++) {
		bool in_turn = how == INTURN || (how == LEADING && i < l->nb);

		*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
		to[i] = l->of[in_turn ? i % l->nb : (unsigned)(*seed >> 33) % (l->nb + 1)];
	}
}

static int
goes_on(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *arg)
{
	(void)id;
	(void)from;
	(void)to;
	(void)flags;
	(void)arg;
	return 0;
}

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t
scan(const hs_database_t *db, hs_scratch_t *scratch, const char *text)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t took = cpu_ns();

		hs_scan(db, text, DPI_URL_MAX, 0, scratch, goes_on, NULL);
		took = cpu_ns() - took;
		best = took < best ? took : best;
	}
	return best;
}

int
dpi_speed(const struct hs_database *db, const struct dpi_expression *e, uint32_t nb, uint64_t *ns)
{
	uint32_t step = nb / DRAWN_MAX + 1;
	hs_scratch_t *scratch = NULL;
	char text[DPI_URL_MAX];
	uint64_t seed = 1;

	*ns = 0;
	if (hs_alloc_scratch(db, &scratch) != HS_SUCCESS)
		return -ENOMEM;
	for (uint32_t i = 0; i < nb; i += step) {
		struct letters l;

		letters_of(e[i].text, &l);
		for (unsigned how = 0; how < TEXTS; how++) {
			uint64_t took;

			fill(text, &l, how, &seed);
			took = scan(db, scratch, text);
			*ns = took > *ns ? took : *ns;
		}
	}
	hs_free_scratch(scratch);
	return 0;
}
