/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_POWER_TRIAL_H
#define AIRPATH_BENCH_POWER_TRIAL_H

/** A load under a governor on the test bed of upf_bed.h. Control thread. */

#include "bench/upf_bed.h"
#include "core/config.h"

#define POWER_TRIES_MAX 99

struct power_trial {
	double pps;       /**< offered; 0: nothing */
	uint64_t slot_ns; /**< 0: evenly */
	enum ap_cfg_governor governor;
	double seconds;
};

struct power_trial_result {
	double delay_us_p99_least, delay_us_p99_most; /**< power_trial_middle(): of all */
	double mpps;                                  /**< came out */
	double cpu_percent;                           /**< of a CPU, mean of the device's lcores */
	double wakeups_per_s;
	double mhz;           /**< mean while awake */
	double watts;         /**< of the device's lcores, modelled */
	double package_watts; /**< measured, of the machine; NaN where it cannot be */
	double busy_percent;
	double delay_us_p50, delay_us_p99; /**< NaN without packets */
	double sent, lost;
	uint64_t corrupted;
	double disturbed_ms; /**< that device and generator wanted a CPU which others had */
};

/** @return 0, or -errno after a message */
int power_trial_run(struct upf_bed *b, const struct power_trial *t, struct power_trial_result *r);

/**
 * The middle of each figure, of `n` trials: a neighbour who takes a CPU for a millisecond costs
 * packets whatever the governor, so the worst says nothing, nor does the luckiest. Of an even
 * number the lower one of the two.
 * @param n 1..POWER_TRIES_MAX
 */
void power_trial_middle(const struct power_trial_result *r, unsigned n,
			struct power_trial_result *out);

/** @return packets a second that the busy device takes, or what the generator makes; < 0: -errno */
double power_trial_capacity(struct upf_bed *b, double seconds);

/** @return how the device's lcores idle under its governors; lives in `buf` */
const char *power_trial_idle(const struct upf_bed *b, char *buf, size_t size);

/** @return the power table's name. */
const char *power_trial_table(const struct upf_bed *b);

#endif
