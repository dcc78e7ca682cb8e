/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_KEYS_H
#define AIRPATH_UPF_KEYS_H

/**
 * The hash behind struct upf_index: keys to handles, one writer, readers without locks.
 *
 * Open addressing at half load at most, an entry in half a cache line. A deleted entry is empty
 * again when its successor is, else it only says that keys may follow; so a reader never misses a
 * key that stays. It may, for a moment, see a key deleted or one that came back: handles are hints.
 * A table too small is followed by one of twice the size; as readers may still be in it, it stays
 * until the end, so all former ones together are as large as the last.
 */

#include <stdbool.h>
#include <stdint.h>

enum upf_key_kind { /* never 0, which is an empty entry */
		    UPF_KEY_IP4 = 1,
		    UPF_KEY_IP6,
		    UPF_KEY_FRAMED4,
		    UPF_KEY_FRAMED6,
		    UPF_KEY_FOREIGN,
		    UPF_KEY_MAC,
};

/** Numbers in host order; an IPv4 address, a TEID or a /64 is in `high` alone. */
struct upf_key {
	uint64_t high, low;
	uint32_t meta; /**< upf_key_meta() */
};

static inline uint32_t
upf_key_meta(enum upf_key_kind kind, unsigned bits, unsigned interface)
{
	return (uint32_t)kind << 24 | bits << 8 | interface;
}

struct upf_keys;

/** @return NULL without memory. Control thread, as all but upf_keys_get(). */
struct upf_keys *upf_keys_create(int socket);
void upf_keys_destroy(struct upf_keys *k);

/** Adds a key or changes its handle, not 0. @return 0 or -ENOMEM, and nothing changed. */
int upf_keys_put(struct upf_keys *k, const struct upf_key *key, uint32_t handle);

/** @return whether it was there. */
bool upf_keys_delete(struct upf_keys *k, const struct upf_key *key);

/** Fetches the line that upf_keys_get() begins with. */
void upf_keys_prefetch(const struct upf_keys *k, const struct upf_key *key);

/** @return handle, 0: none. Any thread. */
uint32_t upf_keys_get(const struct upf_keys *k, const struct upf_key *key);

#endif
