/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/clock.h"
#include "core/meta.h"
#include "modules/fapi/fapi_tx.h"
#include "modules/phy/phy.h"
#include "modules/phy/phy_copy.h"
#include "modules/phy/phy_job.h"

struct batch {
	struct phy_job job[2 * PHY_BURST];
	uint16_t nb;
	uint16_t nb_frames;               /**< sources of the jobs, and SRs */
	struct rte_mbuf *rest[PHY_BURST]; /**< sources that phy_copy_all() does not free */
	uint16_t nb_rest;
	struct phy_uplink_crc crc[PHY_BURST]; /**< of a gNB's uplink TBs */
	uint16_t nb_crcs;
};

int
phy_path_init(struct phy *p, uint32_t side)
{
	const struct phy_impair *i = &p->cfg.impair;
	struct phy_path *path = &p->path[side];

	phy_rng_seed(&path->rng, p->cfg.seed + side);
	phy_ber_init(&path->ber, i->bit_error_rate, &path->rng);
	path->odds_tb_loss = phy_rng_odds(i->tb_loss);
	path->odds_frame_loss = phy_rng_odds(i->frame_loss);
	path->odds_duplicate = phy_rng_odds(i->duplicate);
	path->odds_reorder = phy_rng_odds(i->reorder);
	path->delay_ns = i->delay_ns;
	path->jitter_ns = i->jitter_ns;
	return phy_delay_init(&path->delay, p->cfg.hold_frames);
}

void
phy_path_fini(struct phy_path *path)
{
	for (unsigned i = 0; i < RTE_DIM(path->carrier); i++) {
		rte_pktmbuf_free_bulk(path->carrier[i].swap, path->carrier[i].nb_swap);
		path->carrier[i].nb_swap = 0;
	}
	phy_delay_fini(&path->delay);
}

/** @return 0, or the drop reason, negated, less 1. */
static inline int
frame_check(const struct phy *p, const struct rte_mbuf *m, struct nfapi_p7 *h)
{
	const uint8_t *q = rte_pktmbuf_mtod(m, const uint8_t *);
	struct fapi_tx_pdu pdu;
	struct fapi_data d;

	if (unlikely(m->data_len < FAPI_HDR_LEN))
		return -PHY_SHORT - 1;
	if (unlikely(be16_get(q + 12) != p->cfg.ethertype))
		return -PHY_NOT_FAPI - 1;
	if (unlikely(nfapi_p7_decode(q + NFAPI_ETHER_LEN, m->data_len - NFAPI_ETHER_LEN,
				     m->pkt_len - NFAPI_ETHER_LEN, h) < 0))
		return -PHY_BAD_LENGTH - 1;
	if (unlikely(h->phy_id >= p->cfg.carriers))
		return -PHY_UNKNOWN_CARRIER - 1;
	if (unlikely(h->message_id != FAPI_TX_DATA_REQUEST))
		return -PHY_UNKNOWN_MESSAGE - 1;
	if (unlikely(h->length + NFAPI_ETHER_LEN > p->cfg.frame_bytes))
		return -PHY_TOO_LONG - 1;
	if (h->segment != 0)
		return 0;
	if (unlikely(RTE_MIN(m->data_len, h->length + NFAPI_ETHER_LEN) < FAPI_HDR_FIRST_LEN))
		return -PHY_SHORT - 1;
	q += FAPI_HDR_LEN;
	if (unlikely(fapi_data_decode(q, FAPI_DATA_LEN, &d) < 0 || d.pdus != 1 ||
		     fapi_tx_pdu_decode(q + FAPI_DATA_LEN, FAPI_DATA_PDU_LEN, &pdu) < 0))
		return -PHY_BAD_BODY - 1;
	return 0;
}

static inline struct phy_job *
job_add(struct batch *b, struct rte_mbuf *src, const struct phy_tb *tb, uint32_t id,
	const struct nfapi_p7 *h)
{
	struct phy_job *j = &b->job[b->nb++];

	*j = (struct phy_job){.src = src, .id = id, .due_ns = tb->due_ns, .h = *h};
	return j;
}

/** While a TB of the carrier waits: is this frame of it, or the end of the one behind? */
static void
job_hold(struct phy_path_carrier *c, struct phy_job *j, uint64_t now_ns)
{
	const int8_t after = (int8_t)(j->h.sequence - c->held_sequence);

	j->hold = after == 0;
	if (after > 0 && !j->h.more) {
		j->release = true;
		j->release_due_ns = phy_hold_end(c, now_ns);
	}
}

/** Of the grant, echoed in the first segment. */
static uint16_t
handle_of(const struct rte_mbuf *m)
{
	struct fapi_tx_pdu pdu;

	fapi_tx_pdu_decode(
		rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_HDR_LEN + FAPI_DATA_LEN),
		FAPI_DATA_PDU_LEN, &pdu);
	return pdu.index;
}

static int8_t
drop_of(enum phy_harq_verdict v)
{
	switch (v) {
	case PHY_HARQ_FAILED:
		return PHY_SOFT_LOSS;
	case PHY_HARQ_AGAIN:
		return PHY_HARQ_REPEAT;
	default:
		return -1;
	}
}

/** Whose TB it is, with a gNB, and where in the slots. */
static struct fapi_slot
slot_of(const struct rte_mbuf *m)
{
	struct fapi_data d;

	fapi_data_decode(rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_HDR_LEN), FAPI_DATA_LEN,
			 &d);
	return d.at;
}

/** With a gNB: a TB needs a PDU of a request; its first segment tells which. Does it decode? */
static int8_t
request_receive(struct phy *p, uint32_t side, const struct rte_mbuf *m, const struct nfapi_p7 *h,
		struct batch *b)
{
	struct fapi_tx_pdu pdu;
	int reason;

	if (h->segment != 0)
		return -1;
	fapi_tx_pdu_decode(
		rte_pktmbuf_mtod_offset(m, const uint8_t *, FAPI_HDR_LEN + FAPI_DATA_LEN),
		FAPI_DATA_PDU_LEN, &pdu);
	reason = phy_request_tb(p, side == PHY_UES, (uint8_t)h->phy_id, slot_of(m), &pdu);
	if (reason >= 0)
		return (int8_t)reason;
	if (side == PHY_GNB)
		return drop_of(phy_downlink_receive(p, (uint8_t)h->phy_id, slot_of(m), pdu.index,
						    &p->path[side].rng));
	return drop_of(phy_uplink_receive(p, (uint8_t)h->phy_id, slot_of(m), pdu.index,
					  &p->path[side].rng, &b->crc[b->nb_crcs++]));
}

/** Does the TB decode? It is told by its first segment, which has the handle of its grant. */
static int8_t
harq_receive(struct phy *p, uint32_t side, const struct rte_mbuf *m, const struct nfapi_p7 *h)
{
	if (!phy_harq_on(&p->harq[side]) || h->segment != 0)
		return -1;
	return drop_of(phy_harq_receive(&p->harq[side], (uint8_t)h->phy_id, handle_of(m),
					&p->path[side].rng));
}

static inline struct phy_tb *
tb_of(struct phy *p, uint32_t side, struct phy_path_carrier *c, const struct rte_mbuf *m,
      const struct nfapi_p7 *h, uint64_t now_ns, struct batch *b)
{
	struct phy_tb *tb = &c->tb[h->sequence % PHY_TBS];

	if (likely(tb->valid && tb->in_sequence == h->sequence))
		return tb;
	if (p->requests)
		return phy_tb_open(&p->path[side], c, h->sequence,
				   request_receive(p, side, m, h, b), now_ns);
	return phy_tb_open(&p->path[side], c, h->sequence, harq_receive(p, side, m, h), now_ns);
}

static void
bsr_look(struct phy *p, uint32_t side, const struct rte_mbuf *m, const struct nfapi_p7 *h)
{
	const bool again =
		h->segment == 0 && phy_harq_on(&p->harq[side]) && phy_harq_again(handle_of(m));

	phy_sr_frame(&p->sr[side], m, h, again);
}

static void
frame_in(struct phy *p, uint32_t side, struct rte_mbuf *m, uint64_t now_ns, struct batch *b,
	 uint64_t *drops)
{
	struct phy_path *path = &p->path[side];
	struct phy_path_carrier *c;
	struct phy_tb *tb;
	struct nfapi_p7 h;
	struct phy_job *j;
	int ret = frame_check(p, m, &h);

	if (unlikely(ret < 0)) {
		phy_path_control(p, side, m, &h, -ret - 1, &b->nb_frames, drops);
		return;
	}
	c = &path->carrier[h.phy_id];
	tb = tb_of(p, side, c, m, &h, now_ns, b);
	if (unlikely(tb->drop >= 0)) {
		phy_path_lose(m, tb->drop, drops);
		return;
	}
	if (unlikely(phy_rng_hit(&path->rng, path->odds_frame_loss))) {
		path->stats.frames_lost++;
		phy_path_lose(m, PHY_FRAME_LOSS, drops);
		return;
	}
	if (unlikely(p->cfg.grant_on_sr))
		bsr_look(p, side, m, &h);
	j = job_add(b, m, tb, tb->id, &h);
	if (unlikely(tb->twin != 0)) {
		j->hold = c->holding && h.sequence == c->held_sequence;
		j = job_add(b, m, tb, tb->twin, &h);
	}
	if (unlikely(c->holding))
		job_hold(c, j, now_ns);
	b->nb_frames++;
}

/** Takes buffers for all jobs, or for the first ones. @return how many jobs have one. */
static uint16_t
batch_alloc(struct rte_mempool *pool, struct rte_mbuf **dst, uint16_t nb)
{
	uint16_t got = 0;

	if (likely(rte_pktmbuf_alloc_bulk(pool, dst, nb) == 0))
		return nb;
	while (got < nb && (dst[got] = rte_pktmbuf_alloc(pool)) != NULL)
		got++;
	return got;
}

/** Of the UE and HARQ process of the grant, with a gNB. */
static inline struct phy_request_pdu
pdu_of(const struct phy *p, uint32_t side, const struct phy_job *j, uint16_t index)
{
	if (likely(p->requests == NULL))
		return (struct phy_request_pdu){0};
	return phy_request_pdu(p, side == PHY_UES, (uint8_t)j->h.phy_id, slot_of(j->dst), index);
}

/** Headers of RX_Data.indication over those of TX_Data.request, and the channel's errors. */
static inline void
job_convert(struct phy *p, uint32_t side, struct phy_path *path, struct phy_job *j,
	    uint32_t timestamp_us)
{
	const uint32_t egress = phy_egress(p, side);
	const uint16_t len = j->h.segment == 0 ? FAPI_HDR_FIRST_LEN : FAPI_HDR_LEN;
	uint8_t *q = rte_pktmbuf_mtod(j->dst, uint8_t *);

	memcpy(q, p->cfg.side[egress].dst, 6);
	memcpy(q + 6, p->cfg.side[egress].src, 6);
	j->h.message_id = FAPI_RX_DATA_INDICATION;
	j->h.timestamp_us = timestamp_us;
	nfapi_p7_put(q + NFAPI_ETHER_LEN, &j->h);
	if (j->h.segment == 0) {
		struct phy_request_pdu pdu;
		struct fapi_tx_pdu tx;

		fapi_tx_pdu_decode(q + FAPI_HDR_LEN + FAPI_DATA_LEN, FAPI_DATA_PDU_LEN, &tx);
		pdu = pdu_of(p, side, j, tx.index);
		fapi_rx_pdu_put(q + FAPI_HDR_LEN + FAPI_DATA_LEN,
				&(struct fapi_rx_pdu){.handle = tx.index,
						      .rnti = (uint16_t)(p->cfg.rnti + pdu.ue),
						      .harq_id = pdu.process,
						      .tb_bytes = tx.tb_bytes,
						      .ul_cqi = FAPI_CQI_INVALID,
						      .timing_advance = FAPI_TIMING_ADVANCE_INVALID,
						      .rssi = FAPI_RSSI_INVALID});
	}
	if (unlikely(path->ber.on))
		path->stats.bits_flipped +=
			phy_ber_apply(&path->ber, &path->rng, q + len, j->dst->data_len - len);
}

/** Copies the first `nb` jobs, those that have a buffer, and sorts out who frees the sources. */
static void
batch_copy(struct batch *b, struct rte_mbuf **dst, uint16_t nb)
{
	struct phy_copy copy[2 * PHY_BURST];

	for (uint16_t i = 0; i < b->nb; i++) {
		struct phy_job *j = &b->job[i];
		const uint16_t len = (uint16_t)(j->h.length + NFAPI_ETHER_LEN);
		const bool twin = i > 0 && b->job[i - 1].src == j->src;
		const bool twins = twin || (i + 1 < b->nb && b->job[i + 1].src == j->src);

		if (unlikely((twins || i >= nb) && !twin))
			b->rest[b->nb_rest++] = j->src;
		if (unlikely(i >= nb))
			continue;
		j->dst = dst[i];
		*ap_meta(j->dst) = (struct ap_meta){.carrier = (uint8_t)j->h.phy_id};
		j->dst->data_len = len;
		j->dst->pkt_len = len;
		phy_copy_start(&copy[i], j->src, rte_pktmbuf_mtod(j->dst, uint8_t *), len, !twins);
	}
	phy_copy_all(copy, RTE_MIN(nb, b->nb));
}

/** The gNB is told what became of its grants. */
static void
crcs_send(struct phy *p, struct phy_path *path, const struct batch *b, uint64_t now_ns,
	  uint64_t *drops)
{
	uint64_t lost;
	const uint16_t nb =
		phy_uplink_tell(p, b->crc, b->nb_crcs, now_ns, path->out + path->nb_out, &lost);

	path->nb_out += nb;
	path->made += nb + lost;
	drops[PHY_NO_MBUF] += lost;
}

void
phy_path_burst(struct phy *p, uint32_t side, struct rte_mbuf **frames, uint16_t nb, uint64_t now_ns,
	       uint64_t *drops)
{
	const uint32_t timestamp_us = (uint32_t)(now_ns / AP_NS_PER_US % NFAPI_TIMESTAMP_PERIOD_US);
	struct phy_path *path = &p->path[side];
	struct rte_mbuf *dst[2 * PHY_BURST];
	struct batch b;
	uint16_t copies;

	b.nb = 0;
	b.nb_frames = 0;
	b.nb_rest = 0;
	b.nb_crcs = 0;
	path->nb_out = 0;
	for (uint16_t i = 0; i < nb; i++)
		rte_prefetch0(frames[i]);
	for (uint16_t i = 0; i < nb; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(frames[i], void *));
		rte_mbuf_prefetch_part2(frames[i]);
	}
	for (uint16_t i = 0; i < nb; i++)
		frame_in(p, side, frames[i], now_ns, &b, drops);
	copies = batch_alloc(p->cfg.pool, dst, b.nb);
	batch_copy(&b, dst, copies);
	for (uint16_t i = 0; i < b.nb; i++) {
		if (likely(i < copies))
			job_convert(p, side, path, &b.job[i], timestamp_us);
		phy_job_send(path, &b.job[i], drops);
	}
	path->used = b.nb_frames;
	path->made = b.nb;
	if (b.nb_crcs)
		crcs_send(p, path, &b, now_ns, drops);
	drops[PHY_NO_MBUF] += b.nb - copies;
	rte_pktmbuf_free_bulk(b.rest, b.nb_rest);
}
