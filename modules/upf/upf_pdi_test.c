/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet detection, case by case. */
#include "modules/upf/upf_pdi_rig.h"

static struct packet
uplink(uint8_t proto, uint16_t from, uint16_t to)
{
	return (struct packet){.tunnel = true,
			       .teid = HANDLE,
			       .interface = TEST_ACCESS_INTERFACE,
			       .proto = proto,
			       .src = {UE},
			       .dst = {0xC6336401},
			       .ports = {from, to}};
}

static void
misses_have_names(void **state)
{
	struct packet k = uplink(17, 1, 2);
	struct upf_session *s;
	struct upf_arrival a = {.teid = HANDLE, .rx = UPF_RX_TUNNEL, .interface = 1};
	uint8_t p[128];

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.pdrs[0]->qfis = 1 << 9;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_qfi, 9);
	assert_int_equal(match(s, &k), UPF_MISS_QFI);
	k.has_qfi = true;
	k.qfi = 9;
	assert_int_equal(match(s, &k), 0);
	k.src[0]++;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED);
	k.src[0]--;
	k.interface = TEST_CORE_INTERFACE;
	assert_int_equal(match(s, &k), UPF_MISS_NO_PDR);
	k.interface = TEST_ACCESS_INTERFACE;
	k.teid++;
	assert_int_equal(match(s, &k), UPF_MISS_NO_PDR);
	for (unsigned len = 0; len < 20; len++) {
		k.teid = HANDLE;
		packet_bytes(&k, p);
		assert_int_equal(upf_match_lane(s, &a, p, len), UPF_MISS_BAD_INNER);
	}
	p[0] = 0x55;
	assert_int_equal(upf_match_lane(s, &a, p, 40), UPF_MISS_BAD_INNER);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
later_fragments_take_filters_without_ports(void **state)
{
	struct packet k = uplink(17, 1000, 53);
	Airpath__Upf__V1__Pdr *pdr;
	Airpath__Upf__V1__Filter *f;
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	pdr = test_pdr(&msg, 3, 10, UPF_ACCESS, 1, 1);
	f = test_filter(&msg, pdr);
	f->protocol = 17;
	TEST_ADD(&msg, f->destination_ports, f->n_destination_ports, Airpath__Upf__V1__PortRange,
		 airpath__upf__v1__port_range__init);
	f->destination_ports[0]->first = f->destination_ports[0]->last = 53;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->rules->pdrs[match(s, &k)].id, 3);
	k.later = true;
	assert_int_equal(s->rules->pdrs[match(s, &k)].id, 1);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
the_link_is_the_ues(void **state)
{
	struct packet k = uplink(58, 133, 0);
	struct upf_session *s;
	uint8_t p[128];

	(void)state;
	test_plain(&msg, 77, HANDLE, UE);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 64;
	msg.m.pdrs[0]->match_ip6 = msg.m.pdrs[1]->match_ip6 = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_up, 1);
	k.ip6 = true;
	k.src[0] = LINK_LOCAL;
	k.src[1] = 5;
	k.dst[0] = 0xFF02000000000000ULL;
	k.dst[1] = 2;
	assert_int_equal(match(s, &k), 0); /* router solicitation */
	packet_bytes(&k, p);
	assert_true(upf_source_is_ue(s, p));
	k.src[0] = k.src[1] = 0;
	assert_int_equal(match(s, &k), 0); /* duplicate address detection */
	k.src[0] = LINK_LOCAL;
	k.dst[0] = 0x2001067C00000000ULL;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED); /* would leave the link */
	packet_bytes(&k, p);
	assert_false(upf_source_is_ue(s, p));
	k.src[0] = UE6;
	assert_int_equal(match(s, &k), 0);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
delegated_prefixes_are_the_ues(void **state)
{
	struct packet k = uplink(17, 1, 2);
	struct upf_session *s;

	(void)state;
	test_plain(&msg, 77, HANDLE, 0);
	msg.m.ue_ip6 = test_ip6(&msg, UE6, 0);
	msg.m.ue_ip6_bits = 56;
	msg.m.pdrs[0]->match_ip6 = msg.m.pdrs[1]->match_ip6 = true;
	assert_int_equal(test_set(&u, &msg.m), 0);
	s = upf_by_handle(u.tables, HANDLE);
	assert_int_equal(s->only_up, 0);
	k.ip6 = true;
	k.dst[0] = 0x2001067C00000000ULL;
	k.src[0] = (UE6 & ~0xFFULL) | 0x37;
	assert_int_equal(match(s, &k), 0);
	k.src[0] += 0x100;
	assert_int_equal(match(s, &k), UPF_MISS_SPOOFED);
	assert_int_equal(test_delete(&u, HANDLE, 77), 0);
}

static void
equal_filters_are_one_set(void **state)
{
	unsigned sets = 0;

	(void)state;
	for (unsigned n = 0; n < 5; n++) {
		seed = 4; /* the same 200 rules for each */
		random_session(200);
		msg.m.id = 77 + n;
		msg.m.handle = HANDLE + n * 0x1000;
		msg.m.n_tunnels = 0;
		test_tunnel(&msg, msg.m.handle);
		test_tunnel(&msg, msg.m.handle + 0x100);
		msg.m.core_interface = 0; /* all have one address */
		assert_int_equal(test_set(&u, &msg.m), 0);
		if (n == 0)
			sets = upf_compiler_sets(u.compiler);
		assert_int_equal(upf_compiler_sets(u.compiler), sets);
	}
	for (unsigned n = 0; n < 5; n++)
		assert_int_equal(test_delete(&u, HANDLE + n * 0x1000, 77 + n), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(misses_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(later_fragments_take_filters_without_ports, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_link_is_the_ues, setup, teardown),
		cmocka_unit_test_setup_teardown(delegated_prefixes_are_the_ues, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_filters_are_one_set, setup, teardown),
	};

	if (test_eal_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
