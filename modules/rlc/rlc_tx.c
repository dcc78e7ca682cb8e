/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "core/pkt.h"
#include "modules/rlc/rlc_tx.h"

#define QUEUE_SDUS_MAX (1U << 20)
#define DISCARD_MS_MAX 1000000U
#define PREFETCH 4

int
rlc_tx_init(struct rlc_tx *e, const struct rlc_tx_cfg *cfg)
{
	int ret;

	if (cfg->mode != RLC_TM && cfg->mode != RLC_UM && cfg->mode != RLC_AM)
		return -EINVAL;
	if (cfg->mode == RLC_UM && cfg->sn_FieldLength != RLC_SN_6 &&
	    cfg->sn_FieldLength != RLC_SN_12)
		return -EINVAL;
	if (cfg->queue_sdus == 0 || cfg->queue_sdus > QUEUE_SDUS_MAX)
		return -EINVAL;
	if (cfg->discard_ms > DISCARD_MS_MAX)
		return -EINVAL;
	*e = (struct rlc_tx){
		.mode = cfg->mode,
		.bits = cfg->sn_FieldLength,
		.bearer = cfg->bearer,
		.discard_us = (int32_t)(cfg->discard_ms * 1000),
		.lcid = cfg->lcid,
		.hdr = cfg->pools->hdr,
		.ind = cfg->pools->ind,
		.frame = cfg->pools->phy,
	};
	ret = ap_queue_init(&e->queue, rte_align32pow2(cfg->queue_sdus));
	if (ret == 0 && cfg->mode == RLC_AM)
		ret = rlc_am_tx_init(e, &cfg->am);
	if (ret < 0)
		rlc_tx_fini(e);
	return ret;
}

void
rlc_tx_fini(struct rlc_tx *e)
{
	rte_pktmbuf_free(e->um.sdu);
	e->um.sdu = NULL;
	rlc_am_tx_fini(e);
	ap_queue_fini(&e->queue);
	e->mode = RLC_NONE;
}

uint64_t
rlc_tx_held(const struct rlc_tx *e)
{
	return ap_queue_count(&e->queue) + (e->um.sdu ? 1 : 0) +
	       atomic_load_explicit(&e->retained, memory_order_relaxed);
}

uint64_t
rlc_tx_unsent(const struct rlc_tx *e)
{
	uint64_t n = ap_queue_count(&e->queue) + (e->um.sdu ? 1 : 0);

	if (e->am)
		n += e->am->nb_pending + (e->am->left ? 1 : 0) + rlc_am_link_wanted(&e->am->link);
	return n;
}

static unsigned
drop(struct rlc_tx *e, struct rte_mbuf **sdus, unsigned n, uint64_t *counter)
{
	/* PDCP counted them as submitted: they must not take room for ever. */
	atomic_store_explicit(&e->lost, atomic_load_explicit(&e->lost, memory_order_relaxed) + n,
			      memory_order_release);
	*counter += n;
	rte_pktmbuf_free_bulk(sdus, n);
	return 0;
}

/* The UMD PDU of a complete SDU, TS 38.322 figure 6.2.2.3-1: one zero byte in front. */
static inline struct rte_mbuf *
um_header(struct rlc_tx *e, struct rte_mbuf *m)
{
	uint8_t *header = ap_pkt_prepend(&m, RLC_UMD_COMPLETE_LEN, e->hdr);

	if (unlikely(header == NULL))
		return NULL;
	*header = 0;
	return m;
}

/*
 * Room for the header of an AMD PDU, which a pull writes. AP_M_RETAINED marks an SDU that
 * has it in a buffer of its own; another stays as it is and is sent by reference.
 */
static inline uint32_t
am_header(const struct rlc_tx *e, struct rte_mbuf *m)
{
	const uint16_t len = (uint16_t)(e->bits == RLC_SN_12 ? 2 : 3);

	if (unlikely(m->nb_segs != 1 || !ap_seg_writable(m) || m->data_off < len))
		return m->pkt_len + len;
	m->data_off -= len;
	m->data_len += len;
	m->pkt_len += len;
	ap_meta(m)->flags |= AP_M_RETAINED;
	return m->pkt_len;
}

/* `n` SDUs for which the queue has room. */
static unsigned
push_fitting(struct rlc_tx *e, struct rte_mbuf **sdus, unsigned n, uint32_t now_us, uint64_t *drops)
{
	const bool um = e->mode == RLC_UM, am = e->mode == RLC_AM;
	uint64_t bytes = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = sdus[i];
		struct ap_meta *meta;
		uint32_t len;

		if (i + PREFETCH < n)
			rte_prefetch0_write(rte_pktmbuf_mtod(sdus[i + PREFETCH], void *));
		if (unlikely(m->pkt_len - 1 >= RLC_SDU_MAX)) {
			drop(e, &sdus[i], 1,
			     &drops[m->pkt_len ? RLC_TX_SDU_OVERSIZE : RLC_TX_SDU_EMPTY]);
			continue;
		}
		if (um)
			m = um_header(e, m);
		if (unlikely(m == NULL)) {
			drop(e, &sdus[i], 1, &drops[RLC_TX_NO_MBUF]);
			continue;
		}
		meta = ap_meta(m);
		meta->bearer = e->bearer;
		meta->lcid = e->lcid;
		meta->flags &= AP_M_TIMED;
		len = am ? am_header(e, m) : m->pkt_len;
		bytes += len;
		*ap_queue_slot(&e->queue, k++) =
			(struct ap_queue_entry){.m = m, .bytes = len, .enter_us = now_us};
	}
	ap_queue_commit(&e->queue, k, bytes);
	return k;
}

unsigned
rlc_tx_push(struct rlc_tx *e, struct rte_mbuf **sdus, unsigned n, uint64_t now_ns, uint64_t *drops)
{
	uint32_t room;

	if (unlikely(e->mode == RLC_NONE))
		return drop(e, sdus, n, &drops[RLC_TX_NO_BEARER]);
	room = ap_queue_room(&e->queue);
	if (unlikely(room < n)) {
		drop(e, sdus + room, n - room, &drops[RLC_TX_QUEUE_FULL]);
		n = room;
	}
	return push_fitting(e, sdus, n, (uint32_t)(now_ns / AP_NS_PER_US), drops);
}

unsigned
rlc_tx_discard_expired(struct rlc_tx *e, uint64_t now_ns)
{
	uint32_t now_us = (uint32_t)(now_ns / AP_NS_PER_US);
	const struct ap_queue_entry *x;
	unsigned n = 0;

	if (e->discard_us == 0)
		return 0;
	/* Signed: the push lcore may have read its clock after this lcore read `now`. */
	while ((x = ap_queue_peek(&e->queue, 0)) != NULL &&
	       (int32_t)(now_us - x->enter_us) >= e->discard_us) {
		rte_pktmbuf_free(x->m);
		ap_queue_take(&e->queue, 1, x->bytes);
		n++;
	}
	return n;
}

unsigned
rlc_tx_slot(struct rlc_tx *e, uint64_t now_ns)
{
	if (e->am)
		rlc_am_tx_tick(e, now_ns);
	return rlc_tx_discard_expired(e, now_ns);
}

unsigned
rlc_tx_pull_whole(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
		  unsigned max)
{
	const struct ap_queue_entry *x;
	uint32_t taken = 0;
	uint64_t bytes = 0;
	unsigned n = 0;

	while (n < max && taken < want && (x = ap_queue_peek(&e->queue, n)) != NULL) {
		uint32_t need = x->bytes + rlc_mac_overhead(x->bytes);

		if (need > *grant - taken)
			break;
		taken += need;
		bytes += x->bytes;
		pdus[n++] = x->m;
	}
	if (n > 0)
		ap_queue_take(&e->queue, n, bytes);
	*grant -= taken;
	return n;
}

unsigned
rlc_tx_pull_some(struct rlc_tx *e, uint32_t *grant, uint32_t want, struct rte_mbuf **pdus,
		 unsigned max, uint64_t now_ns, struct rlc_tx_pull_stats *stats)
{
	stats->discarded += rlc_tx_slot(e, now_ns);
	if (unlikely(atomic_load_explicit(&e->suspended, memory_order_acquire)))
		return 0;
	switch (e->mode) {
	case RLC_TM:
		return rlc_tx_pull_whole(e, grant, want, pdus, max);
	case RLC_UM:
		return rlc_um_tx_pull(e, grant, want, pdus, max, stats);
	case RLC_AM:
		return rlc_am_tx_pull(e, grant, want, pdus, max, now_ns, stats);
	case RLC_NONE:
		break;
	}
	return 0;
}
