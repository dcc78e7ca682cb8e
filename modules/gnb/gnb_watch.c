/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/gnb/gnb_watch.h"
#include "modules/pdcp/pdcp_rx.h"
#include "modules/pdcp/pdcp_tx.h"
#include "modules/rlc/rlc_tx.h"

enum gnb_watch_told {
	TOLD_DL = 1 << 0, /**< COUNT of the sender needs new keys */
	TOLD_DL_END = 1 << 1,
	TOLD_UL = 1 << 2, /**< ... of the receiver */
	TOLD_UL_END = 1 << 3,
	TOLD_FAILURE = 1 << 4,
};

/** @return whether it is so, and was not told since it became so. */
static bool
news(struct gnb_watch *w, bool so, uint8_t bit)
{
	const bool told = w->told & bit;

	if (so)
		w->told |= bit;
	else
		w->told &= (uint8_t)~bit;
	return so && !told;
}

/** TS 33.501 §6.4.3.1: keys change before COUNT begins again. */
static unsigned
count_look(struct gnb_watch *w, uint64_t next, bool wants_keys, bool uplink, struct gnb_report *r)
{
	const bool ended = next == PDCP_COUNT_END;
	const bool at_end = news(w, ended, uplink ? TOLD_UL_END : TOLD_DL_END);
	const bool near = news(w, wants_keys, uplink ? TOLD_UL : TOLD_DL);

	if (!near && !at_end)
		return 0;
	*r = (struct gnb_report){
		.kind = at_end ? GNB_REPORT_COUNT_LIMIT : GNB_REPORT_COUNT_NOTIFY,
		.count = ended ? UINT32_MAX : (uint32_t)next,
		.uplink = uplink,
	};
	return 1;
}

/** TS 38.322 §5.3.2 */
static unsigned
failure_look(struct gnb_watch *w, const struct rlc_am_tx *am, struct gnb_report *r)
{
	const uint64_t n = am->counters.max_retx;
	const bool again = n != w->max_retx || w->told & TOLD_FAILURE;

	w->max_retx = n;
	if (!news(w, am->max_retx && again, TOLD_FAILURE))
		return 0;
	*r = (struct gnb_report){.kind = GNB_REPORT_RADIO_LINK_FAILURE};
	return 1;
}

void
gnb_watch_begin(struct gnb_watch *w, const struct l2 *l2, uint32_t bearer)
{
	const struct rlc_am_tx *am = l2->rlc_tx[bearer].am;

	*w = (struct gnb_watch){.max_retx = am ? am->counters.max_retx : 0};
}

unsigned
gnb_watch_look(struct gnb_watch *w, const struct l2 *l2, uint32_t bearer,
	       struct gnb_report reports[static GNB_RADIO_REPORTS_MAX])
{
	const struct pdcp_tx *tx = &l2->pdcp_tx[bearer];
	const struct pdcp_rx *rx = &l2->pdcp_rx[bearer];
	const struct rlc_am_tx *am = l2->rlc_tx[bearer].am;
	unsigned n;

	n = count_look(w, tx->TX_NEXT, pdcp_tx_wants_keys(tx), false, reports);
	n += count_look(w, rx->RX_NEXT, pdcp_rx_wants_keys(rx), true, reports + n);
	if (am)
		n += failure_look(w, am, reports + n);
	return n;
}
