/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/upf/upf_end_marker.h"

#include "modules/upf/upf_encap.h"

bool
upf_end_marker_put(struct rte_mbuf **m, const struct upf_peer *peer, uint32_t teid, uint16_t id,
		   struct rte_mempool *hdr)
{
	const struct upf_tag tag = {.teid = teid};
	uint8_t *p;

	if (!peer->gtpu)
		return false;
	p = upf_encap(m, peer, &tag, 0, id, hdr);
	if (p == NULL)
		return false;
	p[peer->udp + 8 + 1] = GTPU_END_MARKER;
	return true;
}

struct rte_mbuf *
upf_end_marker_make(const struct upf_peer *peer, uint16_t index, uint32_t teid, uint16_t id,
		    struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return NULL;
	*ap_meta(m) = (struct ap_meta){0};
	if (!upf_end_marker_put(&m, peer, teid, id, pool)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	*upf_leave(m) = (struct upf_leave){
		.peer = index, .flags = AP_M_CONTROL, .interface = peer->interface};
	return m;
}
