/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_malloc.h>

#include "core/meta.h"
#include "modules/mac/mac_build.h"
#include "modules/mac/mac_harq.h"

struct process {
	uint32_t nb;
	uint32_t tb_bytes;
	struct rte_mbuf *fragment[MAC_BUILD_FRAGS_MAX];
};

struct mac_harq {
	struct process *open; /**< the one whose TB is being built, or NULL */
	uint32_t ues;
	uint32_t processes;       /**< of a UE */
	struct process process[]; /**< those of a UE are together */
};

struct mac_harq *
mac_harq_create(uint32_t ues, uint32_t processes)
{
	const size_t nb = (size_t)ues * processes;
	struct mac_harq *h = rte_zmalloc("mac_harq", sizeof(*h) + nb * sizeof(h->process[0]),
					 RTE_CACHE_LINE_SIZE);

	if (h == NULL)
		return NULL;
	h->ues = ues;
	h->processes = processes;
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
	for (uint32_t i = 0; i < h->ues * h->processes; i++)
		flush(&h->process[i]);
	rte_free(h);
}

/** @return NULL for one that is not there. */
static struct process *
process_of(struct mac_harq *h, uint16_t ue, uint8_t process)
{
	if (ue >= h->ues || process >= h->processes)
		return NULL;
	return &h->process[ue * h->processes + process];
}

void
mac_harq_begin(struct mac_harq *h, uint16_t ue, uint8_t process)
{
	h->open = process_of(h, ue, process);
	if (h->open)
		flush(h->open);
}

void
mac_harq_flush(struct mac_harq *h, uint16_t ue, uint8_t process)
{
	struct process *p = process_of(h, ue, process);

	if (p)
		flush(p);
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
	const struct process *p = process_of(h, mark->ue, mark->harq_process);

	if (p == NULL || p->tb_bytes != mark->tb_bytes)
		return 0;
	if (p->nb > max)
		return p->nb;
	for (uint32_t i = 0; i < p->nb; i++) {
		struct rte_mbuf *m = p->fragment[i];
		struct ap_ext *ext = ap_ext(m);

		/* The queueing delay was that of the first transmission. */
		ap_meta(m)->flags &= (uint8_t)~AP_M_TIMED;
		ext->sfn = mark->sfn;
		ext->slot = mark->slot;
		ext->spare = mark->handle;
		share(m);
		out[i] = m;
	}
	return p->nb;
}
