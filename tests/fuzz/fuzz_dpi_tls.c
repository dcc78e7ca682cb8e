/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_dpi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The verdict on a part is that on the whole, or to wait for more. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_dpi_parts(dpi_tls, data, size);
	fuzz_dpi_parts(dpi_tls_hello, data, size);
	return 0;
}
