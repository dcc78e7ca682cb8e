/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_GTPU_MSG_H
#define AIRPATH_CODEC_GTPU_MSG_H

/** GTP-U signalling messages and their information elements, TS 29.281 §7 and §8. Pure. */

#include "codec/gtpu.h"

/** Information element types, table 8.1-1. */
enum gtpu_ie_type {
	GTPU_IE_RECOVERY = 14,
	GTPU_IE_TEID_DATA_I = 16,
	GTPU_IE_PEER_ADDRESS = 133,
	GTPU_IE_EXT_HEADER_TYPES = 141,
	GTPU_IE_TUNNEL_STATUS = 230,
	GTPU_IE_RECOVERY_TIME_STAMP = 231,
	GTPU_IE_PRIVATE_EXTENSION = 255,
};

/** Bits of struct gtpu_ies.present. */
enum gtpu_ie_present {
	GTPU_HAS_RECOVERY = 1 << 0,
	GTPU_HAS_TEID_DATA_I = 1 << 1,
	GTPU_HAS_PEER_ADDRESS = 1 << 2,
	GTPU_HAS_EXT_HEADER_TYPES = 1 << 3,
	GTPU_HAS_TUNNEL_STATUS = 1 << 4,
	GTPU_HAS_RECOVERY_TIME_STAMP = 1 << 5,
	GTPU_HAS_PRIVATE_EXTENSION = 1 << 6,
};

/** IEs of a message; pointers lie in the decoded bytes. Of repeated ones the first counts. */
struct gtpu_ies {
	uint8_t present;         /**< enum gtpu_ie_present */
	uint8_t restart_counter; /**< §8.2: 0 is sent, and nothing is made of what comes */
	uint32_t teid;           /**< §8.3 */
	uint8_t peer_bytes;      /**< §8.4: 4 or 16 */
	uint8_t peer[16];
	uint8_t nb_ext_types; /**< §8.5 */
	const uint8_t *ext_types;
	bool spoc;                    /**< §8.7: start pause of charging */
	uint32_t recovery_time_stamp; /**< §8.8, s since 1900 (RFC 5905) */
	uint16_t private_id;          /**< §8.6 */
	uint16_t private_bytes;
	const uint8_t *private_value;
};

/** A signalling message. */
struct gtpu_msg {
	struct gtpu_hdr hdr;     /**< when encoding, type, teid and seq count */
	struct gtpu_chain chain; /**< when encoding, has_udp_port, udp_port and psc */
	struct gtpu_ies ies;
};

/**
 * Writes IEs in ascending order of type.
 * @return octets; -CODEC_SHORT; -CODEC_CONTRADICTION for an address of neither 4 nor 16 octets,
 *         or a private value too long.
 */
int gtpu_ies_encode(uint8_t *p, size_t room, const struct gtpu_ies *ies);

/**
 * Reads `n` octets of IEs, in any order; unknown ones with a length are passed by.
 * @return n; -CODEC_SHORT; -CODEC_CONTRADICTION for a length no such IE has; -CODEC_UNSUPPORTED
 *         for an unknown one without length, behind which nothing can be read.
 */
int gtpu_ies_decode(const uint8_t *p, size_t n, struct gtpu_ies *ies);

/**
 * Writes a message. The header's flags, length and, but for End Marker and Tunnel Status, TEID 0
 * come from the type (§5.1, §7).
 * @return octets; -CODEC_SHORT; -CODEC_CONTRADICTION when an IE the message must have is missing
 *         or one is invalid; -CODEC_UNSUPPORTED for a G-PDU or unknown type.
 */
int gtpu_msg_encode(uint8_t *p, size_t room, const struct gtpu_msg *m);

/**
 * Reads a signalling message from a UDP payload. With m->chain.unknown set its IEs are not read.
 * @return octets of the message; the errors of gtpu_hdr_decode(), gtpu_chain_decode() and
 *         gtpu_ies_decode(); -CODEC_CONTRADICTION without a mandatory IE; -CODEC_UNSUPPORTED for
 *         a G-PDU or unknown type, with m->hdr filled in.
 */
int gtpu_msg_decode(const uint8_t *p, size_t len, enum gtpu_reader reader,
		    const uint8_t *understood, unsigned nb, struct gtpu_msg *m);

#endif
