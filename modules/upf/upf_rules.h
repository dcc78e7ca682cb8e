/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_RULES_H
#define AIRPATH_UPF_RULES_H

/**
 * All rules of a session as compiled from the agent's message, one allocation: the cold part of
 * struct upf_session. Ids are resolved to indices; lanes and PDRs stand in order of precedence
 * (§5.2.1: the lower value first; equal ones by id).
 *
 * The control thread makes it (upf_compile.h); from its message to a worker until the worker gives
 * it back it is that worker's (upf_apply.h). Clauses are those of TS 29.244.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_prefetch.h>

#include "modules/upf/upf_far.h"
#include "modules/upf/upf_qer.h"
#include "modules/upf/upf_session.h"
#include "modules/upf/upf_urr.h"

struct upf_ethernet;
struct upf_filter_set;

/** A local F-TEID of the session. */
struct upf_tunnel {
	uint32_t teid;
	uint8_t interface; /**< whose address the agent answered */
	bool foreign : 1;  /**< chosen by the CP function: found by struct upf_index */
	bool flow : 1;     /**< UPF_SESSION_FLOW_UP */
	/** As in struct upf_session, for packets of this tunnel. */
	uint8_t only, only_qfi;
	uint32_t interfaces;
};

/** A framed route that downlink packets of the session are found by. */
struct upf_framed_route {
	uint8_t address[16]; /**< network order, host bits 0 */
	uint8_t octets;      /**< 4 or 16 */
	uint8_t bits;
};

/**
 * PDRs that packets of one tunnel (or outside any) and the same interfaces have to choose from,
 * by rising precedence. A packet's group is that of its TEID and interface.
 */
struct upf_group {
	struct upf_filter_set *filters; /**< which of `lanes` a packet takes, in one lookup */
	uint32_t teid;                  /**< 0: outside any tunnel */
	uint32_t interfaces : 17;       /**< Σ 1 << index of interface */
	uint32_t reads : 4;             /**< Σ enum upf_reads */
	uint32_t flow : 1;              /**< its packets' lanes are kept by flow: upf_flow.h */
	uint32_t uplink : 1;            /**< its first PDR is of the access */
	const uint8_t *lanes;           /**< of the session, as many as filters say */
	uint16_t nb_lanes;
	/** Lanes are first, first + step, ... as where PDRs of both directions take turns: of such
	 * nobody has to look at `lanes`. 0: they are not. */
	uint8_t first, step;
};
_Static_assert(UPF_INTERFACES_MAX < 17, "bits of upf_group.interfaces");

/** What of a packet the rules of a group look at, beside its addresses, protocol and ports. */
enum upf_reads {
	UPF_READS_TOS = 1 << 0,
	UPF_READS_QFI = 1 << 1,
	UPF_READS_LABEL = 1 << 2,
	UPF_READS_APP = 1 << 3, /**< the application of its flow */
};

struct upf_rules {
	struct upf_accounts accounts; /**< first: upf_accounts_of() */
	uint64_t id;                  /**< SEID of the UP F-SEID */
	uint32_t handle;
	uint32_t version;
	uint32_t bytes;         /**< of this allocation */
	uint8_t ue_ip4[4];      /**< network order, 0: none */
	uint8_t ue_ip6[8];      /**< likewise; bits behind ue_ip6_bits are 0 */
	uint8_t ue_ip6_bits;    /**< 0: none; at most 64 */
	uint8_t core_interface; /**< the addresses are unique in, 0: they lead nowhere */
	uint16_t nb_lanes;
	uint16_t nb_fars, nb_qers, nb_bars; /**< URRs: accounts.nb_urrs */
	uint16_t nb_tunnels, nb_groups, nb_framed;
	uint8_t only_down;        /**< as in struct upf_session */
	bool flow_down;           /**< UPF_SESSION_FLOW_DOWN */
	uint32_t down_interfaces; /**< likewise */
	/** Lanes of more than UPF_INLINE_LANES PDRs; before installation those of fewer too. */
	struct upf_lane *lanes;
	struct upf_pdr *pdrs; /**< nb_lanes; URRs of pdrs[i] are of accounts.urrs */
	struct upf_far *fars;
	struct upf_qer *qers;
	struct upf_bar *bars;
	struct upf_group *groups; /**< upf_compile() has them right behind this struct */
	struct upf_tunnel *tunnels;
	struct upf_framed_route *framed;
	struct upf_ethernet *ethernet; /**< NULL: a session of IP */
	/* What a new flow asks for, before the groups. */
	uint32_t nb_flows; /**< entries of the flow table; worker: rw */
	uint8_t reads;     /**< Σ enum upf_reads of groups with `flow` */
	bool tells;        /**< a URR reports that traffic starts or stops */
} __rte_cache_aligned;

/** Fetches what a packet of a new flow asks for, without reading any of it. */
static inline void
upf_rules_prefetch(const struct upf_rules *r, unsigned group)
{
	rte_prefetch0(&r->reads);
	rte_prefetch0((const struct upf_group *)(const void *)(r + 1) + group);
}

static inline unsigned
upf_group_lane(const struct upf_group *g, unsigned order)
{
	return g->step != 0 ? g->first + order * g->step : g->lanes[order];
}

static inline struct upf_urr *
upf_rules_urr(const struct upf_rules *r, unsigned i)
{
	return &r->accounts.urrs[i];
}

/** @return index of the FAR, QER or URR with this id, or -1. */
static inline int
upf_rules_find_far(const struct upf_rules *r, uint32_t id)
{
	for (unsigned i = 0; i < r->nb_fars; i++)
		if (r->fars[i].id == id)
			return (int)i;
	return -1;
}

static inline int
upf_rules_find_qer(const struct upf_rules *r, uint32_t id)
{
	for (unsigned i = 0; i < r->nb_qers; i++)
		if (r->qers[i].id == id)
			return (int)i;
	return -1;
}

static inline int
upf_rules_find_urr(const struct upf_rules *r, uint32_t id)
{
	for (unsigned i = 0; i < r->accounts.nb_urrs; i++)
		if (r->accounts.urrs[i].id == id)
			return (int)i;
	return -1;
}

/** @return the lane of a PDR, or -1. */
static inline int
upf_rules_find_pdr(const struct upf_rules *r, uint32_t id)
{
	for (unsigned i = 0; i < r->nb_lanes; i++)
		if (r->pdrs[i].id == id)
			return (int)i;
	return -1;
}

#endif
