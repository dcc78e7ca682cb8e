/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: their headers, and the segments of data messages. */
#include <errno.h>

#include "modules/fapi/fapi_rx_impl.h"

#define ETHER_MIN 60 /* frames are padded to this; only such padding may follow a message */

int
fapi_rx_init(struct fapi_rx *f, const struct fapi_rx_cfg *cfg)
{
	if (cfg->carriers < 1 || cfg->carriers > L2_CARRIERS_MAX || cfg->numerology > 4 ||
	    cfg->nb_ues > L2_UES_MAX)
		return -EINVAL;
	*f = (struct fapi_rx){
		.ethertype = __builtin_bswap16(cfg->ethertype ? cfg->ethertype : NFAPI_ETHERTYPE),
		.slots_per_frame = (uint16_t)(10 << cfg->numerology),
		.rnti = cfg->rnti,
		.carriers = cfg->carriers,
		.checksum = cfg->checksum,
		.reassembly_ns = cfg->reassembly_ns ? cfg->reassembly_ns : FAPI_REASSEMBLY_NS,
		.nb_ues = cfg->nb_ues ? cfg->nb_ues : 1,
		.slots = cfg->slots,
		.ul = cfg->ul,
		.box = cfg->box,
		.k1 = cfg->k1,
		.copier = cfg->copier,
	};
	for (uint8_t i = 0; i < cfg->carriers; i++)
		fapi_reassembly_init(&f->carrier[i], i, cfg->proto);
	return 0;
}

void
fapi_rx_fini(struct fapi_rx *f)
{
	for (unsigned i = 0; i < f->carriers; i++)
		fapi_reassembly_fini(&f->carrier[i]);
}

uint64_t
fapi_rx_held(const struct fapi_rx *f)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < f->carriers; i++)
		held += fapi_reassembly_held(&f->carrier[i]);
	return held;
}

uint64_t
fapi_rx_expire(struct fapi_rx *f, uint64_t now_ns, struct fapi_rx_out *out)
{
	uint64_t due = 0;

	for (unsigned i = 0; i < f->carriers; i++) {
		uint64_t next;

		next = fapi_reassembly_expire(&f->carrier[i], now_ns, f->reassembly_ns, out);
		if (next != 0 && (due == 0 || next < due))
			due = next;
	}
	return due;
}

static bool
checksum_fits(const struct rte_mbuf *m, const struct nfapi_p7 *h)
{
	const uint8_t *p = rte_pktmbuf_mtod_offset(m, const uint8_t *, NFAPI_ETHER_LEN);
	uint32_t crc = nfapi_p7_crc32c(p);

	crc = nfapi_crc32c(crc, p + NFAPI_P7_LEN, m->data_len - FAPI_RX_HDR_LEN);
	for (m = m->next; m != NULL; m = m->next)
		crc = nfapi_crc32c(crc, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	return nfapi_checksum(crc) == h->checksum;
}

/** Ethernet and P7 header. @return 0, or -1 with the frame dropped. */
static inline int
frame_check(const struct fapi_rx *f, struct rte_mbuf *m, struct nfapi_p7 *h,
	    struct fapi_rx_out *out)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type;
	int ret;

	if (unlikely(m->data_len < FAPI_RX_HDR_LEN))
		return fapi_rx_lose(m, FAPI_RX_SHORT, out);
	memcpy(&type, p + 12, sizeof(type));
	if (unlikely(type != f->ethertype))
		return fapi_rx_lose(m, FAPI_RX_NOT_FAPI, out);
	ret = nfapi_p7_decode(p + NFAPI_ETHER_LEN, m->data_len - NFAPI_ETHER_LEN,
			      m->pkt_len - NFAPI_ETHER_LEN, h);
	if (unlikely(ret < 0))
		return fapi_rx_lose(m, FAPI_RX_BAD_LENGTH, out);
	if (unlikely(h->length + NFAPI_ETHER_LEN != m->pkt_len)) {
		if (m->pkt_len > ETHER_MIN)
			return fapi_rx_lose(m, FAPI_RX_BAD_LENGTH, out);
		ap_pkt_trim(m, (uint16_t)(m->pkt_len - NFAPI_ETHER_LEN - h->length));
	}
	if (unlikely(f->checksum && h->checksum != 0 && !checksum_fits(m, h)))
		return fapi_rx_lose(m, FAPI_RX_BAD_CHECKSUM, out);
	if (unlikely(h->phy_id >= f->carriers))
		return fapi_rx_lose(m, FAPI_RX_UNKNOWN_CARRIER, out);
	return 0;
}

static inline void
frame_one(struct fapi_rx *f, struct rte_mbuf *m, uint64_t now_ns, struct fapi_rx_out *out)
{
	struct nfapi_p7 h;

	if (unlikely(frame_check(f, m, &h, out) < 0))
		return;
	if (unlikely(h.message_id != FAPI_RX_DATA_INDICATION &&
		     h.message_id != FAPI_TX_DATA_REQUEST)) {
		fapi_rx_control(f, &h, m, now_ns, out);
		return;
	}
	if (unlikely(h.length == NFAPI_P7_LEN)) {
		fapi_rx_lose(m, FAPI_RX_BAD_LENGTH, out);
		return;
	}
	m = ap_pkt_strip(m, FAPI_RX_HDR_LEN);
	fapi_reassembly_add(&f->carrier[h.phy_id], &h, m, now_ns, out);
}

uint16_t
fapi_rx_burst(struct fapi_rx *f, struct rte_mbuf **frames, uint16_t nb, uint64_t now_ns,
	      struct fapi_rx_out *out)
{
	const uint16_t ahead = 8;
	uint16_t i;

	for (i = 0; i < RTE_MIN(nb, ahead); i++)
		rte_prefetch0(frames[i]);
	for (i = 0; i < nb && out->nb + FAPI_PDUS_MAX <= FAPI_RX_ROOM; i++) {
		/* Of the mbuf also the second line, for the chain: another core wrote both. */
		if (i + ahead < nb)
			rte_prefetch0(frames[i + ahead]);
		if (i + ahead / 2 < nb) {
			rte_prefetch0(rte_pktmbuf_mtod(frames[i + ahead / 2], void *));
			rte_mbuf_prefetch_part2(frames[i + ahead / 2]);
		}
		frame_one(f, frames[i], now_ns, out);
	}
	return i;
}
