/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/nfapi.h"

/* PHY 3, RX_Data.indication, 9000 B, M set, segment 5, sequence 0xA7, 1.5 s into the period. */
static const uint8_t golden[NFAPI_P7_LEN] = {0x00, 0x03, 0x00, 0x85, 0x00, 0x00, 0x23, 0x28, 0x85,
					     0xA7, 0x12, 0x34, 0x56, 0x78, 0x00, 0x16, 0xE3, 0x60};

static void
header_golden(void **state)
{
	const struct nfapi_p7 h = {
		.phy_id = 3,
		.message_id = 0x85,
		.length = 9000,
		.more = true,
		.segment = 5,
		.sequence = 0xA7,
		.checksum = 0x12345678,
		.timestamp_us = 1500000,
	};
	uint8_t p[NFAPI_P7_LEN];
	struct nfapi_p7 back;

	(void)state;
	nfapi_p7_put(p, &h);
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(nfapi_p7_decode(golden, sizeof(golden), 9000, &back), NFAPI_P7_LEN);
	assert_int_equal(back.phy_id, 3);
	assert_int_equal(back.message_id, 0x85);
	assert_int_equal(back.length, 9000);
	assert_true(back.more);
	assert_int_equal(back.segment, 5);
	assert_int_equal(back.sequence, 0xA7);
	assert_int_equal(back.checksum, 0x12345678);
	assert_int_equal(back.timestamp_us, 1500000);
}

static void
segment_number_ends(void **state)
{
	struct nfapi_p7 h = {.length = NFAPI_P7_LEN, .segment = 127, .sequence = 255}, back;
	uint8_t p[NFAPI_P7_LEN];

	(void)state;
	nfapi_p7_put(p, &h);
	assert_int_equal(p[8], 0x7F);
	assert_int_equal(p[9], 0xFF);
	assert_int_equal(nfapi_p7_decode(p, sizeof(p), sizeof(p), &back), NFAPI_P7_LEN);
	assert_false(back.more);
	assert_int_equal(back.segment, 127);
}

static void
lengths_are_checked(void **state)
{
	struct nfapi_p7 h;
	uint8_t p[NFAPI_P7_LEN];

	(void)state;
	assert_int_equal(nfapi_p7_decode(golden, NFAPI_P7_LEN - 1, 9000, &h), -CODEC_SHORT);
	assert_int_equal(nfapi_p7_decode(golden, NFAPI_P7_LEN, 8999, &h), -CODEC_SHORT);
	memcpy(p, golden, sizeof(p));
	be32_put(p + 4, NFAPI_P7_LEN - 1);
	assert_int_equal(nfapi_p7_decode(p, sizeof(p), 9000, &h), -CODEC_CONTRADICTION);
	be32_put(p + 4, UINT32_MAX);
	assert_int_equal(nfapi_p7_decode(p, sizeof(p), 65535, &h), -CODEC_SHORT);
}

/* RFC 3720 B.4 and the usual check value of CRC-32C. */
static void
crc32c_vectors(void **state)
{
	uint8_t zeros[32] = {0}, ones[32];
	uint32_t crc;

	(void)state;
	memset(ones, 0xFF, sizeof(ones));
	assert_int_equal(nfapi_crc32c(0, "123456789", 9), 0xE3069283);
	assert_int_equal(nfapi_crc32c(0, zeros, 32), 0x8A9136AA);
	assert_int_equal(nfapi_crc32c(0, ones, 32), 0x62A8AB43);
	crc = nfapi_crc32c(0, "1234", 4);
	assert_int_equal(nfapi_crc32c(crc, "56789", 5), 0xE3069283);
	assert_int_equal(nfapi_checksum(0), UINT32_MAX);
	assert_int_equal(nfapi_checksum(7), 7);
}

static void
header_crc_ignores_the_field(void **state)
{
	uint8_t p[NFAPI_P7_LEN];

	(void)state;
	memcpy(p, golden, sizeof(p));
	memset(p + 10, 0, 4);
	assert_int_equal(nfapi_p7_crc32c(golden), nfapi_crc32c(0, p, sizeof(p)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_golden),
		cmocka_unit_test(segment_number_ends),
		cmocka_unit_test(lengths_are_checked),
		cmocka_unit_test(crc32c_vectors),
		cmocka_unit_test(header_crc_ignores_the_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
