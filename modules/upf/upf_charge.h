/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_CHARGE_H
#define AIRPATH_UPF_CHARGE_H

/**
 * Counting of packets for URRs: upf_charge does it after the QERs, upf_police before them where a
 * URR asks for that (MBQE), upf_forward for packets that waited in the buffer. Worker.
 */

#include <rte_branch_prediction.h>

#include "modules/upf/upf_rules.h"
#include "modules/upf/upf_urr.h"

/** Flags of a lane whose packets count after its QERs: */
#define UPF_CHARGE_MASK (UPF_LANE_URR | UPF_LANE_BEFORE_QOS | UPF_LANE_FORWARD | UPF_LANE_BUFFER)
#define UPF_CHARGE_THESE (UPF_LANE_URR | UPF_LANE_FORWARD)

/** `now_ms` is `now_ns` in ms, which the caller works out once a vector. */
static inline void
upf_charge_count(struct upf_charger *c, struct upf_session *s, struct upf_lane *lane,
		 uint32_t bytes, uint32_t now_ms, uint64_t now_ns)
{
	lane->first_ms = lane->packets++ == 0 ? now_ms : lane->first_ms;
	lane->bytes += bytes;
	lane->last_ms = now_ms;
	if (unlikely(!(s->flags & UPF_SESSION_DIRTY)))
		upf_urr_dirty(c, s, now_ms);
	if (unlikely(lane->bytes >= lane->look_bytes))
		upf_urr_look(upf_accounts_of(s), now_ns);
}

/** Before the QERs, where one URR of the PDR asks for that and another does not. */
static inline void
upf_charge_before(struct upf_charger *c, struct upf_session *s, unsigned lane, uint32_t bytes,
		  uint32_t now_ms, uint64_t now_ns)
{
	struct upf_accounts *a = upf_accounts_of(s);
	struct upf_lane_before *before = &a->before[lane];

	before->first_ms = before->packets++ == 0 ? now_ms : before->first_ms;
	before->bytes += bytes;
	s->lanes[lane].last_ms = now_ms;
	if (!(s->flags & UPF_SESSION_DIRTY))
		upf_urr_dirty(c, s, now_ms);
	if (before->bytes >= before->look_bytes)
		upf_urr_look(a, now_ns);
}

#endif
