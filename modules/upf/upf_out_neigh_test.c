/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to neighbours whose link address is not known yet, or may be old. */
#include "modules/upf/upf_out_rig.h"

static void
a_neighbour_is_asked_for_while_packets_wait(void **state)
{
	const uint8_t near[4] = {10, 0, 0, 77}, mac[6] = {2, 7, 7, 7, 7, 7};
	const struct upf_leave l = {.interface = N6};

	(void)state;
	for (unsigned i = 0; i < UPF_WAIT_ON_LINK + 4; i++)
		send(packet(false, ue_4, near, i, l), S);
	assert_int_equal(nb, 1);
	assert_memory_equal(frame(0), "\xff\xff\xff\xff\xff\xff", 6);
	assert_memory_equal(frame(0) + 12, "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01", 10);
	assert_memory_equal(frame(0) + 28, n6_4, 4);
	assert_memory_equal(frame(0) + 38, near, 4);
	assert_int_equal(o.waits.held, UPF_WAIT_ON_LINK);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 4);
	clear();
	/* Once a second, whoever asks. */
	upf_out_poll(&o, S + 500 * MS);
	assert_int_equal(nb, 0);
	upf_out_poll(&o, 2 * S);
	assert_int_equal(nb, 1);
	clear();
	know(N6, false, near, mac, 2 * S);
	upf_out_poll(&o, 2 * S + MS);
	assert_int_equal(nb, UPF_WAIT_ON_LINK);
	for (unsigned i = 0; i < nb; i++) {
		assert_memory_equal(frame(i), mac, 6);
		assert_int_equal(caught[i]->pkt_len, 14 + 28 + i);
		assert_int_equal(frame(i)[14 + 8], 63);
	}
	assert_int_equal(o.waits.nb, 0);
	assert_int_equal(o.waits.held, 0);
}

/* A configured next hop may have all slots, and what comes when it is known goes behind. */
static void
packets_to_a_next_hop_wait_in_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WAITING + 3; i++)
		send(tunnelled(false, false, i, false, N6), S);
	assert_int_equal(o.waits.held, WAITING);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 3);
	send(tunnelled(true, false, 0, false, N6), S); /* nor is there room for another's */
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH_FULL], 4);
	clear();
	know(N3, false, gnb_4, net_peer_mac, S + MS);
	for (unsigned i = 0; i < 3; i++)
		send(tunnelled(false, false, WAITING + i, false, N6), S + MS);
	assert_int_equal(nb, WAITING + 3);
	for (unsigned i = 0; i < nb; i++) {
		assert_memory_equal(frame(i), net_peer_mac, 6);
		assert_int_equal(caught[i]->pkt_len, 14 + 28 + 16 + 28 + i);
	}
	assert_int_equal(o.waits.nb, 0);
}

/* Whoever sends to addresses nobody has takes no room from tunnels. */
static void
half_of_the_room_is_for_next_hops(void **state)
{
	const struct upf_leave l = {.interface = N6};
	uint8_t near[4] = {10, 0, 0, 20};

	(void)state;
	for (; near[3] < 22; near[3]++)
		for (unsigned i = 0; i < UPF_WAIT_ON_LINK; i++)
			send(packet(false, ue_4, near, i, l), S);
	assert_int_equal(o.waits.held, WAITING / 2);
	assert_int_equal(o.waits.nb, 2);
	clear();
	for (unsigned i = 0; i < WAITING / 2 + 1; i++)
		send(tunnelled(false, false, i, false, N6), S);
	assert_int_equal(o.waits.held, WAITING);
	know(N3, false, gnb_4, net_peer_mac, S + MS);
	clear();
	upf_out_poll(&o, S + MS);
	assert_int_equal(nb, WAITING / 2);
	assert_int_equal(o.waits.nb, 2);
	clear();
	/* Neighbours one waits for at once, likewise: half of 64. */
	for (near[3] = 20; near[3] < 100; near[3]++)
		send(packet(false, ue_4, near, 0, l), S + MS);
	assert_true(o.waits.nb <= o.waits.nb_max / 2);
	assert_int_equal(o.waits.held, WAITING / 2);
}

static void
a_silent_neighbour_costs_its_packets(void **state)
{
	const uint8_t near[4] = {10, 0, 0, 77};
	const struct upf_leave l = {.interface = N6};

	(void)state;
	send(packet(false, ue_4, near, 0, l), S);
	for (unsigned i = 1; i <= 3; i++)
		upf_out_poll(&o, (1 + i) * S);
	assert_int_equal(drops[UPF_OUT_DROP_NEIGH], 1);
	assert_int_equal(o.waits.held, 0);
	/* Three requests; then the UE is told: host unreachable. */
	assert_int_equal(nb, 4);
	assert_int_equal(caught_port[3], UPF_OUT_STEER);
	assert_memory_equal(frame(3) + 20, "\x03\x01", 2);
	assert_memory_equal(frame(3) + 16, ue_4, 4);
	assert_int_equal(upf_arrival(caught[3])->interface, N6);
	assert_int_equal(upf_arrival(caught[3])->rx, 0);
}

static void
a_known_neighbour_is_probed_in_use(void **state)
{
	const struct upf_leave l = {.interface = N6};

	(void)state;
	know(N6, true, gw_6, gw_mac, S);
	send(packet(true, ue_6, host_6, 0, l), 31 * S);
	assert_int_equal(nb, 2);
	/* A neighbour solicitation to itself, and the packet as before. */
	assert_memory_equal(frame(0), gw_mac, 6);
	assert_int_equal(frame(0)[14 + 6], 58);
	assert_int_equal(frame(0)[14 + 7], 255);
	assert_int_equal(frame(0)[14 + 40], 135);
	assert_memory_equal(frame(0) + 14 + 24, gw_6, 16);
	assert_int_equal(upf_icmp_checksum(frame(0) + 14, frame(0) + 54, 32), 0);
	assert_int_equal(frame(1)[14 + 6], 17);
	send(packet(true, ue_6, host_6, 0, l), 31 * S);
	assert_int_equal(nb, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_neighbour_is_asked_for_while_packets_wait, up,
						down),
		cmocka_unit_test_setup_teardown(packets_to_a_next_hop_wait_in_order, up, down),
		cmocka_unit_test_setup_teardown(half_of_the_room_is_for_next_hops, up, down),
		cmocka_unit_test_setup_teardown(a_silent_neighbour_costs_its_packets, up, down),
		cmocka_unit_test_setup_teardown(a_known_neighbour_is_probed_in_use, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("packets", 512, 2560);
	indirect = test_pool("indirect", 512, 0);
	return pool && indirect ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
