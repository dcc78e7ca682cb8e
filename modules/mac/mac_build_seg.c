/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_malloc.h>

#include "modules/mac/mac_build_seg.h"

struct mac_build_zero {
	struct rte_mbuf_ext_shared_info shinfo;
	rte_iova_t iova;
	uint16_t bytes;
	uint8_t data[];
};

static void
zero_free(void *addr, void *zero)
{
	(void)addr;
	rte_free(zero);
}

struct mac_build_zero *
mac_build_zero_create(uint32_t bytes)
{
	struct mac_build_zero *z =
		rte_zmalloc("mac_padding", sizeof(*z) + 1 + bytes, RTE_CACHE_LINE_SIZE);

	if (z == NULL)
		return NULL;
	z->data[0] = MAC_PADDING_OCTET;
	z->bytes = (uint16_t)(1 + bytes);
	z->iova = rte_malloc_virt2iova(z) + offsetof(struct mac_build_zero, data);
	z->shinfo.free_cb = zero_free;
	z->shinfo.fcb_opaque = z;
	rte_mbuf_ext_refcnt_set(&z->shinfo, 1);
	return z;
}

void
mac_build_zero_release(struct mac_build_zero *z)
{
	if (rte_mbuf_ext_refcnt_update(&z->shinfo, -1) == 0)
		zero_free(z->data, z);
}

bool
mac_build_zero_take(struct mac_build *b, struct rte_mbuf **segs, unsigned n)
{
	struct mac_build_zero *z = b->zero;

	if (rte_mempool_get_bulk(b->ind, (void **)segs, n))
		return false;
	/* They come from the core that freed the last TBs: both lines of all are fetched at once.
	 */
	for (unsigned i = 0; i < n; i++) {
		rte_prefetch0(segs[i]);
		rte_mbuf_prefetch_part2(segs[i]);
	}
	rte_mbuf_ext_refcnt_update(&z->shinfo, (int16_t)n);
	for (unsigned i = 0; i < n; i++) {
		rte_pktmbuf_reset(segs[i]);
		rte_pktmbuf_attach_extbuf(segs[i], z->data, z->iova, z->bytes, &z->shinfo);
	}
	return true;
}

struct rte_mbuf *
mac_build_cut(struct mac_build *b, struct rte_mbuf *m, uint32_t at)
{
	struct rte_mbuf *s = m, *rest;
	uint16_t kept = 1;
	uint32_t left = at;

	for (; left > s->data_len; kept++) {
		left -= s->data_len;
		s = s->next;
	}
	if (left == s->data_len) {
		rest = s->next;
		rest->nb_segs = (uint16_t)(m->nb_segs - kept);
	} else {
		rest = rte_pktmbuf_alloc(b->ind);
		if (rest == NULL)
			return NULL;
		rte_pktmbuf_attach(rest, s);
		rest->data_off = (uint16_t)(rest->data_off + left);
		rest->data_len = (uint16_t)(s->data_len - left);
		rest->nb_segs = (uint16_t)(m->nb_segs - kept + 1);
		rest->next = s->next;
		s->data_len = (uint16_t)left;
	}
	s->next = NULL;
	rest->pkt_len = m->pkt_len - at;
	m->nb_segs = kept;
	m->pkt_len = at;
	return rest;
}
