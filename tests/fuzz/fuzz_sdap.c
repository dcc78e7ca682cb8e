/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "codec/sdap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What decodes must encode to the same octet, but for the reserved uplink bit. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sdap_ul_hdr ul;
	struct sdap_dl_hdr dl;

	if (sdap_ul_decode(data, size, &ul) > 0) {
		uint8_t octet = ul.control ? sdap_end_marker_octet(ul.qfi) : sdap_ul_octet(ul.qfi);

		if (octet != (data[0] & 0xbf))
			abort();
	}
	if (sdap_dl_decode(data, size, &dl) > 0 && sdap_dl_octet(dl.rdi, dl.rqi, dl.qfi) != data[0])
		abort();
	return 0;
}
