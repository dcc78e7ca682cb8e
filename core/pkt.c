/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pkt.h"

uint8_t *
ap_pkt_prepend_seg(struct rte_mbuf **m, uint16_t len, struct rte_mempool *hdr)
{
	struct rte_mbuf *s = rte_pktmbuf_alloc(hdr);

	if (s == NULL)
		return NULL;
	if (s->data_off < len) {
		rte_pktmbuf_free(s);
		return NULL;
	}
	ap_pkt_take_fields(s, *m);
	s->data_off -= len;
	s->data_len = len;
	s->pkt_len = (*m)->pkt_len + len;
	s->nb_segs = (*m)->nb_segs + 1;
	s->next = *m;
	*m = s;
	return rte_pktmbuf_mtod(s, uint8_t *);
}

uint8_t *
ap_pkt_append(struct rte_mbuf *m, uint16_t len, struct rte_mempool *hdr)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(m);
	struct rte_mbuf *s;
	uint8_t *p;

	if (!ap_seg_writable(last) || rte_pktmbuf_tailroom(last) < len) {
		s = rte_pktmbuf_alloc(hdr);
		if (s == NULL)
			return NULL;
		last->next = s;
		last = s;
		m->nb_segs++;
	}
	p = rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len);
	last->data_len += len;
	m->pkt_len += len;
	return p;
}

struct rte_mbuf *
ap_pkt_strip_seg(struct rte_mbuf *m, uint16_t len)
{
	while (m->data_len <= len && m->next != NULL) {
		struct rte_mbuf *next = m->next;

		len -= m->data_len;
		ap_pkt_take_fields(next, m);
		next->pkt_len = m->pkt_len - m->data_len;
		next->nb_segs = m->nb_segs - 1;
		rte_pktmbuf_free_seg(m);
		m = next;
	}
	m->data_off += len;
	m->data_len -= len;
	m->pkt_len -= len;
	return m;
}

void
ap_pkt_trim(struct rte_mbuf *m, uint16_t len)
{
	uint32_t keep = m->pkt_len - len;
	struct rte_mbuf *s = m;
	uint16_t segs = 1;

	m->pkt_len = keep;
	while (keep > s->data_len) {
		keep -= s->data_len;
		s = s->next;
		segs++;
	}
	s->data_len = (uint16_t)keep;
	rte_pktmbuf_free(s->next);
	s->next = NULL;
	m->nb_segs = segs;
}
