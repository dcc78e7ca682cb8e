/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_DPI_COST_H
#define AIRPATH_DPI_COST_H

/**
 * How large the automaton of an expression would be, told from its text: before the compiler, which
 * writes repeats out, sees it. Pure.
 */

#include <stdint.h>

#define DPI_COST_MAX (1ULL << 40) /**< where counting ends */

/**
 * @param text PCRE
 * @param positions characters and classes, those in a repeat {m,n} n times, nested ones multiplied
 * @param why what cannot be told from the text
 * @return 0; -EINVAL and why
 */
int dpi_cost(const char *text, uint64_t *positions, const char **why);

#endif
