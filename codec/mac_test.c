/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "codec/mac.h"

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__})

static void
sdu_subheader_golden(void **state)
{
	uint8_t p[MAC_SUBHEADER_MAX];

	(void)state;
	assert_int_equal(mac_subheader_put(p, 4, 100), 2);
	assert_memory_equal(p, BYTES(0x04, 0x64), 2);
	assert_int_equal(mac_subheader_put(p, 32, 255), 2);
	assert_memory_equal(p, BYTES(0x20, 0xff), 2);
	assert_int_equal(mac_subheader_put(p, 4, 256), 3);
	assert_memory_equal(p, BYTES(0x44, 0x01, 0x00), 3);
	assert_int_equal(mac_subheader_len(255), 2);
	assert_int_equal(mac_subheader_len(256), 3);
}

static void
elcid_golden(void **state)
{
	struct mac_subheader h;
	uint8_t p[MAC_SUBHEADER_MAX];

	(void)state;
	assert_int_equal(mac_subheader_encode(p, 5, MAC_UL_SCH, 320 + 0x1234, 300), 5);
	assert_memory_equal(p, BYTES(0x61, 0x12, 0x34, 0x01, 0x2c), 5);
	assert_int_equal(mac_subheader_decode(p, 5, MAC_UL_SCH, &h), 5);
	assert_int_equal(h.index, 320 + 0x1234);
	assert_int_equal(h.bytes, 300);
	assert_int_equal(h.kind, MAC_KIND_SDU);
	assert_int_equal(mac_subheader_encode(p, 5, MAC_DL_SCH, 64 + 252, 2), 2);
	assert_memory_equal(p, BYTES(0x22, 252), 2);
	assert_int_equal(mac_subheader_encode(p, 5, MAC_UL_SCH, 64 + 250, 7), 3);
	assert_memory_equal(p, BYTES(0x22, 250, 7), 3);
	assert_int_equal(mac_subheader_decode(p, 3, MAC_UL_SCH, &h), 3);
	assert_int_equal(h.kind, MAC_KIND_CE);
	assert_int_equal(mac_subheader_decode(BYTES(0x22, 0), 2, MAC_UL_SCH, &h), -CODEC_RESERVED);
	assert_int_equal(mac_subheader_decode(BYTES(0x22, 0), 2, MAC_DL_SCH, &h), -CODEC_RESERVED);
}

static void
directions_differ(void **state)
{
	struct mac_subheader h;

	(void)state;
	assert_int_equal(mac_subheader_decode(BYTES(0), 1, MAC_UL_SCH, &h), 1);
	assert_int_equal(h.kind, MAC_KIND_SDU);
	assert_int_equal(h.bytes, 8);
	assert_int_equal(mac_subheader_decode(BYTES(0, 20), 2, MAC_DL_SCH, &h), 2);
	assert_int_equal(h.bytes, 20);
	assert_int_equal(mac_subheader_decode(BYTES(52), 1, MAC_UL_SCH, &h), 1);
	assert_int_equal(h.kind, MAC_KIND_SDU);
	assert_int_equal(h.bytes, 6);
	assert_int_equal(mac_subheader_decode(BYTES(52), 1, MAC_DL_SCH, &h), 1);
	assert_int_equal(h.kind, MAC_KIND_CE);
	assert_int_equal(h.bytes, 2);
	assert_int_equal(mac_subheader_decode(BYTES(62), 1, MAC_DL_SCH, &h), 1);
	assert_int_equal(h.bytes, 6);
	assert_int_equal(mac_subheader_decode(BYTES(62, 3), 2, MAC_UL_SCH, &h), 2);
	assert_int_equal(h.bytes, 3);
	assert_int_equal(mac_fixed_bytes(MAC_UL_SCH, 35), 6);
	assert_int_equal(mac_fixed_bytes(MAC_DL_SCH, 35), -CODEC_RESERVED);
}

static void
receiver_is_tolerant(void **state)
{
	struct mac_subheader h;

	(void)state;
	/* F=1 with a length that would fit 8 bits; R bit set. */
	assert_int_equal(mac_subheader_decode(BYTES(0xc5, 0, 9), 3, MAC_DL_SCH, &h), 3);
	assert_int_equal(h.index, 5);
	assert_int_equal(h.bytes, 9);
	assert_int_equal(mac_subheader_decode(BYTES(0x3f), 1, MAC_UL_SCH, &h), 1);
	assert_int_equal(h.kind, MAC_KIND_PADDING);
	assert_int_equal(mac_subheader_decode(BYTES(0xff), 1, MAC_DL_SCH, &h), 1);
	assert_int_equal(h.kind, MAC_KIND_PADDING);
}

static void
short_and_reserved(void **state)
{
	struct mac_subheader h;

	(void)state;
	assert_int_equal(mac_subheader_decode(NULL, 0, MAC_UL_SCH, &h), -CODEC_SHORT);
	assert_int_equal(mac_subheader_decode(BYTES(4), 1, MAC_UL_SCH, &h), -CODEC_SHORT);
	assert_int_equal(mac_subheader_decode(BYTES(0x44, 1), 2, MAC_UL_SCH, &h), -CODEC_SHORT);
	assert_int_equal(mac_subheader_decode(BYTES(0x61, 1), 2, MAC_UL_SCH, &h), -CODEC_SHORT);
	assert_int_equal(mac_subheader_decode(BYTES(0x61, 1, 2, 3), 4, MAC_UL_SCH, &h),
			 -CODEC_SHORT);
	assert_int_equal(mac_subheader_decode(BYTES(0x22), 1, MAC_UL_SCH, &h), -CODEC_SHORT);
	for (uint8_t lcid = 35; lcid <= 46; lcid++)
		assert_int_equal(mac_subheader_decode(&lcid, 1, MAC_DL_SCH, &h), -CODEC_RESERVED);
	for (uint8_t lcid = 37; lcid <= 42; lcid++)
		assert_int_equal(mac_subheader_decode(&lcid, 1, MAC_UL_SCH, &h), -CODEC_RESERVED);
}

/** What the encoder writes the decoder reads, for every index it accepts. */
static void
every_index_round_trips(void **state)
{
	unsigned accepted = 0;

	(void)state;
	for (unsigned sch = MAC_UL_SCH; sch <= MAC_DL_SCH; sch++) {
		for (uint32_t index = 0; index < 320 + 65536 + 2; index++) {
			int fixed = mac_fixed_bytes(sch, index);
			uint32_t bytes = fixed >= 0 ? (uint32_t)fixed : index % 600;
			struct mac_subheader h;
			uint8_t p[MAC_SUBHEADER_MAX];
			int len = mac_subheader_encode(p, sizeof(p), sch, index, bytes);

			assert_int_equal(len < 0, fixed == -CODEC_RESERVED);
			if (len < 0)
				continue;
			accepted++;
			assert_int_equal(mac_subheader_decode(p, (size_t)len, sch, &h), len);
			assert_int_equal(h.index, index);
			assert_int_equal(h.bytes, bytes);
			assert_int_equal(
				mac_subheader_encode(p, (size_t)len - 1, sch, index, bytes),
				-CODEC_SHORT);
			if (fixed >= 0)
				assert_int_equal(mac_subheader_encode(p, 5, sch, index, bytes + 1),
						 -CODEC_CONTRADICTION);
		}
	}
	assert_true(accepted > 2 * 65536);
}

static void
padding_golden(void **state)
{
	uint8_t p[6];

	(void)state;
	memset(p, 0xee, sizeof(p));
	mac_padding_put(p, 0);
	assert_int_equal(p[0], 0xee);
	mac_padding_put(p, 1);
	assert_memory_equal(p, BYTES(0x3f, 0xee), 2);
	mac_padding_put(p, 2);
	assert_memory_equal(p, BYTES(0x3f, 0x00, 0xee), 3);
	mac_padding_put(p, 5);
	assert_memory_equal(p, BYTES(0x3f, 0, 0, 0, 0, 0xee), 6);
}

static void
bsr_golden(void **state)
{
	const struct mac_bsr one = {.lcid = MAC_UL_SHORT_BSR, .nb = 1, .lcg = {5}, .size = {17}};
	const struct mac_bsr many = {
		.lcid = MAC_UL_LONG_BSR, .lcgs = 0x21, .nb = 2, .size = {0x10, 0xfe}};
	const struct mac_bsr cut = {
		.lcid = MAC_UL_LONG_TRUNCATED_BSR, .lcgs = 0x86, .nb = 1, .size = {0x33}};
	struct mac_bsr b;
	uint8_t p[MAC_BSR_BYTES_MAX + 2];
	uint8_t ce[16];

	(void)state;
	assert_int_equal(mac_bsr_encode(p, sizeof(p), &one), 1);
	assert_int_equal(mac_ce_put(ce, 2, MAC_UL_SCH, MAC_UL_SHORT_BSR, p, 1), 2);
	assert_memory_equal(ce, BYTES(0x3d, 0xb1), 2);
	assert_int_equal(mac_bsr_decode(p, 1, MAC_UL_SHORT_BSR, &b), 1);
	assert_int_equal(b.lcg[0], 5);
	assert_int_equal(b.size[0], 17);
	assert_int_equal(b.lcgs, 0x20);

	assert_int_equal(mac_bsr_encode(p, sizeof(p), &many), 3);
	assert_int_equal(mac_ce_put(ce, 5, MAC_UL_SCH, MAC_UL_LONG_BSR, p, 3), 5);
	assert_memory_equal(ce, BYTES(0x3e, 0x03, 0x21, 0x10, 0xfe), 5);
	assert_int_equal(mac_ce_put(ce, 4, MAC_UL_SCH, MAC_UL_LONG_BSR, p, 3), -CODEC_SHORT);
	assert_int_equal(mac_bsr_decode(p, 3, MAC_UL_LONG_BSR, &b), 3);
	assert_int_equal(b.nb, 2);
	assert_int_equal(b.lcg[1], 5);
	assert_int_equal(b.size[1], 0xfe);

	assert_int_equal(mac_bsr_encode(p, sizeof(p), &cut), 2);
	assert_memory_equal(p, BYTES(0x86, 0x33), 2);
	assert_int_equal(mac_bsr_decode(p, 2, MAC_UL_LONG_TRUNCATED_BSR, &b), 2);
	assert_int_equal(b.nb, 1);
	assert_int_equal(b.lcgs, 0x86);
}

static void
bsr_malformed(void **state)
{
	const struct mac_bsr contradicting = {.lcid = MAC_UL_LONG_BSR, .lcgs = 3, .nb = 1};
	struct mac_bsr b;
	uint8_t p[4];

	(void)state;
	assert_int_equal(mac_bsr_encode(p, 4, &contradicting), -CODEC_CONTRADICTION);
	assert_int_equal(mac_bsr_decode(p, 0, MAC_UL_LONG_BSR, &b), -CODEC_SHORT);
	assert_int_equal(mac_bsr_decode(BYTES(3, 1), 2, MAC_UL_LONG_BSR, &b), -CODEC_SHORT);
	assert_int_equal(mac_bsr_decode(BYTES(1, 1, 1), 3, MAC_UL_LONG_BSR, &b),
			 -CODEC_CONTRADICTION);
	assert_int_equal(mac_bsr_decode(BYTES(1, 1), 2, MAC_UL_SHORT_BSR, &b),
			 -CODEC_CONTRADICTION);
}

static void
bsr_tables(void **state)
{
	(void)state;
	assert_int_equal(mac_bsr_index5(0), 0);
	assert_int_equal(mac_bsr_index5(1), 1);
	assert_int_equal(mac_bsr_index5(10), 1);
	assert_int_equal(mac_bsr_index5(11), 2);
	assert_int_equal(mac_bsr_index5(150000), 30);
	assert_int_equal(mac_bsr_index5(150001), 31);
	assert_int_equal(mac_bsr_index8(0), 0);
	assert_int_equal(mac_bsr_index8(20), 11);
	assert_int_equal(mac_bsr_index8(21), 12);
	assert_int_equal(mac_bsr_index8(81338368), 253);
	assert_int_equal(mac_bsr_index8(UINT64_MAX), 254);
	for (unsigned i = 0; i < 31; i++)
		assert_int_equal(mac_bsr_index5(mac_bsr_bytes5((uint8_t)i)), i);
	for (unsigned i = 0; i < 254; i++)
		assert_int_equal(mac_bsr_index8(mac_bsr_bytes8((uint8_t)i)), i);
	assert_int_equal(mac_bsr_bytes8(254), UINT32_MAX);
	assert_int_equal(mac_bsr_bytes8(255), 0);
}

static void
other_ces_golden(void **state)
{
	const struct mac_phr phr = {.p = true, .ph = 40, .mpe = 2, .pcmax = 33};
	const struct mac_ta ta = {.tag = 1, .ta = 31};
	const struct mac_bit_rate rate = {.lcid = 4, .uplink = true, .rate = 45, .x = true};
	struct mac_phr phr2;
	struct mac_ta ta2;
	struct mac_bit_rate rate2;
	uint8_t p[8], ce[8];

	(void)state;
	mac_phr_encode(p, &phr);
	assert_memory_equal(p, BYTES(0xa8, 0xa1), 2);
	mac_phr_decode(p, &phr2);
	assert_memory_equal(&phr, &phr2, sizeof(phr));
	mac_ta_encode(p, &ta);
	assert_int_equal(mac_ce_put(ce, 8, MAC_DL_SCH, MAC_DL_TA_COMMAND, p, 1), 2);
	assert_memory_equal(ce, BYTES(0x3d, 0x5f), 2);
	mac_ta_decode(p, &ta2);
	assert_int_equal(ta2.tag, 1);
	assert_int_equal(ta2.ta, 31);
	mac_c_rnti_encode(p, 0x4601);
	assert_int_equal(mac_ce_put(ce, 8, MAC_UL_SCH, MAC_UL_C_RNTI, p, 2), 3);
	assert_memory_equal(ce, BYTES(0x3a, 0x46, 0x01), 3);
	assert_int_equal(mac_c_rnti_decode(p), 0x4601);
	mac_contention_encode(p, 0x112233445566);
	assert_memory_equal(p, BYTES(0x11, 0x22, 0x33, 0x44, 0x55, 0x66), 6);
	assert_true(mac_contention_decode(p) == 0x112233445566);
	mac_scell_encode(p, 4, 0x80000103);
	assert_memory_equal(p, BYTES(0x02, 0x01, 0x00, 0x80), 4);
	assert_int_equal(mac_scell_decode(p, 4), 0x80000102);
	mac_scell_encode(p, 1, 0x06);
	assert_int_equal(p[0], 6);
	mac_bit_rate_encode(p, &rate);
	assert_memory_equal(p, BYTES(0x13, 0x6c), 2);
	mac_bit_rate_decode(p, &rate2);
	assert_memory_equal(&rate, &rate2, sizeof(rate));
	assert_int_equal(mac_ce_put(ce, 8, MAC_DL_SCH, MAC_DL_DRX_COMMAND, NULL, 0), 1);
	assert_int_equal(ce[0], 0x3c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sdu_subheader_golden), cmocka_unit_test(elcid_golden),
		cmocka_unit_test(directions_differ),    cmocka_unit_test(receiver_is_tolerant),
		cmocka_unit_test(short_and_reserved),   cmocka_unit_test(every_index_round_trips),
		cmocka_unit_test(padding_golden),       cmocka_unit_test(bsr_golden),
		cmocka_unit_test(bsr_malformed),        cmocka_unit_test(bsr_tables),
		cmocka_unit_test(other_ces_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
