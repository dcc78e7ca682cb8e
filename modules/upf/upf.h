/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_H
#define AIRPATH_UPF_H

/**
 * A forwarding unit: role `upf`.
 *
 * Chains of worker k, ports p (nodes are `upf.<node>_w<k>`):
 *
 *   rx_<p> → in_<p> → steer → match → police → charge → forward → out → tx_<p>
 *              │        │       └ flow ┘                      │       │
 *              │        └ match of worker i: a hand-off       └───────┘
 *              └────────────────→ local ←─── match
 *   control → out, forward
 *   forward ⇄ redirect → steer
 *
 * With steering `software` rx, in and steer are dispatchers' too (`..._d<j>`), which hand to any
 * worker.
 *
 * Every node has role = struct upf * and index = worker (or dispatcher, for `in` and `steer` of
 * one). upf_in's port is upf_in_port(). Workers' nodes reach
 * their struct upf_worker by upf_worker_of(). A node makes what it alone uses in its init().
 *
 * What the control thread writes while workers run is said field by field; all else is constant
 * from role build on.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/config.h"
#include "core/node.h"
#include "modules/upf/upf_owner.h"
#include "modules/upf/upf_peer.h"
#include "modules/upf/upf_session.h"

#define UPF_ROLE_WORKERS_MAX AP_EDGES_MAX

struct ap_plan_node;
struct ap_port;
struct rte_mempool;
struct rte_ring;
struct upf_buffer;
struct upf_charger;
struct upf_compiler;
struct upf_control;
struct upf_edge;
struct upf_flows;
struct upf_index;
struct upf_net;
struct upf_scans;
struct upf_tables;

/* --- edges ---------------------------------------------------------------------------------- */

enum upf_in_edge { UPF_IN_STEER, UPF_IN_LOCAL };
/* upf_steer: edge i leads to match of worker i */
enum upf_match_edge { UPF_MATCH_POLICE, UPF_MATCH_LOCAL, UPF_MATCH_FLOW };
enum upf_flow_edge { UPF_FLOW_POLICE };
enum upf_police_edge { UPF_POLICE_CHARGE };
enum upf_charge_edge { UPF_CHARGE_FORWARD };
enum upf_forward_edge { UPF_FORWARD_OUT, UPF_FORWARD_REDIRECT };
enum upf_redirect_edge {
	UPF_REDIRECT_FORWARD, /**< resets in place of requests, matched as these were */
	UPF_REDIRECT_STEER,   /**< answers: struct upf_arrival filled in as upf_in does */
};
/* upf_out: edge i leads to the tx node of upf->ports[i] */
enum upf_local_edge {
	UPF_LOCAL_OUT,   /**< answers */
	UPF_LOCAL_STEER, /**< what reassembly made: struct upf_arrival filled in as upf_in does */
};
enum upf_control_edge { UPF_CONTROL_OUT, UPF_CONTROL_FORWARD };

/* --- workers -------------------------------------------------------------------------------- */

/** What belongs to one worker. Its nodes run on one lcore. */
struct upf_worker {
	/* constant while it runs */
	struct upf *upf;
	uint32_t index;
	struct rte_ring *messages; /**< control → worker: struct upf_msg */
	struct rte_ring *replies;  /**< worker → control: the same, done */
	struct rte_ring *reports;  /**< worker → control: struct upf_report, upf_report_put() */
	struct ap_node *control_node; /**< upf_control, woken for messages; NULL before the walk */
	struct upf_tables *tables;    /**< sessions: worker rw */
	struct upf_charger *charger;  /**< what its accounts share: worker rw */
	struct upf_buffer *buffer;    /**< what waits for UEs that are paged: worker rw */
	struct upf_flows *flows;      /**< worker rw */
	struct upf_scans *scans;      /**< flows looked at, and the applications: worker rw */
	struct upf_edge *edge;        /**< of the port side: worker rw */
	struct rte_mempool *hdr_pool; /**< headers before shared buffers, indirect mbufs */
	struct rte_mempool *pkt_pool; /**< packets a node makes: end markers, echo, ICMP */

	/* worker: rw, control: ro */
	uint64_t applied __rte_cache_aligned; /**< messages */
} __rte_cache_aligned;

struct upf {
	const struct ap_cfg_upf *cfg;
	struct upf_owner_map owners;
	unsigned nb_workers;
	struct upf_worker *workers;
	unsigned nb_dispatchers;
	unsigned nb_ports;
	struct ap_port *ports[UPF_INTERFACES_MAX]; /**< in the order of upf_out's edges */
	struct upf_net *net;     /**< interfaces, routes, neighbours; Config's echo and refilled */
	struct upf_index *index; /**< UE addresses and foreign TEIDs to handles; control: rw */
	struct upf_peers peers;  /**< outer headers */
	char steering[96];       /**< mode, and what stands in for it */
	/** Unix time less ap_clock_ns(), ns. */
	int64_t unix_offset_ns;
	/** Of workers, then of dispatchers: their instances count what is handed off. */
	struct ap_plan_node *steers[2 * UPF_ROLE_WORKERS_MAX];
	unsigned nb_steers;
	struct upf_control *control;
};

/** The worker a node of a worker's chain belongs to; not for nodes of dispatchers. */
static inline struct upf_worker *
upf_worker_of(const struct ap_node *n)
{
	struct upf *upf = n->role;

	return &upf->workers[n->index];
}

/** @return packets a worker's buffer may keep, and so many again may wait for neighbours. */
static inline uint32_t
upf_kept_packets(const struct upf *upf)
{
	return RTE_MAX(upf->cfg->buffer_packets / upf->nb_workers, 1U);
}

/** @return index in upf->ports of upf_in's port. */
static inline unsigned
upf_in_port(const struct ap_node *n)
{
	return (unsigned)(uintptr_t)n->arg;
}

/** Unix time in ms at `now_ns` of ap_clock_ns(). Any thread. */
static inline uint64_t
upf_unix_ms(const struct upf *upf, uint64_t now_ns)
{
	return (uint64_t)((int64_t)now_ns + upf->unix_offset_ns) / 1000000;
}

#endif
