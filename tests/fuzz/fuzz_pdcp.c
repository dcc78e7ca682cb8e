/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/pdcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
one_format(enum pdcp_format f, const uint8_t *data, size_t size)
{
	struct pdcp_hdr h, again;
	uint8_t p[PDCP_HDR_MAX + 1] = {0};
	int ret = pdcp_decode(f, data, size, &h);

	if (ret <= 0)
		return;
	if ((size_t)ret > size)
		abort();
	if (h.control)
		return;
	pdcp_hdr_put(f, p, h.sn);
	if (pdcp_decode(f, p, sizeof(p), &again) != ret || again.sn != h.sn || again.control)
		abort();
}

/** Headers survive a round trip in all formats, and so do status reports. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[PDCP_CONTROL_MAX];
	struct pdcp_status s;
	int ret;

	one_format(PDCP_SRB, data, size);
	one_format(PDCP_DRB_12, data, size);
	one_format(PDCP_DRB_18, data, size);
	ret = pdcp_status_decode(data, size, &s);
	if (ret > 0) {
		for (uint32_t i = 0; i < 64; i++)
			pdcp_status_received(&s, s.fmc + i * 1201);
		if (pdcp_status_encode(out, sizeof(out), &s) != ret ||
		    memcmp(out + 1, data + 1, (size_t)ret - 1) != 0)
			abort();
	}
	return 0;
}
