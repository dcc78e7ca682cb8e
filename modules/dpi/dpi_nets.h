/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_NETS_H
#define AIRPATH_DPI_NETS_H

/** Rules of headers in one rte_acl a family. For dpi_set.c. */

#include "modules/dpi/dpi_set.h"

struct dpi_nets;

/** The rules of kind DPI_RULE_FLOW; others are passed over.
 * @param memory octets that rte_acl's tables of a family may have
 * @return 0 and `*nets`, NULL when there are none; -EINVAL: a rule is malformed; -E2BIG; -ENOMEM */
int dpi_nets_build(const struct dpi_rule *rules, uint32_t nb, uint64_t memory,
		   struct dpi_nets **nets, struct dpi_error *err);
void dpi_nets_free(struct dpi_nets *nets);
/** @return octets: what building took of DPDK's heaps, where others may take some at that time */
size_t dpi_nets_memory(const struct dpi_nets *nets);

/** See dpi_set_flows(). */
void dpi_nets_find(const struct dpi_nets *nets, const struct flow *const flows[], uint64_t uplink,
		   unsigned nb, uint16_t apps[]);

#endif
