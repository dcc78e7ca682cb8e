/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_ACCOUNT_H
#define AIRPATH_CORE_ACCOUNT_H

/**
 * Where every packet went: rx = tx + held + Σ drops, node by node and over the whole graph.
 *
 * Exact once the workers have stopped; a picture in motion while they run.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/plan.h"

/** One node's books. */
struct ap_account_row {
	const struct ap_plan_node *node;
	uint64_t in, made, out, used, drops, held;
	uint64_t calls, objs, cycles; /**< 0 when statistics are off */
	bool balanced;                /**< in + made = out + used + drops + held */
};

struct ap_account {
	uint64_t rx; /**< what entered: in of sources that are no cut, and everything made */
	uint64_t tx; /**< what ended on purpose: used, except by cuts */
	uint64_t held;
	uint64_t drops;
	bool balanced; /**< rx = tx + held + drops, and every node and every edge balanced */
};

void ap_account_node(const struct ap_plan_node *pn, struct ap_account_row *row);

/** Books of the whole graph. @param err names the first node or edge that does not balance. */
void ap_account_total(const struct ap_plan *p, struct ap_account *total, struct ap_error *err);

/** Per-node table for people: packets, drops by name, cycles per packet. */
void ap_account_print(const struct ap_plan *p, FILE *f);

/** The same as members of a JSON object; the caller writes the braces. */
void ap_account_json(const struct ap_plan *p, FILE *f);

#endif
