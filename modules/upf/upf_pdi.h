/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_PDI_H
#define AIRPATH_UPF_PDI_H

/**
 * Packet detection, TS 29.244 §5.2.1: which lane of its session a packet takes. The general
 * lookup; packets of a session with only_up or only_down seldom come here. Worker.
 *
 * Where the specification leaves it open: a fragment but the first has no ports and no SPI, so it
 * matches only filters that ask for none; a filter with a protocol looks behind IPv6 extension
 * headers but stops at ESP and AH, which are protocols with an SPI; a filter with ports matches
 * TCP, UDP, UDP-Lite, DCCP and SCTP.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "codec/flow.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_rules.h"

enum upf_miss {                         /* why no lane, negative; each a drop reason */
		UPF_MISS_NO_PDR = -1,   /**< no PDR matches */
		UPF_MISS_SPOOFED = -2,  /**< one would, were the inner source the UE's */
		UPF_MISS_QFI = -3,      /**< one would, were the QFI another */
		UPF_MISS_BAD_INNER = -4 /**< the inner packet is no IP packet */
};

/** @return the group of a packet's PDRs, index into the rules, or -1. `a` as for upf_match_lane()
 */
static inline int
upf_group_of(const struct upf_rules *r, const struct upf_arrival *a)
{
	uint32_t teid = a->rx & UPF_RX_TUNNEL ? a->teid : 0;

	for (unsigned i = 0; i < r->nb_groups; i++)
		if (r->groups[i].teid == teid && r->groups[i].interfaces >> a->interface & 1)
			return (int)i;
	return -1;
}

/**
 * @param group index into the rules
 * @param p inner IP packet, of which `f` was decoded
 * @param qfi UPF_NO_QFI: none
 * @param app application of its flow, 0: none known
 * @return lane, or enum upf_miss
 */
int upf_match_group(const struct upf_session *s, unsigned group, const uint8_t *p,
		    const struct flow *f, uint8_t qfi, uint16_t app);

/**
 * The lane of packets that answer one: ports and addresses are the other way round, the ToS is the
 * same, and there is no QFI.
 * @param group that these come by
 * @param f of the packet that they answer, IPv4
 * @return lane, or -1
 */
int upf_match_answers(const struct upf_session *s, unsigned group, const struct flow *f,
		      uint16_t app);

/**
 * What has no application, from the packet alone.
 * @param s the session itself, no alias
 * @param a of the packet; teid 0 unless UPF_RX_TUNNEL in rx
 * @param p inner IP packet, `len` contiguous octets of it
 * @return lane, or enum upf_miss
 */
int upf_match_lane(const struct upf_session *s, const struct upf_arrival *a, const uint8_t *p,
		   uint32_t len);

/**
 * Whether the inner source is the UE's: for lanes with UPF_LANE_CHECK_SOURCE taken as only_up.
 * IPv6 link-local and unspecified sources are the UE's where the packet stays on the link
 * (router solicitations, duplicate address detection).
 * @param p inner IP packet; at least 20 or 40 octets by its version are there
 */
static inline bool
upf_source_is_ue(const struct upf_session *s, const uint8_t *p)
{
	if (p[0] >> 4 == 4) {
		uint32_t source;

		memcpy(&source, p + 12, sizeof(source));
		return source == s->ue_ip4 && source != 0;
	} else {
		uint64_t prefix, low;

		memcpy(&prefix, p + 8, sizeof(prefix));
		if (s->ue_ip6 == 0)
			return false;
		if (prefix == s->ue_ip6)
			return true;
		memcpy(&low, p + 16, sizeof(low));
		return ((p[8] == 0xFE && (p[9] & 0xC0) == 0x80) || (prefix | low) == 0) &&
		       (p[24] == 0xFF || (p[24] == 0xFE && (p[25] & 0xC0) == 0x80));
	}
}

#endif
