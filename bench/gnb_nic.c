/* SPDX-License-Identifier: BSD-3-Clause */
/** The SmartNIC's program on the bed of gnb_bed.h: its own contexts, the same frames. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "bench/gnb_bed_impl.h"
#include "core/clock.h"
#include "modules/p4/p4_gnb.h"

#define BURST 64 /**< as a port is polled */
#define WARM_ROUNDS 64

/** What must become of a round's packets. */
enum want {
	WANT_F1,       /**< the program's: toward the DU, numbered */
	WANT_AS_IT_IS, /**< the host's */
	WANT_TAKE,     /**< likewise, with the bearer */
	WANT_RELEASE,  /**< the host has to give the bearer back */
};

/* --- contexts --------------------------------------------------------------------------------- */

static int
peers_fill(struct gnb_bed *b)
{
	for (uint32_t i = 0; i < GNB_WIRE_PEERS; i++) {
		struct upf_peer_key key = {.port = 2152, .octets = 4, .interface = 2, .gtpu = true};
		struct p4_peer p = {.mtu = 1500};
		int index;

		be32_put(key.ip, gnb_wire_peer(&b->wire.f1, i));
		index = upf_peer_get(&b->gnb->edge.peers, &key, ap_clock_ns());
		if (index < 0)
			return index;
		p.index = (uint16_t)index;
		memcpy(p.dst_mac, b->wire.f1.next_mac, 6);
		memcpy(p.src_mac, b->wire.f1.mac, 6);
		memcpy(p.ip_udp, b->gnb->edge.peers.peer[index].header, sizeof(p.ip_udp));
		if (p4_peer_set(b->nic, &p) < 0)
			return -ENOSPC;
	}
	return 0;
}

static int
sessions_fill(struct gnb_bed *b)
{
	for (uint32_t i = 0; i < b->cfg.ues; i++) {
		const struct gnb_drb *d =
			gnb_drb_at(b->gnb->table, gnb_bed_teid(i, GNB_WIRE_UP), 0);
		const struct p4_session s = {.teid = gnb_bed_teid(i, GNB_WIRE_DOWN), .index = i};
		const struct p4_drb drb = {.teid = gnb_bed_teid(i, GNB_WIRE_UP),
					   .index = i,
					   .du_teid = gnb_wire_du_teid(i),
					   .peer = d->config.du,
					   .rlc = b->cfg.am ? P4_RLC_AM18 : P4_RLC_UM,
					   .pdcp_sn_bits = 18,
					   .sdap = true};

		if (p4_session_set(b->nic, &s) < 0 || p4_drb_set(b->nic, &drb, true) < 0)
			return -ENOSPC;
	}
	return 0;
}

static int
nic_make(struct gnb_bed *b)
{
	struct p4_cfg cfg = {
		.name = "bench",
		.sessions = b->cfg.ues,
		.nb_vfs = 1,
		.nb_interfaces = 2,
		.interfaces = {{.n3 = true, .ip4 = rte_cpu_to_be_32(b->wire.n3.ip)},
			       {.ip4 = rte_cpu_to_be_32(b->wire.f1.ip)}},
		.nb_own = 2,
		.own = {rte_cpu_to_be_32(b->wire.n3.ip), rte_cpu_to_be_32(b->wire.f1.ip)},
		.pool = b->pool,
		.socket = SOCKET_ID_ANY,
	};
	struct ap_error err = {0};

	memcpy(cfg.interfaces[0].mac, b->wire.n3.mac, 6);
	memcpy(cfg.interfaces[1].mac, b->wire.f1.mac, 6);
	b->nic_random = b->cfg.seed * 0x9E3779B97F4A7C15ULL + 1;
	b->nic_next = calloc(b->cfg.ues, sizeof(uint32_t));
	b->nic = b->nic_next ? p4_gnb_create(&cfg, &err) : NULL;
	if (b->nic && peers_fill(b) == 0 && sessions_fill(b) == 0)
		return 0;
	fprintf(stderr, "bench gnb: the SmartNIC's program: %s\n",
		err.text[0] ? err.text : "no room for the contexts");
	return -ENOMEM;
}

void
gnb_nic_destroy(struct gnb_bed *b)
{
	if (b->nic)
		p4_gnb_destroy(b->nic);
	free(b->nic_next);
}

/* --- packets ---------------------------------------------------------------------------------- */

/** The host is done with the bearer: its next number is the session's. */
static bool
release(struct gnb_bed *b, uint32_t i)
{
	const struct p4_shim s = {P4_SHIM_RELEASE, gnb_bed_teid(i, GNB_WIRE_UP), b->nic_next[i],
				  b->nic_next[i]};
	struct rte_mbuf *m = rte_pktmbuf_alloc(b->pool);
	struct p4_result r;
	uint8_t *p;

	if (m == NULL)
		return false;
	p = (uint8_t *)rte_pktmbuf_append(m, P4_SHIM_FRAME_BYTES);
	memset(p, 0, 12);
	be16_put(p + 12, P4_SHIM_TYPE);
	p4_shim_put(p + 14, &s);
	p4_gnb_run(b->nic, P4_SIDE_VF, &m, 1, &r);
	rte_pktmbuf_free(r.pkts[0]);
	return r.out[0] == P4_OUT_USED;
}

static bool
judge(struct gnb_bed *b, enum want want, uint32_t i, uint8_t out, const struct rte_mbuf *m)
{
	const uint32_t n = b->nic_next[i]++;
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned bytes = m->data_len, flag = want == WANT_TAKE ? P4_SHIM_TAKE : P4_SHIM_RELEASE;
	uint8_t octets[GNB_WIRE_ROOM];
	struct p4_shim s;

	if (want == WANT_F1)
		return out == P4_OUT_WIRE &&
		       gnb_wire_expect(&b->wire, GNB_WIRE_DOWN, octets, i, n) == bytes &&
		       memcmp(p, octets, bytes) == 0;
	if (out != P4_OUT_VF)
		return false;
	if (want != WANT_AS_IT_IS) {
		if (bytes < P4_SHIM_FRAME_BYTES)
			return false;
		s = p4_shim_get(p + 14);
		/* The numbers go with the bearer. */
		if (s.flags != flag || s.bearer != gnb_bed_teid(i, GNB_WIRE_UP) ||
		    (want == WANT_TAKE && s.tx_next != n))
			return false;
		p += P4_SHIM_FRAME_BYTES;
		bytes -= P4_SHIM_FRAME_BYTES;
	}
	return gnb_wire_build(&b->wire, GNB_WIRE_DOWN, octets, i, gnb_bed_teid(i, GNB_WIRE_DOWN),
			      n) == bytes &&
	       memcmp(p, octets, bytes) == 0 && (want != WANT_RELEASE || release(b, i));
}

static bool
build(struct gnb_bed *b, struct rte_mbuf **pkts, const uint32_t *who, unsigned nb)
{
	if (rte_pktmbuf_alloc_bulk(b->pool, pkts, nb) < 0)
		return false;
	for (unsigned k = 0; k < nb; k++) {
		uint32_t ahead = 0;

		/* The same session may come more than once. */
		for (unsigned e = 0; e < k; e++)
			ahead += who[e] == who[k];
		pkts[k]->data_len = (uint16_t)gnb_wire_build(
			&b->wire, GNB_WIRE_DOWN, rte_pktmbuf_mtod(pkts[k], uint8_t *), who[k],
			gnb_bed_teid(who[k], GNB_WIRE_DOWN), b->nic_next[who[k]] + ahead);
		pkts[k]->pkt_len = pkts[k]->data_len;
	}
	return true;
}

/** @return cycles a packet; 0 without mbufs */
static double
burst(struct gnb_bed *b, enum want want, const uint32_t *who, unsigned nb)
{
	struct rte_mbuf *pkts[BURST];
	struct p4_result r;
	uint64_t start, end;

	if (!build(b, pkts, who, nb))
		return 0;
	start = rte_rdtsc();
	p4_gnb_run(b->nic, P4_SIDE_WIRE, pkts, (uint16_t)nb, &r);
	end = rte_rdtsc();
	b->sent += nb;
	for (unsigned k = 0; k < r.nb && k < nb; k++) {
		const bool good = judge(b, want, who[k], r.out[k], r.pkts[k]);

		b->good += good;
		b->corrupted += !good;
	}
	rte_pktmbuf_free_bulk(r.pkts, r.nb);
	return (double)(end - start) / nb;
}

/** Every bearer goes to the program, or to the host, with its next packet. */
static void
hand_over(struct gnb_bed *b, bool forward)
{
	uint32_t who[BURST];

	p4_share_set(b->nic, forward ? P4_SHARE_ALL : 0);
	for (uint32_t i = 0; i < b->cfg.ues; i += BURST) {
		const unsigned nb = RTE_MIN(BURST, b->cfg.ues - i);

		for (unsigned k = 0; k < nb; k++)
			who[k] = i + k;
		burst(b, forward ? WANT_TAKE : WANT_RELEASE, who, nb);
	}
	b->nic_numbers = !forward;
}

/** Bursts to sessions at random. */
static struct harness_window
window(struct gnb_bed *b, enum want want, unsigned bursts)
{
	struct gnb_bed_flow f = {.random = b->nic_random};
	struct harness_window w = {0};
	long switches = harness_switches();
	uint32_t who[BURST];

	w.frame_before = harness_frame();
	for (unsigned k = 0; k < bursts; k++) {
		for (unsigned i = 0; i < BURST; i++)
			who[i] = gnb_bed_draw(&f, b->cfg.ues);
		w.value += burst(b, want, who, BURST) / bursts;
	}
	w.frame_after = harness_frame();
	w.preempted = harness_switches() != switches;
	b->nic_random = f.random;
	return w;
}

int
gnb_bed_nic(struct gnb_bed *b, unsigned frame_bytes, double seconds, bool forward,
	    struct gnb_bed_trial *t)
{
	const enum want want = forward ? WANT_AS_IT_IS : WANT_F1;
	const uint64_t sent = b->sent, good = b->good, corrupted = b->corrupted;
	const uint64_t frame = harness_frame_least(20);
	struct harness_window *windows = calloc(HARNESS_WINDOWS_MAX, sizeof(*windows));
	cpu_set_t was;
	unsigned n = 0;
	uint64_t end;
	int rc = windows ? 0 : -ENOMEM;

	b->wire.tpdu = (uint16_t)(frame_bytes - GNB_WIRE_OUTER);
	if (rc == 0 && b->nic == NULL)
		rc = nic_make(b);
	if (rc < 0) {
		free(windows);
		return rc;
	}
	pthread_getaffinity_np(pthread_self(), sizeof(was), &was);
	gnb_bed_pin(b->plan->lcores[0].cfg->cpu);
	if (b->nic_numbers == forward)
		hand_over(b, forward);
	p4_share_set(b->nic, forward ? P4_SHARE_ALL : 0);
	window(b, want, WARM_ROUNDS);
	end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	do
		windows[n++] = window(b, want, 4);
	while (ap_clock_ns() < end && n < HARNESS_WINDOWS_MAX);
	pthread_setaffinity_np(pthread_self(), sizeof(was), &was);
	harness_classify(windows, n, frame);
	*t = (struct gnb_bed_trial){.cycles = harness_summary(windows, n),
				    .sent = b->sent - sent,
				    .good = b->good - good,
				    .corrupted = b->corrupted - corrupted};
	t->lost = t->sent - t->good - t->corrupted;
	t->host_packets = t->sent;
	free(windows);
	return 0;
}
