/* SPDX-License-Identifier: BSD-3-Clause */
#include "modules/rlc/rlc_control.h"

#include <string.h>

#include "core/pkt.h"

/** Header that push wrote before a complete SDU, B. */
static uint16_t
queued_header(const struct rlc_tx *e)
{
	return e->mode == RLC_UM ? RLC_UMD_COMPLETE_LEN : 0;
}

struct discard {
	bool (*match)(void *arg, const struct rte_mbuf *m, uint16_t hdr);
	void *arg;
	uint16_t hdr;
};

static bool
discard_one(void *arg, const struct ap_queue_entry *x)
{
	const struct discard *d = arg;

	if (!d->match(d->arg, x->m, d->hdr))
		return false;
	rte_pktmbuf_free(x->m);
	return true;
}

unsigned
rlc_tx_discard_if(struct rlc_tx *e,
		  bool (*match)(void *arg, const struct rte_mbuf *m, uint16_t hdr), void *arg)
{
	struct discard d = {match, arg, queued_header(e)};

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
	while ((x = ap_queue_peek(&e->queue, 0)) != NULL) {
		const struct ap_queue_entry q = *x;

		ap_queue_take(&e->queue, 1, q.bytes);
		take(arg, queued_header(e) ? ap_pkt_strip(q.m, queued_header(e)) : q.m, q.enter_us);
		n++;
	}
	return n;
}

void
rlc_rx_reestablish(struct rlc_rx *e, struct rlc_rx_counts *c)
{
	struct rlc_um_rx *um = &e->um;

	if (e->mode != RLC_UM)
		return;
	for (unsigned i = 0; i < um->window; i++)
		c->drops[RLC_RX_REESTABLISHED] += rlc_sdu_drop(&um->segs, &um->sdus[i]);
	memset(um->sdus, 0, sizeof(*um->sdus) * um->window);
	um->RX_Next_Reassembly = um->RX_Next_Highest = um->RX_Timer_Trigger = 0;
	e->deadline_ns = 0;
	e->held = 0;
}
