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
};

/** Largest SDU, B: with a header it still fits the 16-bit L of its MAC subheader. */
#define RLC_SDU_MAX (0xffff - RLC_AMD_HEADER_MAX)

/** UM_Window_Size, TS 38.322 §7.2. */
#define RLC_UM_WINDOW_6 32
#define RLC_UM_WINDOW_12 2048

#endif
