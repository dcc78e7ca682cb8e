/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_TESTS_TEST_GEN_H
#define AIRPATH_TESTS_TEST_GEN_H

/** A generator without a graph: what its two nodes do, in the hand of a test. Include cmocka first.
 */

#include "modules/gen/gen_impl.h"
#include "test_eal.h"

#define TEST_GEN_MAX 4096

static struct rte_mempool *pool;
static struct rte_mbuf *pkts[TEST_GEN_MAX];

static inline struct gen *
test_gen(const struct gen_cfg *cfg)
{
	struct ap_error err = {0};
	struct gen_cfg c = *cfg;
	struct gen *g;

	c.name = "gen";
	c.pool = pool;
	g = gen_create(&c, &err);
	if (g == NULL)
		fail_msg("%s", err.text);
	return g;
}

/** Sends `n` packets, fewer if fewer are due, to pkts[0..]. @return how many */
static inline uint16_t
test_send(struct gen *g, uint16_t n, uint64_t now)
{
	uint16_t sent = 0, k;

	while (sent < n && (k = gen_plan(g, now, RTE_MIN(n - sent, GEN_BURST_MAX))) > 0) {
		assert_int_equal(rte_mempool_get_bulk(pool, (void **)pkts + sent, k), 0);
		gen_build(g, pkts + sent, k, now);
		sent += k;
	}
	return sent;
}

/** Fails unless all `n` packets are ours and whole; frees them. */
static inline void
test_take_good(struct gen *g, uint16_t n, uint64_t now)
{
	struct gen_arrivals a = gen_verify(g, pkts, n, now);

	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(a.ours, n);
}

static inline struct gen_stats
test_stats(const struct gen *g)
{
	struct gen_stats s;

	gen_stats_read(g, &s);
	return s;
}

/** Group set-up and tear-down. */
static inline int
test_gen_start(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("gen", TEST_GEN_MAX - 1, 9728);
	return pool ? 0 : -1;
}

#endif
