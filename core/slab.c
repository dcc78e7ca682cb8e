/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/slab.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "core/huge.h"

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED 1
#endif
#endif
#ifndef CHECKED
#define CHECKED 0
#endif

#define LINE 64
#define STEPS 8 /* sizes from one power of two to the next */
#define SIZE_MAX_LINES (AP_HUGE_PAGE / 8 / LINE)
#define CLASSES 96

struct piece {
	struct piece *next;
};

/* Ahead of the pieces of its large page: its own line, so that they stay aligned. */
struct page {
	struct page *next;
};
_Static_assert(sizeof(struct page) <= LINE, "a line of its own");

struct class
{
	struct piece *free;
	uint8_t *fresh; /* of the last page */
	size_t left;    /* pieces there */
};

struct ap_slab {
	struct page *pages;
	struct class classes[CLASSES];
};

static size_t out; /* of all slabs */

struct ap_slab *
ap_slab_create(void)
{
	return calloc(1, sizeof(struct ap_slab));
}

void
ap_slab_destroy(struct ap_slab *s)
{
	struct page *next;

	if (s == NULL)
		return;
	for (struct page *p = s->pages; p != NULL; p = next) {
		next = p->next;
		ap_huge_free(p, AP_HUGE_PAGE);
	}
	free(s);
}

/* Lines 1..8 are classes 0..7; from there eight steps to each power of two. */
static unsigned
class_of(size_t lines, size_t *rounded)
{
	unsigned log, step;

	if (lines <= STEPS) {
		*rounded = lines;
		return (unsigned)lines - 1;
	}
	log = 63 - (unsigned)__builtin_clzll(lines - 1); /* 2^log ≤ lines - 1: log ≥ 3 */
	step = (unsigned)((lines - 1) >> (log - 3)) & (STEPS - 1);
	*rounded = (size_t)(STEPS + step + 1) << (log - 3);
	return (log - 2) * STEPS + step;
}

static bool
page_add(struct ap_slab *s, struct class *c, size_t bytes)
{
	struct page *p = ap_huge_alloc(AP_HUGE_PAGE);

	if (p == NULL)
		return false;
	p->next = s->pages;
	s->pages = p;
	c->fresh = (uint8_t *)p + LINE;
	c->left = (AP_HUGE_PAGE - LINE) / bytes;
	return true;
}

/* Larger ones are pages of their own. */
static void *
alloc_alone(size_t bytes)
{
	void *p;

	if (!CHECKED)
		p = ap_huge_alloc(bytes);
	else
		p = aligned_alloc(LINE, RTE_ALIGN_CEIL(RTE_MAX(bytes, (size_t)1), LINE));
	if (p == NULL)
		return NULL;
	if (CHECKED)
		memset(p, 0, bytes);
	__atomic_add_fetch(&out, bytes, __ATOMIC_RELAXED);
	return p;
}

void *
ap_slab_alloc(struct ap_slab *s, size_t bytes)
{
	const size_t lines = RTE_MAX(bytes / LINE + (bytes % LINE != 0), (size_t)1);
	struct class *c;
	size_t rounded;
	void *p;

	if (CHECKED || lines > SIZE_MAX_LINES)
		return alloc_alone(bytes);
	c = &s->classes[class_of(lines, &rounded)];
	if (c->free != NULL) {
		p = c->free;
		c->free = c->free->next;
		memset(p, 0, bytes);
	} else {
		if (c->left == 0 && !page_add(s, c, rounded * LINE))
			return NULL;
		p = c->fresh;
		c->fresh += rounded * LINE;
		c->left--;
	}
	__atomic_add_fetch(&out, bytes, __ATOMIC_RELAXED);
	return p;
}

void
ap_slab_free(struct ap_slab *s, void *p, size_t bytes)
{
	const size_t lines = RTE_MAX(bytes / LINE + (bytes % LINE != 0), (size_t)1);
	struct piece *piece = p;
	struct class *c;
	size_t rounded;

	if (p == NULL)
		return;
	__atomic_sub_fetch(&out, bytes, __ATOMIC_RELAXED);
	if (CHECKED) {
		free(p);
	} else if (lines > SIZE_MAX_LINES) {
		ap_huge_free(p, bytes);
	} else {
		c = &s->classes[class_of(lines, &rounded)];
		piece->next = c->free;
		c->free = piece;
	}
}

size_t
ap_slab_bytes(void)
{
	return __atomic_load_n(&out, __ATOMIC_RELAXED);
}
