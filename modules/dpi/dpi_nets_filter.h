/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_NETS_FILTER_H
#define AIRPATH_DPI_NETS_FILTER_H

/**
 * Tells most headers that no rule matches from those that one may match, by the remote address: a
 * walk through rte_acl's tables is a wait for memory at nearly every step. For dpi_nets.c.
 */

#include "modules/dpi/dpi_set.h"

struct dpi_nets_filter;

/** Of the rules of kind DPI_RULE_FLOW, which are sound. @return NULL without memory */
struct dpi_nets_filter *dpi_nets_filter_make(const struct dpi_rule *rules, uint32_t nb);
void dpi_nets_filter_free(struct dpi_nets_filter *f);
size_t dpi_nets_filter_memory(const struct dpi_nets_filter *f);

/** @param uplink bit n: flows[n] is; nb: 1..DPI_FLOWS_MAX. @return bit n: a rule may match it */
uint64_t dpi_nets_filter_may(const struct dpi_nets_filter *f, const struct flow *const flows[],
			     uint64_t uplink, unsigned nb);

#endif
