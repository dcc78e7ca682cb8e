/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/phy/phy_request.h"

#include <rte_malloc.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/l2/l2.h"
#include "modules/phy/phy.h"

/* A cell: taken (1) | k1 (4) | NDI (1) | HARQ process (5) | TB size (23) | SFN and slot (18) | UE
 * (10), and 1 that it is in use. */
#define CELL_USED 1ULL
#define CELL_TAKEN (1ULL << 63)
#define CELL_UE(c) ((uint16_t)((c) >> 1 & 0x3FF))
#define CELL_KEY(c) ((uint32_t)((c) >> 11 & 0x3FFFF))
#define CELL_BYTES(c) ((uint32_t)((c) >> 29 & 0x7FFFFF))
#define CELL_PROCESS(c) ((uint8_t)((c) >> 52 & 0x1F))
#define CELL_NDI(c) ((c) >> 57 & 1)
#define CELL_K1(c) ((uint8_t)((c) >> 58 & 0xF))
_Static_assert(L2_UES_MAX <= 1 << 10, "a UE's index has 10 bits");

/* SCF 222 table 3-31 */
#define SFN_OUT_OF_SYNC 0x3
#define MSG_SLOT_ERR 0x4
#define MSG_TX_ERR 0x8

struct phy_requests *
phy_requests_create(void)
{
	return rte_zmalloc("phy_requests", sizeof(struct phy_requests), RTE_CACHE_LINE_SIZE);
}

void
phy_requests_destroy(struct phy_requests *r)
{
	rte_free(r);
}

static uint32_t
key_of(struct fapi_slot at)
{
	return (uint32_t)at.sfn << 8 | at.slot;
}

/** @return -1, for the caller to say why. */
static int
refuse(struct phy *p, struct fapi_slot at, uint8_t message, uint8_t code, int reason)
{
	const uint64_t e = 1ULL << 63 | (uint64_t)key_of(at) << 16 | (uint64_t)message << 8 | code;

	p->requests->refused++;
	atomic_store_explicit(&p->requests->error, e, memory_order_release);
	return reason;
}

bool
phy_request_error(struct phy *p, struct fapi_error *e)
{
	uint64_t v;

	if (likely(atomic_load_explicit(&p->requests->error, memory_order_relaxed) == 0))
		return false;
	v = atomic_exchange_explicit(&p->requests->error, 0, memory_order_acquire);
	*e = (struct fapi_error){.at = {.sfn = v >> 24 & 0x3FF, .slot = v >> 16 & 0xFF},
				 .message_id = (uint8_t)(v >> 8),
				 .code = (uint8_t)v};
	return v != 0;
}

/**
 * A request is for a slot that its gNB was told of, not long ago, and uplink for one that the UEs
 * were not told of yet. @return whether it is, with the slot counted without a wrap
 */
static bool
in_time(const struct phy *p, struct fapi_slot at, bool uplink, uint64_t *slot)
{
	const uint32_t per_frame = 10U << p->cfg.numerology;
	const uint64_t period = (uint64_t)(FAPI_SFN_MAX + 1) * per_frame;
	const uint64_t next = atomic_load_explicit(&p->slot[PHY_GNB].next, memory_order_relaxed);
	const uint64_t then = (uint64_t)at.sfn * per_frame + at.slot;
	uint64_t ago;

	if (next == 0 || at.slot >= per_frame)
		return false;
	ago = ((next - 1) % period + period - then) % period;
	if (ago >= PHY_REQUEST_SLOTS / 2 || ago > next - 1)
		return false;
	*slot = next - 1 - ago;
	return !uplink ||
	       *slot >= atomic_load_explicit(&p->slot[PHY_UES].next, memory_order_relaxed);
}

/** @return -1, or why these cannot be sent in one slot of the carrier. */
static int
check(const struct phy *p, uint8_t carrier, const struct fapi_grant *g, unsigned nb)
{
	uint64_t indices = 0, bytes = 0;

	for (unsigned i = 0; i < nb; i++) {
		if ((uint16_t)(g[i].rnti - p->cfg.rnti) >= p->cfg.nb_ues)
			return PHY_UNKNOWN_RNTI;
		if (g[i].handle >= FAPI_TTI_PDUS_MAX || indices >> g[i].handle & 1 ||
		    g[i].tb_bytes == 0 || g[i].harq_process >= PHY_HARQ_PROCESSES_MAX)
			return PHY_BAD_BODY;
		indices |= 1ULL << g[i].handle;
		bytes += g[i].tb_bytes;
	}
	return bytes > p->cfg.carrier[carrier].tb_bytes[0] ? PHY_OVERSUBSCRIBED : -1;
}

static struct phy_request_row *
row_of(struct phy_requests *r, uint64_t slot)
{
	struct phy_request_row *row = &r->row[slot % PHY_REQUEST_SLOTS];

	if (row->slot != slot + 1)
		*row = (struct phy_request_row){.slot = slot + 1};
	return row;
}

static uint32_t
place_of(const struct phy *p, struct fapi_slot at)
{
	return ((uint32_t)at.sfn * (10U << p->cfg.numerology) + at.slot) % PHY_REQUEST_SLOTS;
}

/** The grants go to the UEs' side. @return false when that is too far behind. */
static bool
ring_put(struct phy_requests *r, uint64_t slot, uint8_t carrier, const struct fapi_grant *g,
	 unsigned nb)
{
	const uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct phy_ul_tti *t = &r->ring[head % PHY_REQUEST_RING];

	if (head - atomic_load_explicit(&r->tail, memory_order_acquire) >= PHY_REQUEST_RING)
		return false;
	t->slot = slot;
	t->carrier = carrier;
	t->nb = (uint8_t)nb;
	memcpy(t->grant, g, nb * sizeof(*g));
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

static uint64_t
cell_make(const struct phy *p, struct fapi_slot at, const struct fapi_grant *g)
{
	return CELL_USED | (uint64_t)(uint16_t)(g->rnti - p->cfg.rnti) << 1 |
	       (uint64_t)key_of(at) << 11 | (uint64_t)g->tb_bytes << 29 |
	       (uint64_t)g->harq_process << 52 | (uint64_t)g->new_data << 57 |
	       (uint64_t)g->k1 << 58;
}

int
phy_request_take(struct phy *p, bool uplink, uint8_t carrier, const uint8_t *body, size_t len)
{
	const uint8_t message = uplink ? FAPI_UL_TTI_REQUEST : FAPI_DL_TTI_REQUEST;
	struct phy_requests *r = p->requests;
	struct fapi_grant g[FAPI_TTI_PDUS_MAX];
	unsigned nb = FAPI_TTI_PDUS_MAX;
	struct phy_request_row *row;
	struct fapi_slot at;
	uint64_t slot;
	int reason;

	if ((uplink ? fapi_ul_tti_decode(body, len, &at, g, &nb)
		    : fapi_dl_tti_decode(body, len, &at, g, &nb)) < 0)
		return PHY_BAD_BODY;
	if (!in_time(p, at, uplink, &slot))
		return refuse(p, at, message, SFN_OUT_OF_SYNC, PHY_LATE);
	row = row_of(r, slot);
	if (row->asked[carrier][uplink])
		return refuse(p, at, message, MSG_SLOT_ERR, PHY_TTI_REPEATED);
	reason = check(p, carrier, g, nb);
	if (reason >= 0)
		return refuse(p, at, message, MSG_SLOT_ERR, reason);
	row->asked[carrier][uplink] = true;
	for (unsigned i = 0; i < nb; i++)
		atomic_store_explicit(&r->cell[uplink][place_of(p, at)][carrier][g[i].handle],
				      cell_make(p, at, &g[i]), memory_order_relaxed);
	for (unsigned i = 0; !uplink && i < nb; i++)
		phy_downlink_assign(p, carrier, &g[i]);
	*(uplink ? &r->ul_pdus : &r->dl_pdus) += nb;
	if (uplink && !ring_put(r, slot, carrier, g, nb))
		return refuse(p, at, message, SFN_OUT_OF_SYNC, PHY_LATE);
	return -1;
}

static _Atomic uint64_t *
cell_of(const struct phy *p, bool uplink, uint8_t carrier, struct fapi_slot at, uint16_t index)
{
	return &p->requests->cell[uplink][place_of(p, at)][carrier][index % FAPI_TTI_PDUS_MAX];
}

/** @return whether a PDU of slot `at` is in the cell whose TB has not come. */
static bool
cell_open(uint64_t c, struct fapi_slot at)
{
	return (c & CELL_USED) && !(c & CELL_TAKEN) && CELL_KEY(c) == key_of(at);
}

static struct phy_request_pdu
cell_pdu(uint64_t c)
{
	return (struct phy_request_pdu){.tb_bytes = CELL_BYTES(c),
					.ue = CELL_UE(c),
					.process = CELL_PROCESS(c),
					.new_data = CELL_NDI(c),
					.k1 = CELL_K1(c)};
}

int
phy_request_tb(struct phy *p, bool uplink, uint8_t carrier, struct fapi_slot at,
	       const struct fapi_tx_pdu *pdu)
{
	_Atomic uint64_t *cell = cell_of(p, uplink, carrier, at, pdu->index);
	uint64_t c = atomic_load_explicit(cell, memory_order_relaxed);

	if (pdu->index >= FAPI_TTI_PDUS_MAX || !cell_open(c, at))
		return uplink ? PHY_NO_PDU
			      : refuse(p, at, FAPI_TX_DATA_REQUEST, MSG_TX_ERR, PHY_NO_PDU);
	if (pdu->tb_bytes != CELL_BYTES(c))
		return uplink ? PHY_TB_SIZE
			      : refuse(p, at, FAPI_TX_DATA_REQUEST, MSG_TX_ERR, PHY_TB_SIZE);
	/* Uplink it may just be closed; else nobody writes until the slot's number comes back. */
	return atomic_compare_exchange_strong_explicit(cell, &c, c | CELL_TAKEN,
						       memory_order_relaxed, memory_order_relaxed)
		       ? -1
		       : (int)PHY_NO_PDU;
}

struct phy_request_pdu
phy_request_pdu(const struct phy *p, bool uplink, uint8_t carrier, struct fapi_slot at,
		uint16_t index)
{
	return cell_pdu(
		atomic_load_explicit(cell_of(p, uplink, carrier, at, index), memory_order_relaxed));
}

bool
phy_request_close(struct phy *p, uint8_t carrier, struct fapi_slot at, uint16_t index,
		  struct phy_request_pdu *pdu)
{
	_Atomic uint64_t *cell = cell_of(p, true, carrier, at, index);
	uint64_t c = atomic_load_explicit(cell, memory_order_relaxed);

	if (likely(!cell_open(c, at)))
		return false;
	*pdu = cell_pdu(c);
	return atomic_compare_exchange_strong_explicit(cell, &c, c | CELL_TAKEN,
						       memory_order_relaxed, memory_order_relaxed);
}

void
phy_request_grants(struct phy *p, uint64_t slot, const struct phy_ul_tti *out[PHY_REQUEST_CARRIERS])
{
	struct phy_requests *r = p->requests;
	const uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

	for (unsigned c = 0; c < PHY_REQUEST_CARRIERS; c++)
		out[c] = NULL;
	for (uint32_t i = atomic_load_explicit(&r->tail, memory_order_relaxed); i != head; i++) {
		const struct phy_ul_tti *t = &r->ring[i % PHY_REQUEST_RING];

		if (t->slot == slot)
			out[t->carrier] = t;
	}
}

uint64_t
phy_request_next(struct phy *p, uint64_t next, uint64_t until)
{
	struct phy_requests *r = p->requests;
	const uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);

	for (uint32_t i = atomic_load_explicit(&r->tail, memory_order_relaxed); i != head; i++) {
		const uint64_t slot = r->ring[i % PHY_REQUEST_RING].slot;

		if (slot >= next && slot < until)
			until = slot;
	}
	return until;
}

void
phy_request_done(struct phy *p, uint64_t slot)
{
	struct phy_requests *r = p->requests;
	const uint32_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	for (; tail != head && r->ring[tail % PHY_REQUEST_RING].slot <= slot; tail++)
		if (r->ring[tail % PHY_REQUEST_RING].slot < slot)
			r->late += r->ring[tail % PHY_REQUEST_RING].nb;
	atomic_store_explicit(&r->tail, tail, memory_order_release);
}
