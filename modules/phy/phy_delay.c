/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "modules/phy/phy_delay.h"

int
phy_delay_init(struct phy_delay *d, uint32_t room)
{
	*d = (struct phy_delay){.room = room};
	d->heap = rte_malloc("phy_delay", sizeof(*d->heap) * room, RTE_CACHE_LINE_SIZE);
	return d->heap ? 0 : -ENOMEM;
}

void
phy_delay_fini(struct phy_delay *d)
{
	for (uint32_t i = 0; i < d->nb; i++)
		rte_pktmbuf_free(d->heap[i].m);
	rte_free(d->heap);
	*d = (struct phy_delay){0};
}

static bool
sooner(const struct phy_delay_entry *a, const struct phy_delay_entry *b)
{
	return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns
						: a->order < b->order;
}

bool
phy_delay_put(struct phy_delay *d, struct rte_mbuf *m, uint64_t deadline_ns)
{
	const struct phy_delay_entry e = {deadline_ns, d->order++, m};
	uint32_t i = d->nb;

	if (d->nb == d->room)
		return false;
	d->nb++;
	for (; i > 0 && sooner(&e, &d->heap[(i - 1) / 2]); i = (i - 1) / 2)
		d->heap[i] = d->heap[(i - 1) / 2];
	d->heap[i] = e;
	return true;
}

struct rte_mbuf *
phy_delay_get(struct phy_delay *d, uint64_t now_ns)
{
	struct phy_delay_entry e;
	struct rte_mbuf *m;
	uint32_t i = 0;

	if (d->nb == 0 || d->heap[0].deadline_ns > now_ns)
		return NULL;
	m = d->heap[0].m;
	e = d->heap[--d->nb];
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= d->nb)
			break;
		if (child + 1 < d->nb && sooner(&d->heap[child + 1], &d->heap[child]))
			child++;
		if (!sooner(&d->heap[child], &e))
			break;
		d->heap[i] = d->heap[child];
		i = child;
	}
	d->heap[i] = e;
	return m;
}
