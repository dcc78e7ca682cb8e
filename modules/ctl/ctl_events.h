/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CTL_EVENTS_H
#define AIRPATH_CTL_EVENTS_H

/** Events that the client has not acknowledged, packed: the newest `max` of them. One thread. */

#include <stdint.h>

#include "modules/ctl/ctl_packed.h"

struct ctl_events {
	struct ctl_packed **ring; /**< by number % max */
	uint32_t max;
	uint64_t first; /**< oldest kept, from 1 */
	uint64_t next;  /**< number of the next one */
	uint64_t sent;  /**< next to be sent on this connection */
	uint64_t acked;
	uint64_t lost;
};

/** @return 0 or -ENOMEM. */
int ctl_events_init(struct ctl_events *e, uint32_t max);
void ctl_events_fini(struct ctl_events *e);

/**
 * Keeps an event, which says that its number is e->next; the oldest goes when there are too many.
 * @param p NULL: there was no memory for it, it is lost
 */
void ctl_events_add(struct ctl_events *e, struct ctl_packed *p);

/** Everything up to `number` is safe at the client; what was never sent cannot be. */
void ctl_events_ack(struct ctl_events *e, uint64_t number);

/** A new connection gets all of them again. */
void ctl_events_rewind(struct ctl_events *e);

/** @return the next to be sent, or NULL. */
const struct ctl_packed *ctl_events_peek(const struct ctl_events *e);

#endif
