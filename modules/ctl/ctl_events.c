/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "modules/ctl/ctl_events.h"

int
ctl_events_init(struct ctl_events *e, uint32_t max)
{
	*e = (struct ctl_events){.max = max, .first = 1, .next = 1, .sent = 1};
	e->ring = calloc(e->max, sizeof(*e->ring));
	return e->ring ? 0 : -ENOMEM;
}

void
ctl_events_fini(struct ctl_events *e)
{
	for (unsigned i = 0; e->ring && i < e->max; i++)
		free(e->ring[i]);
	free(e->ring);
	*e = (struct ctl_events){0};
}

static void
drop_first(struct ctl_events *e)
{
	struct ctl_packed **p = &e->ring[e->first++ % e->max];

	free(*p);
	*p = NULL;
	if (e->sent < e->first)
		e->sent = e->first;
}

void
ctl_events_add(struct ctl_events *e, struct ctl_packed *p)
{
	if (p == NULL) {
		e->lost++;
		return;
	}
	if (e->next - e->first == e->max) {
		e->lost++;
		drop_first(e);
	}
	e->ring[e->next++ % e->max] = p;
}

void
ctl_events_ack(struct ctl_events *e, uint64_t number)
{
	if (number >= e->sent)
		number = e->sent - 1;
	while (e->first <= number)
		drop_first(e);
	if (number > e->acked)
		e->acked = number;
}

void
ctl_events_rewind(struct ctl_events *e)
{
	e->sent = e->first;
}

const struct ctl_packed *
ctl_events_peek(const struct ctl_events *e)
{
	return e->sent < e->next ? e->ring[e->sent % e->max] : NULL;
}
