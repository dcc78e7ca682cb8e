/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_APP_PROGRESS_H
#define AIRPATH_APP_PROGRESS_H

/** What a person sees while a deployment runs; on standard error. */

#include <stdint.h>

#include "core/run.h"

struct ap_progress {
	uint64_t next_ns; /**< when the line is due again; 0: never shown */
	uint64_t last_ns;
	uint64_t rx, tx; /**< packets by then */
	bool shown;
};

/** Deployment, lcores, emulations: what runs here, once at the start. */
void ap_progress_banner(const struct ap_run *run);

/** Rewrites one line twice a second on a terminal, prints one every two seconds elsewhere. */
void ap_progress_line(struct ap_progress *p, const struct ap_run *run);
void ap_progress_end(struct ap_progress *p);

#endif
