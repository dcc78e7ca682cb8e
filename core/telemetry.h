/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_TELEMETRY_H
#define AIRPATH_CORE_TELEMETRY_H

/**
 * What a running deployment tells through DPDK telemetry:
 *   /airpath/info         deployment file, its name, lcores, uptime
 *   /airpath/nodes        names of all nodes
 *   /airpath/node,NAME    one node's counters, drops by name
 *   /airpath/lcores       busy share and governor of each worker
 * and what modules add.
 */

#include "core/run.h"

struct rte_tel_data;

/**
 * A module's command. Runs on the telemetry thread; the deployment stays while it does, and
 * entities are reached through ap_worker_run().
 * @param params what follows the comma, or NULL. @return 0, or -errno, which the client sees as
 * {"refused": reason}: that of ap_telemetry_refuse(), or the errno's.
 */
typedef int ap_telemetry_fn(struct ap_run *run, const char *params, struct rte_tel_data *d);

/** Adds a command, `cmd` and `help` being constants. Before main(), from RTE_INIT. */
void ap_telemetry_add(const char *cmd, ap_telemetry_fn *fn, const char *help);

/** Says why a command is refused; from within one. @return -EINVAL. */
int ap_telemetry_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Commands answer for `run` from now on; NULL: for nothing. Control thread. */
void ap_telemetry_set(struct ap_run *run);

#endif
