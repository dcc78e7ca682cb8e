/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_P4_HAND_H
#define AIRPATH_P4_HAND_H

/**
 * The host's side of handing bearers over (p4_shim.h): what comes by a virtual function, in order.
 *
 * Packets that were passed on are numbered later in the same walk. So a TAKE has to wait for the
 * next walk when packets of its session were passed in this one, which still take the old numbers;
 * and a RELEASE is answered in the next walk, until when counted packets of its session wait.
 * Sessions are told apart by their index modulo 256.
 *
 * No graph, clock or lock: a worker's.
 */

#include <rte_mbuf.h>

#include "modules/gnb/gnb_ctx.h"
#include "modules/p4/p4_shim.h"

#define P4_HAND_HOLD 8192 /**< packets that wait at most */
#define P4_HAND_RELEASES 512

struct p4_hand {
	const struct gnb_table *table;
	uint64_t aside; /**< ol_flags bit of packets the NIC did not look at for a bearer */
	uint64_t walk;
	uint64_t passed[4];                  /**< sessions with packets of this walk */
	uint64_t closing[4];                 /**< sessions of which a release is due */
	uint32_t head, tail;                 /**< of hold */
	unsigned nb_releases, nb_due;        /**< of releases: those of earlier walks come first */
	uint32_t releases[P4_HAND_RELEASES]; /**< bearers */
	struct rte_mbuf *hold[P4_HAND_HOLD];
	/* counters */
	uint64_t takes, gives, refused;
};

void p4_hand_init(struct p4_hand *h, const struct gnb_table *table, uint64_t aside);

/** Frees what waits. */
void p4_hand_fini(struct p4_hand *h);

/** Before anything else in a walk: all packets passed in earlier ones have their numbers. */
void p4_hand_step(struct p4_hand *h, uint64_t walk);

/** Whether the packets can go on as they are: no shim among them, and nothing waits. */
bool p4_hand_plain(const struct p4_hand *h, struct rte_mbuf *const *pkts, uint16_t nb);

/** Puts a packet behind those that wait. @return false: there is no room, it is still the
 * caller's. */
static inline bool
p4_hand_put(struct p4_hand *h, struct rte_mbuf *m)
{
	if (h->head - h->tail == P4_HAND_HOLD)
		return false;
	h->hold[h->head++ % P4_HAND_HOLD] = m;
	return true;
}

/** @return the next packet that may go on, without its shim; NULL: none in this walk. */
struct rte_mbuf *p4_hand_next(struct p4_hand *h);

static inline uint32_t
p4_hand_held(const struct p4_hand *h)
{
	return h->head - h->tail;
}

/**
 * The next release that is due: the bearer is the NIC's from now on. The caller sends `frame`.
 * @return whether there was one
 */
bool p4_hand_release(struct p4_hand *h, uint8_t frame[P4_SHIM_FRAME_BYTES]);

/** Whether p4_hand_release() will have one, now or in the next walk. */
static inline bool
p4_hand_owes(const struct p4_hand *h)
{
	return h->nb_releases > 0;
}

#endif
