/* SPDX-License-Identifier: BSD-3-Clause */
/** Power settings of a deployment: defaults are the paper's, and DPDK's where it has none. */
#include <string.h>

#include "core/config_check.h"

#define TREND_MAX 1000000000U /* the sum of two fits 32 bits */

static void
defaults(const struct ap_config *cfg, struct ap_cfg_power *p)
{
	DEFAULT(p->empty_polls_pause, 10);
	DEFAULT(p->empty_polls_sleep, 300);
	DEFAULT(p->pause_us, 1);
	DEFAULT(p->sleep_us, 300);
	DEFAULT(p->timeout_ms, 10);
	DEFAULT(p->count_low, 32);
	DEFAULT(p->count_mid, 64);
	DEFAULT(p->count_high, 96);
	DEFAULT(p->trend_low, 3);
	DEFAULT(p->trend_mid, 250);
	DEFAULT(p->trend_step, 10000);
	DEFAULT(p->scale_down_ms, 100);
	DEFAULT(p->scale_down_idle_percent, 25);
	DEFAULT(p->scale_down_packets, 32);
	DEFAULT(p->slot_wakeups_percent, 95);
	DEFAULT(p->slot_nap_percent, 25);
}

static int
finish(const struct ap_config *cfg, struct ap_cfg_power *p, struct ap_error *err)
{
	defaults(cfg, p);
	if (p->empty_polls_pause > p->empty_polls_sleep)
		BAD(&p->empty_polls_pause,
		    "power %s: empty_polls_pause %u must not be above empty_polls_sleep %u",
		    p->name, p->empty_polls_pause, p->empty_polls_sleep);
	if (p->pause_us >= p->sleep_us)
		BAD(&p->pause_us,
		    "power %s: pause_us %u must be below sleep_us %u: an idle hint of "
		    "sleep_us means sleep",
		    p->name, p->pause_us, p->sleep_us);
	if (p->pause_us > 1000)
		BAD(&p->pause_us, "power %s: pause_us %u must be 1..1000", p->name, p->pause_us);
	if (p->count_low > p->count_mid || p->count_mid > p->count_high)
		BAD(&p->count_low, "power %s: count_low %u, count_mid %u, count_high %u must rise",
		    p->name, p->count_low, p->count_mid, p->count_high);
	if (p->trend_low > TREND_MAX || p->trend_mid > TREND_MAX || p->trend_step > TREND_MAX)
		BAD(p->trend_low > TREND_MAX   ? &p->trend_low
		    : p->trend_mid > TREND_MAX ? &p->trend_mid
					       : &p->trend_step,
		    "power %s: trend_low %u, trend_mid %u and trend_step %u must be 1..%u", p->name,
		    p->trend_low, p->trend_mid, p->trend_step, TREND_MAX);
	if (p->timeout_ms > 1000)
		BAD(&p->timeout_ms, "power %s: timeout_ms %u must be 1..1000", p->name,
		    p->timeout_ms);
	if (p->scale_down_idle_percent > 100)
		BAD(&p->scale_down_idle_percent,
		    "power %s: scale_down_idle_percent %u must be 1..100", p->name,
		    p->scale_down_idle_percent);
	if (p->slot_us != 0 && (p->slot_us < 50 || p->slot_us > 100000))
		BAD(&p->slot_us, "power %s: slot_us %u must be 50..100000", p->name, p->slot_us);
	if (p->slot_wakeups_percent > 200)
		BAD(&p->slot_wakeups_percent, "power %s: slot_wakeups_percent %u must be 1..200",
		    p->name, p->slot_wakeups_percent);
	if (p->slot_nap_percent > 100)
		BAD(&p->slot_nap_percent, "power %s: slot_nap_percent %u must be 1..100", p->name,
		    p->slot_nap_percent);
	if (p->backend == AP_PSTATES_MODEL && p->table == NULL)
		BAD(&p->backend,
		    "power %s: backend model needs 'table', a file of P-states such as "
		    "power/xeon-gold-5418y.yaml",
		    p->name);
	return 0;
}

static const struct ap_cfg_power *
find(const struct ap_config *cfg, const char *name)
{
	for (unsigned i = 0; i < cfg->power_count; i++)
		if (strcmp(cfg->power[i].name, name) == 0)
			return &cfg->power[i];
	return NULL;
}

/** Priority says something only where some lcores have it. */
static void
priorities_finish(const struct ap_config *cfg)
{
	bool any = false;

	for (unsigned i = 0; i < cfg->lcores_count; i++)
		any |= cfg->lcores[i].priority == AP_PRIORITY_HIGH;
	for (unsigned i = 0; i < cfg->lcores_count; i++)
		if (cfg->lcores[i].priority != AP_PRIORITY_HIGH)
			cfg->lcores[i].priority = any ? AP_PRIORITY_NORMAL : AP_PRIORITY_NONE;
}

int
config_power_finish(const struct ap_config *cfg, struct ap_error *err)
{
	priorities_finish(cfg);
	for (unsigned i = 0; i < cfg->power_count; i++) {
		if (find(cfg, cfg->power[i].name) != &cfg->power[i])
			BAD(&cfg->power[i].name, "power %s: there are two of this name",
			    cfg->power[i].name);
		if (finish(cfg, &cfg->power[i], err) < 0)
			return -1;
	}
	for (unsigned i = 0; i < cfg->lcores_count; i++) {
		const struct ap_cfg_lcore *l = &cfg->lcores[i];

		if (l->power != NULL && find(cfg, l->power) == NULL)
			BAD(&l->power, "lcore %s: there is no power '%s'", l->name, l->power);
	}
	return 0;
}

const struct ap_cfg_power *
ap_config_power(const struct ap_config *cfg, const struct ap_cfg_lcore *lcore)
{
	static struct ap_cfg_power none = {.name = "default"};
	static const struct ap_config empty;

	if (lcore->power != NULL)
		return find(cfg, lcore->power);
	if (cfg->power_count > 0)
		return &cfg->power[0];
	defaults(&empty, &none);
	return &none;
}
