/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What ports do so that packets arrive at the worker that owns their session. Where a port cannot
 * do it, upf_steer hands over; upf->steering says which.
 *
 *   rss   queue by a symmetric Toeplitz hash of the UE's address alone: of the inner header where
 *         the packet has one, else of the destination; a bucket of upf_owner.h is its low bits
 *   teid  queue by bits of the TEID's bucket; packets outside tunnels as with rss
 */
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "core/port.h"
#include "modules/upf/upf_role.h"

#define TEID_RULES_MAX 128

/** @return entries of the redirection tables, of the smallest one; 0: a port has none. */
static unsigned
table_entries(const struct upf *upf)
{
	unsigned entries = UPF_BUCKETS;

	for (unsigned p = 0; p < upf->nb_ports; p++) {
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(upf->ports[p]->id, &info) < 0 || info.reta_size == 0)
			return 0;
		entries = RTE_MIN(entries, (unsigned)info.reta_size);
	}
	return entries;
}

/** @return rules that tell owners apart, by so many values of the bucket's low bits. */
static unsigned
teid_rules_nb(const struct upf *upf)
{
	return RTE_MIN(rte_align32pow2(4 * upf->nb_workers), (uint32_t)TEID_RULES_MAX);
}

void
upf_steering_init(struct upf *upf)
{
	unsigned entries = upf->cfg->steering == AP_STEERING_TEID  ? teid_rules_nb(upf)
			   : upf->cfg->steering == AP_STEERING_RSS ? table_entries(upf)
								   : UPF_BUCKETS;

	if (upf_owner_map_init(&upf->owners, upf->nb_workers, entries) < 0)
		upf_owner_map_init(&upf->owners, upf->nb_workers, UPF_BUCKETS);
}

static bool
flow(const struct ap_port *port, const struct rte_flow_item *pattern,
     const struct rte_flow_action *action)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};
	struct rte_flow_error error;

	return rte_flow_create(port->id, &attr, pattern, actions, &error) != NULL;
}

static bool
rss_flow(const struct ap_port *port, const struct rte_flow_item *pattern, uint64_t types,
	 uint32_t level)
{
	uint16_t queues[AP_PORT_QUEUES_MAX];
	uint8_t key[UPF_RSS_KEY_BYTES];
	struct rte_eth_dev_info info;
	struct rte_flow_action_rss rss = {.func = RTE_ETH_HASH_FUNCTION_TOEPLITZ,
					  .level = level,
					  .types = types,
					  .queue_num = port->queues,
					  .key = key,
					  .queue = queues};

	if (rte_eth_dev_info_get(port->id, &info) < 0)
		return false;
	upf_rss_key(key);
	rss.key_len = RTE_MIN((uint32_t)info.hash_key_size, (uint32_t)UPF_RSS_KEY_BYTES);
	for (uint16_t q = 0; q < port->queues; q++)
		queues[q] = q;
	return flow(port, pattern,
		    &(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss});
}

/** The UE is the source of what comes in a tunnel. */
static bool
rss_inner(const struct ap_port *port)
{
	const struct rte_flow_item v4[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},  {.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_UDP},  {.type = RTE_FLOW_ITEM_TYPE_GTPU},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4}, {.type = RTE_FLOW_ITEM_TYPE_END}};

	return rss_flow(port, v4, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_L3_SRC_ONLY, 2);
}

/** ... and the destination of what comes without one. */
static bool
rss_destination(const struct ap_port *port)
{
	const struct rte_flow_item v4[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
					   {.type = RTE_FLOW_ITEM_TYPE_IPV4},
					   {.type = RTE_FLOW_ITEM_TYPE_END}};

	return rss_flow(port, v4, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_L3_DST_ONLY, 1);
}

/** A rule for each value of the bucket's low bits. */
static bool
teid_rules(const struct upf *upf, const struct ap_port *port)
{
	unsigned rules = teid_rules_nb(upf);
	bool all = true;

	for (unsigned i = 0; i < rules && all; i++) {
		struct rte_flow_item_gtp spec = {.teid = rte_cpu_to_be_32(upf_teid(i, 0, 0))};
		struct rte_flow_item_gtp mask = {
			.teid = rte_cpu_to_be_32(upf_teid(rules - 1, 0, 0))};
		const struct rte_flow_item pattern[] = {
			{.type = RTE_FLOW_ITEM_TYPE_ETH},
			{.type = RTE_FLOW_ITEM_TYPE_IPV4},
			{.type = RTE_FLOW_ITEM_TYPE_UDP},
			{.type = RTE_FLOW_ITEM_TYPE_GTPU, .spec = &spec, .mask = &mask},
			{.type = RTE_FLOW_ITEM_TYPE_END}};
		struct rte_flow_action_queue queue = {.index = upf->owners.worker[i]};

		all = flow(port, pattern,
			   &(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_QUEUE,
						     .conf = &queue});
	}
	return all;
}

static const char *
mode_name(enum ap_cfg_steering mode)
{
	return mode == AP_STEERING_RSS ? "rss" : mode == AP_STEERING_TEID ? "teid" : "software";
}

void
upf_steering_start(struct upf *upf)
{
	enum ap_cfg_steering mode = upf->cfg->steering;
	char cannot[64] = "";
	size_t len;

	snprintf(upf->steering, sizeof(upf->steering), "%s", mode_name(mode));
	if (mode == AP_STEERING_SOFTWARE || upf->nb_workers == 1)
		return;
	for (unsigned p = 0; p < upf->nb_ports; p++) {
		const struct ap_port *port = upf->ports[p];
		bool tunnels = mode == AP_STEERING_TEID ? teid_rules(upf, port) : rss_inner(port);

		len = strlen(cannot);
		if (!rss_destination(port) || !tunnels)
			snprintf(cannot + len, sizeof(cannot) - len, "%s%s", len ? ", " : "",
				 port->name);
	}
	len = strlen(upf->steering);
	if (cannot[0] != '\0') {
		snprintf(upf->steering + len, sizeof(upf->steering) - len,
			 " (hand-off in software: %s cannot)", cannot);
		fprintf(stderr, "upf %s: steering %s\n", upf->cfg->name, upf->steering);
	}
}
