/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "modules/upf/upf_owner.h"

#define NONE UPF_SLOTS /* no slot */

struct slot {
	uint64_t freed_ms : 40; /* rounded up; 34 years */
	uint64_t next : 13;     /* freed after this one, or NONE */
	uint64_t live : 1;
	uint64_t generation : 8; /* of the last TEID; 0: never used */
};

_Static_assert(sizeof(struct slot) == 8, "a slot is to stay small");

/* Free slots that were used are a list in the order they were freed. */
struct bucket {
	uint16_t used;       /* slots below were given out at least once */
	uint16_t live;       /* TEIDs */
	uint16_t first_free; /* rests longest, or NONE */
	uint16_t last_free;
};

struct upf_teids {
	unsigned slots;
	unsigned turn; /* bucket to be looked at next by upf_teids_any_bucket() */
	uint32_t live;
	uint8_t first_generation;
	struct bucket buckets[UPF_BUCKETS];
	struct slot slot[];
};

void
upf_rss_key(uint8_t key[UPF_RSS_KEY_BYTES])
{
	for (unsigned i = 0; i < UPF_RSS_KEY_BYTES; i++)
		key[i] = (uint8_t)(UPF_RSS_KEY_WORD >> (i % 2 ? 0 : 8));
}

int
upf_session_bucket(const uint8_t *ip4, const uint8_t *prefix6)
{
	if (ip4)
		return (int)upf_bucket_ip4(ip4);
	return prefix6 ? (int)upf_bucket_prefix6(prefix6) : -ENOENT;
}

int
upf_owner_map_init(struct upf_owner_map *map, unsigned workers, unsigned entries)
{
	if (workers < 1 || workers > UPF_WORKERS_MAX || entries < workers ||
	    entries > UPF_BUCKETS || (entries & (entries - 1)) != 0)
		return -EINVAL;
	for (unsigned b = 0; b < UPF_BUCKETS; b++)
		map->worker[b] = (uint8_t)((b & (entries - 1)) % workers);
	return 0;
}

static uint64_t
ms_up(uint64_t ns)
{
	return (ns + 999999) / 1000000;
}

static bool
has_rested(const struct slot *s, uint64_t now_ns)
{
	return now_ns / 1000000 >= s->freed_ms + UPF_TEID_REST_NS / 1000000;
}

static struct slot *
slot_of(struct upf_teids *t, unsigned bucket, unsigned slot)
{
	return &t->slot[(size_t)bucket * t->slots + slot];
}

struct upf_teids *
upf_teids_create(unsigned slots, unsigned first_generation)
{
	struct upf_teids *t;

	if (slots < 1 || slots > UPF_SLOTS || first_generation < 1 ||
	    first_generation > UPF_GENERATION_MAX)
		return NULL;
	t = calloc(1, sizeof(*t) + (size_t)UPF_BUCKETS * slots * sizeof(t->slot[0]));
	if (!t)
		return NULL;
	t->slots = slots;
	t->first_generation = (uint8_t)first_generation;
	for (unsigned b = 0; b < UPF_BUCKETS; b++)
		t->buckets[b].first_free = t->buckets[b].last_free = NONE;
	return t;
}

void
upf_teids_destroy(struct upf_teids *t)
{
	free(t);
}

static bool
can_give(struct upf_teids *t, unsigned bucket, uint64_t now_ns)
{
	const struct bucket *b = &t->buckets[bucket];

	return b->used < t->slots ||
	       (b->first_free != NONE && has_rested(slot_of(t, bucket, b->first_free), now_ns));
}

int
upf_teids_any_bucket(struct upf_teids *t, uint64_t now_ns)
{
	for (unsigned i = 0; i < UPF_BUCKETS; i++) {
		unsigned bucket = t->turn;

		t->turn = (t->turn + 1) % UPF_BUCKETS;
		if (can_give(t, bucket, now_ns))
			return (int)bucket;
	}
	return -ENOSPC;
}

/* Puts a slot behind all that rest. */
static void
rest(struct upf_teids *t, unsigned bucket, unsigned slot, uint64_t now_ns)
{
	struct bucket *b = &t->buckets[bucket];
	struct slot *s = slot_of(t, bucket, slot);

	s->live = 0;
	s->freed_ms = ms_up(now_ns);
	s->next = NONE;
	if (b->last_free == NONE)
		b->first_free = (uint16_t)slot;
	else
		slot_of(t, bucket, b->last_free)->next = slot;
	b->last_free = (uint16_t)slot;
}

/* Takes a slot out of those that rest; `before` is the one freed before it, or NONE. */
static void
wake(struct upf_teids *t, unsigned bucket, unsigned slot, unsigned before)
{
	struct bucket *b = &t->buckets[bucket];
	unsigned next = slot_of(t, bucket, slot)->next;

	if (before == NONE)
		b->first_free = (uint16_t)next;
	else
		slot_of(t, bucket, before)->next = next;
	if (b->last_free == slot)
		b->last_free = (uint16_t)before;
}

static void
give(struct upf_teids *t, unsigned bucket, unsigned slot, unsigned generation)
{
	struct slot *s = slot_of(t, bucket, slot);

	s->live = 1;
	s->generation = generation;
	t->buckets[bucket].live++;
	t->live++;
}

int
upf_teids_alloc(struct upf_teids *t, unsigned bucket, uint64_t now_ns, uint32_t *teid)
{
	struct bucket *b;
	struct slot *s;
	unsigned slot;

	if (bucket >= UPF_BUCKETS)
		return -EINVAL;
	b = &t->buckets[bucket];
	if (b->live == t->slots)
		return -ENOSPC;
	if (!can_give(t, bucket, now_ns))
		return -EAGAIN;
	if (b->first_free != NONE && has_rested(slot_of(t, bucket, b->first_free), now_ns)) {
		slot = b->first_free;
		wake(t, bucket, slot, NONE);
	} else {
		slot = b->used++;
	}
	s = slot_of(t, bucket, slot);
	give(t, bucket, slot,
	     s->generation ? s->generation % UPF_GENERATION_MAX + 1U : t->first_generation);
	*teid = upf_teid(bucket, slot, s->generation);
	return 0;
}

/* Takes a slot out of the middle of those that rest. */
static void
wake_found(struct upf_teids *t, unsigned bucket, unsigned slot)
{
	unsigned before = NONE, at = t->buckets[bucket].first_free;

	while (at != slot) {
		before = at;
		at = slot_of(t, bucket, at)->next;
	}
	wake(t, bucket, slot, before);
}

int
upf_teids_claim(struct upf_teids *t, uint32_t teid, uint64_t now_ns)
{
	unsigned bucket = upf_teid_bucket(teid), slot = upf_teid_slot(teid);
	struct bucket *b = &t->buckets[bucket];

	if (slot >= t->slots || upf_teid_generation(teid) == 0)
		return -EINVAL;
	if (slot < b->used) {
		if (slot_of(t, bucket, slot)->live)
			return -EEXIST;
		wake_found(t, bucket, slot);
	} else {
		while (b->used < slot)
			rest(t, bucket, b->used++, now_ns);
		b->used++;
	}
	give(t, bucket, slot, upf_teid_generation(teid));
	return 0;
}

int
upf_teids_free(struct upf_teids *t, uint32_t teid, uint64_t now_ns)
{
	if (upf_teids_state(t, teid) != UPF_TEID_LIVE)
		return -ENOENT;
	rest(t, upf_teid_bucket(teid), upf_teid_slot(teid), now_ns);
	t->buckets[upf_teid_bucket(teid)].live--;
	t->live--;
	return 0;
}

enum upf_teid_state
upf_teids_state(const struct upf_teids *t, uint32_t teid)
{
	unsigned slot = upf_teid_slot(teid), generation = upf_teid_generation(teid);
	const struct slot *s;

	if (slot >= t->slots || generation == 0)
		return UPF_TEID_UNKNOWN;
	s = &t->slot[(size_t)upf_teid_bucket(teid) * t->slots + slot];
	if (s->generation == 0)
		return UPF_TEID_UNKNOWN;
	return s->live && generation == s->generation ? UPF_TEID_LIVE : UPF_TEID_STALE;
}

uint32_t
upf_teids_live(const struct upf_teids *t)
{
	return t->live;
}
