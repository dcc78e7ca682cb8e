/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/psc.h"

static void
both_ways(const struct psc *f, const uint8_t *golden, int bytes, int understood)
{
	uint8_t p[PSC_BYTES_MAX];
	struct psc got;

	assert_int_equal(psc_encode(p, sizeof(p), f), bytes);
	assert_memory_equal(p, golden, bytes);
	assert_int_equal(psc_decode(golden, (size_t)bytes, &got), understood);
	assert_int_equal(psc_encode(p, sizeof(p), &got), bytes);
	assert_memory_equal(p, golden, bytes);
	for (int n = 0; n < bytes; n++)
		assert_int_equal(psc_encode(p, (size_t)n, f), -CODEC_SHORT);
	for (int n = 0; n < understood; n++)
		assert_int_equal(psc_decode(golden, (size_t)n, &got), -CODEC_SHORT);
}

static void
dl_golden(void **state)
{
	const struct psc plain = {.type = PSC_DL, .qfi = 9, .rqi = true};
	const struct psc all = {.type = PSC_DL,
				.qfi = 5,
				.qmp = true,
				.snp = true,
				.msnp = true,
				.ppp = true,
				.ppi = 6,
				.dl_sending_ts = 0x0102030405060708,
				.sn = 0xABCDEF,
				.mbs_sn = 0x11223344};

	(void)state;
	both_ways(&plain, (const uint8_t[]){0x00, 0x49}, 2, 2);
	both_ways(&all,
		  (const uint8_t[]){0x0E, 0x85, 0xC0, 1, 2, 3, 4, 5, 6, 7, 8, 0xAB, 0xCD, 0xEF,
				    0x11, 0x22, 0x33, 0x44},
		  18, 18);
}

static void
ul_golden(void **state)
{
	const struct psc plain = {.type = PSC_UL, .qfi = 63};
	const struct psc delays = {.type = PSC_UL,
				   .qfi = 7,
				   .has_dl_delay = true,
				   .dl_delay = 4,
				   .has_ul_delay = true,
				   .ul_delay = 5,
				   .snp = true,
				   .sn = 6,
				   .has_n3_n9_delay = true,
				   .n3_n9_delay = 7,
				   .has_d1 = true,
				   .d1 = true};
	const struct psc monitored = {.type = PSC_UL,
				      .qfi = 1,
				      .qmp = true,
				      .dl_sending_ts = 1,
				      .dl_received_ts = 2,
				      .ul_sending_ts = 3};

	(void)state;
	both_ways(&plain, (const uint8_t[]){0x10, 0x3F}, 2, 2);
	both_ways(&delays, (const uint8_t[]){0x17, 0xC7, 0, 0, 0, 4, 0, 0, 0, 5, 0,
					     0,    6,    0, 0, 0, 7, 1, 1, 0, 0, 0},
		  22, 19);
	both_ways(&monitored, (const uint8_t[]){0x18, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
						0,    0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3},
		  26, 26);
}

static void
later_releases_are_skipped(void **state)
{
	struct psc f;

	(void)state;
	/* UL: New IE Flags 0, 3 and 7, another octet of them, D1 and what belongs to the others. */
	assert_int_equal(
		psc_decode((const uint8_t[]){0x10, 0x47, 0x89, 1, 1, 0xAA, 0xBB, 0xCC, 0, 0}, 10,
			   &f),
		5);
	assert_true(f.has_d1 && f.d1);
	/* UL: New IE Flag 1 alone. */
	assert_int_equal(psc_decode((const uint8_t[]){0x10, 0x47, 2, 0x25, 0x66, 0}, 6, &f), 3);
	assert_false(f.has_d1);
	/* Flags that never end. */
	assert_int_equal(psc_decode((const uint8_t[]){0x10, 0x47, 0x80, 0x80, 0x80, 0x80}, 6, &f),
			 -CODEC_SHORT);
	/* DL: spare bits, and octets behind the PPI. */
	assert_int_equal(psc_decode((const uint8_t[]){0x01, 0x89, 0xBF, 1, 2, 3}, 6, &f), 3);
	assert_int_equal(f.ppi, 5);
	assert_int_equal(f.qfi, 9);
	assert_int_equal(psc_decode((const uint8_t[]){0x20, 0}, 2, &f), -CODEC_RESERVED);
}

static void
values_out_of_range(void **state)
{
	uint8_t p[PSC_BYTES_MAX];

	(void)state;
	assert_int_equal(psc_encode(p, sizeof(p), &(struct psc){.qfi = 64}), -CODEC_CONTRADICTION);
	assert_int_equal(psc_encode(p, sizeof(p), &(struct psc){.sn = PSC_SN_MAX + 1}),
			 -CODEC_CONTRADICTION);
	assert_int_equal(psc_encode(p, sizeof(p), &(struct psc){.ppi = 8}), -CODEC_CONTRADICTION);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dl_golden),
		cmocka_unit_test(ul_golden),
		cmocka_unit_test(later_releases_are_skipped),
		cmocka_unit_test(values_out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
