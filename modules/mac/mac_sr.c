/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduling request, TS 38.321 §5.4.4: one configuration, for every logical channel. */
#include "modules/mac/mac_tx.h"

/*
 * "if SR_COUNTER < sr-TransMax: … instruct the physical layer to signal the SR on one valid PUCCH
 * resource for SR; … else: notify RRC to release PUCCH …; initiate a Random Access procedure … and
 * cancel all pending SRs."
 */
bool
mac_sr_due(struct mac_tx *tx, uint64_t now_ns)
{
	struct mac_tx_sr *sr = &tx->sr;

	/* §5.4.5: "if there is no UL-SCH resource available for a new transmission" */
	if (sr->granted)
		return false;
	if (sr->released && now_ns >= sr->access_ns)
		sr->released = false;
	if (!sr->pending) {
		if (!mac_bsr_regular(tx, now_ns) || sr->released)
			return false;
		sr->pending = true;
		sr->SR_COUNTER = 0;
	}
	if (now_ns < sr->prohibit_ns)
		return false;
	if (sr->SR_COUNTER < sr->cfg.trans_max)
		return true;
	sr->pending = false;
	sr->released = true;
	sr->access_ns = now_ns + MAC_RANDOM_ACCESS_MS * AP_NS_PER_MS;
	tx->sr_failures++;
	return false;
}

/* "increment SR_COUNTER by 1; start the sr-ProhibitTimer" */
void
mac_sr_sent(struct mac_tx *tx, uint64_t now_ns)
{
	tx->sr.SR_COUNTER++;
	tx->sr.prohibit_ns = now_ns + tx->sr.cfg.prohibit_ms * AP_NS_PER_MS;
	tx->srs++;
}

/*
 * "All pending SR(s) for BSR … shall be cancelled and each respective sr-ProhibitTimer shall be
 * stopped when the MAC PDU is transmitted and this PDU includes a Long … or Short BSR MAC CE which
 * contains buffer status up to (and including) the last event that triggered a BSR …" and "… when
 * the UL grant(s) can accommodate all pending data available for transmission."
 */
void
mac_sr_settle(struct mac_tx *tx, bool bsr, bool waiting)
{
	tx->sr.released = false;
	if (!waiting) {
		tx->bsr_triggered = false;
		tx->bsr_regular = false;
	}
	if (waiting && !bsr)
		return;
	tx->sr.pending = false;
	tx->sr.prohibit_ns = 0;
}
