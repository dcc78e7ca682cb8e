/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy_sr.h"

/** Of all slots that SFN and slot number can tell apart, times carriers. */
static uint32_t
period(const struct phy_sr *s)
{
	return (FAPI_SFN_MAX + 1) * s->slots_per_frame * PHY_SR_CARRIERS;
}

/** MAC serves the carriers of a slot in this order. */
static uint32_t
order(const struct phy_sr *s, struct fapi_slot at, uint16_t carrier)
{
	return (at.sfn * s->slots_per_frame + at.slot) * PHY_SR_CARRIERS + carrier;
}

/** Tells slots apart whose numbers are the same: `at` is near the latest one, an SR's is after it.
 */
static uint64_t
unwrap(struct phy_sr *s, uint32_t at, bool request)
{
	const uint32_t ahead = (uint32_t)((at + period(s) - s->latest % period(s)) % period(s));

	if (!request && ahead > period(s) / 2)
		return s->latest - (period(s) - ahead);
	s->latest += ahead;
	return s->latest;
}

static void
heed(struct phy_sr *s, uint64_t at, bool waiting)
{
	if (at < s->newest)
		return;
	s->newest = at;
	atomic_store_explicit(&s->waiting, waiting, memory_order_relaxed);
}

void
phy_sr_init(struct phy_sr *s, uint8_t numerology)
{
	s->slots_per_frame = 10U << numerology;
	s->latest = period(s);
}

void
phy_sr_request(struct phy_sr *s, const struct fapi_sr *sr)
{
	s->srs++;
	heed(s, unwrap(s, order(s, sr->at, 0), true), true);
}

static void
bsr_take(struct phy_sr *s, const struct phy_sr_tb *tb, const uint8_t *p, uint32_t n, uint8_t lcid)
{
	struct mac_bsr b;
	bool waiting;

	if (mac_bsr_decode(p, n, lcid, &b) < 0)
		return;
	s->bsrs++;
	waiting = lcid == MAC_UL_LONG_TRUNCATED_BSR && b.lcgs != 0;
	for (unsigned i = 0; i < b.nb; i++)
		waiting |= b.size[i] > 0;
	/* That nothing waited then does not say that nothing waits now. */
	if (waiting || !tb->again)
		heed(s, tb->at, waiting);
}

/** Another octet of a subheader or BSR. */
static void
octet(struct phy_sr *s, struct phy_sr_tb *tb, uint8_t byte)
{
	struct mac_subheader h;
	int len;

	tb->head[tb->nb++] = byte;
	len = mac_subheader_decode(tb->head, tb->nb, MAC_UL_SCH, &h);
	if (len == -CODEC_SHORT && tb->nb < sizeof(tb->head))
		return;
	if (len < 0 || h.kind == MAC_KIND_PADDING) {
		tb->open = false;
		return;
	}
	if (h.kind == MAC_KIND_CE && h.index >= MAC_UL_SHORT_TRUNCATED_BSR &&
	    h.index <= MAC_UL_LONG_BSR && h.bytes <= MAC_BSR_BYTES_MAX) {
		if (tb->nb < (uint32_t)len + h.bytes)
			return;
		bsr_take(s, tb, tb->head + len, h.bytes, (uint8_t)h.index);
		tb->nb = 0;
		return;
	}
	tb->skip = h.bytes;
	tb->nb = 0;
}

static void
octets(struct phy_sr *s, struct phy_sr_tb *tb, const uint8_t *p, uint32_t n)
{
	while (n > 0 && tb->open) {
		if (tb->skip > 0) {
			const uint32_t k = RTE_MIN(n, tb->skip);

			tb->skip -= k;
			p += k;
			n -= k;
		} else {
			octet(s, tb, *p++);
			n--;
		}
	}
}

static void
tb_begin(struct phy_sr *s, struct phy_sr_tb *tb, const uint8_t *body, const struct nfapi_p7 *h,
	 bool again)
{
	struct fapi_data d;

	fapi_data_decode(body, FAPI_DATA_LEN, &d);
	*tb = (struct phy_sr_tb){
		.open = true,
		.again = again,
		.sequence = h->sequence,
		.at = unwrap(s, order(s, d.at, h->phy_id), false),
	};
}

void
phy_sr_frame(struct phy_sr *s, const struct rte_mbuf *m, const struct nfapi_p7 *h, bool again)
{
	struct phy_sr_tb *tb = &s->tb[h->phy_id];
	uint32_t skip = h->segment ? FAPI_HDR_LEN : FAPI_HDR_FIRST_LEN;
	uint32_t left = h->length + NFAPI_ETHER_LEN;

	if (h->segment == 0)
		tb_begin(s, tb, rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_HDR_LEN), h,
			 again);
	if (!tb->open || tb->sequence != h->sequence || tb->segment != h->segment) {
		tb->open = false;
		return;
	}
	tb->segment++;
	for (; m != NULL && left > 0; m = m->next) {
		const uint32_t n = RTE_MIN(left, (uint32_t)m->data_len);

		octets(s, tb, rte_pktmbuf_mtod_offset(m, const uint8_t *, skip), n - skip);
		left -= n;
		skip = 0;
	}
}
