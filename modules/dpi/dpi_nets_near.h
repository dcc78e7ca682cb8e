/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_NETS_NEAR_H
#define AIRPATH_DPI_NETS_NEAR_H

/** The rules of a network by a hash of its address, to be tried one after another; few of each. For
 * dpi_nets_filter.c, which makes the hashes. */

#include <rte_prefetch.h>

#include "modules/dpi/dpi_set.h"

#define DPI_NEAR_MAX 8 /**< rules of a network */

struct dpi_near_slot {
	uint32_t tag;
	uint32_t rule : 31; /**< from 1; 0: free */
	uint32_t more : 1;  /**< the last one of so many that others are not here */
};

struct dpi_near_rule {
	struct dpi_net net;
	uint16_t app;
} __attribute__((aligned(64)));

struct dpi_near {
	struct dpi_near_slot *slots;
	struct dpi_near_rule *rules; /**< those of headers, in their order */
	uint32_t mask;               /**< slots - 1 */
	uint32_t nb_rules;
};

/** @param keys how many dpi_near_add() will add. @return 0 or -ENOMEM; then it is all zero */
int dpi_near_make(struct dpi_near *n, const struct dpi_rule *rules, uint32_t nb, uint64_t keys);
void dpi_near_free(struct dpi_near *n);
size_t dpi_near_memory(const struct dpi_near *n);

/** @param rule position among those of headers; rules are added in their order */
void dpi_near_add(struct dpi_near *n, uint64_t hash, uint32_t rule);

static inline const struct dpi_near_slot *
dpi_near_slot(const struct dpi_near *n, uint64_t hash)
{
	return &n->slots[(uint32_t)(hash >> 32) & n->mask];
}

/** Brings the network's first rule near, once the slot is. */
static inline void
dpi_near_prefetch(const struct dpi_near *n, uint64_t hash)
{
	const struct dpi_near_slot *s = dpi_near_slot(n, hash);

	if (s->rule != 0)
		rte_prefetch0(&n->rules[s->rule - 1]);
}

/** @return false: there are more rules than here, and none of these matches. */
bool dpi_near_find(const struct dpi_near *n, uint64_t hash, const struct flow *flow, bool uplink,
		   uint16_t *app);

#endif
