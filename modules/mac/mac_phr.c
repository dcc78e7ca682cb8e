/* SPDX-License-Identifier: BSD-3-Clause */
/* Power headroom reporting, TS 38.321 §5.4.6, single entry. */
#include "modules/mac/mac_tx.h"

#define CE_BYTES 3 /* subheader and payload */

/*
 * "if the MAC entity has UL resources allocated for new transmission …: if the allocated UL
 * resources can accommodate the MAC CE for PHR …: instruct … to generate and transmit the Single
 * Entry PHR MAC CE; start or restart phr-PeriodicTimer; start or restart phr-ProhibitTimer; cancel
 * all triggered PHR(s)."
 */
void
mac_phr_plan(struct mac_tx *tx, uint32_t room, uint64_t now_ns)
{
	uint8_t p[MAC_PHR_BYTES];

	mac_phr_encode(p, &tx->phr.value);
	if (room < CE_BYTES || mac_tx_queue_ce(tx, MAC_UL_SINGLE_ENTRY_PHR, p, sizeof(p)) < 0)
		return;
	tx->phrs++;
	tx->phr_prohibit_ns = now_ns + tx->phr.prohibit_ms * AP_NS_PER_MS;
	tx->phr_ns = tx->phr.periodic_ms ? now_ns + tx->phr.periodic_ms * AP_NS_PER_MS : UINT64_MAX;
}

/* "phr-ProhibitTimer expires or has expired and the path loss has changed more than …" */
void
mac_phr_set(struct mac_tx *tx, const struct mac_phr *value, uint64_t now_ns)
{
	tx->phr.value = *value;
	if (tx->phr.on)
		tx->phr_ns = RTE_MIN(tx->phr_ns, RTE_MAX(now_ns, tx->phr_prohibit_ns));
}
