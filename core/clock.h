/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_CLOCK_H
#define AIRPATH_CORE_CLOCK_H

/** Time in nanoseconds from the TSC; monotonic, common to all lcores. Entities take it as `now`. */

#include <stdint.h>

#include <rte_cycles.h>

#define AP_NS_PER_S 1000000000ULL
#define AP_NS_PER_MS 1000000ULL
#define AP_NS_PER_US 1000ULL

/** ns per TSC tick as a 32.32 fixed-point number; set by ap_clock_init(). */
extern uint64_t ap_clock_mult;

/** Calibrates from rte_get_tsc_hz(). Control thread, after EAL init. */
void ap_clock_init(void);

static inline uint64_t
ap_clock_from_tsc(uint64_t tsc)
{
	return (uint64_t)(((unsigned __int128)tsc * ap_clock_mult) >> 32);
}

static inline uint64_t
ap_clock_ns(void)
{
	return ap_clock_from_tsc(rte_rdtsc());
}

#endif
