/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/phy/phy_downlink.h"

#include <errno.h>

#include <rte_malloc.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"

/* An answer: UE (10) | value (2) | k1 (4) | carrier (3) | SFN (10) and slot (8) of the PDSCH. */
#define ANSWER(ue, value, k1, carrier, at)                                                         \
	((uint64_t)(ue) << 27 | (uint64_t)(value) << 25 | (uint64_t)(k1) << 21 |                   \
	 (uint64_t)(carrier) << 18 | (uint64_t)(at).sfn << 8 | (at).slot)
#define ANSWER_UE(a) ((uint16_t)((a) >> 27))
#define ANSWER_VALUE(a) ((uint8_t)((a) >> 25 & 3))
#define ANSWER_K1(a) ((uint32_t)((a) >> 21 & 0xF))
#define ANSWER_CARRIER(a) ((uint8_t)((a) >> 18 & 7))
#define ANSWER_SFN(a) ((uint32_t)((a) >> 8 & 0x3FF))
#define ANSWER_SLOT(a) ((uint32_t)((a)&0xFF))
_Static_assert(PHY_REQUEST_CARRIERS <= 8, "a carrier has 3 bits");

int
phy_downlink_init(struct phy *p)
{
	const size_t nb = (size_t)p->cfg.nb_ues * p->cfg.carriers * FAPI_DCI_PROCESSES;
	struct phy_downlink *d = &p->downlink;
	double odds = 1;

	for (unsigned k = 0; k < PHY_HARQ_TX_MAX; k++) {
		odds *= p->cfg.dl_soft_loss;
		d->odds[k] = phy_rng_odds(odds);
	}
	d->odds_missed = phy_rng_odds(p->cfg.feedback_loss);
	d->soft = rte_zmalloc("phy_downlink", nb * sizeof(*d->soft), RTE_CACHE_LINE_SIZE);
	return d->soft ? 0 : -ENOMEM;
}

void
phy_downlink_fini(struct phy *p)
{
	rte_free(p->downlink.soft);
	p->downlink.soft = NULL;
}

static void
answer(struct phy_downlink *d, uint64_t a)
{
	const uint32_t head = atomic_load_explicit(&d->head, memory_order_relaxed);

	if (head - atomic_load_explicit(&d->tail, memory_order_acquire) >= PHY_DOWNLINK_BOX) {
		d->box_full++;
		return;
	}
	d->box[head % PHY_DOWNLINK_BOX] = a;
	atomic_store_explicit(&d->head, head + 1, memory_order_release);
}

static struct phy_uplink_soft *
soft_of(struct phy *p, uint16_t ue, uint8_t carrier, uint8_t process)
{
	return &p->downlink.soft[((size_t)ue * p->cfg.carriers + carrier) * FAPI_DCI_PROCESSES +
				 process % FAPI_DCI_PROCESSES];
}

void
phy_downlink_assign(struct phy *p, uint8_t carrier, const struct fapi_grant *g)
{
	struct phy_uplink_soft *s;

	if (likely(g->k1 == 0))
		return;
	s = soft_of(p, (uint16_t)(g->rnti - p->cfg.rnti), carrier, g->harq_process);
	if (!s->known || s->new_data != g->new_data)
		*s = (struct phy_uplink_soft){.known = true, .new_data = g->new_data};
}

/** What comes is combined with what has, of the TB that the newest DCI is of. */
static enum phy_harq_verdict
decode(struct phy_downlink *d, struct phy_uplink_soft *s, bool new_data, struct phy_rng *rng)
{
	uint8_t combined;

	if (unlikely(s->new_data != new_data))
		return PHY_HARQ_FAILED; /* of a DCI before the newest one */
	if (s->decoded) {
		d->again++;
		return PHY_HARQ_AGAIN;
	}
	combined = s->combined;
	s->combined = (uint8_t)RTE_MIN(s->combined + 1, PHY_HARQ_TX_MAX - 1);
	s->decoded = !phy_rng_hit(rng, d->odds[combined]);
	return s->decoded ? PHY_HARQ_DECODED : PHY_HARQ_FAILED;
}

enum phy_harq_verdict
phy_downlink_receive(struct phy *p, uint8_t carrier, struct fapi_slot at, uint16_t index,
		     struct phy_rng *rng)
{
	const struct phy_request_pdu pdu = phy_request_pdu(p, false, carrier, at, index);
	struct phy_downlink *d = &p->downlink;
	enum phy_harq_verdict verdict;
	uint8_t value;

	d->received++;
	if (likely(pdu.k1 == 0)) {
		if (likely(!phy_rng_hit(rng, d->odds[0])))
			return PHY_HARQ_DECODED;
		d->failed++;
		return PHY_HARQ_FAILED;
	}
	verdict = decode(d, soft_of(p, pdu.ue, carrier, pdu.process), pdu.new_data, rng);
	d->failed += verdict == PHY_HARQ_FAILED;
	value = verdict == PHY_HARQ_FAILED ? FAPI_HARQ_NACK : FAPI_HARQ_ACK;
	if (phy_rng_hit(rng, d->odds_missed)) {
		value = FAPI_HARQ_DTX;
		d->missed++;
	}
	answer(d, ANSWER(pdu.ue, value, pdu.k1, carrier, at));
	return verdict;
}

/** @return the message that the answer goes to, a new one if need be; NULL: none has room. */
static struct phy_downlink_news *
news_of(struct phy_downlink_news *news, uint16_t *nb, uint32_t room, struct fapi_slot at,
	uint8_t carrier)
{
	for (uint16_t i = *nb; i-- > 0;)
		if (news[i].carrier == carrier && news[i].at.slot == at.slot &&
		    news[i].at.sfn == at.sfn)
			return news[i].nb < room ? &news[i] : NULL;
	if (*nb == PHY_DOWNLINK_NEWS)
		return NULL;
	news[*nb].at = at;
	news[*nb].carrier = carrier;
	news[*nb].nb = 0;
	return &news[(*nb)++];
}

uint16_t
phy_downlink_tell(struct phy *p, uint64_t now, struct phy_downlink_news news[PHY_DOWNLINK_NEWS])
{
	const uint32_t fits =
		(p->cfg.frame_bytes - FAPI_HDR_LEN - FAPI_UCI_HARQ_INDICATION_LEN(0)) /
		FAPI_UCI_HARQ_LEN;
	const uint32_t room = RTE_MIN(fits, (uint32_t)FAPI_UCIS_MAX);
	const uint32_t per_frame = 10U << p->cfg.numerology;
	const uint32_t period = (FAPI_SFN_MAX + 1) * per_frame;
	struct phy_downlink *d = &p->downlink;
	const uint32_t head = atomic_load_explicit(&d->head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(&d->tail, memory_order_relaxed);
	uint16_t nb = 0;

	for (; tail != head; tail++) {
		const uint64_t a = d->box[tail % PHY_DOWNLINK_BOX];
		const uint32_t then = ANSWER_SFN(a) * per_frame + ANSWER_SLOT(a);
		const uint32_t pucch = (then + ANSWER_K1(a)) % period;
		struct phy_downlink_news *n;

		if ((now % period + period - then) % period < ANSWER_K1(a))
			break;
		n = news_of(news, &nb, room,
			    (struct fapi_slot){.sfn = (uint16_t)(pucch / per_frame),
					       .slot = (uint16_t)(pucch % per_frame)},
			    ANSWER_CARRIER(a));
		if (n == NULL)
			break;
		n->harq[n->nb++] = (struct fapi_harq){
			.rnti = (uint16_t)(p->cfg.rnti + ANSWER_UE(a)), .value = ANSWER_VALUE(a)};
	}
	atomic_store_explicit(&d->tail, tail, memory_order_release);
	return nb;
}
