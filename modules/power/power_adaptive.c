/* SPDX-License-Identifier: BSD-3-Clause */
/** Numbers in comments are the lines of Algorithm 1. */
#include <stddef.h>

#include "core/clock.h"
#include "modules/power/power_adaptive.h"

void
power_adaptive_poll(const struct ap_cfg_power *cfg, struct power_rxq *q, uint32_t taken,
		    uint32_t count)
{
	if (taken == 0) { /* 4 */
		if (q->empty_poll_cnt < UINT32_MAX)
			q->empty_poll_cnt++;                                         /* 5 */
		if (q->empty_poll_cnt >= cfg->empty_polls_pause)                     /* 6 */
			q->idle_hint_us = q->empty_poll_cnt < cfg->empty_polls_sleep /* 7 */
						  ? cfg->pause_us                    /* 8 */
						  : cfg->sleep_us;                   /* 10 */
		return;
	}
	q->empty_poll_cnt = 0;                /* 12 */
	q->idle_hint_us = 0;                  /* not in the print */
	if (count > cfg->count_high) {        /* 14 */
		q->freq_hint = POWER_HIGHEST; /* 15 */
		q->trend = 0;
	} else if (count > cfg->count_mid) { /* 16 */
		q->trend += cfg->trend_mid;  /* 17 */
	} else if (count > cfg->count_low) { /* 18 */
		q->trend += cfg->trend_low;  /* 19 */
	}
	if (q->trend >= cfg->trend_step) { /* 20 */
		q->freq_hint = POWER_NEXT; /* 21 */
		q->trend = 0;
	}
}

struct power_verdict
power_adaptive_decide(const struct ap_cfg_power *cfg, struct power_rxq *q, unsigned n)
{
	struct power_verdict v = {.step = POWER_KEEP};
	uint32_t idle_us = cfg->sleep_us; /* 2 has 0, of which no minimum would ever come */

	for (unsigned i = 0; i < n; i++) {
		if (q[i].idle_hint_us < idle_us)
			idle_us = q[i].idle_hint_us; /* 23 */
		if (q[i].freq_hint > v.step)
			v.step = q[i].freq_hint; /* 24 */
		q[i].freq_hint = POWER_KEEP;     /* not in the print */
	}
	if (idle_us < cfg->sleep_us)  /* 29 */
		v.pause_us = idle_us; /* 30 */
	else
		v.sleep = true; /* 32 */
	return v;
}

bool
power_adaptive_scale_down(const struct ap_cfg_power *cfg, struct power_window *w, uint64_t now_ns)
{
	uint64_t ns = now_ns - w->since_ns;
	bool down;

	if (w->since_ns == 0) {
		*w = (struct power_window){.since_ns = now_ns};
		return false;
	}
	if (ns < cfg->scale_down_ms * AP_NS_PER_MS)
		return false;
	down = w->idle_ns * 100 >= ns * cfg->scale_down_idle_percent ||
	       w->packets < w->passes * cfg->scale_down_packets;
	*w = (struct power_window){.since_ns = now_ns};
	return down;
}
