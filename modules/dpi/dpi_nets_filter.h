/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_NETS_FILTER_H
#define AIRPATH_DPI_NETS_FILTER_H

/**
 * Tells of most headers by the remote address that no rule matches them, or which of the few rules
 * of its network does: a walk through rte_acl's tables is a wait for memory at nearly every step.
 * For dpi_nets.c.
 */

#include "modules/dpi/dpi_set.h"

struct dpi_nets_filter;

/** Of the rules of kind DPI_RULE_FLOW, which are sound. @return NULL without memory */
struct dpi_nets_filter *dpi_nets_filter_make(const struct dpi_rule *rules, uint32_t nb);
void dpi_nets_filter_free(struct dpi_nets_filter *f);
size_t dpi_nets_filter_memory(const struct dpi_nets_filter *f);

/**
 * @param uplink bit n: flows[n] is
 * @param nb 1..DPI_FLOWS_MAX
 * @param apps of the first rule that matches, or 0, where it is known
 * @return bit n: that of flows[n] is not known
 */
uint64_t dpi_nets_filter_find(const struct dpi_nets_filter *f, const struct flow *const flows[],
			      uint64_t uplink, unsigned nb, uint16_t apps[]);

#endif
