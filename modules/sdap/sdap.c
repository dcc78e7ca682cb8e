/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/sdap/sdap.h"

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "codec/err.h"
#include "core/pkt.h"

#define AHEAD 8 /* packets that are fetched before they are touched */

static bool
has_drb(const struct sdap_cfg *cfg, uint32_t bearer)
{
	return bearer < cfg->nb_bearers && cfg->drbs[bearer].present;
}

static int
check(const struct sdap_cfg *cfg)
{
	if (cfg->hdr == NULL || cfg->nb_bearers == 0 || cfg->default_qfi > SDAP_QFI_MAX)
		return -EINVAL;
	if (cfg->defaultDRB != L2_NO_BEARER && !has_drb(cfg, cfg->defaultDRB))
		return -EINVAL;
	for (uint32_t i = 0; i < cfg->nb_rules; i++)
		if (cfg->rules[i].dscp > SDAP_DSCP_MAX || cfg->rules[i].qfi > SDAP_QFI_MAX)
			return -EINVAL;
	for (uint32_t i = 0; i < cfg->nb_mappings; i++)
		if (cfg->mappings[i].qfi > SDAP_QFI_MAX || !has_drb(cfg, cfg->mappings[i].bearer))
			return -EINVAL;
	return 0;
}

static bool
header_of(const struct sdap_drb *drb, enum l2_direction direction)
{
	return drb->present && (direction == L2_UPLINK ? drb->sdap_HeaderUL : drb->sdap_HeaderDL);
}

int
sdap_init(struct sdap *s, const struct sdap_cfg *cfg)
{
	if (check(cfg) < 0)
		return -EINVAL;
	*s = (struct sdap){
		.hdr = cfg->hdr,
		.first_bearer = cfg->first_bearer,
		.nb_bearers = cfg->nb_bearers,
		.default_qfi = cfg->default_qfi,
		.classify = cfg->nb_rules > 0,
		.tx_octet = cfg->tx_direction == L2_UPLINK ? sdap_ul_octet(0)
							   : sdap_dl_octet(false, false, 0),
		.rx_uplink = cfg->rx_direction == L2_UPLINK,
		.defaultDRB = cfg->defaultDRB,
	};
	s->tx_header = rte_zmalloc("sdap", 3 * sizeof(bool) * cfg->nb_bearers, 0);
	if (s->tx_header == NULL)
		return -ENOMEM;
	s->rx_header = s->tx_header + cfg->nb_bearers;
	s->present = s->rx_header + cfg->nb_bearers;
	for (uint32_t i = 0; i < cfg->nb_bearers; i++) {
		s->present[i] = cfg->drbs[i].present;
		s->tx_header[i] = header_of(&cfg->drbs[i], cfg->tx_direction);
		s->rx_header[i] = header_of(&cfg->drbs[i], cfg->rx_direction);
		s->reflective |= s->rx_header[i] && !s->rx_uplink && cfg->tx_direction == L2_UPLINK;
	}
	for (unsigned i = 0; i <= SDAP_DSCP_MAX; i++)
		s->qfi_of_dscp[i] = cfg->default_qfi;
	for (uint32_t i = 0; i < cfg->nb_rules; i++)
		s->qfi_of_dscp[cfg->rules[i].dscp] = cfg->rules[i].qfi;
	for (unsigned i = 0; i <= SDAP_QFI_MAX; i++)
		s->bearer_of_qfi[i] = cfg->defaultDRB;
	memset(s->rule, 0xff, sizeof(s->rule)); /* L2_NO_BEARER */
	for (uint32_t i = 0; i < cfg->nb_mappings; i++) {
		const struct sdap_mapping *map = &cfg->mappings[i];

		s->bearer_of_qfi[map->qfi] = map->bearer;
		s->rule[map->qfi] = map->bearer;
		s->stored |= 1ULL << map->qfi;
	}
	return 0;
}

void
sdap_fini(struct sdap *s)
{
	rte_free(s->tx_header);
	*s = (struct sdap){0};
}

/** QoS rules on the first octets of an IP packet; anything else is of the default QoS flow. */
static uint8_t
classify(const struct sdap *s, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->data_len < 2)
		return s->default_qfi;
	switch (p[0] >> 4) {
	case 4:
		return s->qfi_of_dscp[p[1] >> 2];
	case 6:
		return s->qfi_of_dscp[(p[0] & 0x0f) << 2 | p[1] >> 6];
	default:
		return s->default_qfi;
	}
}

/** TS 37.324 §5.2.1 for packets of one QoS flow. */
static uint16_t
tx_flow(struct sdap *s, uint8_t qfi, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	const uint32_t bearer = s->bearer_of_qfi[qfi];
	const uint32_t index = s->first_bearer + bearer;
	const uint8_t octet = s->tx_octet | qfi;
	uint16_t kept = 0;

	/* Neither a stored QoS flow to DRB mapping rule nor a default DRB. */
	if (bearer == L2_NO_BEARER) {
		drops[SDAP_TX_NO_DRB] += nb;
		rte_pktmbuf_free_bulk(pkts, nb);
		return 0;
	}
	if (!s->tx_header[bearer]) {
		for (uint16_t i = 0; i < nb; i++) {
			if (i + AHEAD < nb)
				rte_prefetch0_write(pkts[i + AHEAD]);
			ap_meta(pkts[i])->bearer = index;
			ap_meta(pkts[i])->qfi = qfi;
		}
		return nb;
	}
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		uint8_t *p;

		if (i + 2 * AHEAD < nb)
			rte_prefetch0_write(pkts[i + 2 * AHEAD]);
		if (i + AHEAD < nb)
			rte_prefetch0_write(
				rte_pktmbuf_mtod_offset(pkts[i + AHEAD], void *, -SDAP_HDR_LEN));
		ap_meta(m)->bearer = index;
		ap_meta(m)->qfi = qfi;
		p = ap_pkt_prepend(&m, SDAP_HDR_LEN, s->hdr);
		if (unlikely(p == NULL)) {
			drops[SDAP_TX_NO_MBUF]++;
			rte_pktmbuf_free(m);
			continue;
		}
		*p = octet;
		pkts[kept++] = m;
	}
	return kept;
}

/** As sdap_tx_process(), by rules: runs of one QoS flow at a time. */
static uint16_t
tx_classified(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb;) {
		uint8_t qfi = classify(s, pkts[i]);
		uint16_t run = 1, sent;

		while (i + run < nb && classify(s, pkts[i + run]) == qfi)
			run++;
		sent = tx_flow(s, qfi, pkts + i, run, drops);
		for (uint16_t k = 0; k < sent; k++)
			pkts[kept++] = pkts[i + k];
		i += run;
	}
	return kept;
}

uint16_t
sdap_tx_process(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	if (!s->classify)
		return tx_flow(s, s->default_qfi, pkts, nb, drops);
	for (uint16_t i = 0; i < nb; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	return tx_classified(s, pkts, nb, drops);
}

uint16_t
sdap_tx_mapped(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		const uint8_t flow = ap_meta(m)->qfi;
		uint8_t *p;

		if (i + AHEAD < nb)
			rte_prefetch0_write(
				rte_pktmbuf_mtod_offset(pkts[i + AHEAD], void *, -SDAP_HDR_LEN));
		ap_meta(m)->qfi = flow & SDAP_QFI_MAX;
		if (s->tx_header[ap_meta(m)->bearer - s->first_bearer]) {
			p = ap_pkt_prepend(&m, SDAP_HDR_LEN, s->hdr);
			if (unlikely(p == NULL)) {
				drops[SDAP_TX_NO_MBUF]++;
				rte_pktmbuf_free(m);
				continue;
			}
			*p = s->tx_octet | flow;
		}
		pkts[kept++] = m;
	}
	return kept;
}

/** §6.2.3, mapped to `bearer`. */
static struct rte_mbuf *
end_marker(const struct sdap *s, uint8_t qfi, uint32_t bearer)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->hdr);

	if (m == NULL)
		return NULL;
	*(uint8_t *)rte_pktmbuf_append(m, SDAP_HDR_LEN) = sdap_end_marker_octet(qfi);
	*ap_meta(m) = (struct ap_meta){.bearer = s->first_bearer + bearer, .qfi = qfi};
	return m;
}

/**
 * The DRB that a flow leaves and whose receiver can tell, §5.3.2: the default DRB "if there is no
 * stored QoS flow to DRB mapping rule for the QoS flow and a default DRB is configured"; else the
 * DRB of the stored rule, if it is a different one, "configured by RRC with the presence of UL SDAP
 * header".
 */
static uint32_t
left_behind(const struct sdap *s, uint8_t qfi, uint32_t bearer)
{
	const bool stored = s->stored >> qfi & 1;
	const uint32_t old = stored ? s->bearer_of_qfi[qfi] : s->defaultDRB;

	if (old == L2_NO_BEARER || !s->tx_header[old] || (stored && old == bearer))
		return L2_NO_BEARER;
	return old;
}

uint16_t
sdap_tx_remap(struct sdap *s, struct rte_mbuf **markers)
{
	uint64_t changed = atomic_exchange_explicit(&s->box.changed, 0, memory_order_acquire);
	uint16_t nb = 0;

	for (; changed != 0; changed &= changed - 1) {
		uint8_t qfi = (uint8_t)__builtin_ctzll(changed);
		uint32_t bearer = atomic_load_explicit(&s->box.bearer[qfi], memory_order_relaxed);
		uint32_t old = left_behind(s, qfi, bearer);

		if (old != L2_NO_BEARER) {
			markers[nb] = end_marker(s, qfi, old);
			if (markers[nb] == NULL) {
				atomic_fetch_or_explicit(&s->box.changed, changed,
							 memory_order_relaxed);
				break;
			}
			nb++;
			s->end_markers_sent++;
		}
		s->bearer_of_qfi[qfi] = bearer;
		s->stored |= 1ULL << qfi;
		s->reflected |= 1ULL << qfi;
	}
	return nb;
}

/** §5.3.2 for a PDU with RDI, §5.4 for one with RQI, that came on `bearer`. */
static void
reflect(struct sdap *s, const struct sdap_dl_hdr *dl, uint32_t bearer)
{
	s->rdi[dl->qfi] += dl->rdi;
	s->rqi[dl->qfi] += dl->rqi;
	if (!dl->rdi || s->rule[dl->qfi] == bearer)
		return;
	s->rule[dl->qfi] = bearer;
	atomic_store_explicit(&s->box.bearer[dl->qfi], bearer, memory_order_relaxed);
	atomic_fetch_or_explicit(&s->box.changed, 1ULL << dl->qfi, memory_order_release);
}

/** §5.2.2 and §5.3.2 header of one PDU. @return 0 for an SDU, 1 for a control PDU, -codec_err. */
static inline int
rx_header(struct sdap *s, struct rte_mbuf *m, uint32_t bearer)
{
	uint8_t buf;
	const uint8_t *p = rte_pktmbuf_read(m, 0, SDAP_HDR_LEN, &buf); /* NULL when empty */
	struct sdap_ul_hdr ul;
	struct sdap_dl_hdr dl;
	int ret;

	if (s->rx_uplink) {
		ret = sdap_ul_decode(p, m->pkt_len, &ul);
		if (ret < 0)
			return ret;
		ap_meta(m)->qfi = ul.qfi;
		return ul.control;
	}
	ret = sdap_dl_decode(p, m->pkt_len, &dl);
	if (ret < 0)
		return ret;
	ap_meta(m)->qfi = dl.qfi;
	if (unlikely(dl.rdi | dl.rqi))
		reflect(s, &dl, bearer);
	return 0;
}

static uint16_t
rx_with_header(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops, uint64_t *used)
{
	const uint32_t bearer = ap_meta(pkts[0])->bearer - s->first_bearer;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		int ret;

		if (i + AHEAD < nb)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + AHEAD], void *));
		ret = rx_header(s, m, bearer);
		if (likely(ret == 0)) {
			pkts[kept++] = ap_pkt_strip(m, SDAP_HDR_LEN);
			continue;
		}
		if (ret > 0) {
			s->end_markers++;
			++*used;
		} else {
			drops[ret == -CODEC_SHORT ? SDAP_RX_SHORT : SDAP_RX_MALFORMED]++;
		}
		rte_pktmbuf_free(m);
	}
	return kept;
}

uint16_t
sdap_rx_process(struct sdap *s, struct rte_mbuf **pkts, uint16_t nb, uint64_t *drops,
		uint64_t *used)
{
	uint16_t kept = 0;

	for (uint16_t i = 0, run; i < nb; i += run) {
		run = ap_run_of_bearer(pkts + i, nb - i);
		uint32_t bearer = ap_meta(pkts[i])->bearer - s->first_bearer;
		uint16_t got = run;

		if (unlikely(bearer >= s->nb_bearers || !s->present[bearer])) {
			drops[SDAP_RX_NO_DRB] += run;
			rte_pktmbuf_free_bulk(pkts + i, run);
			continue;
		}
		if (s->rx_header[bearer])
			got = rx_with_header(s, pkts + i, run, drops, used);
		for (uint16_t k = 0; kept != i && k < got; k++)
			pkts[kept + k] = pkts[i + k];
		kept += got;
	}
	return kept;
}
