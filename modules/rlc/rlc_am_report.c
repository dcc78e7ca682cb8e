/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving AM entity: what the next STATUS PDU says, TS 38.322 §5.3.4. */
#include "modules/rlc/rlc_bits.h"
#include "modules/rlc/rlc_rx.h"

/* The NACKs of one SDU would not fit as a whole: it and all behind it are left out. */
static bool
add(struct rlc_am_report *r, const struct rlc_nack *nack, uint32_t sn_bytes)
{
	if (r->nb == RLC_AM_NACKS_MAX) {
		while (r->nb && r->nacks[r->nb - 1].sn == nack->sn)
			r->nb--;
		r->ACK_SN = nack->sn;
		return false;
	}
	r->nacks[r->nb++] = *nack;
	r->bytes += sn_bytes + (nack->has_so ? 4 : 0) + (nack->range > 1 ? 1 : 0);
	return true;
}

/* "for a continuous sequence of byte segments of a partly received RLC SDU that have not been
 * received yet: include … NACK_SN, SOstart and SOend" */
static bool
add_partial(struct rlc_am_report *r, const struct rlc_am_rx *am, uint32_t sn, uint32_t sn_bytes)
{
	const struct rlc_sdu *s = &am->sdus[sn & (am->window - 1)];
	struct rlc_nack nack = {.sn = sn, .has_so = true, .range = 1};
	uint32_t at = 0;

	for (uint32_t i = s->first; i; i = am->segs.segs[i].next) {
		const struct rlc_seg *seg = &am->segs.segs[i];

		if (seg->so > at) {
			nack.so_start = (uint16_t)at;
			nack.so_end = (uint16_t)(seg->so - 1);
			if (!add(r, &nack, sn_bytes))
				return false;
		}
		at = (uint32_t)seg->so + seg->len;
	}
	if (s->end && at == s->end)
		return true;
	nack.so_start = (uint16_t)at;
	nack.so_end = RLC_STATUS_SO_END;
	return add(r, &nack, sn_bytes);
}

/* "for a continuous sequence of RLC SDUs that have not been received yet: include … NACK_SN and
 * NACK range" */
static bool
add_missing(struct rlc_am_report *r, const struct rlc_am_rx *am, uint32_t sn, uint32_t n,
	    uint32_t sn_bytes)
{
	while (n > 0) {
		const uint32_t part = RTE_MIN(n, (uint32_t)RLC_STATUS_RANGE_MAX);
		const struct rlc_nack nack = {.sn = sn & am->sn_mask, .range = (uint8_t)part};

		if (!add(r, &nack, sn_bytes))
			return false;
		sn += part;
		n -= part;
	}
	return true;
}

/* "for the RLC SDUs with SN such that RX_Next <= SN < RX_Highest_Status that has not been
 * completely received yet, in increasing SN order" */
static void
fill(struct rlc_am_report *r, const struct rlc_am_rx *am)
{
	const uint32_t n = (am->RX_Highest_Status - am->RX_Next) & am->sn_mask;
	const uint32_t sn_bytes = am->header; /* both grow with the SN alike */

	r->nb = 0;
	r->bytes = RLC_STATUS_HEADER_LEN;
	/* "set the ACK_SN to the SN of the next not received RLC SDU which is not indicated as
	 * missing" */
	r->ACK_SN = am->RX_Highest_Status;
	for (uint32_t i = 0; i < n;) {
		const uint32_t sn = (am->RX_Next + i) & am->sn_mask;
		uint32_t gap;

		if (rlc_bits_get(am->partial, am->window, sn)) {
			if (!add_partial(r, am, sn, sn_bytes))
				return;
			i++;
		} else {
			gap = rlc_bits_find(am->received, am->window, sn, n - i, true);
			gap = rlc_bits_find(am->partial, am->window, sn, gap, true);
			if (!add_missing(r, am, sn, gap, sn_bytes))
				return;
			i += gap;
		}
		i += rlc_bits_find(am->received, am->window, am->RX_Next + i, n - i, false);
	}
}

void
rlc_am_rx_report(struct rlc_am_rx *am)
{
	if (!am->triggered && !rlc_am_link_wanted(am->link))
		return;
	fill(rlc_am_link_draft(am->link), am);
	rlc_am_link_publish(am->link, am->triggered);
	am->status_made += am->triggered;
	am->triggered = false;
}
