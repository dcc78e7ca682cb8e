/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/mac/mac_serve.h"

#include <rte_ring.h>

#include "modules/fapi/fapi_tx.h"
#include "modules/pdcp/pdcp_status.h"

#define VISIT_PKTS 256

const char *const mac_serve_edges[] = {
	"fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", [MAC_SLOT_EDGE_SR] = "sr"};
_Static_assert(RTE_DIM(mac_serve_edges) == L2_CARRIERS_MAX + 1,
	       "an edge per carrier, and the last for requests");

const char *const mac_serve_drops[] = {
	[MAC_SERVE_DISCARD_TIMER] =
		"discard_timer", /* SDUs whose discardTimer expired in the RLC queue */
	[MAC_SERVE_TB_NO_MARK] =
		"tb_no_mark",                /* grants unused for want of an mbuf; no SDU is lost */
	[MAC_SERVE_CONFIRMED] = "confirmed", /* SDUs the peer's PDCP status report had already */
	[MAC_SERVE_REESTABLISHED] =
		"reestablished",            /* SDUs that RLC's re-establishment discarded */
	[MAC_SERVE_NO_MBUF] = "sr_no_mbuf", /* requests not sent for want of an mbuf */
};

void
mac_serve_reports(struct ap_node *n, struct l2 *l2)
{
	uint64_t discarded;

	if (likely(l2->reports == NULL || rte_ring_empty(l2->reports)))
		return;
	discarded = pdcp_status_apply(l2);
	n->made += discarded;
	n->drops[MAC_SERVE_CONFIRMED] += discarded;
}

void
mac_slot_node_reestablished(struct ap_node *n, uint64_t discarded)
{
	n->made += discarded;
	n->drops[MAC_SERVE_REESTABLISHED] += discarded;
}

/* What never became a packet on an edge was made and dropped here. */
static void
count_losses(struct ap_node *n, uint64_t discarded, uint64_t no_mark)
{
	n->made += discarded + no_mark;
	n->drops[MAC_SERVE_DISCARD_TIMER] += discarded;
	n->drops[MAC_SERVE_TB_NO_MARK] += no_mark;
}

static void
begin_ue(struct ap_node *n, struct mac_serve *s, const struct slot_grant *g, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	struct mac_tx *tx = &l2->mac_tx[g->ue];
	const uint64_t discarded = tx->rlc.discarded;

	s->ue = g->ue;
	tx->serial = s->serial;
	mac_tx_slot(tx, g, now_ns);
	count_losses(n, tx->rlc.discarded - discarded, 0);
}

/* @return false when all UEs of this slot have been served. */
static bool
next_ue(struct ap_node *n, struct mac_serve *s, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;

	if (++s->at < s->nb) {
		begin_ue(n, s, &s->records[s->at], now_ns);
		return true;
	}
	while (s->idle_left > 0) {
		const uint32_t ue = s->turn;

		s->idle_left--;
		s->turn = ue + 1 < l2->nb_ues ? ue + 1 : 0;
		if (l2->mac_tx[ue].serial != s->serial) {
			const struct slot_grant g = {.enter_ns = s->records[0].enter_ns,
						     .sfn = s->records[0].sfn,
						     .slot = s->records[0].slot,
						     .ue = (uint16_t)ue};

			begin_ue(n, s, &g, now_ns);
			return true;
		}
	}
	return false;
}

void
mac_serve_begin(struct ap_node *n, struct mac_serve *s, uint64_t now_ns)
{
	struct l2 *l2 = n->role;

	l2->slots_served++;
	s->busy = true;
	s->serial++;
	s->at = 0;
	s->idle_left = l2->nb_ues > 1 ? RTE_MIN(l2->nb_ues, (uint32_t)MAC_SERVE_IDLE) : 0;
	begin_ue(n, s, &s->records[0], now_ns);
}

/* The SR of a slot whose grants are used up. */
static unsigned
send_sr(struct ap_node *n, struct mac_tx *tx, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	const struct fapi_sr sr = {.at = {tx->slot.sfn, tx->slot.slot}, .rnti = tx->sr.cfg.rnti};
	struct rte_mbuf *m;

	if (!mac_sr_due(tx, now_ns))
		return 0;
	n->made++;
	m = rte_pktmbuf_alloc(l2->pools.hdr);
	if (m == NULL) {
		n->drops[MAC_SERVE_NO_MBUF]++;
		return 0;
	}
	fapi_tx_sr(&l2->fapi_tx[0], m, &sr, tx->sr.sequence++, now_ns);
	mac_sr_sent(tx, now_ns);
	ap_next_one(n, MAC_SLOT_EDGE_SR, m);
	return 1;
}

/* @return packets of the UE in hand. */
static unsigned
serve_ue(struct ap_node *n, struct mac_tx *tx, unsigned room, uint64_t now_ns)
{
	const uint64_t discarded = tx->rlc.discarded, no_mark = tx->tbs_no_mark;
	struct rte_mbuf *pkts[VISIT_PKTS];
	uint32_t carrier = 0;
	unsigned k, done = 0;

	while ((k = mac_tx_next(tx, pkts, RTE_MIN(room - done, (unsigned)VISIT_PKTS), now_ns,
				&carrier)) > 0) {
		ap_next(n, (rte_edge_t)carrier, pkts, (uint16_t)k);
		n->made += k;
		done += k;
	}
	count_losses(n, tx->rlc.discarded - discarded, tx->tbs_no_mark - no_mark);
	return done;
}

unsigned
mac_serve(struct ap_node *n, struct mac_serve *s, unsigned room, uint64_t now_ns)
{
	const struct l2 *l2 = n->role;
	unsigned done = 0;

	while (s->busy) {
		struct mac_tx *tx = &l2->mac_tx[s->ue];

		done += serve_ue(n, tx, room - RTE_MIN(done, room), now_ns);
		if (mac_tx_busy(tx))
			break;
		if (unlikely(mac_sr_on(tx)))
			done += send_sr(n, tx, now_ns);
		s->busy = next_ue(n, s, now_ns);
	}
	return done;
}
