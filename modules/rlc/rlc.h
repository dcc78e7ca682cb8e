/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_RLC_H
#define AIRPATH_MODULES_RLC_H

/** What both directions of an RLC entity share. */

#include "codec/rlc.h"

/** TS 38.322 §4.2.1; 0 is a bearer without an entity, so that zeroed memory is safe. */
enum rlc_mode {
	RLC_NONE = 0,
	RLC_TM,
	RLC_UM,
	RLC_AM,
};

struct rte_mbuf;

/**
 * Hands an SDU, i.e. a PDCP PDU without RLC header, over to the caller of
 * rlc_tx_take_unconfirmed().
 * @param enter_us when PDCP submitted it, as in the queue: discardTimer runs on from there
 */
typedef void rlc_tx_taker(void *arg, struct rte_mbuf *sdu, uint32_t enter_us);

/** Largest SDU, B: with a header it still fits the 16-bit L of its MAC subheader. */
#define RLC_SDU_MAX (0xffff - RLC_AMD_HEADER_MAX)

/** UM_Window_Size, TS 38.322 §7.2. */
#define RLC_UM_WINDOW_6 32
#define RLC_UM_WINDOW_12 2048

/** AM_Window_Size, TS 38.322 §7.2. */
#define RLC_AM_WINDOW_12 2048
#define RLC_AM_WINDOW_18 131072

#endif
