/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * S1.1: what a port can do at most, nC/mQ by frame size.
 *
 *   zero-copy    frames go round a loopback of rings; what a driver does to an mbuf on
 *                receive and on send is done, the frame is not touched
 *   single-copy  the same with one copy of every frame in between
 *   null         plain DPDK forwarding between two ends of net_null: one mbuf allocated
 *                on receive and freed on send for every frame
 *   memcpy       rte_memcpy alone, between as many buffers as a queue holds
 *
 * The paper's loopback is a null driver changed to give back what was sent; frames
 * and copies are the same here, descriptors are ring slots.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memcpy.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/result.h"
#include "core/copier.h"
#include "core/pool.h"
#include "core/port.h"

#define BURST 64
#define QUEUE_FRAMES 512 /**< in flight per queue: what a NIC's descriptors hold */
#define WINDOW_US 100
#define CHECK_BURSTS 8 /**< bursts between two looks at the clock */
#define CORES_MAX 64
#define FRAME_MAX 16000

enum mode {
	ZERO_COPY,
	SINGLE_COPY,
	NULL_FORWARD,
	MEMCPY,
	NB_MODES,
};

static const char *const mode_names[] = {"zero-copy", "single-copy", "null", "memcpy"};

/** One measurement, and its share on each core. */
struct limit {
	enum mode mode;
	unsigned cores, queues, frame_bytes;
	double seconds;
	struct rte_mempool *pool;
	struct ap_port *port;
	_Atomic unsigned waiting; /**< cores that are not ready yet */
	uint64_t corrupted;
};

struct core {
	struct limit *limit;
	unsigned index;
	uint16_t queue; /**< next to serve */
	struct ap_copier *copier;
	struct rte_mbuf *from[QUEUE_FRAMES]; /**< memcpy */
	struct rte_mbuf *to[QUEUE_FRAMES];
	uint64_t window_cycles;
	uint64_t bytes; /**< sent, as a driver counts them */
	uint64_t lost;
	struct harness_result cycles;
};

/** The queues of a core are those with its index modulo the cores. */
static inline uint16_t
next_queue(struct core *c)
{
	uint16_t q = c->queue;

	c->queue = (uint16_t)(q + c->limit->cores);
	if (c->queue >= c->limit->queues)
		c->queue = (uint16_t)c->index;
	return q;
}

/** The fields of an mbuf that every driver writes when it receives and reads when it sends. */
static inline void
handle_mbufs(struct core *c, uint16_t port, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t frame_bytes = (uint16_t)c->limit->frame_bytes;

	for (uint16_t i = 0; i < nb; i++) {
		struct rte_mbuf *m = pkts[i];

		if (i + 4 < nb)
			rte_prefetch0(pkts[i + 4]);
		c->bytes += m->pkt_len;
		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->nb_segs = 1;
		m->port = port;
		m->ol_flags = 0;
		m->packet_type = 0;
		m->data_len = frame_bytes;
		m->pkt_len = frame_bytes;
	}
}

static uint16_t
forward(struct core *c, uint16_t port, uint16_t queue)
{
	struct rte_mbuf *pkts[BURST], *copies[BURST], **out = pkts;
	uint16_t nb = rte_eth_rx_burst(port, queue, pkts, BURST), sent;
	struct ap_copier_lost lost = {0};

	if (c->limit->mode != NULL_FORWARD)
		handle_mbufs(c, port, pkts, nb);
	if (c->copier != NULL) {
		sent = ap_copier_burst(c->copier, pkts, nb, copies, BURST, &lost);
		c->lost += nb - sent;
		nb = sent;
		out = copies;
	}
	sent = rte_eth_tx_burst(port, queue, out, nb);
	if (unlikely(sent < nb)) {
		c->lost += nb - sent;
		rte_pktmbuf_free_bulk(out + sent, nb - sent);
	}
	return sent;
}

static uint64_t
window_forward(void *arg)
{
	struct core *c = arg;
	uint64_t end = rte_rdtsc() + c->window_cycles, done = 0;

	do {
		for (unsigned i = 0; i < CHECK_BURSTS; i++)
			done += forward(c, c->limit->port->id, next_queue(c));
	} while (rte_rdtsc() < end);
	return done;
}

static uint64_t
window_memcpy(void *arg)
{
	struct core *c = arg;
	uint64_t end = rte_rdtsc() + c->window_cycles, done = 0;

	do {
		for (unsigned i = 0; i < BURST; i++, done++)
			rte_memcpy(rte_pktmbuf_mtod(c->to[done % QUEUE_FRAMES], void *),
				   rte_pktmbuf_mtod(c->from[done % QUEUE_FRAMES], void *),
				   c->limit->frame_bytes);
	} while (rte_rdtsc() < end);
	return done;
}

static int
core_main(void *arg)
{
	struct core *c = arg;
	struct limit *l = c->limit;

	c->queue = (uint16_t)c->index;
	c->window_cycles = rte_get_tsc_hz() / 1000000 * WINDOW_US;
	/* Together: a core that runs alone has the memory for itself. */
	atomic_fetch_sub(&l->waiting, 1);
	while (atomic_load(&l->waiting) > 0)
		rte_pause();
	c->cycles = harness_run(l->mode == MEMCPY ? window_memcpy : window_forward, c, l->seconds);
	return 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

static uint8_t
pattern(unsigned i)
{
	return (uint8_t)(i * 31 + 7);
}

static void
frame_fill(const struct limit *l, struct rte_mbuf *m)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)l->frame_bytes);

	for (unsigned i = 0; i < l->frame_bytes; i++)
		p[i] = pattern(i);
	memset(&m->hash, 0, sizeof(m->hash));
}

static bool
frame_good(const struct limit *l, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->pkt_len != l->frame_bytes)
		return false;
	for (unsigned i = 0; i < l->frame_bytes; i++)
		if (p[i] != pattern(i))
			return false;
	return true;
}

static int
loopback_fill(struct limit *l)
{
	struct rte_mbuf *m[QUEUE_FRAMES];

	for (uint16_t q = 0; q < l->queues; q++) {
		if (rte_pktmbuf_alloc_bulk(l->pool, m, QUEUE_FRAMES) != 0)
			return -ENOMEM;
		for (unsigned i = 0; i < QUEUE_FRAMES; i++)
			frame_fill(l, m[i]);
		if (rte_eth_tx_burst(l->port->id, q, m, QUEUE_FRAMES) != QUEUE_FRAMES)
			return -EIO;
	}
	return 0;
}

/** Takes the frames out again, looks at every byte. @return how many came. */
static uint64_t
loopback_drain(struct limit *l)
{
	struct rte_mbuf *m[BURST];
	uint64_t n = 0;
	uint16_t nb;

	for (uint16_t q = 0; q < l->queues; q++)
		while ((nb = rte_eth_rx_burst(l->port->id, q, m, BURST)) > 0) {
			for (uint16_t i = 0; i < nb; i++)
				l->corrupted += !frame_good(l, m[i]);
			rte_pktmbuf_free_bulk(m, nb);
			n += nb;
		}
	return n;
}

/* --- one measurement ------------------------------------------------------------------------- */

static int
port_make(struct limit *l, struct ap_error *err)
{
	static struct ap_cfg_port conf;
	static char devargs[32];
	struct ap_port_cfg cfg = {.conf = &conf, .rx_pool = l->pool};
	int ret;

	conf = (struct ap_cfg_port){.name = "limit", .queues = l->queues,
				    .framing = AP_FRAMING_RAW};
	if (l->mode == NULL_FORWARD) {
		snprintf(devargs, sizeof(devargs), "size=%u", l->frame_bytes);
		conf.preset = AP_PRESET_NULL;
		conf.devargs = devargs;
		conf.mtu = RTE_MAX(l->frame_bytes, (unsigned)RTE_ETHER_MTU);
	} else {
		conf.preset = AP_PRESET_RING;
		conf.peer = "limit";
		conf.ring_size = 2 * QUEUE_FRAMES;
	}
	ret = ap_port_open(&l->port, &cfg, err);
	if (ret < 0)
		return ret;
	ret = ap_port_start(l->port, err);
	if (ret == 0 && l->mode != NULL_FORWARD)
		ret = loopback_fill(l);
	return ret;
}

static int
core_make(struct core *c, struct ap_error *err)
{
	const struct ap_copier_cfg cfg = {"single-copy", AP_COPY_CPU, c->limit->pool, NULL, 0};

	if (c->limit->mode == SINGLE_COPY) {
		c->copier = ap_copier_create(&cfg, err);
		return c->copier != NULL ? 0 : -ENOMEM;
	}
	if (c->limit->mode != MEMCPY)
		return 0;
	if (rte_pktmbuf_alloc_bulk(c->limit->pool, c->from, QUEUE_FRAMES) != 0)
		return ap_error_set(err, "memcpy: out of buffers");
	if (rte_pktmbuf_alloc_bulk(c->limit->pool, c->to, QUEUE_FRAMES) != 0)
		return ap_error_set(err, "memcpy: out of buffers");
	for (unsigned i = 0; i < QUEUE_FRAMES; i++)
		frame_fill(c->limit, c->from[i]);
	return 0;
}

static void
core_free(struct core *c)
{
	ap_copier_destroy(c->copier);
	for (unsigned i = 0; i < QUEUE_FRAMES; i++) {
		rte_pktmbuf_free(c->from[i]);
		rte_pktmbuf_free(c->to[i]);
	}
}

/** Runs core 0 here and the others on worker lcores. */
static void
cores_run(struct limit *l, struct core *cores)
{
	unsigned lcore, i = 1;

	l->waiting = l->cores;
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (i == l->cores)
			break;
		rte_eal_remote_launch(core_main, &cores[i++], lcore);
	}
	core_main(&cores[0]);
	rte_eal_mp_wait_lcore();
}

/** @return false when frames were lost or changed. */
static bool
row_write(struct bench_result *r, const struct limit *l, const struct core *cores, uint64_t lost)
{
	double mpps = 0, least = 0, most = 0, cycles = 0;
	unsigned windows = 0, clean = 0;

	for (unsigned i = 0; i < l->cores; i++) {
		struct harness_result rate = harness_rate(&cores[i].cycles);

		mpps += rate.median / 1e6;
		least += rate.min / 1e6;
		most += rate.max / 1e6;
		cycles += cores[i].cycles.median / l->cores;
		windows += rate.windows;
		clean += rate.windows_clean;
		lost += cores[i].lost;
	}
	bench_row(r);
	bench_int(r, "cores", l->cores);
	bench_int(r, "queues", l->queues);
	bench_int(r, "frame_bytes", l->frame_bytes);
	bench_str(r, "mode", mode_names[l->mode]);
	bench_num(r, "mpps", mpps, 2);
	bench_num(r, "gbps", mpps * l->frame_bytes * 8 / 1e3, 2);
	bench_num(r, "cycles_per_packet", cycles, 1);
	bench_num(r, "mpps_min", least, 2);
	bench_num(r, "mpps_max", most, 2);
	bench_int(r, "windows", windows);
	bench_int(r, "windows_clean", clean);
	bench_int(r, "lost", (int64_t)lost);
	bench_int(r, "corrupted", (int64_t)l->corrupted);
	/* Figures 2 and 3: per core, shortest frames. */
	bool shortest = l->frame_bytes == 64 && l->cores == 1 && l->mode <= SINGLE_COPY;

	bench_num(r, "paper_zynq_mpps", !shortest ? NAN : l->mode == ZERO_COPY ? 1.4 : 0.7, 1);
	bench_num(r, "paper_a53_mpps", !shortest ? NAN : l->mode == ZERO_COPY ? 3.2 : 1.8, 1);
	return lost == 0 && l->corrupted == 0;
}

/** @return 0; 1 when the run was not valid; -errno with `err` filled. */
static int
measure(struct limit *l, struct bench_result *r, struct ap_error *err)
{
	struct ap_cfg_pool pool = {
		.name = "limit",
		/* Twice what is in flight, and what bursts and caches hold. */
		.mbufs = 2 * QUEUE_FRAMES * RTE_MAX(l->queues, l->cores) + 1024 * l->cores,
		.data_room = RTE_MAX(l->frame_bytes + 64, 2048U),
	};
	struct core *cores = rte_zmalloc("cores", sizeof(*cores) * l->cores, RTE_CACHE_LINE_SIZE);
	uint64_t lost = 0;
	int ret = 0;

	if (cores == NULL)
		return ap_error_set(err, "out of memory");
	l->pool = ap_pool_create(&pool, err);
	if (l->pool == NULL)
		ret = -ENOMEM;
	if (ret == 0 && l->mode != MEMCPY)
		ret = port_make(l, err);
	for (unsigned i = 0; i < l->cores && ret == 0; i++) {
		cores[i].limit = l;
		cores[i].index = i;
		ret = core_make(&cores[i], err);
	}
	if (ret == 0)
		cores_run(l, cores);
	if (ret == 0 && l->mode <= SINGLE_COPY)
		lost = (uint64_t)l->queues * QUEUE_FRAMES - loopback_drain(l);
	for (unsigned i = 0; i < l->cores; i++)
		core_free(&cores[i]);
	if (l->port != NULL) {
		ap_port_stop(l->port);
		ap_port_close(l->port);
	}
	if (ret == 0 && l->pool != NULL && rte_mempool_in_use_count(l->pool) != 0)
		ret = ap_error_set(err, "%s: %u mbufs did not come back", mode_names[l->mode],
				   rte_mempool_in_use_count(l->pool));
	if (ret == 0)
		ret = !row_write(r, l, cores, lost);
	rte_mempool_free(l->pool);
	rte_free(cores);
	return ret;
}

/** All modes and frame sizes of one nC/mQ. @return as measure(), the worst of them. */
static int
measure_all(unsigned cores, unsigned queues, const struct bench_uints *frames, double seconds,
	    struct bench_result *r, struct ap_error *err)
{
	int worst = 0, ret;

	for (unsigned f = 0; f < frames->n; f++)
		for (unsigned mode = 0; mode < NB_MODES; mode++) {
			struct limit l = {.mode = mode, .cores = cores, .queues = queues,
					  .frame_bytes = frames->v[f], .seconds = seconds};

			/* Copying knows no queues. */
			if (mode == MEMCPY && queues != cores)
				continue;
			if (isatty(STDERR_FILENO))
				fprintf(stderr, "\r%uC/%uQ %5u B %-12s", cores, queues,
					l.frame_bytes, mode_names[mode]);
			ret = measure(&l, r, err);
			if (ret < 0)
				return ret;
			worst |= ret;
		}
	return worst;
}

int
bench_port_limits(int argc, char **argv)
{
	struct bench_common common = {.seconds = 0.1};
	struct bench_uints frames = {{64, 128, 256, 512, 1024, 1518, 9000}, 7};
	unsigned most = 0;
	const struct bench_opt own[] = {
		{"frames", BENCH_OPT_UINTS, &frames, "frame sizes, B (64..16000)"},
		{"cores", BENCH_OPT_UINT, &most, "most cores to use, default all there are"},
		{NULL, 0, NULL, NULL},
	};
	struct ap_error err = {0};
	struct bench_result *r;
	unsigned cores;
	int ret;

	ret = bench_options(argc, argv,
			    "S1.1: limits of a port: nC/mQ x frame size x mode, each row measured "
			    "for --seconds (0.1).", &common, own);
	if (ret != 0)
		return ret > 0 ? 0 : 2;
	for (unsigned i = 0; i < frames.n; i++)
		if (frames.v[i] < 60 || frames.v[i] > FRAME_MAX) {
			fprintf(stderr, "bench %s: --frames: %u must be 60..%u\n", argv[0],
				frames.v[i], FRAME_MAX);
			return 2;
		}
	r = bench_result_open("port-limits", common.json);
	if (r == NULL)
		return 1;
	cores = RTE_MIN(rte_lcore_count(), (unsigned)CORES_MAX);
	if (most != 0)
		cores = RTE_MIN(cores, most);
	for (unsigned c = 1; c <= cores && ret >= 0; c *= 2)
		for (unsigned q = c; q <= 2 * c && q <= AP_PORT_QUEUES_MAX && ret >= 0; q += c) {
			int one = measure_all(c, q, &frames, common.seconds, r, &err);

			ret = one < 0 ? one : ret | one;
		}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%40s\r", "");
	if (ret < 0)
		fprintf(stderr, "bench port-limits: %s\n", err.text);
	if (bench_result_close(r) < 0)
		return 1;
	return ret != 0;
}
