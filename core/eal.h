/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_EAL_H
#define AIRPATH_CORE_EAL_H

/** Starts EAL the way a deployment asks, so that nobody has to know EAL's options. */

#include <stdbool.h>

#include "core/plan.h"

/**
 * Starts EAL with one lcore per plan lcore (ids from 1) and the control thread as lcore 0.
 * Hugepages are used if the machine has enough free ones; else a warning says what to do.
 * @return 0, or -errno with `err` filled
 */
int ap_eal_start(const struct ap_plan *p, struct ap_error *err);

/** Starts EAL without a deployment, an lcore on every CPU; the caller is lcore 0 on CPU 0. */
int ap_eal_start_plain(const char *name, unsigned mb, struct ap_error *err);

/**
 * Has the runtime folder of `prefix` removed when the process exits, and removes those of other
 * airpath processes that are gone: older than ten minutes, and nobody listens there. Once, before
 * EAL starts.
 */
void ap_eal_folder_tidy(const char *prefix);

/** @return true when EAL runs on hugepages. */
bool ap_eal_hugepages(void);

/** Name under which telemetry finds a deployment: EAL's file prefix. */
void ap_eal_prefix(const struct ap_config *cfg, char *buf, size_t size);

#endif
