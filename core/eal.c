/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "core/clock.h"
#include "core/eal.h"
#include "core/meta.h"

#define ARGS_MAX 24

/** EAL starts once in a process and may keep what it was given: so do we. */
struct args {
	char *argv[ARGS_MAX]; /**< EAL writes there */
	char *kept[ARGS_MAX];
	int argc;
};

static void
arg(struct args *a, const char *text)
{
	if (a->argc == ARGS_MAX - 1)
		return;
	a->kept[a->argc] = a->argv[a->argc] = strdup(text);
	a->argc++;
}

/** Hugepages of the default size. */
struct hugepages {
	unsigned long total, free;
	unsigned long kb; /**< one's size, KiB */
};

static struct hugepages
hugepages_read(void)
{
	struct hugepages h = {0, 0, 2048};
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "HugePages_Total: %lu", &h.total);
		sscanf(line, "HugePages_Free: %lu", &h.free);
		sscanf(line, "Hugepagesize: %lu kB", &h.kb);
	}
	if (f)
		fclose(f);
	return h;
}

/**
 * CPUs of the control threads: those this process may run on and no worker does, so that no change
 * of contexts makes packets wait. Where none is left, all there are.
 */
static void
control_cpus(const struct ap_plan *p, cpu_set_t *set)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	CPU_ZERO(set);
	sched_getaffinity(0, sizeof(*set), set);
	for (unsigned i = 0; i < p->nb_lcores; i++)
		CPU_CLR(p->lcores[i].cfg->cpu, set);
	if (CPU_COUNT(set) > 0)
		return;
	for (long cpu = 0; cpu < cpus; cpu++)
		CPU_SET((size_t)cpu, set);
}

static void
arg_lcores(struct args *a, const struct ap_plan *p)
{
	char text[16 * (AP_LCORES_MAX + 1) + 5 * CPU_SETSIZE];
	int len = snprintf(text, sizeof(text), "0@(");
	cpu_set_t control;

	control_cpus(p, &control);
	for (unsigned cpu = 0, nb = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &control))
			len += snprintf(text + len, sizeof(text) - len, "%s%u", nb++ ? "," : "",
					cpu);
	len += snprintf(text + len, sizeof(text) - len, ")");
	for (unsigned i = 0; i < p->nb_lcores; i++)
		len += snprintf(text + len, sizeof(text) - len, ",%u@%u", p->lcores[i].id,
				p->lcores[i].cfg->cpu);
	arg(a, "--lcores");
	arg(a, text);
	arg(a, "--main-lcore");
	arg(a, "0");
}

static void
arg_memory(struct args *a, unsigned want_mb, enum ap_cfg_switch hugepages)
{
	const struct hugepages h = hugepages_read();
	const unsigned long have = h.free * h.kb / 1024;
	/* Those in use stay in use; some beyond what is wanted, as others may take a few. */
	const unsigned long enough =
		h.total - h.free + RTE_ALIGN_CEIL((want_mb + 128) * 1024ul, h.kb) / h.kb;
	char mb[16];

	if (hugepages != AP_CFG_OFF && have >= want_mb) {
		arg(a, "--in-memory");
		return;
	}
	if (hugepages != AP_CFG_OFF)
		fprintf(stderr,
			"warning: %lu MB of free hugepages, this deployment wants %u: running "
			"without.\n"
			"         Slower. To change: sysctl vm.nr_hugepages=%lu\n",
			have, want_mb, enough);
	snprintf(mb, sizeof(mb), "%u", want_mb);
	arg(a, "--no-huge");
	arg(a, "--no-shconf");
	arg(a, "-m");
	arg(a, mb);
}

static bool
has_pci_port(const struct ap_config *cfg)
{
	for (unsigned i = 0; i < cfg->ports_count; i++)
		if (cfg->ports[i].preset == AP_PRESET_PCI)
			return true;
	return false;
}

static bool
wants_pci(const struct ap_config *cfg)
{
	if (has_pci_port(cfg))
		return true;
	for (unsigned i = 0; ap_config_stack(cfg, i) != NULL; i++) {
		const struct ap_cfg_ue *stack = ap_config_stack(cfg, i);
		const char *crypto = stack->security.cryptodev;

		if (stack->copy == AP_COPY_DMA)
			return true; /* a DSA is a PCI device */
		if (crypto != NULL && strchr(crypto, ':') != NULL)
			return true; /* an address */
	}
	return false;
}

static int
cpus_check(const struct ap_plan *p, struct ap_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (unsigned i = 0; i < p->nb_lcores; i++)
		if (p->lcores[i].cfg->cpu >= cpus)
			return ap_config_bad(p->cfg, &p->lcores[i].cfg->cpu, err,
					     "lcore %s: cpu %u: this machine has 0..%ld",
					     p->lcores[i].cfg->name, p->lcores[i].cfg->cpu,
					     cpus - 1);
	return 0;
}

void
ap_eal_prefix(const struct ap_config *cfg, char *buf, size_t size)
{
	snprintf(buf, size, "airpath-%s", cfg->name);
}

bool
ap_eal_hugepages(void)
{
	return rte_eal_has_hugepages() != 0;
}

/** Common end: what does not depend on lcores. */
static int
start(struct args *a, const char *prefix, bool pci, const char *what, struct ap_error *err)
{
	arg(a, "--file-prefix");
	arg(a, prefix);
	arg(a, "--log-level");
	arg(a, "error");
	if (!pci)
		arg(a, "--no-pci");
	ap_eal_folder_tidy(prefix);
	if (rte_eal_init(a->argc, a->argv) < 0)
		return ap_error_set(err, "%s: EAL did not start: %s (are you root?)", what,
				    rte_strerror(rte_errno));
	ap_clock_init();
	if (ap_meta_register() < 0)
		return ap_error_set(err, "%s: no room in the mbuf for airpath's fields", what);
	return 0;
}

int
ap_eal_start(const struct ap_plan *p, struct ap_error *err)
{
	static struct args a;
	char prefix[64];

	if (cpus_check(p, err) < 0)
		return -EINVAL;
	ap_eal_prefix(p->cfg, prefix, sizeof(prefix));
	arg(&a, "airpath");
	arg_lcores(&a, p);
	arg_memory(&a, p->cfg->memory.mb, p->cfg->memory.hugepages);
	/* dma_skeleton wants virtual addresses; a NIC's driver knows for itself what it wants. */
	if (!has_pci_port(p->cfg)) {
		arg(&a, "--iova-mode");
		arg(&a, "va");
	}
	return start(&a, prefix, wants_pci(p->cfg), p->cfg->path, err);
}

int
ap_eal_start_plain(const char *name, unsigned mb, struct ap_error *err)
{
	static struct args a;
	char text[64];

	arg(&a, "airpath");
	arg(&a, "-l");
	snprintf(text, sizeof(text), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	arg(&a, text);
	arg_memory(&a, mb, AP_CFG_DEFAULT);
	snprintf(text, sizeof(text), "airpath-%s", name);
	return start(&a, text, false, name, err);
}
