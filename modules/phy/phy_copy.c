/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_memcpy.h>
#include <rte_prefetch.h>

#include "modules/phy/phy_copy.h"

#define AHEAD_BYTES 256 /* what is fetched of the next segment; the hardware sees the rest coming */

static inline void
segment_prefetch(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint32_t len = RTE_MIN(m->data_len, AHEAD_BYTES);

	for (uint32_t at = 0; at < len; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(p + at);
}

static inline void
mbuf_prefetch(const struct rte_mbuf *m)
{
	rte_prefetch0(m);
	rte_prefetch0((const uint8_t *)m + RTE_CACHE_LINE_MIN_SIZE);
}

void
phy_copy_all(struct phy_copy *c, unsigned nb)
{
	for (unsigned i = 0; i < nb; i++)
		if (c[i].next)
			mbuf_prefetch(c[i].next);
	while (nb > 0) {
		for (unsigned i = 0; i < nb;) {
			struct phy_copy *one = &c[i];
			const uint32_t n = RTE_MIN(one->left, (uint32_t)one->seg->data_len);

			rte_memcpy(one->to, rte_pktmbuf_mtod(one->seg, const uint8_t *), n);
			one->to += n;
			one->left -= n;
			one->seg = one->next;
			if (one->left == 0 || one->seg == NULL) {
				*one = c[--nb];
				continue;
			}
			segment_prefetch(one->seg);
			one->next = one->seg->next;
			if (one->next)
				mbuf_prefetch(one->next);
			i++;
		}
	}
}
