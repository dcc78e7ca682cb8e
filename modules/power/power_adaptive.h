/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_ADAPTIVE_H
#define AIRPATH_MODULES_POWER_ADAPTIVE_H

/**
 * Algorithm 1 of *Power Efficiency of a Hybrid 5G gNB Data Plane Combining SmartNICs and Commodity
 * Servers* (S3): hints per RX queue, a decision per lcore. Pure: no clock, no system calls.
 *
 * What the print leaves out is done as DPDK's l3fwd-power does: a poll that finds packets takes
 * the idle hint back, frequency hints last one pass, and every 100 ms the lcore looks whether it
 * could do with a lower P-state.
 *
 * Owner: the lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"

/** What becomes of the P-state, in rising order of urgency: the values of the paper's hints. */
enum power_step {
	POWER_KEEP = 0,
	POWER_NEXT = 1,    /**< "STEP to next P-state": one faster */
	POWER_HIGHEST = 2, /**< "STEP to highest P-state": P0 */
};

/** One RX queue. Zero is its start. */
struct power_rxq {
	uint32_t empty_poll_cnt;
	uint32_t idle_hint_us; /**< 0: go on polling */
	uint32_t trend;
	enum power_step freq_hint;
};

/** What the lcore does after a pass over its RX queues. */
struct power_verdict {
	enum power_step step;
	uint32_t pause_us; /**< 0: none */
	bool sleep;        /**< instead of a pause: arm and sleep until something comes */
};

/** What an lcore did since it last looked whether to scale down. Zero is its start. */
struct power_window {
	uint64_t since_ns;
	uint64_t idle_ns; /**< paused or slept */
	uint64_t passes;
	uint64_t packets;
};

/**
 * One poll of a queue, lines 4 to 21.
 * @param taken packets that the poll brought
 * @param count packets that the queue still holds
 */
void power_adaptive_poll(const struct ap_cfg_power *cfg, struct power_rxq *q, uint32_t taken,
			 uint32_t count);

/** The pass is over, lines 23 to 32; clears the frequency hints for the next one. */
struct power_verdict power_adaptive_decide(const struct ap_cfg_power *cfg, struct power_rxq *q,
					   unsigned n);

/**
 * After every pass.
 * @return whether to step one P-state down: a period is over in which the lcore idled for a quarter
 * of the time, or took less than a burst a pass
 */
bool power_adaptive_scale_down(const struct ap_cfg_power *cfg, struct power_window *w,
			       uint64_t now_ns);

#endif
