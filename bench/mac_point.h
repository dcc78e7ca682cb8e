/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_MAC_POINT_H
#define AIRPATH_BENCH_MAC_POINT_H

/** One point of the mac-build curves: its TB as mac_build gets it, and as it must come out. */

#include <stdbool.h>
#include <stdint.h>

#include "modules/l2/l2.h"

#define MAC_POINT_SUBPDUS_MAX 1000
#define MAC_POINT_TB_MAX 65000
#define MAC_POINT_SDU_ROOM 9216

struct mac_point {
	unsigned subpdus;
	unsigned tb_bytes;
	unsigned fragment_bytes;
	uint32_t sdu_bytes; /**< of each SDU; what remains of the TB is padding */
};

/** @return false when the TB is too small for so many subPDUs, or one too long for its buffer. */
bool mac_point_init(struct mac_point *p, unsigned subpdus, unsigned tb_bytes,
		    unsigned fragment_bytes);

/**
 * Marks and PDUs of one TB, as RLC leaves them: subpdus + 2 mbufs.
 * @param fill with the pattern, else only the first byte of each is written
 * @return false when a pool is empty
 */
bool mac_point_input(const struct mac_point *p, const struct l2_pools *pools, struct rte_mbuf **in,
		     bool fill);

/** The TB as TS 38.321 §6.1.2 has it, written without the code under test but the subheader. */
void mac_point_expect(const struct mac_point *p, uint8_t *tb);

#endif
