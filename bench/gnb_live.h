/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_GNB_LIVE_H
#define AIRPATH_BENCH_GNB_LIVE_H

/**
 * `airpath bench gnb --live`: a gNB's header processing while it runs, its worker on one CPU and
 * the generator on another, with and without contexts that change beside the traffic.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bench/gnb_frames.h"
#include "bench/gnb_wire.h"
#include "bench/result.h"

#define GNB_LIVE_FRAME_MIN (GNB_WIRE_OUTER + GNB_FRAMES_TPDU_MIN) /**< on N3, without FCS */

struct gnb_live_cfg {
	const char *deployment;
	const char *direction; /**< NULL: all */
	const struct bench_uints *sizes;
	double seconds;
	double mpps; /**< offered; 0: as much as the generator and the gNB manage */
	uint32_t ues, seed;
	uint32_t changes; /**< of contexts, a second */
	bool nodes;
};

/** @return 0; -EIO for a run that is not valid; or another -errno after a message */
int gnb_live_rows(const struct gnb_live_cfg *cfg, struct bench_result *res);

#endif
