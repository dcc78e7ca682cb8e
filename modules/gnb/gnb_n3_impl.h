/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_N3_IMPL_H
#define AIRPATH_GNB_N3_IMPL_H

/** What the files of the N3 side share. Control thread. */

#include "modules/gnb/gnb_n3.h"

/** Nodes that work on contexts. */
enum gnb_n3_node {
	GNB_N3_DRB,
	GNB_N3_BEARER,
	GNB_N3_TUNNEL,
	GNB_N3_OUT,
	GNB_N3_LOCAL,
	GNB_N3_CONTROL,
	GNB_N3_NODES,
};

/** @return one of them. */
struct ap_plan_node *gnb_n3_node(const struct ap_plan *p, const struct ap_cfg_gnb *cfg,
				 unsigned node);

/** @return node `<node>_<port>`: rx, in, tx. */
struct ap_plan_node *gnb_n3_port_node(const struct ap_plan *p, const struct ap_cfg_gnb *cfg,
				      const char *node, const char *port);

#endif
