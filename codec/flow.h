/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_FLOW_H
#define AIRPATH_CODEC_FLOW_H

/**
 * What a flow is told by: addresses, protocol, ports, ToS, SPI and flow label of an IPv4 or IPv6
 * packet. Unlike ip_decode() it looks at headers alone, of which all that it needs may be the
 * begin of the packet, and verifies no checksum.
 *
 * The protocol of an IPv6 packet is that of the first header that is neither hop-by-hop options,
 * routing, fragment nor destination options; AH and ESP are protocols with an SPI. A fragment but
 * the first has a protocol (IPv6: what its fragment header names) and nothing behind it. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow {
	uint8_t version;   /**< 4 or 6 */
	uint8_t proto;     /**< see above */
	uint8_t tos;       /**< ToS or Traffic Class, ECN included */
	bool later;        /**< a fragment but the first */
	bool has_ports;    /**< TCP, UDP, UDP-Lite, DCCP, SCTP, and they are there */
	bool has_spi;      /**< ESP, AH, and it is there */
	uint16_t ports[2]; /**< source, destination */
	uint32_t spi;
	uint32_t flow_label; /**< IPv6, 20 bits */
	uint8_t src[16];     /**< IPv4: the first four octets, others are 0 */
	uint8_t dst[16];
};

/**
 * @param len octets at `p`; the packet may be longer
 * @return octets up to the upper-layer header; -CODEC_SHORT when `len` or the packet ends before
 *         it; -CODEC_RESERVED for another version; -CODEC_CONTRADICTION for an IPv4 header
 *         shorter than it can be or longer than its packet
 */
int flow_decode(const uint8_t *p, size_t len, struct flow *f);

#endif
