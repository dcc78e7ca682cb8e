/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "codec/flow.h"
#include "codec/ip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What both decoders take they must see alike; a longer view of a packet says no less. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow f, part;
	struct ip_hdr ip;
	int n = flow_decode(data, size, &f), whole = ip_decode(data, size, &ip);
	size_t address;

	if (n >= 0 && (size_t)n > size)
		abort();
	if (size > 1 && flow_decode(data, size - 1, &part) >= 0) {
		if (n < 0 || part.proto != f.proto || part.has_ports > f.has_ports ||
		    part.has_spi > f.has_spi || memcmp(part.src, f.src, sizeof(f.src)) != 0)
			abort();
	}
	if (whole < 0 || ip.proto == 51)
		return 0;
	address = ip.version == 4 ? 4 : 16;
	if (n < 0 || f.version != ip.version || memcmp(f.src, ip.src, address) != 0 ||
	    memcmp(f.dst, ip.dst, address) != 0 || f.tos != (ip.dscp << 2 | ip.ecn) ||
	    f.flow_label != ip.flow_label)
		abort();
	/* ip_decode() passes AH by, and finds fragment headers behind it. */
	if (f.proto != 51 &&
	    (n != whole || f.proto != ip.proto || f.later != (ip.fragment_offset != 0)))
		abort();
	return 0;
}
