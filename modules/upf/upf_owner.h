/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_OWNER_H
#define AIRPATH_UPF_OWNER_H

/**
 * Which worker owns a session, and the TEIDs that say so.
 *
 *   TEID = bucket (12 bits) | slot (12 bits) | generation (8 bits)
 *
 * A session belongs to a bucket for its life, a bucket to a worker by a small map which only a
 * restart changes, so TEIDs outlive a change of the worker count. Slot and bucket index the
 * session; the generation tells a session from the one that had its slot before. Generation 0
 * is never given out: no TEID is 0 (TS 29.281 §5.1 keeps it), and none of another allocator with
 * a last octet of 0 looks like ours.
 *
 * The bucket is what a port's RSS makes of the UE's address: the low bits of a Toeplitz hash
 * under a key that repeats every 16 bits. Such a key gives an address the same hash wherever it
 * stands in the input, so both directions of a UE meet without the port knowing which is which.
 *
 * Hashes, maps and TEID fields are pure: any thread. struct upf_teids belongs to one thread, that
 * of whoever installs sessions.
 */

#include <stdbool.h>
#include <stdint.h>

#define UPF_BUCKETS 4096
#define UPF_SLOTS 4096 /**< most of a bucket */
#define UPF_GENERATION_MAX 255
#define UPF_WORKERS_MAX 256
#define UPF_TEID_REST_NS 30000000000ULL /**< a freed TEID's slot is not used again for so long */

/** What the RSS key repeats, in network order: an odd number of ones makes the hash a bijection
 * of the 16 bits it folds an address to. */
#define UPF_RSS_KEY_WORD 0x6D5A
#define UPF_RSS_KEY_BYTES 52 /**< enough for every port we know */

static inline uint32_t
upf_teid(uint32_t bucket, uint32_t slot, uint32_t generation)
{
	return bucket << 20 | slot << 8 | generation;
}

static inline uint32_t
upf_teid_bucket(uint32_t teid)
{
	return teid >> 20;
}

static inline uint32_t
upf_teid_slot(uint32_t teid)
{
	return teid >> 8 & (UPF_SLOTS - 1);
}

static inline uint32_t
upf_teid_generation(uint32_t teid)
{
	return teid & UPF_GENERATION_MAX;
}

/** The key to give a port, UPF_RSS_KEY_BYTES long. */
void upf_rss_key(uint8_t key[UPF_RSS_KEY_BYTES]);

/**
 * Toeplitz hash of input folded to 16 bits. With a key of period 16 the bits of the input a
 * multiple of 16 apart count alike, so XOR of its 16-bit words says all; both halves of the
 * 32-bit hash are equal.
 * @param x XOR of the input's 16-bit words, each read in network order
 * @return low 16 bits of the hash
 */
static inline uint16_t
upf_hash16(uint16_t x)
{
	uint32_t r = x, h = 0;

	/* The hash numbers bits from the other end. */
	r = (r & 0x5555) << 1 | (r >> 1 & 0x5555);
	r = (r & 0x3333) << 2 | (r >> 2 & 0x3333);
	r = (r & 0x0F0F) << 4 | (r >> 4 & 0x0F0F);
	r = (r & 0x00FF) << 8 | r >> 8;
	r |= r << 16;
	/* XOR of the key rotated to every set bit of x is XOR of x rotated to every set bit of the
	 * key. */
	for (unsigned i = 0; i < 16; i++)
		if (UPF_RSS_KEY_WORD >> i & 1)
			h ^= r >> (16 - i);
	return (uint16_t)h;
}

/** @return bucket of a UE's IPv4 address, 4 octets in network order. */
static inline uint32_t
upf_bucket_ip4(const uint8_t *ip4)
{
	uint16_t x = (uint16_t)((ip4[0] ^ ip4[2]) << 8 | (ip4[1] ^ ip4[3]));

	return upf_hash16(x) & (UPF_BUCKETS - 1);
}

/** @return bucket of a UE's IPv6 /64, 8 octets in network order. */
static inline uint32_t
upf_bucket_prefix6(const uint8_t *prefix)
{
	uint16_t x = (uint16_t)((prefix[0] ^ prefix[2] ^ prefix[4] ^ prefix[6]) << 8 |
				(prefix[1] ^ prefix[3] ^ prefix[5] ^ prefix[7]));

	return upf_hash16(x) & (UPF_BUCKETS - 1);
}

/**
 * The bucket of a session by its UE's addresses: the IPv4 address decides where there is one,
 * so an IPv4v6 session has one bucket.
 * @param ip4 4 octets or NULL
 * @param prefix6 8 octets or NULL
 * @return 0..UPF_BUCKETS - 1; -ENOENT without either (Ethernet, N9, framed routes only): such a
 *         session takes upf_teids_any_bucket().
 */
int upf_session_bucket(const uint8_t *ip4, const uint8_t *prefix6);

/** Bucket to worker. Constant while workers run. */
struct upf_owner_map {
	uint8_t worker[UPF_BUCKETS];
};

/**
 * Spreads buckets over workers as a port's RSS does whose redirection table has `entries`, entry
 * i leading to worker i % workers. Without such a port, UPF_BUCKETS entries spread best.
 * @param workers 1..UPF_WORKERS_MAX
 * @param entries a power of 2, `workers`..UPF_BUCKETS
 * @return 0 or -EINVAL
 */
int upf_owner_map_init(struct upf_owner_map *map, unsigned workers, unsigned entries);

/** @return the worker that owns a TEID's session, by its bucket alone. */
static inline unsigned
upf_owner_of_teid(const struct upf_owner_map *map, uint32_t teid)
{
	return map->worker[upf_teid_bucket(teid)];
}

struct upf_teids;

/** What a TEID is to the allocator. */
enum upf_teid_state {
	UPF_TEID_UNKNOWN, /**< of a slot never used here */
	UPF_TEID_LIVE,
	UPF_TEID_STALE, /**< of a used slot, but not what it now has */
};

/**
 * @param slots of every bucket, 1..UPF_SLOTS; 8 octets are kept for each
 * @param first_generation 1..UPF_GENERATION_MAX, of slots never used; one that differs from
 *        restart to restart keeps TEIDs apart that were freed before it and rest no more
 * @return NULL with an invalid argument or without memory
 */
struct upf_teids *upf_teids_create(unsigned slots, unsigned first_generation);
void upf_teids_destroy(struct upf_teids *t);

/** @return a bucket with a slot to give at `now_ns`, by turns over all buckets; -ENOSPC. */
int upf_teids_any_bucket(struct upf_teids *t, uint64_t now_ns);

/**
 * Gives out a TEID of a bucket: the slot that rests longest if it has rested UPF_TEID_REST_NS,
 * else one never used.
 * @return 0; -EINVAL for no bucket; -ENOSPC when all slots live; -EAGAIN when those free still rest
 */
int upf_teids_alloc(struct upf_teids *t, unsigned bucket, uint64_t now_ns, uint32_t *teid);

/**
 * Takes a TEID given out before a restart, or chosen by the control plane in restoration. Slots
 * below it that were never used rest from now on. Walks the bucket's free slots; not for the
 * usual establishment.
 * @return 0; -EEXIST when its slot lives; -EINVAL with generation 0 or a slot beyond those here
 */
int upf_teids_claim(struct upf_teids *t, uint32_t teid, uint64_t now_ns);

/** Frees a TEID, which rests from now on. @return 0, or -ENOENT when it does not live. */
int upf_teids_free(struct upf_teids *t, uint32_t teid, uint64_t now_ns);

/** A generation comes round after 255 uses of its slot, so not within two hours. */
enum upf_teid_state upf_teids_state(const struct upf_teids *t, uint32_t teid);

/** @return TEIDs that live. */
uint32_t upf_teids_live(const struct upf_teids *t);

#endif
