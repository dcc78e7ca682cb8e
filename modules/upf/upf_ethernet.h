/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ETHERNET_H
#define AIRPATH_UPF_ETHERNET_H

/**
 * Ethernet PDU sessions, TS 29.244 §5.13, TS 23.501 §5.6.10.2: PDRs match frames, and frames to the
 * UE are found by the addresses that frames from it came from.
 *
 * The worker of a session learns (UPF_REPORT_MAC); the control thread keeps who has which address
 * and for how long (upf_macs.h), and tells everyone by struct upf_index. So an address works at
 * any worker's port a moment after its first frame.
 */

#include <stdbool.h>
#include <stdint.h>

#include "modules/upf/upf_filter.h"
#include "modules/upf/upf_frame.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_session.h"

#define UPF_MACS_MAX 16   /**< addresses behind one UE at a time */
#define UPF_MAC_AGE_S 300 /**< without a frame an address is forgotten, IEEE 802.1D §7.9 */
#define UPF_MAC_TELL_S 60 /**< an address in use is told of this often, or a third of its age */
#define UPF_ETHERNET_RULES_MAX 1024 /**< of a session */

struct upf_report;
struct rte_ring;

enum upf_ethernet_flag {
	UPF_ETHERNET_TYPE = 1 << 0,
	UPF_ETHERNET_C_TAG = 1 << 1, /**< there is one, as far as its mask says */
	UPF_ETHERNET_S_TAG = 1 << 2,
	UPF_ETHERNET_IP = 1 << 3,
};

/** All of it must hold. Host order. */
struct upf_ethernet_rule {
	uint64_t src[2], dst[2]; /**< first, last; 0, 2^48 - 1: any */
	uint16_t type;
	uint16_t c_tag, c_mask, s_tag, s_mask;
	uint8_t flags; /**< enum upf_ethernet_flag */
	struct upf_filter_rule ip;
};

/** An address that a session's frames came from. */
struct upf_mac {
	uint64_t key;    /**< upf_mac_key(); 0: none */
	uint32_t told_s; /**< when the control thread was told last */
};

#define UPF_RECENT 64

/** Addresses a worker learned last: until the control thread has told everyone. Worker: rw. */
struct upf_recent {
	struct {
		uint64_t key;
		uint32_t handle;
		uint8_t interface;
	} macs[UPF_RECENT];
	uint32_t nb; /**< rises */
};

/** @return handle of the session that the address was learned from, or 0. */
static inline uint32_t
upf_recent_find(const struct upf_recent *r, uint8_t interface, uint64_t key)
{
	for (unsigned i = 1; i <= UPF_RECENT; i++) {
		const unsigned at = (r->nb - i) % UPF_RECENT;

		if (r->macs[at].key == key && r->macs[at].interface == interface)
			return r->macs[at].handle;
	}
	return 0;
}

/** What an Ethernet session has, in its rules. Worker: rw. */
struct upf_ethernet {
	struct upf_session *session;
	struct upf_ethernet *next, **at; /**< of the worker's, for frames to all of them */
	struct upf_mac macs[UPF_MACS_MAX];
	uint32_t age_s, tell_s; /**< without a frame it is forgotten; in use it is told of */
	/** Rules of lane i begin at first[i] and end at first[i + 1]; none: any frame. */
	const uint16_t *first;
	const struct upf_ethernet_rule *rules;
};

/**
 * @param s the session itself, of Ethernet
 * @param a of the frame, as for upf_match_lane()
 * @return lane, or enum upf_miss
 */
int upf_ethernet_lane(const struct upf_session *s, const struct upf_arrival *a, const uint8_t *p,
		      uint32_t len);

/**
 * The source of an uplink frame, to be kept. Worker.
 * @return whether there is room for it; the control thread is told when it should be
 */
bool upf_ethernet_learn(struct upf_ethernet *e, uint64_t key, uint32_t now_s,
			struct rte_ring *reports, struct upf_recent *recent);

/** The session is one of its worker's from now on; what `old` (may be NULL) learned stays. */
void upf_ethernet_join(struct upf_ethernet *e, struct upf_session *s, struct upf_ethernet *old,
		       struct upf_ethernet **head);
void upf_ethernet_leave(struct upf_ethernet *e);

#endif
