/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "test_gen.h"

/** Decodes pkts[i] with the codec alone. @return the UDP header */
static struct udp_hdr
decode(const struct gen *g, unsigned i, struct ip_hdr *ip)
{
	const uint8_t *p = rte_pktmbuf_mtod(pkts[i], const uint8_t *);
	uint32_t len = pkts[i]->data_len;
	struct udp_hdr udp;
	struct eth_hdr eth;
	int bytes;

	assert_int_equal(pkts[i]->pkt_len, len);
	assert_int_equal(pkts[i]->nb_segs, 1);
	if (g->l2_bytes) {
		assert_int_equal(eth_decode(p, len, &eth), ETH_HDR_BYTES);
		assert_memory_equal(eth.dst, g->cfg.eth_dst, 6);
		assert_memory_equal(eth.src, g->cfg.eth_src, 6);
		p += ETH_HDR_BYTES;
		len -= ETH_HDR_BYTES;
	}
	bytes = ip_decode(p, len, ip);
	assert_true(bytes > 0);
	assert_int_equal(ip->bytes, len);
	assert_int_equal(ip->proto, IP_PROTO_UDP);
	assert_int_equal(udp_decode(p + bytes, len - (uint32_t)bytes, &udp), UDP_HDR_BYTES);
	assert_int_equal(udp.bytes, len - (uint32_t)bytes);
	assert_true(udp_checksum_ok(ip, p + bytes, udp.bytes));
	return udp;
}

static void
packets_are_valid_in_every_framing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct gen_cfg c = {.ipv6 = i & 1,
				    .ethernet = i & 2,
				    .sizes = {{80, 1500, 1}},
				    .nb_sizes = 1,
				    .eth_dst = {2, 3, 4, 5, 6, 7},
				    .eth_src = {2}};
		struct gen *g = test_gen(&c);
		struct ip_hdr ip;

		assert_int_equal(test_send(g, 2000, 1), 2000);
		for (unsigned k = 0; k < 2000; k++) {
			struct udp_hdr udp = decode(g, k, &ip);

			assert_int_equal(udp.dst_port, 9000);
			assert_int_equal(ip.version, c.ipv6 ? 6 : 4);
			assert_int_equal(ip.src[0], c.ipv6 ? 0x20 : 198);
		}
		test_take_good(g, 2000, 2);
		gen_destroy(g);
		assert_pool_full(pool);
	}
}

static void
imix_has_exact_proportions(void **state)
{
	unsigned seen[1519] = {0};
	struct gen_cfg c = {0};
	struct gen *g;

	(void)state;
	gen_cfg_imix(&c);
	g = test_gen(&c);
	assert_int_equal(test_send(g, 1200, 1), 1200);
	for (unsigned i = 0; i < 1200; i++)
		seen[pkts[i]->pkt_len]++;
	assert_int_equal(seen[64], 700);
	assert_int_equal(seen[570], 400);
	assert_int_equal(seen[1518], 100);
	assert_int_equal(test_stats(g).tx_bytes, 700 * 64 + 400 * 570 + 100 * 1518);
	test_take_good(g, 1200, 1);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
ranges_are_evenly_spread(void **state)
{
	struct gen_cfg c = {.sizes = {{100, 199, 1}, {1000, 1000, 3}}, .nb_sizes = 2};
	struct gen *g = test_gen(&c);
	unsigned low = 0, high = 0, n = g->tx.nb_sizes;

	(void)state;
	assert_int_equal(test_send(g, (uint16_t)n, 1), n);
	for (unsigned i = 0; i < n; i++) {
		low += pkts[i]->pkt_len >= 100 && pkts[i]->pkt_len < 150;
		high += pkts[i]->pkt_len >= 150 && pkts[i]->pkt_len < 200;
	}
	assert_int_equal(low + high, n / 4);
	assert_true(low * 10 > high * 9 && high * 10 > low * 9);
	test_take_good(g, (uint16_t)n, 1);
	gen_destroy(g);
}

static void
flows_differ_and_carry_their_marks(void **state)
{
	struct gen_cfg c = {.flows = 6,
			    .addresses = 3,
			    .src_port = 1000,
			    .dscps = {10, 46},
			    .nb_dscps = 2,
			    .qfis = {5, 6, 7},
			    .nb_qfis = 3,
			    .flow_run = 2,
			    .dst = {10, 0, 0, 255}};
	struct gen *g = test_gen(&c);

	(void)state;
	assert_int_equal(test_send(g, 24, 1), 24);
	for (unsigned i = 0; i < 24; i++) {
		unsigned flow = i / 2 % 6;
		struct ip_hdr ip;
		struct udp_hdr udp = decode(g, i, &ip);

		assert_int_equal(udp.src_port, 1000 + flow / 3);
		assert_int_equal(ip.dst[2] * 256 + ip.dst[3], 255 + flow % 3);
		assert_int_equal(ip.dscp, flow % 2 ? 46 : 10);
		assert_int_equal(ap_meta(pkts[i])->qfi, 5 + flow % 3);
	}
	test_take_good(g, 24, 1);
	assert_int_equal(test_stats(g).rx_lost, 0);
	gen_destroy(g);
}

static void
stale_mbufs_become_clean(void **state)
{
	struct gen_cfg c = {.flows = 2};
	struct gen *g = test_gen(&c);
	unsigned timed = 0;

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(pool, (void **)pkts, TEST_GEN_MAX - 1), 0);
	for (unsigned i = 0; i < TEST_GEN_MAX - 1; i++) {
		memset(&pkts[i]->hash, 0xee, sizeof(pkts[i]->hash));
		pkts[i]->data_off = 7;
		pkts[i]->ol_flags = RTE_MBUF_F_TX_IPV4;
		pkts[i]->vlan_tci = 3;
	}
	rte_mempool_put_bulk(pool, (void **)pkts, TEST_GEN_MAX - 1);
	assert_int_equal(test_send(g, 160, 777), 160);
	for (unsigned i = 0; i < 160; i++) {
		struct ap_meta *meta = ap_meta(pkts[i]);

		assert_int_equal(pkts[i]->ol_flags, 0);
		assert_int_equal(pkts[i]->data_off, RTE_PKTMBUF_HEADROOM);
		assert_int_equal(rte_mbuf_refcnt_read(pkts[i]), 1);
		assert_int_equal(meta->bearer, UINT32_MAX);
		assert_int_equal(meta->qfi | meta->lcid | meta->carrier, 0);
		assert_int_equal(meta->flags & ~AP_M_TIMED, 0);
		if (meta->flags & AP_M_TIMED) {
			assert_int_equal(ap_ext(pkts[i])->enter_ns, 777);
			timed++;
		}
	}
	assert_int_equal(timed, 160 / GEN_TIMED_EVERY);
	test_take_good(g, 160, 800);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
rate_is_obeyed_and_changed(void **state)
{
	struct gen_cfg c = {.rate = {GEN_RATE_PPS, 1e6}, .catch_up_us = 1000};
	struct gen *g = test_gen(&c);
	uint16_t n;

	(void)state;
	assert_int_equal(test_send(g, 64, 1000000), 1);
	rte_pktmbuf_free(pkts[0]);
	n = test_send(g, 1000, 1100000);
	assert_in_range(n, 99, 101);
	rte_pktmbuf_free_bulk(pkts, n);
	gen_set_rate(g, (struct gen_rate){GEN_RATE_STOP, 0});
	assert_int_equal(test_send(g, 64, 1200000), 0);
	gen_set_rate(g, (struct gen_rate){GEN_RATE_BPS, 8192e6});
	test_send(g, 1, 2000000);
	rte_pktmbuf_free(pkts[0]);
	n = test_send(g, 1000, 2100000);
	assert_in_range(n, 99, 101);
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(test_stats(g).tx_behind_ns, 0);
	assert_int_equal(gen_set_rate(g, (struct gen_rate){GEN_RATE_PPS, -1}), -EINVAL);
	gen_destroy(g);
}

static void
stops_after_the_wanted_number(void **state)
{
	struct gen_cfg c = {.packets = 100};
	struct gen *g = test_gen(&c);

	(void)state;
	assert_false(gen_done(g));
	assert_int_equal(test_send(g, 1000, 5), 100);
	assert_true(gen_done(g));
	test_take_good(g, 100, 6);
	gen_destroy(g);
}

static void
empty_pool_loses_no_number(void **state)
{
	struct gen_cfg c = {.rate = {GEN_RATE_PPS, 1e6}, .catch_up_us = 1000};
	struct gen *g;
	uint32_t at;
	uint16_t n;

	(void)state;
	gen_cfg_imix(&c);
	g = test_gen(&c);
	gen_plan(g, 1000, 64);
	n = gen_plan(g, 51000, 64);
	at = g->tx.size_at;
	gen_unplan(g, n);
	assert_int_not_equal(at, g->tx.size_at);
	assert_int_equal(gen_plan(g, 51000, 64), n);
	assert_int_equal(at, g->tx.size_at);
	assert_int_equal(test_stats(g).tx_no_mbuf, 1);
	gen_destroy(g);
}

static void
refused(const struct gen_cfg *cfg, const char *reason)
{
	struct gen_cfg c = *cfg;
	struct ap_error err = {0};

	c.name = "gen";
	c.pool = pool;
	assert_null(gen_create(&c, &err));
	if (strstr(err.text, reason) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, reason);
}

static void
bad_configurations_say_why(void **state)
{
	(void)state;
	refused(&(struct gen_cfg){.sizes = {{59, 59, 1}}, .nb_sizes = 1}, "60..9600");
	refused(&(struct gen_cfg){.sizes = {{64, 64, 1}}, .nb_sizes = 1, .ipv6 = true}, "80..");
	refused(&(struct gen_cfg){.sizes = {{100, 99, 1}}, .nb_sizes = 1}, "100..99");
	refused(&(struct gen_cfg){.sizes = {{100, 9601, 1}}, .nb_sizes = 1}, "9601");
	refused(&(struct gen_cfg){.sizes = {{100, 100, 0}}, .nb_sizes = 1}, "weight 0");
	refused(&(struct gen_cfg){.flows = GEN_FLOWS_MAX + 1}, "flows");
	refused(&(struct gen_cfg){.flows = 20000}, "addresses");
	refused(&(struct gen_cfg){.burst = GEN_BURST_MAX + 1}, "burst");
	refused(&(struct gen_cfg){.rate = {GEN_RATE_PPS, 0}}, "rate");
	refused(&(struct gen_cfg){.dscps = {64}, .nb_dscps = 1}, "DSCP 64");
	refused(&(struct gen_cfg){.qfis = {64}, .nb_qfis = 1}, "QFI 64");
	refused(&(struct gen_cfg){.replay = "/nonexistent.pcap"}, "/nonexistent.pcap");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_valid_in_every_framing),
		cmocka_unit_test(imix_has_exact_proportions),
		cmocka_unit_test(ranges_are_evenly_spread),
		cmocka_unit_test(flows_differ_and_carry_their_marks),
		cmocka_unit_test(stale_mbufs_become_clean),
		cmocka_unit_test(rate_is_obeyed_and_changed),
		cmocka_unit_test(stops_after_the_wanted_number),
		cmocka_unit_test(empty_pool_loses_no_number),
		cmocka_unit_test(bad_configurations_say_why),
	};

	return cmocka_run_group_tests(tests, test_gen_start, NULL);
}
