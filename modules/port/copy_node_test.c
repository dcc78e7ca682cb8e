/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka needs the headers above. */
#include <cmocka.h>

#include "modules/port/port_node.h"
#include "modules/port/port_test_rig.h"

static struct rte_mempool *pool, *dst_pool, *small_pool;

/** `len` bytes, the last of them 0xee, with a time of entry. */
static struct rte_mbuf *
packet(uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *p;

	assert_non_null(m);
	p = (uint8_t *)rte_pktmbuf_append(m, len);
	memset(p, 0, len);
	p[len - 1] = 0xee;
	*ap_meta(m) = (struct ap_meta){.bearer = 77, .flags = AP_M_TIMED};
	ap_ext(m)->enter_ns = 12345;
	return m;
}

static void
copy_through(enum ap_cfg_copy mode)
{
	struct ap_copier_cfg cfg = {"test", mode, dst_pool, NULL, 0};
	struct ap_node *n = node_make("copy", &cfg);
	uint64_t end = ap_clock_ns() + AP_NS_PER_S;

	for (nb_fed = 0; nb_fed < 40; nb_fed++)
		fed[nb_fed] = packet((uint16_t)(114 + nb_fed));
	walk();
	assert_balance(n);
	while (nb_caught[0] < 40 && ap_clock_ns() < end) {
		ap_wheel_run(worker.wheel, ap_clock_ns());
		walk();
	}
	assert_int_equal(nb_caught[0], 40);
	for (unsigned i = 0; i < 40; i++) {
		struct rte_mbuf *m = caught[0][i];

		assert_ptr_equal(m->pool, mode == AP_COPY_NONE ? pool : dst_pool);
		assert_int_equal(m->pkt_len, 114 + i);
		assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[113 + i], 0xee);
		assert_int_equal(ap_ext(m)->enter_ns, 12345);
	}
	assert_int_equal(copy_node_copier(n) != NULL, 1);
	node_free(n);
	assert_pool_full(pool);
	assert_pool_full(dst_pool);
}

static void
test_copy(void **state)
{
	(void)state;
	copy_through(AP_COPY_NONE);
	copy_through(AP_COPY_CPU);
	copy_through(AP_COPY_DMA);
}

static void
test_copy_drops(void **state)
{
	struct ap_copier_cfg cfg = {"test", AP_COPY_CPU, small_pool, NULL, 0};
	struct ap_node *n = node_make("copy", &cfg);

	(void)state;
	for (nb_fed = 0; nb_fed < 40; nb_fed++)
		fed[nb_fed] = packet(nb_fed == 3 ? 65 : 60);
	walk();
	assert_int_equal(dropped(n, "too_long"), 1);
	assert_int_equal(dropped(n, "no_mbuf"), 39 - 15);
	assert_int_equal(nb_caught[0], 15);
	node_free(n);
	assert_pool_full(pool);
	assert_pool_full(small_pool);
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	pool = test_pool("pool", 511, 2048);
	dst_pool = test_pool("dst", 63, 2048);
	small_pool = test_pool("small", 15, 64);
	worker.wheel = ap_wheel_create(10000, ap_clock_ns());
	return pool && dst_pool && small_pool && worker.wheel ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_copy_drops),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
