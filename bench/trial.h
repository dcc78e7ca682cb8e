/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_TRIAL_H
#define AIRPATH_BENCH_TRIAL_H

/**
 * Which rates to try in the search for the highest loss-free one (RFC 2544 §26.1).
 *
 * Pure logic: a callback runs one trial, sends for its duration, waits until the device is empty
 * (§23) and says what came of it. Rates are numbers in whatever unit the callback takes.
 *
 * On a machine shared with others a loss need not be the device's fault: a rate counts as too
 * high only after `repeats` trials in a row lost packets, and the rate found is confirmed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trial_cfg {
	double seconds;        /**< of a trial; RFC 2544 §24 wants 60 */
	double min_rate;       /**< > 0; lowest rate worth knowing */
	double max_rate;       /**< line rate, or the generator's best */
	double resolution;     /**< share of the rate at which the search ends, e.g. 0.01 */
	double loss_tolerance; /**< share of the sent packets, 0 for loss-free */
	unsigned repeats;      /**< trials a rate must fail in a row, 0 means 1 */
	const char *unit;      /**< for the progress line, e.g. "Mpps" */
	double unit_size;      /**< rate of one unit, e.g. 1e6; 0 means 1 */
	FILE *progress;        /**< usually stderr; NULL: silent */
};

/** One trial; the callback fills it, zeroed before. */
struct trial_outcome {
	double offered;  /**< rate asked for; filled by the controller */
	double achieved; /**< rate that was really sent, 0: as asked */
	uint64_t sent;
	uint64_t lost;          /**< sent and not back when the device was empty */
	uint64_t corrupted;     /**< never tolerated */
	bool generator_limited; /**< not sent at the rate asked for, through no fault of the device
				 */
};

/** @return 0, or -errno, which ends the search and is passed on. */
typedef int (*trial_run_fn)(void *arg, double rate, double seconds, struct trial_outcome *o);

/** @return whether the trial was good enough by `cfg`: packets sent, nothing lost beyond the
 * tolerance. */
bool trial_passed(const struct trial_cfg *cfg, const struct trial_outcome *o);

/**
 * Finds the highest rate that passes, by bisection.
 * @param best its confirming trial; with generator_limited set, the device can do more
 * @return 0; -ENOENT when not even min_rate passes; -EINVAL for a contradicting `cfg`; or what the
 *         callback returned
 */
int trial_search(const struct trial_cfg *cfg, trial_run_fn run, void *arg,
		 struct trial_outcome *best);

/** One line that is rewritten in place on a terminal; elsewhere only what is final is printed. */
struct trial_progress {
	FILE *to; /**< NULL: silent */
	bool tty;
	int shown; /**< characters on the line now */
};

void trial_progress_init(struct trial_progress *p, FILE *to);

/** Shows how things stand. */
void trial_progress_show(struct trial_progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Replaces the line by a final one and moves on. */
void trial_progress_end(struct trial_progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
