/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "modules/upf/upf_keys.h"

#define BITS_MIN 10
#define BITS_MAX 26
#define META_EMPTY 0
#define META_DELETED UINT32_MAX

struct entry {
	uint64_t high, low;
	uint32_t meta;
	uint32_t handle;
	uint64_t spare;
};

_Static_assert(sizeof(struct entry) == 32, "half a cache line");

struct table {
	unsigned bits;
	uint32_t live;
	uint32_t used; /* live or deleted */
	struct entry entries[];
};

struct upf_keys {
	struct table *now;
	struct table *all[BITS_MAX + 1]; /* by bits: freed at the end */
	int socket;
};

static uint64_t
hash(const struct upf_key *key)
{
	uint64_t h = key->high ^ (key->low * 0x9E3779B97F4A7C15ULL) ^ ((uint64_t)key->meta << 32);

	/* MurmurHash3's finalizer: every bit of the key counts in the upper ones. */
	h ^= h >> 33;
	h *= 0xFF51AFD7ED558CCDULL;
	h ^= h >> 33;
	h *= 0xC4CEB9FE1A85EC53ULL;
	return h;
}

static struct table *
table_create(unsigned bits, int socket)
{
	struct table *t =
		rte_zmalloc_socket("upf_keys", sizeof(*t) + (sizeof(struct entry) << bits),
				   RTE_CACHE_LINE_SIZE, socket);

	if (t)
		t->bits = bits;
	return t;
}

struct upf_keys *
upf_keys_create(int socket)
{
	struct upf_keys *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->socket = socket;
	k->now = k->all[BITS_MIN] = table_create(BITS_MIN, socket);
	if (!k->now) {
		free(k);
		return NULL;
	}
	return k;
}

void
upf_keys_destroy(struct upf_keys *k)
{
	if (!k)
		return;
	for (unsigned i = 0; i <= BITS_MAX; i++)
		rte_free(k->all[i]);
	free(k);
}

/* The entry of a key, or the first where it may go; one is always empty. */
static struct entry *
find(struct table *t, const struct upf_key *key, struct entry **place)
{
	uint64_t mask = (1ULL << t->bits) - 1;

	*place = NULL;
	for (uint64_t i = hash(key) >> (64 - t->bits);; i++) {
		struct entry *e = &t->entries[i & mask];
		uint32_t meta = __atomic_load_n(&e->meta, __ATOMIC_ACQUIRE);

		if (meta == key->meta && __atomic_load_n(&e->high, __ATOMIC_RELAXED) == key->high &&
		    __atomic_load_n(&e->low, __ATOMIC_RELAXED) == key->low)
			return e;
		if (meta == META_DELETED && !*place)
			*place = e;
		if (meta == META_EMPTY) {
			*place = *place ? *place : e;
			return NULL;
		}
	}
}

static bool
is_key(const struct entry *e, const struct upf_key *key)
{
	return __atomic_load_n(&e->meta, __ATOMIC_ACQUIRE) == key->meta &&
	       __atomic_load_n(&e->high, __ATOMIC_RELAXED) == key->high &&
	       __atomic_load_n(&e->low, __ATOMIC_RELAXED) == key->low;
}

uint32_t
upf_keys_get(const struct upf_keys *k, const struct upf_key *key)
{
	for (;;) {
		struct table *t = __atomic_load_n(&k->now, __ATOMIC_ACQUIRE);
		struct entry *place, *e = find(t, key, &place);
		uint32_t handle;

		if (!e)
			return 0;
		handle = __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);
		if (is_key(e, key)) /* still */
			return handle;
	}
}

void
upf_keys_prefetch(const struct upf_keys *k, const struct upf_key *key)
{
	const struct table *t = __atomic_load_n(&k->now, __ATOMIC_ACQUIRE);

	rte_prefetch0(&t->entries[hash(key) >> (64 - t->bits)]);
}

static void
put_new(struct table *t, const struct upf_key *key, uint32_t handle, struct entry *e)
{
	t->live++;
	t->used += e->meta == META_EMPTY;
	__atomic_store_n(&e->high, key->high, __ATOMIC_RELAXED);
	__atomic_store_n(&e->low, key->low, __ATOMIC_RELAXED);
	__atomic_store_n(&e->handle, handle, __ATOMIC_RELAXED);
	__atomic_store_n(&e->meta, key->meta, __ATOMIC_RELEASE);
}

static int
grow(struct upf_keys *k)
{
	struct table *from = k->now, *to;

	if (from->bits == BITS_MAX)
		return -ENOMEM;
	to = table_create(from->bits + 1, k->socket);
	if (!to)
		return -ENOMEM;
	for (uint64_t i = 0; i < 1ULL << from->bits; i++) {
		struct entry *e = &from->entries[i], *place;
		struct upf_key key = {.high = e->high, .low = e->low, .meta = e->meta};

		if (e->meta == META_EMPTY || e->meta == META_DELETED)
			continue;
		find(to, &key, &place);
		put_new(to, &key, e->handle, place);
	}
	k->all[to->bits] = to;
	__atomic_store_n(&k->now, to, __ATOMIC_RELEASE);
	return 0;
}

int
upf_keys_put(struct upf_keys *k, const struct upf_key *key, uint32_t handle)
{
	struct entry *place, *e = find(k->now, key, &place);

	if (e) {
		__atomic_store_n(&e->handle, handle, __ATOMIC_RELAXED);
		return 0;
	}
	if (place->meta == META_EMPTY && (k->now->used + 1) * 2ULL > 1ULL << k->now->bits) {
		int ret = grow(k);

		if (ret < 0)
			return ret;
		find(k->now, key, &place);
	}
	put_new(k->now, key, handle, place);
	return 0;
}

bool
upf_keys_delete(struct upf_keys *k, const struct upf_key *key)
{
	struct table *t = k->now;
	uint64_t mask = (1ULL << t->bits) - 1, i;
	struct entry *place, *e = find(t, key, &place);

	if (!e)
		return false;
	t->live--;
	__atomic_store_n(&e->meta, META_DELETED, __ATOMIC_RELEASE);
	i = (uint64_t)(e - t->entries);
	if (t->entries[(i + 1) & mask].meta != META_EMPTY)
		return true;
	/* Nobody has to look beyond: this one and the deleted ones before it end here. */
	for (; t->entries[i & mask].meta == META_DELETED; i--) {
		__atomic_store_n(&t->entries[i & mask].meta, META_EMPTY, __ATOMIC_RELEASE);
		t->used--;
	}
	return true;
}
