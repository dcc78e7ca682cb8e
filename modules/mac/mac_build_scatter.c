/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_build_seg.h"

/* Scatter: a fragment is the list of the PDU mbufs themselves. No search, no copy. */

static inline bool
scatter_append(struct mac_build *b, struct rte_mbuf *m)
{
	if (likely(b->head))
		*b->link = m;
	else
		b->head = m;
	b->segs += m->nb_segs;
	b->link = likely(m->nb_segs == 1) ? &m->next : &rte_pktmbuf_lastseg(m)->next;
	return true;
}

static inline bool
scatter_open(struct mac_build *b)
{
	(void)b;
	return true;
}

static inline bool
scatter_close(struct mac_build *b)
{
	b->head->nb_segs = (uint16_t)b->segs;
	b->head->pkt_len = b->open_bytes;
	return true;
}

/* State in registers: nothing here but the mbufs themselves is written per PDU. */
static inline uint16_t
scatter_run(struct mac_build *b, struct rte_mbuf **in, uint16_t nb)
{
	struct rte_mbuf **link = b->link;
	uint32_t room = b->room;
	uint16_t i;

	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = in[i];
		uint32_t need = mac_build_plain(m, room);
		uint32_t hl = need - m->pkt_len;

		mac_build_prefetch(in, i, nb, 1);
		if (unlikely(need == 0 || !ap_seg_prependable(m) || m->data_off < hl))
			break;
		m->data_off = (uint16_t)(m->data_off - hl);
		mac_subheader_put(rte_pktmbuf_mtod(m, uint8_t *), ap_meta(m)->lcid, need - hl);
		m->data_len = (uint16_t)need;
		m->pkt_len = need;
		room -= need;
		*link = m;
		link = &m->next;
	}
	b->link = link;
	b->room = room;
	b->segs += i;
	return i;
}

static const struct mac_build_ops scatter_ops;

static inline bool
scatter_whole(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl)
{
	return mac_build_seg_whole(b, m, len, hl, scatter_append);
}

static bool
scatter_across(struct mac_build *b, struct rte_mbuf **m, uint32_t len, uint32_t hl,
	       struct mac_build_run *run)
{
	return mac_build_seg_across(b, m, len, hl, run, scatter_append, &scatter_ops);
}

static bool
scatter_ce(struct mac_build *b, struct rte_mbuf **m, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_ce(b, m, bytes, run, scatter_append, &scatter_ops);
}

static bool
scatter_pad(struct mac_build *b, uint32_t bytes, struct mac_build_run *run)
{
	return mac_build_seg_pad(b, bytes, run, scatter_append, &scatter_ops);
}

static const struct mac_build_ops scatter_ops = {
	.run = scatter_run,
	.open = scatter_open,
	.whole = scatter_whole,
	.across = scatter_across,
	.ce = scatter_ce,
	.pad = scatter_pad,
	.close = scatter_close,
	.data_lines = 1, /* the subheader is written before the data */
};

void
mac_build_scatter(struct mac_build *b, struct rte_mbuf **in, uint16_t nb, struct mac_build_run *run)
{
	mac_build_walk(b, in, nb, run, &scatter_ops);
}
