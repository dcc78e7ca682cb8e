/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "codec/ip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Decodes the way a port does: Ethernet, IP, UDP. What has no options must encode to itself. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eth_hdr eth;
	struct ip_hdr ip;
	struct udp_hdr udp;
	uint8_t out[IP6_HDR_BYTES];
	int eth_bytes = eth_decode(data, size, &eth);
	const uint8_t *p = eth_bytes < 0 ? data : data + eth_bytes;
	size_t len = eth_bytes < 0 ? size : size - (size_t)eth_bytes;
	int ip_bytes = ip_decode(p, len, &ip);

	if (ip_bytes < 0)
		return 0;
	if ((size_t)ip_bytes > ip.bytes || ip.bytes > len)
		abort();
	if (ip_bytes == (ip.version == 4 ? IP4_HDR_BYTES : IP6_HDR_BYTES)) {
		if (ip_encode(out, sizeof(out), &ip) != ip_bytes)
			abort();
		/* IPv4 flag bit 0 is reserved and not kept; a zero sum has two encodings. */
		if (ip.version == 6 && memcmp(out, p, (size_t)ip_bytes) != 0)
			abort();
	}
	if (ip.proto == IP_PROTO_UDP &&
	    udp_decode(p + ip_bytes, ip.bytes - (uint32_t)ip_bytes, &udp) > 0)
		(void)udp_checksum_ok(&ip, p + ip_bytes, udp.bytes);
	return 0;
}
