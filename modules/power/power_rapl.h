/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_POWER_RAPL_H
#define AIRPATH_MODULES_POWER_RAPL_H

/**
 * Energy of the CPU packages, measured by the hardware (RAPL) and read through powercap in sysfs.
 * It is that of the whole machine: everybody's lcores are in it. Control thread.
 */

#include <stdint.h>

#define POWER_RAPL_PACKAGES_MAX 8
#define POWER_RAPL_ROOT "/sys/class/powercap"

struct power_rapl {
	unsigned packages; /**< 0: not readable */
	char path[POWER_RAPL_PACKAGES_MAX][160];
	uint64_t range_uj[POWER_RAPL_PACKAGES_MAX]; /**< where the counter begins anew */
	uint64_t last_uj[POWER_RAPL_PACKAGES_MAX];
	double joules; /**< since power_rapl_open() */
};

/** @param root POWER_RAPL_ROOT. @return packages found and readable. */
unsigned power_rapl_open(struct power_rapl *r, const char *root);

/**
 * Brings `joules` up to date; to be called before a counter goes round twice, i.e. every minute.
 * @return joules, or NaN when nothing is measured
 */
double power_rapl_read(struct power_rapl *r);

#endif
