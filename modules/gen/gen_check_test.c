/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test_gen.h"

static struct gen_arrivals
verify_one(struct gen *g, struct rte_mbuf *m)
{
	return gen_verify(g, &m, 1, 1000);
}

/** Every byte of the packet in `m`, its Ethernet addresses apart, flipped by `flip`. */
static void
each_flip_is_corruption(struct gen *g, struct rte_mbuf *m, uint8_t flip)
{
	uint32_t first = g->l2_bytes ? g->l2_bytes - 2u : 0;

	for (uint32_t at = first; at < m->pkt_len; at++) {
		struct rte_mbuf *seg = m;
		uint32_t in_seg = at;

		for (; in_seg >= seg->data_len; seg = seg->next)
			in_seg -= seg->data_len;
		*rte_pktmbuf_mtod_offset(seg, uint8_t *, in_seg) ^= flip;
		if (verify_one(g, m).corrupted != 1)
			fail_msg("byte %u of %u ^ %02x not found (ethernet %d, ipv6 %d)", at,
				 m->pkt_len, flip, g->l2_bytes, g->cfg.ipv6);
		*rte_pktmbuf_mtod_offset(seg, uint8_t *, in_seg) ^= flip;
	}
}

static void
any_single_changed_byte_is_found(void **state)
{
	static const uint16_t sizes[] = {80, 81, 128, 201, 1024};

	(void)state;
	for (unsigned i = 0; i < 4 * RTE_DIM(sizes); i++) {
		uint16_t bytes = sizes[i / 4];
		struct gen_cfg c = {.ipv6 = i & 1,
				    .ethernet = i & 2,
				    .flows = 3,
				    .sizes = {{bytes, bytes, 1}},
				    .nb_sizes = 1};
		struct gen *g = test_gen(&c);
		unsigned flips = bytes <= 128 ? 255 : 8;

		test_send(g, 1, 999);
		for (unsigned k = 1; k <= flips; k++)
			each_flip_is_corruption(g, pkts[0], flips == 8 ? 1 << (k - 1) : (uint8_t)k);
		assert_int_equal(verify_one(g, pkts[0]).ours, 1);
		assert_int_equal(test_stats(g).rx_good, 1);
		rte_pktmbuf_free(pkts[0]);
		gen_destroy(g);
		assert_pool_full(pool);
	}
}

/** Cuts pkts[0] into two segments after `at` bytes. */
static void
split(uint16_t at)
{
	struct rte_mbuf *head = pkts[0], *tail = rte_pktmbuf_alloc(pool);
	uint16_t rest = head->data_len - at;

	memcpy(rte_pktmbuf_append(tail, rest), rte_pktmbuf_mtod_offset(head, void *, at), rest);
	rte_pktmbuf_trim(head, rest);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
}

static void
chains_are_verified_wherever_they_are_cut(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct gen_cfg c = {
			.ipv6 = i & 1, .ethernet = i & 2, .sizes = {{200, 200, 1}}, .nb_sizes = 1};
		struct gen *g = test_gen(&c);

		for (uint16_t at = 0; at <= 200; at++) {
			test_send(g, 1, 999);
			split(at);
			if (at % 37 == 0)
				each_flip_is_corruption(g, pkts[0], 0x40);
			test_take_good(g, 1, 1000);
		}
		assert_int_equal(test_stats(g).rx_good, 201);
		gen_destroy(g);
		assert_pool_full(pool);
	}
}

static void
indirect_packets_are_verified_in_place(void **state)
{
	struct gen_cfg c = {.flows = 4};
	struct gen *g = test_gen(&c);
	struct rte_mbuf *direct[8];

	(void)state;
	test_send(g, 8, 1);
	for (unsigned i = 0; i < 8; i++) {
		direct[i] = pkts[i];
		pkts[i] = rte_pktmbuf_alloc(pool);
		rte_pktmbuf_attach(pkts[i], direct[i]);
		rte_pktmbuf_free(direct[i]);
	}
	test_take_good(g, 8, 2);
	gen_destroy(g);
	assert_pool_full(pool);
}

/** What a port makes of a shared buffer: Ethernet in a segment of its own. */
static void
ethernet_may_be_a_segment_of_its_own(void **state)
{
	(void)state;
	for (unsigned ipv6 = 0; ipv6 < 2; ipv6++) {
		struct gen *g = test_gen(&(struct gen_cfg){.ethernet = true, .ipv6 = ipv6});

		test_send(g, 2, 1);
		split(ETH_HDR_BYTES);
		each_flip_is_corruption(g, pkts[0], 0x11);
		test_take_good(g, 2, 2);
		assert_int_equal(test_stats(g).rx_good, 2);
		gen_destroy(g);
		assert_pool_full(pool);
	}
}

static void
framing_of_arrivals_may_differ(void **state)
{
	struct gen *eth = test_gen(&(struct gen_cfg){.ethernet = true});
	struct gen *bare = test_gen(&(struct gen_cfg){0});

	(void)state;
	test_send(eth, 4, 1);
	rte_pktmbuf_adj(pkts[1], ETH_HDR_BYTES);
	rte_pktmbuf_adj(pkts[3], ETH_HDR_BYTES);
	assert_int_equal(gen_verify(bare, pkts, 4, 2).ours, 4);
	test_take_good(eth, 4, 2);
	gen_destroy(eth);
	gen_destroy(bare);
	assert_pool_full(pool);
}

static void
cut_and_lengthened_packets_are_corrupted(void **state)
{
	struct gen *g = test_gen(&(struct gen_cfg){.ethernet = true});

	(void)state;
	test_send(g, 2, 1);
	rte_pktmbuf_append(pkts[0], 1);
	assert_int_equal(verify_one(g, pkts[0]).corrupted, 1);
	rte_pktmbuf_trim(pkts[0], 1);
	assert_int_equal(verify_one(g, pkts[0]).ours, 1);
	while (pkts[1]->data_len > ETH_HDR_BYTES + IP4_HDR_BYTES + UDP_HDR_BYTES) {
		rte_pktmbuf_trim(pkts[1], 1);
		assert_int_equal(verify_one(g, pkts[1]).corrupted, 1);
	}
	while (pkts[1]->data_len > 0) {
		rte_pktmbuf_trim(pkts[1], 1);
		assert_int_equal(verify_one(g, pkts[1]).foreign, 1);
	}
	rte_pktmbuf_free_bulk(pkts, 2);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
strangers_are_foreign(void **state)
{
	struct gen *g = test_gen(&(struct gen_cfg){.stream = 1});
	struct gen *other = test_gen(&(struct gen_cfg){.stream = 2, .src_port = 7});
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	(void)state;
	test_send(other, 16, 1);
	assert_int_equal(gen_verify(g, pkts, 16, 2).foreign, 16);
	rte_pktmbuf_free_bulk(pkts, 16);
	memset(rte_pktmbuf_append(m, 60), 0, 60);
	ip_put16(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), ETH_TYPE_ARP);
	assert_int_equal(verify_one(g, m).foreign, 1);
	rte_pktmbuf_free(m);
	assert_int_equal(test_stats(g).rx_foreign, 17);
	assert_int_equal(test_stats(g).rx_lost, 0);
	gen_destroy(g);
	gen_destroy(other);
	assert_pool_full(pool);
}

static void
router_may_change_hop_limit_and_dscp(void **state)
{
	(void)state;
	for (unsigned routed = 0; routed < 2; routed++) {
		struct gen *g = test_gen(&(struct gen_cfg){.ipv6 = true, .routed = routed});
		uint8_t *p;

		test_send(g, 1, 1);
		p = rte_pktmbuf_mtod(pkts[0], uint8_t *);
		ip_set_dscp(p, 46);
		p[7]--;
		assert_int_equal(verify_one(g, pkts[0]).ours, routed);
		rte_pktmbuf_free(pkts[0]);
		gen_destroy(g);
	}
}

static void
loss_order_and_duplicates_are_counted(void **state)
{
	struct gen *g = test_gen(&(struct gen_cfg){.flows = 2});
	struct rte_mbuf *arrivals[10];
	struct gen_stats s;

	(void)state;
	test_send(g, 10, 1); /* flow 0: even, flow 1: odd */
	arrivals[0] = pkts[0];
	arrivals[1] = pkts[4]; /* skips 2 */
	arrivals[2] = pkts[1];
	arrivals[3] = pkts[2]; /* late */
	arrivals[4] = pkts[2]; /* again */
	arrivals[5] = pkts[9]; /* skips 3, 5, 7 */
	arrivals[6] = pkts[6];
	assert_int_equal(gen_verify(g, arrivals, 7, 1001).ours, 7);
	s = test_stats(g);
	assert_int_equal(s.rx_good, 6);
	assert_int_equal(s.rx_bytes, 6 * 1024);
	assert_int_equal(s.rx_reordered, 1);
	assert_int_equal(s.rx_duplicate, 1);
	assert_int_equal(s.rx_lost, 3);
	assert_int_equal(s.rx_late, 0);
	assert_int_equal(s.tx_packets, 10);
	rte_pktmbuf_free_bulk(pkts, 10);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
latency_is_from_send_to_arrival(void **state)
{
	struct gen *g = test_gen(&(struct gen_cfg){0});
	static struct ap_hist h;

	(void)state;
	test_send(g, 20, 1000000);
	test_take_good(g, 20, 1200000);
	test_send(g, 1, 2000000);
	test_take_good(g, 1, 1999999); /* the other lcore's clock is behind */
	gen_latency_read(g, &h);
	assert_int_equal(h.count, 21);
	assert_int_equal(h.max_ns, 200000);
	assert_in_range(ap_hist_percentile(&h, 50), 199000, 200000);
	assert_int_equal(ap_hist_percentile(&h, 1), 0);
	gen_destroy(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_single_changed_byte_is_found),
		cmocka_unit_test(chains_are_verified_wherever_they_are_cut),
		cmocka_unit_test(indirect_packets_are_verified_in_place),
		cmocka_unit_test(ethernet_may_be_a_segment_of_its_own),
		cmocka_unit_test(framing_of_arrivals_may_differ),
		cmocka_unit_test(cut_and_lengthened_packets_are_corrupted),
		cmocka_unit_test(strangers_are_foreign),
		cmocka_unit_test(router_may_change_hop_limit_and_dscp),
		cmocka_unit_test(loss_order_and_duplicates_are_counted),
		cmocka_unit_test(latency_is_from_send_to_arrival),
	};

	return cmocka_run_group_tests(tests, test_gen_start, NULL);
}
