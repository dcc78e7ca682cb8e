/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "codec/ip.h"
#include "modules/port/neigh.h"

#define ARP_BYTES 28
#define NS_BYTES 24 /**< without options */
#define NA_BYTES 32 /**< with the target link-layer address option */
#define ND_SOLICIT 135
#define ND_ADVERT 136
#define ND_TARGET_ADDRESS 2 /**< option type, RFC 4861 §4.6.1 */
#define ICMP6 58

/** Ethernet: back to the asker. */
static void
turn_ethernet(uint8_t *frame, const uint8_t *mac)
{
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, mac, 6);
}

bool
neigh_answer_arp(uint8_t *frame, uint32_t len, const uint8_t *mac)
{
	/* Ethernet, IPv4, address lengths 6 and 4, request (RFC 826). */
	static const uint8_t request[8] = {0, 1, 8, 0, 6, 4, 0, 1};
	static const uint8_t none[4] = {0};
	uint8_t *arp = frame + ETH_HDR_BYTES;
	uint8_t *sha = arp + 8, *spa = arp + 14, *tha = arp + 18, *tpa = arp + 24;
	uint8_t target[4];

	if (len < ETH_HDR_BYTES + ARP_BYTES || memcmp(arp, request, sizeof(request)) != 0)
		return false;
	/* A probe asks whether an address is free, an announcement is of its own (RFC 5227 §1.1).
	 */
	if (memcmp(spa, none, 4) == 0 || memcmp(spa, tpa, 4) == 0)
		return false;
	arp[7] = 2;
	memcpy(target, tpa, 4);
	memcpy(tha, sha, 6);
	memcpy(tpa, spa, 4);
	memcpy(sha, mac, 6);
	memcpy(spa, target, 4);
	turn_ethernet(frame, mac);
	return true;
}

/** ICMPv6 checksum over the pseudo header of `ip6` (RFC 4443 §2.3), as stored. */
static uint16_t
icmp6_checksum(const uint8_t *ip6, const uint8_t *icmp, uint16_t bytes)
{
	uint64_t sum = ip_sum(0, ip6 + 8, 32);

	sum += htons(bytes) + (uint64_t)htons(ICMP6);
	return (uint16_t)~ip_sum_fold(ip_sum(sum, icmp, bytes));
}

/** RFC 4861 §7.1.1, and that the asker has an address and does not ask for it. */
static bool
solicit_valid(const uint8_t *ip6, uint32_t len)
{
	static const uint8_t unspecified[16] = {0};
	const uint8_t *icmp = ip6 + IP6_HDR_BYTES, *target = icmp + 8;
	uint16_t bytes;

	if (len < IP6_HDR_BYTES + NS_BYTES || ip6[0] >> 4 != 6 || ip6[6] != ICMP6)
		return false;
	bytes = ip_get16(ip6 + 4);
	/* - The IP Hop Limit field has a value of 255. */
	if (ip6[7] != 255)
		return false;
	/* - ICMP Checksum is valid; ICMP Code is 0; ICMP length is 24 or more octets. */
	if (bytes < NS_BYTES || bytes > len - IP6_HDR_BYTES ||
	    icmp6_checksum(ip6, icmp, bytes) != 0 || icmp[0] != ND_SOLICIT || icmp[1] != 0)
		return false;
	/* - Target Address is not a multicast address. */
	if (target[0] == 0xff)
		return false;
	/* - All included options have a length that is greater than zero. */
	for (uint32_t at = NS_BYTES; at < bytes; at += icmp[at + 1] * 8u)
		if (at + 2 > bytes || icmp[at + 1] == 0)
			return false;
	/* The unspecified source is duplicate address detection (RFC 4862 §5.4.2). */
	return memcmp(ip6 + 8, unspecified, 16) != 0 && memcmp(ip6 + 8, target, 16) != 0;
}

bool
neigh_answer_nd(uint8_t *frame, uint32_t len, const uint8_t *mac)
{
	uint8_t *ip6 = frame + ETH_HDR_BYTES, *icmp = ip6 + IP6_HDR_BYTES;
	uint16_t sum;

	if (len < ETH_HDR_BYTES || !solicit_valid(ip6, len - ETH_HDR_BYTES))
		return false;
	ip_put16(ip6 + 4, NA_BYTES);
	memcpy(ip6 + 24, ip6 + 8, 16);
	memcpy(ip6 + 8, icmp + 8, 16);
	/* Solicited; a proxy leaves the Override flag zero (RFC 4861 §7.2.8). */
	memcpy(icmp, (const uint8_t[8]){ND_ADVERT, 0, 0, 0, 0x40, 0, 0, 0}, 8);
	icmp[24] = ND_TARGET_ADDRESS;
	icmp[25] = 1;
	memcpy(icmp + 26, mac, 6);
	sum = icmp6_checksum(ip6, icmp, NA_BYTES);
	memcpy(icmp + 2, &sum, 2);
	turn_ethernet(frame, mac);
	return true;
}
