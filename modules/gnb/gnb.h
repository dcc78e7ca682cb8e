/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_H
#define AIRPATH_GNB_H

/**
 * Header processing of a gNB: role `gnb_header`.
 *
 * Chain of worker k, ports p (nodes are `gnb.<node>_w<k>`):
 *
 *   rx_<p> → in_<p> → [steer] → drb ─→ hdr_tx (downlink) ─┬→ tx_<p>
 *               │                │ └─→ hdr_rx (uplink) ───┤
 *               │                └────────────────────────┴→ out → tx_<p>
 *               └──→ local ←── drb, hdr_rx                    ↑
 *                      └──────────────────────────────────────┘
 *   control
 *
 * Nodes out and local are a UPF's: the port side is the same, so a gNB begins with the parts of a
 * struct upf they use (cfg, net, ports, peers, workers[].reports). What nearly every packet is
 * leaves hdr_tx and hdr_rx as a whole frame; out has what must wait or be fragmented.
 *
 * Every node has role = struct gnb * and index = worker. What the control thread writes while
 * workers run: the contexts by messages (gnb_msg.h), the peers, edge.net->live.
 */

#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/node.h"
#include "modules/gnb/gnb_ctx.h"
#include "modules/gnb/gnb_msg.h"
#include "modules/upf/upf.h"
#include "modules/upf/upf_meta.h"
#include "modules/upf/upf_net.h"

#define GNB_WORKERS_MAX AP_EDGES_MAX
#define GNB_NO_ROW UINT32_MAX
#define GNB_PORTS_MAX UPF_NET_PORTS_MAX /**< edges of a node that sends: one a port of links */

/*
 * The N3 side of role `gnb` (gnb_n3.h) has node gnb_bearer in place of hdr_tx and gnb_tunnel in
 * place of hdr_rx, between which and the network lies the stack of its UEs.
 */
enum gnb_in_edge { GNB_IN_DRB, GNB_IN_LOCAL };
/* gnb_steer: edge i leads to gnb_drb of worker i */
enum gnb_drb_edge { GNB_DRB_DOWN, GNB_DRB_UP, GNB_DRB_LOCAL, GNB_DRB_OUT };
/* gnb_hdr_tx, gnb_hdr_rx: edge i leads to the tx node of link port i */
enum gnb_hdr_edge { GNB_HDR_OUT = GNB_PORTS_MAX, GNB_HDR_LOCAL, GNB_HDR_NIC };

struct gnb_control;
struct gnb_frame;
struct gnb_in;

struct gnb_worker {
	/* constant while it runs */
	struct gnb_frame *frames; /**< by peer, UPF_PEERS_MAX. worker: rw */
	struct gnb_in *in;        /**< by port it receives on */
};

struct gnb {
	struct upf edge;                     /**< first: role of nodes upf_out and upf_local */
	const struct ap_cfg_gnb_header *cfg; /**< NULL: role `gnb` */
	struct gnb_table *table;
	struct gnb_ctx_worker *ctx; /**< nb_workers of them */
	struct gnb_worker *workers;
	struct gnb_control *control; /**< from start() on */
	/** Of a SmartNIC, set by its role's build(): as gnb_control_cfg.offload. */
	int (*offload)(void *arg, unsigned percent);
	void *offload_arg;
	unsigned offload_percent;             /**< at the start */
	uint8_t side[UPF_INTERFACES_MAX + 1]; /**< enum ap_cfg_gnb_side by interface, from 1 */
	/** Role `gnb`: the DRB in `table` that a bearer is, GNB_NO_ROW: none. Worker: rw, by
	 * messages alone. */
	uint32_t *row_of_bearer;
	uint32_t nb_bearers;
};

static inline struct gnb *
gnb_of(const struct ap_node *n)
{
	return n->role;
}

static inline struct gnb_worker *
gnb_worker_at(const struct ap_node *n)
{
	return &gnb_of(n)->workers[n->index];
}

/** Packets from gnb_drb on: what upf_arrival was, with the row in place of the TEID. */
struct gnb_found {
	uint32_t row;      /**< index of the DRB in struct gnb_table */
	uint8_t sdap;      /**< downlink: RQI << 6 | QFI */
	uint8_t rx;        /**< enum upf_rx_flag */
	uint8_t flags;     /**< enum ap_meta_flag */
	uint8_t interface; /**< it came by, from 1 */
};
_Static_assert(sizeof(struct gnb_found) == sizeof(struct ap_meta), "lies over ap_meta");
_Static_assert(offsetof(struct gnb_found, flags) == offsetof(struct ap_meta, flags), "flags");
_Static_assert(offsetof(struct gnb_found, rx) == offsetof(struct upf_arrival, rx), "rx");

static inline struct gnb_found *
gnb_found(struct rte_mbuf *m)
{
	return (struct gnb_found *)(void *)&m->hash;
}

#endif
