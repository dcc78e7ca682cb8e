/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "codec/err.h"
#include "codec/flow.h"

/* IPv4, options of 4 octets, UDP 4660 → 53, ToS 0xB8. */
static const uint8_t udp4[] = {0x46, 0xB8, 0x00, 0x22, 0x00, 0x01, 0x00, 0x00, 0x40,
			       0x11, 0x00, 0x00, 0x0A, 0x2D, 0x00, 0x01, 0xC6, 0x33,
			       0x64, 0x01, 0x01, 0x01, 0x01, 0x00, 0x12, 0x34, 0x00,
			       0x35, 0x00, 0x0A, 0x00, 0x00, 0xAA, 0xBB};

/* IPv6, flow label 0xABCDE, hop-by-hop and destination options, TCP 443 → 50000. */
static const uint8_t tcp6[] = {
	0x6B, 0x8A, 0xBC, 0xDE, 0x00, 0x24, 0x00, 0x40, 0x20, 0x01, 0x0D, 0xB8, 0, 0, 0,    0x01,
	0,    0,    0,    0,    0,    0,    0,    0x01, 0x20, 0x01, 0x06, 0x7C, 0, 0, 0,    0,
	0,    0,    0,    0,    0,    0,    0,    0x02, 0x3C, 0x00, 0x01, 0x04, 0, 0, 0,    0,
	0x06, 0x00, 0x01, 0x04, 0,    0,    0,    0,    0x01, 0xBB, 0xC3, 0x50, 0, 0, 0x00, 0,
	0,    0,    0,    0,    0x50, 0,    0,    0,    0,    0,    0,    0};

static void
ip4_golden(void **state)
{
	struct flow f;

	(void)state;
	assert_int_equal(flow_decode(udp4, sizeof(udp4), &f), 24);
	assert_int_equal(f.version, 4);
	assert_int_equal(f.proto, 17);
	assert_int_equal(f.tos, 0xB8);
	assert_false(f.later);
	assert_true(f.has_ports);
	assert_int_equal(f.ports[0], 0x1234);
	assert_int_equal(f.ports[1], 53);
	assert_memory_equal(f.src, udp4 + 12, 4);
	assert_memory_equal(f.dst, udp4 + 16, 4);
	for (unsigned i = 4; i < 16; i++)
		assert_int_equal(f.src[i] | f.dst[i], 0);
}

static void
ip6_golden(void **state)
{
	struct flow f;

	(void)state;
	assert_int_equal(flow_decode(tcp6, sizeof(tcp6), &f), 56);
	assert_int_equal(f.version, 6);
	assert_int_equal(f.proto, 6);
	assert_int_equal(f.tos, 0xB8);
	assert_int_equal(f.flow_label, 0xABCDE);
	assert_true(f.has_ports);
	assert_int_equal(f.ports[0], 443);
	assert_int_equal(f.ports[1], 50000);
	assert_memory_equal(f.src, tcp6 + 8, 16);
	assert_memory_equal(f.dst, tcp6 + 24, 16);
}

static void
later_fragments_have_a_protocol_alone(void **state)
{
	uint8_t p[sizeof(tcp6)];
	struct flow f;

	(void)state;
	memcpy(p, udp4, sizeof(udp4));
	p[7] = 1;
	assert_int_equal(flow_decode(p, sizeof(udp4), &f), 24);
	assert_true(f.later);
	assert_int_equal(f.proto, 17);
	assert_false(f.has_ports);
	p[6] = 0x20; /* more fragments: the first has its ports */
	p[7] = 0;
	assert_true(flow_decode(p, sizeof(udp4), &f) == 24 && f.has_ports && !f.later);
	/* The second option header becomes a fragment header: first, then later. */
	memcpy(p, tcp6, sizeof(tcp6));
	p[40] = 44;
	p[50] = 0;
	p[51] = 1;
	assert_true(flow_decode(p, sizeof(p), &f) == 56 && f.has_ports && !f.later);
	p[51] = 0x09;
	assert_int_equal(flow_decode(p, sizeof(p), &f), 56);
	assert_true(f.later);
	assert_int_equal(f.proto, 6);
	assert_false(f.has_ports);
	/* What a later fragment's header names is not gone into. */
	p[48] = 60;
	assert_int_equal(flow_decode(p, sizeof(p), &f), 56);
	assert_int_equal(f.proto, 60);
}

static void
spi_of_esp_and_ah(void **state)
{
	uint8_t p[sizeof(udp4)];
	struct flow f;

	(void)state;
	memcpy(p, udp4, sizeof(p));
	p[9] = 50;
	assert_int_equal(flow_decode(p, sizeof(p), &f), 24);
	assert_true(f.has_spi && !f.has_ports);
	assert_int_equal(f.spi, 0x12340035);
	p[9] = 51;
	assert_int_equal(flow_decode(p, sizeof(p), &f), 24);
	assert_true(f.has_spi);
	assert_int_equal(f.spi, 0x000A0000);
	assert_int_equal(f.proto, 51);
	p[9] = 1;
	assert_int_equal(flow_decode(p, sizeof(p), &f), 24);
	assert_false(f.has_spi || f.has_ports);
}

static void
bounds(void **state)
{
	struct flow f;
	uint8_t p[sizeof(tcp6)];

	(void)state;
	assert_int_equal(flow_decode(udp4, 0, &f), -CODEC_SHORT);
	for (size_t n = 1; n < 24; n++)
		assert_int_equal(flow_decode(udp4, n, &f), -CODEC_SHORT);
	for (size_t n = 24; n < sizeof(udp4); n++) {
		assert_int_equal(flow_decode(udp4, n, &f), 24);
		assert_int_equal(f.has_ports, n >= 28);
	}
	for (size_t n = 1; n < 56; n++)
		assert_int_equal(flow_decode(tcp6, n, &f), -CODEC_SHORT);
	assert_true(flow_decode(tcp6, 59, &f) == 56 && !f.has_ports);
	assert_true(flow_decode(tcp6, 60, &f) == 56 && f.has_ports);
	/* Octets behind the packet are not its own. */
	memcpy(p, udp4, sizeof(udp4));
	p[3] = 26;
	assert_true(flow_decode(p, sizeof(udp4), &f) == 24 && !f.has_ports);
	p[3] = 23;
	assert_int_equal(flow_decode(p, sizeof(udp4), &f), -CODEC_CONTRADICTION);
	p[0] = 0x44;
	assert_int_equal(flow_decode(p, sizeof(udp4), &f), -CODEC_CONTRADICTION);
	p[0] = 0x50;
	assert_int_equal(flow_decode(p, sizeof(udp4), &f), -CODEC_RESERVED);
	memcpy(p, tcp6, sizeof(tcp6));
	p[5] = 18;
	assert_true(flow_decode(p, sizeof(p), &f) == 56 && !f.has_ports);
	p[5] = 15;
	assert_int_equal(flow_decode(p, sizeof(p), &f), -CODEC_SHORT);
	p[4] = p[5] = 0; /* a jumbogram is as long as it is */
	assert_true(flow_decode(p, sizeof(p), &f) == 56 && f.has_ports);
	p[41] = 0xFF;
	assert_int_equal(flow_decode(p, sizeof(p), &f), -CODEC_SHORT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ip4_golden),
		cmocka_unit_test(ip6_golden),
		cmocka_unit_test(later_fragments_have_a_protocol_alone),
		cmocka_unit_test(spi_of_esp_and_ah),
		cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
