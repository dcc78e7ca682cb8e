/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RLC decoders on any bytes. What decodes must encode to the same fields again, and a
 * STATUS PDU rebuilt from its NACKs must say the same within any limit.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/rlc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
fuzz_umd(const uint8_t *data, size_t size, enum rlc_sn_len bits)
{
	struct rlc_umd h, again;
	uint8_t buf[RLC_UMD_HEADER_MAX];
	int len = rlc_umd_decode(data, size, bits, &h);

	if (len < 0)
		return;
	check((size_t)len <= size);
	check(rlc_umd_encode(buf, sizeof(buf), bits, &h) == len);
	check(rlc_umd_decode(buf, (size_t)len, bits, &again) == len);
	check(again.si == h.si && again.sn == h.sn && again.so == h.so);
}

static void
fuzz_amd(const uint8_t *data, size_t size, enum rlc_sn_len bits)
{
	struct rlc_amd h, again;
	uint8_t buf[RLC_AMD_HEADER_MAX];
	int len = rlc_amd_decode(data, size, bits, &h);

	if (len < 0)
		return;
	check((size_t)len <= size);
	check(rlc_amd_encode(buf, sizeof(buf), bits, &h) == len);
	check(rlc_amd_decode(buf, (size_t)len, bits, &again) == len);
	check(again.p == h.p && again.si == h.si && again.sn == h.sn && again.so == h.so);
}

static bool
same(const struct rlc_nack *a, const struct rlc_nack *b)
{
	return a->sn == b->sn && a->has_so == b->has_so && a->so_start == b->so_start &&
	       a->so_end == b->so_end && a->range == b->range;
}

static void
fuzz_status(const uint8_t *data, size_t size, enum rlc_sn_len bits, size_t cap)
{
	struct rlc_status_iter it, again;
	struct rlc_status_builder b;
	struct rlc_nack nack, other;
	uint8_t buf[256];
	size_t len;

	if (rlc_status_open(&it, data, size, bits) < 0)
		return;
	if (rlc_status_start(&b, buf, cap, bits) < 0)
		return;
	while (rlc_status_next(&it, &nack) > 0) {
		check(it.offset <= size);
		rlc_status_add(&b, &nack);
	}
	len = rlc_status_finish(&b, it.ack_sn);
	check(len <= cap);

	rlc_status_open(&it, data, size, bits);
	check(rlc_status_open(&again, buf, len, bits) == RLC_STATUS_HEADER_LEN);
	while (rlc_status_next(&again, &other) > 0) {
		check(rlc_status_next(&it, &nack) > 0);
		check(same(&nack, &other));
	}
	check(again.offset == len && !again.more);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t cap;

	if (size < 1)
		return 0;
	cap = data[0];
	data++;
	size--;
	fuzz_umd(data, size, RLC_SN_6);
	fuzz_umd(data, size, RLC_SN_12);
	fuzz_amd(data, size, RLC_SN_12);
	fuzz_amd(data, size, RLC_SN_18);
	fuzz_status(data, size, RLC_SN_12, cap);
	fuzz_status(data, size, RLC_SN_18, cap);
	return 0;
}
