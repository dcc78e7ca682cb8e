/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "modules/gen/gen_pace.h"

int
gen_pace_check(struct gen_rate rate)
{
	switch (rate.kind) {
	case GEN_RATE_MAX:
	case GEN_RATE_STOP:
		return 0;
	case GEN_RATE_PPS:
		return rate.value >= 1.0 && rate.value <= 1e9 ? 0 : -EINVAL;
	case GEN_RATE_BPS:
		return rate.value >= 1e5 && rate.value <= 1e12 ? 0 : -EINVAL;
	}
	return -EINVAL;
}

void
gen_pace_set(struct gen_pace *p, struct gen_rate rate, uint64_t now, uint32_t catch_up_ns)
{
	p->last_ns = now;
	p->budget = 0;
	p->budget_max = (int64_t)catch_up_ns * GEN_PACE_ONE;
	p->packet_cost = 0;
	p->byte_cost = 0;
	p->stopped = rate.kind == GEN_RATE_STOP;
	p->unlimited = rate.kind == GEN_RATE_MAX;
	if (rate.kind == GEN_RATE_PPS)
		p->packet_cost = (int64_t)(1e9 / rate.value * GEN_PACE_ONE + 0.5);
	if (rate.kind == GEN_RATE_BPS)
		p->byte_cost = (uint64_t)(8e9 / rate.value * GEN_PACE_ONE + 0.5);
}

void
gen_pace_refill(struct gen_pace *p, uint64_t now)
{
	/* The bucket holds far less than a second, so a longer pause need not fit the fixed point.
	 */
	uint64_t ns = now - p->last_ns < 1ULL << 30 ? now - p->last_ns : 1ULL << 30;

	if (p->stopped || p->unlimited)
		return;
	p->behind_ns += now - p->last_ns - ns;
	p->last_ns = now;
	p->budget += (int64_t)ns * GEN_PACE_ONE;
	if (p->budget > p->budget_max) {
		p->behind_ns += (uint64_t)(p->budget - p->budget_max) >> 32;
		p->budget = p->budget_max;
	}
}
