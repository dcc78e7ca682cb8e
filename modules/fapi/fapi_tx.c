/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "core/clock.h"
#include "core/meta.h"
#include "core/pkt.h"
#include "modules/fapi/fapi_tx.h"

/* Octets of a frame that change from one to the next. */
enum {
	AT_LENGTH = NFAPI_ETHER_LEN + 4,
	AT_SEGMENT = NFAPI_ETHER_LEN + 8,
	AT_SEQUENCE = NFAPI_ETHER_LEN + 9,
	AT_CHECKSUM = NFAPI_ETHER_LEN + 10,
	AT_TIMESTAMP = NFAPI_ETHER_LEN + 14,
	AT_DATA = FAPI_HDR_LEN,
	AT_PDU = FAPI_HDR_LEN + FAPI_DATA_LEN,
};

int
fapi_tx_init(struct fapi_tx *f, const struct fapi_tx_cfg *cfg)
{
	const uint32_t frame = cfg->frame_bytes ? cfg->frame_bytes : FAPI_FRAME_BYTES;
	const struct nfapi_p7 p7 = {.phy_id = cfg->carrier, .message_id = FAPI_TX_DATA_REQUEST};

	if (fapi_frag_payload(frame) == 0 || frame > UINT16_MAX)
		return -EINVAL;
	*f = (struct fapi_tx){
		.sequence = UINT8_MAX, /* the first TB takes 0 */
		.checksum = cfg->checksum,
		.frame_bytes = frame,
		.hdr = cfg->hdr,
	};
	memcpy(f->head, cfg->dst, 6);
	memcpy(f->head + 6, cfg->src, 6);
	be16_put(f->head + 12, cfg->ethertype ? cfg->ethertype : NFAPI_ETHERTYPE);
	nfapi_p7_put(f->head + NFAPI_ETHER_LEN, &p7);
	return 0;
}

static void
checksum_put(struct rte_mbuf *m, uint8_t *p)
{
	uint32_t crc = nfapi_p7_crc32c(p + NFAPI_ETHER_LEN);

	crc = nfapi_crc32c(crc, p + FAPI_HDR_LEN, m->data_len - FAPI_HDR_LEN);
	for (const struct rte_mbuf *s = m->next; s != NULL; s = s->next)
		crc = nfapi_crc32c(crc, rte_pktmbuf_mtod(s, const uint8_t *), s->data_len);
	be32_put(p + AT_CHECKSUM, nfapi_checksum(crc));
}

/** Where in its TB the next fragment is. @return its header length, or -(drop reason) - 1. */
static inline int
fragment_place(struct fapi_tx *f, struct rte_mbuf *m, uint8_t flags)
{
	if (flags & AP_M_FRAG_FIRST) {
		const struct ap_ext *ext = ap_ext(m);

		f->open = true;
		f->segment = 0;
		f->sequence++;
		fapi_data_put(f->head + AT_DATA, &(struct fapi_data){{ext->sfn, ext->slot}, 1});
		fapi_tx_pdu_put(f->head + AT_PDU,
				&(struct fapi_tx_pdu){.index = (uint16_t)ext->spare,
						      .tb_bytes = ext->tb_bytes});
	}
	if (unlikely(!f->open))
		return -FAPI_TX_NO_FIRST - 1;
	if (unlikely(f->segment >= NFAPI_SEGMENTS_MAX))
		return -FAPI_TX_TOO_MANY_SEGMENTS - 1;
	/* A fragment dropped later leaves a gap in the numbers, which the receiver sees as loss. */
	f->head[AT_SEGMENT] = (uint8_t)((flags & AP_M_FRAG_LAST ? 0 : 0x80) | f->segment++);
	f->head[AT_SEQUENCE] = f->sequence;
	return flags & AP_M_FRAG_FIRST ? FAPI_HDR_FIRST_LEN : FAPI_HDR_LEN;
}

/** @return 0, or -(drop reason) - 1 with the fragment untouched. */
static inline int
frame_one(struct fapi_tx *f, struct rte_mbuf **m)
{
	const uint8_t flags = ap_meta(*m)->flags;
	uint8_t *p;
	int len;

	if (unlikely(flags & AP_M_CONTROL))
		return 0;
	len = fragment_place(f, *m, flags);
	if (unlikely(len < 0))
		return len;
	if (unlikely((*m)->pkt_len + (uint32_t)len > f->frame_bytes))
		return -FAPI_TX_TOO_LONG - 1;
	p = ap_pkt_prepend(m, (uint16_t)len, f->hdr);
	if (unlikely(p == NULL))
		return -FAPI_TX_NO_HDR_MBUF - 1;
	/* Constant lengths let the compiler move whole vectors. */
	if (len == FAPI_HDR_LEN)
		memcpy(p, f->head, FAPI_HDR_LEN);
	else
		memcpy(p, f->head, FAPI_HDR_FIRST_LEN);
	be32_put(p + AT_LENGTH, (*m)->pkt_len - NFAPI_ETHER_LEN);
	if (f->checksum)
		checksum_put(*m, p);
	return 0;
}

uint16_t
fapi_tx_burst(struct fapi_tx *f, struct rte_mbuf **frags, uint16_t nb, uint64_t now_ns,
	      uint64_t *drops)
{
	const uint16_t ahead = 6;
	uint16_t out = 0;

	be32_put(f->head + AT_TIMESTAMP,
		 (uint32_t)(now_ns / AP_NS_PER_US % NFAPI_TIMESTAMP_PERIOD_US));
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = frags[i];
		bool last = ap_meta(m)->flags & AP_M_FRAG_LAST;
		int ret;

		if (i + ahead < nb)
			rte_prefetch0(frags[i + ahead]);
		if (i + ahead / 2 < nb)
			rte_prefetch0_write(rte_pktmbuf_mtod_offset(frags[i + ahead / 2], uint8_t *,
								    -FAPI_HDR_LEN));
		ret = frame_one(f, &m);
		if (unlikely(ret < 0)) {
			drops[-ret - 1]++;
			rte_pktmbuf_free(m);
		} else {
			frags[out++] = m;
		}
		if (last) {
			f->tbs += f->open;
			f->open = false;
		}
	}
	return out;
}

/** An empty mbuf becomes a frame whose body of `bytes` is to be written. @return where. */
static uint8_t *
control_begin(const struct fapi_tx *f, struct rte_mbuf *m, uint16_t message, uint32_t bytes,
	      uint8_t sequence, uint64_t now_ns)
{
	const struct nfapi_p7 p7 = {
		.phy_id = be16_get(f->head + NFAPI_ETHER_LEN),
		.message_id = message,
		.length = NFAPI_P7_LEN + bytes,
		.sequence = sequence,
		.timestamp_us = (uint32_t)(now_ns / AP_NS_PER_US % NFAPI_TIMESTAMP_PERIOD_US),
	};
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	*ap_meta(m) = (struct ap_meta){.flags = AP_M_CONTROL, .carrier = (uint8_t)p7.phy_id};
	m->data_len = (uint16_t)(FAPI_HDR_LEN + bytes);
	m->pkt_len = m->data_len;
	memcpy(p, f->head, NFAPI_ETHER_LEN);
	nfapi_p7_put(p + NFAPI_ETHER_LEN, &p7);
	return p + FAPI_HDR_LEN;
}

void
fapi_tx_sr(const struct fapi_tx *f, struct rte_mbuf *m, const struct fapi_sr *sr, uint8_t sequence,
	   uint64_t now_ns)
{
	fapi_sr_put(control_begin(f, m, FAPI_SR_REQUEST, FAPI_SR_REQUEST_LEN, sequence, now_ns),
		    sr);
	if (f->checksum)
		checksum_put(m, rte_pktmbuf_mtod(m, uint8_t *));
}

void
fapi_tx_tti(const struct fapi_tx *f, struct rte_mbuf *m, uint16_t message, struct fapi_slot at,
	    const struct fapi_grant *g, uint32_t nb, uint8_t sequence, uint64_t now_ns)
{
	const bool uplink = message == FAPI_UL_TTI_REQUEST;
	const uint32_t bytes = uplink ? FAPI_UL_TTI_LEN(nb) : (uint32_t)fapi_dl_tti_len(g, nb);
	uint8_t *body = control_begin(f, m, message, bytes, sequence, now_ns);

	if (uplink)
		fapi_ul_tti_encode(body, bytes, at, g, nb);
	else
		fapi_dl_tti_encode(body, bytes, at, g, nb);
	if (f->checksum)
		checksum_put(m, rte_pktmbuf_mtod(m, uint8_t *));
}
