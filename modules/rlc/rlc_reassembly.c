/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_reassembly.h"

int
rlc_seg_table_init(struct rlc_seg_table *t, uint32_t nb)
{
	t->segs = rte_zmalloc("rlc_seg", sizeof(*t->segs) * (nb + 1), RTE_CACHE_LINE_SIZE);
	if (t->segs == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i < nb; i++)
		t->segs[i].next = i + 1;
	t->free = 1;
	return 0;
}

void
rlc_seg_table_fini(struct rlc_seg_table *t)
{
	rte_free(t->segs);
	t->segs = NULL;
}

static uint32_t
seg_take(struct rlc_seg_table *t)
{
	uint32_t i = t->free;

	t->free = t->segs[i].next;
	return i;
}

static uint32_t
seg_give(struct rlc_seg_table *t, uint32_t i)
{
	uint32_t next = t->segs[i].next;

	t->segs[i] = (struct rlc_seg){.next = t->free};
	t->free = i;
	return next;
}

static uint32_t
seg_end(const struct rlc_seg_table *t, uint32_t i)
{
	return (uint32_t)t->segs[i].so + t->segs[i].len;
}

/* The last segment that starts at or before `so`, 0 if none. In order it is the newest one. */
static uint32_t
seg_before(const struct rlc_seg_table *t, const struct rlc_sdu *s, uint32_t so)
{
	uint32_t prev = 0;

	if (s->last && t->segs[s->last].so <= so)
		return s->last;
	for (uint32_t i = s->first; i && t->segs[i].so <= so; i = t->segs[i].next)
		prev = i;
	return prev;
}

enum rlc_insert
rlc_sdu_insert(struct rlc_seg_table *t, struct rlc_sdu *s, struct rte_mbuf *m, uint16_t so,
	       bool last, unsigned *covered)
{
	uint32_t start = so, end = so + m->pkt_len;
	uint32_t prev, next, new;

	*covered = 0;
	if (s->end && (end > s->end || (last && end != s->end)))
		return RLC_INSERT_CONFLICT;
	if (last && s->last && seg_end(t, s->last) > end)
		return RLC_INSERT_CONFLICT;
	if (t->free == 0)
		return RLC_INSERT_FULL;
	if (last)
		s->end = (uint16_t)end;

	prev = seg_before(t, s, start);
	if (prev && seg_end(t, prev) >= end)
		return RLC_INSERT_DUPLICATE;
	if (prev && seg_end(t, prev) > start) {
		m = ap_pkt_strip(m, (uint16_t)(seg_end(t, prev) - start));
		start = seg_end(t, prev);
	}
	next = prev ? t->segs[prev].next : s->first;
	while (next && seg_end(t, next) <= end) {
		s->bytes -= t->segs[next].len;
		rte_pktmbuf_free(t->segs[next].m);
		next = seg_give(t, next);
		(*covered)++;
	}
	if (next && t->segs[next].so < end) {
		ap_pkt_trim(m, (uint16_t)(end - t->segs[next].so));
		end = t->segs[next].so;
	}

	new = seg_take(t);
	t->segs[new] = (struct rlc_seg){m, next, (uint16_t)start, (uint16_t)(end - start)};
	s->bytes += (uint16_t)(end - start);
	if (prev)
		t->segs[prev].next = new;
	else
		s->first = new;
	if (next == 0)
		s->last = new;
	return RLC_INSERT_OK;
}

struct rte_mbuf *
rlc_sdu_join(struct rlc_seg_table *t, struct rlc_sdu *s, unsigned *segments)
{
	struct rte_mbuf *sdu = t->segs[s->first].m;
	struct rte_mbuf *tail = rte_pktmbuf_lastseg(sdu);
	unsigned n = 1;

	for (uint32_t i = seg_give(t, s->first); i; i = seg_give(t, i)) {
		struct rte_mbuf *m = t->segs[i].m;

		tail->next = m;
		tail = rte_pktmbuf_lastseg(m);
		sdu->nb_segs += m->nb_segs;
		n++;
	}
	sdu->pkt_len = s->bytes;
	*s = (struct rlc_sdu){0};
	*segments = n;
	return sdu;
}

unsigned
rlc_sdu_drop(struct rlc_seg_table *t, struct rlc_sdu *s)
{
	unsigned n = 0;

	for (uint32_t i = s->first; i; i = seg_give(t, i)) {
		rte_pktmbuf_free(t->segs[i].m);
		n++;
	}
	*s = (struct rlc_sdu){0};
	return n;
}
