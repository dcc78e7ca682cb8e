/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/upf/upf_in.h"
#include "modules/upf/upf_net_test.h"
#include "test_eal.h"

static struct rte_mempool *pool;
static struct upf_net *net;
static struct upf_in in3, in6;

static struct rte_mbuf *got;

/** The verdict; `got` is the packet. Both ways of taking it must agree where the fast one does. */
static unsigned
take(const struct upf_in *in, const struct net_frame *f)
{
	struct rte_mbuf *other = net_mbuf(pool, f, 0);
	unsigned verdict = upf_in_any(in, other);

	rte_pktmbuf_free(got);
	got = net_mbuf(pool, f, 0);
	if (!upf_in_fast(in, got)) {
		rte_pktmbuf_free(got);
		got = other;
		return verdict;
	}
	assert_int_equal(verdict, UPF_IN_PASS);
	assert_int_equal(got->pkt_len, other->pkt_len);
	assert_int_equal(got->data_len, other->data_len);
	assert_int_equal(got->vlan_tci_outer, other->vlan_tci_outer);
	assert_memory_equal(&got->hash, &other->hash, 8);
	assert_memory_equal(rte_pktmbuf_mtod(got, void *), rte_pktmbuf_mtod(other, void *),
			    got->data_len);
	rte_pktmbuf_free(other);
	return UPF_IN_PASS;
}

static unsigned
named(enum upf_in_drop reason)
{
	return UPF_IN_DROPPED + reason;
}

static void
g_pdus_of_every_kind(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 8; kind++) {
		const bool outer6 = kind & 1, inner6 = kind & 2;
		struct net_frame f = {0};

		net_gpdu(&f, outer6, inner6, 0x12345678, kind & 4 ? 9 : -1, 100);
		net_bytes(&f, "padding", 7);
		assert_int_equal(take(&in3, &f), UPF_IN_PASS);
		assert_int_equal(upf_arrival(got)->teid, 0x12345678);
		assert_int_equal(upf_arrival(got)->interface, N3);
		assert_int_equal(upf_arrival(got)->rx, UPF_RX_TUNNEL |
							       (outer6 ? UPF_RX_OUTER6 : 0) |
							       (inner6 ? UPF_RX_INNER6 : 0) |
							       (kind & 4 ? UPF_RX_QFI : 0));
		if (kind & 4)
			assert_int_equal(upf_arrival(got)->qfi, 9);
		assert_int_equal(got->pkt_len, (inner6 ? 40 : 20) + 108);
		assert_int_equal(*rte_pktmbuf_mtod(got, uint8_t *), inner6 ? 0x60 : 0x45);
		assert_int_equal(upf_outer_bytes(got),
				 (outer6 ? 40 : 20) + 8 + (kind & 4 ? 16 : 8));
		assert_int_equal(*rte_pktmbuf_mtod_offset(got, uint8_t *, -upf_outer_bytes(got)),
				 outer6 ? 0x60 : 0x45);
	}
}

static void
the_usual_ones_are_fast(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 8; kind++) {
		struct net_frame f = {0};

		net_gpdu(&f, kind & 1, kind & 2, 7, kind & 4 ? 9 : -1, 0);
		rte_pktmbuf_free(got);
		got = net_mbuf(pool, &f, 0);
		assert_true(upf_in_fast(&in3, got));
	}
	struct net_frame f = {0};
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP4);
	net_ip(&f, false, host_4, ue_4, 17, 26);
	net_bytes(&f, NULL, 26);
	rte_pktmbuf_free(got);
	got = net_mbuf(pool, &f, 0);
	assert_true(upf_in_fast(&in6, got));
}

static void
reflective_indication_and_other_forms(void **state)
{
	static const uint8_t long_form[] = {0x36, 0xff, 0, 0, 0, 0,    0, 5, 1,    2,
					    0,    0xC0, 1, 9, 9, 0x85, 1, 0, 0x47, 0};
	struct net_frame f = {0};
	size_t gtpu, inner = 28;

	(void)state;
	net_gpdu(&f, false, false, 5, 7, 0);
	f.b[14 + 28 + 13] = 0x00; /* DL frame */
	f.b[14 + 28 + 14] = 0x47; /* RQI */
	assert_int_equal(take(&in3, &f), UPF_IN_PASS);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_TUNNEL | UPF_RX_QFI | UPF_RX_RQI);
	assert_int_equal(upf_arrival(got)->qfi, 7);
	/* A sequence number, a PDCP PDU number that must be understood: for upf_local. */
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP4);
	net_ip(&f, false, gnb_4, n3_4, 17, 8 + sizeof(long_form) + inner);
	net_udp(&f, 2152, 2152, sizeof(long_form) + inner);
	gtpu = f.at;
	net_bytes(&f, long_form, sizeof(long_form));
	be16_put(f.b + gtpu + 2, (uint16_t)(sizeof(long_form) - 8 + inner));
	net_ip(&f, false, ue_4, host_4, 17, 8);
	net_udp(&f, 1, 2, 0);
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_GTPU);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_LOCAL);
	assert_int_equal(upf_outer_bytes(got), 28);
	/* One that need not be: passed by, the container behind is read. */
	f.b[gtpu + 11] = 0x40;
	assert_int_equal(take(&in3, &f), UPF_IN_PASS);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_TUNNEL | UPF_RX_QFI | UPF_RX_RQI);
	assert_int_equal(got->pkt_len, inner);
	/* In two segments. */
	rte_pktmbuf_free(got);
	got = net_mbuf(pool, &f, 60);
	assert_int_equal(upf_in_any(&in3, got), UPF_IN_PASS);
	assert_int_equal(got->pkt_len, inner);
}

static void
plain_packets_toward_a_ue(void **state)
{
	struct net_frame f = {0};
	uint8_t *ip;

	(void)state;
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP4);
	net_ip(&f, false, host_4, ue_4, 17, 26);
	net_bytes(&f, NULL, 26);
	assert_int_equal(take(&in6, &f), UPF_IN_PASS);
	ip = rte_pktmbuf_mtod(got, uint8_t *);
	assert_int_equal(ip[8], 63);
	assert_int_equal(ip_checksum(ip, 20), 0);
	assert_int_equal(upf_arrival(got)->rx, 0);
	assert_int_equal(upf_arrival(got)->interface, N6);
	assert_int_equal(upf_outer_bytes(got), 0);
	/* Not by the access side. */
	memcpy(f.b, net_mac_n3, 6);
	assert_int_equal(take(&in3, &f), named(UPF_IN_DROP_NOT_OURS));
	/* With a TTL that ends here. */
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP4);
	ip = f.b + net_ip(&f, false, host_4, ue_4, 17, 26);
	net_bytes(&f, NULL, 26);
	ip[8] = 1;
	be16_put(ip + 10, 0);
	*(uint16_t *)(void *)(ip + 10) = ip_checksum(ip, 20);
	assert_int_equal(take(&in6, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_EXPIRED);
	/* IPv6 */
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP6);
	ip = f.b + net_ip(&f, true, host_6, ue_6, 17, 26);
	net_bytes(&f, NULL, 26);
	assert_int_equal(take(&in6, &f), UPF_IN_PASS);
	assert_int_equal(upf_arrival(got)->rx, UPF_RX_INNER6);
	assert_int_equal(rte_pktmbuf_mtod(got, uint8_t *)[7], 63);
	ip[7] = 1;
	assert_int_equal(take(&in6, &f), UPF_IN_OWN);
	ip[7] = 64;
	ip[8] = 0xfe;
	ip[9] = 0x80;
	assert_int_equal(take(&in6, &f), named(UPF_IN_DROP_NOT_OURS));
}

static void
interfaces_by_vlan(void **state)
{
	struct net_frame f = {0}, g;
	size_t n;

	(void)state;
	net_gpdu(&f, false, false, 7, 1, 40);
	for (unsigned vlan = 0; vlan < 3; vlan++) {
		const uint16_t id = vlan == 0 ? 0x2000 : vlan == 1 ? 0x6009 : 10;

		/* The tag goes between; priority and DEI do not count. */
		memcpy(g.b, f.b, 12);
		be16_put(g.b + 12, 0x8100);
		be16_put(g.b + 14, id);
		n = f.at - 12;
		memcpy(g.b + 16, f.b + 12, n);
		g.at = 16 + n;
		if (vlan == 2) {
			assert_int_equal(take(&in3, &g), named(UPF_IN_DROP_VLAN));
		} else {
			assert_int_equal(take(&in3, &g), UPF_IN_PASS);
			assert_int_equal(upf_arrival(got)->interface, vlan == 0 ? N3 : N9);
		}
	}
}

static void
what_is_for_us(void **state)
{
	const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const uint8_t group[6] = {0x33, 0x33, 0xff, 0, 0, 1};
	const uint8_t solicited[16] = {0xff, 2, [11] = 1, 0xff, 0, 0, 1};
	const uint8_t none[16] = {0};
	struct net_frame f = {0};
	uint8_t *ip;

	(void)state;
	net_eth(&f, all, 0, ETH_TYPE_ARP);
	net_bytes(&f, NULL, 46);
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_ARP);
	assert_int_equal(upf_arrival(got)->teid, ETH_TYPE_ARP);
	/* ICMP, to an address of another interface too */
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP4);
	ip = f.b + net_ip(&f, false, gnb_4, n6_4, 1, 26);
	net_bytes(&f, NULL, 26);
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_OWN);
	assert_int_equal(*rte_pktmbuf_mtod(got, uint8_t *), 0x45);
	assert_int_equal(got->pkt_len, 46);
	/* a fragment */
	be16_put(ip + 6, 0x2000);
	be16_put(ip + 10, 0);
	*(uint16_t *)(void *)(ip + 10) = ip_checksum(ip, 20);
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_FRAGMENT);
	/* duplicate address detection */
	memset(&f, 0, sizeof(f));
	net_eth(&f, group, 0, ETH_TYPE_IP6);
	net_ip(&f, true, none, solicited, 58, 24);
	f.b[f.at] = 135;
	f.at += 24;
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	f.b[f.at - 24] = 128;
	assert_int_equal(take(&in3, &f), named(UPF_IN_DROP_SOURCE));
	/* GTP-U signalling */
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP6);
	net_ip(&f, true, gnb_6, n3_6, 17, 8 + 12);
	net_udp(&f, 2152, 2152, 12);
	net_bytes(&f, "\x32\x01\x00\x04\x00\x00\x00\x00\x00\x01\x00\x00", 12);
	assert_int_equal(take(&in3, &f), UPF_IN_OWN);
	assert_int_equal(upf_arrival(got)->qfi, UPF_LOCAL_GTPU);
	assert_int_equal(upf_outer_bytes(got), 48);
}

/** Changes octet `at` of a good frame and says what becomes of it. */
static void
broken(const struct upf_in *in, struct net_frame f, size_t at, uint8_t value,
       enum upf_in_drop reason, bool sum)
{
	f.b[at] = value;
	if (sum) {
		be16_put(f.b + 24, 0);
		*(uint16_t *)(void *)(f.b + 24) = ip_checksum(f.b + 14, 20);
	}
	assert_int_equal(take(in, &f), named(reason));
}

static void
broken_frames_are_named(void **state)
{
	struct net_frame f = {0}, f6 = {0}, tiny = {.at = 17};

	(void)state;
	net_gpdu(&f, false, false, 7, 1, 40);
	net_gpdu(&f6, true, true, 7, -1, 40);
	assert_int_equal(take(&in3, &tiny), named(UPF_IN_DROP_SHORT));
	broken(&in3, f, 5, 0x44, UPF_IN_DROP_LINK_ADDRESS, false);
	broken(&in3, f, 0, 0x03, UPF_IN_DROP_LINK_ADDRESS, false);
	broken(&in3, f, 12, 0x77, UPF_IN_DROP_ETHERTYPE, false);
	broken(&in3, f, 14, 0x65, UPF_IN_DROP_MALFORMED, true);
	broken(&in3, f, 14, 0x44, UPF_IN_DROP_MALFORMED, true);
	broken(&in3, f, 17, 100, UPF_IN_DROP_CHECKSUM, false);
	broken(&in3, f, 16, 9, UPF_IN_DROP_TRUNCATED, true);
	broken(&in3, f, 24, 0x55, UPF_IN_DROP_CHECKSUM, false);
	broken(&in3, f, 26, 127, UPF_IN_DROP_SOURCE, true);
	broken(&in3, f, 29, 1, UPF_IN_DROP_SOURCE, true); /* ours */
	broken(&in3, f, 30, 224, UPF_IN_DROP_MULTICAST, true);
	broken(&in3, f, 33, 77, UPF_IN_DROP_NOT_OURS, true);
	broken(&in3, f, 38, 0xff, UPF_IN_DROP_GTPU, false); /* UDP length */
	broken(&in3, f, 42, 0x54, UPF_IN_DROP_GTPU, false); /* version 2 */
	broken(&in3, f, 44, 0x09, UPF_IN_DROP_GTPU, false); /* length */
	broken(&in3, f, 58, 0x55, UPF_IN_DROP_INNER, false);
	broken(&in3, f, 58, 0x44, UPF_IN_DROP_INNER, false);
	broken(&in3, f, 60, 9, UPF_IN_DROP_INNER, false); /* longer than the T-PDU */
	broken(&in3, f6, 14, 0x40, UPF_IN_DROP_MALFORMED, false);
	broken(&in3, f6, 18, 9, UPF_IN_DROP_TRUNCATED, false);
	broken(&in3, f6, 22, 0xff, UPF_IN_DROP_SOURCE, false);
	broken(&in3, f6, 38, 0xff, UPF_IN_DROP_MULTICAST, false);
	broken(&in3, f6, 53, 9, UPF_IN_DROP_NOT_OURS, false);
	/* 14 + 40 + 8 + 8: payload length of the inner header */
	broken(&in3, f6, 74, 9, UPF_IN_DROP_INNER, false);
	for (size_t at = 1; at < f.at; at++) {
		struct net_frame part = f;

		part.at = at;
		if (at >= 58 + 20 + 48)
			continue;
		assert_true(take(&in3, &part) >= UPF_IN_DROPPED);
	}
}

static void
what_the_port_verified_counts(void **state)
{
	struct net_frame f = {0};
	struct rte_mbuf *m;

	(void)state;
	net_gpdu(&f, false, false, 7, 1, 40);
	f.b[24] ^= 0x55;
	m = net_mbuf(pool, &f, 0);
	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	assert_true(upf_in_fast(&in3, m));
	rte_pktmbuf_free(m);
	m = net_mbuf(pool, &f, 0);
	m->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD;
	assert_false(upf_in_fast(&in3, m));
	assert_int_equal(upf_in_any(&in3, m), named(UPF_IN_DROP_CHECKSUM));
	rte_pktmbuf_free(m);
}

static void
what_reassembly_made(void **state)
{
	struct net_frame f = {0};
	struct rte_mbuf *m;

	(void)state;
	net_gpdu(&f, false, true, 7, 1, 1400);
	for (size_t seg = 24; seg < 200; seg += 8) {
		m = net_mbuf(pool, &f, seg);
		rte_pktmbuf_adj(m, 14);
		assert_int_equal(upf_in_ip(net, &net->links[N3], m), UPF_IN_PASS);
		assert_int_equal(m->pkt_len, 40 + 8 + 1400);
		assert_int_equal(upf_arrival(m)->rx, UPF_RX_TUNNEL | UPF_RX_QFI | UPF_RX_INNER6);
		rte_mbuf_sanity_check(m, 1);
		rte_pktmbuf_free(m);
	}
}

static int
up(void **state)
{
	(void)state;
	net = net_make(UPF_MTU_FRAGMENT);
	upf_in_init(&in3, net, 0);
	upf_in_init(&in6, net, 1);
	return net ? 0 : -1;
}

static int
down(void **state)
{
	(void)state;
	rte_pktmbuf_free(got);
	got = NULL;
	upf_net_destroy(net);
	assert_pool_full(pool);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(g_pdus_of_every_kind, up, down),
		cmocka_unit_test_setup_teardown(the_usual_ones_are_fast, up, down),
		cmocka_unit_test_setup_teardown(reflective_indication_and_other_forms, up, down),
		cmocka_unit_test_setup_teardown(plain_packets_toward_a_ue, up, down),
		cmocka_unit_test_setup_teardown(interfaces_by_vlan, up, down),
		cmocka_unit_test_setup_teardown(what_is_for_us, up, down),
		cmocka_unit_test_setup_teardown(broken_frames_are_named, up, down),
		cmocka_unit_test_setup_teardown(what_the_port_verified_counts, up, down),
		cmocka_unit_test_setup_teardown(what_reassembly_made, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("frames", 512, 2560);
	return pool ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
