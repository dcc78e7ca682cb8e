/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_lcore.h>
#include <rte_power.h>

#include "modules/power/power_pstates.h"

/** Lcores that use a CPU's cpufreq: librte_power takes a CPU once. Control thread. */
static unsigned users[RTE_MAX_LCORE];

static bool
has_cpufreq(unsigned cpu)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver", cpu);
	return access(path, R_OK) == 0;
}

/** The drivers of the kernel; not the channel by which a guest asks its host. */
static int
environment_choose(void)
{
	static const enum power_management_env environments[] = {
		PM_ENV_ACPI_CPUFREQ, PM_ENV_PSTATE_CPUFREQ, PM_ENV_CPPC_CPUFREQ};

	if (rte_power_get_env() != PM_ENV_NOT_SET)
		return 0;
	for (unsigned i = 0; i < RTE_DIM(environments); i++)
		if (rte_power_check_env_supported(environments[i]) > 0)
			return rte_power_set_env(environments[i]);
	return -ENOTSUP;
}

static int
cpufreq_open(struct power_pstates *p, struct ap_error *err)
{
	uint32_t khz[POWER_STATES_MAX];

	if (p->cpu >= RTE_MAX_LCORE || !has_cpufreq(p->cpu))
		return ap_error_set(err,
				    "power: CPU %u has no cpufreq: load its driver, or choose "
				    "backend model or none",
				    p->cpu);
	/* librte_power takes an lcore's number for that of its CPU. */
	if (environment_choose() < 0 || (users[p->cpu] == 0 && rte_power_init(p->cpu) < 0))
		return ap_error_set(err,
				    "power: librte_power refuses CPU %u: it needs root, and the "
				    "cpufreq governor 'userspace' or driver intel_pstate",
				    p->cpu);
	users[p->cpu]++;
	p->nb = rte_power_freqs(p->cpu, khz, RTE_DIM(khz));
	for (unsigned i = 0; i < p->nb; i++)
		p->mhz[i] = khz[i] / 1000;
	if (p->nb > 0 && rte_power_freq_max(p->cpu) >= 0)
		return 0;
	power_pstates_close(p);
	return ap_error_set(err, "power: CPU %u tells no frequencies, or takes none", p->cpu);
}

static void
model_open(struct power_pstates *p, const struct power_table *table)
{
	p->nb = table->pstates_count;
	for (unsigned i = 0; i < p->nb; i++) {
		p->mhz[i] = table->pstates[i].mhz;
		p->slower[i] = (uint32_t)(((uint64_t)p->mhz[0] << 16) / p->mhz[i] - (1U << 16));
	}
}

int
power_pstates_open(struct power_pstates *p, enum ap_cfg_pstates backend, unsigned cpu,
		   const struct power_table *table, struct ap_error *err)
{
	if (backend == AP_PSTATES_AUTO)
		backend = has_cpufreq(cpu) ? AP_PSTATES_RTE_POWER : AP_PSTATES_NONE;
	*p = (struct power_pstates){.backend = backend, .cpu = cpu};
	if (backend == AP_PSTATES_RTE_POWER)
		return cpufreq_open(p, err);
	if (backend == AP_PSTATES_MODEL)
		model_open(p, table);
	return 0;
}

void
power_pstates_close(struct power_pstates *p)
{
	if (p->backend == AP_PSTATES_RTE_POWER && users[p->cpu] > 0 && --users[p->cpu] == 0)
		rte_power_exit(p->cpu);
	p->nb = 0;
	p->backend = AP_PSTATES_NONE;
}

static bool
set(struct power_pstates *p, unsigned state)
{
	if (state == p->now)
		return false;
	if (p->backend == AP_PSTATES_RTE_POWER && rte_power_set_freq(p->cpu, state) < 0)
		return false;
	p->now = state;
	return true;
}

/** The first of the states is turbo where the CPU has it, and then only once that is allowed. */
static void
turbo_allow(struct power_pstates *p)
{
	struct rte_power_core_capabilities caps = {0};

	if (rte_power_get_capabilities == NULL || rte_power_get_capabilities(p->cpu, &caps) < 0)
		return;
	p->sst_bf = caps.priority;
	if (caps.turbo)
		rte_power_freq_enable_turbo(p->cpu);
}

void
power_pstates_limit(struct power_pstates *p, enum ap_cfg_priority priority, uint32_t normal_mhz)
{
	unsigned ceiling = 0;

	if (p->nb == 0)
		return;
	if (priority == AP_PRIORITY_HIGH && p->backend == AP_PSTATES_RTE_POWER)
		turbo_allow(p);
	if (priority == AP_PRIORITY_NORMAL && normal_mhz == 0)
		ceiling = RTE_MIN(1U, p->nb - 1);
	else if (priority == AP_PRIORITY_NORMAL)
		while (ceiling + 1 < p->nb && p->mhz[ceiling] > normal_mhz)
			ceiling++;
	p->ceiling = ceiling;
	set(p, ceiling);
}

bool
power_pstates_step(struct power_pstates *p, enum power_step step)
{
	if (p->nb == 0 || step == POWER_KEEP)
		return false;
	return set(p, step == POWER_HIGHEST || p->now <= p->ceiling ? p->ceiling : p->now - 1);
}

bool
power_pstates_down(struct power_pstates *p)
{
	return p->now + 1 < p->nb && set(p, p->now + 1);
}

const char *
power_pstates_name(const struct power_pstates *p)
{
	return p->backend == AP_PSTATES_RTE_POWER ? "rte_power"
	       : p->backend == AP_PSTATES_MODEL   ? "model"
						  : "none";
}
