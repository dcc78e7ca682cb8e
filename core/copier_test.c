/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka needs the four headers above. */
#include <cmocka.h>

#include <rte_cycles.h>

#include "core/copier.h"
#include "core/pool.h"
#include "test_eal.h"

#define NB 40

static struct rte_mempool *src_pool, *dst_pool;

static struct ap_copier *
create(enum ap_cfg_copy mode, const char *device, uint32_t depth)
{
	struct ap_copier_cfg cfg = {"test", mode, dst_pool, device, depth};
	struct ap_error err = {0};
	struct ap_copier *c = ap_copier_create(&cfg, &err);

	if (c == NULL)
		print_error("%s\n", err.text);
	assert_non_null(c);
	return c;
}

/** A packet of `len` bytes in segments of at most `seg` bytes, its pattern from `seed`. */
static struct rte_mbuf *
packet(uint32_t len, uint32_t seg, uint8_t seed)
{
	struct rte_mbuf *head = NULL, *m;

	for (uint32_t off = 0, n; off < len || head == NULL; off += n) {
		n = RTE_MIN(seg, len - off);
		m = rte_pktmbuf_alloc(src_pool);
		assert_non_null(m);
		uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, n);

		for (uint32_t i = 0; i < n; i++)
			p[i] = (uint8_t)(seed + (off + i) * 7);
		if (head == NULL)
			head = m;
		else
			assert_int_equal(rte_pktmbuf_chain(head, m), 0);
	}
	*ap_meta(head) = (struct ap_meta){.bearer = seed, .qfi = 9, .flags = AP_M_TIMED};
	*ap_ext(head) = (struct ap_ext){.enter_ns = 1000 + seed, .tb_bytes = len};
	return head;
}

static void
assert_packet(struct rte_mbuf *m, uint32_t len, uint8_t seed)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->data_len, len);
	assert_int_equal(m->pkt_len, len);
	assert_ptr_equal(m->pool, dst_pool);
	for (uint32_t i = 0; i < len; i++)
		assert_int_equal(p[i], (uint8_t)(seed + i * 7));
	assert_int_equal(ap_meta(m)->bearer, seed);
	assert_int_equal(ap_meta(m)->qfi, 9);
	assert_int_equal(ap_ext(m)->enter_ns, 1000 + seed);
	assert_int_equal(ap_ext(m)->tb_bytes, len);
}

/** Polls until `want` packets came or a second passed. */
static uint16_t
collect(struct ap_copier *c, struct rte_mbuf **out, uint16_t have, uint16_t want)
{
	uint64_t end = ap_clock_ns() + AP_NS_PER_S;

	while (have < want && ap_clock_ns() < end)
		have += ap_copier_poll(c, out + have, want - have);
	return have;
}

/** Sizes and segmentations a frame can have, in one burst, in order. */
static void
copies_are_identical(struct ap_copier *c)
{
	struct rte_mbuf *in[NB], *out[2 * NB];
	struct ap_copier_lost lost = {0};
	uint32_t len[NB];
	uint16_t k;

	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < NB; i++) {
			len[i] = 1 + (i * 97 + round * 13) % 2000;
			in[i] = packet(len[i], i % 3 ? 4096 : 300, (uint8_t)(i + round));
		}
		k = ap_copier_burst(c, in, NB, out, RTE_DIM(out), &lost);
		k = collect(c, out, k, NB);
		assert_int_equal(k, NB);
		for (uint32_t i = 0; i < NB; i++)
			assert_packet(out[i], len[i], (uint8_t)(i + round));
		rte_pktmbuf_free_bulk(out, k);
	}
	assert_int_equal(lost.no_mbuf + lost.too_long + lost.full, 0);
	assert_int_equal(ap_copier_held(c), 0);
}

static void
test_none_passes_through(void **state)
{
	struct ap_copier *c = create(AP_COPY_NONE, NULL, 0);
	struct rte_mbuf *in = packet(100, 4096, 1), *out[1], *same = in;
	struct ap_copier_lost lost = {0};

	(void)state;
	assert_int_equal(ap_copier_burst(c, &in, 1, out, 1, &lost), 1);
	assert_ptr_equal(out[0], same);
	assert_string_equal(ap_copier_name(c), "none");
	rte_pktmbuf_free(out[0]);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
}

static void
test_cpu_copies(void **state)
{
	struct ap_copier *c = create(AP_COPY_CPU, NULL, 0);
	struct ap_copier_stats stats;

	(void)state;
	copies_are_identical(c);
	ap_copier_stats(c, &stats);
	assert_int_equal(stats.cpu_packets, 5 * NB);
	assert_string_equal(ap_copier_name(c), "cpu");
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
test_dma_copies(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, NULL, 0);
	struct ap_copier_stats stats;

	(void)state;
	copies_are_identical(c);
	ap_copier_stats(c, &stats);
	assert_int_equal(stats.dma_packets, 5 * NB);
	assert_int_equal(stats.cpu_packets, 0);
	assert_int_equal(stats.dma_errors, 0);
	assert_non_null(strstr(ap_copier_name(c), "emulation"));
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
test_dma_packet_of_no_bytes(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, "auto", 0);
	struct rte_mbuf *in[2] = {packet(0, 1, 1), packet(5, 5, 2)}, *out[4];
	struct ap_copier_lost lost = {0};
	uint16_t k;

	(void)state;
	k = ap_copier_burst(c, in, 2, out, 4, &lost);
	assert_int_equal(collect(c, out, k, 2), 2);
	assert_packet(out[0], 0, 1);
	assert_packet(out[1], 5, 2);
	rte_pktmbuf_free_bulk(out, 2);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
}

/** The device has no descriptors left long before the copier is full: the CPU fills in. */
static void
test_dma_out_of_descriptors(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, NULL, 32);
	struct rte_mbuf *in[32], *out[64];
	struct ap_copier_lost lost = {0};
	struct ap_copier_stats stats;
	uint16_t k = 0;

	(void)state;
	/* 64 descriptors (63 usable), 4 segments a packet. */
	for (uint8_t i = 0; i < 32; i++)
		in[i] = packet(400, 100, i);
	k = ap_copier_burst(c, in, 32, out, RTE_DIM(out), &lost);
	k = collect(c, out, k, 32);
	assert_int_equal(k, 32);
	for (uint8_t i = 0; i < 32; i++)
		assert_packet(out[i], 400, i);
	ap_copier_stats(c, &stats);
	assert_int_equal(stats.cpu_packets + stats.dma_packets, 32);
	assert_true(stats.cpu_packets >= 32 - 63 / 4);
	rte_pktmbuf_free_bulk(out, k);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
test_dma_full(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, NULL, 4);
	struct rte_mbuf *in[NB], *out[NB];
	struct ap_copier_lost lost = {0};
	uint16_t k;

	(void)state;
	for (uint8_t i = 0; i < NB; i++)
		in[i] = packet(10, 10, i);
	k = ap_copier_burst(c, in, NB, out, NB, &lost);
	assert_int_equal(lost.full, NB - 4);
	assert_int_equal(ap_copier_held(c) + k, 4);
	assert_int_equal(collect(c, out, k, 4), 4);
	assert_packet(out[3], 10, 3);
	rte_pktmbuf_free_bulk(out, 4);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
}

static void
test_dma_destroy_in_flight(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, NULL, 0);
	struct rte_mbuf *in[NB], *out[NB];
	struct ap_copier_lost lost = {0};

	(void)state;
	for (uint8_t i = 0; i < NB; i++)
		in[i] = packet(1500, 4096, i);
	rte_pktmbuf_free_bulk(out, ap_copier_burst(c, in, NB, out, NB, &lost));
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
pool_exhaustion(enum ap_cfg_copy mode)
{
	struct ap_copier *c = create(mode, NULL, 0);
	unsigned avail = rte_mempool_avail_count(dst_pool), keep = 10;
	struct rte_mbuf **hold = test_calloc(avail, sizeof(*hold)), *in[NB], *out[NB];
	struct ap_copier_lost lost = {0};
	uint16_t k;

	assert_int_equal(rte_pktmbuf_alloc_bulk(dst_pool, hold, avail - keep), 0);
	for (uint8_t i = 0; i < NB; i++)
		in[i] = packet(64, 64, i);
	k = ap_copier_burst(c, in, NB, out, NB, &lost);
	k = collect(c, out, k, (uint16_t)keep);
	assert_int_equal(k, keep);
	assert_int_equal(lost.no_mbuf, NB - keep);
	for (uint8_t i = 0; i < k; i++)
		assert_packet(out[i], 64, i);
	rte_pktmbuf_free_bulk(out, k);
	rte_pktmbuf_free_bulk(hold, avail - keep);
	test_free(hold);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
test_pool_exhaustion(void **state)
{
	(void)state;
	pool_exhaustion(AP_COPY_CPU);
	pool_exhaustion(AP_COPY_DMA);
}

static void
test_too_long(void **state)
{
	struct ap_copier *c = create(AP_COPY_CPU, NULL, 0);
	struct rte_mbuf *in[3] = {packet(2048, 1000, 1), packet(2049, 1000, 2), packet(9, 9, 3)};
	struct rte_mbuf *out[3];
	struct ap_copier_lost lost = {0};

	(void)state;
	assert_int_equal(ap_copier_burst(c, in, 3, out, 3, &lost), 2);
	assert_int_equal(lost.too_long, 1);
	assert_packet(out[0], 2048, 1);
	assert_packet(out[1], 9, 3);
	rte_pktmbuf_free_bulk(out, 2);
	ap_copier_destroy(c);
	assert_pool_full(src_pool);
	assert_pool_full(dst_pool);
}

static void
assert_create_fails(const struct ap_copier_cfg *cfg, const char *text)
{
	struct ap_error err = {0};

	assert_null(ap_copier_create(cfg, &err));
	if (strstr(err.text, text) == NULL)
		print_error("unexpected message: %s\n", err.text);
	assert_non_null(strstr(err.text, text));
}

static void
test_create_errors(void **state)
{
	struct ap_copier *c = create(AP_COPY_DMA, "dma_skeleton_named", 0);

	(void)state;
	assert_create_fails(&(struct ap_copier_cfg){"a", AP_COPY_CPU}, "no destination pool");
	assert_create_fails(&(struct ap_copier_cfg){"a", AP_COPY_CPU, dst_pool, NULL, 100},
			    "power of 2");
	assert_create_fails(&(struct ap_copier_cfg){"a", AP_COPY_DMA, dst_pool, "wq9.9"},
			    "dma device wq9.9");
	assert_create_fails(
		&(struct ap_copier_cfg){"a", AP_COPY_DMA, dst_pool, "dma_skeleton_named"},
		"already copies for test");
	ap_copier_destroy(c);
	/* Given back, it can be claimed again. */
	c = create(AP_COPY_DMA, "dma_skeleton_named", 0);
	assert_string_equal(ap_copier_name(c),
			    "dma: dma_skeleton_named (skeleton driver: emulation)");
	ap_copier_destroy(c);
}

static void
assert_pool_fails(struct ap_cfg_pool cfg, const char *text)
{
	struct ap_error err = {0};

	assert_null(ap_pool_create(&cfg, &err));
	if (strstr(err.text, text) == NULL)
		print_error("unexpected message: %s\n", err.text);
	assert_non_null(strstr(err.text, text));
}

static void
test_pools(void **state)
{
	struct ap_error err = {0};
	struct ap_cfg_pool tb = {.name = "tb", .mbufs = 15, .data_room = AP_POOL_ROOM_MAX};
	struct rte_mempool *pool = ap_pool_create(&tb, &err);

	(void)state;
	assert_non_null(pool);
	assert_int_equal(ap_pool_room(pool), 65535 - RTE_PKTMBUF_HEADROOM);
	assert_pool_fails(tb, "pool tb: there is a pool of this name already");
	rte_mempool_free(pool);
	assert_pool_fails((struct ap_cfg_pool){.name = "big", .mbufs = 65535, .data_room = 9000},
			  "pool big: 65535 x 9256 B needs 5");
	assert_pool_fails((struct ap_cfg_pool){.name = "big", .mbufs = 65535, .data_room = 9000},
			  "MB free");
	assert_pool_fails((struct ap_cfg_pool){.name = "none"}, "mbufs is 0");
	assert_pool_fails((struct ap_cfg_pool){.name = "room", .mbufs = 1, .data_room = 65500},
			  "over 65407 B");
	assert_pool_fails((struct ap_cfg_pool){.name = "cache", .mbufs = 100, .cache = 67},
			  "cache 67 is over 66");
}

static int
setup(void **state)
{
	(void)state;
	if (test_eal_init() < 0)
		return -1;
	src_pool = test_pool("src", 511, 4096);
	dst_pool = test_pool("dst", 511, 2048);
	return src_pool != NULL && dst_pool != NULL ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_passes_through),
		cmocka_unit_test(test_cpu_copies),
		cmocka_unit_test(test_dma_copies),
		cmocka_unit_test(test_dma_packet_of_no_bytes),
		cmocka_unit_test(test_dma_out_of_descriptors),
		cmocka_unit_test(test_dma_full),
		cmocka_unit_test(test_dma_destroy_in_flight),
		cmocka_unit_test(test_pool_exhaustion),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_create_errors),
		cmocka_unit_test(test_pools),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
