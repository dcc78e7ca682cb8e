/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "codec/err.h"
#include "codec/ip.h"

/* Header with the well-known checksum 0xb861: 192.168.0.1 > 192.168.0.199, 115 B of UDP. */
static const uint8_t ip4_golden[IP4_HDR_BYTES] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40,
						  0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
						  0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};

/* 2001:db8::1 > 2001:db8::2, UDP 5000 > 5001 with "hi"; checksum worked out by hand after RFC 8200
 * §8.1. */
static const uint8_t ip6_golden[50] = {
	0x60, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x11, 0x40, 0x20, 0x01, 0x0d, 0xb8, 0,   0,  0, 0, 0, 0,
	0,    0,    0,    0,    0,    0x01, 0x20, 0x01, 0x0d, 0xb8, 0,    0,    0,   0,  0, 0, 0, 0,
	0,    0,    0,    0x02, 0x13, 0x88, 0x13, 0x89, 0x00, 0x0a, 0x14, 0xeb, 'h', 'i'};

static void
ethernet_golden(void **state)
{
	static const uint8_t wire[ETH_HDR_BYTES] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd};
	uint8_t out[ETH_HDR_BYTES];
	struct eth_hdr h;

	(void)state;
	assert_int_equal(eth_decode(wire, sizeof(wire), &h), ETH_HDR_BYTES);
	assert_int_equal(h.type, ETH_TYPE_IP6);
	assert_int_equal(h.src[5], 2);
	assert_int_equal(eth_encode(out, sizeof(out), &h), ETH_HDR_BYTES);
	assert_memory_equal(out, wire, sizeof(wire));
	assert_int_equal(eth_decode(wire, 13, &h), -CODEC_SHORT);
	assert_int_equal(eth_encode(out, 13, &h), -CODEC_SHORT);
	memcpy(out, wire, sizeof(out));
	ip_put16(out + 12, 46);
	assert_int_equal(eth_decode(out, sizeof(out), &h), -CODEC_UNSUPPORTED);
}

static void
ip4_golden_both_ways(void **state)
{
	uint8_t packet[115] = {0}, out[IP4_HDR_BYTES];
	struct ip_hdr h;

	(void)state;
	memcpy(packet, ip4_golden, sizeof(ip4_golden));
	assert_int_equal(ip_decode(packet, sizeof(packet), &h), IP4_HDR_BYTES);
	assert_int_equal(h.version, 4);
	assert_int_equal(h.bytes, 115);
	assert_int_equal(h.proto, IP_PROTO_UDP);
	assert_int_equal(h.ttl, 64);
	assert_true(h.dont_fragment);
	assert_int_equal(h.dst[3], 199);
	assert_int_equal(ip_encode(out, sizeof(out), &h), IP4_HDR_BYTES);
	assert_memory_equal(out, ip4_golden, sizeof(out));
	assert_int_equal(ip_encode(out, 19, &h), -CODEC_SHORT);
	h.bytes = 65536;
	assert_int_equal(ip_encode(out, sizeof(out), &h), -CODEC_CONTRADICTION);
}

static void
ip4_refuses_bad_headers(void **state)
{
	uint8_t p[115] = {0};
	struct ip_hdr h;

	(void)state;
	memcpy(p, ip4_golden, sizeof(ip4_golden));
	assert_int_equal(ip_decode(p, 0, &h), -CODEC_SHORT);
	assert_int_equal(ip_decode(p, 19, &h), -CODEC_SHORT);
	assert_int_equal(ip_decode(p, 114, &h), -CODEC_SHORT);
	p[0] = 0x44;
	assert_int_equal(ip_decode(p, sizeof(p), &h), -CODEC_CONTRADICTION);
	p[0] = 0x55;
	assert_int_equal(ip_decode(p, sizeof(p), &h), -CODEC_RESERVED);
	p[0] = 0x4f;
	ip_put16(p + 2, 59);
	assert_int_equal(ip_decode(p, sizeof(p), &h), -CODEC_CONTRADICTION);
	memcpy(p, ip4_golden, sizeof(ip4_golden));
	for (unsigned i = 1; i < IP4_HDR_BYTES; i++) {
		p[i] ^= 0x10;
		assert_true(ip_decode(p, sizeof(p), &h) < 0);
		p[i] ^= 0x10;
	}
}

static void
ip6_golden_both_ways(void **state)
{
	uint8_t out[IP6_HDR_BYTES];
	struct ip_hdr h;
	struct udp_hdr udp;

	(void)state;
	assert_int_equal(ip_decode(ip6_golden, sizeof(ip6_golden), &h), IP6_HDR_BYTES);
	assert_int_equal(h.version, 6);
	assert_int_equal(h.bytes, sizeof(ip6_golden));
	assert_int_equal(h.proto, IP_PROTO_UDP);
	assert_int_equal(ip_encode(out, sizeof(out), &h), IP6_HDR_BYTES);
	assert_memory_equal(out, ip6_golden, sizeof(out));
	assert_int_equal(udp_decode(ip6_golden + 40, 10, &udp), UDP_HDR_BYTES);
	assert_int_equal(udp.dst_port, 5001);
	assert_int_equal(udp.bytes, 10);
	assert_true(udp_checksum_ok(&h, ip6_golden + 40, 10));
	assert_int_equal(ip_decode(ip6_golden, 49, &h), -CODEC_SHORT);
	assert_int_equal(ip_decode(ip6_golden, 39, &h), -CODEC_SHORT);
}

static void
ip6_walks_extension_headers(void **state)
{
	uint8_t p[72] = {0};
	struct ip_hdr h;

	(void)state;
	memcpy(p, ip6_golden, IP6_HDR_BYTES);
	ip_put16(p + 4, 32);
	p[6] = 0; /* hop-by-hop, 8 B; then fragment; then UDP */
	p[40] = 44;
	p[48] = 17;
	ip_put16(p + 50, 0x0011);
	assert_int_equal(ip_decode(p, sizeof(p), &h), 56);
	assert_int_equal(h.proto, IP_PROTO_UDP);
	assert_int_equal(h.fragment_offset, 16);
	assert_true(h.more_fragments);
	p[41] = 4; /* 40 B of options in 32 B of packet */
	assert_int_equal(ip_decode(p, sizeof(p), &h), -CODEC_CONTRADICTION);
	ip_put16(p + 4, 0);
	assert_int_equal(ip_decode(p, sizeof(p), &h), -CODEC_UNSUPPORTED);
}

static void
udp_lengths_and_checksum(void **state)
{
	uint8_t p[10], out[UDP_HDR_BYTES];
	struct udp_hdr udp;
	struct ip_hdr h;
	uint16_t checksum;

	(void)state;
	ip_decode(ip6_golden, sizeof(ip6_golden), &h);
	memcpy(p, ip6_golden + 40, sizeof(p));
	assert_int_equal(udp_decode(p, 7, &udp), -CODEC_SHORT);
	assert_int_equal(udp_decode(p, 9, &udp), -CODEC_SHORT);
	udp_decode(p, sizeof(p), &udp);
	udp_encode(out, sizeof(out), &udp);
	assert_memory_equal(out, p, sizeof(out));
	memset(p + 6, 0, 2);
	checksum = udp_checksum(&h, p, sizeof(p));
	assert_memory_equal(&checksum, ip6_golden + 46, 2);
	assert_false(udp_checksum_ok(&h, p, sizeof(p)));
	h.version = 4;
	assert_true(udp_checksum_ok(&h, p, sizeof(p)));
	ip_put16(p + 4, 7);
	assert_int_equal(udp_decode(p, sizeof(p), &udp), -CODEC_CONTRADICTION);
}

static void
checksum_of_rfc1071(void **state)
{
	static const uint8_t data[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	uint16_t sum = ip_sum_fold(ip_sum(0, data, sizeof(data)));

	(void)state;
	assert_int_equal(ip_get16((const uint8_t *)&sum), 0xddf2);
	assert_int_equal(ip_sum_fold(ip_sum(ip_sum(0, data, 2), data + 2, 5)),
			 ip_sum_fold(ip_sum(0, data, 7)));
}

static void
dscp_rewrite_keeps_the_checksum(void **state)
{
	uint8_t p4[IP4_HDR_BYTES], p6[IP6_HDR_BYTES];

	(void)state;
	memcpy(p4, ip4_golden, sizeof(p4));
	memcpy(p6, ip6_golden, sizeof(p6));
	p4[1] = 0x01;
	p4[11]--;
	for (uint8_t dscp = 0; dscp < 64; dscp++) {
		ip_set_dscp(p4, dscp);
		ip_set_dscp(p6, dscp);
		assert_int_equal(ip_dscp(p4), dscp);
		assert_int_equal(ip_dscp(p6), dscp);
		assert_int_equal(ip_checksum(p4, sizeof(p4)), 0);
		assert_int_equal(p4[1] & 3, 1);
		assert_int_equal(p6[0] >> 4, 6);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet_golden),
		cmocka_unit_test(ip4_golden_both_ways),
		cmocka_unit_test(ip4_refuses_bad_headers),
		cmocka_unit_test(ip6_golden_both_ways),
		cmocka_unit_test(ip6_walks_extension_headers),
		cmocka_unit_test(udp_lengths_and_checksum),
		cmocka_unit_test(checksum_of_rfc1071),
		cmocka_unit_test(dscp_rewrite_keeps_the_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
