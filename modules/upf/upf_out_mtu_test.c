/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets longer than their interface's MTU: fragments, or errors to who sent them. */
#include "modules/upf/upf_out_rig.h"

static void
plain_packets_beyond_the_mtu(void **state)
{
	const struct upf_leave l = {.interface = N6};
	struct rte_mbuf *m;

	(void)state;
	know(N6, false, gw_4, gw_mac, S);
	send(packet(false, ue_4, host_4, 1480, l), S); /* 1508 */
	assert_int_equal(nb, 2);
	assert_int_equal(be16_get(frame(0) + 14 + 6), 0x2000);
	assert_int_equal(be16_get(frame(1) + 14 + 6), be16_get(frame(0) + 16) / 8 - 20 / 8);
	assert_int_equal(caught[0]->pkt_len + caught[1]->pkt_len, 2 * 34 + 1488);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(caught[i]->pkt_len <= 1514);
		assert_int_equal(ip_checksum(frame(i) + 14, 20), 0);
		assert_int_equal(frame(i)[14 + 8], 63);
	}
	clear();
	m = packet(false, ue_4, host_4, 1480, l);
	rte_pktmbuf_mtod(m, uint8_t *)[6] = 0x40;
	send(m, S);
	send(packet(true, ue_6, host_6, 1480, l), S);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], UPF_OUT_STEER);
	assert_memory_equal(frame(0) + 20, "\x03\x04", 2);
	assert_int_equal(be16_get(frame(0) + 26), 1500);
	assert_memory_equal(frame(1) + 40, "\x02\x00", 2);
	assert_int_equal(be32_get(frame(1) + 44), 1500);
	assert_true(caught[1]->pkt_len <= 1280);
}

/** All octets of a fragmented tunnel packet, put together again. */
static void
assert_fragments(bool v6, unsigned bytes)
{
	unsigned at = 0;

	assert_true(nb >= 2);
	for (unsigned i = 0; i < nb; i++) {
		uint8_t p[2000];
		unsigned hdr = v6 ? 48 : 20, offset;

		assert_true(caught[i]->pkt_len <= 1514);
		memcpy(p, rte_pktmbuf_read(caught[i], 0, caught[i]->pkt_len, p),
		       caught[i]->pkt_len);
		offset =
			v6 ? be16_get(p + 14 + 42) & 0xFFF8U : (be16_get(p + 14 + 6) & 0x1FFFU) * 8;
		assert_int_equal(offset, at);
		at += caught[i]->pkt_len - 14 - hdr;
		if (!v6)
			assert_int_equal(ip_checksum(p + 14, 20), 0);
		if (i > 0)
			assert_memory_equal(p + 14 + (v6 ? 44 : 4), frame(0) + 14 + (v6 ? 44 : 4),
					    v6 ? 4 : 2);
	}
	assert_int_equal(at, bytes);
}

static void
tunnels_beyond_the_mtu_are_fragmented(void **state)
{
	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	send(tunnelled(false, false, 1472, true, N6), S);
	assert_fragments(false, 8 + 16 + 28 + 1472);
	clear();
	send(tunnelled(true, true, 1452, false, N6), S);
	assert_fragments(true, 8 + 16 + 48 + 1452);
	assert_int_equal(sum_drops(), 0);
}

static void
or_the_sender_is_told(void **state)
{
	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	know(N6, false, gw_4, gw_mac, S);
	know(N6, true, gw_6, gw_mac, S);
	send(tunnelled(false, false, 1472, true, N6), S);
	send(tunnelled(false, true, 1452, false, N6), S);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], 1);
	/* From our address toward the network to the inner packet's source. */
	assert_memory_equal(frame(0) + 14 + 12, n6_4, 4);
	assert_memory_equal(frame(0) + 14 + 16, ue_4, 4);
	assert_memory_equal(frame(0) + 34, "\x03\x04", 2);
	assert_int_equal(be16_get(frame(0) + 40), 1500 - 44);
	assert_int_equal(frame(0)[42], 0x45);
	assert_int_equal(be32_get(frame(1) + 58), 1500 - 44);
	clear();
	/* Who does not forbid it is fragmented, as is what came in a tunnel. */
	send(tunnelled(false, false, 1472, false, N6), S);
	assert_int_equal(nb, 2);
	clear();
	send(tunnelled(false, true, 1452, false, 0), S);
	assert_int_equal(nb, 2);
	clear();
	/* 1280 octets of IPv6 are never too much. */
	net->links[N3].mtu = 1300;
	send(tunnelled(false, true, 1232, false, N6), S);
	assert_int_equal(nb, 2);
	assert_int_equal(drops[UPF_OUT_DROP_TOO_BIG], 2);
}

static void
errors_are_limited(void **state)
{
	const struct upf_leave l = {.interface = N6};

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct rte_mbuf *m = packet(false, ue_4, host_4, 0, l);

		rte_pktmbuf_mtod(m, uint8_t *)[8] = 1;
		send(m, S);
	}
	assert_int_equal(drops[UPF_OUT_DROP_EXPIRED], 100);
	assert_int_equal(nb, 10); /* a tenth of a second's */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plain_packets_beyond_the_mtu, up, down),
		cmocka_unit_test_setup_teardown(tunnels_beyond_the_mtu_are_fragmented, up, down),
		cmocka_unit_test_setup_teardown(or_the_sender_is_told, up_too_big, down),
		cmocka_unit_test_setup_teardown(errors_are_limited, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("packets", 512, 2560);
	indirect = test_pool("indirect", 512, 0);
	return pool && indirect ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
