/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_ids.h"

#define ENTRIES_MIN 256

static uint32_t
place(const struct upf_ids *t, uint64_t id)
{
	return (uint32_t)(id * 0x9E3779B97F4A7C15ULL >> 32) & t->mask;
}

int
upf_ids_init(struct upf_ids *t)
{
	*t = (struct upf_ids){.mask = ENTRIES_MIN - 1};
	t->entry = calloc(ENTRIES_MIN, sizeof(*t->entry));
	return t->entry ? 0 : -ENOMEM;
}

void
upf_ids_fini(struct upf_ids *t)
{
	free(t->entry);
	free(t->sorted);
	*t = (struct upf_ids){0};
}

struct upf_id *
upf_ids_find(const struct upf_ids *t, uint64_t id)
{
	if (id == 0)
		return NULL;
	for (uint32_t i = place(t, id); t->entry[i].id != 0; i = (i + 1) & t->mask)
		if (t->entry[i].id == id)
			return &t->entry[i];
	return NULL;
}

static struct upf_id *
free_entry(const struct upf_ids *t, uint64_t id)
{
	uint32_t i = place(t, id);

	while (t->entry[i].id != 0)
		i = (i + 1) & t->mask;
	return &t->entry[i];
}

static int
grow(struct upf_ids *t)
{
	struct upf_ids old = *t;
	struct upf_id *entry = calloc(2 * ((size_t)t->mask + 1), sizeof(*entry));

	if (entry == NULL)
		return -ENOMEM;
	t->entry = entry;
	t->mask = 2 * t->mask + 1;
	for (uint32_t i = 0; i <= old.mask; i++)
		if (old.entry[i].id != 0)
			*free_entry(t, old.entry[i].id) = old.entry[i];
	free(old.entry);
	return 0;
}

struct upf_id *
upf_ids_add(struct upf_ids *t, uint64_t id)
{
	struct upf_id *e;

	if ((t->nb + 1) * 4ULL > (t->mask + 1ULL) * 3 && grow(t) < 0)
		return NULL;
	t->nb++;
	e = free_entry(t, id);
	*e = (struct upf_id){.id = id};
	return e;
}

/** What stood behind the entry moves up, so that no search ends at the gap. */
void
upf_ids_del(struct upf_ids *t, struct upf_id *e)
{
	uint32_t gap = (uint32_t)(e - t->entry);

	t->nb--;
	for (uint32_t i = (gap + 1) & t->mask; t->entry[i].id != 0; i = (i + 1) & t->mask) {
		uint32_t home = place(t, t->entry[i].id);

		if (((i - home) & t->mask) < ((i - gap) & t->mask))
			continue;
		t->entry[gap] = t->entry[i];
		gap = i;
	}
	t->entry[gap].id = 0;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/** Sorting once for a walk, not once for each of its steps. */
static int
sort(struct upf_ids *t)
{
	uint64_t *ids = malloc((t->nb + 1ULL) * sizeof(*ids));

	if (ids == NULL)
		return -ENOMEM;
	free(t->sorted);
	t->sorted = ids;
	t->nb_sorted = 0;
	for (uint32_t i = 0; i <= t->mask; i++)
		if (t->entry[i].id != 0)
			ids[t->nb_sorted++] = t->entry[i].id;
	qsort(ids, t->nb_sorted, sizeof(*ids), compare);
	return 0;
}

int
upf_ids_list(struct upf_ids *t, uint64_t after, uint64_t *ids, uint32_t max)
{
	uint32_t low = 0, high, nb = 0;

	if ((after == 0 || t->sorted == NULL) && sort(t) < 0)
		return -ENOMEM;
	high = t->nb_sorted;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->sorted[mid] <= after)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < t->nb_sorted && nb < max; low++)
		if (upf_ids_find(t, t->sorted[low]))
			ids[nb++] = t->sorted[low];
	if (nb < max) {
		free(t->sorted);
		t->sorted = NULL;
	}
	return (int)nb;
}
