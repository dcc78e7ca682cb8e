/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "test_gen.h"

#define PACKETS 300

static char path[] = "/tmp/airpath-replay-XXXXXX";

static void
dump(pcap_dumper_t *to, const uint8_t *p, uint32_t caplen, uint32_t len)
{
	struct pcap_pkthdr hdr = {.caplen = caplen, .len = len};

	pcap_dump((uint8_t *)to, &hdr, p);
}

/** An Ethernet capture: IPv4 and IPv6 of many sizes between an ARP, a cut and a padded frame. */
static void
write_capture(void)
{
	pcap_t *file = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *to = pcap_dump_open(file, path);
	uint8_t p[2048] = {0};

	assert_non_null(to);
	for (unsigned i = 0; i < PACKETS; i++) {
		struct ip_hdr ip = {.version = i % 3 ? 4 : 6,
				    .proto = IP_PROTO_TCP,
				    .ttl = 9,
				    .bytes = 41 + i * 4,
				    .id = (uint16_t)i,
				    .flow_label = i};

		ip_put16(p + 12, ip_eth_type(ip.version));
		assert_true(ip_encode(p + 14, sizeof(p) - 14, &ip) > 0);
		memset(p + 14 + 40, (int)i, ip.bytes - 40);
		dump(to, p, RTE_MAX(14 + ip.bytes, 60u), RTE_MAX(14 + ip.bytes, 60u));
	}
	dump(to, p, 500, 14 + 41 + (PACKETS - 1) * 4);
	ip_put16(p + 12, ETH_TYPE_ARP);
	dump(to, p, 60, 60);
	pcap_dump_close(to);
	pcap_close(file);
}

static struct gen *
replaying(bool ethernet)
{
	return test_gen(&(struct gen_cfg){.replay = path, .ethernet = ethernet});
}

static void
capture_comes_out_as_it_is(void **state)
{
	(void)state;
	for (unsigned ethernet = 0; ethernet < 2; ethernet++) {
		struct gen *g = replaying(ethernet);

		assert_int_equal(g->replay.nb_packets, PACKETS);
		assert_int_equal(g->replay.nb_skipped, 2);
		for (unsigned round = 0; round < 3; round++) {
			assert_int_equal(test_send(g, PACKETS, 1), PACKETS);
			for (unsigned i = 0; i < PACKETS; i++) {
				assert_int_equal(pkts[i]->pkt_len, 41 + i * 4 + ethernet * 14);
				assert_memory_equal(
					rte_pktmbuf_mtod_offset(pkts[i], void *, ethernet * 14),
					g->replay.bytes + g->replay.at[i], 41 + i * 4);
			}
			test_take_good(g, PACKETS, 2);
		}
		assert_int_equal(test_stats(g).rx_good, 3 * PACKETS);
		assert_int_equal(test_stats(g).rx_lost, 0);
		gen_destroy(g);
		assert_pool_full(pool);
	}
}

static void
changed_and_lost_packets_are_noticed(void **state)
{
	struct gen *g = replaying(true);
	struct gen_stats s;

	(void)state;
	test_send(g, PACKETS, 1);
	for (unsigned at = 14; at < pkts[5]->pkt_len; at++) {
		*rte_pktmbuf_mtod_offset(pkts[5], uint8_t *, at) ^= 0x80;
		assert_int_equal(gen_verify(g, pkts + 5, 1, 2).corrupted, 1);
		*rte_pktmbuf_mtod_offset(pkts[5], uint8_t *, at) ^= 0x80;
	}
	gen_verify(g, pkts, 10, 2);
	gen_verify(g, pkts + 12, 20, 2); /* 10 and 11 missing */
	gen_verify(g, pkts + 11, 2, 2);  /* 11 late, 12 twice */
	s = test_stats(g);
	assert_int_equal(s.rx_good, 31);
	assert_int_equal(s.rx_lost, 1);
	assert_int_equal(s.rx_reordered, 1);
	assert_int_equal(s.rx_duplicate, 1);
	rte_pktmbuf_free_bulk(pkts, PACKETS);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
chained_packets_match_too(void **state)
{
	struct gen *g = replaying(false);
	struct rte_mbuf *tail;

	(void)state;
	test_send(g, 200, 1);
	for (unsigned i = 0; i < 200; i++) {
		uint16_t rest = (uint16_t)(i % (pkts[i]->data_len - 1));

		tail = rte_pktmbuf_alloc(pool);
		memcpy(rte_pktmbuf_append(tail, rest),
		       rte_pktmbuf_mtod_offset(pkts[i], void *, pkts[i]->data_len - rest), rest);
		rte_pktmbuf_trim(pkts[i], rest);
		rte_pktmbuf_chain(pkts[i], tail);
	}
	test_take_good(g, 200, 2);
	gen_destroy(g);
	assert_pool_full(pool);
}

static void
useless_files_are_refused(void **state)
{
	struct gen_replay r;
	struct ap_error err = {0};
	FILE *f;

	(void)state;
	assert_true(gen_replay_load(&r, path, 40, &err) < 0);
	assert_non_null(strstr(err.text, "302 frames"));
	f = fopen(path, "w");
	fputs("this is not a capture file at all", f);
	fclose(f);
	err.text[0] = '\0';
	assert_true(gen_replay_load(&r, path, 1500, &err) < 0);
	assert_true(strlen(err.text) > 0);
}

static int
start(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0 || test_gen_start(state) < 0)
		return -1;
	close(fd);
	write_capture();
	return 0;
}

static int
finish(void **state)
{
	(void)state;
	return unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capture_comes_out_as_it_is),
		cmocka_unit_test(changed_and_lost_packets_are_noticed),
		cmocka_unit_test(chained_packets_match_too),
		cmocka_unit_test(useless_files_are_refused),
	};

	return cmocka_run_group_tests(tests, start, finish);
}
