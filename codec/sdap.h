/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_SDAP_H
#define AIRPATH_CODEC_SDAP_H

/**
 * SDAP headers, TS 37.324 §6.2.
 *
 * One octet in both directions, but not the same one: uplink is D/C, R, QFI;
 * downlink is RDI, RQI, QFI and knows no control PDU. A PDU without a header
 * (§6.2.2.1) is the SDU itself and needs no codec. All of it is hot, so it is inline;
 * decoders take the length of the whole PDU and read its first octet alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/err.h"

#define SDAP_HDR_LEN 1  /**< data header and end-marker alike, B */
#define SDAP_QFI_MAX 63 /**< TS 37.324 §6.3.4: 6 bits */

/** Uplink header, §6.2.2.3, or end-marker control PDU, §6.2.3. */
struct sdap_ul_hdr {
	bool control; /**< D/C is 0: an end-marker, no SDU behind */
	uint8_t qfi;  /**< 0..63 */
};

/** Downlink header, §6.2.2.2. */
struct sdap_dl_hdr {
	bool rdi;    /**< §6.3.3: QoS flow to DRB mapping is to be reflected */
	bool rqi;    /**< §6.3.5: the SDF to QoS flow mapping is to be reflected */
	uint8_t qfi; /**< 0..63 */
};

/** @return the header octet of an uplink data PDU. */
static inline uint8_t
sdap_ul_octet(uint8_t qfi)
{
	return 0x80 | (qfi & SDAP_QFI_MAX);
}

/** @return the octet which is a downlink header. */
static inline uint8_t
sdap_dl_octet(bool rdi, bool rqi, uint8_t qfi)
{
	return (uint8_t)(rdi << 7 | rqi << 6 | (qfi & SDAP_QFI_MAX));
}

/** @return the octet which is a whole end-marker control PDU. */
static inline uint8_t
sdap_end_marker_octet(uint8_t qfi)
{
	return qfi & SDAP_QFI_MAX;
}

/**
 * Decodes what an uplink receiver (gNB) got. The reserved bit is ignored (§6.3.1).
 * @return bytes consumed (SDAP_HDR_LEN); -CODEC_SHORT when empty, or a data PDU has no SDU;
 *         -CODEC_CONTRADICTION when bytes follow an end-marker.
 */
static inline int
sdap_ul_decode(const uint8_t *p, size_t len, struct sdap_ul_hdr *hdr)
{
	if (len < SDAP_HDR_LEN)
		return -CODEC_SHORT;
	hdr->control = !(p[0] & 0x80);
	hdr->qfi = p[0] & SDAP_QFI_MAX;
	if (hdr->control)
		return len > SDAP_HDR_LEN ? -CODEC_CONTRADICTION : SDAP_HDR_LEN;
	return len == SDAP_HDR_LEN ? -CODEC_SHORT : SDAP_HDR_LEN;
}

/**
 * Decodes what a downlink receiver (UE) got.
 * @return bytes consumed (SDAP_HDR_LEN); -CODEC_SHORT when no SDU follows the header.
 */
static inline int
sdap_dl_decode(const uint8_t *p, size_t len, struct sdap_dl_hdr *hdr)
{
	if (len <= SDAP_HDR_LEN)
		return -CODEC_SHORT;
	hdr->rdi = p[0] & 0x80;
	hdr->rqi = p[0] & 0x40;
	hdr->qfi = p[0] & SDAP_QFI_MAX;
	return SDAP_HDR_LEN;
}

#endif
