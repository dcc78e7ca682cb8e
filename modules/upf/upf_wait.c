/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "modules/upf/upf_wait.h"

int
upf_waits_init(struct upf_waits *w, uint32_t packets, uint32_t neighbours)
{
	memset(w, 0, sizeof(*w));
	w->held_max = packets;
	w->nb_max = RTE_MIN(neighbours, (uint32_t)UPF_WAIT_QUEUES_MAX);
	w->slots = rte_zmalloc("upf_waits", packets * sizeof(*w->slots), 0);
	w->queues = rte_zmalloc("upf_waits", w->nb_max * sizeof(*w->queues), 0);
	w->of = rte_zmalloc("upf_waits", neighbours * sizeof(*w->of), 0);
	if (w->slots == NULL || w->queues == NULL || w->of == NULL) {
		upf_waits_fini(w);
		return -ENOMEM;
	}
	for (uint32_t i = packets; i > 0; i--) {
		w->slots[i - 1].next = w->free;
		w->free = i;
	}
	return 0;
}

void
upf_waits_fini(struct upf_waits *w)
{
	while (w->nb > 0) {
		struct upf_wait q = upf_waits_end(w, &w->queues[0]);
		struct rte_mbuf *m;

		while ((m = upf_waits_take(w, &q)) != NULL)
			rte_pktmbuf_free(m);
	}
	rte_free(w->slots);
	rte_free(w->queues);
	rte_free(w->of);
	memset(w, 0, sizeof(*w));
}

static bool
has_room(const struct upf_waits *w, bool next_hop)
{
	return w->held < (next_hop ? w->held_max : w->held_max / 2);
}

struct upf_wait *
upf_waits_begin(struct upf_waits *w, uint32_t neighbour, bool next_hop)
{
	struct upf_wait *q;

	if (w->nb >= (next_hop ? w->nb_max : w->nb_max / 2) || !has_room(w, next_hop))
		return NULL;
	q = &w->queues[w->nb++];
	*q = (struct upf_wait){.neighbour = neighbour, .next_hop = next_hop};
	w->of[neighbour] = (uint16_t)w->nb;
	return q;
}

bool
upf_waits_put(struct upf_waits *w, struct upf_wait *q, struct rte_mbuf *m)
{
	const uint32_t e = w->free;

	if (!has_room(w, q->next_hop) || (!q->next_hop && q->packets >= UPF_WAIT_ON_LINK))
		return false;
	w->free = w->slots[e - 1].next;
	w->slots[e - 1] = (struct upf_wait_slot){.m = m};
	*(q->last != 0 ? &w->slots[q->last - 1].next : &q->first) = e;
	q->last = e;
	q->packets++;
	w->held++;
	return true;
}

struct upf_wait
upf_waits_end(struct upf_waits *w, struct upf_wait *q)
{
	const struct upf_wait ended = *q;

	w->of[ended.neighbour] = 0;
	*q = w->queues[--w->nb];
	if (q != &w->queues[w->nb])
		w->of[q->neighbour] = (uint16_t)(q - w->queues + 1);
	return ended;
}

struct rte_mbuf *
upf_waits_take(struct upf_waits *w, struct upf_wait *ended)
{
	const uint32_t e = ended->first;
	struct upf_wait_slot *s;

	if (e == 0)
		return NULL;
	s = &w->slots[e - 1];
	ended->first = s->next;
	s->next = w->free;
	w->free = e;
	w->held--;
	return s->m;
}
