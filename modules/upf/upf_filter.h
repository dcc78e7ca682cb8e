/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_FILTER_H
#define AIRPATH_UPF_FILTER_H

/**
 * Filter sets: which of several PDRs a packet matches, in one lookup. TS 29.244 §5.2.1A, §8.2.5.
 *
 * A set is the PDRs of a group by precedence, each as rules any of which will do. It holds nothing
 * of a session's own ("the UE's address" is a flag of the packet), so the sessions of a network
 * share a few sets: equal ones are made once and counted. Rules that ask for an application alone
 * are found by it; a few others are gone through in order; more are compiled with rte_acl, which
 * takes milliseconds and 100 KB, on the control thread. Sets never change: workers read them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "codec/flow.h"

#define UPF_FILTER_LINEAR_MAX 16 /**< rules of a family gone through; more are compiled */
#define UPF_FILTER_RULES_MAX 8192
#define UPF_NO_QFI 0xFF

enum upf_packet_ue { /* which addresses are the UE's */
		     UPF_SOURCE_UE = 1 << 0,
		     UPF_DESTINATION_UE = 1 << 1,
};

/** What rules look at. */
struct upf_packet {
	struct flow flow;
	uint8_t qfi;  /**< UPF_NO_QFI: none */
	uint8_t ue;   /**< Σ enum upf_packet_ue */
	uint16_t app; /**< application of its flow, 0: none known */
};

enum upf_filter_flag {
	UPF_FILTER_PROTO = 1 << 0,
	UPF_FILTER_PORTS = 1 << 1,
	UPF_FILTER_SPI = 1 << 2,
	UPF_FILTER_FLOW_LABEL = 1 << 3,
	UPF_FILTER_IP4 = 1 << 4, /**< one of these two, or both */
	UPF_FILTER_IP6 = 1 << 5,
};

/** All of it must hold. Rules compare whole: what does not count is 0. Host order. */
struct upf_filter_rule {
	uint64_t qfis;                /**< 1 << QFI; 0: any or none */
	uint32_t src[4], src_mask[4]; /**< IPv4: [0] */
	uint32_t dst[4], dst_mask[4];
	uint16_t src_ports[2], dst_ports[2]; /**< first, last; with UPF_FILTER_PORTS */
	uint32_t spi;
	uint32_t flow_label;
	uint8_t proto;
	uint8_t tos, tos_mask;
	uint8_t ue;    /**< Σ enum upf_packet_ue that must be */
	uint8_t flags; /**< enum upf_filter_flag */
	uint8_t order; /**< which PDR: 0 goes first */
	uint16_t app;  /**< 0: any or none */
};

struct upf_filter_set;
struct upf_filter_sets;

/** All sets of a compiler. Control thread. @return NULL without memory. */
struct upf_filter_sets *upf_filter_sets_create(int socket);
/** No set is in use. */
void upf_filter_sets_destroy(struct upf_filter_sets *s);
/** @return different sets in use. */
unsigned upf_filter_sets_count(const struct upf_filter_sets *s);

/**
 * The set of these rules, by rising order; counts a use. Control thread.
 * @param nb 1..UPF_FILTER_RULES_MAX
 * @return 0; -ENOMEM; -EINVAL
 */
int upf_filter_get(struct upf_filter_sets *s, const struct upf_filter_rule *rules, unsigned nb,
		   struct upf_filter_set **set);

/** Ends a use: with the last one the set goes, so no worker may have it. Control thread. */
void upf_filter_put(struct upf_filter_sets *s, struct upf_filter_set *set);

/** @return order of the first PDR the packet matches, or -1. Any thread. */
int upf_filter_match(const struct upf_filter_set *set, const struct upf_packet *p);

/** @return whether the packet matches one rule, whatever its order. */
bool upf_filter_rule_match(const struct upf_filter_rule *r, const struct upf_packet *p);

/** upf_filter_match() with every QFI right; for finding out why nothing matched. */
int upf_filter_match_any_qfi(const struct upf_filter_set *set, const struct upf_packet *p);

/** Whether packets of the family are looked up by rte_acl. */
bool upf_filter_is_compiled(const struct upf_filter_set *set, bool ip6);

#endif
