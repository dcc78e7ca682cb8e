/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_URR_INTERNAL_H
#define AIRPATH_UPF_URR_INTERNAL_H

/** What upf_urr.c (counting, limits, time) and upf_urr_report.c (reports, checkpoints) share. */

#include "modules/upf/upf_urr.h"

/** Brings counters of lanes, and time, into the URRs. Lanes' budgets are stale afterwards. */
void upf_urr_fold(struct upf_accounts *a, uint64_t now_ns);

/** Reports all that is pending, if the ring has room for all. */
void upf_urr_tell(struct upf_accounts *a, uint64_t now_ns);

/** Tells of no packets for inactivity_ns, once until packets come again. */
void upf_urr_tell_inactivity(struct upf_accounts *a, uint64_t now_ns);

#endif
