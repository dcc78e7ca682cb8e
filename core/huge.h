/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_HUGE_H
#define AIRPATH_CORE_HUGE_H

/**
 * Memory outside DPDK's that the kernel may give large pages: what workers read at random from
 * tables of many megabytes costs a walk of the page tables a line without them. Of the pages only
 * those that were touched are there.
 */

#include <stddef.h>

#define AP_HUGE_PAGE (2UL << 20)

/**
 * @param bytes rounded up to whole large pages
 * @return zeroed, aligned to a large page; NULL: no memory. Any thread.
 */
void *ap_huge_alloc(size_t bytes);

/** @param bytes as asked for; `p` may be NULL. */
void ap_huge_free(void *p, size_t bytes);

/**
 * A table to be freed with free(): in a large page if it is not small.
 * @return zeroed, aligned to a cache line at least; NULL: no memory. Any thread.
 */
void *ap_huge_table(size_t bytes);

#endif
