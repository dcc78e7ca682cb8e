/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "modules/upf/upf_neigh.h"

#define MAC_MASK 0xFFFFFFFFFFFFULL
#define CLAIM_TRIES 8

static uint64_t
word_of(uint64_t mac, enum upf_neigh_state state, uint64_t generation)
{
	return (mac & MAC_MASK) | (uint64_t)state << 48 | generation << 52;
}

static uint64_t
key_word(const struct upf_neigh_key *key)
{
	return key->interface | (uint64_t)key->v6 << 8;
}

static void
key_address(const struct upf_neigh_key *key, uint64_t *a)
{
	a[0] = a[1] = 0;
	memcpy(a, key->address, key->v6 ? 16 : 4);
}

/** Where the search for `key` begins. */
static uint32_t
bucket(const struct upf_neighs *t, const struct upf_neigh_key *key)
{
	uint64_t a[2], h;

	key_address(key, a);
	h = (a[0] ^ key_word(key) * 0x9E3779B97F4A7C15ULL) * 0xBF58476D1CE4E5B9ULL;
	h = (h ^ h >> 29 ^ a[1]) * 0x94D049BB133111EBULL;
	return (uint32_t)(h >> 32) & t->mask;
}

/** Whether the entry is of this key: the generation is the same before and after the look. */
static bool
is_of(const struct upf_neigh *e, const uint64_t a[2], uint64_t k)
{
	uint64_t word = atomic_load(&e->word);
	bool same;

	if (upf_neigh_state(word) <= UPF_NEIGH_CLAIMED)
		return false;
	same = atomic_load(&e->key[0]) == a[0] && atomic_load(&e->key[1]) == a[1] &&
	       (atomic_load(&e->key[2]) & ~UPF_NEIGH_PINNED) == k;
	return same && upf_neigh_generation(atomic_load(&e->word)) == upf_neigh_generation(word);
}

void
upf_neigh_key_of(const struct upf_neigh *e, struct upf_neigh_key *key)
{
	uint64_t a[2] = {atomic_load(&e->key[0]), atomic_load(&e->key[1])};
	uint64_t k = atomic_load(&e->key[2]);

	key->interface = (uint8_t)k;
	key->v6 = k >> 8 & 1;
	memcpy(key->address, a, 16);
}

int
upf_neighs_init(struct upf_neighs *t, uint32_t max)
{
	t->mask = rte_align32pow2(RTE_MAX(max, (uint32_t)UPF_NEIGH_WAYS)) - 1;
	t->entry = rte_zmalloc("upf_neigh", (t->mask + 1) * sizeof(*t->entry), RTE_CACHE_LINE_SIZE);
	return t->entry ? 0 : -ENOMEM;
}

void
upf_neighs_fini(struct upf_neighs *t)
{
	rte_free(t->entry);
	t->entry = NULL;
}

static int
find_but(const struct upf_neighs *t, const struct upf_neigh_key *key, int but)
{
	const uint32_t at = bucket(t, key);
	const uint64_t k = key_word(key);
	uint64_t a[2];

	key_address(key, a);
	for (uint32_t i = 0; i < UPF_NEIGH_WAYS; i++) {
		uint32_t index = (at + i) & t->mask;

		if ((int)index != but && is_of(&t->entry[index], a, k))
			return (int)index;
	}
	return -ENOENT;
}

int
upf_neigh_find(const struct upf_neighs *t, const struct upf_neigh_key *key)
{
	return find_but(t, key, -1);
}

/** Whether nobody will miss what the entry holds. */
static bool
may_go(const struct upf_neigh *e, uint64_t word, uint64_t now_ns)
{
	switch (upf_neigh_state(word)) {
	case UPF_NEIGH_FREE:
		return true;
	case UPF_NEIGH_CLAIMED:
	case UPF_NEIGH_STATIC:
		return false;
	case UPF_NEIGH_FAILED:
		return !upf_neigh_pinned(e);
	default:
		return !upf_neigh_pinned(e) &&
		       atomic_load(&e->probe_ns) + UPF_NEIGH_IDLE_NS < now_ns;
	}
}

/** Takes an entry for `key`. @return its index or -ENOSPC. */
static int
claim(struct upf_neighs *t, const struct upf_neigh_key *key, bool pinned, uint64_t now_ns)
{
	const uint32_t at = bucket(t, key);
	uint64_t a[2];

	key_address(key, a);
	for (uint32_t i = 0; i < UPF_NEIGH_WAYS; i++) {
		struct upf_neigh *e = &t->entry[(at + i) & t->mask];
		uint64_t word = atomic_load(&e->word);
		uint64_t generation = (upf_neigh_generation(word) + 1ULL) & 0xFFF;

		if (!may_go(e, word, now_ns) ||
		    !atomic_compare_exchange_strong(&e->word, &word,
						    word_of(0, UPF_NEIGH_CLAIMED, generation)))
			continue;
		atomic_store(&e->key[0], a[0]);
		atomic_store(&e->key[1], a[1]);
		atomic_store(&e->key[2], key_word(key) | (pinned ? UPF_NEIGH_PINNED : 0));
		atomic_store(&e->tries, 0);
		atomic_store(&e->probe_ns, 0);
		atomic_store(&e->word, word_of(0, UPF_NEIGH_INCOMPLETE, generation));
		return (int)((at + i) & t->mask);
	}
	return -ENOSPC;
}

int
upf_neigh_get(struct upf_neighs *t, const struct upf_neigh_key *key, bool pinned, uint64_t now_ns)
{
	for (unsigned i = 0; i < CLAIM_TRIES; i++) {
		int index = upf_neigh_find(t, key), mine;

		if (index >= 0) {
			if (pinned)
				atomic_fetch_or(&t->entry[index].key[2], UPF_NEIGH_PINNED);
			/* It may have been given away in between: then look again. */
			if (!pinned || upf_neigh_find(t, key) == index)
				return index;
			continue;
		}
		mine = claim(t, key, pinned, now_ns);
		if (mine < 0 || find_but(t, key, mine) < 0)
			return mine;
		/* Another thread made one too. Whoever sees two gives up its own. */
		atomic_store(&t->entry[mine].word,
			     word_of(0, UPF_NEIGH_FREE,
				     upf_neigh_generation(atomic_load(&t->entry[mine].word))));
	}
	return -ENOSPC;
}

/** @return whether the word was changed; STATIC ones and free ones stay. */
static bool
set(struct upf_neigh *e, uint64_t mac, enum upf_neigh_state state)
{
	uint64_t word = atomic_load(&e->word);

	do {
		if (upf_neigh_state(word) <= UPF_NEIGH_CLAIMED ||
		    upf_neigh_state(word) == UPF_NEIGH_STATIC)
			return false;
	} while (!atomic_compare_exchange_weak(&e->word, &word,
					       word_of(mac, state, upf_neigh_generation(word))));
	return true;
}

void
upf_neigh_learn(struct upf_neighs *t, uint32_t index, const uint8_t mac[6], uint64_t now_ns)
{
	struct upf_neigh *e = &t->entry[index];
	uint64_t v = 0;

	memcpy(&v, mac, 6);
	if (!set(e, v, UPF_NEIGH_REACHABLE))
		return;
	atomic_store(&e->tries, 0);
	atomic_store(&e->probe_ns, now_ns + UPF_NEIGH_REACHABLE_NS);
}

int
upf_neigh_set_static(struct upf_neighs *t, const struct upf_neigh_key *key, const uint8_t mac[6])
{
	int index = upf_neigh_get(t, key, true, 0);
	uint64_t v = 0;

	if (index < 0)
		return index;
	memcpy(&v, mac, 6);
	atomic_store(&t->entry[index].probe_ns, UINT64_MAX);
	set(&t->entry[index], v, UPF_NEIGH_STATIC);
	return 0;
}

void
upf_neigh_doubt(struct upf_neighs *t, uint32_t index, uint64_t now_ns)
{
	struct upf_neigh *e = &t->entry[index];

	if (upf_neigh_state(atomic_load(&e->word)) == UPF_NEIGH_REACHABLE)
		atomic_store(&e->probe_ns, now_ns);
}

enum upf_neigh_ask
upf_neigh_probe(struct upf_neigh *e, uint64_t now_ns)
{
	uint64_t due = atomic_load(&e->probe_ns), word;
	uint32_t tries;

	if (due > now_ns ||
	    !atomic_compare_exchange_strong(&e->probe_ns, &due, now_ns + UPF_NEIGH_RETRANS_NS))
		return UPF_NEIGH_QUIET;
	word = atomic_load(&e->word);
	if (upf_neigh_state(word) == UPF_NEIGH_FAILED) {
		set(e, 0, UPF_NEIGH_INCOMPLETE);
		atomic_store(&e->tries, 1);
		return UPF_NEIGH_ASK_MULTICAST;
	}
	tries = atomic_fetch_add(&e->tries, 1);
	if (upf_neigh_state(word) == UPF_NEIGH_REACHABLE) {
		if (tries < UPF_NEIGH_TRIES)
			return UPF_NEIGH_ASK_UNICAST;
		set(e, 0, UPF_NEIGH_INCOMPLETE);
		atomic_store(&e->tries, 1);
		return UPF_NEIGH_ASK_MULTICAST;
	}
	if (upf_neigh_state(word) != UPF_NEIGH_INCOMPLETE)
		return UPF_NEIGH_QUIET;
	if (tries < UPF_NEIGH_TRIES)
		return UPF_NEIGH_ASK_MULTICAST;
	set(e, 0, UPF_NEIGH_FAILED);
	return UPF_NEIGH_QUIET;
}
