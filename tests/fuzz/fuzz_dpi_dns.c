/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_dpi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The verdict on a part is that on the whole, or to wait for more. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t host[DPI_HOST_MAX];
	struct dpi_name n;

	fuzz_dpi_parts(dpi_dns_tcp, data, size);
	fuzz_dpi_check(dpi_dns(data, (uint32_t)size, host, &n), &n);
	return 0;
}
