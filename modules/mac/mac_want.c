/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_want.h"

#include <rte_common.h>

#include "codec/fapi.h"

/** Granted for slots after `slot`. */
static uint64_t
granted_since(const struct mac_want *w, uint64_t slot)
{
	const uint32_t nb = RTE_MIN(w->nb_past, (uint32_t)MAC_WANT_PAST);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < nb; i++)
		if (w->past[i].slot > slot)
			bytes += w->past[i].bytes;
	return bytes;
}

/** A BSR counts RLC and PDCP octets; subheaders of MAC, and a BSR, come on top. */
static uint64_t
with_subheaders(uint64_t bytes)
{
	return bytes ? bytes + bytes / 64 + 16 : 0;
}

/** The slot in which the BSR was true: of a TB that was sent again the first one. */
static uint64_t
true_at(const struct mac_want *w, const struct mac_ul_bsr *b, uint64_t slot)
{
	for (uint32_t i = 0; i < RTE_MIN(w->nb_again, (uint32_t)MAC_WANT_AGAIN); i++)
		if (w->again[i].slot == slot && w->again[i].carrier == b->carrier)
			return w->again[i].first;
	return slot;
}

static void
heed_bsr(struct mac_want *w, const struct mac_ul_bsr *b, uint64_t now, uint32_t slots_per_frame)
{
	const uint64_t period = (uint64_t)(FAPI_SFN_MAX + 1) * slots_per_frame;
	const uint64_t at = (uint64_t)b->sfn * slots_per_frame + b->slot;
	const uint64_t ago = (now % period + period - at) % period;
	const uint64_t slot = true_at(w, b, now - RTE_MIN(ago, now));
	const uint64_t under_way = granted_since(w, slot);
	const uint64_t bytes = with_subheaders(b->bytes);

	w->bsr_count = b->count;
	w->vain = 0;
	if (slot < w->newest)
		return;
	w->newest = slot;
	w->left =
		bytes > under_way ? (uint32_t)RTE_MIN(bytes - under_way, (uint64_t)UINT32_MAX) : 0;
	w->active = b->bytes > 0;
	w->ask = MAC_WANT_ASK_BYTES;
}

uint32_t
mac_want(struct mac_want *w, const struct mac_ul *ul, uint64_t now, uint32_t slots_per_frame)
{
	const struct mac_ul_bsr b = mac_ul_bsr(ul);
	const uint32_t srs = mac_ul_requests(ul);

	if (b.count != w->bsr_count)
		heed_bsr(w, &b, now, slots_per_frame);
	if (srs != w->srs) {
		w->srs = srs;
		w->active = true;
		w->ask = MAC_WANT_ASK_BYTES;
		w->vain = 0;
		w->left = RTE_MAX(w->left, (uint32_t)MAC_WANT_ASK_BYTES);
	}
	if (w->left > 0)
		return w->left;
	if (!w->active || now - w->granted_at < MAC_WANT_ASK_SLOTS)
		return 0;
	if (w->vain >= MAC_WANT_VAIN) {
		w->active = false;
		return 0;
	}
	return w->ask;
}

void
mac_want_again(struct mac_want *w, uint64_t now, uint32_t carrier, uint64_t first)
{
	const uint32_t i = w->nb_again % MAC_WANT_AGAIN;

	w->again[i].slot = now;
	w->again[i].carrier = carrier;
	w->again[i].first = first;
	w->nb_again = w->nb_again + 1 < 2 * MAC_WANT_AGAIN ? w->nb_again + 1 : MAC_WANT_AGAIN;
}

void
mac_want_granted(struct mac_want *w, uint64_t now, uint32_t bytes)
{
	if (w->left == 0) {
		w->vain++;
		w->ask = RTE_MIN(w->ask * 2, (uint32_t)MAC_WANT_ASK_MAX);
	}
	w->left -= RTE_MIN(w->left, bytes);
	w->granted_at = now;
	w->past[w->nb_past % MAC_WANT_PAST].slot = now;
	w->past[w->nb_past % MAC_WANT_PAST].bytes = bytes;
	w->nb_past = w->nb_past + 1 < 2 * MAC_WANT_PAST ? w->nb_past + 1 : MAC_WANT_PAST;
}
