/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_prefetch.h>

#include "modules/rlc/rlc_rx.h"

#define PREFETCH 4
#define T_REASSEMBLY_MS_MAX 10000

int
rlc_rx_init(struct rlc_rx *e, const struct rlc_rx_cfg *cfg)
{
	if (cfg->t_Reassembly_ms > T_REASSEMBLY_MS_MAX)
		return -EINVAL;
	*e = (struct rlc_rx){
		.mode = cfg->mode,
		.bits = cfg->sn_FieldLength,
		.bearer = cfg->bearer,
		.t_Reassembly_ns = cfg->t_Reassembly_ms * AP_NS_PER_MS,
	};
	switch (cfg->mode) {
	case RLC_TM:
		return 0;
	case RLC_UM:
		return rlc_um_rx_init(e, cfg->segments_max);
	case RLC_AM:
		return rlc_am_rx_init(e, cfg->segments_max, cfg->am);
	case RLC_NONE:
		break;
	}
	return -EINVAL;
}

void
rlc_rx_fini(struct rlc_rx *e)
{
	if (e->mode == RLC_UM)
		rlc_um_rx_fini(e);
	else if (e->mode == RLC_AM)
		rlc_am_rx_fini(e);
	e->mode = RLC_NONE;
}

/* TS 38.322 §5.2.1.2: "deliver the TMD PDU without any modification". */
static unsigned
tm_receive(struct rte_mbuf **pdus, unsigned n, struct rte_mbuf **sdus, struct rlc_rx_counts *c)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		if (unlikely(pdus[i]->pkt_len == 0)) {
			c->drops[RLC_RX_SDU_EMPTY]++;
			rte_pktmbuf_free(pdus[i]);
		} else {
			sdus[k++] = pdus[i];
		}
	}
	return k;
}

/*
 * TS 38.322 §5.2.2.2.2: "if the UMD PDU header does not contain an SN: remove the RLC
 * header and deliver the RLC SDU to upper layer".
 */
static unsigned
um_receive(struct rlc_rx *e, struct rte_mbuf **pdus, unsigned n, struct rte_mbuf **sdus,
	   struct rlc_rx_counts *c, uint64_t now_ns)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = pdus[i];

		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(pdus[i + PREFETCH], void *));
		if (likely(m->data_len > RLC_UMD_COMPLETE_LEN &&
			   rlc_umd_is_complete(*rte_pktmbuf_mtod(m, uint8_t *)))) {
			m->data_off += RLC_UMD_COMPLETE_LEN;
			m->data_len -= RLC_UMD_COMPLETE_LEN;
			m->pkt_len -= RLC_UMD_COMPLETE_LEN;
		} else {
			m = rlc_um_rx_segment(e, m, c, now_ns);
			if (m == NULL)
				continue;
		}
		sdus[k++] = m;
	}
	return k;
}

unsigned
rlc_rx_receive(struct rlc_rx *e, struct rte_mbuf **pdus, unsigned n, struct rte_mbuf **sdus,
	       struct rlc_rx_counts *c, uint64_t now_ns)
{
	switch (e->mode) {
	case RLC_TM:
		return tm_receive(pdus, n, sdus, c);
	case RLC_UM:
		return um_receive(e, pdus, n, sdus, c, now_ns);
	case RLC_AM:
		return rlc_am_rx_receive(e, pdus, n, sdus, c, now_ns);
	case RLC_NONE:
		break;
	}
	c->drops[RLC_RX_NO_BEARER] += n;
	rte_pktmbuf_free_bulk(pdus, n);
	return 0;
}

void
rlc_rx_expire(struct rlc_rx *e, struct rlc_rx_counts *c, uint64_t now_ns)
{
	if (e->deadline_ns == 0 || e->deadline_ns > now_ns)
		return;
	if (e->mode == RLC_AM)
		rlc_am_rx_expire(e, now_ns);
	else
		rlc_um_rx_expire(e, c, now_ns);
}
