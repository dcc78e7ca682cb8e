/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/mac_rar.h"

/* BI 5; RAPID 63 of an SI request; RAPID 17: R, TAC 0x123, grant 0x2ABCDEF, TC-RNTI 0x4601. */
static const uint8_t golden[] = {0x85, 0xFF, 0x51, 0x09, 0x1A, 0xAB, 0xCD, 0xEF, 0x46, 0x01};
static const struct mac_rar_pdu meaning = {
	.has_bi = true,
	.bi = 5,
	.nb = 2,
	.rar = {{.rapid = 63, .si = true},
		{.rapid = 17, .tac = 0x123, .ul_grant = 0x2ABCDEF, .tc_rnti = 0x4601}},
};
#define SI (1ULL << 63)

static void
rar_golden(void **state)
{
	uint8_t p[sizeof(golden)];
	struct mac_rar_pdu got;

	(void)state;
	assert_int_equal(mac_rar_encode(p, sizeof(p), &meaning), sizeof(golden));
	assert_memory_equal(p, golden, sizeof(golden));
	assert_int_equal(mac_rar_decode(golden, sizeof(golden), SI, &got), sizeof(golden));
	assert_true(got.has_bi);
	assert_int_equal(got.bi, 5);
	assert_int_equal(got.nb, 2);
	assert_true(got.rar[0].si);
	assert_int_equal(got.rar[0].rapid, 63);
	assert_false(got.rar[1].si);
	assert_int_equal(got.rar[1].rapid, 17);
	assert_int_equal(got.rar[1].tac, 0x123);
	assert_int_equal(got.rar[1].ul_grant, 0x2ABCDEF);
	assert_int_equal(got.rar[1].tc_rnti, 0x4601);
}

static void
rar_bounds(void **state)
{
	struct mac_rar_pdu got, bad = meaning;
	uint8_t p[128];

	(void)state;
	for (size_t n = 0; n < sizeof(golden); n++) {
		assert_int_equal(mac_rar_decode(golden, n, SI, &got), -CODEC_SHORT);
		assert_int_equal(mac_rar_encode(p, n, &meaning), -CODEC_SHORT);
	}
	/* Without the SI request RAPID 63 has a MAC RAR, and a BI seems to follow. */
	assert_int_equal(mac_rar_decode(golden, sizeof(golden), 0, &got), -CODEC_CONTRADICTION);
	bad.rar[1].ul_grant = MAC_RAR_GRANT_MAX + 1;
	assert_int_equal(mac_rar_encode(p, sizeof(p), &bad), -CODEC_CONTRADICTION);
	/* "MAC subPDU(s) with Backoff Indicator only is placed at the beginning" */
	assert_int_equal(mac_rar_decode((const uint8_t[]){0xC1, 0x05}, 2, 2, &got),
			 -CODEC_CONTRADICTION);
	memset(p, 0xC1, sizeof(p));
	assert_int_equal(mac_rar_decode(p, sizeof(p), 2, &got), -CODEC_UNSUPPORTED);
	/* What follows the last subPDU is padding; R bits are ignored. */
	assert_int_equal(mac_rar_decode((const uint8_t[]){0x35, 0xFF}, 2, 0, &got), 1);
	assert_int_equal(got.bi, 5);
	assert_int_equal(got.nb, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rar_golden),
		cmocka_unit_test(rar_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
