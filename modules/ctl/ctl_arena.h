/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CTL_ARENA_H
#define AIRPATH_CTL_ARENA_H

/**
 * Memory of one decoded message, given back all at once: a session is some fifty objects. Chunks
 * stay for the next message. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#define CTL_ARENA_CHUNK (1U << 20)
#define CTL_ARENA_MAX (64U << 20) /**< of one message: what it decodes to is bounded */

struct ctl_arena_chunk;

struct ctl_arena {
	ProtobufCAllocator allocator;
	struct ctl_arena_chunk *first, *now;
	size_t used;  /**< of `now` */
	size_t total; /**< since the last reset */
};

void ctl_arena_init(struct ctl_arena *a);
void ctl_arena_fini(struct ctl_arena *a);

/** @return 8-byte aligned memory, not zeroed, until the next reset; NULL without. */
void *ctl_arena_alloc(struct ctl_arena *a, size_t bytes);

void ctl_arena_reset(struct ctl_arena *a);

#endif
