/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/mac.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What was decoded must encode to bytes that decode to the same. */
static void
check_bsr(const uint8_t *p, size_t n, uint8_t lcid)
{
	struct mac_bsr b, again;
	uint8_t out[MAC_BSR_BYTES_MAX];

	if (mac_bsr_decode(p, n, lcid, &b) < 0)
		return;
	if (mac_bsr_encode(out, sizeof(out), &b) != (int)n || memcmp(out, p, n))
		abort();
	if (mac_bsr_decode(out, n, lcid, &again) != (int)n || memcmp(&b, &again, sizeof(b)))
		abort();
}

static void
walk(const uint8_t *p, size_t n, enum mac_sch sch)
{
	while (n) {
		struct mac_subheader h, again;
		uint8_t out[MAC_SUBHEADER_MAX];
		int len = mac_subheader_decode(p, n, sch, &h);

		if (len < 0 || h.kind == MAC_KIND_PADDING || h.bytes > n - (size_t)len)
			return;
		if (mac_subheader_encode(out, sizeof(out), sch, h.index, h.bytes) < 0 ||
		    mac_subheader_decode(out, sizeof(out), sch, &again) < 0 ||
		    again.index != h.index || again.bytes != h.bytes)
			abort();
		p += len;
		n -= (size_t)len;
		if (sch == MAC_UL_SCH && h.index >= MAC_UL_SHORT_TRUNCATED_BSR &&
		    h.index <= MAC_UL_LONG_BSR)
			check_bsr(p, h.bytes, (uint8_t)h.index);
		p += h.bytes;
		n -= h.bytes;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk(data, size, MAC_UL_SCH);
	walk(data, size, MAC_DL_SCH);
	return 0;
}
