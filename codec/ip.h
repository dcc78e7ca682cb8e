/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_IP_H
#define AIRPATH_CODEC_IP_H

/**
 * Ethernet II, IPv4 (RFC 791), IPv6 (RFC 8200) and UDP (RFC 768) headers and the
 * Internet checksum (RFC 1071, RFC 1624).
 *
 * Structs hold host byte order, but for addresses, which stay bytes on the wire.
 * Sums are taken over the words as they lie in memory: the Internet checksum does
 * not depend on byte order as long as words are read and written the same way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ETH_HDR_BYTES 14
#define IP4_HDR_BYTES 20 /**< without options */
#define IP6_HDR_BYTES 40 /**< without extension headers */
#define UDP_HDR_BYTES 8

#define ETH_TYPE_IP4 0x0800
#define ETH_TYPE_ARP 0x0806
#define ETH_TYPE_IP6 0x86dd

#define IP_PROTO_TCP 6
#define IP_PROTO_UDP 17

struct eth_hdr {
	uint8_t dst[6];
	uint8_t src[6];
	uint16_t type; /**< EtherType, ≥ 0x0600 */
};

struct ip_hdr {
	uint8_t version;    /**< 4 or 6 */
	uint8_t proto;      /**< upper-layer protocol; IPv6: behind the extension headers */
	uint8_t dscp;       /**< 0..63 */
	uint8_t ecn;        /**< 0..3 */
	uint8_t ttl;        /**< IPv6: hop limit */
	bool dont_fragment; /**< IPv4 DF */
	bool more_fragments;
	uint16_t fragment_offset; /**< B, a multiple of 8 */
	uint16_t id;              /**< IPv4 Identification */
	uint32_t flow_label;      /**< IPv6, 20 bits */
	uint32_t bytes;  /**< whole packet with this header; at most 65535 (IPv4), 65575 (IPv6) */
	uint8_t src[16]; /**< IPv4 uses the first four */
	uint8_t dst[16];
};

struct udp_hdr {
	uint16_t src_port;
	uint16_t dst_port;
	uint16_t bytes;    /**< header and payload, ≥ 8 */
	uint16_t checksum; /**< as in memory; 0: none */
};

/** @return ETH_HDR_BYTES; -CODEC_SHORT; -CODEC_UNSUPPORTED for an 802.3 length field. */
int eth_decode(const uint8_t *p, size_t len, struct eth_hdr *h);

/** @return ETH_HDR_BYTES, or -CODEC_SHORT when `len` is less. */
int eth_encode(uint8_t *p, size_t len, const struct eth_hdr *h);

/**
 * Decodes an IPv4 or IPv6 header with its options or extension headers, and verifies the
 * IPv4 header checksum. Bytes after the packet (Ethernet padding) are allowed.
 * @return length of all headers; -CODEC_SHORT when `len` ends before the header or before the
 *         packet it announces; -CODEC_RESERVED for a version other than 4 and 6;
 *         -CODEC_CONTRADICTION when lengths or the checksum cannot be true;
 *         -CODEC_UNSUPPORTED for an IPv6 jumbogram (RFC 2675).
 */
int ip_decode(const uint8_t *p, size_t len, struct ip_hdr *h);

/**
 * Encodes an IPv4 or IPv6 header without options or extension headers.
 * @return header length; -CODEC_SHORT when it does not fit in `len`; -CODEC_CONTRADICTION when
 *         h->bytes is no packet length; -CODEC_UNSUPPORTED for a version other than 4 and 6, or
 *         an IPv6 fragment.
 */
int ip_encode(uint8_t *p, size_t len, const struct ip_hdr *h);

/** @return UDP_HDR_BYTES; -CODEC_SHORT when `len` cuts the datagram; -CODEC_CONTRADICTION. */
int udp_decode(const uint8_t *p, size_t len, struct udp_hdr *h);

/** @return UDP_HDR_BYTES, or -CODEC_SHORT. */
int udp_encode(uint8_t *p, size_t len, const struct udp_hdr *h);

/** Adds `len` bytes to a running sum; an odd length only in the last piece. */
uint64_t ip_sum(uint64_t sum, const void *p, size_t len);

/** Sum of the pseudo header over addresses, length and protocol (RFC 768, RFC 8200 §8.1). */
uint64_t ip_pseudo_sum(const struct ip_hdr *h, uint32_t upper_bytes);

/**
 * Checksum of a UDP datagram whose checksum field is not yet filled in or holds what arrived.
 * @param p datagram of h's packet, `len` its length from the UDP header
 * @return value for the field when it was 0 before (0 itself becomes 0xffff, RFC 768);
 *         udp_checksum_ok() is the other way round
 */
uint16_t udp_checksum(const struct ip_hdr *h, const uint8_t *p, size_t len);

/** @return whether the datagram's checksum holds; one without a checksum holds over IPv4 only. */
bool udp_checksum_ok(const struct ip_hdr *h, const uint8_t *p, size_t len);

/** ip_sum() of `words` times 4 bytes, for the fast path: unrolled where `words` is a constant. */
static inline uint64_t
ip_sum_words(uint64_t sum, const void *p, unsigned words)
{
	for (unsigned i = 0; i < words; i++) {
		uint32_t word;

		memcpy(&word, (const uint8_t *)p + i * sizeof(word), sizeof(word));
		sum += word;
	}
	return sum;
}

/** Folds a running sum to 16 bits, not complemented. */
static inline uint16_t
ip_sum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/** @return checksum of `len` bytes, as it is stored. */
static inline uint16_t
ip_checksum(const void *p, size_t len)
{
	return (uint16_t)~ip_sum_fold(ip_sum(0, p, len));
}

/** RFC 1624 eqn. 3: checksum after one 16-bit word changed; all three as in memory. */
static inline uint16_t
ip_checksum_update(uint16_t checksum, uint16_t was, uint16_t is)
{
	return (uint16_t)~ip_sum_fold((uint64_t)(uint16_t)~checksum + (uint16_t)~was + is);
}

/** @return EtherType for an IP version, 0 when it is neither 4 nor 6. */
static inline uint16_t
ip_eth_type(uint8_t version)
{
	return version == 4 ? ETH_TYPE_IP4 : version == 6 ? ETH_TYPE_IP6 : 0;
}

/** @return DSCP of the packet at `p`, of which at least 2 bytes of version 4 or 6 are there. */
static inline uint8_t
ip_dscp(const uint8_t *p)
{
	return p[0] >> 4 == 4 ? p[1] >> 2 : (uint8_t)((p[0] & 0x0f) << 2 | p[1] >> 6);
}

/** Rewrites the DSCP in place (RFC 2474), keeping ECN and the IPv4 checksum right. */
void ip_set_dscp(uint8_t *p, uint8_t dscp);

static inline uint16_t
ip_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void
ip_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

#endif
