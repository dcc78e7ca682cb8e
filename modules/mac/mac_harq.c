/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_malloc.h>

#include "core/meta.h"
#include "modules/mac/mac_build.h"
#include "modules/mac/mac_harq.h"

struct process {
	uint32_t nb;
	uint32_t tb_bytes;
	uint32_t transmissions;
	struct rte_mbuf *fragment[MAC_BUILD_FRAGS_MAX];
};

struct mac_harq {
	struct process *open; /**< the one whose TB is being built, or NULL */
	uint32_t nb;
	uint32_t max_tx;
	struct process process[];
};

struct mac_harq *
mac_harq_create(uint32_t processes, uint32_t max_tx)
{
	struct mac_harq *h = rte_zmalloc("mac_harq", sizeof(*h) + processes * sizeof(h->process[0]),
					 RTE_CACHE_LINE_SIZE);

	if (h == NULL)
		return NULL;
	h->nb = processes;
	h->max_tx = max_tx;
	return h;
}

static void
flush(struct process *p)
{
	for (uint32_t i = 0; i < p->nb; i++)
		rte_pktmbuf_free(p->fragment[i]);
	p->nb = 0;
}

void
mac_harq_destroy(struct mac_harq *h)
{
	if (h == NULL)
		return;
	for (uint32_t i = 0; i < h->nb; i++)
		flush(&h->process[i]);
	rte_free(h);
}

void
mac_harq_begin(struct mac_harq *h, uint8_t process)
{
	h->open = NULL;
	if (process >= h->nb)
		return;
	flush(&h->process[process]);
	if (h->max_tx > 1)
		h->open = &h->process[process];
	h->process[process].transmissions = 1;
}

static void
share(struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		rte_mbuf_refcnt_update(m, 1);
}

void
mac_harq_keep(struct mac_harq *h, struct rte_mbuf *fragment)
{
	struct process *p = h->open;

	if (p == NULL || p->nb == MAC_BUILD_FRAGS_MAX)
		return;
	share(fragment);
	p->tb_bytes = ap_ext(fragment)->tb_bytes;
	p->fragment[p->nb++] = fragment;
}

void
mac_harq_flush_open(struct mac_harq *h)
{
	if (h->open)
		flush(h->open);
	h->open = NULL;
}

uint32_t
mac_harq_send(struct mac_harq *h, const struct mac_tb_mark *mark, struct rte_mbuf **out,
	      uint32_t max)
{
	struct process *p = mark->harq_process < h->nb ? &h->process[mark->harq_process] : NULL;
	const bool last = p && p->transmissions + 1 >= h->max_tx;
	uint32_t nb;

	if (p == NULL || p->tb_bytes != mark->tb_bytes || p->nb > max)
		return p && p->tb_bytes == mark->tb_bytes ? p->nb : 0;
	nb = p->nb;
	for (uint32_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = p->fragment[i];
		struct ap_ext *ext = ap_ext(m);

		/* The queueing delay was that of the first transmission. */
		ap_meta(m)->flags &= (uint8_t)~AP_M_TIMED;
		ext->sfn = mark->sfn;
		ext->slot = mark->slot;
		ext->spare = mark->handle;
		if (!last)
			share(m);
		out[i] = m;
	}
	p->transmissions++;
	if (last)
		p->nb = 0;
	return nb;
}
