/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "codec/err.h"
#include "codec/sdap.h"

static void
uplink_golden(void **state)
{
	struct sdap_ul_hdr hdr;

	(void)state;
	assert_int_equal(sdap_ul_octet(9), 0x89);
	assert_int_equal(sdap_ul_octet(63), 0xbf);
	assert_int_equal(sdap_ul_decode((const uint8_t[]){0x89, 0x45}, 2, &hdr), 1);
	assert_false(hdr.control);
	assert_int_equal(hdr.qfi, 9);
}

static void
uplink_reserved_bit_is_ignored(void **state)
{
	struct sdap_ul_hdr hdr;

	(void)state;
	assert_int_equal(sdap_ul_decode((const uint8_t[]){0xc1, 0x45}, 2, &hdr), 1);
	assert_false(hdr.control);
	assert_int_equal(hdr.qfi, 1);
}

static void
uplink_end_marker(void **state)
{
	struct sdap_ul_hdr hdr;

	(void)state;
	assert_int_equal(sdap_end_marker_octet(5), 0x05);
	assert_int_equal(sdap_ul_decode((const uint8_t[]){0x05}, 1, &hdr), 1);
	assert_true(hdr.control);
	assert_int_equal(hdr.qfi, 5);
	assert_int_equal(sdap_ul_decode((const uint8_t[]){0x05, 0x00}, 2, &hdr),
			 -CODEC_CONTRADICTION);
}

static void
downlink_golden(void **state)
{
	struct sdap_dl_hdr hdr;

	(void)state;
	assert_int_equal(sdap_dl_octet(false, false, 9), 0x09);
	assert_int_equal(sdap_dl_octet(true, false, 9), 0x89);
	assert_int_equal(sdap_dl_octet(false, true, 63), 0x7f);
	assert_int_equal(sdap_dl_decode((const uint8_t[]){0x49, 0x45}, 2, &hdr), 1);
	assert_false(hdr.rdi);
	assert_true(hdr.rqi);
	assert_int_equal(hdr.qfi, 9);
	assert_int_equal(sdap_dl_decode((const uint8_t[]){0x80, 0x60}, 2, &hdr), 1);
	assert_true(hdr.rdi);
	assert_false(hdr.rqi);
	assert_int_equal(hdr.qfi, 0);
}

static void
short_pdus(void **state)
{
	struct sdap_ul_hdr ul;
	struct sdap_dl_hdr dl;

	(void)state;
	assert_int_equal(sdap_ul_decode(NULL, 0, &ul), -CODEC_SHORT);
	assert_int_equal(sdap_ul_decode((const uint8_t[]){0x81}, 1, &ul), -CODEC_SHORT);
	assert_int_equal(sdap_dl_decode(NULL, 0, &dl), -CODEC_SHORT);
	assert_int_equal(sdap_dl_decode((const uint8_t[]){0x01}, 1, &dl), -CODEC_SHORT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uplink_golden),
		cmocka_unit_test(uplink_reserved_bit_is_ignored),
		cmocka_unit_test(uplink_end_marker),
		cmocka_unit_test(downlink_golden),
		cmocka_unit_test(short_pdus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
