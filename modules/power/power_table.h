/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_TABLE_H
#define AIRPATH_MODULES_POWER_TABLE_H

/**
 * What a CPU's states cost: a YAML file, from which modelled power comes. Constant once loaded.
 */

#include <stdint.h>

#include "core/config.h"

#define POWER_STATES_MAX 32

/** A P-state; the fastest comes first. */
struct power_pstate {
	uint32_t mhz;
	double watts; /**< of a core that runs in it */
};

/** A C-state below C0; the shallowest comes first. */
struct power_cstate {
	char *name;
	double watts;
	uint32_t exit_us;      /**< from an event to the first instruction */
	uint32_t residency_us; /**< a shorter sleep does not get so deep */
};

struct power_table {
	char *name;
	char *source;       /**< where the figures come from */
	double base_watts;  /**< what runs whether cores work or not */
	double pause_share; /**< of a P-state's watts, while a core runs PAUSE */
	struct power_pstate *pstates;
	unsigned pstates_count;
	struct power_cstate *cstates;
	unsigned cstates_count;
};

/**
 * @param path as it stands, or beside the deployment `beside`
 * @return NULL with `err` filled. Free with power_table_free().
 */
struct power_table *power_table_load(const char *path, const char *beside, struct ap_error *err);
void power_table_free(struct power_table *t);

/** @return index of the deepest C-state that a sleep of `ns` reaches; 0 is the first. */
unsigned power_table_cstate(const struct power_table *t, uint64_t ns);

#endif
