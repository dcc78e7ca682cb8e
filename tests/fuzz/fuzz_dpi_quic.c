/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include "modules/dpi/dpi_look.h"
#include "tests/fuzz/fuzz_dpi.h"
#include "tests/support/test_dpi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dpi_scan *scan;

static enum dpi_verdict
look(const uint8_t *data, size_t size)
{
	const struct dpi_segment g = {.data = data, .len = (uint32_t)size, .from_ue = true};
	struct dpi_name n;
	enum dpi_verdict v = dpi_look(scan, &g, &n);

	fuzz_dpi_check(v, &n);
	return v;
}

/** Octets as datagrams, and as what authentic Initials carry: two of them, cut by the first octet.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t cid[8];
	static uint8_t d[2 * DPI_QUIC_INITIAL_MAX];
	uint32_t cut, n;

	if (scan == NULL) {
		scan = malloc(dpi_scan_bytes());
		if (scan == NULL || dpi_look_init() != 0)
			abort();
	}
	dpi_scan_begin(scan, IPPROTO_UDP, 443, 0, 0);
	look(data, size);
	if (size < 8 || size > DPI_QUIC_INITIAL_MAX - 100)
		return 0;
	dpi_scan_begin(scan, IPPROTO_UDP, 443, 0, 0);
	cut = 4 + (uint32_t)(size - 8) * data[0] / 256;
	n = test_initial(data[0] & 1 ? DPI_QUIC_V2 : DPI_QUIC_V1, cid, cid, 8, 0, data + 1, cut, d);
	if (look(d, n) != DPI_MORE)
		return 0;
	n = test_initial(data[0] & 1 ? DPI_QUIC_V2 : DPI_QUIC_V1, cid, cid, 8, 1, data + 1 + cut,
			 (uint32_t)size - 1 - cut, d);
	look(d, n);
	return 0;
}
