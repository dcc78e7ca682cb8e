/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/phy/phy_uplink.h"

#include <errno.h>

#include <rte_malloc.h>

#include "core/clock.h"
#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"

#define SNR_DB 20 /* where no channel is modelled */
#define UL_CQI(db) ((uint8_t)(((db) + 64) * 2))

/** @return TBs that a CRC.indication can tell of. */
static unsigned
room_of(const struct phy *p)
{
	const unsigned room =
		(p->cfg.frame_bytes - FAPI_HDR_LEN - FAPI_CRC_INDICATION_LEN(0)) / FAPI_CRC_LEN;

	return RTE_MIN(room, (unsigned)FAPI_CRCS_MAX);
}

int
phy_uplink_init(struct phy *p)
{
	const size_t nb = (size_t)p->cfg.nb_ues * p->cfg.carriers * PHY_HARQ_PROCESSES_MAX;
	struct phy_uplink *u = &p->uplink;
	double odds = 1;

	for (unsigned k = 0; k < PHY_HARQ_TX_MAX; k++) {
		odds *= p->cfg.harq.soft_loss;
		u->odds[k] = phy_rng_odds(odds);
	}
	if (p->cfg.harq.processes == 0)
		return 0;
	u->soft = rte_zmalloc("phy_uplink", nb * sizeof(*u->soft), RTE_CACHE_LINE_SIZE);
	return u->soft ? 0 : -ENOMEM;
}

void
phy_uplink_fini(struct phy *p)
{
	rte_free(p->uplink.soft);
	p->uplink.soft = NULL;
}

/** With HARQ: the soft buffer that the transmission goes to. */
static struct phy_uplink_soft *
soft_of(const struct phy *p, uint8_t carrier, const struct phy_request_pdu *pdu)
{
	const size_t ue = (size_t)pdu->ue * p->cfg.carriers + carrier;
	struct phy_uplink_soft *s;

	if (p->uplink.soft == NULL)
		return NULL;
	s = &p->uplink.soft[ue * PHY_HARQ_PROCESSES_MAX + pdu->process];
	if (!s->known || s->new_data != pdu->new_data)
		*s = (struct phy_uplink_soft){.known = true, .new_data = pdu->new_data};
	return s;
}

static struct fapi_crc
crc_of(const struct phy *p, const struct phy_request_pdu *pdu, uint16_t index)
{
	return (struct fapi_crc){.handle = index,
				 .rnti = (uint16_t)(p->cfg.rnti + pdu->ue),
				 .harq_id = pdu->process,
				 .timing_advance = FAPI_TIMING_ADVANCE_INVALID,
				 .rssi = FAPI_RSSI_INVALID};
}

enum phy_harq_verdict
phy_uplink_receive(struct phy *p, uint8_t carrier, struct fapi_slot at, uint16_t index,
		   struct phy_rng *rng, struct phy_uplink_crc *c)
{
	const struct phy_request_pdu pdu = phy_request_pdu(p, true, carrier, at, index);
	struct phy_uplink_soft *s = soft_of(p, carrier, &pdu);
	struct phy_uplink *u = &p->uplink;
	uint8_t combined = 0;

	*c = (struct phy_uplink_crc){.at = at, .carrier = carrier, .crc = crc_of(p, &pdu, index)};
	c->crc.ul_cqi = UL_CQI(SNR_DB);
	u->received++;
	if (s && s->decoded) {
		u->again++;
		return PHY_HARQ_AGAIN;
	}
	if (s) {
		combined = s->combined;
		s->combined = (uint8_t)RTE_MIN(s->combined + 1, PHY_HARQ_TX_MAX - 1);
	}
	c->crc.failed = phy_rng_hit(rng, u->odds[combined]);
	u->failed += c->crc.failed;
	if (s)
		s->decoded = !c->crc.failed;
	return c->crc.failed ? PHY_HARQ_FAILED : PHY_HARQ_DECODED;
}

static bool
together(const struct phy_uplink_crc *a, const struct phy_uplink_crc *b)
{
	return a->carrier == b->carrier && a->at.sfn == b->at.sfn && a->at.slot == b->at.slot;
}

static void
frame_make(struct phy *p, struct rte_mbuf *m, const struct phy_uplink_crc *first,
	   const struct fapi_crc *crc, unsigned nb, uint64_t now_ns)
{
	const uint16_t body = (uint16_t)FAPI_CRC_INDICATION_LEN(nb);
	const struct nfapi_p7 h = {
		.phy_id = first->carrier,
		.message_id = FAPI_CRC_INDICATION,
		.length = NFAPI_P7_LEN + (uint32_t)body,
		.sequence = p->uplink.sequence++,
		.timestamp_us = (uint32_t)(now_ns / AP_NS_PER_US % NFAPI_TIMESTAMP_PERIOD_US)};

	fapi_crc_indication_encode(phy_frame_begin(p, PHY_GNB, m, &h, body), body, first->at, crc,
				   nb);
}

uint16_t
phy_uplink_tell(struct phy *p, const struct phy_uplink_crc *c, uint16_t nb, uint64_t now_ns,
		struct rte_mbuf **out, uint64_t *lost)
{
	const unsigned room = room_of(p);
	uint16_t frames = 0;

	*lost = 0;
	for (uint16_t i = 0; i < nb;) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(p->cfg.pool);
		struct fapi_crc crc[FAPI_CRCS_MAX];
		const struct phy_uplink_crc *first = &c[i];
		unsigned n = 0;

		while (i < nb && n < room && together(&c[i], first))
			crc[n++] = c[i++].crc;
		if (m == NULL) {
			++*lost;
			continue;
		}
		frame_make(p, m, first, crc, n, now_ns);
		out[frames++] = m;
	}
	return frames;
}

/** The slot to look at next, if its time is over. */
static bool
next_closed(struct phy *p, struct fapi_slot *at)
{
	const uint64_t next = atomic_load_explicit(&p->slot[PHY_GNB].next, memory_order_relaxed);
	const uint32_t per_frame = 10U << p->cfg.numerology;
	struct phy_uplink *u = &p->uplink;

	if (u->looked + PHY_REQUEST_WINDOW > next)
		return false;
	/* What is older than that has no cells any more. */
	u->looked = RTE_MAX(u->looked, next - RTE_MIN(next, (uint64_t)PHY_REQUEST_SLOTS));
	*at = (struct fapi_slot){.sfn = (uint16_t)(u->looked / per_frame % (FAPI_SFN_MAX + 1)),
				 .slot = (uint16_t)(u->looked % per_frame)};
	u->looked++;
	return true;
}

uint16_t
phy_uplink_missing(struct phy *p, struct fapi_slot *at,
		   struct fapi_crc c[PHY_REQUEST_CARRIERS][FAPI_CRCS_MAX],
		   uint8_t nb[PHY_REQUEST_CARRIERS])
{
	const unsigned room = room_of(p);
	uint16_t carriers = 0;

	while (carriers == 0 && next_closed(p, at))
		for (uint8_t k = 0; k < p->cfg.carriers; k++) {
			nb[k] = 0;
			for (uint16_t i = 0; i < FAPI_TTI_PDUS_MAX && nb[k] < room; i++) {
				struct phy_request_pdu pdu;

				if (!phy_request_close(p, k, *at, i, &pdu))
					continue;
				c[k][nb[k]] = crc_of(p, &pdu, i);
				c[k][nb[k]].failed = true;
				c[k][nb[k]++].ul_cqi = FAPI_CQI_INVALID;
				p->uplink.missing++;
			}
			carriers += nb[k] > 0;
		}
	return carriers;
}
