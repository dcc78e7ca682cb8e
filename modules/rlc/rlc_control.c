/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/rlc/rlc_control.h"

#include <string.h>

#include "core/pkt.h"

/** Header that push wrote before a complete SDU, or left room for, B. */
static uint16_t
queued_header(const struct rlc_tx *e, struct rte_mbuf *m)
{
	if (e->mode == RLC_UM)
		return RLC_UMD_COMPLETE_LEN;
	if (e->mode == RLC_AM && ap_meta(m)->flags & AP_M_RETAINED)
		return (uint16_t)e->am->header;
	return 0;
}

struct discard {
	bool (*match)(void *arg, const struct rte_mbuf *m, uint16_t hdr);
	void *arg;
	const struct rlc_tx *e;
};

static bool
discard_one(void *arg, const struct ap_queue_entry *x)
{
	const struct discard *d = arg;

	if (!d->match(d->arg, x->m, queued_header(d->e, x->m)))
		return false;
	rte_pktmbuf_free(x->m);
	return true;
}

unsigned
rlc_tx_discard_if(struct rlc_tx *e,
		  bool (*match)(void *arg, const struct rte_mbuf *m, uint16_t hdr), void *arg)
{
	struct discard d = {match, arg, e};

	return e->mode == RLC_NONE ? 0 : ap_queue_remove(&e->queue, discard_one, &d);
}

unsigned
rlc_tx_take_unconfirmed(struct rlc_tx *e, rlc_tx_taker *take, void *arg)
{
	const struct ap_queue_entry *x;
	unsigned n = 0;

	if (e->mode == RLC_NONE)
		return 0;
	/* discard all RLC SDUs, RLC SDU segments, and RLC PDUs, if any; reset all state variables
	 * to their initial values */
	if (e->um.sdu) {
		rte_pktmbuf_free(e->um.sdu);
		n++;
	}
	e->um = (struct rlc_um_tx){0};
	if (e->am)
		n += rlc_am_tx_take(e, take, arg);
	while ((x = ap_queue_peek(&e->queue, 0)) != NULL) {
		const struct ap_queue_entry q = *x;
		const uint16_t hdr = queued_header(e, q.m);

		ap_queue_take(&e->queue, 1, q.bytes);
		ap_meta(q.m)->flags &= (uint8_t)~AP_M_RETAINED;
		take(arg, hdr ? ap_pkt_strip(q.m, hdr) : q.m, q.enter_us);
		n++;
	}
	return n;
}

void
rlc_rx_reestablish(struct rlc_rx *e, struct rlc_rx_counts *c)
{
	struct rlc_um_rx *um = &e->um;

	if (e->mode == RLC_AM)
		c->drops[RLC_RX_REESTABLISHED] += rlc_am_rx_reset(e);
	if (e->mode != RLC_UM)
		return;
	for (unsigned i = 0; i < um->window; i++)
		c->drops[RLC_RX_REESTABLISHED] += rlc_sdu_drop(&um->segs, &um->sdus[i]);
	memset(um->sdus, 0, sizeof(*um->sdus) * um->window);
	um->RX_Next_Reassembly = um->RX_Next_Highest = um->RX_Timer_Trigger = 0;
	e->deadline_ns = 0;
	e->held = 0;
}
