/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "modules/upf/upf_arena.h"

struct upf_arena_chunk {
	struct upf_arena_chunk *next;
	size_t bytes;
	_Alignas(16) uint8_t data[];
};

static void *
proto_alloc(void *arg, size_t bytes)
{
	return upf_arena_alloc(arg, bytes);
}

static void
proto_free(void *arg, void *p)
{
	(void)arg;
	(void)p;
}

void
upf_arena_init(struct upf_arena *a)
{
	*a = (struct upf_arena){.allocator = {proto_alloc, proto_free, a}};
}

void
upf_arena_fini(struct upf_arena *a)
{
	while (a->first) {
		struct upf_arena_chunk *c = a->first;

		a->first = c->next;
		free(c);
	}
	a->now = NULL;
}

static struct upf_arena_chunk *
chunk_make(size_t bytes)
{
	struct upf_arena_chunk *c;

	if (bytes < UPF_ARENA_CHUNK)
		bytes = UPF_ARENA_CHUNK;
	c = malloc(sizeof(*c) + bytes);
	if (c) {
		c->next = NULL;
		c->bytes = bytes;
	}
	return c;
}

void *
upf_arena_alloc(struct upf_arena *a, size_t bytes)
{
	struct upf_arena_chunk *c = a->now;

	if (bytes > UPF_ARENA_MAX)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (a->total + bytes > UPF_ARENA_MAX)
		return NULL;
	if (c == NULL || a->used + bytes > c->bytes) {
		if (c && c->next && c->next->bytes >= bytes) {
			c = c->next;
		} else {
			struct upf_arena_chunk *fresh = chunk_make(bytes);

			if (fresh == NULL)
				return NULL;
			fresh->next = c ? c->next : NULL;
			if (c)
				c->next = fresh;
			else
				a->first = fresh;
			c = fresh;
		}
		a->now = c;
		a->used = 0;
	}
	a->total += bytes;
	a->used += bytes;
	return c->data + a->used - bytes;
}

/** Few messages need more than one chunk: what is behind the second goes. */
void
upf_arena_reset(struct upf_arena *a)
{
	if (a->first && a->first->next) {
		struct upf_arena_chunk *c = a->first->next->next;

		a->first->next->next = NULL;
		while (c) {
			struct upf_arena_chunk *next = c->next;

			free(c);
			c = next;
		}
	}
	a->now = a->first;
	a->used = 0;
	a->total = 0;
}
