/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_LOCAL_H
#define AIRPATH_UPF_LOCAL_H

/**
 * What is for the UPF itself: ARP, neighbour discovery, ICMP, fragments, GTP-U signalling, and
 * packets no session was found for. Rare traffic all of it. Belongs to one worker.
 */

#include <rte_mbuf.h>

#include "modules/upf/upf_in.h"
#include "modules/upf/upf_packet.h"
#include "modules/upf/upf_path.h"
#include "modules/upf/upf_reassembly.h"

enum upf_local_drop {
	UPF_LOCAL_DROP_MALFORMED, /**< ARP, ND, ICMP, UDP or GTP-U that cannot be true */
	UPF_LOCAL_DROP_CHECKSUM,  /**< of UDP or ICMP */
	UPF_LOCAL_DROP_NOT_OURS,  /**< asks for the link address of someone else */
	UPF_LOCAL_DROP_CONFLICT,  /**< somebody else claims an address of ours */
	UPF_LOCAL_DROP_ROUTER,    /**< router discovery, redirects */
	UPF_LOCAL_DROP_PROTOCOL,  /**< an IP protocol we do not speak */
	UPF_LOCAL_DROP_PORT,      /**< a UDP port nobody listens at */
	UPF_LOCAL_DROP_ICMP,      /**< ICMP we make nothing of */
	UPF_LOCAL_DROP_MESSAGE,   /**< GTP-U message we make nothing of, another version */
	UPF_LOCAL_DROP_EXTENSION, /**< an extension header we would have to understand */
	UPF_LOCAL_DROP_EXPIRED,   /**< TTL or hop limit ended here */
	UPF_LOCAL_DROP_TEID,      /**< no session has the TEID: Error Indication */
	UPF_LOCAL_DROP_FILLING,   /**< likewise, but the sessions are not all back yet */
	UPF_LOCAL_DROP_USER,      /**< no session has the address, or none takes the packet */
	UPF_LOCAL_DROP_NO_MBUF,
	UPF_LOCAL_DROP_EVENTS,   /**< no room to tell the control thread */
	UPF_LOCAL_DROP_WHOLE,    /**< reassembled, and then no packet we take */
	UPF_LOCAL_DROP_FRAGMENT, /**< + enum upf_frag_drop */
	UPF_LOCAL_DROPS = UPF_LOCAL_DROP_FRAGMENT + UPF_FRAG_DROPS,
};
extern const char *const upf_local_drops[UPF_LOCAL_DROPS];

enum upf_local_verdict {
	UPF_LOCAL_ANSWER,  /**< *m leaves: struct upf_leave */
	UPF_LOCAL_ARRIVED, /**< *m is a session's: struct upf_arrival */
	UPF_LOCAL_GONE,    /**< used, dropped or held, and counted */
};

struct upf_local {
	struct upf_net *net;
	/* the node's counters */
	uint64_t *drops; /**< of enum upf_local_drop */
	uint64_t *made;
	uint64_t *used;
	/** An Error Indication came: false, no room to tell. */
	bool (*error_indication)(void *arg, bool v6, const uint8_t *peer, uint32_t teid);
	void *arg;
	struct upf_limit icmp, errors, notifications, received;
	struct upf_reassembly fragments;
};

/** Counters and callbacks are the caller's to set. @return 0 or -ENOMEM. */
int upf_local_init(struct upf_local *l, struct upf_net *net);
void upf_local_fini(struct upf_local *l);

/** One packet, with struct upf_arrival as upf_in or upf_match left it. */
enum upf_local_verdict upf_local_take(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns);

/** Makes an Echo Request to a path. @return it, ready to leave, or NULL. */
struct rte_mbuf *upf_local_echo_request(struct upf_local *l, const struct upf_net_path *path,
					uint16_t seq);

/* --- upf_signal.c: GTP-U ---------------------------------------------------------------------- */

/** A GTP-U message, or a G-PDU with an extension header we do not understand: UPF_LOCAL_GTPU. */
enum upf_local_verdict upf_signal_take(struct upf_local *l, struct rte_mbuf **m, uint64_t now_ns);

/** A G-PDU of a TEID no session has. Data is the inner packet. */
enum upf_local_verdict upf_signal_unknown(struct upf_local *l, struct rte_mbuf **m,
					  uint64_t now_ns);

static inline enum upf_local_verdict
upf_local_drop(struct upf_local *l, unsigned reason, struct rte_mbuf *m)
{
	l->drops[reason]++;
	rte_pktmbuf_free(m);
	return UPF_LOCAL_GONE;
}

#endif
