/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_RLC_H
#define AIRPATH_CODEC_RLC_H

/**
 * RLC PDU formats, TS 38.322 §6.2. A TMD PDU has no header, so nothing of it is here.
 *
 * Decoders are pure: bytes in, fields out, length of the header as the result or
 * -(enum codec_err). Reserved bits are written as 0 and ignored on receive (§6.1).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/err.h"

/** sn-FieldLength, bits. UM has 6 and 12, AM has 12 and 18. */
enum rlc_sn_len {
	RLC_SN_6 = 6,
	RLC_SN_12 = 12,
	RLC_SN_18 = 18,
};

/** Segmentation info, TS 38.322 table 6.2.3.4-1. */
enum rlc_si {
	RLC_SI_COMPLETE = 0,
	RLC_SI_FIRST = 1,
	RLC_SI_LAST = 2,
	RLC_SI_MIDDLE = 3,
};

#define RLC_UMD_COMPLETE_LEN 1 /**< header of a complete UM SDU: SI and reserved bits, no SN */
#define RLC_UMD_HEADER_MAX 4
#define RLC_AMD_HEADER_MAX 5
#define RLC_SO_MAX 0xffff
#define RLC_STATUS_HEADER_LEN 3
#define RLC_STATUS_SO_END 0xffff /**< SOend: up to and including the last byte of the SDU */
#define RLC_STATUS_RANGE_MAX 255

static inline uint32_t
rlc_sn_mask(enum rlc_sn_len bits)
{
	return (1U << bits) - 1;
}

/* --- UMD PDU, §6.2.2.3 ------------------------------------------------------------------------ */

struct rlc_umd {
	enum rlc_si si;
	uint16_t sn; /**< 0 and not on the wire when si is complete */
	uint16_t so; /**< B; on the wire for last and middle only */
};

/** The header of a complete SDU is one zero byte; its six low bits are reserved. */
static inline bool
rlc_umd_is_complete(uint8_t first_byte)
{
	return (first_byte & 0xc0) == 0;
}

/** @return bytes of the header: 1 to 4. */
static inline unsigned
rlc_umd_len(enum rlc_si si, enum rlc_sn_len bits)
{
	if (si == RLC_SI_COMPLETE)
		return RLC_UMD_COMPLETE_LEN;
	return (bits == RLC_SN_6 ? 1 : 2) + (si == RLC_SI_FIRST ? 0 : 2);
}

/** @return bytes written, or -CODEC_SHORT when `cap` is too small. */
int rlc_umd_encode(uint8_t *buf, size_t cap, enum rlc_sn_len bits, const struct rlc_umd *h);

/**
 * @return header length, -CODEC_SHORT, or -CODEC_CONTRADICTION: a last or middle
 * segment that claims to start at byte 0.
 */
int rlc_umd_decode(const uint8_t *buf, size_t len, enum rlc_sn_len bits, struct rlc_umd *h);

/* --- AMD PDU, §6.2.2.4 ------------------------------------------------------------------------ */

struct rlc_amd {
	bool p; /**< polling bit */
	enum rlc_si si;
	uint32_t sn;
	uint16_t so; /**< B; on the wire for last and middle only */
};

/** D/C bit of the first byte: control PDU, that is STATUS. */
static inline bool
rlc_am_is_control(uint8_t first_byte)
{
	return (first_byte & 0x80) == 0;
}

/** @return bytes of the header: 2 to 5. */
static inline unsigned
rlc_amd_len(enum rlc_si si, enum rlc_sn_len bits)
{
	return (bits == RLC_SN_12 ? 2 : 3) + (si == RLC_SI_LAST || si == RLC_SI_MIDDLE ? 2 : 0);
}

/** @return bytes written, or -CODEC_SHORT when `cap` is too small. */
int rlc_amd_encode(uint8_t *buf, size_t cap, enum rlc_sn_len bits, const struct rlc_amd *h);

/**
 * The poll bit is valid in `h` also when the result is -CODEC_CONTRADICTION (last or
 * middle segment at byte 0). @return header length, -CODEC_SHORT, -CODEC_CONTRADICTION,
 * or -CODEC_UNSUPPORTED for a control PDU.
 */
int rlc_amd_decode(const uint8_t *buf, size_t len, enum rlc_sn_len bits, struct rlc_amd *h);

/* --- STATUS PDU, §6.2.2.5 --------------------------------------------------------------------- */

/** What is missing: `range` SDUs from `sn` on, or with `has_so` a part of them. */
struct rlc_nack {
	uint32_t sn;
	uint16_t so_start; /**< first missing byte of SDU `sn` */
	uint16_t so_end;   /**< last missing byte of SDU `sn + range - 1`, or RLC_STATUS_SO_END */
	bool has_so;
	uint8_t range; /**< 1..255 */
};

/** Where an E1 bit is, to be set once another NACK follows. */
struct rlc_status_e1 {
	size_t offset;
	uint8_t mask;
};

/** Builds a STATUS PDU in place; all fields belong to the functions below. */
struct rlc_status_builder {
	uint8_t *buf;
	size_t cap;
	size_t len;
	enum rlc_sn_len bits;
	struct rlc_status_e1 e1;       /* of the last element */
	struct rlc_status_e1 group_e1; /* of the last element before the group */
	size_t group_start; /* first byte of the NACKs that share an SN with the newest one */
	uint32_t group_sn;
	uint32_t last_sn;
	bool any;
	bool trimmed;
};

/** @param cap limit in bytes, the grant. @return 0, or -CODEC_SHORT below 3 bytes. */
int rlc_status_start(struct rlc_status_builder *b, uint8_t *buf, size_t cap, enum rlc_sn_len bits);

/**
 * Adds one NACK; they come in ascending SN, then SO. When it does not fit, every NACK
 * of its SN goes too, for the peer takes what is not NACKed below ACK_SN as received.
 * @return false when the PDU is full; later calls do nothing.
 */
bool rlc_status_add(struct rlc_status_builder *b, const struct rlc_nack *nack);

/**
 * Writes ACK_SN: `ack_sn`, or the first SN left out when the PDU was trimmed (§5.3.4).
 * @return bytes of the PDU.
 */
size_t rlc_status_finish(struct rlc_status_builder *b, uint32_t ack_sn);

/** Walks the NACKs of a STATUS PDU. */
struct rlc_status_iter {
	const uint8_t *buf;
	size_t len;
	size_t offset;
	enum rlc_sn_len bits;
	uint32_t ack_sn; /**< valid after rlc_status_open() */
	bool more;
};

/** @return 3, -CODEC_SHORT, -CODEC_UNSUPPORTED (a data PDU) or -CODEC_RESERVED (CPT not 0). */
int rlc_status_open(struct rlc_status_iter *it, const uint8_t *buf, size_t len,
		    enum rlc_sn_len bits);

/**
 * @return bytes of the NACK read into `nack`, 0 after the last one, -CODEC_SHORT, or
 * -CODEC_CONTRADICTION: a range of 0, or SOstart after SOend within one SDU.
 */
int rlc_status_next(struct rlc_status_iter *it, struct rlc_nack *nack);

#endif
