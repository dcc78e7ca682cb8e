/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "codec/rlc.h"

static void
umd_golden(void **state)
{
	static const struct {
		enum rlc_sn_len bits;
		struct rlc_umd h;
		uint8_t bytes[4];
		int len;
	} cases[] = {
		{RLC_SN_6, {RLC_SI_COMPLETE, 0, 0}, {0x00}, 1},
		{RLC_SN_12, {RLC_SI_COMPLETE, 0, 0}, {0x00}, 1},
		{RLC_SN_6, {RLC_SI_FIRST, 0x2a, 0}, {0x6a}, 1},
		{RLC_SN_6, {RLC_SI_LAST, 63, 0x1234}, {0xbf, 0x12, 0x34}, 3},
		{RLC_SN_6, {RLC_SI_MIDDLE, 1, 1}, {0xc1, 0x00, 0x01}, 3},
		{RLC_SN_12, {RLC_SI_FIRST, 0xabc, 0}, {0x4a, 0xbc}, 2},
		{RLC_SN_12, {RLC_SI_LAST, 0x0ff, 0xffff}, {0x80, 0xff, 0xff, 0xff}, 4},
		{RLC_SN_12, {RLC_SI_MIDDLE, 0xfff, 0x0100}, {0xcf, 0xff, 0x01, 0x00}, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rlc_umd h;
		uint8_t buf[4] = {0};

		assert_int_equal(rlc_umd_encode(buf, 4, cases[i].bits, &cases[i].h), cases[i].len);
		assert_memory_equal(buf, cases[i].bytes, 4);
		assert_int_equal(rlc_umd_decode(buf, 4, cases[i].bits, &h), cases[i].len);
		assert_int_equal(h.si, cases[i].h.si);
		assert_int_equal(h.sn, cases[i].h.sn);
		assert_int_equal(h.so, cases[i].h.so);
		for (int cut = 0; cut < cases[i].len; cut++) {
			assert_int_equal(rlc_umd_encode(buf, cut, cases[i].bits, &cases[i].h),
					 -CODEC_SHORT);
			assert_int_equal(rlc_umd_decode(buf, cut, cases[i].bits, &h), -CODEC_SHORT);
		}
	}
}

static void
umd_reserved_bits_are_ignored(void **state)
{
	static const uint8_t complete[] = {0x3f};
	static const uint8_t first12[] = {0x7a, 0xbc};
	struct rlc_umd h;

	(void)state;
	assert_true(rlc_umd_is_complete(complete[0]));
	assert_int_equal(rlc_umd_decode(complete, 1, RLC_SN_12, &h), 1);
	assert_int_equal(h.si, RLC_SI_COMPLETE);
	assert_int_equal(h.sn, 0);
	assert_int_equal(rlc_umd_decode(first12, 2, RLC_SN_12, &h), 2);
	assert_int_equal(h.sn, 0xabc);
}

static void
segment_offset_zero_is_impossible(void **state)
{
	static const uint8_t last6[] = {0x81, 0, 0};
	static const uint8_t middle12[] = {0xc0, 0x01, 0, 0};
	static const uint8_t am_last12[] = {0xe0, 0x01, 0, 0};
	struct rlc_umd u;
	struct rlc_amd a;

	(void)state;
	assert_int_equal(rlc_umd_decode(last6, 3, RLC_SN_6, &u), -CODEC_CONTRADICTION);
	assert_int_equal(rlc_umd_decode(middle12, 4, RLC_SN_12, &u), -CODEC_CONTRADICTION);
	assert_int_equal(rlc_amd_decode(am_last12, 4, RLC_SN_12, &a), -CODEC_CONTRADICTION);
	assert_true(a.p);
}

static void
amd_golden(void **state)
{
	static const struct {
		enum rlc_sn_len bits;
		struct rlc_amd h;
		uint8_t bytes[5];
		int len;
	} cases[] = {
		{RLC_SN_12, {false, RLC_SI_COMPLETE, 0, 0}, {0x80, 0x00}, 2},
		{RLC_SN_12, {true, RLC_SI_COMPLETE, 0xfed, 0}, {0xcf, 0xed}, 2},
		{RLC_SN_12, {false, RLC_SI_FIRST, 0x123, 0}, {0x91, 0x23}, 2},
		{RLC_SN_12, {true, RLC_SI_LAST, 0x001, 0x0203}, {0xe0, 0x01, 0x02, 0x03}, 4},
		{RLC_SN_12, {false, RLC_SI_MIDDLE, 0xfff, 0xffff}, {0xbf, 0xff, 0xff, 0xff}, 4},
		{RLC_SN_18, {true, RLC_SI_COMPLETE, 0x3fffe, 0}, {0xc3, 0xff, 0xfe}, 3},
		{RLC_SN_18, {false, RLC_SI_FIRST, 0x10203, 0}, {0x91, 0x02, 0x03}, 3},
		{RLC_SN_18, {false, RLC_SI_MIDDLE, 1, 0x0a0b}, {0xb0, 0x00, 0x01, 0x0a, 0x0b}, 5},
		{RLC_SN_18, {true, RLC_SI_LAST, 2, 9}, {0xe0, 0x00, 0x02, 0x00, 0x09}, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rlc_amd h;
		uint8_t buf[5] = {0};

		assert_int_equal(rlc_amd_encode(buf, 5, cases[i].bits, &cases[i].h), cases[i].len);
		assert_memory_equal(buf, cases[i].bytes, 5);
		assert_int_equal(rlc_amd_decode(buf, 5, cases[i].bits, &h), cases[i].len);
		assert_int_equal(h.p, cases[i].h.p);
		assert_int_equal(h.si, cases[i].h.si);
		assert_int_equal(h.sn, cases[i].h.sn);
		assert_int_equal(h.so, cases[i].h.so);
		for (int cut = 0; cut < cases[i].len; cut++) {
			assert_int_equal(rlc_amd_encode(buf, cut, cases[i].bits, &cases[i].h),
					 -CODEC_SHORT);
			assert_int_equal(rlc_amd_decode(cases[i].bytes, cut, cases[i].bits, &h),
					 -CODEC_SHORT);
		}
	}
}

static void
amd_reserved_and_control(void **state)
{
	static const uint8_t am18[] = {0x8e, 0x00, 0x07}; /* both R bits set */
	static const uint8_t control[] = {0x0f, 0xff, 0x00};
	struct rlc_amd h;

	(void)state;
	assert_int_equal(rlc_amd_decode(am18, 3, RLC_SN_18, &h), 3);
	assert_int_equal(h.sn, 0x20007);
	assert_true(rlc_am_is_control(control[0]));
	assert_int_equal(rlc_amd_decode(control, 3, RLC_SN_12, &h), -CODEC_UNSUPPORTED);
}

static const struct rlc_nack nacks[] = {
	{.sn = 0x005, .range = 1},
	{.sn = 0x007, .has_so = true, .so_start = 0x0102, .so_end = RLC_STATUS_SO_END, .range = 1},
	{.sn = 0x009, .range = 3},
	{.sn = 0x010, .has_so = true, .so_start = 0x20, .so_end = 0x30, .range = 2},
};

static size_t
build(uint8_t *buf, size_t cap, enum rlc_sn_len bits, uint32_t ack_sn)
{
	struct rlc_status_builder b;

	assert_int_equal(rlc_status_start(&b, buf, cap, bits), 0);
	for (size_t i = 0; i < 4; i++)
		rlc_status_add(&b, &nacks[i]);
	return rlc_status_finish(&b, ack_sn);
}

static const uint8_t status12[] = {
	0x01, 0x23, 0x80,                         /* ACK_SN 0x123, E1 */
	0x00, 0x58,                               /* NACK 5, E1 */
	0x00, 0x7c, 0x01, 0x02, 0xff, 0xff,       /* NACK 7, E1 E2 */
	0x00, 0x9a, 0x03,                         /* NACK 9, E1 E3 */
	0x01, 0x06, 0x00, 0x20, 0x00, 0x30, 0x02, /* NACK 16, E2 E3 */
};
static const uint8_t status18[] = {
	0x00, 0x04, 0x8e,                               /* ACK_SN 0x123, E1 */
	0x00, 0x01, 0x60,                               /* NACK 5 */
	0x00, 0x01, 0xf0, 0x01, 0x02, 0xff, 0xff,       /* NACK 7 */
	0x00, 0x02, 0x68, 0x03,                         /* NACK 9 */
	0x00, 0x04, 0x18, 0x00, 0x20, 0x00, 0x30, 0x02, /* NACK 16 */
};

static void
status_golden(void **state)
{
	uint8_t buf[64];

	(void)state;
	assert_int_equal(build(buf, sizeof(buf), RLC_SN_12, 0x123), sizeof(status12));
	assert_memory_equal(buf, status12, sizeof(status12));
	assert_int_equal(build(buf, sizeof(buf), RLC_SN_18, 0x123), sizeof(status18));
	assert_memory_equal(buf, status18, sizeof(status18));
}

static void
parse_and_compare(const uint8_t *buf, size_t len, enum rlc_sn_len bits, size_t count)
{
	struct rlc_status_iter it;
	struct rlc_nack nack;

	assert_int_equal(rlc_status_open(&it, buf, len, bits), 3);
	for (size_t i = 0; i < count; i++) {
		assert_true(rlc_status_next(&it, &nack) > 0);
		assert_int_equal(nack.sn, nacks[i].sn);
		assert_int_equal(nack.has_so, nacks[i].has_so);
		assert_int_equal(nack.so_start, nacks[i].so_start);
		assert_int_equal(nack.so_end, nacks[i].so_end);
		assert_int_equal(nack.range, nacks[i].range);
	}
	assert_int_equal(rlc_status_next(&it, &nack), 0);
	assert_int_equal(it.offset, len);
}

static void
status_parses(void **state)
{
	(void)state;
	parse_and_compare(status12, sizeof(status12), RLC_SN_12, 4);
	parse_and_compare(status18, sizeof(status18), RLC_SN_18, 4);
}

/* At every limit the PDU is whole, within it, and ACK_SN is the first SN that it leaves out. */
static void
status_trims_at_every_limit(void **state)
{
	static const uint32_t left_out[] = {0x005, 0x007, 0x009, 0x010, 0x123};

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		enum rlc_sn_len bits = wide ? RLC_SN_18 : RLC_SN_12;
		size_t ends12[] = {3, 5, 11, 14, 21}, ends18[] = {3, 6, 13, 17, 25};
		size_t *ends = wide ? ends18 : ends12;
		size_t count = 0;

		for (size_t cap = 3; cap <= 30; cap++) {
			struct rlc_status_iter it;
			uint8_t buf[64];
			size_t len = build(buf, cap, bits, 0x123);

			while (count < 4 && cap >= ends[count + 1])
				count++;
			assert_int_equal(len, ends[count]);
			assert_int_equal(rlc_status_open(&it, buf, len, bits), 3);
			assert_int_equal(it.ack_sn, left_out[count]);
			parse_and_compare(buf, len, bits, count);
		}
	}
}

/* Two NACKs of one SN: when the second does not fit, the first must go as well. */
static void
status_trim_drops_all_of_an_sn(void **state)
{
	static const struct rlc_nack whole = {.sn = 0xfff, .range = 1};
	static const struct rlc_nack range = {
		.sn = 2, .has_so = true, .so_start = 8, .so_end = 99, .range = 2};
	static const struct rlc_nack tail = {
		.sn = 3, .has_so = true, .so_start = 200, .so_end = 300, .range = 1};
	static const uint8_t expect[] = {0x00, 0x02, 0x80, 0xff, 0xf0};
	struct rlc_status_builder b;
	uint8_t buf[32];

	(void)state;
	assert_int_equal(rlc_status_start(&b, buf, 3 + 2 + 7 + 5, RLC_SN_12), 0);
	assert_true(rlc_status_add(&b, &whole));
	assert_true(rlc_status_add(&b, &range));
	assert_false(rlc_status_add(&b, &tail));
	assert_false(rlc_status_add(&b, &whole));
	assert_int_equal(rlc_status_finish(&b, 9), sizeof(expect));
	assert_memory_equal(buf, expect, sizeof(expect));
	assert_int_equal(rlc_status_start(&b, buf, 2, RLC_SN_12), -CODEC_SHORT);
}

static void
status_refuses_bad_bytes(void **state)
{
	static const uint8_t data[] = {0x80, 0, 0};
	static const uint8_t cpt[] = {0x10, 0, 0};
	static const uint8_t range0[] = {0x00, 0x05, 0x80, 0x00, 0x12, 0x00};
	static const uint8_t reversed[] = {0x00, 0x05, 0x80, 0x00, 0x14, 0, 9, 0, 8};
	static const uint8_t reserved[] = {0x00, 0x05, 0xff, 0x00, 0x11};
	struct rlc_status_iter it;
	struct rlc_nack nack;

	(void)state;
	assert_int_equal(rlc_status_open(&it, data, 3, RLC_SN_12), -CODEC_UNSUPPORTED);
	assert_int_equal(rlc_status_open(&it, cpt, 3, RLC_SN_12), -CODEC_RESERVED);
	assert_int_equal(rlc_status_open(&it, cpt, 2, RLC_SN_12), -CODEC_SHORT);
	rlc_status_open(&it, range0, sizeof(range0), RLC_SN_12);
	assert_int_equal(rlc_status_next(&it, &nack), -CODEC_CONTRADICTION);
	rlc_status_open(&it, reversed, sizeof(reversed), RLC_SN_12);
	assert_int_equal(rlc_status_next(&it, &nack), -CODEC_CONTRADICTION);
	rlc_status_open(&it, reserved, sizeof(reserved), RLC_SN_12);
	assert_int_equal(rlc_status_next(&it, &nack), 2);
	assert_int_equal(nack.sn, 1);
	assert_int_equal(rlc_status_next(&it, &nack), 0);
}

/* Cut anywhere, a STATUS PDU gives a proper prefix and then "short", never bytes beyond its end. */
static void
status_cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 3; len < sizeof(status18); len++) {
		struct rlc_status_iter it;
		struct rlc_nack nack;
		int ret;

		assert_int_equal(rlc_status_open(&it, status18, len, RLC_SN_18), 3);
		while ((ret = rlc_status_next(&it, &nack)) > 0)
			assert_true(it.offset <= len);
		assert_int_equal(ret, -CODEC_SHORT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(umd_golden),
		cmocka_unit_test(umd_reserved_bits_are_ignored),
		cmocka_unit_test(segment_offset_zero_is_impossible),
		cmocka_unit_test(amd_golden),
		cmocka_unit_test(amd_reserved_and_control),
		cmocka_unit_test(status_golden),
		cmocka_unit_test(status_parses),
		cmocka_unit_test(status_trims_at_every_limit),
		cmocka_unit_test(status_trim_drops_all_of_an_sn),
		cmocka_unit_test(status_refuses_bad_bytes),
		cmocka_unit_test(status_cut_anywhere),
	};

	return cmocka_run_group_tests_name("codec_rlc", tests, NULL, NULL);
}
