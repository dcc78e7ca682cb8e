/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_PORT_NODE_H
#define AIRPATH_MODULES_PORT_NODE_H

/** Edges and private data of the port and copy nodes, for who wires and reads them. */

#include "core/copier.h"
#include "core/hist.h"
#include "core/node.h"

/** port_rx: arg is the struct ap_port, index the RX queue; the only one of a port polls them all.
 */
enum port_rx_edge {
	PORT_RX_OUT,
	PORT_RX_REPLY, /**< answers to neighbours, whole frames; used with proxy_neigh, to the
			  port_tx */
};

/** ap_node.priv of port_tx: how long timed packets took from entry to the port. */
struct port_tx {
	struct ap_hist delay; /**< worker: rw, control: ro */
};

/** What a `copy` node copies with; NULL before its init. Its arg is a struct ap_copier_cfg. */
struct ap_copier *copy_node_copier(const struct ap_node *n);

#endif
