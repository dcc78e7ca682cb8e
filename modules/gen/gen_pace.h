/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_GEN_PACE_H
#define AIRPATH_MODULES_GEN_PACE_H

/**
 * Token bucket whose tokens are time: a packet costs the time it takes at the wanted rate.
 *
 * Divisions happen when the rate changes, a packet costs one multiplication. What is left over
 * stays in the bucket, so the mean rate is exact, but never more than `catch_up_ns` of it:
 * after a pause the device under test is not flooded, and the time given up is counted.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/gen/gen.h"

#define GEN_PACE_ONE (1LL << 32) /**< 1 ns; times are 32.32 fixed-point ns */

/** Owner: the sending lcore. */
struct gen_pace {
	uint64_t last_ns;    /**< of the last refill */
	int64_t budget;      /**< time not yet spent; negative: wait */
	int64_t packet_cost; /**< per packet */
	uint64_t byte_cost;  /**< per IP byte */
	int64_t budget_max;
	uint64_t behind_ns; /**< budget given up so far */
	bool stopped;
	bool unlimited;
};

/** @return 0, or -EINVAL when the rate is out of the ranges of struct gen_rate. */
int gen_pace_check(struct gen_rate rate);

/** Sets a checked rate; the bucket starts empty at `now`. */
void gen_pace_set(struct gen_pace *p, struct gen_rate rate, uint64_t now, uint32_t catch_up_ns);

/** Adds the time since the last call. */
void gen_pace_refill(struct gen_pace *p, uint64_t now);

/** @return whether a packet may leave now. */
static inline bool
gen_pace_due(const struct gen_pace *p)
{
	return p->budget >= 0;
}

/** Spends what a packet of `bytes` costs. */
static inline void
gen_pace_spend(struct gen_pace *p, uint32_t bytes)
{
	p->budget -= p->packet_cost + (int64_t)(p->byte_cost * bytes);
}

/** Takes gen_pace_spend() back. */
static inline void
gen_pace_refund(struct gen_pace *p, uint32_t bytes)
{
	p->budget += p->packet_cost + (int64_t)(p->byte_cost * bytes);
}

#endif
