/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_PDCP_H
#define AIRPATH_CODEC_PDCP_H

/**
 * PDCP headers and control PDUs, TS 38.323 §6.2.
 *
 * The hot pair, pdcp_hdr_put() and pdcp_hdr_sn(), moves a sequence number to and
 * from bytes known to be there. pdcp_decode() is for bytes nobody has looked at.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDCP_HDR_MAX 3        /**< longest Data PDU header, B */
#define PDCP_MAC_I_LEN 4      /**< §6.3.4, B */
#define PDCP_CONTROL_MAX 9000 /**< largest control PDU, §4.3.1, B */
#define PDCP_STATUS_HDR_LEN 5 /**< D/C, type, R and FMC, B */

/** The three Data PDU formats. */
enum pdcp_format {
	PDCP_SRB,    /**< §6.2.2.1: 12-bit SN, no D/C, MAC-I always */
	PDCP_DRB_12, /**< §6.2.2.2 */
	PDCP_DRB_18, /**< §6.2.2.3 */
};

/** PDU type of a control PDU, §6.3.8. */
enum pdcp_control_type {
	PDCP_STATUS_REPORT = 0,
	PDCP_ROHC_FEEDBACK = 1,
	PDCP_EHC_FEEDBACK = 2,
	PDCP_UDC_FEEDBACK = 3,
};

/** What the first octets of a PDU say. */
struct pdcp_hdr {
	bool control;                /**< D/C is 0 */
	enum pdcp_control_type type; /**< of a control PDU */
	uint32_t sn;                 /**< of a Data PDU, 0..2^sn_bits - 1 */
};

/** PDCP status report, §6.2.3.1. Bitmap points into the decoded bytes. */
struct pdcp_status {
	uint32_t fmc;          /**< COUNT of the first missing SDU */
	const uint8_t *bitmap; /**< first bit, the MSB of the first octet, is COUNT fmc + 1 */
	size_t bitmap_len;     /**< B, 0 when nothing was received beyond fmc */
};

/** @return SN length of a format, bits. */
static inline unsigned
pdcp_sn_bits(enum pdcp_format f)
{
	return f == PDCP_DRB_18 ? 18 : 12;
}

/** @return header length of a Data PDU, B. */
static inline unsigned
pdcp_hdr_len(enum pdcp_format f)
{
	return f == PDCP_DRB_18 ? 3 : 2;
}

/** Writes the header; only the low bits of `sn` that the format has are used, R is 0. */
static inline void
pdcp_hdr_put(enum pdcp_format f, uint8_t *p, uint32_t sn)
{
	uint8_t dc = f == PDCP_SRB ? 0 : 0x80;

	if (f == PDCP_DRB_18) {
		p[0] = dc | ((sn >> 16) & 0x03);
		p[1] = (uint8_t)(sn >> 8);
		p[2] = (uint8_t)sn;
	} else {
		p[0] = dc | ((sn >> 8) & 0x0f);
		p[1] = (uint8_t)sn;
	}
}

/** @return true when the PDU is a Data PDU; on an SRB it always is. */
static inline bool
pdcp_is_data(enum pdcp_format f, const uint8_t *p)
{
	return f == PDCP_SRB || (p[0] & 0x80);
}

/** @return the SN in the header of a Data PDU; reserved bits are ignored (§6.3.9). */
static inline uint32_t
pdcp_hdr_sn(enum pdcp_format f, const uint8_t *p)
{
	if (f == PDCP_DRB_18)
		return (uint32_t)(p[0] & 0x03) << 16 | (uint32_t)p[1] << 8 | p[2];
	return (uint32_t)(p[0] & 0x0f) << 8 | p[1];
}

/**
 * Decodes the header of a PDU of `len` bytes, of which at least min(len, PDCP_HDR_MAX) are at `p`.
 * @return header length, B (1 for a control PDU); -CODEC_SHORT when a Data PDU has no data behind
 *         its header; -CODEC_RESERVED for a reserved control PDU type.
 */
int pdcp_decode(enum pdcp_format f, const uint8_t *p, size_t len, struct pdcp_hdr *hdr);

/**
 * Decodes a whole status report.
 * @return bytes consumed (`len`); -CODEC_SHORT without a whole FMC; -CODEC_CONTRADICTION when it is
 *         another PDU; -CODEC_UNSUPPORTED when longer than PDCP_CONTROL_MAX.
 */
int pdcp_status_decode(const uint8_t *p, size_t len, struct pdcp_status *s);

/** Writes all of a status report but its bitmap. @return length with the bitmap, B. */
size_t pdcp_status_header(uint8_t *p, const struct pdcp_status *s);

/**
 * Encodes a status report.
 * @return bytes written; -CODEC_SHORT when they do not fit `cap`; -CODEC_UNSUPPORTED when the
 * report would be longer than PDCP_CONTROL_MAX.
 */
int pdcp_status_encode(uint8_t *p, size_t cap, const struct pdcp_status *s);

/** @return true when the report says that `count` was received; false beyond its bitmap. */
bool pdcp_status_received(const struct pdcp_status *s, uint32_t count);

#endif
