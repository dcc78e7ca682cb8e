/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "bench/gnb_bed_impl.h"
#include "bench/still.h"
#include "core/account.h"
#include "core/clock.h"
#include "core/eal.h"
#include "core/run.h"

#define MEMORY_MB 512
#define PATIENCE_S 600
#define POOL_MBUFS 8191
#define WARM_PACKETS 2 /**< of a session on average, in a direction */

/* As deploy/gnb-header-bench.yaml has them. */
static const struct gnb_wire wire = {
	.n3 = {{0}, {2, 0, 0, 0, 1, 3}, 0xC0A80301, 0xAC100301},
	.f1 = {{0}, {2, 0, 0, 0, 1, 7}, 0xC0A80701, 0xAC100701},
};

uint32_t
gnb_bed_teid(uint32_t i, enum gnb_wire_direction d)
{
	return gnb_teid(1, i, d == GNB_WIRE_DOWN ? GNB_SLOT_N3 : 0);
}

/* --- making it -------------------------------------------------------------------------------- */

static int
deployment_load(struct gnb_bed *b, struct ap_error *err)
{
	struct ap_cfg_gnb_header *g;

	b->conf = ap_config_load(b->cfg.deployment, err);
	if (b->conf == NULL)
		return -EINVAL;
	if (b->conf->gnb_header_count != 1)
		return ap_error_set(err, "%s: the bench wants one gnb_header", b->conf->path);
	g = &b->conf->gnb_header[0];
	snprintf(b->socket, sizeof(b->socket), "/tmp/airpath-bench-gnb.%d.sock", (int)getpid());
	free(g->edge.socket);
	g->edge.socket = strdup(b->socket);
	if (g->edge.socket == NULL)
		abort();
	g->edge.sessions = RTE_MAX(g->edge.sessions, b->cfg.ues);
	/* Two time stamps a node visit: only where somebody wants to see them. */
	b->conf->stats = b->cfg.nodes ? AP_CFG_ON : AP_CFG_OFF;
	b->conf->memory.mb = RTE_MAX(b->conf->memory.mb, MEMORY_MB + b->cfg.ues / 4096);
	b->plan = ap_plan_make(b->conf, err);
	return b->plan ? ap_eal_start(b->plan, err) : -EINVAL;
}

static int
peers_make(struct gnb_bed *b, const struct gnb_wire_side *s, uint8_t interface, uint16_t *peers)
{
	for (uint32_t i = 0; i < GNB_WIRE_PEERS; i++) {
		struct upf_peer_key key = {
			.port = 2152, .octets = 4, .interface = interface, .gtpu = true};
		int index;

		be32_put(key.ip, gnb_wire_peer(s, i));
		index = upf_peer_get(&b->gnb->edge.peers, &key, ap_clock_ns());
		if (index < 0)
			return index;
		peers[i] = (uint16_t)index;
	}
	return 0;
}

/** Before the worker runs: the bench is alone with the table. */
static int
contexts_make(struct gnb_bed *b, struct ap_error *err)
{
	static struct gnb_image image;
	uint16_t upfs[GNB_WIRE_PEERS], dus[GNB_WIRE_PEERS];
	char why[128];

	if (peers_make(b, &b->wire.n3, 1, upfs) < 0 || peers_make(b, &b->wire.f1, 2, dus) < 0)
		return ap_error_set(err, "%s: interfaces are not n3 and f1", b->conf->path);
	for (uint32_t i = 0; i < b->cfg.ues; i++) {
		const struct gnb_session_spec spec = {
			.teid = gnb_bed_teid(i, GNB_WIRE_DOWN),
			.ul_teid = gnb_wire_upf_teid(i),
			.upf = upfs[i % GNB_WIRE_PEERS],
			.pdu_session = 1,
			.nb_drbs = 1,
			.drbs = {{.id = 1,
				  .is_default = true,
				  .sdap_dl = true,
				  .sdap_ul = true,
				  .pdcp_sn_bits = 18,
				  .rlc_mode = b->cfg.am ? GNB_RLC_AM : GNB_RLC_UM,
				  .rlc_sn_bits = b->cfg.am ? 18 : 12,
				  .du_teid = gnb_wire_du_teid(i),
				  .du = dus[i % GNB_WIRE_PEERS]}},
		};

		if (gnb_image_make(&spec, b->gnb->cfg->drbs_per_session, &image, why, sizeof(why)) <
		    0)
			return ap_error_set(err, "contexts: %s", why);
		gnb_session_set(b->gnb->table, &image);
	}
	return 0;
}

static int
ends_make(struct gnb_bed *b, struct ap_error *err)
{
	struct ap_port *n3 = ap_run_port(b->run, "n3"), *f1 = ap_run_port(b->run, "f1");

	if (n3 == NULL || f1 == NULL || n3->rx_rings[0] == NULL || f1->rx_rings[0] == NULL)
		return ap_error_set(err, "%s: the bench wants ring ports n3 and f1", b->conf->path);
	b->wire = wire;
	b->wire.am = b->cfg.am;
	memcpy(b->wire.n3.mac, &n3->mac, 6);
	memcpy(b->wire.f1.mac, &f1->mac, 6);
	b->flow[GNB_WIRE_DOWN].to = n3->rx_rings[0];
	b->flow[GNB_WIRE_DOWN].from = f1->tx_rings[0];
	b->flow[GNB_WIRE_UP].to = f1->rx_rings[0];
	b->flow[GNB_WIRE_UP].from = n3->tx_rings[0];
	b->pool = ap_run_pool(b->run, "bench", POOL_MBUFS, GNB_WIRE_ROOM, err);
	for (unsigned d = 0; d < GNB_WIRE_DIRECTIONS; d++) {
		b->flow[d].random = (b->cfg.seed + d + 1) * 0x9E3779B97F4A7C15ULL;
		b->flow[d].sent = calloc(b->cfg.ues, sizeof(uint32_t));
		b->flow[d].next = calloc(b->cfg.ues, sizeof(uint32_t));
		if (b->flow[d].sent == NULL || b->flow[d].next == NULL)
			return ap_error_set(err, "out of memory");
	}
	return b->pool ? 0 : -ENOMEM;
}

static void
down(struct gnb_bed *b)
{
	for (unsigned d = 0; d < GNB_WIRE_DIRECTIONS; d++) {
		free(b->flow[d].sent);
		free(b->flow[d].next);
	}
	gnb_nic_destroy(b);
	ap_run_destroy(b->run);
	ap_plan_free(b->plan);
	ap_config_free(b->conf);
	unlink(b->socket);
	free(b);
	rte_eal_cleanup();
}

/** Others may keep the worker's CPU from it for long. */
static int
hold(struct gnb_bed *b, struct ap_error *err)
{
	struct ap_worker *w = &b->run->workers[0];
	int rc;

	for (unsigned s = 0; (rc = ap_worker_hold(w, &b->hold)) == -ETIMEDOUT && s < PATIENCE_S;
	     s += AP_WORKER_RUN_S)
		fprintf(stderr, "lcore %s has had no CPU: others use this machine\n", w->name);
	return rc < 0 ? ap_error_set(err, "lcore %s does not stand still", w->name) : 0;
}

struct gnb_bed *
gnb_bed_open(const struct gnb_bed_cfg *cfg)
{
	struct gnb_bed *b = calloc(1, sizeof(*b));
	struct ap_error err = {0};

	if (b == NULL)
		return NULL;
	b->cfg = *cfg;
	if (deployment_load(b, &err) == 0)
		b->run = ap_run_create(b->conf, b->plan, &err);
	b->gnb = b->run ? ap_run_role(b->run, "gnb_header", 0) : NULL;
	if (b->gnb && ends_make(b, &err) == 0 && contexts_make(b, &err) == 0 &&
	    ap_run_start(b->run, &err) == 0) {
		if (hold(b, &err) == 0)
			return b;
		ap_run_stop(b->run);
	}
	fprintf(stderr, "bench gnb: %s\n", err.text);
	down(b);
	return NULL;
}

/* --- traffic ---------------------------------------------------------------------------------- */

uint32_t
gnb_bed_draw(struct gnb_bed_flow *f, uint32_t n)
{
	uint64_t r = f->random;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	f->random = r;
	return (uint32_t)((r >> 32) * n >> 32);
}

static void
fill(struct gnb_bed *b, enum gnb_wire_direction d)
{
	struct gnb_bed_flow *f = &b->flow[d];
	struct rte_mbuf *pkts[GNB_BED_BURST];

	for (unsigned done = 0; done < GNB_BED_ROUND; done += GNB_BED_BURST) {
		if (rte_pktmbuf_alloc_bulk(b->pool, pkts, GNB_BED_BURST) < 0)
			return;
		for (unsigned k = 0; k < GNB_BED_BURST; k++) {
			const uint32_t i = gnb_bed_draw(f, b->cfg.ues);
			uint8_t *p = rte_pktmbuf_mtod(pkts[k], uint8_t *);
			const unsigned bytes =
				gnb_wire_build(&b->wire, d, p, i, gnb_bed_teid(i, d), f->sent[i]++);

			pkts[k]->data_len = (uint16_t)bytes;
			pkts[k]->pkt_len = bytes;
			*ap_meta(pkts[k]) = (struct ap_meta){0};
		}
		b->sent += GNB_BED_BURST;
		if (rte_ring_sp_enqueue_bulk(f->to, (void **)pkts, GNB_BED_BURST, NULL) == 0) {
			rte_pktmbuf_free_bulk(pkts, GNB_BED_BURST);
			return;
		}
	}
}

/** @return whether the frame is what the session's next packet must be */
static bool
judge(struct gnb_bed *b, enum gnb_wire_direction d, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint32_t i = gnb_wire_session(&b->wire, d, p, m->data_len);
	uint8_t want[GNB_WIRE_ROOM];

	return m->nb_segs == 1 && i < b->cfg.ues &&
	       gnb_wire_expect(&b->wire, d, want, i, b->flow[d].next[i]++) == m->data_len &&
	       memcmp(p, want, m->data_len) == 0;
}

static void
drain(struct gnb_bed *b)
{
	for (unsigned d = 0; d < GNB_WIRE_DIRECTIONS; d++) {
		struct rte_mbuf *pkts[GNB_BED_BURST];
		unsigned nb;

		while ((nb = rte_ring_sc_dequeue_burst(b->flow[d].from, (void **)pkts,
						       GNB_BED_BURST, NULL)) > 0) {
			for (unsigned k = 0; k < nb; k++) {
				const bool good = judge(b, d, pkts[k]);

				b->good += good;
				b->corrupted += !good;
			}
			rte_pktmbuf_free_bulk(pkts, nb);
		}
	}
}

/* --- trials ----------------------------------------------------------------------------------- */

void
gnb_bed_pin(unsigned cpu)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	pthread_setaffinity_np(pthread_self(), sizeof(here), &here);
}

static void
round_fill(struct gnb_bed *b, unsigned directions)
{
	for (unsigned d = 0; d < GNB_WIRE_DIRECTIONS; d++)
		if (directions & 1U << d)
			fill(b, d);
}

static struct harness_window
round_walk(struct gnb_bed *b)
{
	struct harness_window w;
	long switches = harness_switches();

	w.frame_before = harness_frame();
	w.value = still_walk(&b->run->workers[0]);
	w.frame_after = harness_frame();
	w.preempted = harness_switches() != switches;
	return w;
}

static uint64_t
counted(const struct gnb_bed *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->cfg.ues; i++) {
		const struct gnb_drb *d = gnb_drb_at(b->gnb->table, gnb_bed_teid(i, 0), 0);

		sum += d->dl_packets + d->ul_packets;
	}
	return sum;
}

int
gnb_bed_trial(struct gnb_bed *b, unsigned directions, unsigned frame_bytes, double seconds,
	      struct gnb_bed_trial *t)
{
	struct harness_window *windows = calloc(HARNESS_WINDOWS_MAX, sizeof(*windows));
	const uint64_t frame = harness_frame_least(20), before = counted(b);
	const uint32_t warm = b->cfg.ues / GNB_BED_ROUND * WARM_PACKETS + 1;
	const uint64_t sent = b->sent, good = b->good, corrupted = b->corrupted;
	cpu_set_t was;
	unsigned n = 0;
	uint64_t end;

	if (windows == NULL)
		return -ENOMEM;
	b->wire.tpdu = (uint16_t)(frame_bytes - GNB_WIRE_OUTER);
	pthread_getaffinity_np(pthread_self(), sizeof(was), &was);
	gnb_bed_pin(
		b->plan->lcores[0].cfg->cpu); /* the worker, which stands still, leaves it to us */
	for (uint32_t k = 0; k < warm; k++) {
		round_fill(b, directions);
		still_walk(&b->run->workers[0]);
		drain(b);
	}
	end = ap_clock_ns() + (uint64_t)(seconds * 1e9);
	do {
		round_fill(b, directions);
		windows[n] = round_walk(b);
		n += windows[n].value > 0;
		drain(b);
	} while (ap_clock_ns() < end && n < HARNESS_WINDOWS_MAX);
	pthread_setaffinity_np(pthread_self(), sizeof(was), &was);
	harness_classify(windows, n, frame);
	*t = (struct gnb_bed_trial){.cycles = harness_summary(windows, n),
				    .sent = b->sent - sent,
				    .good = b->good - good,
				    .corrupted = b->corrupted - corrupted,
				    .host_packets = counted(b) - before};
	t->lost = t->sent - t->good - t->corrupted;
	free(windows);
	return 0;
}

bool
gnb_bed_close(struct gnb_bed *b, bool print)
{
	struct ap_account total;
	struct ap_error err = {0};

	ap_worker_release(&b->hold);
	ap_run_quiesce(b->run, 1000);
	ap_run_stop(b->run);
	ap_account_total(b->plan, &total, &err);
	if (print)
		ap_account_print(b->plan, stderr);
	if (!total.balanced)
		fprintf(stderr, "bench gnb: the books do not balance: %s\n", err.text);
	down(b);
	return total.balanced;
}
