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
	/* Of the load model. */
	bool dpi;
	struct upf_bed_dpi model;
	unsigned packets_per_flow, flows_per_session, train, names, nets, udp_percent, swaps;
	const char *udp_mix;
	double new_flows; /**< a second, in place of packets_per_flow; 0: not given */
};

/** What a row of the load model has besides. */
struct upf_row_dpi {
	bool on;
	double flows_per_packet;   /**< begun */
	double ratio;              /**< of what lcores carry alone, to plain sessions beside it */
	double ratio_least;        /**< the same of the least cycles of any window */
	double ratio_live;         /**< of rates at the ports; NaN: they were not measured */
	uint64_t records;          /**< charging records in the end */
	struct upf_bed_trial swap; /**< rules were swapped under load */
	uint32_t swaps;
	struct upf_bed_unit unit; /**< in the end */
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
	struct upf_row_dpi *dpi; /**< NULL: no flows */
};

/** @return 0, or -EIO after a message when packets were lost, changed or came twice */
int upf_row_check(const struct upf_row *r);

/** What lcores side by side carry that were measured alone, Mpps. */
double upf_row_derived(const struct upf_row *r, unsigned workers);

/** TSC cycles of all stages a packet passes. */
double upf_row_cycles(const struct upf_row *r, unsigned workers, bool least);

/** The highest loss-free rate, and delay below it. @return 0 or -errno after a message */
int upf_live_measure(const struct upf_row_options *o, struct upf_bed *b, struct upf_row *r);

/**
 * Plain sessions, and beside them those with policies: two rows.
 * @return 0; -EIO for a run that is not valid; or another -errno
 */
int upf_dpi_run(const struct upf_row_options *o, struct upf_bed *b, struct bench_result *res);

/** Writes the row: from what was measured at the ports, and of stages alone. */
void upf_row_write(struct bench_result *res, const struct upf_row_options *o,
		   const struct upf_bed *b, const struct upf_row *r);

#endif
