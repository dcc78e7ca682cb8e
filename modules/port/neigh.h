/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_MODULES_NEIGH_H
#define AIRPATH_MODULES_NEIGH_H

/**
 * Answers a host that looks for the link address of a host behind the radio: ARP
 * (RFC 826, RFC 5227) and neighbour solicitations (RFC 4861), for every address but
 * the asker's own. Pure functions over a frame.
 */

#include <stdbool.h>
#include <stdint.h>

/** Longest answer, B: an ARP answer keeps its request's length. */
#define NEIGH_NA_BYTES 86

/** @return whether an IPv6 packet of `len` bytes belongs to neighbour or router discovery. */
static inline bool
neigh_is_nd(const uint8_t *ip6, uint32_t len)
{
	/* ICMPv6 types 133 (router solicitation) .. 137 (redirect), never forwarded. */
	return len > 40 && ip6[6] == 58 && ip6[40] >= 133 && ip6[40] <= 137;
}

/**
 * Turns an ARP request into its answer.
 * @param frame with its Ethernet header, `len` bytes
 * @param mac six bytes the asker shall send to
 * @return false, frame untouched, when no answer is due: not a well-formed request, a probe or
 *         an announcement
 */
bool neigh_answer_arp(uint8_t *frame, uint32_t len, const uint8_t *mac);

/**
 * Turns a neighbour solicitation into an advertisement of NEIGH_NA_BYTES.
 * @param frame with its Ethernet header, `len` bytes, in a buffer of at least NEIGH_NA_BYTES
 * @return false, frame untouched, when no answer is due: not valid by RFC 4861 §7.1.1, or
 *         duplicate address detection
 */
bool neigh_answer_nd(uint8_t *frame, uint32_t len, const uint8_t *mac);

#endif
