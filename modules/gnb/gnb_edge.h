/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_EDGE_H
#define AIRPATH_GNB_EDGE_H

/**
 * What roles `gnb_header` and `gnb` have in common: interfaces, contexts and their workers, the
 * control thread. Control thread; 0 or < 0, perhaps with `err` filled: gnb_edge_fini() is right
 * after either.
 */

#include <stdio.h>

#include "core/run.h"
#include "modules/gnb/gnb.h"
#include "modules/gnb/gnb_control.h"

/** The networks of a configuration. @param ports that frames leave by */
int gnb_edge_init(struct ap_run *run, struct gnb *gnb, const struct ap_cfg_upf *cfg,
		  const char *const *ports, unsigned nb_ports, struct ap_error *err);

/** Contexts and cfg->workers workers. @param serial tells those of several roles apart */
int gnb_edge_workers(struct ap_run *run, struct gnb *gnb, unsigned drbs_per_session,
		     unsigned serial, struct ap_error *err);

/** Not the control thread's: gnb_control_destroy() comes first. */
void gnb_edge_fini(struct gnb *gnb);

/** What the control thread has to know of a gNB; a role adds what is its own. */
struct gnb_control_cfg gnb_edge_control(struct gnb *gnb);

/** What came of contexts: members of a JSON object, or part of a line. */
void gnb_edge_report(const struct gnb *gnb, FILE *f, bool json);

#endif
