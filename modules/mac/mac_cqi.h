/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_MAC_CQI_H
#define AIRPATH_MODULES_MAC_CQI_H

/**
 * What a carrier's slot gives a UE, by the CQI that it reported: link adaptation without BLER
 * target or outer loop. TS 38.214 table 5.2.2.1-2.
 */

#include <stdint.h>

#define MAC_CQI_MAX 15

/** @return bits per symbol × 1024 of a CQI 0..15; 0: out of range. */
static inline uint32_t
mac_cqi_efficiency(uint8_t cqi)
{
	static const uint16_t efficiency[MAC_CQI_MAX + 1] = {
		0,       2 * 78,  2 * 120, 2 * 193, 2 * 308, 2 * 449, 2 * 602, 4 * 378,
		4 * 490, 4 * 616, 6 * 466, 6 * 567, 6 * 666, 6 * 772, 6 * 873, 6 * 948};

	return efficiency[cqi & MAC_CQI_MAX];
}

/** @return TB bytes of a slot that carries `capacity` at the best CQI; 0: none can be decoded. */
static inline uint32_t
mac_cqi_bytes(uint32_t capacity, uint8_t cqi)
{
	return (uint32_t)((uint64_t)capacity * mac_cqi_efficiency(cqi) /
			  mac_cqi_efficiency(MAC_CQI_MAX));
}

#endif
