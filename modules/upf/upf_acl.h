/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ACL_H
#define AIRPATH_UPF_ACL_H

/** Filter rules compiled with rte_acl, one context a family. For upf_filter.c. */

#include "modules/upf/upf_filter.h"

struct rte_acl_ctx;

/** Control thread. @return 0, or -errno; `*ctx` is NULL when no rule is of the family. */
int upf_acl_build(const struct upf_filter_rule *rules, unsigned nb, bool ip6, int socket,
		  struct rte_acl_ctx **ctx);

/** @return order, or -1. Any thread. */
int upf_acl_match(const struct rte_acl_ctx *ctx, const struct upf_packet *p);

#endif
