/* SPDX-License-Identifier: BSD-3-Clause */
/* What a received PDU is: its header, RCVD_COUNT (§5.2.2.1), and Control PDUs (§6.2.3). */
#include "modules/pdcp/pdcp_rx_internal.h"

#include "codec/err.h"
#include "modules/pdcp/pdcp_tx.h"

/** @return RCVD_COUNT of §5.2.2.1; below 0 or ≥ PDCP_COUNT_END when there is no such COUNT. */
static int64_t
determine_count(const struct pdcp_rx *e, uint32_t RCVD_SN)
{
	const unsigned bits = pdcp_sn_bits(e->format);
	const int64_t Window_Size = pdcp_rx_window(e->format);
	const int64_t SN_RX_DELIV = (int64_t)(e->RX_DELIV & ((1ULL << bits) - 1));
	int64_t RCVD_HFN = (int64_t)(e->RX_DELIV >> bits);

	if ((int64_t)RCVD_SN < SN_RX_DELIV - Window_Size)
		RCVD_HFN++;
	else if ((int64_t)RCVD_SN >= SN_RX_DELIV + Window_Size)
		RCVD_HFN--;
	return RCVD_HFN * (1LL << bits) + RCVD_SN;
}

/** Rare, and with a stack of its own. */
static __rte_noinline void
control_pdu(struct pdcp_rx *e, struct rte_mbuf *m, enum pdcp_control_type type,
	    const struct pdcp_rx_sink *sink)
{
	uint8_t buf[PDCP_CONTROL_MAX];
	struct pdcp_status s;
	int ret = -CODEC_UNSUPPORTED;

	if (type != PDCP_STATUS_REPORT) {
		pdcp_rx_lose(sink, PDCP_RX_CONTROL_UNSUPPORTED, m);
		return;
	}
	if (m->pkt_len <= sizeof(buf))
		ret = pdcp_status_decode(rte_pktmbuf_read(m, 0, m->pkt_len, buf), m->pkt_len, &s);
	if (ret < 0) {
		pdcp_rx_lose(sink, ret == -CODEC_SHORT ? PDCP_RX_SHORT : PDCP_RX_RESERVED, m);
		return;
	}
	e->status_reports++;
	if (sink->report == NULL) {
		rte_pktmbuf_free(m);
	} else if (!sink->report(sink->arg, m)) {
		pdcp_rx_lose(sink, PDCP_RX_STATUS_FULL, m);
		return;
	}
	++*sink->used;
}

/** @return false when there is no such COUNT; `m` is gone then. */
static inline bool
count_of(const struct pdcp_rx *e, struct rte_mbuf *m, uint32_t sn, uint32_t *count,
	 const struct pdcp_rx_sink *sink)
{
	int64_t c = determine_count(e, sn);

	if (unlikely(c < 0 || (uint64_t)c >= PDCP_COUNT_END)) {
		pdcp_rx_lose(sink, PDCP_RX_OUT_OF_WINDOW, m);
		return false;
	}
	*count = (uint32_t)c;
	return true;
}

/** Anything but a Data PDU whose header lies in the first segment with some data. */
static __rte_noinline bool
pre_process_any(struct pdcp_rx *e, struct rte_mbuf *m, uint32_t *count,
		const struct pdcp_rx_sink *sink)
{
	uint8_t buf[PDCP_HDR_MAX];
	uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)PDCP_HDR_MAX);
	struct pdcp_hdr h;
	int ret = pdcp_decode(e->format, rte_pktmbuf_read(m, 0, len, buf), m->pkt_len, &h);

	if (ret < 0) {
		pdcp_rx_lose(sink, ret == -CODEC_RESERVED ? PDCP_RX_RESERVED : PDCP_RX_SHORT, m);
		return false;
	}
	if (h.control) {
		control_pdu(e, m, h.type, sink);
		return false;
	}
	if (m->pkt_len <= (uint32_t)ret + e->sec.mac_i_len) {
		pdcp_rx_lose(sink, PDCP_RX_SHORT, m);
		return false;
	}
	return count_of(e, m, h.sn, count, sink);
}

bool
pdcp_rx_pre_process(struct pdcp_rx *e, struct rte_mbuf *m, uint32_t *count,
		    const struct pdcp_rx_sink *sink)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (unlikely(m->data_len <= pdcp_hdr_len(e->format) + e->sec.mac_i_len ||
		     !pdcp_is_data(e->format, p)))
		return pre_process_any(e, m, count, sink);
	return count_of(e, m, pdcp_hdr_sn(e->format, p), count, sink);
}
