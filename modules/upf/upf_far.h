/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FAR_H
#define AIRPATH_UPF_FAR_H

/**
 * Forwarding action rules, TS 29.244 §5.2.3, as compiled: what upf_lane_take_far() puts into a
 * lane, and what lanes with UPF_LANE_MORE look up. Control thread: rw before a worker has them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/upf/upf_session.h"

#define UPF_DUPLICATES_MAX 4

/** Where packets go, and what is put before them. */
struct upf_forwarding {
	uint32_t teid;     /**< of the outer header to make */
	uint16_t peer;     /**< index into the peers; 0: no outer header */
	uint8_t interface; /**< packets leave by, 1.. */
	bool psc;          /**< with a PDU session container */
	uint8_t tos;       /**< Transport Level Marking of packets without outer header (a peer */
	uint8_t tos_mask;  /**< has its own), value under mask; mask 0: leave it */
};

#define UPF_FAR_LANE_FLAGS                                                                         \
	(UPF_LANE_FORWARD | UPF_LANE_BUFFER | UPF_LANE_NOTIFY | UPF_LANE_OUTER | UPF_LANE_PSC)

struct upf_far {
	uint32_t id;
	uint16_t flags;        /**< those of UPF_FAR_LANE_FLAGS that hold */
	uint16_t bar;          /**< index into the rules' BARs + 1, 0: default buffering */
	uint8_t nb_duplicates; /**< 0..UPF_DUPLICATES_MAX */
	struct upf_forwarding to;
	struct upf_forwarding *duplicates;
	uint16_t redirect_len; /**< octets; 0: no Redirect Information */
	char *redirect;        /**< upf_redirect_text(): what HTTP requests are answered with */
};

/** A buffering action rule, §5.2.4. */
struct upf_bar {
	uint32_t id;
	uint32_t packets;         /**< that may wait; 0: the unit's default */
	uint32_t notify_delay_ms; /**< Downlink Data Notification Delay */
};

/** Whether packets of a lane with this FAR need UPF_LANE_MORE. */
static inline bool
upf_far_needs_more(const struct upf_far *far)
{
	return far->nb_duplicates != 0 || far->redirect_len != 0 ||
	       (far->to.peer == 0 && far->to.tos_mask != 0);
}

/** The lane does from now on what the FAR says; UPF_LANE_MORE stays where it is already. */
static inline void
upf_lane_take_far(struct upf_lane *lane, const struct upf_far *far)
{
	lane->flags = (lane->flags & ~(uint32_t)UPF_FAR_LANE_FLAGS) | far->flags;
	if (upf_far_needs_more(far))
		lane->flags |= UPF_LANE_MORE;
	lane->teid = far->to.teid;
	lane->peer = far->to.peer;
	lane->interface = far->to.interface;
}

#endif
