/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "codec/err.h"
#include "codec/pdcp.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static void
data_golden(void **state)
{
	uint8_t p[PDCP_HDR_MAX];

	(void)state;
	pdcp_hdr_put(PDCP_DRB_12, p, 0xabc);
	assert_memory_equal(p, BYTES(0x8a, 0xbc), 2);
	pdcp_hdr_put(PDCP_DRB_12, p, 0x12345678);
	assert_memory_equal(p, BYTES(0x86, 0x78), 2);
	pdcp_hdr_put(PDCP_DRB_18, p, 0x2abcd);
	assert_memory_equal(p, BYTES(0x82, 0xab, 0xcd), 3);
	pdcp_hdr_put(PDCP_SRB, p, 0xabc);
	assert_memory_equal(p, BYTES(0x0a, 0xbc), 2);
}

static void
data_decode(void **state)
{
	struct pdcp_hdr h;

	(void)state;
	assert_int_equal(pdcp_decode(PDCP_DRB_12, BYTES(0x8f, 0xff, 0x45), 3, &h), 2);
	assert_false(h.control);
	assert_int_equal(h.sn, 4095);
	assert_int_equal(pdcp_decode(PDCP_DRB_18, BYTES(0x83, 0xff, 0xfe, 0x45), 4, &h), 3);
	assert_int_equal(h.sn, 0x3fffe);
	assert_int_equal(pdcp_decode(PDCP_SRB, BYTES(0x00, 0x01, 0, 0, 0, 0, 0), 7, &h), 2);
	assert_false(h.control);
	assert_int_equal(h.sn, 1);
}

static void
reserved_bits_are_ignored(void **state)
{
	struct pdcp_hdr h;

	(void)state;
	assert_int_equal(pdcp_decode(PDCP_DRB_12, BYTES(0xf1, 0x02, 0x45), 3, &h), 2);
	assert_int_equal(h.sn, 0x102);
	assert_int_equal(pdcp_decode(PDCP_DRB_18, BYTES(0xfd, 0x02, 0x03, 0x45), 4, &h), 3);
	assert_int_equal(h.sn, 0x10203);
	assert_int_equal(pdcp_decode(PDCP_SRB, BYTES(0xf1, 0x02, 0x45), 3, &h), 2);
	assert_int_equal(h.sn, 0x102);
}

static void
short_pdus(void **state)
{
	struct pdcp_hdr h;
	struct pdcp_status s;

	(void)state;
	assert_int_equal(pdcp_decode(PDCP_DRB_12, NULL, 0, &h), -CODEC_SHORT);
	assert_int_equal(pdcp_decode(PDCP_DRB_12, BYTES(0x80), 1, &h), -CODEC_SHORT);
	assert_int_equal(pdcp_decode(PDCP_DRB_12, BYTES(0x80, 0), 2, &h), -CODEC_SHORT);
	assert_int_equal(pdcp_decode(PDCP_DRB_18, BYTES(0x80, 0, 0), 3, &h), -CODEC_SHORT);
	assert_int_equal(pdcp_status_decode(BYTES(0, 0, 0, 0), 4, &s), -CODEC_SHORT);
}

static void
control_types(void **state)
{
	struct pdcp_hdr h;

	(void)state;
	for (unsigned type = 0; type < 8; type++) {
		uint8_t p = (uint8_t)(type << 4 | 0x0f);
		int ret = pdcp_decode(PDCP_DRB_12, &p, 1, &h);

		assert_int_equal(ret, type <= PDCP_UDC_FEEDBACK ? 1 : -CODEC_RESERVED);
		assert_true(h.control);
		if (ret == 1)
			assert_int_equal(h.type, type);
	}
}

/** FMC 0x01020304 missing, +1 and +3 received, +2 and +4 not, +9 (second octet, MSB) received. */
static void
status_is_msb_first(void **state)
{
	const uint8_t golden[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0xa0, 0x80};
	const struct pdcp_status out = {.fmc = 0x01020304, .bitmap = golden + 5, .bitmap_len = 2};
	struct pdcp_status s;
	uint8_t p[7];

	(void)state;
	assert_int_equal(pdcp_status_encode(p, sizeof(p), &out), 7);
	assert_memory_equal(p, golden, 7);
	assert_int_equal(pdcp_status_encode(p, 6, &out), -CODEC_SHORT);
	assert_int_equal(pdcp_status_decode(p, 7, &s), 7);
	assert_int_equal(s.fmc, 0x01020304);
	assert_false(pdcp_status_received(&s, s.fmc));
	assert_true(pdcp_status_received(&s, s.fmc + 1));
	assert_false(pdcp_status_received(&s, s.fmc + 2));
	assert_true(pdcp_status_received(&s, s.fmc + 3));
	assert_true(pdcp_status_received(&s, s.fmc + 9));
	assert_false(pdcp_status_received(&s, s.fmc + 17));
	assert_false(pdcp_status_received(&s, s.fmc - 1));
}

static void
status_wraps_and_is_bounded(void **state)
{
	static uint8_t big[PDCP_CONTROL_MAX + 1];
	struct pdcp_status s;

	(void)state;
	assert_int_equal(pdcp_status_decode(BYTES(0, 0xff, 0xff, 0xff, 0xff, 0x80), 6, &s), 6);
	assert_true(pdcp_status_received(&s, 0));
	assert_int_equal(pdcp_status_decode(BYTES(0x10, 0, 0, 0, 0), 5, &s), -CODEC_CONTRADICTION);
	assert_int_equal(pdcp_status_decode(big, PDCP_CONTROL_MAX, &s), PDCP_CONTROL_MAX);
	assert_int_equal(pdcp_status_decode(big, PDCP_CONTROL_MAX + 1, &s), -CODEC_UNSUPPORTED);
	s = (struct pdcp_status){.bitmap = big, .bitmap_len = PDCP_CONTROL_MAX - 4};
	assert_int_equal(pdcp_status_encode(big, sizeof(big), &s), -CODEC_UNSUPPORTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_golden),
		cmocka_unit_test(data_decode),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(short_pdus),
		cmocka_unit_test(control_types),
		cmocka_unit_test(status_is_msb_first),
		cmocka_unit_test(status_wraps_and_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
