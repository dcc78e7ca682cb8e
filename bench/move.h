/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_MOVE_H
#define AIRPATH_BENCH_MOVE_H

/**
 * What it costs to move bytes between two cores: no code that copies a packet from one to
 * the other can be faster. Both cores work at once, as a generator and a device do.
 */

#include <stdint.h>

#include "bench/harness.h"

enum move_kind {
	MOVE_LOCAL,      /**< source and destination in this core's cache */
	MOVE_READ,       /**< the source was last written by the other core */
	MOVE_WRITE,      /**< the destination was last read by the other core */
	MOVE_READ_WRITE, /**< both */
	MOVE_KINDS,
};

/**
 * Copies buffers of `bytes` on the calling core while `lcore` rewrites and reads others.
 * @param lcore an idle EAL worker
 * @return TSC cycles a buffer; no windows when out of memory
 */
struct harness_result move_measure(enum move_kind kind, uint32_t bytes, double seconds,
				   unsigned lcore);

#endif
