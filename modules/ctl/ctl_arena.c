/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "modules/ctl/ctl_arena.h"

struct ctl_arena_chunk {
	struct ctl_arena_chunk *next;
	size_t bytes;
	_Alignas(16) uint8_t data[];
};

static void *
proto_alloc(void *arg, size_t bytes)
{
	return ctl_arena_alloc(arg, bytes);
}

static void
proto_free(void *arg, void *p)
{
	(void)arg;
	(void)p;
}

void
ctl_arena_init(struct ctl_arena *a)
{
	*a = (struct ctl_arena){.allocator = {proto_alloc, proto_free, a}};
}

void
ctl_arena_fini(struct ctl_arena *a)
{
	while (a->first) {
		struct ctl_arena_chunk *c = a->first;

		a->first = c->next;
		free(c);
	}
	a->now = NULL;
}

static struct ctl_arena_chunk *
chunk_make(size_t bytes)
{
	struct ctl_arena_chunk *c;

	if (bytes < CTL_ARENA_CHUNK)
		bytes = CTL_ARENA_CHUNK;
	c = malloc(sizeof(*c) + bytes);
	if (c) {
		c->next = NULL;
		c->bytes = bytes;
	}
	return c;
}

void *
ctl_arena_alloc(struct ctl_arena *a, size_t bytes)
{
	struct ctl_arena_chunk *c = a->now;

	if (bytes > CTL_ARENA_MAX)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (a->total + bytes > CTL_ARENA_MAX)
		return NULL;
	if (c == NULL || a->used + bytes > c->bytes) {
		if (c && c->next && c->next->bytes >= bytes) {
			c = c->next;
		} else {
			struct ctl_arena_chunk *fresh = chunk_make(bytes);

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
ctl_arena_reset(struct ctl_arena *a)
{
	if (a->first && a->first->next) {
		struct ctl_arena_chunk *c = a->first->next->next;

		a->first->next->next = NULL;
		while (c) {
			struct ctl_arena_chunk *next = c->next;

			free(c);
			c = next;
		}
	}
	a->now = a->first;
	a->used = 0;
	a->total = 0;
}
