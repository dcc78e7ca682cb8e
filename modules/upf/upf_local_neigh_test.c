/* SPDX-License-Identifier: BSD-3-Clause */
/* What the UPF answers on its links: ARP, neighbour discovery, and both for its UEs. */
#include "modules/upf/upf_local_rig.h"

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* --- ARP -------------------------------------------------------------------------------------- */

static struct net_frame
arp(uint8_t op, const uint8_t *spa, const uint8_t *tpa)
{
	struct net_frame f = {0};

	net_eth(&f, op == 1 ? broadcast : net_mac_n3, 0, ETH_TYPE_ARP);
	net_bytes(&f, (const uint8_t[]){0, 1, 8, 0, 6, 4, 0, op}, 8);
	net_bytes(&f, net_peer_mac, 6);
	net_bytes(&f, spa, 4);
	f.at += 6;
	net_bytes(&f, tpa, 4);
	f.at += 18;
	return f;
}

static int
find4(const uint8_t *address)
{
	struct upf_neigh_key key = {.interface = N3};

	memcpy(key.address, address, 4);
	return upf_neigh_find(&net->neighs, &key);
}

static void
arp_is_answered_for_our_addresses_alone(void **state)
{
	static const uint8_t other[4] = {192, 168, 1, 9}, none[4], far[4] = {9, 9, 9, 9};
	static const uint8_t golden[42] = {2,   0,   0, 0, 0, 0x99, 2, 0, 0, 0,    0,   3,   8, 6,
					   0,   1,   8, 0, 6, 4,    0, 2, 2, 0,    0,   0,   0, 3,
					   192, 168, 1, 1, 2, 0,    0, 0, 0, 0x99, 192, 168, 1, 9};
	struct net_frame f = arp(1, other, n3_4);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_int_equal(got->pkt_len, 42);
	assert_memory_equal(bytes(), golden, 42);
	assert_int_equal(upf_leave(got)->peer, UPF_LEAVE_FRAME);
	assert_int_equal(upf_leave(got)->interface, N3);
	assert_true(find4(other) >= 0); /* RFC 826: who asks us is worth knowing */
	/* A probe (RFC 5227) is defended, and says nothing of its sender. */
	f = arp(1, none, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 38, none, 4);
	assert_true(find4(none) < 0);
	f = arp(1, other, gnb_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 1);
	f = arp(1, other, n6_4); /* of another interface */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = arp(1, n3_4, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CONFLICT], 1);
	f = arp(1, far, n3_4); /* not of this link: answered, not learned */
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_true(find4(far) < 0);
	f = arp(3, other, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_MALFORMED], 1);
}

static void
arp_replies_are_learned_where_we_asked(void **state)
{
	static const uint8_t other[4] = {192, 168, 1, 9};
	struct net_frame f = arp(2, gnb_4, n3_4); /* the peer's next hop */

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_usable(net->neighs.entry[find4(gnb_4)].word));
	f = arp(2, other, n3_4);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(find4(other) < 0);
	assert_int_equal(used, 2);
}

/* --- neighbour discovery ---------------------------------------------------------------------- */

static struct net_frame
nd(uint8_t type, uint8_t flags, const uint8_t *src, const uint8_t *dst, const uint8_t *target,
   int option)
{
	const size_t n = option ? 32 : 24;
	struct net_frame f = {0};
	uint16_t sum;
	uint8_t *p;
	size_t ip;

	net_eth(&f, dst[0] == 0xff ? (const uint8_t[6]){0x33, 0x33, 0xff, 0, 0, 1} : net_mac_n3, 0,
		ETH_TYPE_IP6);
	ip = net_ip(&f, true, src, dst, 58, n);
	f.b[ip + 7] = 255;
	p = f.b + f.at;
	p[0] = type;
	p[4] = flags;
	memcpy(p + 8, target, 16);
	if (option) {
		p[24] = (uint8_t)option;
		p[25] = 1;
		memcpy(p + 26, net_peer_mac, 6);
	}
	f.at += n;
	sum = upf_icmp_checksum(f.b + ip, p, (unsigned)n);
	memcpy(p + 2, &sum, 2);
	return f;
}

static const uint8_t solicited_node[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 1};
static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1}, unspecified[16];

static void
assert_advertisement(const uint8_t *dst_mac, const uint8_t *dst, uint8_t flags)
{
	const uint8_t *p = bytes();

	assert_int_equal(got->pkt_len, 14 + 72);
	assert_memory_equal(p, dst_mac, 6);
	assert_memory_equal(p + 6, net_mac_n3, 6);
	assert_int_equal(p[14 + 7], 255);
	assert_memory_equal(p + 14 + 8, n3_6, 16);
	assert_memory_equal(p + 14 + 24, dst, 16);
	assert_int_equal(p[54], 136);
	assert_int_equal(p[58], flags);
	assert_memory_equal(p + 62, n3_6, 16);
	assert_memory_equal(p + 78, "\x02\x01", 2);
	assert_memory_equal(p + 80, net_mac_n3, 6);
	assert_int_equal(upf_icmp_checksum(p + 14, p + 54, 32), 0);
}

static void
solicitations_are_answered(void **state)
{
	struct net_frame f = nd(135, 0, gnb_6, solicited_node, n3_6, 1);

	(void)state;
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement(net_peer_mac, gnb_6, 0x60);
	/* Now we know the asker: a unicast one needs no option. */
	f = nd(135, 0, gnb_6, n3_6, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement(net_peer_mac, gnb_6, 0x60);
	/* Duplicate address detection: to all nodes, not solicited. */
	f = nd(135, 0, unspecified, solicited_node, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_advertisement((const uint8_t[6]){0x33, 0x33, 0, 0, 0, 1}, all_nodes, 0x20);
	f = nd(135, 0, gnb_6, solicited_node, gnb_6, 1);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 1);
}

static void
what_is_no_neighbour_discovery(void **state)
{
	struct net_frame f = nd(135, 0, gnb_6, solicited_node, n3_6, 1), good = f;

	(void)state;
	f.b[14 + 7] = 254; /* from beyond the link */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = good;
	f.b[f.at - 1] ^= 1; /* checksum */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = nd(135, 0, unspecified, solicited_node, n3_6, 1); /* DAD with an option */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	f = nd(136, 0x40, gnb_6, all_nodes, gnb_6, 2); /* solicited, to a group */
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_MALFORMED], 4);
	f = nd(134, 0, gnb_6, all_nodes, n3_6, 0);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_ROUTER], 1);
	f = nd(136, 0x20, gnb_6, all_nodes, n3_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CONFLICT], 1);
}

static void
advertisements_update_what_is_there(void **state)
{
	struct upf_neigh_key key = {.interface = N3, .v6 = true};
	const uint8_t other_mac[6] = {2, 1, 1, 1, 1, 1};
	struct net_frame f = nd(136, 0x40, gnb_6, n3_6, gnb_6, 2);
	struct upf_neigh *e;
	int index;

	(void)state;
	memcpy(key.address, gnb_6, 16);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_find(&net->neighs, &key) < 0); /* §7.2.5: none is made */
	index = upf_neigh_get(&net->neighs, &key, false, S);
	e = &net->neighs.entry[index];
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_true(upf_neigh_usable(e->word));
	assert_true(e->probe_ns > 20 * S);
	/* Another address without the Override flag: doubt alone. */
	upf_neigh_learn(&net->neighs, (uint32_t)index, other_mac, S);
	f = nd(136, 0, gnb_6, n3_6, gnb_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(e->word & 0xFFFFFFFFFFFF, 0x010101010102);
	assert_int_equal(e->probe_ns, S);
	/* With it, unsolicited: taken, and to be probed. */
	f = nd(136, 0x20, gnb_6, n3_6, gnb_6, 2);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(e->word & 0xFFFFFFFFFFFF, 0x990000000002);
	assert_int_equal(e->probe_ns, S);
}

/* --- proxy ------------------------------------------------------------------------------------ */

/* RFC 1027, RFC 4861 §7.2.8: for UEs with a session, where the interface says so. */
static void
neighbours_of_ues_are_answered(void **state)
{
	static const uint8_t router[4] = {10, 0, 0, 254}, none[4], ue[4] = {10, 0, 0, 77};
	static const uint8_t nobody[4] = {10, 0, 0, 78}, router6[16] = {0xfd, 6, [15] = 0xfe};
	static const uint8_t ue6[16] = {0x20, 1, 0xd, 0xb8, [7] = 1, [15] = 5};
	static struct test_message msg;
	static struct test_unit u;
	struct net_frame f = arp(1, router, ue), f6 = nd(135, 0, router6, solicited_node, ue6, 1);
	struct upf_neigh_key key = {0};
	uint32_t index;

	(void)state;
	test_unit_open(&u);
	test_plain(&msg, 77, 0x12300101, 0x0A00004D);
	msg.m.ue_ip6 = test_ip6(&msg, 0x20010DB800000001ULL, 0);
	msg.m.ue_ip6_bits = 64;
	assert_int_equal(test_set(&u, &msg.m), 0);
	net->users = u.index;
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_GONE);
	net->links[N3].proxy = net->links[N6].proxy = true;
	assert_int_equal(take_of(&in3, &f, 0), UPF_LOCAL_GONE); /* not the session's network */
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 3);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 14, "\0\1\x08\0\6\4\0\2", 8);
	assert_memory_equal(bytes() + 22, net_mac_n6, 6);
	assert_memory_equal(bytes() + 28, ue, 4);
	assert_memory_equal(bytes() + 38, router, 4);
	assert_int_equal(upf_leave(got)->interface, N6);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_ANSWER);
	assert_int_equal(bytes()[58], 0x40); /* no Override */
	assert_memory_equal(bytes() + 62, ue6, 16);
	assert_memory_equal(bytes() + 80, net_mac_n6, 6);
	f = arp(1, none, ue); /* who wants the address is told that it is taken */
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	f = arp(1, ue, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(used, 1);
	f = arp(1, router, nobody);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 4);
	/* A neighbour we know has the address himself. */
	key.interface = N6;
	memcpy(key.address, ue, sizeof(ue));
	index = (uint32_t)upf_neigh_get(&net->neighs, &key, false, 1);
	f = arp(1, router, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER); /* whom we only ask for */
	upf_neigh_learn(&net->neighs, index, net_mac_n3, 2);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 5);
	/* Or had it, once. */
	atomic_store(&net->neighs.entry[index].probe_ns, S - UPF_NEIGH_IDLE_NS);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_int_equal(test_delete(&u, 0x12300101, 77), 0);
	f = arp(1, router, ue);
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_GONE);
	assert_int_equal(take_of(&in6, &f6, 0), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_NOT_OURS], 7);
	test_unit_close(&u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arp_is_answered_for_our_addresses_alone, up, down),
		cmocka_unit_test_setup_teardown(arp_replies_are_learned_where_we_asked, up, down),
		cmocka_unit_test_setup_teardown(solicitations_are_answered, up, down),
		cmocka_unit_test_setup_teardown(what_is_no_neighbour_discovery, up, down),
		cmocka_unit_test_setup_teardown(advertisements_update_what_is_there, up, down),
		cmocka_unit_test_setup_teardown(neighbours_of_ues_are_answered, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("frames", 512, 2560);
	return pool ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
