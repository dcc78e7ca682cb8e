/* SPDX-License-Identifier: BSD-3-Clause */
/* What a deployment receives from and into: ports and their pools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pool.h"
#include "core/run_impl.h"

#define HDR_MBUFS 16384
#define HDR_ROOM 128
#define RX_MBUFS 8192
#define QUEUED_MBUFS 32768

struct rte_mempool *
ap_run_pool(struct ap_run *run, const char *name, uint32_t mbufs, uint32_t room,
	    struct ap_error *err)
{
	struct ap_run_pool *slot = &run->pools[run->nb_pools];
	char unique[RTE_MEMPOOL_NAMESIZE];
	struct ap_cfg_pool cfg = {.name = unique, .mbufs = mbufs, .data_room = room, .cache = 256};

	for (unsigned i = 0; i < run->nb_pools; i++)
		if (strcmp(run->pools[i].name, name) == 0)
			return run->pools[i].mp;
	if (run->nb_pools == AP_RUN_POOLS_MAX) {
		ap_error_set(err, "%s: more than %d pools", run->cfg->path, AP_RUN_POOLS_MAX);
		return NULL;
	}
	for (unsigned i = 0; i < run->cfg->pools_count; i++)
		if (strcmp(run->cfg->pools[i].name, name) == 0) {
			cfg = run->cfg->pools[i];
			cfg.name = unique;
		}
	snprintf(unique, sizeof(unique), "%.16s.%u", name, run->serial);
	slot->mp = ap_pool_create(&cfg, err);
	if (slot->mp == NULL)
		return NULL;
	snprintf(slot->name, sizeof(slot->name), "%s", name);
	run->nb_pools++;
	return slot->mp;
}

/** Data room that holds whatever this deployment can send to a port. */
static uint32_t
port_room(const struct ap_config *cfg, const struct ap_cfg_port *port)
{
	uint32_t room = RTE_MAX(2048U, ap_port_room(port));

	if (port->framing != AP_FRAMING_RAW || ap_config_n3(cfg, port->name))
		return room;
	for (unsigned i = 0; ap_config_stack(cfg, i) != NULL; i++)
		room = RTE_MAX(room, ap_config_stack(cfg, i)->frame_bytes);
	for (unsigned i = 0; i < cfg->phy_count; i++)
		room = RTE_MAX(room, cfg->phy[i].frame_bytes);
	return room;
}

/** mbufs for what a port receives: with those that a upf or RLC may keep, which are to starve no
 * port. */
static uint32_t
port_mbufs(const struct ap_config *cfg, const struct ap_cfg_port *port)
{
	const struct ap_cfg_gnb *gnb = ap_config_n3(cfg, port->name);
	uint32_t mbufs = RX_MBUFS, queued = 0;

	for (unsigned i = 0; gnb && i < gnb->l2.bearers_count; i++)
		queued += gnb->l2.bearers[i].rlc.queue_sdus;
	if (gnb) /* the queues of many UEs are not all full */
		mbufs += RTE_MAX(queued, RTE_MIN(queued * gnb->l2.count, (uint32_t)QUEUED_MBUFS));

	for (unsigned i = 0; i < cfg->upf_count; i++) {
		const struct ap_cfg_upf *upf = &cfg->upf[i];
		unsigned k = 0;

		while (k < upf->interfaces_count &&
		       strcmp(upf->interfaces[k].port, port->name) != 0)
			k++;
		if (k < upf->interfaces_count) /* for UEs, and for neighbours */
			mbufs += 2 * upf->buffer_packets;
	}
	return mbufs;
}

static void
pool_kept(struct ap_run *run, const struct rte_mempool *mp)
{
	for (unsigned i = 0; i < run->nb_pools; i++)
		run->pools[i].kept |= run->pools[i].mp == mp;
}

static bool
some_lcore_sleeps(const struct ap_config *cfg)
{
	for (unsigned i = 0; i < cfg->lcores_count; i++)
		if (ap_governor_find(cfg->lcores[i].governor, false)->sleeps)
			return true;
	return false;
}

int
ap_run_ports_open(struct ap_run *run, struct ap_error *err)
{
	const struct ap_config *cfg = run->cfg;

	run->ports = calloc(cfg->ports_count, sizeof(struct ap_port *));
	if (run->ports == NULL && cfg->ports_count)
		return ap_error_set(err, "%s: out of memory", cfg->path);
	for (unsigned i = 0; i < cfg->ports_count; i++) {
		const struct ap_cfg_port *conf = &cfg->ports[i];
		struct ap_port_cfg pc = {.conf = conf,
					 .burst = (uint16_t)cfg->burst,
					 .sleeps = some_lcore_sleeps(cfg)};
		char name[32];

		snprintf(name, sizeof(name), "rx_%.20s", conf->name);
		pc.hdr_pool = ap_run_pool(run, "hdr", HDR_MBUFS, HDR_ROOM, err);
		if (pc.hdr_pool == NULL)
			return -EINVAL;
		if (conf->preset != AP_PRESET_RING) {
			pc.rx_pool = ap_run_pool(run, conf->pool ? conf->pool : name,
						 port_mbufs(cfg, conf), port_room(cfg, conf), err);
			if (pc.rx_pool == NULL)
				return -EINVAL;
		}
		if (ap_port_open(&run->ports[i], &pc, err) < 0)
			return -EINVAL;
		if (strcmp(run->ports[i]->driver, "net_af_xdp") == 0)
			pool_kept(run, pc.rx_pool);
		if (run->ports[i]->note[0] != '\0')
			fprintf(stderr, "port %s: %s\n", conf->name, run->ports[i]->note);
	}
	return 0;
}

void
ap_run_ports_bind(struct ap_run *run)
{
	for (unsigned i = 0; i < run->plan->nb_nodes; i++) {
		struct ap_plan_node *n = run->plan->nodes[i];

		if (n->port)
			n->arg = ap_run_port(run, n->port->name);
	}
}

struct ap_port *
ap_run_port(const struct ap_run *run, const char *name)
{
	for (unsigned i = 0; i < run->cfg->ports_count; i++)
		if (strcmp(run->cfg->ports[i].name, name) == 0)
			return run->ports[i];
	return NULL;
}
