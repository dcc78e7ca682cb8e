/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_MAC_H
#define AIRPATH_CODEC_MAC_H

/**
 * NR MAC PDU (TS 38.321 §6.1.2, §6.2.1): subPDU subheaders, padding, MAC CEs.
 *
 * A logical channel is named by its index: 0..63 is the LCID itself, 64..319 a
 * one-octet eLCID, 320.. a two-octet eLCID (tables 6.2.1-1 .. 6.2.1-2b). The same
 * LCID means different things on UL-SCH and DL-SCH, so everything takes the channel.
 * Pure functions: any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/err.h"

enum mac_sch {
	MAC_UL_SCH = 0,
	MAC_DL_SCH = 1,
};

/** LCIDs that mean the same both ways. */
enum mac_lcid {
	MAC_LCID_CCCH = 0,     /**< UL: CCCH1 of 64 bits */
	MAC_LCID_MAX_SDU = 32, /**< 1..32: DCCH and DTCH */
	MAC_LCID_ELCID2 = 33,
	MAC_LCID_ELCID1 = 34,
	MAC_LCID_PADDING = 63,
};

enum mac_lcid_dl {
	MAC_DL_RECOMMENDED_BIT_RATE = 47,
	MAC_DL_SCELL_ACT_4 = 57,
	MAC_DL_SCELL_ACT_1 = 58,
	MAC_DL_LONG_DRX_COMMAND = 59,
	MAC_DL_DRX_COMMAND = 60,
	MAC_DL_TA_COMMAND = 61,
	MAC_DL_CONTENTION_RESOLUTION = 62,
};

enum mac_lcid_ul {
	MAC_UL_CCCH_48_REDCAP = 35,
	MAC_UL_CCCH_64_REDCAP = 36,
	MAC_UL_CCCH_48 = 52,
	MAC_UL_RECOMMENDED_BIT_RATE_QUERY = 53,
	MAC_UL_CONFIGURED_GRANT_CONFIRMATION = 55,
	MAC_UL_SINGLE_ENTRY_PHR = 57,
	MAC_UL_C_RNTI = 58,
	MAC_UL_SHORT_TRUNCATED_BSR = 59,
	MAC_UL_LONG_TRUNCATED_BSR = 60,
	MAC_UL_SHORT_BSR = 61,
	MAC_UL_LONG_BSR = 62,
};

#define MAC_ELCID1_BASE 64      /**< index of one-octet eLCID 0 */
#define MAC_ELCID2_BASE 320     /**< index of two-octet eLCID 0 */
#define MAC_SUBHEADER_MAX 5     /**< R/F/LCID, two-octet eLCID, 16-bit L */
#define MAC_PADDING_OCTET 0x3f  /**< R/R/LCID of padding */
#define MAC_SDU_BYTES_MAX 65535 /**< what L can say */

enum mac_kind {
	MAC_KIND_SDU,
	MAC_KIND_CE,
	MAC_KIND_PADDING, /**< all that remains of the PDU */
};

struct mac_subheader {
	uint32_t index; /**< LCID, or 64 + / 320 + eLCID */
	uint32_t bytes; /**< payload behind the subheader, B; 0 for padding */
	enum mac_kind kind;
};

/** Bytes of the subheader of an SDU or variable-sized CE with LCID 0..63: 2 up to 255 B, else 3. */
static inline uint32_t
mac_subheader_len(uint32_t bytes)
{
	return 2 + (bytes > 255);
}

/** Writes the R/F/LCID/L subheader of `bytes` (≤ 65535) of payload. @return its length, 2 or 3. */
static inline uint32_t
mac_subheader_put(uint8_t *p, uint8_t lcid, uint32_t bytes)
{
	if (bytes <= 255) {
		p[0] = lcid;
		p[1] = (uint8_t)bytes;
		return 2;
	}
	p[0] = 0x40 | lcid;
	p[1] = (uint8_t)(bytes >> 8);
	p[2] = (uint8_t)bytes;
	return 3;
}

/**
 * Writes the subheader of any SDU or CE, with eLCID where the index needs it and L where the
 * channel's table has one. @return its length or -CODEC_RESERVED, -CODEC_SHORT (room),
 * -CODEC_CONTRADICTION (payload differs from the fixed size, or exceeds 65535 B).
 */
int mac_subheader_encode(uint8_t *p, size_t room, enum mac_sch sch, uint32_t index, uint32_t bytes);

/**
 * Reads the subheader at `p`; a 16-bit L may hold a small length, reserved bits are ignored.
 * Whether the payload fits what is left is the caller's check: a TB may lie in several segments.
 * @return subheader bytes, -CODEC_SHORT or -CODEC_RESERVED.
 */
int mac_subheader_decode(const uint8_t *p, size_t n, enum mac_sch sch, struct mac_subheader *h);

#define MAC_BYTES_IN_L (-1)
/** @return payload bytes of a fixed-sized CE or UL CCCH, MAC_BYTES_IN_L, or -CODEC_RESERVED. */
int mac_fixed_bytes(enum mac_sch sch, uint32_t index);

/** Fills `n` bytes with one padding subPDU: 0x3F, then zeros (§6.1.2). n = 0 writes nothing. */
void mac_padding_put(uint8_t *p, size_t n);

/* --- MAC CE payloads, §6.1.3 ------------------------------------------------------------------ */

/** Writes a whole CE subPDU. @return bytes written or as mac_subheader_encode(). */
int mac_ce_put(uint8_t *p, size_t room, enum mac_sch sch, uint32_t index, const uint8_t *payload,
	       size_t n);

#define MAC_LCGS 8
#define MAC_BSR_BYTES_MAX 9 /**< long BSR payload with all LCGs */

/** Buffer Status Report, §6.1.3.1. */
struct mac_bsr {
	uint8_t lcid;           /**< MAC_UL_{SHORT,LONG}_{TRUNCATED_,}BSR */
	uint8_t lcgs;           /**< bit i: LCG i is reported (long truncated: has data) */
	uint8_t nb;             /**< buffer sizes carried */
	uint8_t lcg[MAC_LCGS];  /**< LCG of each carried buffer size, in wire order */
	uint8_t size[MAC_LCGS]; /**< index: 5-bit table in short formats, 8-bit table in long ones
				 */
};

/** @return payload bytes, -CODEC_SHORT (room) or -CODEC_CONTRADICTION. */
int mac_bsr_encode(uint8_t *p, size_t room, const struct mac_bsr *b);

/**
 * A long truncated BSR orders its sizes by the sender's priorities, which the bytes do not tell;
 * then lcg[] holds the reported LCGs in ascending order. @return `n` or -enum codec_err.
 */
int mac_bsr_decode(const uint8_t *p, size_t n, uint8_t lcid, struct mac_bsr *b);

/** Index of `bytes` in table 6.1.3.1-1 (5 bits) and 6.1.3.1-2 (8 bits). */
uint8_t mac_bsr_index5(uint64_t bytes);
uint8_t mac_bsr_index8(uint64_t bytes);

/** Upper edge of a level, B; UINT32_MAX for the open last one. Index 255 of 8 bits is reserved: 0.
 */
uint32_t mac_bsr_bytes5(uint8_t index);
uint32_t mac_bsr_bytes8(uint8_t index);

/** Single entry PHR, §6.1.3.8. */
struct mac_phr {
	bool p;        /**< P: power management backoff, or MPE reported */
	uint8_t ph;    /**< power headroom level 0..63 */
	uint8_t mpe;   /**< 0..3 */
	uint8_t pcmax; /**< P_CMAX,f,c level 0..63 */
};

#define MAC_PHR_BYTES 2
void mac_phr_encode(uint8_t p[MAC_PHR_BYTES], const struct mac_phr *phr);
void mac_phr_decode(const uint8_t p[MAC_PHR_BYTES], struct mac_phr *phr);

/** Timing Advance Command, §6.1.3.4. */
struct mac_ta {
	uint8_t tag; /**< TAG identity 0..3 */
	uint8_t ta;  /**< T_A index 0..63 */
};

#define MAC_TA_BYTES 1
void mac_ta_encode(uint8_t p[MAC_TA_BYTES], const struct mac_ta *ta);
void mac_ta_decode(const uint8_t p[MAC_TA_BYTES], struct mac_ta *ta);

#define MAC_C_RNTI_BYTES 2
void mac_c_rnti_encode(uint8_t p[MAC_C_RNTI_BYTES], uint16_t rnti);
uint16_t mac_c_rnti_decode(const uint8_t p[MAC_C_RNTI_BYTES]);

/** UE Contention Resolution Identity, §6.1.3.3: the first 48 bits of the UL CCCH SDU. */
#define MAC_CONTENTION_BYTES 6
void mac_contention_encode(uint8_t p[MAC_CONTENTION_BYTES], uint64_t identity);
uint64_t mac_contention_decode(const uint8_t p[MAC_CONTENTION_BYTES]);

/** SCell activation, §6.1.3.10: bit i of `cells` is C_i, i ≥ 1; `octets` is 1 or 4. */
void mac_scell_encode(uint8_t *p, unsigned octets, uint32_t cells);
uint32_t mac_scell_decode(const uint8_t *p, unsigned octets);

/** Recommended bit rate (query), §6.1.3.20. */
struct mac_bit_rate {
	uint8_t lcid; /**< logical channel 0..63 */
	bool uplink;  /**< the rate is the uplink's */
	uint8_t rate; /**< index of table 6.1.3.20-1, 0..63 */
	bool x;       /**< multiply by bitRateMultiplier */
};

#define MAC_BIT_RATE_BYTES 2
void mac_bit_rate_encode(uint8_t p[MAC_BIT_RATE_BYTES], const struct mac_bit_rate *r);
void mac_bit_rate_decode(const uint8_t p[MAC_BIT_RATE_BYTES], struct mac_bit_rate *r);

#endif
