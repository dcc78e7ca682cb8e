/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FLOW_H
#define AIRPATH_UPF_FLOW_H

/**
 * The flow table of a worker: what was decided for the packets of a flow, a cache line a flow.
 *
 *   hash ─→ bucket of 8 lines, home among them: the flow is there nearly always; else the line at
 *   home says which of the others have flows that belong there. So one line is read for a flow that
 *   is known, and for one that is new.
 *
 * A flow is a session with both ends of its packets, whichever of them sent one; so both directions
 * are one entry, with a *way* each: the lane and all else of the packet that the lane depends on
 * (tunnel and interface by the group of PDRs, QFI, ToS, flow label), in one word. A packet whose
 * word differs is matched anew. So is one whose session has other rules: `stamp`.
 *
 * A full bucket gives up the flow not seen for longest, which has nothing that cannot be found out
 * again but its application; one whose 8 flows were all seen in this very tick takes none.
 * Everything here belongs to the worker. It knows neither graph nor clock.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#define UPF_FLOW_WAYS 8 /**< flows of a bucket */
#define UPF_FLOW_NONE UINT32_MAX

enum upf_flow_what { /* of a key */
		     UPF_FLOW_IP6 = 1 << 0,
		     UPF_FLOW_PORTS = 1 << 1,
		     UPF_FLOW_SPI = 1 << 2, /**< ESP, AH: the SPI is in `ports` */
};

/** All zero where a packet has it not. */
struct upf_flow_key {
	uint8_t ends[2][16]; /**< addresses, network order; the lower end first */
	uint32_t handle;     /**< of the session */
	uint16_t ports[2];   /**< of ends[0] and [1], network order */
	uint8_t proto, what; /**< IP protocol; Σ enum upf_flow_what */
	uint8_t zero[6];     /**< not of the key */
};
_Static_assert(sizeof(struct upf_flow_key) == 48, "six words");

/* A way, from bit 0: lane (8), group (8), QFI (8), ToS (8), flow label (20), valid (1). */
#define UPF_WAY_LANE_MASK 0xFFULL
#define UPF_WAY_GROUP_SHIFT 8
#define UPF_WAY_QFI_SHIFT 16
#define UPF_WAY_TOS_SHIFT 24
#define UPF_WAY_TOS_MASK (0xFFULL << UPF_WAY_TOS_SHIFT)
#define UPF_WAY_LABEL_SHIFT 32
#define UPF_WAY_VALID (1ULL << 52)
#define UPF_WAY_MASK ((1ULL << 56) - 1)
/** What has to be the packet's. */
#define UPF_WAY_PACKET_MASK (((1ULL << 53) - 1) & ~UPF_WAY_LANE_MASK)

enum upf_flow_state {
	UPF_FLOW_LOOKED = 1 << 0,   /**< its headers were looked up: `app` says something */
	UPF_FLOW_FINAL = 1 << 1,    /**< nobody looks for its name any more */
	UPF_FLOW_BAD = 1 << 2,      /**< it broke its protocol's rules, and is closed for that */
	UPF_FLOW_CLOSING = 1 << 3,  /**< TCP: FIN or RST was seen */
	UPF_FLOW_SCANNING = 1 << 4, /**< `app` is the scan it has: upf_scans.h */
	UPF_FLOW_NAMED = 1 << 5,    /**< its name is about to be looked up with others */
	UPF_FLOW_WAITS =
		1 << 6, /**< a packet of this vector is to be decided: so are those behind */
};

/** Worker: rw. A way has seven octets of its word. */
struct upf_flow {
	union {
		struct upf_flow_key key; /**< handle 0: free */
		struct {
			uint8_t end4[4];
			uint32_t first; /**< of IPv4 flows, whose addresses are short: what
					   upf_scan_first() keeps of them */
			uint8_t others[34];
			uint16_t app;   /**< application, 0: none known */
			uint16_t stamp; /**< of the session's rules that the ways are by */
			uint16_t seen;  /**< tick of its last packet */
		};
	};
	union {
		uint64_t way[2]; /**< [d]: of packets from ends[d]; upf_flow_way_set() */
		struct {
			uint8_t way0[7];
			uint8_t kin; /**< 1 << w: line w of the bucket has a flow whose home this is
				      */
			uint8_t way1[7];
			uint8_t state; /**< Σ enum upf_flow_state */
		};
	};
} __rte_cache_aligned;
_Static_assert(sizeof(struct upf_flow) == RTE_CACHE_LINE_MIN_SIZE, "a flow is a cache line");
_Static_assert(offsetof(struct upf_flow, app) == offsetof(struct upf_flow_key, zero), "key");
_Static_assert(offsetof(struct upf_flow, kin) == offsetof(struct upf_flow, way) + 7, "little end");
_Static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "of ways, and of the words of keys");

#define UPF_FLOW_TICK_SHIFT 27 /**< a tick is 134 ms; all of them 2 h 26 min */

static inline uint16_t
upf_flow_tick(uint64_t now_ns)
{
	return (uint16_t)(now_ns >> UPF_FLOW_TICK_SHIFT);
}

struct upf_flow_stats {
	uint64_t made;    /**< flows that got an entry */
	uint64_t evicted; /**< gave theirs to others */
	uint64_t expired; /**< idle, and gone */
	uint64_t crowded; /**< packets decided without an entry: a bucket of busy flows */
	uint64_t capped;  /**< ... the session has as many flows as one may have */
	uint32_t live;
};

struct upf_flows {
	struct upf_flow *flows;
	uint32_t nb_buckets;
	uint32_t sweep;    /**< bucket that upf_flows_sweep() looks at next */
	uint64_t sweep_ns; /**< when */
	uint64_t secret[6];
	struct upf_flow_stats stats;
	size_t bytes; /**< mapped */
	bool touched; /**< control thread's */
};

/**
 * @param flows entries, rounded up to a whole bucket
 * @return NULL without memory. The kernel gives the pages when they are touched: see
 *         upf_flows_touch(). Control thread.
 */
struct upf_flows *upf_flows_create(uint32_t flows);
void upf_flows_destroy(struct upf_flows *t);

/** Touches all memory, so that no packet waits for the kernel. Before the worker's first use; done
 * once. Control thread. */
void upf_flows_touch(struct upf_flows *t);

static inline uint64_t
upf_flow_fold(uint64_t a, uint64_t b)
{
	const __uint128_t p = (__uint128_t)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/** Of IPv4: the words of a key that may be other than zero. */
static inline uint64_t
upf_flow_hash4(const struct upf_flows *t, uint32_t end0, uint32_t end1, uint64_t k4, uint64_t k5)
{
	const uint64_t *s = t->secret;

	return upf_flow_fold(upf_flow_fold(((uint64_t)end1 << 32 | end0) ^ s[0], k4 ^ s[1]) ^ k5,
			     s[2]);
}

static inline uint64_t
upf_flow_hash(const struct upf_flows *t, const struct upf_flow_key *key)
{
	const uint64_t *s = t->secret;
	uint64_t k[6];

	memcpy(k, key, sizeof(k));
	if (!(key->what & UPF_FLOW_IP6))
		return upf_flow_hash4(t, (uint32_t)k[0], (uint32_t)k[2], k[4], k[5]);
	return upf_flow_fold(upf_flow_fold(k[0] ^ s[0], k[2] ^ s[1]) ^ k[5],
			     upf_flow_fold(k[4] ^ s[2], s[3]) ^
				     upf_flow_fold(k[1] ^ s[4], k[3] ^ s[5]));
}

/** @return index of the line where a flow of that hash is at home. */
static inline uint32_t
upf_flow_home(const struct upf_flows *t, uint64_t hash)
{
	return (uint32_t)(((hash >> 32) * t->nb_buckets) >> 32) * UPF_FLOW_WAYS +
	       (uint32_t)(hash % UPF_FLOW_WAYS);
}

static inline bool
upf_flow_is(const struct upf_flow *f, const struct upf_flow_key *key)
{
	uint64_t a[6], b[6], differs;

	memcpy(a, &f->key, sizeof(a));
	memcpy(b, key, sizeof(b));
	differs = (a[4] ^ b[4]) | ((a[5] ^ b[5]) & UINT16_MAX);
	if (key->what & UPF_FLOW_IP6)
		differs |= (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
	else
		differs |= (uint32_t)(a[0] ^ b[0]) | (uint32_t)(a[2] ^ b[2]);
	return differs == 0;
}

/** The lane, and what of the packet it depends on. */
static inline void
upf_flow_way_set(struct upf_flow *f, unsigned d, uint64_t way)
{
	f->way[d] = (f->way[d] & ~UPF_WAY_MASK) | way;
}

/** @return index of the flow, or UPF_FLOW_NONE. */
uint32_t upf_flow_find(const struct upf_flows *t, const struct upf_flow_key *key, uint64_t hash);

#define UPF_FLOW_IDLE 2 /**< ticks after which a flow makes room at another's home */

/**
 * A flow that upf_flow_find() found elsewhere takes the line at home, where that is free or its
 * flow idles: a full table is full of flows that are over, and those in use are the ones to be
 * near. A flow with a scan, which knows its index, stays where it is.
 * @return index of the flow from now on; where it is another one, indices found before may be wrong
 */
uint32_t upf_flow_bring_home(struct upf_flows *t, uint32_t at, uint64_t hash, uint16_t tick);

/** Fetches what upf_flow_find() reads for a flow that is not at home, or where a new one goes.
 * @return whether it may be there already */
static inline bool
upf_flow_prefetch_kin(const struct upf_flows *t, uint32_t home)
{
	const uint32_t bucket = home - home % UPF_FLOW_WAYS;
	const struct upf_flow *f = &t->flows[home];

	if (f->key.handle != 0)
		rte_prefetch0(&t->flows[home ^ 1]);
	for (uint32_t kin = f->kin; kin != 0; kin &= kin - 1)
		rte_prefetch0(&t->flows[bucket + (uint32_t)__builtin_ctz(kin)]);
	return f->kin != 0;
}

/**
 * A flow that upf_flow_find() does not find, all zero but its key and when it was seen.
 * @param gone the flow it replaces, as it was; handle 0: none
 * @return index, or UPF_FLOW_NONE: the bucket's flows are all busy
 */
uint32_t upf_flow_add(struct upf_flows *t, const struct upf_flow_key *key, uint64_t hash,
		      uint16_t tick, struct upf_flow *gone);

/** Flows go that were idle so long, in ticks: TCP that closed (30 s), TCP that did not (2 h 4 min,
 * RFC 5382 §5), others (5 min, RFC 4787 §4.3). */
#define UPF_FLOW_CLOSED 224
#define UPF_FLOW_TCP 55433
#define UPF_FLOW_OTHER 2236

/** A packet of it. After 30 s its ways are found anew, so that none outlives all 65,536 stamps. */
static inline void
upf_flow_seen(struct upf_flow *f, uint16_t tick)
{
	if (likely(f->seen == tick))
		return;
	if ((uint16_t)(tick - f->seen) >= UPF_FLOW_CLOSED) {
		upf_flow_way_set(f, 0, 0);
		upf_flow_way_set(f, 1, 0);
	}
	f->seen = tick;
}

/**
 * Goes on through the table, once a minute; at most `max` buckets.
 * @param gone room for max × UPF_FLOW_WAYS flows that went
 * @return how many went
 */
unsigned upf_flows_sweep(struct upf_flows *t, unsigned max, uint64_t now_ns, struct upf_flow *gone);

#endif
