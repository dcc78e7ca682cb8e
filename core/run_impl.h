/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_RUN_IMPL_H
#define AIRPATH_CORE_RUN_IMPL_H

/** Between run.c and run_ports.c. */

#include "core/run.h"

/** Opens all ports, with their pools. @return 0 or < 0 with `err` filled. */
int ap_run_ports_open(struct ap_run *run, struct ap_error *err);

/** Port nodes work on their port; everything else is told by its role. */
void ap_run_ports_bind(struct ap_run *run);

#endif
