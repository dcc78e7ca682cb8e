/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_TX_H
#define AIRPATH_MODULES_RLC_TX_H

/**
 * The transmitting side of an RLC entity, TS 38.322 §5.2: TM, UM and AM.
 *
 * SDUs are pushed by the lcore of rlc_tx and pulled by the lcore of mac_slot; between
 * them lies one bounded queue. The header of a complete SDU is written on push, so
 * that a pull of UM reads only queue entries and touches an mbuf only to segment it. AM
 * writes the SN on pull.
 */

#include <rte_common.h>

#include "core/clock.h"
#include "core/meta.h"
#include "core/queue.h"
#include "modules/l2/l2.h"
#include "modules/rlc/rlc.h"
#include "modules/rlc/rlc_am_tx.h"

/** Why push loses an SDU; the drop reasons of the rlc_tx node. */
enum rlc_tx_drop {
	RLC_TX_NO_BEARER,  /**< bearer index without an entity */
	RLC_TX_QUEUE_FULL, /**< nobody asked rlc_tx_room() first */
	RLC_TX_SDU_EMPTY,
	RLC_TX_SDU_OVERSIZE, /**< above RLC_SDU_MAX */
	RLC_TX_NO_MBUF,      /**< no segment left for the header of a shared SDU */
	RLC_TX_DROPS,
};

struct rlc_tx_cfg {
	enum rlc_mode mode;
	enum rlc_sn_len sn_FieldLength; /**< UM: 6 or 12 bits; AM: 12 or 18; TM: not used */
	uint32_t queue_sdus;            /**< 1..2^20, rounded up to a power of two; AM: with the
					     unacknowledged */
	uint32_t discard_ms;          /**< discardTimer of PDCP, at most 1,000,000; 0 is infinity */
	uint32_t bearer;              /**< index in the role */
	uint8_t lcid;                 /**< logical channel, 1..32 */
	const struct l2_pools *pools; /**< hdr and ind are used, phy for long STATUS PDUs */
	struct rlc_am_cfg am;         /**< AM only */
};

/** What pulls did besides the PDUs they returned; the caller zeroes it, pulls add. */
struct rlc_tx_pull_stats {
	uint64_t discarded; /**< SDUs freed because discardTimer expired */
	uint64_t segments;  /**< PDUs returned that carry a segment */
	uint64_t no_mbuf;   /**< segments not made because a pool was empty; the SDU stays */
};

/** State of UM, TS 38.322 §7.1: pull side only. */
struct rlc_um_tx {
	struct rte_mbuf *sdu; /**< what is left of the SDU being segmented, or NULL */
	uint32_t left;        /**< bytes of it */
	uint16_t so;          /**< offset of its first byte in the SDU, > 0 */
	uint16_t TX_Next;     /**< SN of the next segmented SDU, or of the one being segmented */
};

struct rlc_tx {
	/* control: rw before start, all: ro */
	enum rlc_mode mode __rte_cache_aligned;
	enum rlc_sn_len bits;
	uint32_t bearer;
	int32_t discard_us; /**< 0: never */
	uint8_t lcid;
	_Atomic bool suspended; /**< control: rw at any time; nothing is pulled */
	struct rte_mempool *hdr;
	struct rte_mempool *ind;
	struct rte_mempool *frame; /**< AM: long STATUS PDUs; may be NULL */
	struct rlc_am_tx *am;      /**< AM: pull lcore: rw */
	/* push lcore: rw, pdcp_tx lcore: ro */
	_Atomic uint32_t lost __rte_cache_aligned; /**< SDUs that push dropped, wraps */
	/* pull lcore: rw */
	struct rlc_um_tx um __rte_cache_aligned;
	_Atomic uint32_t retained; /**< SDUs taken from the queue and not acknowledged */
	struct ap_queue queue;
};

/** Control thread. `cfg` is copied. @return 0, -EINVAL or -ENOMEM. */
int rlc_tx_init(struct rlc_tx *e, const struct rlc_tx_cfg *cfg);

/** Control thread, both lcores stopped: frees SDUs and memory. A zeroed entity is fine. */
void rlc_tx_fini(struct rlc_tx *e);

/**
 * SDUs in the entity, a partly sent one and in AM unacknowledged ones included. Pull side,
 * or both lcores stopped.
 */
uint64_t rlc_tx_held(const struct rlc_tx *e);

/** SDUs that left the entity or never got there, mod 2^32: of those submitted. Any lcore. */
static inline uint32_t
rlc_tx_taken(const struct rlc_tx *e)
{
	return atomic_load_explicit(&e->queue.tail, memory_order_acquire) +
	       atomic_load_explicit(&e->lost, memory_order_acquire) -
	       atomic_load_explicit(&e->retained, memory_order_acquire);
}

/** Pull side: PDUs that wait to be sent, at least. */
uint64_t rlc_tx_unsent(const struct rlc_tx *e);

/** Nothing is sent until it is called with false. Control thread, also while lcores run. */
static inline void
rlc_tx_suspend(struct rlc_tx *e, bool suspended)
{
	atomic_store_explicit(&e->suspended, suspended, memory_order_release);
}

/** What an AM entity did; NULL unless AM. Any thread, while the entity exists. */
static inline const struct rlc_am_tx_counters *
rlc_tx_am_counters(const struct rlc_tx *e)
{
	return e->am ? &e->am->counters : NULL;
}

/** For rlc_rx_cfg.am of the same entity; NULL unless AM. Control thread. */
static inline struct rlc_am_link *
rlc_tx_am_link(struct rlc_tx *e)
{
	return e->am ? &e->am->link : NULL;
}

/**
 * How many more SDUs the queue takes, for PDCP to ask before it assigns an SN.
 * @param submitted SDUs ever sent toward this entity, mod 2^32. Any lcore.
 */
static inline uint32_t
rlc_tx_room(const struct rlc_tx *e, uint32_t submitted)
{
	uint32_t size = e->queue.mask + 1;
	uint32_t under_way = submitted - rlc_tx_taken(e);

	return under_way < size ? size - under_way : 0;
}

/**
 * Push side: takes all `n` SDUs, puts the header of a complete SDU before each and
 * queues them in order; meta bearer, lcid and flags become those of the PDU. What it
 * cannot queue it frees and counts in drops[enum rlc_tx_drop].
 * @return how many were queued; the others were dropped.
 */
unsigned rlc_tx_push(struct rlc_tx *e, struct rte_mbuf **sdus, unsigned n, uint64_t now_ns,
		     uint64_t *drops);

/**
 * Pull side: PDUs for at most `*grant` bytes, each counted with its MAC subheader
 * (2 bytes, or 3 for a PDU above 255); `*grant` becomes what is left. Stops after
 * `want` bytes have been taken, or `max` PDUs. Only the hard limit `*grant` makes UM
 * segment, and never into an empty segment. SDUs older than discardTimer go first.
 * The mbuf of a complete SDU is not touched.
 * @return PDUs written to `pdus`, in order.
 */
unsigned rlc_tx_pull_some(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
			  unsigned max, uint64_t now_ns, struct rlc_tx_pull_stats *stats);

/** rlc_tx_pull_some() until the grant is used up. */
static inline unsigned
rlc_tx_pull(struct rlc_tx *e, uint32_t *grant, struct rte_mbuf **pdus, unsigned max,
	    uint64_t now_ns, struct rlc_tx_pull_stats *stats)
{
	return rlc_tx_pull_some(e, grant, UINT32_MAX, pdus, max, now_ns, stats);
}

/**
 * Pull side: frees SDUs that waited for discardTimer (TS 38.323 §5.3) unless a segment
 * of them was sent (TS 38.322 §5.4); for channels that get no grant. @return how many.
 */
unsigned rlc_tx_discard_expired(struct rlc_tx *e, uint64_t now_ns);

/**
 * Pull side, once a slot: rlc_tx_discard_expired(), and what AM has to do even if it gets
 * no grant: received STATUS PDUs and timers. @return how many SDUs were discarded.
 */
unsigned rlc_tx_slot(struct rlc_tx *e, uint64_t now_ns);

/** Pull side: RLC data volume, TS 38.322 §5.5, headers included, B. */
static inline uint64_t
rlc_tx_bytes_waiting(const struct rlc_tx *e)
{
	uint64_t bytes = ap_queue_bytes(&e->queue);

	if (e->um.sdu)
		bytes += e->um.left + rlc_umd_len(RLC_SI_LAST, e->bits);
	if (e->am)
		bytes += rlc_am_tx_volume(e->am);
	return bytes;
}

/** Bytes of the MAC subheader of a PDU, TS 38.321 §6.1.2. */
static inline uint32_t
rlc_mac_overhead(uint32_t pdu_bytes)
{
	return pdu_bytes <= 255 ? 2 : 3;
}

/** Largest PDU that fits `grant` bytes with its MAC subheader, 0 if none. */
static inline uint32_t
rlc_mac_fitting(uint32_t grant)
{
	if (grant <= 255 + 2)
		return grant <= 2 ? 0 : grant - 2;
	return grant - 3;
}

/* --- between rlc_tx.c and its modes ----------------------------------------------------------- */

/** Takes queued PDUs whole while they fit, within the limits of rlc_tx_pull_some(). */
unsigned rlc_tx_pull_whole(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
			   unsigned max);

unsigned rlc_um_tx_pull(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
			unsigned max, struct rlc_tx_pull_stats *stats);

#endif
