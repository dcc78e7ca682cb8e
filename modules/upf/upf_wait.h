/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_WAIT_H
#define AIRPATH_UPF_WAIT_H

/**
 * Packets that wait for the link addresses of neighbours (RFC 4861 §7.2.2, RFC 1122 §2.3.2.2): a
 * queue a neighbour, in the order they came, out of slots that all queues share. Belongs to one
 * worker; needs 16 B a packet, 40 B a queue and 2 B an entry of the neighbour table.
 *
 * A next hop of tunnels or routes, which the configuration and the CP function chose, may have all
 * slots. What is on the link by its prefix alone anyone can name: such a neighbour keeps
 * UPF_WAIT_ON_LINK packets, and all of them together leave half of the slots and queues to others.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define UPF_WAIT_ON_LINK 64 /**< packets for a neighbour that is no configured next hop */
#define UPF_WAIT_QUEUES_MAX 1024

/** Packets for one neighbour. */
struct upf_wait {
	uint64_t give_up_ns;
	uint32_t neighbour;
	uint32_t first, last; /**< slots, index + 1 */
	uint32_t packets;
	uint16_t generation; /**< of the neighbour's entry */
	uint8_t interface;
	bool next_hop; /**< else on the link by its prefix alone */
};

struct upf_wait_slot {
	struct rte_mbuf *m;
	uint32_t next; /**< index + 1, 0: none */
};

struct upf_waits {
	struct upf_wait_slot *slots;
	struct upf_wait *queues; /**< the first `nb` are in use */
	uint16_t *of;            /**< by neighbour: index of its queue + 1, 0: none */
	uint32_t nb, nb_max;
	uint32_t held, held_max; /**< packets in slots */
	uint32_t free;           /**< slot, index + 1 */
};

/**
 * Control thread.
 * @param packets that may wait, 1..
 * @param neighbours entries of the neighbour table
 * @return 0 or -ENOMEM
 */
int upf_waits_init(struct upf_waits *w, uint32_t packets, uint32_t neighbours);
/** Frees what waits. Also after upf_waits_init() failed or never ran on zeroed memory. */
void upf_waits_fini(struct upf_waits *w);

/** @return the neighbour's queue, until one is begun or ended; NULL: nothing waits for it. */
static inline struct upf_wait *
upf_waits_find(const struct upf_waits *w, uint32_t neighbour)
{
	const uint16_t i = w->nb != 0 ? w->of[neighbour] : 0;

	return i != 0 ? &w->queues[i - 1] : NULL;
}

/** A queue for a neighbour that has none; the caller fills in what is its own. NULL: no room. */
struct upf_wait *upf_waits_begin(struct upf_waits *w, uint32_t neighbour, bool next_hop);

/** @return false: the queue, or all, may keep no more. */
bool upf_waits_put(struct upf_waits *w, struct upf_wait *q, struct rte_mbuf *m);

/** The queue is no more; what was in it is the caller's: upf_waits_take() until NULL. */
struct upf_wait upf_waits_end(struct upf_waits *w, struct upf_wait *q);

/** @return the first packet of an ended queue, NULL when it is empty. */
struct rte_mbuf *upf_waits_take(struct upf_waits *w, struct upf_wait *ended);

#endif
