/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_PSTATES_H
#define AIRPATH_MODULES_POWER_PSTATES_H

/**
 * P-states of a CPU, by one of three backends: cpufreq through librte_power, the emulation
 * `model`, or none. P0 is the fastest. Opened by the control thread, stepped by the lcore.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "modules/power/power_adaptive.h"
#include "modules/power/power_table.h"

struct power_pstates {
	/* constant once open */
	enum ap_cfg_pstates backend;
	unsigned cpu;
	unsigned nb; /**< 0: none */
	uint32_t mhz[POWER_STATES_MAX];
	/**
	 * `model`: what a cycle in P0 takes longer in this state, in 1/65536 of a cycle. The lcore
	 * waits so much after each walk.
	 */
	uint32_t slower[POWER_STATES_MAX];
	unsigned ceiling; /**< the fastest state to be used */
	bool sst_bf;      /**< the CPU has a higher base frequency than others (SST-BF) */
	/* lcore: rw, others: ro */
	unsigned now;
};

/**
 * Begins in P0.
 * @param table of backend `model`; else may be NULL
 * @return 0 or -errno with `err` filled
 */
int power_pstates_open(struct power_pstates *p, enum ap_cfg_pstates backend, unsigned cpu,
		       const struct power_table *table, struct ap_error *err);
void power_pstates_close(struct power_pstates *p);

/**
 * Keeps the fastest states for lcores of high priority: those of normal priority get none above
 * `normal_mhz`, or above the second state where that is 0; those of high priority may use turbo.
 * Goes to the fastest state left.
 */
void power_pstates_limit(struct power_pstates *p, enum ap_cfg_priority priority,
			 uint32_t normal_mhz);

/** Obeys a hint. @return whether the state changed. */
bool power_pstates_step(struct power_pstates *p, enum power_step step);

/** One state slower. @return whether the state changed. */
bool power_pstates_down(struct power_pstates *p);

/** @return `rte_power`, `model` or `none`. */
const char *power_pstates_name(const struct power_pstates *p);

#endif
