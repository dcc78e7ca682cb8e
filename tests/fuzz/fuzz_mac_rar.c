/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/mac_rar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The first 8 bytes say which preambles are SI requests. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mac_rar_pdu pdu, again;
	uint8_t out[1 + MAC_RAPIDS * (1 + MAC_RAR_BYTES)], back[sizeof(out)];
	uint64_t si;
	int n;

	if (size < sizeof(si))
		return 0;
	memcpy(&si, data, sizeof(si));
	n = mac_rar_decode(data + sizeof(si), size - sizeof(si), si, &pdu);
	if (n < 0)
		return 0;
	/* Twice, so that what reserved bits said is gone. */
	if (mac_rar_encode(out, sizeof(out), &pdu) != n ||
	    mac_rar_decode(out, (size_t)n, si, &again) != n ||
	    mac_rar_encode(back, sizeof(back), &again) != n || memcmp(out, back, (size_t)n))
		abort();
	return 0;
}
