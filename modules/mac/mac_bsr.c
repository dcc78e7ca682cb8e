/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer status reporting, TS 38.321 §5.4.5. */
#include "modules/mac/mac_tx.h"

#define SHORT_BYTES 2 /* subheader and payload */
#define LONG_BYTES(lcgs) (3 + (uint32_t)__builtin_popcount(lcgs))
#define SUBHEADER_MOST 3

static uint64_t
waiting(const struct mac_tx_lc *lc)
{
	return rlc_tx_bytes_waiting(lc->cfg.rlc);
}

static uint8_t
lcgs_with_data(const struct mac_tx *tx)
{
	uint8_t lcgs = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++)
		if (waiting(&tx->lcs[j]))
			lcgs |= (uint8_t)(1 << tx->lcs[j].cfg.lcg);
	return lcgs;
}

/* "the total amount of data available … across all logical channels of a logical channel group" */
static uint64_t
lcg_volume(const struct mac_tx *tx, uint8_t lcg)
{
	uint64_t bytes = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++)
		if (tx->lcs[j].cfg.lcg == lcg)
			bytes += waiting(&tx->lcs[j]);
	return bytes;
}

/*
 * "UL data, for a logical channel which belongs to an LCG, becomes available to the MAC entity;
 * and either this UL data belongs to a logical channel with higher priority than the priority of
 * any logical channel containing available UL data which belong to any LCG; or none of the
 * logical channels which belong to an LCG contains any available UL data": regular BSR.
 */
static bool
regular_trigger(const struct mac_tx *tx)
{
	uint8_t best = UINT8_MAX, had_lcgs = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		const struct mac_tx_lc *lc = &tx->lcs[j];

		if (!lc->had_data)
			continue;
		best = RTE_MIN(best, lc->cfg.priority);
		had_lcgs |= (uint8_t)(1 << lc->cfg.lcg);
	}
	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		const struct mac_tx_lc *lc = &tx->lcs[j];

		if (lc->had_data || waiting(lc) == 0)
			continue;
		if (lc->cfg.priority < best || !(had_lcgs & 1 << lc->cfg.lcg))
			return true;
	}
	return false;
}

/*
 * "All triggered BSRs may be cancelled when the UL grant(s) can accommodate all pending data
 * available for transmission but is not sufficient to additionally accommodate the BSR".
 */
static bool
data_fits_without(const struct mac_tx *tx, uint32_t tb_bytes, uint32_t bsr_bytes)
{
	uint64_t most = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		const struct mac_tx_lc *lc = &tx->lcs[j];

		if (waiting(lc) == 0)
			continue;
		if (!lc->selected)
			return false;
		most += waiting(lc) + SUBHEADER_MOST * rlc_tx_unsent(lc->cfg.rlc);
	}
	return most <= tb_bytes && most + bsr_bytes > tb_bytes;
}

/* Regular BSRs, and what they are regular to. */
static void
look(struct mac_tx *tx, uint8_t lcgs, uint64_t now_ns)
{
	/* "retxBSR-Timer expires, and at least one of the logical channels … contains UL data" */
	if (regular_trigger(tx) || (tx->retx_ns <= now_ns && lcgs)) {
		tx->bsr_triggered = true;
		tx->bsr_regular = true;
	}
	for (uint32_t j = 0; j < tx->nb_lcs; j++)
		tx->lcs[j].had_data = waiting(&tx->lcs[j]) > 0;
}

bool
mac_bsr_regular(struct mac_tx *tx, uint64_t now_ns)
{
	look(tx, lcgs_with_data(tx), now_ns);
	return tx->bsr_regular;
}

/* Regular and periodic: "if more than one LCG has data …: report Long BSR; else Short BSR". */
uint32_t
mac_bsr_plan(struct mac_tx *tx, uint32_t bytes, uint64_t now_ns)
{
	uint8_t lcgs = lcgs_with_data(tx);
	bool several = lcgs & (lcgs - 1);
	uint32_t need = several ? LONG_BYTES(lcgs) : SHORT_BYTES;

	tx->tb.bsr_lcid = 0;
	look(tx, lcgs, now_ns);
	if (tx->periodic_ns <= now_ns && lcgs)
		tx->bsr_triggered = true;
	/* "restart retxBSR-Timer upon reception of a grant for transmission of new data" */
	if (tx->retx_ns != UINT64_MAX)
		tx->retx_ns = now_ns + tx->retxBSR_ms * AP_NS_PER_MS;
	if (!tx->bsr_triggered || need > bytes)
		return 0;
	tx->bsr_triggered = false;
	tx->bsr_regular = false;
	if (lcgs == 0 || data_fits_without(tx, bytes, need))
		return 0;
	tx->tb.bsr_lcid = several ? MAC_UL_LONG_BSR : MAC_UL_SHORT_BSR;
	tx->tb.bsr_lcgs = lcgs;
	return need;
}

/* The LCGs of `lcgs` in "decreasing order of the highest priority logical channel … in each". */
static uint8_t
by_priority(const struct mac_tx *tx, uint8_t lcgs, uint8_t order[MAC_LCGS])
{
	uint8_t nb = 0;

	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		uint8_t lcg = tx->lcs[j].cfg.lcg;

		if (!(lcgs & 1 << lcg) || waiting(&tx->lcs[j]) == 0)
			continue;
		order[nb++] = lcg;
		lcgs &= (uint8_t) ~(1 << lcg);
	}
	return nb;
}

static uint32_t
write_bsr(struct mac_tx *tx, struct mac_bsr *b, uint8_t *p, uint32_t room, uint64_t now_ns)
{
	bool is_short = b->lcid == MAC_UL_SHORT_BSR || b->lcid == MAC_UL_SHORT_TRUNCATED_BSR;
	bool truncated =
		b->lcid == MAC_UL_SHORT_TRUNCATED_BSR || b->lcid == MAC_UL_LONG_TRUNCATED_BSR;
	uint8_t payload[MAC_BSR_BYTES_MAX];
	int len;

	for (uint8_t i = 0; i < b->nb; i++) {
		uint64_t bytes = lcg_volume(tx, b->lcg[i]);

		b->size[i] = is_short ? mac_bsr_index5(bytes) : mac_bsr_index8(bytes);
	}
	len = mac_bsr_encode(payload, sizeof(payload), b);
	if (len >= 0)
		len = mac_ce_put(p, room, MAC_UL_SCH, b->lcid, payload, (size_t)len);
	if (len < 0)
		return 0;
	/* "start or restart periodicBSR-Timer, except when all the generated BSRs are … Truncated"
	 */
	if (!truncated && tx->periodicBSR_ms)
		tx->periodic_ns = now_ns + tx->periodicBSR_ms * AP_NS_PER_MS;
	/* "start or restart retxBSR-Timer" */
	if (tx->retxBSR_ms)
		tx->retx_ns = now_ns + tx->retxBSR_ms * AP_NS_PER_MS;
	return (uint32_t)len;
}

uint32_t
mac_bsr_write(struct mac_tx *tx, uint8_t *p, uint32_t room, uint64_t now_ns)
{
	struct mac_bsr b = {.lcid = tx->tb.bsr_lcid, .lcgs = tx->tb.bsr_lcgs};

	if (b.lcid == 0)
		return 0;
	for (uint8_t lcg = 0; lcg < MAC_LCGS; lcg++)
		if (b.lcgs & 1 << lcg)
			b.lcg[b.nb++] = lcg;
	tx->bsrs++;
	return write_bsr(tx, &b, p, room, now_ns);
}

/*
 * Padding BSR: "if the number of padding bits is equal to or larger than the size of the Short
 * BSR plus its subheader but smaller than the size of the Long BSR plus its subheader: if more
 * than one LCG has data …: if the number of padding bits is equal to the size of the Short BSR
 * plus its subheader: Short Truncated BSR …; else: Long Truncated BSR …; else: Short BSR; else …
 * Long BSR for all LCGs which have data available".
 */
uint32_t
mac_bsr_pad(struct mac_tx *tx, uint8_t *p, uint32_t room, uint64_t now_ns)
{
	struct mac_bsr b = {.lcgs = lcgs_with_data(tx)};
	bool several = b.lcgs & (b.lcgs - 1);
	uint8_t order[MAC_LCGS] = {tx->lcs[0].cfg.lcg};
	uint8_t nb = by_priority(tx, b.lcgs, order);

	if (room < SHORT_BYTES)
		return 0;
	if (room >= LONG_BYTES(b.lcgs)) {
		b.lcid = MAC_UL_LONG_BSR;
		for (uint8_t lcg = 0; lcg < MAC_LCGS; lcg++)
			if (b.lcgs & 1 << lcg)
				b.lcg[b.nb++] = lcg;
	} else if (several && room > SHORT_BYTES) {
		b.lcid = MAC_UL_LONG_TRUNCATED_BSR;
		b.nb = (uint8_t)RTE_MIN(room - LONG_BYTES(0), (uint32_t)nb);
		for (uint8_t i = 0; i < b.nb; i++)
			b.lcg[i] = order[i];
	} else {
		b.lcid = several ? MAC_UL_SHORT_TRUNCATED_BSR : MAC_UL_SHORT_BSR;
		b.nb = 1;
		b.lcg[0] = order[0];
	}
	tx->padding_bsrs++;
	return write_bsr(tx, &b, p, room, now_ns);
}

/* Only clears: what arrived while the TB was being filled is new at the next one. */
bool
mac_bsr_settle(struct mac_tx *tx)
{
	bool any = false;

	for (uint32_t j = 0; j < tx->nb_lcs; j++) {
		bool data = waiting(&tx->lcs[j]) > 0;

		tx->lcs[j].had_data &= data;
		any |= data;
	}
	return any;
}
