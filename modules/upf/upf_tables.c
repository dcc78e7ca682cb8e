/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/upf/upf_tables.h"

#define SLAB_CHUNKS 64 /* taken from DPDK's memory at once */
#define SLAB_SLOTS (SLAB_CHUNKS * UPF_CHUNK_SESSIONS)

struct upf_tables *
upf_tables_create(const struct upf_owner_map *map, unsigned worker, int socket)
{
	struct upf_tables *t =
		rte_zmalloc_socket("upf_tables", sizeof(*t), RTE_CACHE_LINE_SIZE, socket);
	uint16_t columns = 0;

	if (!t)
		return NULL;
	for (unsigned b = 0; b < UPF_BUCKETS; b++)
		t->local[b] = map->worker[b] == worker ? columns++ : UPF_NOT_LOCAL;
	t->columns = columns;
	t->socket = socket;
	/* From the heap: of its pages only those of slots in use are ever there. */
	t->chunks = calloc((size_t)UPF_SLOTS / UPF_CHUNK_SESSIONS * columns + 1,
			   sizeof(struct upf_session *));
	if (!t->chunks) {
		rte_free(t);
		return NULL;
	}
	return t;
}

void
upf_tables_destroy(struct upf_tables *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nb_slabs; i++)
		rte_free(t->slabs[i]);
	free(t->slabs);
	free(t->chunks);
	rte_free(t);
}

static int
add_slab(struct upf_tables *t)
{
	struct upf_session **slabs =
		realloc(t->slabs, (t->nb_slabs + 1) * sizeof(struct upf_session *));

	if (!slabs)
		return -ENOMEM;
	t->slabs = slabs;
	t->slab = rte_zmalloc_socket("upf_sessions", SLAB_SLOTS * sizeof(struct upf_session),
				     RTE_CACHE_LINE_SIZE, t->socket);
	if (!t->slab)
		return -ENOMEM;
	t->slabs[t->nb_slabs] = t->slab;
	__atomic_store_n(&t->nb_slabs, t->nb_slabs + 1, __ATOMIC_RELAXED);
	t->slab_left = SLAB_CHUNKS;
	return 0;
}

int
upf_tables_prepare(struct upf_tables *t, uint32_t handle)
{
	uint32_t column = t->local[upf_teid_bucket(handle)];
	uint32_t row = upf_teid_slot(handle) / UPF_CHUNK_SESSIONS;
	struct upf_session **at;

	if (column == UPF_NOT_LOCAL)
		return -EINVAL;
	at = &t->chunks[row * t->columns + column];
	if (*at)
		return 0;
	if (t->slab_left == 0 && add_slab(t) < 0)
		return -ENOMEM;
	/* Whoever sees the chunk sees it empty. */
	__atomic_store_n(at, t->slab, __ATOMIC_RELEASE);
	t->slab += UPF_CHUNK_SESSIONS;
	t->slab_left--;
	t->nb_chunks++;
	if (row >= t->rows)
		__atomic_store_n(&t->rows, row + 1, __ATOMIC_RELEASE);
	return 0;
}

uint64_t
upf_tables_slots(const struct upf_tables *t)
{
	return (uint64_t)__atomic_load_n(&t->nb_slabs, __ATOMIC_RELAXED) * SLAB_SLOTS;
}

void
upf_tables_each(struct upf_tables *t, void (*fn)(struct upf_session *s, void *arg), void *arg)
{
	size_t nb = (size_t)__atomic_load_n(&t->rows, __ATOMIC_ACQUIRE) * t->columns;

	for (size_t i = 0; i < nb; i++) {
		struct upf_session *chunk = __atomic_load_n(&t->chunks[i], __ATOMIC_ACQUIRE);

		for (unsigned k = 0; chunk && k < UPF_CHUNK_SESSIONS; k++)
			if (chunk[k].id != 0 && !(chunk[k].flags & UPF_SESSION_ALIAS))
				fn(&chunk[k], arg);
	}
}
