/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "modules/gnb/gnb_ctx.h"
#include "modules/gnb/gnb_ids.h"

int
gnb_ids_init(struct gnb_ids *t, uint32_t capacity)
{
	*t = (struct gnb_ids){.free = calloc(capacity, sizeof(*t->free)),
			      .freed_ns = calloc(capacity, sizeof(*t->freed_ns)),
			      .generation = calloc(capacity, sizeof(*t->generation)),
			      .capacity = capacity};
	if (t->free == NULL || t->freed_ns == NULL || t->generation == NULL) {
		gnb_ids_fini(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < capacity; i++)
		t->free[i] = i;
	return 0;
}

void
gnb_ids_fini(struct gnb_ids *t)
{
	free(t->free);
	free(t->freed_ns);
	free(t->generation);
	*t = (struct gnb_ids){0};
}

static uint32_t
place(const struct gnb_ids *t, uint32_t i)
{
	uint64_t at = (uint64_t)t->head + i;

	return (uint32_t)(at < t->capacity ? at : at - t->capacity);
}

static bool
rests(const struct gnb_ids *t, uint32_t index, uint64_t now_ns)
{
	return t->generation[index] != 0 && now_ns < t->freed_ns[index] + GNB_INDEX_REST_NS;
}

uint32_t
gnb_ids_get(struct gnb_ids *t, uint64_t now_ns)
{
	uint32_t index = t->nb < t->capacity ? t->free[t->head] : 0;

	if (t->nb == t->capacity || rests(t, index, now_ns))
		return 0;
	t->head = place(t, 1);
	t->nb++;
	t->generation[index] = (uint8_t)(t->generation[index] % GNB_GENERATIONS + 1);
	return gnb_teid(t->generation[index], index, GNB_SLOT_N3);
}

void
gnb_ids_put(struct gnb_ids *t, uint32_t teid, uint64_t now_ns)
{
	uint32_t index = gnb_teid_index(teid);

	t->freed_ns[index] = now_ns;
	t->free[place(t, t->capacity - t->nb)] = index;
	t->nb--;
}

uint32_t
gnb_ids_resting(const struct gnb_ids *t, uint64_t now_ns)
{
	uint32_t low = 0, high = t->capacity - t->nb;

	/* They were freed in this order. */
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (rests(t, t->free[place(t, mid)], now_ns))
			high = mid;
		else
			low = mid + 1;
	}
	return t->capacity - t->nb - low;
}
