/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_TABLES_H
#define AIRPATH_UPF_TABLES_H

/**
 * Sessions of a worker by bucket and slot: a TEID or handle is an index, without a hash.
 *
 *   local[bucket] ─→ column             8 KiB, always near
 *   chunk[slot / 4][column] ─→ 4 sessions of that bucket, side by side
 *
 * As agents give out low slots first and addresses spread over buckets evenly, few rows of chunk[]
 * are touched. A session's address never changes while the worker runs, and memory of a chunk
 * stays: a pointer kept a little too long reads a session of id 0, or a later one.
 *
 * The control thread provides chunks before it sends what needs them (upf_tables_prepare()); all
 * else is the worker's.
 */

#include <stdint.h>

#include <rte_prefetch.h>

#include "modules/upf/upf_ethernet.h"
#include "modules/upf/upf_owner.h"
#include "modules/upf/upf_session.h"

#define UPF_CHUNK_SESSIONS 4
#define UPF_NOT_LOCAL UINT16_MAX

struct upf_ethernet;

struct upf_tables {
	uint16_t local[UPF_BUCKETS];   /**< UPF_NOT_LOCAL: another worker's */
	uint32_t columns;              /**< buckets of this worker */
	uint32_t sessions;             /**< worker: rw */
	struct upf_ethernet *ethernet; /**< sessions of Ethernet: worker rw */
	struct upf_recent recent;      /**< addresses they learned: worker rw */
	uint16_t stamps;               /**< sessions that began, low bits; worker: rw */
	/** Control thread: rw, worker: ro. */
	struct upf_session **chunks;
	uint32_t rows; /**< of chunks in use, rises */
	uint32_t nb_chunks;
	/* control thread alone: memory that chunks are taken from */
	struct upf_session *slab;
	uint32_t slab_left, nb_slabs;
	struct upf_session **slabs;
	int socket;
};

/** For the buckets that `map` gives `worker`. Control thread. @return NULL without memory. */
struct upf_tables *upf_tables_create(const struct upf_owner_map *map, unsigned worker, int socket);
/** The worker has stopped; rules of sessions are the caller's to free before. */
void upf_tables_destroy(struct upf_tables *t);

/**
 * Makes room for the slot of a handle or TEID. Control thread, while the worker runs.
 * @return 0; -EINVAL for another worker's; -ENOMEM
 */
int upf_tables_prepare(struct upf_tables *t, uint32_t handle);

/** @return slots there is memory for, used or not; it only rises. Any thread, not exact. */
uint64_t upf_tables_slots(const struct upf_tables *t);

/** Calls `fn` for every session, no aliases. The worker, or when it has stopped. */
void upf_tables_each(struct upf_tables *t, void (*fn)(struct upf_session *s, void *arg), void *arg);

/** @return the slot of a handle or TEID whatever is in it, NULL when there is none. */
static inline struct upf_session *
upf_slot(const struct upf_tables *t, uint32_t handle)
{
	uint32_t column = t->local[upf_teid_bucket(handle)], slot = upf_teid_slot(handle);
	struct upf_session *chunk;

	if (column == UPF_NOT_LOCAL)
		return NULL;
	chunk = __atomic_load_n(&t->chunks[slot / UPF_CHUNK_SESSIONS * t->columns + column],
				__ATOMIC_RELAXED);
	return chunk ? chunk + slot % UPF_CHUNK_SESSIONS : NULL;
}

/**
 * Whether the slot is that of a live TEID of ours: `s` may be an alias (UPF_SESSION_ALIAS), whose
 * only_up is that of the alias's tunnel and whose session is s->of.
 */
static inline bool
upf_slot_has_teid(const struct upf_session *s, uint32_t teid)
{
	return s->generation == upf_teid_generation(teid) && s->id != 0;
}

/** @return the session itself, of an alias the one it is of. */
static inline struct upf_session *
upf_slot_session(struct upf_session *s)
{
	return s->flags & UPF_SESSION_ALIAS ? s->of : s;
}

/** @return slot of a live TEID of ours, an alias or not, or NULL. */
static inline struct upf_session *
upf_by_teid(const struct upf_tables *t, uint32_t teid)
{
	struct upf_session *s = upf_slot(t, teid);

	return s && upf_slot_has_teid(s, teid) ? s : NULL;
}

/** @return live session of a handle, as struct upf_index gives it, or NULL. */
static inline struct upf_session *
upf_by_handle(const struct upf_tables *t, uint32_t handle)
{
	struct upf_session *s = upf_slot(t, handle);

	return s && s->handle == handle && s->id != 0 && !(s->flags & UPF_SESSION_ALIAS) ? s : NULL;
}

#endif
