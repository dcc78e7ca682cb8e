/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "bench/harness.h"
#include "bench/upf_gen_impl.h"
#include "core/clock.h"

#define CATCH_UP_NS 100000
#define TIMED_EVERY 16
#define FULL_SPEED UINT64_MAX /**< as a rate word; 0: stopped; else packets in 1000 s */

static inline uint32_t
draw(struct upf_gen_flow *f, uint32_t active)
{
	uint64_t r = f->random;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	f->random = r;
	return (uint32_t)((r >> 32) * active >> 32);
}

/** Draws the sessions of the next burst and brings them near. */
static void
look_ahead(struct upf_gen *g, struct upf_gen_flow *f, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		f->next[i] = draw(f, g->active);
		rte_prefetch0_write(&g->sessions[f->next[i]]);
	}
}

static void
rate_obey(const struct upf_gen *g, struct upf_gen_flow *f, uint64_t now_ns)
{
	uint64_t slot_ns = atomic_load_explicit(&g->slot_ns, memory_order_relaxed);
	uint64_t word = atomic_load_explicit(&f->rate, memory_order_relaxed);
	struct gen_rate rate = {GEN_RATE_PPS, (double)word / 1000};

	if (word == f->rate_seen)
		return;
	f->rate_seen = word;
	if (word == 0 || word == FULL_SPEED)
		rate.kind = word ? GEN_RATE_MAX : GEN_RATE_STOP;
	gen_pace_set(&f->pace, rate, now_ns, (uint32_t)RTE_MAX(slot_ns, CATCH_UP_NS));
}

/** @return how many packets may leave now. */
static uint16_t
due(struct upf_gen *g, enum upf_wire_direction d, uint64_t now_ns)
{
	struct upf_gen_flow *f = &g->flow[d];
	uint64_t inside = upf_gen_under_way(g, d);
	uint64_t slot_ns = atomic_load_explicit(&g->slot_ns, memory_order_relaxed);
	uint16_t most = (uint16_t)RTE_MIN(inside < g->window ? g->window - inside : 0U,
					  UPF_GEN_BURST),
		 n = 0;

	if (f->pace.stopped)
		return 0;
	gen_pace_refill(&f->pace, slot_ns ? now_ns - now_ns % slot_ns : now_ns);
	if (f->pace.unlimited)
		return most == UPF_GEN_BURST ? UPF_GEN_BURST
					     : 0; /* bursts that are whole cost less */
	for (; n < most && gen_pace_due(&f->pace); n++)
		gen_pace_spend(&f->pace, 0);
	if (inside + n >= g->window && atomic_load_explicit(&g->refuse, memory_order_relaxed))
		for (; gen_pace_due(&f->pace); upf_gen_count(&f->c.refused, 1))
			gen_pace_spend(&f->pace, 0);
	return n;
}

/** Sends up to UPF_GEN_BURST packets. @return how many */
static uint16_t
emit(struct upf_gen *g, enum upf_wire_direction d, uint16_t n, uint64_t now_ns)
{
	struct upf_gen_flow *f = &g->flow[d];
	const struct upf_wire *w = g->wire;
	struct rte_mbuf *pkts[UPF_GEN_BURST];
	uint16_t sent;

	if (n == 0 || rte_mempool_get_bulk(g->pool, (void **)pkts, n) < 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0_write(pkts[i]);
		rte_prefetch0_write((uint8_t *)(pkts[i] + 1) + RTE_PKTMBUF_HEADROOM);
		rte_prefetch0_write((uint8_t *)(pkts[i] + 1) + RTE_PKTMBUF_HEADROOM + 64);
	}
	for (uint16_t i = 0; i < n; i++) {
		struct upf_wire_session *s = &g->sessions[f->next[i]];
		struct rte_mbuf *m = pkts[i];

		upf_gen_fresh(m, w->frame_bytes[d]);
		w->ops->build(w, d, rte_pktmbuf_mtod(m, uint8_t *), f->next[i], s, f->seq++,
			      (uint32_t)now_ns);
		s->octets[d] += w->step;
	}
	look_ahead(g, f, UPF_GEN_BURST);
	/* The window is smaller than the ring. */
	sent = (uint16_t)rte_ring_sp_enqueue_burst(f->to, (void **)pkts, n, NULL);
	if (g->port[d] != NULL)
		ap_port_kick(g->port[d], 0);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	upf_gen_count(&f->c.sent, n);
	upf_gen_count(&f->c.sent_octets, (uint64_t)n * w->cfg.bytes);
	return n;
}

static void
judge(struct upf_gen *g, enum upf_wire_direction d, struct rte_mbuf **pkts, uint16_t n,
      uint32_t now)
{
	struct upf_gen_flow *f = &g->flow[d];
	const struct upf_wire *w = g->wire;
	struct upf_wire_test t[UPF_GEN_BURST];
	enum upf_wire_verdict v[UPF_GEN_BURST];

	for (uint16_t i = 0; i < n; i++) {
		v[i] = pkts[i]->nb_segs != 1
			       ? UPF_WIRE_CORRUPTED
			       : w->ops->read(w, d, rte_pktmbuf_mtod(pkts[i], uint8_t *),
					      pkts[i]->data_len, g->nb_sessions, &t[i]);
		if (v[i] == UPF_WIRE_GOOD)
			rte_prefetch0(&g->sessions[t[i].session]);
	}
	for (uint16_t i = 0; i < n; i++) {
		if (v[i] == UPF_WIRE_GOOD)
			v[i] = w->ops->check(w, d, rte_pktmbuf_mtod(pkts[i], uint8_t *), &t[i],
					     &g->sessions[t[i].session]);
		if (v[i] == UPF_WIRE_GOOD)
			upf_gen_take(f, t[i].seq, w->cfg.bytes, t[i].seq % TIMED_EVERY == 0,
				     now - t[i].now);
		else
			upf_gen_count(v[i] == UPF_WIRE_FOREIGN ? &g->foreign : &f->c.corrupted, 1);
	}
}

static uint16_t
receive(struct upf_gen *g, enum upf_wire_direction d, uint64_t now_ns)
{
	struct upf_gen_flow *f = &g->flow[d];
	struct rte_mbuf *pkts[UPF_GEN_BURST];
	uint16_t n = (uint16_t)rte_ring_sc_dequeue_burst(f->from[f->turn], (void **)pkts,
							 UPF_GEN_BURST, NULL);

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(pkts[i]);
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], uint8_t *));
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], uint8_t *) + 64);
	}
	f->turn = f->turn + 1 < g->queues ? f->turn + 1 : 0;
	(g->flow_wire ? upf_gen_traffic_judge : judge)(g, d, pkts, n, (uint32_t)now_ns);
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

/** Takes what has come out, and sends what is due. @return packets */
static unsigned
turn(struct upf_gen *g, uint64_t now_ns)
{
	unsigned work = 0;

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		work += receive(g, d, now_ns);
		if (g->flow_wire == NULL)
			work += emit(g, d, due(g, d, now_ns), now_ns);
	}
	/* A burst may be of one direction alone. */
	if (g->flow_wire && upf_gen_under_way(g, UPF_WIRE_DOWN) + UPF_GEN_BURST <= g->window)
		work += upf_gen_traffic_emit(g, due(g, UPF_WIRE_UP, now_ns), now_ns);
	return work;
}

static void
obey(struct upf_gen *g, uint64_t now_ns)
{
	uint32_t asked = atomic_load_explicit(&g->frame_asked, memory_order_acquire);

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		rate_obey(g, &g->flow[d], now_ns);
	if (asked != atomic_load_explicit(&g->frame_done, memory_order_relaxed)) {
		upf_frame_take(&g->frame);
		atomic_store_explicit(&g->frame_done, asked, memory_order_release);
	}
	if (!atomic_load_explicit(&g->give_up, memory_order_acquire))
		return;
	atomic_store_explicit(&g->give_up, false, memory_order_relaxed);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		struct gen_seq *s = &g->flow[d].seqs;

		upf_gen_count(&g->flow[d].c.given_up, upf_gen_under_way(g, d));
		s->next = g->flow[d].seq;
		s->missing = 0;
		memset(s->bitmap, 0, s->window / 8);
	}
}

static int
thread_init(struct upf_gen *g)
{
	cpu_set_t cpus;

	pthread_setname_np(pthread_self(), "GEN");
	CPU_ZERO(&cpus);
	CPU_SET(g->cpu, &cpus);
	if (pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus) != 0)
		return -EINVAL;
	/* An lcore id brings a cache of mbufs. */
	return rte_thread_register() < 0 ? -ENOSPC : 0;
}

/** Keeps away from everything until the control thread has done with it. */
static void
stand(struct upf_gen *g)
{
	atomic_store_explicit(&g->paused, true, memory_order_release);
	while (atomic_load_explicit(&g->pause, memory_order_acquire))
		rte_delay_us_sleep(200);
	atomic_store_explicit(&g->paused, false, memory_order_release);
}

static void *
thread_main(void *arg)
{
	struct upf_gen *g = arg;
	int rc = thread_init(g);
	uint64_t last = rte_rdtsc(), now;

	atomic_store(&g->started, rc < 0 ? rc : 1);
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		look_ahead(g, &g->flow[d], UPF_GEN_BURST);
	while (rc == 0 && !atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		uint64_t now_ns = ap_clock_ns();
		unsigned work;

		if (atomic_load_explicit(&g->pause, memory_order_acquire)) {
			stand(g);
			last = rte_rdtsc();
			continue;
		}

		obey(g, now_ns);
		work = turn(g, now_ns);
		now = rte_rdtsc();
		upf_gen_count(&g->all_cycles, now - last);
		upf_gen_count(&g->busy_cycles, work ? now - last : 0);
		upf_gen_count(&g->turns_busy, work != 0);
		upf_gen_count(&g->turns, 1);
		last = now;
	}
	if (rc == 0)
		rte_thread_unregister();
	return NULL;
}

int
upf_gen_start(struct upf_gen *g, uint64_t seed)
{
	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++) {
		struct upf_gen_flow *f = &g->flow[d];

		f->random = (seed + d + 1) * 0x9E3779B97F4A7C15ULL;
		f->seqs.window = RTE_DIM(f->bitmap) * 64;
		f->seqs.bitmap = f->bitmap;
		f->pace.stopped = true;
	}
	if (pthread_create(&g->thread, NULL, thread_main, g) != 0)
		return -EAGAIN;
	while (atomic_load(&g->started) == 0)
		rte_delay_us_sleep(100);
	if (atomic_load(&g->started) < 0)
		pthread_join(g->thread, NULL);
	return atomic_load(&g->started) < 0 ? atomic_load(&g->started) : 0;
}

void
upf_gen_stop(struct upf_gen *g)
{
	if (atomic_load(&g->started) <= 0)
		return;
	atomic_store(&g->stop, true);
	pthread_join(g->thread, NULL);
	atomic_store(&g->started, 0);
}

void
upf_gen_rate(struct upf_gen *g, enum upf_wire_direction d, struct gen_rate rate)
{
	uint64_t word = rate.kind == GEN_RATE_MAX    ? FULL_SPEED
			: rate.kind == GEN_RATE_STOP ? 0
						     : (uint64_t)(rate.value * 1000);

	atomic_store_explicit(&g->flow[d].rate, word, memory_order_relaxed);
}

void
upf_gen_pause(struct upf_gen *g, bool pause)
{
	atomic_store_explicit(&g->pause, pause, memory_order_release);
	while (atomic_load_explicit(&g->paused, memory_order_acquire) != pause)
		rte_delay_us_sleep(100);
}

void
upf_gen_fill(struct upf_gen *g, enum upf_wire_direction d, unsigned n)
{
	uint64_t now_ns = ap_clock_ns();

	if (g->flow_wire)
		n = d == UPF_WIRE_UP ? RTE_MIN(UPF_WIRE_DIRECTIONS * n, g->flows->nb_places / 2)
				     : 0;
	for (uint16_t k; n > 0; n -= k) {
		k = (uint16_t)RTE_MIN(n, (unsigned)UPF_GEN_BURST);
		k = g->flow_wire ? upf_gen_traffic_emit(g, k, now_ns) : emit(g, d, k, now_ns);
		if (k == 0)
			break;
	}
}

void
upf_gen_drain(struct upf_gen *g)
{
	uint64_t now_ns = ap_clock_ns();

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		for (unsigned empty = 0; empty < g->queues;)
			empty = receive(g, d, now_ns) ? 0 : empty + 1;
}

void
upf_frame_take(struct upf_frame *f)
{
	struct timespec t;

	f->cycles = harness_frame();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	f->cpu_ns = (uint64_t)t.tv_sec * AP_NS_PER_S + (uint64_t)t.tv_nsec;
	f->wall_ns = ap_clock_ns();
}

void
upf_gen_frame(struct upf_gen *g, struct upf_frame *f)
{
	uint32_t ask = atomic_load_explicit(&g->frame_asked, memory_order_relaxed) + 1;

	atomic_store_explicit(&g->frame_asked, ask, memory_order_release);
	while (atomic_load_explicit(&g->frame_done, memory_order_acquire) != ask)
		rte_delay_us_sleep(20);
	*f = g->frame;
}

void
upf_gen_quiet(struct upf_gen *g)
{
	struct upf_frame f;

	for (unsigned d = 0; d < UPF_WIRE_DIRECTIONS; d++)
		upf_gen_rate(g, d, (struct gen_rate){GEN_RATE_STOP, 0});
	upf_gen_frame(g, &f); /* it has seen that */
}

void
upf_gen_give_up(struct upf_gen *g)
{
	struct upf_frame f;

	atomic_store_explicit(&g->give_up, true, memory_order_release);
	/* It looks there after the first one. */
	upf_gen_frame(g, &f);
	upf_gen_frame(g, &f);
}
