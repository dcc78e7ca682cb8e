/* SPDX-License-Identifier: BSD-3-Clause */
/** The generator of upf_gen.h with packets of flows. */
#include <rte_prefetch.h>

#include "bench/upf_gen_impl.h"

/** Packets of a direction on their way into the unit. */
struct batch {
	struct rte_mbuf *pkts[UPF_GEN_BURST];
	uint16_t n;
	uint64_t octets;
};

/** Brings places near that have their turn next. */
static void
look_ahead(const struct upf_traffic *f)
{
	uint32_t next = f->next;

	for (unsigned i = 0; i < UPF_GEN_BURST; i++) {
		rte_prefetch0_write(&f->places[next]);
		next = next + f->step < f->nb_places ? next + f->step
						     : next + f->step - f->nb_places;
	}
}

static void
build(struct upf_gen *g, struct rte_mbuf *m, struct batch batches[UPF_WIRE_DIRECTIONS],
      uint32_t now)
{
	struct upf_wire_session *s;
	struct upf_traffic_turn t;
	struct batch *b;
	uint16_t bytes;

	upf_traffic_take(g->flows, &t);
	s = &g->sessions[t.flow.session];
	bytes = upf_traffic_wire_build(g->flow_wire, (uint8_t *)(m + 1) + RTE_PKTMBUF_HEADROOM, &t,
				       s, g->flow[t.packet.direction].seq++, now);
	upf_gen_fresh(m, bytes);
	s->octets[t.packet.direction] += t.packet.bytes;
	b = &batches[t.packet.direction];
	b->pkts[b->n++] = m;
	b->octets += t.packet.bytes;
}

uint16_t
upf_gen_traffic_emit(struct upf_gen *g, uint16_t n, uint64_t now_ns)
{
	struct batch batches[UPF_WIRE_DIRECTIONS];
	struct rte_mbuf *pkts[UPF_GEN_BURST];

	if (n == 0 || rte_mempool_get_bulk(g->pool, (void **)pkts, n) < 0)
		return 0;
	batches[UPF_WIRE_UP].n = batches[UPF_WIRE_DOWN].n = 0;
	batches[UPF_WIRE_UP].octets = batches[UPF_WIRE_DOWN].octets = 0;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0_write(pkts[i]);
		rte_prefetch0_write((uint8_t *)(pkts[i] + 1) + RTE_PKTMBUF_HEADROOM);
		rte_prefetch0_write((uint8_t *)(pkts[i] + 1) + RTE_PKTMBUF_HEADROOM + 64);
	}
	for (uint16_t i = 0; i < n; i++)
		build(g, pkts[i], batches, (uint32_t)now_ns);
	look_ahead(g->flows);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		struct upf_gen_flow *f = &g->flow[d];
		struct batch *b = &batches[d];
		uint16_t sent;

		if (b->n == 0)
			continue;
		/* The window is smaller than the ring. */
		sent = (uint16_t)rte_ring_sp_enqueue_burst(f->to, (void **)b->pkts, b->n, NULL);
		if (g->port[d] != NULL)
			ap_port_kick(g->port[d], 0);
		rte_pktmbuf_free_bulk(b->pkts + sent, b->n - sent);
		upf_gen_count(&f->c.sent, b->n);
		upf_gen_count(&f->c.sent_octets, b->octets);
	}
	return n;
}

void
upf_gen_traffic_judge(struct upf_gen *g, enum upf_wire_direction d, struct rte_mbuf **pkts,
		      uint16_t n, uint32_t now)
{
	struct upf_gen_flow *f = &g->flow[d];
	const struct upf_traffic_wire *w = g->flow_wire;

	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *p = rte_pktmbuf_mtod(pkts[i], uint8_t *);
		enum upf_wire_verdict v = UPF_WIRE_CORRUPTED;
		struct upf_traffic_test t;
		struct upf_traffic_flow flow;

		if (pkts[i]->nb_segs == 1)
			v = upf_traffic_wire_read(w, d, p, pkts[i]->data_len, &t);
		if (v == UPF_WIRE_GOOD) {
			flow = upf_traffic_derive(g->flows, t.place, t.number);
			v = upf_traffic_wire_check(w, d, p, pkts[i]->data_len, &t, &flow,
						   &g->sessions[flow.session]);
		}
		if (v == UPF_WIRE_GOOD)
			upf_gen_take(f, t.seq, upf_traffic_packet(g->flows, &flow, t.at).bytes,
				     flow.udp, now - t.now);
		else
			upf_gen_count(v == UPF_WIRE_FOREIGN ? &g->foreign : &f->c.corrupted, 1);
	}
}
