/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_HDR_H
#define AIRPATH_GNB_HDR_H

/** What gnb_hdr_tx, gnb_hdr_rx and gnb_tunnel share, and how an uplink PDU's headers are judged. */

#include <rte_mbuf.h>

#include "modules/gnb/gnb.h"
#include "modules/gnb/gnb_frame.h"

#define GNB_HDR_CHUNK 256

/** Edges of all three: ports, then upf_out and upf_local; of gnb_hdr_tx p4_inject. */
extern const char *const gnb_hdr_edges[GNB_HDR_NIC + 1];

/** Frames of several ports, in their order for each. */
void gnb_hdr_spread(struct ap_node *n, struct rte_mbuf **pkts, const uint8_t *port, uint16_t nb);

/** Finishes a packet. @return port of the frame, or -1: it went elsewhere */
typedef int (*gnb_hdr_one)(struct ap_node *n, void *priv, struct rte_mbuf *m, uint64_t now_ns);

/** process() of all three, for their `one`, which is compiled into it. */
static __rte_always_inline uint16_t
gnb_hdr_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb,
		gnb_hdr_one one)
{
	struct ap_node *n = ap_node(node);
	void *priv = n->priv;
	struct rte_mbuf **pkts = (struct rte_mbuf **)objs;
	const uint64_t now = ap_node_now(n);

	n->in += nb;
	for (uint16_t at = 0, step; at < nb; at = (uint16_t)(at + step)) {
		uint8_t port[GNB_HDR_CHUNK], differ = 0;
		uint16_t kept = 0;

		step = (uint16_t)RTE_MIN(nb - at, GNB_HDR_CHUNK);
		for (uint16_t i = 0; i < step; i++) {
			struct rte_mbuf *m = pkts[at + i];
			int to = one(n, priv, m, now);

			if (unlikely(to < 0))
				continue;
			port[kept] = (uint8_t)to;
			differ |= (uint8_t)(to ^ port[0]);
			pkts[at + kept++] = m;
		}
		if (unlikely(differ))
			gnb_hdr_spread(n, pkts + at, port, kept);
		else if (kept > 0)
			ap_next_all(n, graph, node, port[0], objs + at, kept);
	}
	return nb;
}

/**
 * Uplink: Identification of the IPv4 packet a T-PDU came in, without the mark that says who
 * processes it (bit 15); 0 when it came over IPv6. What leaves has it too.
 */
static inline uint16_t
gnb_hdr_id(const struct rte_mbuf *m, const uint8_t *tpdu, uint8_t rx)
{
	return rx & UPF_RX_OUTER6 ? 0 : be16_get(tpdu - upf_outer_bytes(m) + 4) & 0x7FFF;
}

/* --- uplink ----------------------------------------------------------------------------------- */

/** What the bits of a complete SDU's headers must be, a format. */
struct gnb_ul_form {
	uint64_t mask, value;
};

/** @param forms GNB_FORMATS of them */
void gnb_ul_forms_make(struct gnb_ul_form *forms);

enum gnb_ul_verdict {
	GNB_UL_SDU,
	GNB_UL_SHORT,        /**< no SDU behind the headers */
	GNB_UL_RLC_CONTROL,  /**< a STATUS PDU, TS 38.322 §6.2.2.5: ARQ is not here */
	GNB_UL_RLC_SEGMENT,  /**< of an SDU: reassembly is not here */
	GNB_UL_PDCP_CONTROL, /**< TS 38.323 §6.2.3 */
	GNB_UL_END_MARKER,   /**< SDAP's, TS 37.324 §6.2.3 */
};

/** Judges an RLC (or PDCP) PDU of `bytes` octets, of which at least min(bytes, 8) are at `p`. */
enum gnb_ul_verdict gnb_ul_judge(const struct gnb_format *f, const uint8_t *p, uint32_t bytes);

#endif
