/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/clock.h"

uint64_t ap_clock_mult = 1ULL << 32;

void
ap_clock_init(void)
{
	ap_clock_mult = (uint64_t)(((unsigned __int128)AP_NS_PER_S << 32) / rte_get_tsc_hz());
}
