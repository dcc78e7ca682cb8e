/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_SESSION_H
#define AIRPATH_UPF_SESSION_H

/**
 * A session as its worker sees it.
 *
 *   handle ─→ struct upf_session ─→ struct upf_rules (one allocation: what the agent said)
 *               line 0: who it is       cold: QERs, URRs, BARs, filters, lists
 *               lanes[]: one a PDR, a cache line each, all that its usual packet needs
 *
 * A *lane* is a PDR with what its packets run through: the FAR made small, the meter of its QER
 * and the counters of its URR, where they are the only ones and no other PDR of that direction
 * shares them; else `more` names them. So a packet of a plain session touches line 0 and one
 * lane.
 *
 * The control thread builds a whole struct upf_rules from the agent's message and hands it to the
 * worker through its ring; from then on everything here belongs to that worker, until the worker
 * hands the old rules back to be freed. Ids, octets and clauses are those of TS 29.244.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_meter.h>

#include "modules/upf/upf_owner.h"

#define UPF_RULES_MAX 256  /**< PDRs of a session, and so FARs, QERs, URRs */
#define UPF_INLINE_LANES 2 /**< a plain session has one up, one down */
#define UPF_PDR_QERS_MAX 8
#define UPF_PDR_URRS_MAX 16
#define UPF_INTERFACES_MAX 16
#define UPF_PEERS_MAX 4096 /**< GTP-U peers in use at once */

struct upf_rules;

enum upf_direction { UPF_UL, UPF_DL };

enum upf_interface_type { /* numbers of Source Interface, §8.2.2 */
			  UPF_ACCESS = 0,
			  UPF_CORE = 1,
			  UPF_SGI_N6_LAN = 2,
			  UPF_CP_FUNCTION = 3,
			  UPF_LI_FUNCTION = 4,
};

enum upf_lane_flag {
	/* what the FAR says; none of the first three: drop */
	UPF_LANE_FORWARD = 1 << 0,
	UPF_LANE_BUFFER = 1 << 1,
	UPF_LANE_NOTIFY = 1 << 2, /**< tell the CP function of the first packet */
	UPF_LANE_OUTER = 1 << 3,  /**< outer header creation for `peer`, `teid` */
	UPF_LANE_PSC = 1 << 4,    /**< ... with a PDU session container of `qfi` */
	UPF_LANE_RQI = 1 << 5,
	UPF_LANE_DOWN = 1 << 6,        /**< the packets go toward the UE: meters, counters and gates
					  of that direction */
	UPF_LANE_GATE_CLOSED = 1 << 7, /**< of any QER, or an MBR of 0 */
	UPF_LANE_METER = 1 << 8,       /**< `meter` and `profile` limit */
	UPF_LANE_URR = 1 << 9,         /**< `packets` and `bytes` count for the PDR's URRs */
	UPF_LANE_MORE = 1 << 10,       /**< see upf_lane_more: lists, marking, duplicates */
	UPF_LANE_CHECK_SOURCE = 1 << 11, /**< inner source must be the UE's: against spoofing */
	UPF_LANE_BEFORE_QOS = 1 << 12,   /**< the lane's URR counts before its QER (MBQE) */
	UPF_LANE_ANY_QFI = 1 << 13,      /**< no QFI to verify */
	UPF_LANE_QUOTA_OUT = 1 << 14, /**< a URR's quota is used up: nothing passes; upf_urr.c's */
	UPF_LANE_ETHERNET = 1 << 16,  /**< with UPF_LANE_MORE: packets are frames */
	UPF_LANE_QUOTA_FAR = 1 << 15, /**< with that: a FAR for Quota Action is to be taken */
};

/** A PDR's cache line. Worker: rw. */
struct upf_lane {
	struct rte_meter_srtcm meter; /**< tokens of the MBR, in octets of inner packets */
	struct rte_meter_srtcm_profile *profile; /**< shared by all of that rate and burst */
	uint32_t packets;                        /**< not yet folded into the PDR's URRs */
	uint32_t first_ms, last_ms; /**< when they came, low bits of the worker's clock */
	uint32_t bytes;             /**< inner octets, likewise */
	uint32_t look_bytes; /**< at this many the URRs' limits want a look: upf_urr_look() */
	uint32_t flags;      /**< enum upf_lane_flag */
	uint32_t teid;       /**< of the outer header to make */
	uint16_t peer;       /**< index into the peers, 1.. */
	uint8_t interface;   /**< packets leave by, 1.. */
	uint8_t qfi;         /**< to mark packets with; 0xFF: the one they came with */
} __rte_cache_aligned;
_Static_assert(sizeof(struct upf_lane) == RTE_CACHE_LINE_MIN_SIZE, "a lane is a cache line");

/** What a lane knows and seldom needs, or needs before: in the rules, one a lane. */
struct upf_pdr {
	uint64_t qfis; /**< 1 << QFI; 0: any */
	uint32_t precedence;
	uint32_t teid; /**< 0: packets outside any tunnel */
	uint16_t id;
	uint16_t app;      /**< its packets are of this application; 0: of any or none */
	uint8_t source;    /**< enum upf_interface_type */
	uint8_t interface; /**< 0: any of that type */
	bool match_source : 1, match_destination : 1, match_ip4 : 1, match_ip6 : 1;
	bool outer_removal : 1, remove_extension : 1;
	uint8_t qfi;           /**< to mark packets with; 0xFF: none */
	uint8_t out_interface; /**< packets leave by, 1.. */
	uint8_t far;           /**< index in the rules, as in the lists */
	uint8_t nb_qers, nb_urrs;
	uint8_t qers[UPF_PDR_QERS_MAX];
	uint8_t urrs[UPF_PDR_URRS_MAX];
};

/** Line 0, and the lanes of a plain session behind it. Worker: rw. */
struct upf_session {
	uint64_t id;     /**< SEID of the UP F-SEID; 0: nobody's slot */
	uint32_t handle; /**< bucket·slot·generation; that of the first one, in an alias */
	uint32_t ue_ip4; /**< network order, 0: none */
	uint64_t ue_ip6; /**< /64, network order, 0: none */
	union {
		struct upf_rules *rules;
		struct upf_session *of; /**< with UPF_SESSION_ALIAS */
	};
	struct upf_lane *lanes; /**< `inline_lanes`, or in the rules when there are more */
	uint32_t active_s;      /**< when a packet came last, seconds of the worker's clock */
	uint16_t stamp;         /**< of the rules: another one with each change, upf_flow.h */
	uint8_t generation; /**< of the F-TEID of this slot: TEIDs with another one are unknown */
	uint8_t nb_lanes;   /**< UPF_RULES_MAX is told by 0 with lanes != NULL */
	/**
	 * The lane a packet takes without asking further, + 1: uplink in the session's tunnel,
	 * downlink to the UE's address. 0: upf_match has to look.
	 */
	uint8_t only_up, only_down;
	/** The QFI uplink packets of only_up must carry, 0xFF: any; with UPF_SESSION_FLOW_UP the
	 * group of the tunnel's packets. */
	uint8_t only_qfi;
	uint8_t flags; /**< enum upf_session_flag */
	/** Interfaces, 1 << index, by which packets may come that take only_up and only_down, or
	 * are of the flows' groups. */
	uint32_t up_interfaces, down_interfaces;
	uint32_t queue; /**< packets wait, or were told of: upf_buffer's, 0: none */
	struct upf_lane inline_lanes[UPF_INLINE_LANES];
};
_Static_assert(offsetof(struct upf_session, inline_lanes) == RTE_CACHE_LINE_MIN_SIZE, "line 0");

enum upf_session_flag {
	UPF_SESSION_ALIAS = 1 << 0,      /**< the slot of a further F-TEID of session `of` */
	UPF_SESSION_DIRTY = 1 << 1,      /**< on the list of those with usage to checkpoint */
	UPF_SESSION_INACTIVITY = 1 << 2, /**< active_s is to be kept */
	/* What a packet's lane depends on differs within its group: upf_flow knows it. */
	UPF_SESSION_FLOW_UP = 1 << 3,   /**< of this slot's tunnel, whose group is only_qfi */
	UPF_SESSION_FLOW_DOWN = 1 << 4, /**< of packets outside any tunnel: group 0 */
	UPF_SESSION_READS_TOS = 1 << 5, /**< and not on the flow alone */
	UPF_SESSION_READS_QFI = 1 << 6,
	UPF_SESSION_READS_LABEL = 1 << 7, /**< flow label of IPv6 */
};
#define UPF_SESSION_READS (UPF_SESSION_READS_TOS | UPF_SESSION_READS_QFI | UPF_SESSION_READS_LABEL)

#endif
