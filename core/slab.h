/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CORE_SLAB_H
#define AIRPATH_CORE_SLAB_H

/**
 * Pieces of many sizes out of large pages (core/huge.h), for what a control thread makes by the
 * thousand and workers read at random. A size is rounded up by an eighth at most; a large page
 * holds pieces of one size. What was freed is taken first by the next piece of its size; pages stay
 * until the end. One thread, or one at a time.
 *
 * Programs under a memory checker take each piece from the C library, so that it sees them.
 */

#include <stddef.h>

struct ap_slab;

/** @return NULL: no memory */
struct ap_slab *ap_slab_create(void);
/** Frees all pieces with it. */
void ap_slab_destroy(struct ap_slab *s);

/** @return zeroed octets, aligned to a cache line; NULL: no memory */
void *ap_slab_alloc(struct ap_slab *s, size_t bytes);
/** @param bytes as asked for; `p` may be NULL. */
void ap_slab_free(struct ap_slab *s, void *p, size_t bytes);

/** @return octets of pieces that are out, of all slabs. Any thread. */
size_t ap_slab_bytes(void);

#endif
