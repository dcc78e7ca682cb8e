/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "modules/gnb/gnb_ctx.h"
#include "modules/gnb/gnb_ids.h"

int
gnb_ids_init(struct gnb_ids *t, uint32_t capacity)
{
	*t = (struct gnb_ids){.free = calloc(capacity, sizeof(*t->free)),
			      .half_ns = calloc(capacity, sizeof(*t->half_ns)),
			      .generation = calloc(capacity, sizeof(*t->generation)),
			      .capacity = capacity};
	if (t->free == NULL || t->half_ns == NULL || t->generation == NULL) {
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
	free(t->half_ns);
	free(t->generation);
	*t = (struct gnb_ids){0};
}

static uint32_t
place(const struct gnb_ids *t, uint32_t i)
{
	uint64_t at = (uint64_t)t->head + i;

	return (uint32_t)(at < t->capacity ? at : at - t->capacity);
}

static uint8_t
next_generation(const struct gnb_ids *t, uint32_t index)
{
	return (uint8_t)(t->generation[index] % GNB_GENERATIONS + 1);
}

static bool
enters_half(uint8_t generation)
{
	return generation == 1 || generation == GNB_GENERATION_HALF;
}

static bool
rests(const struct gnb_ids *t, uint32_t index, uint64_t now_ns)
{
	return t->generation[index] != 0 && enters_half(next_generation(t, index)) &&
	       now_ns < t->half_ns[index] + GNB_TEID_REST_NS;
}

uint32_t
gnb_ids_get(struct gnb_ids *t, uint64_t now_ns)
{
	uint32_t index = t->nb < t->capacity ? t->free[t->head] : 0;

	if (t->nb == t->capacity || rests(t, index, now_ns))
		return 0;
	t->head = place(t, 1);
	t->nb++;
	t->generation[index] = next_generation(t, index);
	if (enters_half(t->generation[index]))
		t->half_ns[index] = now_ns;
	return gnb_teid(t->generation[index], index, GNB_SLOT_N3);
}

void
gnb_ids_put(struct gnb_ids *t, uint32_t teid)
{
	t->free[place(t, t->capacity - t->nb)] = gnb_teid_index(teid);
	t->nb--;
}

uint32_t
gnb_ids_resting(const struct gnb_ids *t, uint64_t now_ns)
{
	uint32_t nb = 0;

	for (uint32_t i = 0; i < t->capacity - t->nb; i++)
		nb += rests(t, t->free[place(t, i)], now_ns);
	return nb;
}
