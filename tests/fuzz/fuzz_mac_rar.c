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
	uint8_t out[1 + MAC_RAPIDS * (1 + MAC_RAR_BYTES)];
	uint64_t si;
	int n;

	if (size < sizeof(si))
		return 0;
	memcpy(&si, data, sizeof(si));
	n = mac_rar_decode(data + sizeof(si), size - sizeof(si), si, &pdu);
	if (n < 0)
		return 0;
	if (mac_rar_encode(out, sizeof(out), &pdu) != n ||
	    mac_rar_decode(out, (size_t)n, si, &again) != n || again.nb != pdu.nb ||
	    memcmp(again.rar, pdu.rar, pdu.nb * sizeof(pdu.rar[0])))
		abort();
	return 0;
}
