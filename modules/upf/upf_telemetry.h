/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_TELEMETRY_H
#define AIRPATH_UPF_TELEMETRY_H

/** What the files that answer /airpath/upf/… share. */

#include <stddef.h>

struct ap_run;
struct upf;

/**
 * Splits `WHAT,U` into `what`, and the upf's name; `U` alone where `what` is NULL.
 * @return the upf, the first without a name, or NULL after saying why
 */
struct upf *upf_telemetry_find(const struct ap_run *run, const char *params, char *what,
			       size_t size);

#endif
