/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_TELEMETRY_H
#define AIRPATH_CORE_TELEMETRY_H

/**
 * What a running deployment tells through DPDK telemetry:
 *   /airpath/info         deployment file, its name, lcores, uptime
 *   /airpath/nodes        names of all nodes
 *   /airpath/node,NAME    one node's counters, drops by name
 *   /airpath/lcores       busy share and governor of each worker
 */

#include "core/run.h"

/** Commands answer for `run` from now on; NULL: for nothing. Control thread. */
void ap_telemetry_set(struct ap_run *run);

#endif
