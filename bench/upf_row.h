/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_UPF_ROW_H
#define AIRPATH_BENCH_UPF_ROW_H

/** A row of `bench upf`: a direction and a packet size, and what was found. Control thread. */

#include "bench/result.h"
#include "bench/upf_bed.h"

#define UPF_ROW_LOAD 0.82 /**< of the highest loss-free rate, where S2 measures delay */

struct upf_row_direction {
	const char *name;
	unsigned bits; /**< Σ UPF_BED_UP, UPF_BED_DOWN */
};

struct upf_row_options {
	struct bench_common common;
	struct upf_bed_cfg bed;
	unsigned sessions, active, window, checkpoint_ms, seed;
	struct bench_uints bytes;
	const char *direction;
	const char *steering;
	double rate_mpps;
	bool alone;
};

struct upf_row {
	const struct upf_row_direction *direction;
	unsigned bytes;
	struct upf_bed_trial max, load;
	struct upf_bed_trial alone_sum; /**< packets of the stages alone */
	struct upf_bed_stage alone[UPF_BED_STAGES_MAX];
	unsigned stages;
	double starved_s; /**< lcores had no CPU meanwhile: upf_bed_starved() */
	bool live;        /**< the unit ran at its ports: `max` and `load` */
	bool composed;    /**< of stages alone: there are not enough CPUs to run them together */
};

/** Writes the row: from what was measured at the ports, and of stages alone. */
void upf_row_write(struct bench_result *res, const struct upf_row_options *o,
		   const struct upf_bed *b, const struct upf_row *r);

#endif
