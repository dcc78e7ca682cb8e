/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_NFAPI_H
#define AIRPATH_CODEC_NFAPI_H

/**
 * nFAPI P7 message header and segmentation, SCF 225 (5G nFAPI) §2.3 "P7 message header".
 *
 * A message larger than a frame is cut into segments. Every segment carries the whole
 * header; message length counts that segment alone, header included. All fields are in
 * network order, and so is the FAPI body when nFAPI carries it (codec/fapi.h).
 *
 *   octet 0   PHY ID                 u16
 *         2   message ID             u16
 *         4   message length         u32   B, this segment with its header
 *         8   M (1 bit) | segment (7) | sequence (8)
 *        10   checksum               u32   CRC-32C of the segment, taken as 0; 0: not used
 *        14   transmit timestamp     u32   µs in the 10.24 s SFN period
 *
 * SCF 225 carries P7 over UDP. Here a segment lies directly in an Ethernet frame, under
 * an EtherType of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/be.h"
#include "codec/err.h"

#define NFAPI_P7_LEN 18                    /**< header length, B */
#define NFAPI_SEGMENTS_MAX 128             /**< the segment number has 7 bits */
#define NFAPI_TIMESTAMP_PERIOD_US 10240000 /**< 1024 frames of 10 ms */
#define NFAPI_ETHERTYPE 0x88B5 /**< IEEE 802 local experimental EtherType 1, the default */
#define NFAPI_ETHER_LEN 14     /**< Ethernet header before the P7 header, B */

struct nfapi_p7 {
	uint16_t phy_id;
	uint16_t message_id; /**< enum fapi_message */
	uint32_t length;     /**< B, NFAPI_P7_LEN included */
	bool more;           /**< M: further segments follow */
	uint8_t segment;     /**< 0..127 */
	uint8_t sequence;
	uint32_t checksum;     /**< 0: not used */
	uint32_t timestamp_us; /**< 0..10239999 */
};

/** Writes NFAPI_P7_LEN bytes. `h->segment` must be below NFAPI_SEGMENTS_MAX. */
static inline void
nfapi_p7_put(uint8_t *p, const struct nfapi_p7 *h)
{
	be16_put(p, h->phy_id);
	be16_put(p + 2, h->message_id);
	be32_put(p + 4, h->length);
	p[8] = (uint8_t)((h->more ? 0x80 : 0) | h->segment);
	p[9] = h->sequence;
	be32_put(p + 10, h->checksum);
	be32_put(p + 14, h->timestamp_us);
}

/**
 * Reads the header of a segment.
 * @param head bytes readable at `p`
 * @param len bytes of the whole segment, which may go on elsewhere
 * @return NFAPI_P7_LEN, -CODEC_SHORT when fewer bytes than the header or its length field
 *         needs, -CODEC_CONTRADICTION for a length below the header's own.
 */
static inline int
nfapi_p7_decode(const uint8_t *p, size_t head, size_t len, struct nfapi_p7 *h)
{
	if (head < NFAPI_P7_LEN)
		return -CODEC_SHORT;
	h->phy_id = be16_get(p);
	h->message_id = be16_get(p + 2);
	h->length = be32_get(p + 4);
	h->more = p[8] >> 7;
	h->segment = p[8] & 0x7F;
	h->sequence = p[9];
	h->checksum = be32_get(p + 10);
	h->timestamp_us = be32_get(p + 14);
	if (h->length < NFAPI_P7_LEN)
		return -CODEC_CONTRADICTION;
	return h->length > len ? -CODEC_SHORT : NFAPI_P7_LEN;
}

/** CRC-32C (Castagnoli, RFC 3720 B.4) of `len` bytes, continuing from `crc`; start with 0. */
uint32_t nfapi_crc32c(uint32_t crc, const void *data, size_t len);

/** CRC-32C of the NFAPI_P7_LEN header bytes with the checksum field taken as 0. */
uint32_t nfapi_p7_crc32c(const uint8_t *p);

/** What the checksum field says for a computed CRC: 0 is kept for "not used". */
static inline uint32_t
nfapi_checksum(uint32_t crc)
{
	return crc ? crc : UINT32_MAX;
}

#endif
