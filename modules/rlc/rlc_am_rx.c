/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving AM entity, TS 38.322 §5.2.3.2: window, reassembly, t-Reassembly, polls. */
#include <errno.h>

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_bits.h"
#include "modules/rlc/rlc_rx.h"

#define SEGMENTS_MAX 4096
#define AHEAD 4

int
rlc_am_rx_init(struct rlc_rx *e, uint32_t segments_max, struct rlc_am_link *link)
{
	struct rlc_am_rx *am = &e->am;

	if ((e->bits != RLC_SN_12 && e->bits != RLC_SN_18) || link == NULL)
		return -EINVAL;
	am->window = rlc_am_window(e->bits);
	am->sn_mask = rlc_sn_mask(e->bits);
	am->header = rlc_amd_len(RLC_SI_COMPLETE, e->bits);
	am->link = link;
	am->received = rte_zmalloc("rlc_am_received", am->window / 8, RTE_CACHE_LINE_SIZE);
	am->partial = rte_zmalloc("rlc_am_partial", am->window / 8, RTE_CACHE_LINE_SIZE);
	am->sdus = rte_zmalloc("rlc_am_sdus", am->window * sizeof(*am->sdus), RTE_CACHE_LINE_SIZE);
	am->scratch = rte_malloc("rlc_am_scratch", RLC_AM_STATUS_MAX, RTE_CACHE_LINE_SIZE);
	if (am->received && am->partial && am->sdus && am->scratch &&
	    rlc_seg_table_init(&am->segs, segments_max ? segments_max : SEGMENTS_MAX) == 0)
		return 0;
	rlc_am_rx_fini(e);
	return -ENOMEM;
}

/* The partly received SDU `sn` is given up. @return segments freed. */
static unsigned
partial_drop(struct rlc_rx *e, uint32_t sn)
{
	struct rlc_am_rx *am = &e->am;
	unsigned n = rlc_sdu_drop(&am->segs, &am->sdus[sn & (am->window - 1)]);

	rlc_bits_clear(am->partial, am->window, sn);
	e->held -= n;
	return n;
}

unsigned
rlc_am_rx_reset(struct rlc_rx *e)
{
	struct rlc_am_rx *am = &e->am;
	unsigned n = 0;

	for (uint32_t i = 0; i < am->window; i++)
		if (rlc_bits_get(am->partial, am->window, i))
			n += partial_drop(e, i);
	rlc_bits_clear_range(am->received, am->window, 0, am->window);
	am->RX_Next = am->RX_Next_Status_Trigger = 0;
	am->RX_Next_Highest = am->RX_Highest_Status = 0;
	am->triggered = am->delayed = false;
	e->deadline_ns = 0;
	atomic_store_explicit(&am->link->need,
			      atomic_load_explicit(&am->link->sent, memory_order_acquire),
			      memory_order_release);
	return n;
}

void
rlc_am_rx_fini(struct rlc_rx *e)
{
	struct rlc_am_rx *am = &e->am;

	for (uint32_t i = 0; am->segs.segs && i < am->window; i++)
		if (rlc_bits_get(am->partial, am->window, i))
			partial_drop(e, i);
	rte_free(am->received);
	rte_free(am->partial);
	rte_free(am->sdus);
	rte_free(am->scratch);
	rlc_seg_table_fini(&am->segs);
	*am = (struct rlc_am_rx){0};
	e->deadline_ns = 0;
}

static struct rte_mbuf *
drop(struct rlc_rx_counts *c, enum rlc_rx_drop reason, struct rte_mbuf *m)
{
	c->drops[reason]++;
	rte_pktmbuf_free(m);
	return NULL;
}

/* §7.1: comparisons are made modulo, from RX_Next on. */
static inline uint32_t
rel(const struct rlc_am_rx *am, uint32_t sn)
{
	return (sn - am->RX_Next) & am->sn_mask;
}

static struct rlc_sdu *
sdu_of(const struct rlc_am_rx *am, uint32_t sn)
{
	return &am->sdus[sn & (am->window - 1)];
}

/* "the first SN > `sn` for which not all bytes have been received" */
static uint32_t
next_missing(const struct rlc_am_rx *am, uint32_t sn)
{
	const uint32_t most = (am->RX_Next_Highest - sn - 1) & am->sn_mask;

	return (sn + 1 + rlc_bits_find(am->received, am->window, sn + 1, most, false)) &
	       am->sn_mask;
}

/* --- STATUS reporting, §5.3.4 ----------------------------------------------------------------- */

/* "if x < RX_Highest_Status or x >= RX_Next + AM_Window_Size" */
static bool
poll_is_ripe(const struct rlc_am_rx *am, uint32_t x)
{
	return rel(am, x) < rel(am, am->RX_Highest_Status) || rel(am, x) >= am->window;
}

/* "trigger a STATUS report; else: delay triggering" */
static void
polled(struct rlc_am_rx *am, uint32_t x, bool discarded)
{
	if (discarded || poll_is_ripe(am, x)) {
		am->triggered = true;
		return;
	}
	if (!am->delayed || rel(am, x) < rel(am, am->poll_first))
		am->poll_first = x;
	if (!am->delayed || rel(am, x) > rel(am, am->poll_last))
		am->poll_last = x;
	am->delayed = true;
}

/* One STATUS PDU answers all polls that are ripe. */
static void
ripen(struct rlc_am_rx *am)
{
	if (!poll_is_ripe(am, am->poll_first))
		return;
	am->triggered = true;
	am->delayed = !poll_is_ripe(am, am->poll_last);
	am->poll_first = am->poll_last;
}

/* --- t-Reassembly, §5.2.3.2.3 and §5.2.3.2.4 -------------------------------------------------- */

/* "there is at least one missing byte segment of the RLC SDU associated with SN = `sn` before the
 * last byte of all received segments of this RLC SDU" */
static bool
has_gap(const struct rlc_am_rx *am, uint32_t sn)
{
	return rlc_bits_get(am->partial, am->window, sn) &&
	       rlc_sdu_has_gap(&am->segs, sdu_of(am, sn));
}

/* "if RX_Next_Highest > `sn` + 1; or if RX_Next_Highest = `sn` + 1 and there is" a gap in it */
static bool
something_missing(const struct rlc_am_rx *am, uint32_t sn)
{
	const uint32_t behind = (am->RX_Next_Highest - sn) & am->sn_mask;

	return behind > 1 || (behind == 1 && has_gap(am, sn));
}

static void
start_timer(struct rlc_rx *e, uint64_t now_ns)
{
	e->deadline_ns = RTE_MAX(now_ns + e->t_Reassembly_ns, 1U);
	e->am.RX_Next_Status_Trigger = e->am.RX_Next_Highest;
	if (unlikely(e->t_Reassembly_ns == 0))
		rlc_am_rx_expire(e, now_ns);
}

static inline void
update_timer(struct rlc_rx *e, uint64_t now_ns)
{
	struct rlc_am_rx *am = &e->am;
	const uint32_t trigger = rel(am, am->RX_Next_Status_Trigger);

	/* "if RX_Next_Status_Trigger = RX_Next; or if RX_Next_Status_Trigger = RX_Next + 1 and
	 * there is no missing byte segment …; or if RX_Next_Status_Trigger falls outside of the
	 * receiving window and RX_Next_Status_Trigger is not equal to RX_Next + AM_Window_Size:
	 * stop and reset t-Reassembly" */
	if (e->deadline_ns &&
	    (trigger == 0 || (trigger == 1 && !has_gap(am, am->RX_Next)) || trigger > am->window))
		e->deadline_ns = 0;
	if (e->deadline_ns == 0 && something_missing(am, am->RX_Next))
		start_timer(e, now_ns);
}

void
rlc_am_rx_expire(struct rlc_rx *e, uint64_t now_ns)
{
	struct rlc_am_rx *am = &e->am;
	const uint32_t sn = am->RX_Next_Status_Trigger;

	e->deadline_ns = 0;
	/* "update RX_Highest_Status to the SN of the first RLC SDU with SN >=
	 * RX_Next_Status_Trigger for which not all bytes have been received" */
	am->RX_Highest_Status = next_missing(am, sn - 1);
	/* §5.3.4: "detection of reception failure of an AMD PDU" */
	am->triggered = true;
	if (am->delayed)
		ripen(am);
	if (e->t_Reassembly_ns && something_missing(am, am->RX_Highest_Status))
		start_timer(e, now_ns);
	rlc_am_rx_report(am);
}

/* --- reception, §5.2.3.2.2 -------------------------------------------------------------------- */

/* All bytes of SDU `x` are there. */
static inline void
completed(struct rlc_am_rx *am, uint32_t x)
{
	uint32_t next;

	rlc_bits_set(am->received, am->window, x);
	/* "if x = RX_Highest_Status, update RX_Highest_Status to the SN of the first RLC SDU with
	 * SN > current RX_Highest_Status for which not all bytes have been received" */
	if (x == am->RX_Highest_Status)
		am->RX_Highest_Status = next_missing(am, x);
	/* "if x = RX_Next: update RX_Next" likewise */
	if (x == am->RX_Next) {
		next = next_missing(am, x);
		rlc_bits_clear_range(am->received, am->window, x, (next - x) & am->sn_mask);
		am->RX_Next = next;
	}
}

/*
 * All descriptors are in use: the highest SN that is partly received is forgotten, lest low SNs
 * wait for ever. The peer keeps the whole SDU until all of it is acknowledged.
 * @return segments freed, 0 when `sn` itself is the one to do without.
 */
static unsigned
make_room(struct rlc_rx *e, uint32_t sn)
{
	struct rlc_am_rx *am = &e->am;

	for (uint32_t i = rel(am, am->RX_Next_Highest); i-- > rel(am, sn);) {
		const uint32_t slot = (am->RX_Next + i) & (am->window - 1);

		if (am->partial[slot / 64] == 0)
			i -= RTE_MIN(i, slot % 64);
		else if (rlc_bits_get(am->partial, am->window, slot))
			return partial_drop(e, slot);
	}
	return 0;
}

/* A segment. @return the SDU if it is complete now, or NULL. */
static struct rte_mbuf *
place(struct rlc_rx *e, const struct rlc_amd *h, struct rte_mbuf *m, struct rlc_rx_counts *c,
      bool *kept)
{
	static const enum rlc_rx_drop reasons[] = {
		[RLC_INSERT_DUPLICATE] = RLC_RX_DUPLICATE,
		[RLC_INSERT_CONFLICT] = RLC_RX_SO_CONFLICT,
		[RLC_INSERT_FULL] = RLC_RX_SEGMENTS_FULL,
	};
	struct rlc_am_rx *am = &e->am;
	struct rlc_sdu *s = sdu_of(am, h->sn);
	enum rlc_insert inserted;
	unsigned covered, segments;

	if (unlikely(am->segs.free == 0))
		c->drops[RLC_RX_SEGMENTS_FULL] += make_room(e, h->sn);
	inserted = rlc_sdu_insert(&am->segs, s, m, h->so, h->si == RLC_SI_LAST, &covered);
	if (inserted != RLC_INSERT_OK)
		drop(c, reasons[inserted], m);
	else
		e->held++;
	e->held -= covered;
	c->drops[RLC_RX_DUPLICATE] += covered;
	*kept = inserted == RLC_INSERT_OK;
	if (s->first)
		rlc_bits_set(am->partial, am->window, h->sn);
	if (!rlc_sdu_is_complete(s))
		return NULL;
	m = rlc_sdu_join(&am->segs, s, &segments);
	rlc_bits_clear(am->partial, am->window, h->sn);
	e->held -= segments;
	c->used += segments;
	c->made++;
	return m;
}

/* Payload `m` of a PDU that is not the next in order. */
static struct rte_mbuf *
receive_other(struct rlc_rx *e, const struct rlc_amd *h, struct rte_mbuf *m,
	      struct rlc_rx_counts *c, uint64_t now_ns)
{
	struct rlc_am_rx *am = &e->am;
	bool kept = true;

	/* "if x falls outside of the receiving window; or if byte segment numbers y to z of the
	 * RLC SDU with SN = x have been received before: discard" */
	if (unlikely(rel(am, h->sn) >= am->window))
		m = drop(c, RLC_RX_SN_OLD, m), kept = false;
	else if (unlikely(rlc_bits_get(am->received, am->window, h->sn)))
		m = drop(c, RLC_RX_DUPLICATE, m), kept = false;
	else if (h->si != RLC_SI_COMPLETE)
		m = place(e, h, m, c, &kept);
	else if (unlikely(rlc_bits_get(am->partial, am->window, h->sn)))
		c->drops[RLC_RX_DUPLICATE] += partial_drop(e, h->sn);
	if (kept || m) {
		/* "if x >= RX_Next_Highest: update RX_Next_Highest to x + 1" */
		if (rel(am, h->sn) >= rel(am, am->RX_Next_Highest))
			am->RX_Next_Highest = (h->sn + 1) & am->sn_mask;
		if (m)
			completed(am, h->sn);
		update_timer(e, now_ns);
		if (am->delayed)
			ripen(am);
	}
	if (h->p)
		polled(am, h->sn, !kept && m == NULL);
	return m;
}

/* §5.2.3.2.1 for a control PDU: the transmitting side acts on it. */
static struct rte_mbuf *
control(struct rlc_am_rx *am, struct rte_mbuf *m, struct rlc_rx_counts *c, enum rlc_sn_len bits)
{
	const uint32_t len = m->pkt_len;
	struct ap_queue_entry x = {.m = m, .bytes = len};
	struct rlc_status_iter it;
	struct rlc_nack nack;
	int ret = -1;

	if (len <= RLC_AM_STATUS_MAX &&
	    rlc_status_open(&it, rte_pktmbuf_read(m, 0, len, am->scratch), len, bits) > 0)
		do
			ret = rlc_status_next(&it, &nack);
		while (ret > 0);
	if (ret < 0)
		return drop(c, RLC_RX_STATUS_BAD, m);
	if (ap_queue_push(&am->link->status, &x, 1) == 0)
		return drop(c, RLC_RX_STATUS_FULL, m);
	c->used++;
	return NULL;
}

/* Any PDU but the common one. */
static struct rte_mbuf *
receive_one(struct rlc_rx *e, struct rte_mbuf *m, struct rlc_rx_counts *c, uint64_t now_ns)
{
	const uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)RLC_AMD_HEADER_MAX);
	uint8_t copy[RLC_AMD_HEADER_MAX];
	const uint8_t *p = rte_pktmbuf_read(m, 0, len, copy);
	enum rlc_rx_drop why = RLC_RX_PDU_SHORT;
	struct rlc_amd h;
	int ret;

	if (len > 0 && rlc_am_is_control(*p))
		return control(&e->am, m, c, e->bits);
	ret = rlc_amd_decode(p, len, e->bits, &h);
	if (ret == -CODEC_CONTRADICTION)
		why = RLC_RX_SI_SO;
	else if (ret > 0 && m->pkt_len == (uint32_t)ret)
		why = RLC_RX_SDU_EMPTY;
	else if (ret > 0 && h.so + m->pkt_len - (uint32_t)ret > RLC_SDU_MAX)
		why = RLC_RX_SDU_OVERSIZE;
	else if (ret > 0)
		return receive_other(e, &h, ap_pkt_strip(m, (uint16_t)ret), c, now_ns);
	/* The poll counts even if what carries it does not. */
	if (ret != -CODEC_SHORT && h.p)
		polled(&e->am, h.sn, true);
	return drop(c, why, m);
}

/* SN of a complete SDU's PDU, flags left out. */
static inline uint32_t
common_sn(const uint8_t *p, enum rlc_sn_len bits)
{
	if (bits == RLC_SN_12)
		return (uint32_t)(p[0] & 0x0f) << 8 | p[1];
	return (uint32_t)(p[0] & 0x03) << 16 | (uint32_t)p[1] << 8 | p[2];
}

/*
 * A complete SDU while others before it are missing and t-Reassembly runs: neither RX_Next nor
 * RX_Highest_Status moves, so nothing but its bit and RX_Next_Highest changes.
 * @return false when there is more to it.
 */
static inline bool
receive_ahead(const struct rlc_rx *e, struct rlc_am_rx *am, uint32_t sn)
{
	const uint32_t slot = sn & (am->window - 1), x = rel(am, sn);
	const uint64_t bit = 1ULL << slot % 64;
	uint64_t *word = &am->received[slot / 64];

	if (e->deadline_ns == 0 || e->held || x - 1 >= am->window - 1 ||
	    sn == am->RX_Highest_Status || *word & bit)
		return false;
	*word |= bit;
	if (x >= rel(am, am->RX_Next_Highest))
		am->RX_Next_Highest = (sn + 1) & am->sn_mask;
	return true;
}

unsigned
rlc_am_rx_receive(struct rlc_rx *e, struct rte_mbuf **pdus, unsigned n, struct rte_mbuf **sdus,
		  struct rlc_rx_counts *c, uint64_t now_ns)
{
	struct rlc_am_rx *am = &e->am;
	const uint32_t header = am->header;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = pdus[i];
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		if (i + AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(pdus[i + AHEAD], void *));
		/* Complete: D/C 1, SI 00; P and R may be anything. */
		if (likely(m->data_len > header && m->pkt_len <= RLC_SDU_MAX &&
			   (*p & 0xb0) == 0x80)) {
			const struct rlc_amd h = {.p = *p & 0x40, .sn = common_sn(p, e->bits)};

			m->data_off = (uint16_t)(m->data_off + header);
			m->data_len = (uint16_t)(m->data_len - header);
			m->pkt_len -= header;
			/* With nothing missing all state variables are the same SN. */
			if (likely(h.sn == am->RX_Next && h.sn == am->RX_Next_Highest)) {
				am->RX_Next = (h.sn + 1) & am->sn_mask;
				am->RX_Next_Highest = am->RX_Next;
				am->RX_Highest_Status = am->RX_Next;
				am->triggered |= h.p;
			} else if (likely(!h.p && receive_ahead(e, am, h.sn))) {
				; /* delivered out of order */
			} else {
				m = receive_other(e, &h, m, c, now_ns);
			}
		} else {
			m = receive_one(e, m, c, now_ns);
		}
		if (m)
			sdus[k++] = m;
	}
	rlc_am_rx_report(am);
	return k;
}
