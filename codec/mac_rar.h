/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_MAC_RAR_H
#define AIRPATH_CODEC_MAC_RAR_H

/** MAC PDU of a Random Access Response, TS 38.321 §6.1.5, §6.2.2, §6.2.3. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/err.h"

#define MAC_RAPIDS 64   /**< random access preambles */
#define MAC_RAR_BYTES 7 /**< MAC RAR, without its subheader */
#define MAC_RAR_GRANT_MAX 0x7FFFFFFU

struct mac_rar {
	uint8_t rapid;     /**< preamble, 0..63 */
	bool si;           /**< only acknowledges an SI request: the rest is absent */
	uint16_t tac;      /**< timing advance command, 0..3846, 12 bits */
	uint32_t ul_grant; /**< TS 38.213 table 8.2-1, 27 bits */
	uint16_t tc_rnti;  /**< Temporary C-RNTI */
};

struct mac_rar_pdu {
	bool has_bi;
	uint8_t bi;  /**< backoff indicator, index of table 7.2-1, 0..15 */
	unsigned nb; /**< responses */
	struct mac_rar rar[MAC_RAPIDS];
};

/** @return bytes written, -CODEC_SHORT (room) or -CODEC_CONTRADICTION (a value out of range). */
int mac_rar_encode(uint8_t *p, size_t room, const struct mac_rar_pdu *pdu);

/**
 * @param si bit i: preamble i is an SI request, its subPDU has no MAC RAR
 * @return bytes read, what follows is padding; -CODEC_SHORT, -CODEC_CONTRADICTION (a backoff
 *         indicator that is not first), -CODEC_UNSUPPORTED (more than MAC_RAPIDS responses)
 */
int mac_rar_decode(const uint8_t *p, size_t n, uint64_t si, struct mac_rar_pdu *pdu);

#endif
