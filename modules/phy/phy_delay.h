/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PHY_DELAY_H
#define AIRPATH_MODULES_PHY_DELAY_H

/** Frames waiting for their time: a binary heap by deadline, first in first out among equals. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

struct phy_delay_entry {
	uint64_t deadline_ns;
	uint64_t order; /**< counts up */
	struct rte_mbuf *m;
};

struct phy_delay {
	struct phy_delay_entry *heap;
	uint32_t nb;
	uint32_t room;
	uint64_t order;
};

/** @return 0 or -ENOMEM. */
int phy_delay_init(struct phy_delay *d, uint32_t room);

/** Frees what waits. */
void phy_delay_fini(struct phy_delay *d);

/** @return false when it is full. */
bool phy_delay_put(struct phy_delay *d, struct rte_mbuf *m, uint64_t deadline_ns);

/** @return the next frame whose deadline is at or before `now_ns`, or NULL. */
struct rte_mbuf *phy_delay_get(struct phy_delay *d, uint64_t now_ns);

/** @return earliest deadline, 0 when nothing waits. */
static inline uint64_t
phy_delay_due(const struct phy_delay *d)
{
	return d->nb ? d->heap[0].deadline_ns : 0;
}

#endif
