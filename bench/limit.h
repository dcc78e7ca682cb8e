/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_BENCH_LIMIT_H
#define AIRPATH_BENCH_LIMIT_H

/** One measurement of what a port can do at most; bench_port_limits.c says which ones. */

#include <stdint.h>

#include "bench/harness.h"
#include "core/config.h"

#define LIMIT_CORES_MAX 64

enum limit_mode {
	LIMIT_ZERO_COPY,
	LIMIT_SINGLE_COPY,
	LIMIT_NULL,
	LIMIT_MEMCPY,
	LIMIT_MODES,
};

struct limit {
	enum limit_mode mode;
	unsigned cores;       /**< 1..LIMIT_CORES_MAX, at most the lcores there are */
	unsigned queues;      /**< of the port, ≥ cores; each core serves its share */
	unsigned frame_bytes; /**< without FCS */
	double seconds;
};

struct limit_result {
	struct harness_result cycles[LIMIT_CORES_MAX]; /**< per packet, on each core */
	uint64_t lost;
	uint64_t corrupted; /**< frames that had changed in the end */
};

/**
 * Measures on this lcore and the first workers, all at the same time. EAL is up.
 * @return 0; -errno with `err` filled, also when mbufs did not come back
 */
int limit_measure(const struct limit *l, struct limit_result *res, struct ap_error *err);

#endif
