/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/nfapi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A header that decodes is bounded by its input and survives a round trip. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t p[NFAPI_P7_LEN];
	struct nfapi_p7 h;

	if (nfapi_p7_decode(data, size, size, &h) < 0)
		return 0;
	if (h.length > size || h.length < NFAPI_P7_LEN)
		abort();
	nfapi_p7_put(p, &h);
	if (memcmp(p, data, NFAPI_P7_LEN) != 0)
		abort();
	if (nfapi_crc32c(nfapi_crc32c(0, data, size / 2), data + size / 2, size - size / 2) !=
	    nfapi_crc32c(0, data, size))
		abort();
	return 0;
}
