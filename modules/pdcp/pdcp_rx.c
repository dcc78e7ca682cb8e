/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reception (§5.2.2.1) from RCVD_COUNT on: the reception buffer, t-Reordering, delivery in order.
 * Headers are pdcp_rx_header.c's.
 */
#include "modules/pdcp/pdcp_rx_internal.h"

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "core/pkt.h"
#include "modules/pdcp/pdcp_control.h"
#include "modules/pdcp/pdcp_tx.h"

#define AHEAD 4     /* packets whose header is fetched before it is read */
#define RUN_MAX 256 /* SDUs given to deliver() at once */

/* Takes the place of an SDU that outOfOrderDelivery let out before its turn, or that was lost
   here. */
#define DELIVERED ((struct rte_mbuf *)1)

int
pdcp_rx_init(struct pdcp_rx *e, const struct pdcp_rx_cfg *cfg)
{
	enum pdcp_format format = cfg->srb                  ? PDCP_SRB
				  : cfg->pdcp_SN_Size == 12 ? PDCP_DRB_12
							    : PDCP_DRB_18;
	uint32_t window = pdcp_rx_window(format);
	uint32_t slots = cfg->reorder_slots ? cfg->reorder_slots : window;

	if (pdcp_sn_bits(format) != cfg->pdcp_SN_Size || !rte_is_power_of_2(slots) ||
	    slots > window || cfg->rb_identity < 1 || cfg->rb_identity > 32 ||
	    cfg->sdap_hdr_len > (cfg->srb ? 0 : 1))
		return -EINVAL;
	if (cfg->t_Reordering > 3000 && cfg->t_Reordering != PDCP_T_REORDERING_INFINITY)
		return -EINVAL;
	*e = (struct pdcp_rx){
		.format = format,
		.configured = true,
		.count_notify = cfg->count_notify,
		.limit = pdcp_count_limit(cfg->count_notify),
		.outOfOrderDelivery = cfg->outOfOrderDelivery,
		.slot_mask = slots - 1,
		.deadline_ns = PDCP_NO_DEADLINE,
		.t_Reordering_ns = cfg->t_Reordering == PDCP_T_REORDERING_INFINITY
					   ? PDCP_NO_DEADLINE
					   : cfg->t_Reordering * 1000000ULL,
		.sec =
			{
				.crypto = cfg->crypto,
				.keys = cfg->keys,
				.bearer = cfg->rb_identity - 1,
				.direction = cfg->direction,
				.clear_len = (uint8_t)(pdcp_hdr_len(format) + cfg->sdap_hdr_len),
				.mac_i_len =
					cfg->srb || cfg->integrityProtection ? PDCP_MAC_I_LEN : 0,
			},
	};
	e->plain = e->sec.crypto == NULL && e->sec.mac_i_len == 0;
	e->slots = rte_zmalloc("pdcp_rx", sizeof(*e->slots) * slots, RTE_CACHE_LINE_SIZE);
	return e->slots ? 0 : -ENOMEM;
}

void
pdcp_rx_fini(struct pdcp_rx *e)
{
	for (uint32_t i = 0; e->slots != NULL && i <= e->slot_mask; i++)
		if (e->slots[i] != NULL && e->slots[i] != DELIVERED)
			rte_pktmbuf_free(e->slots[i]);
	rte_free(e->slots);
	e->slots = NULL;
	e->held = 0;
	e->configured = false;
	e->plain = false;
}

/** pdcp_rx_in_order(); `format` is a constant wherever this is inlined. */
static __rte_always_inline uint16_t
take_in_order(struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb, enum pdcp_format format)
{
	const uint32_t sn_mask = (1U << pdcp_sn_bits(format)) - 1;
	const uint16_t hdr_len = (uint16_t)pdcp_hdr_len(format);
	uint32_t sn = (uint32_t)e->RX_DELIV & sn_mask;
	uint16_t i;

	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		if (i + AHEAD < nb)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + AHEAD], void *));
		if (m->data_len <= hdr_len || !pdcp_is_data(format, p) ||
		    pdcp_hdr_sn(format, p) != sn)
			break;
		sn = (sn + 1) & sn_mask;
		m->data_off += hdr_len;
		m->data_len -= hdr_len;
		m->pkt_len -= hdr_len;
	}
	/* For RCVD_SN = SN(RX_DELIV) §5.2.2.1 gives RCVD_COUNT = RX_DELIV: the SDU is stored and
	 * delivered at once, RX_NEXT and RX_DELIV move by one; t-Reordering is not running, for
	 * RX_DELIV = RX_NEXT ≥ RX_REORD. */
	e->RX_DELIV += i;
	e->RX_NEXT += i;
	return i;
}

uint16_t
pdcp_rx_in_order(struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb)
{
	if (!e->plain || e->RX_DELIV != e->RX_NEXT || (int64_t)(e->limit - e->RX_NEXT) < nb)
		return 0;
	return e->format == PDCP_DRB_18 ? take_in_order(e, pkts, nb, PDCP_DRB_18)
					: take_in_order(e, pkts, nb, PDCP_DRB_12);
}

/**
 * Delivers all stored SDUs with consecutive COUNTs starting from `count`.
 * @return the first COUNT that was not received.
 */
static uint64_t
deliver_consecutive(struct pdcp_rx *e, uint64_t count, const struct pdcp_rx_sink *sink)
{
	while (count < e->RX_NEXT) {
		struct rte_mbuf **slot = &e->slots[count & e->slot_mask];
		uint64_t most = RTE_MIN(e->RX_NEXT - count, (uint64_t)RUN_MAX);
		uint16_t k = 0;

		most = RTE_MIN(most, e->slot_mask + 1 - (count & e->slot_mask));
		while (k < most && slot[k] != NULL && slot[k] != DELIVERED)
			k++;
		if (k > 0) {
			sink->deliver(sink->arg, slot, k);
			memset(slot, 0, sizeof(*slot) * k);
			e->held -= k;
			count += k;
		} else if (*slot == DELIVERED) {
			*slot = NULL;
			count++;
		} else {
			break;
		}
	}
	return count;
}

/** Follows §5.2.2.2. */
static void
t_reordering_expires(struct pdcp_rx *e, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	uint64_t count = e->RX_DELIV;

	e->running = false;
	e->deadline_ns = PDCP_NO_DEADLINE;
	/* deliver to upper layers in ascending order of the associated COUNT value:
	 * - all stored PDCP SDU(s) with associated COUNT value(s) < RX_REORD;
	 * - all stored PDCP SDU(s) with consecutively associated COUNT value(s) starting from
	 *   RX_REORD */
	while (count < e->RX_REORD) {
		count = deliver_consecutive(e, count, sink);
		if (count < e->RX_REORD)
			count++;
	}
	/* update RX_DELIV to the COUNT value of the first PDCP SDU which has not been delivered to
	 * upper layers, with COUNT value >= RX_REORD */
	e->RX_DELIV = deliver_consecutive(e, count, sink);
	/* if RX_DELIV < RX_NEXT: update RX_REORD to RX_NEXT; start t-Reordering */
	if (e->RX_DELIV < e->RX_NEXT) {
		e->RX_REORD = e->RX_NEXT;
		e->running = true;
		e->deadline_ns = now_ns + e->t_Reordering_ns;
	}
}

static void
t_reordering_start(struct pdcp_rx *e, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	if (e->t_Reordering_ns == 0) {
		t_reordering_expires(e, now_ns, sink);
		return;
	}
	e->running = true;
	if (e->t_Reordering_ns != PDCP_NO_DEADLINE)
		e->deadline_ns = now_ns + e->t_Reordering_ns;
}

/** Puts the SDU into the reception buffer, or delivers it with outOfOrderDelivery. */
static void
store(struct pdcp_rx *e, struct rte_mbuf *m, struct rte_mbuf **slot,
      const struct pdcp_rx_sink *sink)
{
	if (e->sec.mac_i_len)
		ap_pkt_trim(m, e->sec.mac_i_len);
	m = ap_pkt_strip(m, (uint16_t)pdcp_hdr_len(e->format));
	if (e->outOfOrderDelivery) {
		*slot = DELIVERED;
		sink->deliver(sink->arg, &m, 1);
		return;
	}
	*slot = m;
	e->held++;
}

/** The end of §5.2.2.1, for a PDU that is in the reception buffer, delivered, or lost here. */
static void
received(struct pdcp_rx *e, uint64_t RCVD_COUNT, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	/* if RCVD_COUNT >= RX_NEXT: update RX_NEXT to RCVD_COUNT + 1 */
	if (RCVD_COUNT >= e->RX_NEXT)
		e->RX_NEXT = RCVD_COUNT + 1;
	if (unlikely(e->RX_NEXT > e->limit))
		e->limit = PDCP_COUNT_END;
	/* if RCVD_COUNT = RX_DELIV: deliver all stored PDCP SDU(s) with consecutively associated
	 * COUNT value(s) starting from COUNT = RX_DELIV; update RX_DELIV */
	if (RCVD_COUNT == e->RX_DELIV)
		e->RX_DELIV = deliver_consecutive(e, e->RX_DELIV, sink);
	/* if t-Reordering is running, and if RX_DELIV >= RX_REORD: stop and reset t-Reordering */
	if (e->running && e->RX_DELIV >= e->RX_REORD) {
		e->running = false;
		e->deadline_ns = PDCP_NO_DEADLINE;
	}
	/* if t-Reordering is not running, and RX_DELIV < RX_NEXT: update RX_REORD to RX_NEXT; start
	 * t-Reordering */
	if (!e->running && e->RX_DELIV < e->RX_NEXT) {
		e->RX_REORD = e->RX_NEXT;
		t_reordering_start(e, now_ns, sink);
	}
}

/**
 * A PDU that came, but could not be deciphered for want of a buffer, on a bearer without
 * integrity protection. Nobody sends it again: RLC has delivered it. So nothing waits for it, and
 * the window moves on, or a while without buffers would end in a wrong HFN for ever.
 */
static void
lost_here(struct pdcp_rx *e, uint64_t RCVD_COUNT, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	struct rte_mbuf **slot = &e->slots[RCVD_COUNT & e->slot_mask];

	if (RCVD_COUNT < e->RX_DELIV)
		return;
	if (RCVD_COUNT - e->RX_DELIV <= e->slot_mask) {
		if (*slot != NULL)
			return;
		*slot = DELIVERED;
	}
	received(e, RCVD_COUNT, now_ns, sink);
}

/** §5.2.2.1 from the determined RCVD_COUNT on, for a PDU that passed integrity verification. */
static void
data_pdu(struct pdcp_rx *e, struct rte_mbuf *m, uint64_t RCVD_COUNT, uint64_t now_ns,
	 const struct pdcp_rx_sink *sink)
{
	struct rte_mbuf **slot = &e->slots[RCVD_COUNT & e->slot_mask];

	/* if RCVD_COUNT < RX_DELIV; or
	 * if the PDCP Data PDU with COUNT = RCVD_COUNT has been received before:
	 * - discard the PDCP Data PDU */
	if (RCVD_COUNT < e->RX_DELIV) {
		pdcp_rx_lose(sink, PDCP_RX_OLD, m);
		return;
	}
	if (RCVD_COUNT - e->RX_DELIV > e->slot_mask) {
		/* Received but lost here. The state moves on, or t-Reordering would never close the
		 * gap in front of it. */
		pdcp_rx_lose(sink, PDCP_RX_REORDER_FULL, m);
	} else if (*slot != NULL) {
		pdcp_rx_lose(sink, PDCP_RX_DUPLICATE, m);
		return;
	} else {
		/* store the resulting PDCP SDU in the reception buffer;
		 * if outOfOrderDelivery is configured: deliver it to upper layers */
		store(e, m, slot, sink);
	}
	received(e, RCVD_COUNT, now_ns, sink);
}

void
pdcp_rx_receive(struct pdcp_rx *e, struct rte_mbuf **pkts, uint16_t nb, uint64_t now_ns,
		const struct pdcp_rx_sink *sink)
{
	uint16_t i = 0;

	while (i < nb) {
		uint16_t k = pdcp_rx_in_order(e, pkts + i, nb - i);
		uint32_t count;

		if (k > 0) {
			sink->deliver(sink->arg, pkts + i, k);
			i += k;
			continue;
		}
		if (i + AHEAD < nb)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + AHEAD], void *));
		if (pdcp_rx_pre_process(e, pkts[i], &count, sink))
			data_pdu(e, pkts[i], count, now_ns, sink);
		i++;
	}
}

static const enum pdcp_rx_drop drop_of[] = {
	[PDCP_SECURITY_MAC_I] = PDCP_RX_INTEGRITY,
	[PDCP_SECURITY_NO_MBUF] = PDCP_RX_NO_MBUF,
	[PDCP_SECURITY_TOO_LONG] = PDCP_RX_TOO_LONG,
	[PDCP_SECURITY_DEVICE] = PDCP_RX_DEVICE,
};

/**
 * Takes PDUs from the front of a vector as pdcp_rx_in_order() does: each passed, is the very next
 * one of the same entity, and nothing waits.
 * @return how many were taken
 */
static uint16_t
take_verified(struct pdcp_secured *pdus, uint16_t nb, const struct pdcp_rx_sink *sink)
{
	struct pdcp_rx *e = pdus[0].entity;
	const uint16_t hdr_len = (uint16_t)pdcp_hdr_len(e->format), mac_i = e->sec.mac_i_len;
	struct rte_mbuf *sdus[PDCP_CRYPTO_BATCH];
	uint16_t i;

	if (e->RX_DELIV != e->RX_NEXT || (int64_t)(e->limit - e->RX_NEXT) < nb)
		return 0;
	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = pdus[i].m;

		if (pdus[i].failed || pdus[i].entity != e || pdus[i].count != e->RX_NEXT + i ||
		    m->data_len <= hdr_len + mac_i || m->nb_segs != 1)
			break;
		m->data_off += hdr_len;
		m->data_len -= hdr_len + mac_i;
		m->pkt_len -= hdr_len + mac_i;
		sdus[i] = m;
	}
	e->RX_DELIV += i;
	e->RX_NEXT += i;
	if (i > 0)
		sink->deliver(sink->arg, sdus, i);
	return i;
}

static __rte_noinline void
security_failed(const struct pdcp_secured *pdu, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	pdcp_rx_lose(sink, drop_of[pdu->failed], pdu->m);
	/* With integrity protection no state moves for a PDU that was not verified. */
	if (pdu->failed != PDCP_SECURITY_MAC_I && pdu->sec->mac_i_len == 0)
		lost_here(pdu->entity, pdu->count, now_ns, sink);
}

void
pdcp_rx_verify(struct pdcp_batch *b, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	if (b->nb == 0)
		return;
	b->crypto->verify(b->pdus, b->nb);
	for (uint16_t i = 0; i < b->nb; i++) {
		struct pdcp_secured *pdu = &b->pdus[i];
		uint16_t taken = take_verified(pdu, b->nb - i, sink);

		if (taken > 0)
			i += taken - 1;
		else if (pdu->failed)
			security_failed(pdu, now_ns, sink);
		else
			data_pdu(pdu->entity, pdu->m, pdu->count, now_ns, sink);
	}
	b->nb = 0;
}

/** Follows §5.1.2, receiving entity. */
void
pdcp_rx_reestablish(struct pdcp_rx *e, enum pdcp_drb_mode mode, const struct pdcp_keys *keys,
		    const struct pdcp_rx_sink *sink)
{
	if (mode == PDCP_DRB_UM) {
		/* if t-Reordering is running: stop and reset t-Reordering; deliver all stored PDCP
		 * SDUs to upper layers in ascending order of associated COUNT values */
		e->running = false;
		e->deadline_ns = PDCP_NO_DEADLINE;
		for (uint64_t c = e->RX_DELIV; c < e->RX_NEXT && c - e->RX_DELIV <= e->slot_mask;
		     c++)
			c = deliver_consecutive(e, c, sink);
		/* set RX_NEXT and RX_DELIV to the initial value */
		e->RX_NEXT = e->RX_DELIV = e->RX_REORD = 0;
		e->limit = pdcp_count_limit(e->count_notify);
	}
	/* apply the ciphering and integrity protection algorithms and keys provided by upper layers
	 * during the PDCP entity re-establishment procedure */
	e->sec.crypto = keys->crypto;
	e->sec.keys = keys->keys;
	e->plain = e->sec.crypto == NULL && e->sec.mac_i_len == 0;
}

void
pdcp_rx_expire(struct pdcp_rx *e, uint64_t now_ns, const struct pdcp_rx_sink *sink)
{
	if (e->deadline_ns <= now_ns)
		t_reordering_expires(e, now_ns, sink);
}
