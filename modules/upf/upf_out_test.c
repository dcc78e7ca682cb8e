/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves: by which interface, to whom, with which link header. */
#include "modules/upf/upf_out_rig.h"

static void
routed_by_the_gateway(void **state)
{
	const struct upf_leave l = {.interface = N6};
	const uint8_t *p;

	(void)state;
	know(N6, false, gw_4, gw_mac, S);
	know(N6, true, gw_6, gw_mac, S);
	send(packet(false, ue_4, host_4, 100, l), S);
	send(packet(true, ue_6, host_6, 100, l), S);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], 1);
	p = frame(0);
	assert_memory_equal(p, gw_mac, 6);
	assert_memory_equal(p + 6, net_mac_n6, 6);
	assert_int_equal(be16_get(p + 12), ETH_TYPE_IP4);
	assert_int_equal(p[14 + 8], 63);
	assert_int_equal(ip_checksum(p + 14, 20), 0);
	assert_int_equal(caught[0]->pkt_len, 14 + 128);
	p = frame(1);
	assert_int_equal(be16_get(p + 12), ETH_TYPE_IP6);
	assert_int_equal(p[14 + 7], 63);
	clear();
	/* Fast and slow agree. */
	in++;
	upf_out_any(&o, packet(false, ue_4, host_4, 100, l), S);
	assert_int_equal(frame(0)[14 + 8], 63);
	assert_int_equal(ip_checksum(frame(0) + 14, 20), 0);
}

static void
tunnels_and_vlans(void **state)
{
	const uint8_t n9_host[4] = {172, 16, 9, 5};

	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	know(N3, true, gnb_6, net_peer_mac, S);
	know(N9, false, n9_host, gw_mac, S);
	send(tunnelled(false, false, 10, false, N6), S);
	send(tunnelled(true, false, 10, false, N6), S);
	send(packet(false, host_4, n9_host, 10, (struct upf_leave){.interface = N9}), S);
	assert_int_equal(nb, 3);
	assert_memory_equal(frame(0), net_peer_mac, 6);
	assert_int_equal(frame(0)[14 + 8], 64); /* an outer header is made with its TTL */
	assert_int_equal(be16_get(frame(1) + 12), ETH_TYPE_IP6);
	assert_memory_equal(frame(2), gw_mac, 6);
	assert_memory_equal(frame(2) + 6, net_mac_n3, 6);
	assert_memory_equal(frame(2) + 12, "\x81\x00\x00\x09\x08\x00\x45", 7);
	assert_int_equal(caught_port[2], 0);
}

/** The UE is told by way of its session: an arrival from the network it was sending to. */
static void
a_ttl_that_ends_here(void **state)
{
	const struct upf_leave l = {.interface = N6};
	struct rte_mbuf *m = packet(false, ue_4, host_4, 100, l);
	uint8_t *ip = rte_pktmbuf_mtod(m, uint8_t *);

	(void)state;
	ip[8] = 1;
	send(m, S);
	m = packet(true, ue_6, host_6, 100, l);
	rte_pktmbuf_mtod(m, uint8_t *)[7] = 1;
	send(m, S);
	assert_int_equal(drops[UPF_OUT_DROP_EXPIRED], 2);
	assert_int_equal(nb, 2);
	assert_int_equal(caught_port[0], UPF_OUT_STEER);
	ip = rte_pktmbuf_mtod(caught[0], uint8_t *);
	assert_int_equal(ip_checksum(ip, 20), 0);
	assert_memory_equal(ip + 12, n6_4, 4);
	assert_memory_equal(ip + 16, ue_4, 4);
	assert_memory_equal(ip + 20, "\x0b\x00", 2);
	assert_int_equal(ip_checksum(ip + 20, caught[0]->pkt_len - 20), 0);
	assert_int_equal(ip[28], 0x45);
	assert_int_equal(be16_get(ip + 2), caught[0]->pkt_len);
	assert_int_equal(upf_arrival(caught[1])->rx, UPF_RX_INNER6);
	assert_memory_equal(frame(1) + 40, "\x03\x00", 2);
	assert_memory_equal(frame(1) + 8, n6_6, 16);
}

static void
no_way_out(void **state)
{
	(void)state;
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = 0}), S);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = 9}), S);
	assert_int_equal(drops[UPF_OUT_DROP_INTERFACE], 2);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.peer = 77, .interface = N3}), S);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.peer = 70000}), S);
	assert_int_equal(drops[UPF_OUT_DROP_PEER], 2);
	send(packet(false, ue_4, host_4, 0, (struct upf_leave){.interface = N3}), S);
	assert_int_equal(drops[UPF_OUT_DROP_NO_ROUTE], 1);
	assert_int_equal(nb, 1); /* net unreachable */
	clear();
	send(packet(false, ue_4, (const uint8_t[4]){224, 0, 0, 1}, 0,
		    (struct upf_leave){.interface = N6, .flags = AP_M_CONTROL}),
	     S);
	assert_int_equal(drops[UPF_OUT_DROP_NO_ROUTE], 2);
	assert_int_equal(nb, 0);
	upf_net_peer_clear(net, PEER4);
	send(tunnelled(false, false, 0, false, N6), S);
	assert_int_equal(drops[UPF_OUT_DROP_PEER], 3);
}

/** A buffer somebody else holds is not written to: its header is a segment of its own. */
static void
shared_buffers_are_read_only(void **state)
{
	const struct upf_leave l = {.interface = N3, .peer = PEER4};
	struct rte_mbuf *m = tunnelled(false, false, 10, false, N6), *clone;

	(void)state;
	know(N3, false, gnb_4, net_peer_mac, S);
	clone = rte_pktmbuf_clone(m, indirect);
	assert_non_null(clone);
	*upf_leave(clone) = l;
	send(clone, S);
	assert_int_equal(nb, 1);
	assert_int_equal(caught[0]->nb_segs, 2);
	assert_int_equal(caught[0]->data_len, 14);
	assert_memory_equal(frame(0), net_peer_mac, 6);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(routed_by_the_gateway, up, down),
		cmocka_unit_test_setup_teardown(tunnels_and_vlans, up, down),
		cmocka_unit_test_setup_teardown(a_ttl_that_ends_here, up, down),
		cmocka_unit_test_setup_teardown(no_way_out, up, down),
		cmocka_unit_test_setup_teardown(shared_buffers_are_read_only, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("packets", 512, 2560);
	indirect = test_pool("indirect", 512, 0);
	return pool && indirect ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
