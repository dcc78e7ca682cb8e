/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_EVENTS_H
#define AIRPATH_UPF_EVENTS_H

/**
 * Events that the agent has not acknowledged, packed as Answer messages: the newest
 * UPF_EVENTS_MAX of them. One thread.
 */

#include <stdint.h>

#include "api/upf.pb-c.h"

#define UPF_EVENTS_MAX 65536

struct upf_packed {
	uint32_t bytes;
	uint8_t data[];
};

struct upf_events {
	struct upf_packed **ring; /**< by number % UPF_EVENTS_MAX */
	uint64_t first;           /**< oldest kept, from 1 */
	uint64_t next;            /**< number of the next one */
	uint64_t sent;            /**< next to be sent on this connection */
	uint64_t acked;
	uint64_t lost;
};

/** @return 0 or -ENOMEM. */
int upf_events_init(struct upf_events *e);
void upf_events_fini(struct upf_events *e);

/** Numbers the event and keeps it; the oldest goes when there are too many. */
void upf_events_add(struct upf_events *e, Airpath__Upf__V1__Event *event);

/** Everything up to `number` is safe at the agent; what was never sent cannot be. */
void upf_events_ack(struct upf_events *e, uint64_t number);

/** A new connection gets all of them again. */
void upf_events_rewind(struct upf_events *e);

/** @return the next to be sent, or NULL. */
const struct upf_packed *upf_events_peek(const struct upf_events *e);

#endif
