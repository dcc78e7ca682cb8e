/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_memcpy.h>

#include "bench/limit.h"
#include "core/copier.h"
#include "core/pool.h"
#include "core/port.h"

#define BURST 64
#define QUEUE_FRAMES 512 /**< in flight per queue: what a NIC's descriptors hold */
#define WINDOW_US 100
#define CHECK_BURSTS 8 /**< bursts between two looks at the clock */

/** What all cores of a measurement share. */
struct bed {
	const struct limit *what;
	struct rte_mempool *pool;
	struct ap_port *port;
	_Atomic unsigned waiting; /**< cores that are not ready yet */
	uint64_t corrupted;
};

struct core {
	struct bed *bed;
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

	c->queue = (uint16_t)(q + c->bed->what->cores);
	if (c->queue >= c->bed->what->queues)
		c->queue = (uint16_t)c->index;
	return q;
}

/** The fields of an mbuf that every driver writes when it receives and reads when it sends. */
static inline void
handle_mbufs(struct core *c, uint16_t port, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t frame_bytes = (uint16_t)c->bed->what->frame_bytes;

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

	if (c->bed->what->mode != LIMIT_NULL)
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
			done += forward(c, c->bed->port->id, next_queue(c));
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
				   c->bed->what->frame_bytes);
	} while (rte_rdtsc() < end);
	return done;
}

static int
core_main(void *arg)
{
	struct core *c = arg;
	struct bed *b = c->bed;

	c->queue = (uint16_t)c->index;
	c->window_cycles = rte_get_tsc_hz() / 1000000 * WINDOW_US;
	/* Together: a core that runs alone has the memory for itself. */
	atomic_fetch_sub(&b->waiting, 1);
	while (atomic_load(&b->waiting) > 0)
		rte_pause();
	c->cycles = harness_run(b->what->mode == LIMIT_MEMCPY ? window_memcpy : window_forward, c,
				b->what->seconds);
	return 0;
}

/* --- frames ---------------------------------------------------------------------------------- */

static uint8_t
pattern(unsigned i)
{
	return (uint8_t)(i * 31 + 7);
}

static void
frame_fill(const struct bed *b, struct rte_mbuf *m)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)b->what->frame_bytes);

	for (unsigned i = 0; i < b->what->frame_bytes; i++)
		p[i] = pattern(i);
	memset(&m->hash, 0, sizeof(m->hash));
}

static bool
frame_good(const struct bed *b, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (m->pkt_len != b->what->frame_bytes)
		return false;
	for (unsigned i = 0; i < b->what->frame_bytes; i++)
		if (p[i] != pattern(i))
			return false;
	return true;
}

static int
loopback_fill(struct bed *b)
{
	struct rte_mbuf *m[QUEUE_FRAMES];

	for (uint16_t q = 0; q < b->what->queues; q++) {
		if (rte_pktmbuf_alloc_bulk(b->pool, m, QUEUE_FRAMES) != 0)
			return -ENOMEM;
		for (unsigned i = 0; i < QUEUE_FRAMES; i++)
			frame_fill(b, m[i]);
		if (rte_eth_tx_burst(b->port->id, q, m, QUEUE_FRAMES) != QUEUE_FRAMES)
			return -EIO;
	}
	return 0;
}

/** Takes the frames out again, looks at every byte. @return how many came. */
static uint64_t
loopback_drain(struct bed *b)
{
	struct rte_mbuf *m[BURST];
	uint64_t n = 0;
	uint16_t nb;

	for (uint16_t q = 0; q < b->what->queues; q++)
		while ((nb = rte_eth_rx_burst(b->port->id, q, m, BURST)) > 0) {
			for (uint16_t i = 0; i < nb; i++)
				b->corrupted += !frame_good(b, m[i]);
			rte_pktmbuf_free_bulk(m, nb);
			n += nb;
		}
	return n;
}

/* --- one measurement ------------------------------------------------------------------------- */

static int
port_make(struct bed *b, struct ap_error *err)
{
	static struct ap_cfg_port conf;
	static char devargs[32];
	struct ap_port_cfg cfg = {.conf = &conf, .rx_pool = b->pool};
	int ret;

	conf = (struct ap_cfg_port){
		.name = "limit", .queues = b->what->queues, .framing = AP_FRAMING_RAW};
	if (b->what->mode == LIMIT_NULL) {
		snprintf(devargs, sizeof(devargs), "size=%u", b->what->frame_bytes);
		conf.preset = AP_PRESET_NULL;
		conf.devargs = devargs;
		conf.mtu = RTE_MAX(b->what->frame_bytes, (unsigned)RTE_ETHER_MTU);
	} else {
		conf.preset = AP_PRESET_RING;
		conf.peer = "limit";
		conf.ring_size = 2 * QUEUE_FRAMES;
	}
	ret = ap_port_open(&b->port, &cfg, err);
	if (ret < 0)
		return ret;
	ret = ap_port_start(b->port, err);
	if (ret == 0 && b->what->mode != LIMIT_NULL)
		ret = loopback_fill(b);
	return ret;
}

static int
core_make(struct core *c, struct ap_error *err)
{
	const struct ap_copier_cfg cfg = {"single-copy", AP_COPY_CPU, c->bed->pool, NULL, 0};

	if (c->bed->what->mode == LIMIT_SINGLE_COPY) {
		c->copier = ap_copier_create(&cfg, err);
		return c->copier != NULL ? 0 : -ENOMEM;
	}
	if (c->bed->what->mode != LIMIT_MEMCPY)
		return 0;
	if (rte_pktmbuf_alloc_bulk(c->bed->pool, c->from, QUEUE_FRAMES) != 0)
		return ap_error_set(err, "memcpy: out of buffers");
	if (rte_pktmbuf_alloc_bulk(c->bed->pool, c->to, QUEUE_FRAMES) != 0)
		return ap_error_set(err, "memcpy: out of buffers");
	for (unsigned i = 0; i < QUEUE_FRAMES; i++)
		frame_fill(c->bed, c->from[i]);
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
cores_run(struct bed *b, struct core *cores)
{
	unsigned lcore, i = 1;

	b->waiting = b->what->cores;
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (i == b->what->cores)
			break;
		rte_eal_remote_launch(core_main, &cores[i++], lcore);
	}
	core_main(&cores[0]);
	rte_eal_mp_wait_lcore();
}

int
limit_measure(const struct limit *l, struct limit_result *res, struct ap_error *err)
{
	struct ap_cfg_pool pool = {
		.name = "limit",
		/* Twice what is in flight, and what bursts and caches hold. */
		.mbufs = 2 * QUEUE_FRAMES * RTE_MAX(l->queues, l->cores) + 1024 * l->cores,
		.data_room = RTE_MAX(l->frame_bytes + 64, 2048U),
	};
	struct core *cores = rte_zmalloc("cores", sizeof(*cores) * l->cores, RTE_CACHE_LINE_SIZE);
	struct bed b = {.what = l};
	int ret = 0;

	*res = (struct limit_result){0};
	if (cores == NULL)
		return ap_error_set(err, "out of memory");
	b.pool = ap_pool_create(&pool, err);
	if (b.pool == NULL)
		ret = -ENOMEM;
	if (ret == 0 && l->mode != LIMIT_MEMCPY)
		ret = port_make(&b, err);
	for (unsigned i = 0; i < l->cores && ret == 0; i++) {
		cores[i].bed = &b;
		cores[i].index = i;
		ret = core_make(&cores[i], err);
	}
	if (ret == 0)
		cores_run(&b, cores);
	if (ret == 0 && l->mode <= LIMIT_SINGLE_COPY)
		res->lost = (uint64_t)l->queues * QUEUE_FRAMES - loopback_drain(&b);
	res->corrupted = b.corrupted;
	for (unsigned i = 0; i < l->cores; i++) {
		res->cycles[i] = cores[i].cycles;
		res->lost += cores[i].lost;
		core_free(&cores[i]);
	}
	if (b.port != NULL) {
		ap_port_stop(b.port);
		ap_port_close(b.port);
	}
	if (ret == 0 && rte_mempool_in_use_count(b.pool) != 0)
		ret = ap_error_set(err, "%u mbufs did not come back",
				   rte_mempool_in_use_count(b.pool));
	rte_mempool_free(b.pool);
	rte_free(cores);
	return ret;
}
