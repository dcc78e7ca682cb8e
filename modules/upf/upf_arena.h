/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_UPF_ARENA_H
#define AIRPATH_UPF_ARENA_H

/**
 * Memory of one decoded message, given back all at once: a session is some fifty objects. Chunks
 * stay for the next message. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#define UPF_ARENA_CHUNK (1U << 20)
#define UPF_ARENA_MAX (64U << 20) /**< of one message: what it decodes to is bounded */

struct upf_arena_chunk;

struct upf_arena {
	ProtobufCAllocator allocator;
	struct upf_arena_chunk *first, *now;
	size_t used;  /**< of `now` */
	size_t total; /**< since the last reset */
};

void upf_arena_init(struct upf_arena *a);
void upf_arena_fini(struct upf_arena *a);

/** @return 8-byte aligned memory, not zeroed, until the next reset; NULL without. */
void *upf_arena_alloc(struct upf_arena *a, size_t bytes);

void upf_arena_reset(struct upf_arena *a);

#endif
