/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_GNB_IN_H
#define AIRPATH_GNB_IN_H

/**
 * What a received frame is, for a gNB. gnb_in_fast() takes the G-PDUs that nearly every frame is:
 * to an interface's first address, of its family, without IP options; on N3 with a PDU session
 * container of QFI and flags alone (TS 38.415 §5.5.2.1), on F1-U without extension header. It
 * compares the headers with a template under a mask, a word at a time. Everything else is left as
 * it is to upf_in_any(), which takes the same packets the same way (`gnb_in_test`).
 */

#include <rte_mbuf.h>

#include "codec/gtpu.h"
#include "codec/ip.h"
#include "modules/upf/upf_in.h"

#define GNB_IN_FORMS_MAX 8 /**< of a port: two families of four interfaces */
#define GNB_IN_WORDS 11    /**< Ethernet with a tag, IPv6, UDP, GTP-U, container: 82 octets */
#define GNB_IN_WORDS4 8    /**< likewise IPv4: 62 octets */
#define GNB_IN_LOOK 64     /**< what a frame has at least for the fast path */

/** A form of frame. Constant. */
struct gnb_in_form {
	uint64_t value[GNB_IN_WORDS];
	uint64_t mask[GNB_IN_WORDS];
	uint8_t l2;        /**< octets of the link header */
	uint8_t udp;       /**< where the UDP header begins */
	uint8_t tpdu;      /**< where the T-PDU begins */
	uint8_t words;     /**< to be compared */
	uint8_t rx;        /**< enum upf_rx_flag */
	uint8_t interface; /**< from 1 */
	bool v6;
} __rte_cache_aligned;

/** A receiver: constant but for `last`, its worker's. */
struct gnb_in {
	const struct upf_net *net;
	uint8_t nb_forms;
	uint8_t last; /**< form of the last frame */
	uint8_t nb_links;
	struct upf_in links[UPF_INTERFACES_MAX]; /**< for upf_in_any(): one, or one a link MAC */
	struct gnb_in_form forms[GNB_IN_FORMS_MAX];
};

/**
 * @param port of the links it receives for; < 0: of all links, told apart by destination MAC
 * @param n3 by interface from 1: G-PDUs have a PDU session container
 */
void gnb_in_init(struct gnb_in *in, const struct upf_net *net, int port, const bool *n3);

/** Any frame; as upf_in_any(). */
unsigned gnb_in_any(const struct gnb_in *in, struct rte_mbuf *m);

static inline uint64_t
gnb_in_differs(const struct gnb_in_form *f, const uint8_t *p, unsigned from, unsigned to)
{
	uint64_t differ = 0;

	for (unsigned i = from; i < to; i++) {
		uint64_t word;

		memcpy(&word, p + 8 * i, sizeof(word));
		differ |= (word ^ f->value[i]) & f->mask[i];
	}
	return differ;
}

/** Lengths, checksum and addresses of a frame of the form. */
static inline bool
gnb_in_take(const struct gnb_in *in, const struct gnb_in_form *f, struct rte_mbuf *m,
	    const uint8_t *p)
{
	const uint8_t *ip = p + f->l2, *udp = p + f->udp;
	const unsigned udp_bytes = be16_get(udp + 4), gtpu_bytes = be16_get(udp + 10);
	const unsigned above = f->tpdu - f->udp; /* headers behind IP */
	uint32_t src;

	/* One length says all. */
	if (unlikely(udp_bytes != gtpu_bytes + UDP_HDR_BYTES + GTPU_HDR_BYTES ||
		     udp_bytes <= above || f->udp + udp_bytes > m->data_len))
		return false;
	if (likely(!f->v6)) {
		if (unlikely(be16_get(ip + 2) != IP4_HDR_BYTES + udp_bytes ||
			     ip_sum_fold(ip_sum_words(0, ip, 5)) != 0xffff))
			return false;
		memcpy(&src, ip + 12, 4);
		if (unlikely(upf_in_martian4(ip[12]) || upf_net_own4(in->net, src)))
			return false;
	} else if (be16_get(ip + 4) != udp_bytes || ip[8] == 0 || ip[8] == 0xff ||
		   upf_net_own6(in->net, ip + 8)) {
		return false;
	}
	upf_in_mark(m, be32_get(udp + 12), f->rx & UPF_RX_QFI ? p[f->tpdu - 2] & 0x3F : 0x3F,
		    f->rx | (f->rx & UPF_RX_QFI && p[f->tpdu - 2] & 0x40 ? UPF_RX_RQI : 0),
		    f->interface);
	upf_in_to_inner(m, f->l2, f->tpdu, udp_bytes - above);
	return true;
}

/** @return whether it was of the usual kind; then the verdict is UPF_IN_PASS. */
static inline bool
gnb_in_fast(struct gnb_in *in, struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct gnb_in_form *f = &in->forms[in->last];

	if (unlikely(m->nb_segs != 1 || m->data_len < GNB_IN_LOOK ||
		     m->ol_flags & (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)))
		return false;
	if (likely(gnb_in_differs(f, p, 0, GNB_IN_WORDS4) == 0) &&
	    (likely(f->words == GNB_IN_WORDS4) ||
	     (m->data_len >= 8 * GNB_IN_WORDS &&
	      gnb_in_differs(f, p, GNB_IN_WORDS4, GNB_IN_WORDS) == 0)))
		return gnb_in_take(in, f, m, p);
	for (uint8_t i = 0; i < in->nb_forms; i++) {
		f = &in->forms[i];
		if (m->data_len < 8 * f->words || gnb_in_differs(f, p, 0, f->words) != 0)
			continue;
		in->last = i;
		return gnb_in_take(in, f, m, p);
	}
	return false;
}

#endif
