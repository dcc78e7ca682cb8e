/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FLOW_TOTALS_H
#define AIRPATH_UPF_FLOW_TOTALS_H

/** Flow tables and scans of all workers of a upf, added up. */

#include <stdint.h>

#include "modules/dpi/dpi_name.h"

struct upf;

struct upf_flow_totals {
	uint64_t entries, bytes, scan_bytes; /**< there is room for; memory */
	uint64_t flows, scanning;            /**< now */
	uint64_t made, evicted, expired;     /**< flows, so far */
	uint64_t crowded, capped;            /**< packets decided without an entry */
	uint64_t scans, packets, robbed; /**< flows looked at, packets of theirs, and given up */
	uint64_t found[DPI_PROTO_COUNT], bad[DPI_PROTO_COUNT], nameless; /**< flows */
};

/** Any thread; what workers count meanwhile may or may not be there. */
void upf_flow_totals(const struct upf *upf, struct upf_flow_totals *t);

#endif
