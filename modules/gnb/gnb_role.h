/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_ROLE_H
#define AIRPATH_GNB_ROLE_H

/** What the files that make role `gnb_header` share. Control thread. */

#include "core/plan.h"
#include "core/run.h"
#include "modules/gnb/gnb.h"

/** Adds the nodes of the i-th gnb_header. */
int gnb_plan(struct ap_plan *p, unsigned i, struct ap_error *err);

/** Says what may not be on different lcores. @return 0 or -EINVAL. */
int gnb_placed(const struct ap_plan *p, unsigned i, struct ap_error *err);

/** @return node `<node>[_<port>]_w<index>`, or NULL. */
struct ap_plan_node *gnb_plan_node(const struct ap_plan *p, const struct ap_cfg_gnb_header *cfg,
				   const char *node, const char *port, unsigned index);

/** @return how many ports a worker receives on, with their names: those of links, or its VF. */
unsigned gnb_rx_ports(const struct ap_cfg_gnb_header *cfg, unsigned worker,
		      const char *ports[UPF_INTERFACES_MAX]);

#endif
