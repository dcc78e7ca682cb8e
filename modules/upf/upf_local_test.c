/* SPDX-License-Identifier: BSD-3-Clause */
/* What the UPF answers as a host on the Internet: ICMP, and what nobody here speaks. */
#include "modules/upf/upf_local_rig.h"

static struct net_frame
ping(bool v6, size_t n)
{
	struct net_frame f = {0};
	uint16_t sum;
	size_t ip, icmp;

	net_eth(&f, net_mac_n3, 0, v6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4);
	ip = net_ip(&f, v6, v6 ? gnb_6 : gnb_4, v6 ? n3_6 : n3_4, v6 ? 58 : 1, 8 + n);
	icmp = f.at;
	net_bytes(&f, v6 ? "\x80\0\0\0\x12\x34\0\1" : "\x08\0\0\0\x12\x34\0\1", 8);
	net_bytes(&f, NULL, n);
	sum = upf_icmp_checksum(f.b + ip, f.b + icmp, (unsigned)(8 + n));
	memcpy(f.b + icmp + 2, &sum, 2);
	return f;
}

static void
echo_is_answered(void **state)
{
	(void)state;
	for (unsigned v6 = 0; v6 < 2; v6++)
		for (size_t n = 26; n < 1400; n += 457)
			for (size_t seg = 0; seg <= 300; seg += 100) {
				struct net_frame f = ping(v6, n);
				const size_t hdr = v6 ? 40 : 20;
				uint8_t p[1600];

				assert_int_equal(take_of(&in3, &f, seg), UPF_LOCAL_ANSWER);
				assert_int_equal(got->pkt_len, f.at - 14);
				memcpy(p, rte_pktmbuf_read(got, 0, got->pkt_len, p), got->pkt_len);
				assert_int_equal(p[hdr], v6 ? 129 : 0);
				assert_int_equal(
					upf_icmp_checksum(p, p + hdr, got->pkt_len - (unsigned)hdr),
					0);
				assert_memory_equal(p + (v6 ? 24 : 16), v6 ? gnb_6 : gnb_4,
						    v6 ? 16 : 4);
				assert_memory_equal(p + hdr + 4, f.b + 14 + hdr + 4, n + 4);
				assert_true(v6 || ip_checksum(p, 20) == 0);
				assert_int_equal(upf_leave(got)->interface, N3);
				assert_int_equal(upf_leave(got)->peer, 0);
				assert_true(upf_leave(got)->flags & AP_M_CONTROL);
			}
	struct net_frame f = ping(false, 30);

	f.b[f.at - 1] ^= 1;
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_CHECKSUM], 1);
	f = ping(false, 30);
	f.b[34] = 13;
	f.b[36] = (uint8_t)(f.b[36] - 5);
	assert_int_equal(take(&f), UPF_LOCAL_GONE);
	assert_int_equal(drops[UPF_LOCAL_DROP_ICMP], 1);
}

static void
what_nobody_here_speaks(void **state)
{
	struct net_frame f = {0};

	(void)state;
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP4);
	net_ip(&f, false, gnb_4, n3_4, 17, 8 + 30);
	net_udp(&f, 1000, 53, 30);
	net_bytes(&f, NULL, 30);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 20, "\x03\x03", 2);
	assert_int_equal(drops[UPF_LOCAL_DROP_PORT], 1);
	memset(&f, 0, sizeof(f));
	net_eth(&f, net_mac_n3, 0, ETH_TYPE_IP6);
	net_ip(&f, true, gnb_6, n3_6, 6, 30);
	net_bytes(&f, NULL, 30);
	assert_int_equal(take(&f), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 40, "\x04\x01", 2);
	assert_int_equal(drops[UPF_LOCAL_DROP_PROTOCOL], 1);
}

static void
a_ttl_that_ends_here(void **state)
{
	struct net_frame f = {0};
	uint8_t *ip;

	(void)state;
	net_eth(&f, net_mac_n6, 0, ETH_TYPE_IP6);
	ip = f.b + net_ip(&f, true, host_6, ue_6, 17, 30);
	net_bytes(&f, NULL, 30);
	ip[7] = 1;
	assert_int_equal(take_of(&in6, &f, 0), UPF_LOCAL_ANSWER);
	assert_memory_equal(bytes() + 8, n6_6, 16);
	assert_memory_equal(bytes() + 24, host_6, 16);
	assert_memory_equal(bytes() + 40, "\x03\x00", 2);
	assert_int_equal(upf_leave(got)->interface, N6);
	assert_int_equal(drops[UPF_LOCAL_DROP_EXPIRED], 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(echo_is_answered, up, down),
		cmocka_unit_test_setup_teardown(what_nobody_here_speaks, up, down),
		cmocka_unit_test_setup_teardown(a_ttl_that_ends_here, up, down),
	};

	if (test_eal_init() < 0)
		return 1;
	pool = test_pool("frames", 512, 2560);
	return pool ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
