/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules/upf/upf_events.h"

int
upf_events_init(struct upf_events *e)
{
	*e = (struct upf_events){.first = 1, .next = 1, .sent = 1};
	e->ring = calloc(UPF_EVENTS_MAX, sizeof(*e->ring));
	return e->ring ? 0 : -ENOMEM;
}

void
upf_events_fini(struct upf_events *e)
{
	for (unsigned i = 0; e->ring && i < UPF_EVENTS_MAX; i++)
		free(e->ring[i]);
	free(e->ring);
	*e = (struct upf_events){0};
}

static void
drop_first(struct upf_events *e)
{
	struct upf_packed **p = &e->ring[e->first++ % UPF_EVENTS_MAX];

	free(*p);
	*p = NULL;
	if (e->sent < e->first)
		e->sent = e->first;
}

void
upf_events_add(struct upf_events *e, Airpath__Upf__V1__Event *event)
{
	Airpath__Upf__V1__Answer a = AIRPATH__UPF__V1__ANSWER__INIT;
	struct upf_packed *p;
	size_t bytes;

	event->number = e->next;
	a.body_case = AIRPATH__UPF__V1__ANSWER__BODY_EVENT;
	a.event = event;
	bytes = airpath__upf__v1__answer__get_packed_size(&a);
	p = malloc(sizeof(*p) + bytes);
	if (p == NULL) {
		e->lost++;
		return;
	}
	p->bytes = (uint32_t)bytes;
	airpath__upf__v1__answer__pack(&a, p->data);
	if (e->next - e->first == UPF_EVENTS_MAX) {
		e->lost++;
		drop_first(e);
	}
	e->ring[e->next++ % UPF_EVENTS_MAX] = p;
}

void
upf_events_ack(struct upf_events *e, uint64_t number)
{
	if (number >= e->sent)
		number = e->sent - 1;
	while (e->first <= number)
		drop_first(e);
	if (number > e->acked)
		e->acked = number;
}

void
upf_events_rewind(struct upf_events *e)
{
	e->sent = e->first;
}

const struct upf_packed *
upf_events_peek(const struct upf_events *e)
{
	return e->sent < e->next ? e->ring[e->sent % UPF_EVENTS_MAX] : NULL;
}
