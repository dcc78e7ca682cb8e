/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_NEIGH_H
#define AIRPATH_UPF_NEIGH_H

/**
 * Link addresses of neighbours (RFC 826, RFC 4861 §7), one table for all workers, without locks.
 *
 * An entry is a cache line. Its `word` holds MAC, state and a generation that changes when the
 * entry is given to another address; who remembers an entry remembers the generation with it.
 * Use drives it: every user compares the time with `probe_ns`, and the one that moves it on
 * sends the request. Nobody walks the table.
 *
 *   INCOMPLETE → REACHABLE (an answer) → after UPF_NEIGH_REACHABLE_NS in use: probed,
 *   unicast, still used → 3 without answer: INCOMPLETE → 3 more: FAILED → a second later anew
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>

#define UPF_NEIGH_REACHABLE_NS 30000000000ULL /**< RFC 4861 §10 */
#define UPF_NEIGH_RETRANS_NS 1000000000ULL
#define UPF_NEIGH_TRIES 3                /**< MAX_UNICAST_SOLICIT, MAX_MULTICAST_SOLICIT */
#define UPF_NEIGH_IDLE_NS 60000000000ULL /**< beyond its probe time, an entry may be given away */
#define UPF_NEIGH_WAYS 8
#define UPF_NEIGH_PINNED (1ULL << 16) /**< in the third word of the key */

enum upf_neigh_state {
	UPF_NEIGH_FREE,
	UPF_NEIGH_CLAIMED, /**< its key is being written */
	UPF_NEIGH_INCOMPLETE,
	UPF_NEIGH_REACHABLE, /**< or stale: the MAC is used, and probed when it is old */
	UPF_NEIGH_STATIC,
	UPF_NEIGH_FAILED,
};

/** Any worker: rw, through atomics. */
struct upf_neigh {
	_Atomic uint64_t word;     /**< MAC as in memory (48 bits) | state (4) | generation (12) */
	_Atomic uint64_t probe_ns; /**< from then on use asks for a probe */
	_Atomic uint64_t key[3];   /**< address; interface, family and UPF_NEIGH_PINNED */
	_Atomic uint32_t tries;    /**< requests since the last answer */
} __rte_cache_aligned;
_Static_assert(sizeof(struct upf_neigh) == RTE_CACHE_LINE_MIN_SIZE, "a neighbour is a cache line");

struct upf_neigh_key {
	uint8_t interface; /**< from 1 */
	bool v6;
	uint8_t address[16];
};

struct upf_neighs {
	struct upf_neigh *entry;
	uint32_t mask;
};

/** What to do about a neighbour one wants to send to. */
enum upf_neigh_ask {
	UPF_NEIGH_QUIET,
	UPF_NEIGH_ASK_UNICAST,   /**< ask the MAC we have (RFC 4861 §7.3.3 PROBE) */
	UPF_NEIGH_ASK_MULTICAST, /**< ask everyone */
};

/** @param max entries, rounded up to a power of 2. @return 0 or -ENOMEM. */
int upf_neighs_init(struct upf_neighs *t, uint32_t max);
void upf_neighs_fini(struct upf_neighs *t);

/** @return index of the entry of `key`, or -ENOENT. Any thread. */
int upf_neigh_find(const struct upf_neighs *t, const struct upf_neigh_key *key);

/**
 * The entry of `key`, made INCOMPLETE if there is none.
 * @param pinned it is never given to another address
 * @return its index; -ENOSPC when those that could hold it are all in use. Any thread.
 */
int upf_neigh_get(struct upf_neighs *t, const struct upf_neigh_key *key, bool pinned,
		  uint64_t now_ns);

/** A link address was heard: makes or refreshes the entry. STATIC ones stay. Any thread. */
void upf_neigh_learn(struct upf_neighs *t, uint32_t index, const uint8_t mac[6], uint64_t now_ns);

/** Control thread: from the configuration. @return 0 or -ENOSPC. */
int upf_neigh_set_static(struct upf_neighs *t, const struct upf_neigh_key *key,
			 const uint8_t mac[6]);

/** The word of a MAC is not to be trusted any more (RFC 4861 §7.2.5: STALE): probe at next use. */
void upf_neigh_doubt(struct upf_neighs *t, uint32_t index, uint64_t now_ns);

/**
 * Whose turn it is to ask, at most one of all workers. To be called where probe_ns has passed.
 * Moves INCOMPLETE on to FAILED and REACHABLE on to INCOMPLETE when nobody answered.
 */
enum upf_neigh_ask upf_neigh_probe(struct upf_neigh *e, uint64_t now_ns);

/** What address the entry is of. */
void upf_neigh_key_of(const struct upf_neigh *e, struct upf_neigh_key *key);

static inline enum upf_neigh_state
upf_neigh_state(uint64_t word)
{
	return (enum upf_neigh_state)(word >> 48 & 0xF);
}

static inline uint16_t
upf_neigh_generation(uint64_t word)
{
	return (uint16_t)(word >> 52);
}

/** @return whether frames may be sent to the MAC in it. */
static inline bool
upf_neigh_usable(uint64_t word)
{
	return upf_neigh_state(word) == UPF_NEIGH_REACHABLE ||
	       upf_neigh_state(word) == UPF_NEIGH_STATIC;
}

/** @return whether it is a configured next hop: its entry is never given away. */
static inline bool
upf_neigh_pinned(const struct upf_neigh *e)
{
	return atomic_load(&e->key[2]) & UPF_NEIGH_PINNED;
}

static inline void
upf_neigh_mac(uint64_t word, uint8_t mac[6])
{
	memcpy(mac, &word, 6);
}

#endif
