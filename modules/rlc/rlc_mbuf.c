/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/meta.h"
#include "modules/rlc/rlc_mbuf.h"

struct rte_mbuf *
rlc_mbuf_slice(struct rte_mbuf *m, uint32_t offset, uint32_t bytes, struct rte_mempool *ind)
{
	struct rte_mbuf *head = NULL, **link = &head, *seg = m;
	uint32_t pkt_len = bytes;
	uint16_t nb_segs = 0;

	for (; offset >= seg->data_len; seg = seg->next)
		offset -= seg->data_len;
	for (; bytes > 0; seg = seg->next, offset = 0) {
		uint32_t part = RTE_MIN(bytes, seg->data_len - offset);
		struct rte_mbuf *mi;

		if (part == 0)
			continue;
		mi = rte_pktmbuf_alloc(ind);
		if (mi == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		rte_pktmbuf_attach(mi, seg);
		mi->data_off += (uint16_t)offset;
		mi->data_len = (uint16_t)part;
		mi->pkt_len = part;
		*link = mi;
		link = &mi->next;
		nb_segs++;
		bytes -= part;
	}
	head->pkt_len = pkt_len;
	head->nb_segs = nb_segs;
	*ap_meta(head) = *ap_meta(m);
	*ap_ext(head) = *ap_ext(m);
	return head;
}
