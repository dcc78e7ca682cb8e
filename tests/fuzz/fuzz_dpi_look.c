/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include "modules/dpi/dpi_look.h"
#include "tests/fuzz/fuzz_dpi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * A flow's packets, each behind a header of four octets: what it is, where in the stream, and how
 * long. The verdict comes after DPI_SCAN_PACKETS at the latest.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dpi_scan *scan;
	size_t at = 1, packets = 0;
	enum dpi_verdict v = DPI_MORE;

	if (size == 0)
		return 0;
	if (scan == NULL) {
		scan = malloc(dpi_scan_bytes());
		if (scan == NULL || dpi_look_init() != 0)
			abort();
	}
	dpi_scan_begin(scan, data[0] & 1 ? IPPROTO_TCP : IPPROTO_UDP, data[0] & 2 ? 53 : 443);
	while (v == DPI_MORE && size - at >= 4) {
		const uint8_t *h = data + at;
		struct dpi_segment g = {.data = h + 4,
					.len = h[3],
					.seq = (uint32_t)(h[1] << 8 | h[2]) - 16,
					.syn = h[0] & 1,
					.from_ue = !(h[0] & 2)};
		struct dpi_name n;

		at += 4;
		if (g.len > size - at)
			g.len = (uint32_t)(size - at);
		at += g.len;
		v = dpi_look(scan, &g, &n);
		fuzz_dpi_check(v, &n);
		packets++;
	}
	if (packets > DPI_SCAN_PACKETS || (packets == DPI_SCAN_PACKETS && v == DPI_MORE))
		abort();
	return 0;
}
