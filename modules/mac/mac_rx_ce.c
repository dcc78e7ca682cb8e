/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_rx.h"

/** What the reported logical channel groups have at most. */
static uint64_t
bsr_bytes(const struct mac_bsr *b)
{
	const bool is_short = b->lcid == MAC_UL_SHORT_BSR || b->lcid == MAC_UL_SHORT_TRUNCATED_BSR;
	uint64_t sum = 0;

	for (unsigned i = 0; i < b->nb; i++)
		sum += is_short ? mac_bsr_bytes5(b->size[i]) : mac_bsr_bytes8(b->size[i]);
	return sum;
}

static bool
uplink_ce(struct mac_rx *rx, uint32_t index, const uint8_t *p, uint32_t bytes)
{
	struct mac_bsr bsr;

	switch (index) {
	case MAC_UL_SHORT_BSR:
	case MAC_UL_SHORT_TRUNCATED_BSR:
	case MAC_UL_LONG_BSR:
	case MAC_UL_LONG_TRUNCATED_BSR:
		if (mac_bsr_decode(p, bytes, (uint8_t)index, &bsr) < 0)
			return false;
		rx->bsr = bsr;
		if (rx->ul)
			mac_ul_report(rx->ul, bsr_bytes(&bsr), rx->carrier, rx->sfn, rx->slot);
		return true;
	case MAC_UL_SINGLE_ENTRY_PHR:
		mac_phr_decode(p, &rx->phr);
		return true;
	case MAC_UL_C_RNTI:
		rx->c_rnti_seen = mac_c_rnti_decode(p);
		return true;
	}
	return true;
}

bool
mac_rx_ce(struct mac_rx *rx, uint32_t index, const uint8_t *p, uint32_t bytes)
{
	rx->ces[index < MAC_ELCID1_BASE ? index : MAC_LCID_ELCID1]++;
	if (rx->sch == MAC_UL_SCH)
		return uplink_ce(rx, index, p, bytes);
	if (index == MAC_DL_TA_COMMAND)
		mac_ta_decode(p, &rx->ta);
	return true;
}
