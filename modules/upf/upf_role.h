/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ROLE_H
#define AIRPATH_UPF_ROLE_H

/** What the files that make role `upf` share. Control thread. */

#include "core/plan.h"
#include "core/run.h"
#include "modules/upf/upf.h"

/** Adds the nodes of the i-th upf. */
int upf_plan(struct ap_plan *p, unsigned i, struct ap_error *err);

/** Says what may not be on different lcores. @return 0 or -EINVAL. */
int upf_placed(const struct ap_plan *p, unsigned i, struct ap_error *err);

/** @return how many ports the interfaces have, with their names in the order of upf->ports. */
unsigned upf_ports(const struct ap_cfg_upf *cfg, const char *ports[UPF_INTERFACES_MAX]);

/** @return node `<node>[_<port>]_<kind><index>`, kind 'w' or 'd', or NULL. */
struct ap_plan_node *upf_plan_node(const struct ap_plan *p, const struct ap_cfg_upf *cfg,
				   const char *node, const char *port, char kind, unsigned index);

struct upf_net_cfg;

/**
 * The networks of a configuration.
 * @param ports in whose order links name theirs; interfaces without a port count as one each
 * @param net what does not come from interfaces, routes and neighbours is filled in
 * @return NULL with `err` filled
 */
struct upf_net *upf_interfaces_net(const struct ap_cfg_upf *cfg, struct ap_port *const *ports,
				   struct upf_net_cfg *net, struct ap_error *err);

/**
 * Makes upf->net and upf->ports of the configuration.
 * @param net what does not come from interfaces, routes and neighbours is filled in
 * @return 0, or -EINVAL with `err` filled
 */
int upf_interfaces_init(struct ap_run *run, struct upf *upf, struct upf_net_cfg *net,
			struct ap_error *err);

/**
 * Makes upf->workers, upf->nb_workers of them for upf->owners, and upf->index.
 * @param serial tells those of several upfs apart
 * @return 0 or -ENOMEM; then upf_workers_fini() too
 */
int upf_workers_init(struct upf *upf, unsigned serial);
void upf_workers_fini(struct upf *upf);

/** Chooses which worker owns which bucket. Ports are open. */
void upf_steering_init(struct upf *upf);

/** Has ports spread packets by owner where they can, and says in upf->steering what they do. */
void upf_steering_start(struct upf *upf);

#endif
