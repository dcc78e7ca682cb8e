/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PORT_NODE_H
#define AIRPATH_MODULES_PORT_NODE_H

/** Edges and private data of the port and copy nodes, for who wires and reads them. */

#include "core/copier.h"
#include "core/hist.h"
#include "core/node.h"

/**
 * port_rx: arg is the struct ap_port, index the RX queue. Where a port has more queues than port_rx
 * nodes, node q of n takes turns at queues q, q + n, ...
 */
enum port_rx_edge {
	PORT_RX_OUT,
	PORT_RX_REPLY, /**< answers to neighbours, whole frames; used with proxy_neigh, to the
			  port_tx */
};

/** ap_node.priv of port_tx. */
struct port_tx {
	/** How long timed packets took from entry to the port. Worker: rw, control: ro. */
	struct ap_hist delay;
	/* worker: what the port did not take yet, a ring of `hold` at most */
	uint32_t head;
	uint32_t tail;
	uint32_t hold;
	uint32_t mask;
	struct rte_mbuf **held;
};

/** What a `copy` node copies with; NULL before its init. Its arg is a struct ap_copier_cfg. */
struct ap_copier *copy_node_copier(const struct ap_node *n);

#endif
