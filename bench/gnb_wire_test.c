/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench's idea of the frames, against octets made by scapy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/gnb_wire.h"

static const struct gnb_wire wire = {
	.n3 = {{2, 0, 0, 0, 3, 1}, {2, 0, 0, 0, 3, 9}, 0x0A030002, 0x0A030001},
	.f1 = {{2, 0, 0, 0, 7, 1}, {2, 0, 0, 0, 7, 9}, 0x0A070001, 0x0A070009},
	.tpdu = 14,
};

/* scapy: Ether/IP(id=0x102)/UDP/GTP_U_Header/Raw, of session 16 and number 0x10102 */
static void
downlink_as_scapy_has_it(void **state)
{
	static const uint8_t golden[] = {
		0x02, 0x00, 0x00, 0x00, 0x07, 0x09, 0x02, 0x00, 0x00, 0x00, 0x07, 0x01, 0x08, 0x00,
		0x45, 0x00, 0x00, 0x37, 0x01, 0x02, 0x00, 0x00, 0x40, 0x11, 0x65, 0x9d, 0x0a, 0x07,
		0x00, 0x01, 0x0a, 0x07, 0x00, 0x09, 0x08, 0x68, 0x08, 0x68, 0x00, 0x23, 0x00, 0x00,
		0x30, 0xff, 0x00, 0x13, 0x50, 0x00, 0x00, 0x10, 0x00, 0x81, 0x01, 0x02, 0x09, 'A',
		'P',  'G',  'B',  0,    0,    0,    16,   0,    1,    1,    2,    0x7b, 0x9a};
	uint8_t p[GNB_WIRE_ROOM];

	(void)state;
	assert_int_equal(gnb_wire_expect(&wire, GNB_WIRE_DOWN, p, 16, 0x10102), sizeof(golden));
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(gnb_wire_session(&wire, GNB_WIRE_DOWN, p, sizeof(golden)), 16);
	assert_int_equal(gnb_wire_session(&wire, GNB_WIRE_DOWN, p, sizeof(golden) - 1), UINT32_MAX);
}

static void
uplink_says_its_session(void **state)
{
	uint8_t p[GNB_WIRE_ROOM];
	unsigned n = gnb_wire_expect(&wire, GNB_WIRE_UP, p, 77, 5);

	(void)state;
	assert_int_equal(n, GNB_WIRE_OUTER + 14);
	assert_int_equal(gnb_wire_session(&wire, GNB_WIRE_UP, p, n), 77);
	p[GNB_WIRE_OUTER]++;
	assert_int_equal(gnb_wire_session(&wire, GNB_WIRE_UP, p, n), UINT32_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(downlink_as_scapy_has_it),
		cmocka_unit_test(uplink_says_its_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
