/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_N3_H
#define AIRPATH_GNB_N3_H

/**
 * The N3 side of role `gnb`, ports p (nodes are `gnb.<node>`):
 *
 *   rx_<p> → in_<p> → drb → bearer → copy_ul_in → sdap_tx …           the stack, downlink
 *               └──→ local ←─┘                    … sdap_rx → copy_dl_out → tunnel → tx_<p>
 *                      └────────────→ out → tx_<p> ←──────────────────────────┘
 *   control
 *
 * One worker: what works on contexts is on one lcore, the stack on any. Control thread.
 */

#include <stdio.h>

#include "core/plan.h"
#include "core/run.h"
#include "modules/gnb/gnb.h"
#include "modules/ue/ue.h"

struct gnb_n3;

/** Adds its nodes to those of the stack. @return 0 or -EINVAL with `err` filled. */
int gnb_n3_plan(struct ap_plan *p, const struct ap_cfg_gnb *cfg, struct ap_error *err);

/** Says what may not be on different lcores. @return 0 or -EINVAL. */
int gnb_n3_placed(const struct ap_plan *p, const struct ap_cfg_gnb *cfg, struct ap_error *err);

/**
 * Makes it and binds its nodes. `stack` has its entities, and its nodes are bound.
 * @param serial tells those of several roles apart
 * @return NULL with `err` filled
 */
struct gnb_n3 *gnb_n3_create(struct ap_run *run, const struct ap_cfg_gnb *cfg, struct ue *stack,
			     unsigned serial, struct ap_error *err);
void gnb_n3_destroy(struct gnb_n3 *n3);

/** The deployment's contexts, then the control thread. @return 0 or < 0 with `err` filled. */
int gnb_n3_start(struct gnb_n3 *n3, struct ap_error *err);
void gnb_n3_quiesce(struct gnb_n3 *n3);

/** As gnb_edge_report(). */
void gnb_n3_report(const struct gnb_n3 *n3, FILE *f, bool json);

#endif
