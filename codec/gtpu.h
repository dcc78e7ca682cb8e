/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AIRPATH_CODEC_GTPU_H
#define AIRPATH_CODEC_GTPU_H

/**
 * GTPv1-U header and extension headers, TS 29.281 (release 17) §5; messages and their
 * information elements are in codec/gtpu_msg.h.
 *
 *   octet 0   version (3 bits) = 1 | PT = 1 | spare | E | S | PN
 *         1   message type       u8
 *         2   length             u16  octets behind the first eight
 *         4   TEID               u32
 *         8   sequence number    u16  these four only when E, S or PN is set
 *        10   N-PDU number       u8
 *        11   next extension header type
 *
 * An extension header is its length in units of 4 octets, content, type of the next one.
 * Pure functions: any thread. A G-PDU's usual form is decoded and encoded inline.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/be.h"
#include "codec/err.h"
#include "codec/psc.h"

#define GTPU_PORT 2152
#define GTPU_HDR_BYTES 8      /**< without optional fields */
#define GTPU_HDR_OPT_BYTES 12 /**< with sequence number, N-PDU number and next type */
#define GTPU_HDR_PSC_BYTES 16 /**< with one PDU session container of QFI and flags alone */
#define GTPU_EXT_CONTENT_MAX 1018

/** Message types, table 6.1-1. */
enum gtpu_type {
	GTPU_ECHO_REQUEST = 1,
	GTPU_ECHO_RESPONSE = 2,
	GTPU_ERROR_INDICATION = 26,
	GTPU_SUPPORTED_EXTENSION_HEADERS = 31,
	GTPU_TUNNEL_STATUS = 253,
	GTPU_END_MARKER = 254,
	GTPU_G_PDU = 255,
};

/** Extension header types, figure 5.2.1-3. */
enum gtpu_ext_type {
	GTPU_EXT_NONE = 0x00,
	GTPU_EXT_LONG_PDCP_PDU_NUMBER = 0x03,
	GTPU_EXT_SERVICE_CLASS = 0x20,
	GTPU_EXT_UDP_PORT = 0x40,
	GTPU_EXT_RAN_CONTAINER = 0x81,
	GTPU_EXT_LONG_PDCP_PDU_NUMBER_OLD = 0x82,
	GTPU_EXT_XW_RAN_CONTAINER = 0x83,
	GTPU_EXT_NR_RAN_CONTAINER = 0x84,
	GTPU_EXT_PDU_SESSION_CONTAINER = 0x85,
	GTPU_EXT_PDCP_PDU_NUMBER = 0xC0,
};

struct gtpu_hdr {
	uint8_t type;    /**< enum gtpu_type, or any */
	bool e, s, pn;   /**< which of the optional fields mean something */
	uint16_t length; /**< octets behind the first GTPU_HDR_BYTES */
	uint32_t teid;
	uint16_t seq; /**< 0 unless s */
	uint8_t npdu; /**< 0 unless pn */
	uint8_t next; /**< type of the first extension header; GTPU_EXT_NONE unless e */
};

/** An extension header; `content` lies in the decoded bytes. */
struct gtpu_ext {
	uint8_t type;
	uint16_t bytes; /**< of content: without length and next type, padding included */
	const uint8_t *content;
};

/** Where a walk over the chain stands. */
struct gtpu_ext_iter {
	const uint8_t *p;
	size_t at;    /**< octets of the header behind us */
	size_t end;   /**< of the whole message */
	uint8_t next; /**< type of the header at `at` */
};

/** Who reads a chain: it decides which bits of a type ask for comprehension, figure 5.2.1-2. */
enum gtpu_reader {
	GTPU_ENDPOINT,     /**< types of 10xx.. and 11xx.. must be understood */
	GTPU_INTERMEDIATE, /**< types of 11xx.. must be understood */
};

/** What a whole chain says. The first header of a type counts. */
struct gtpu_chain {
	uint32_t hdr_bytes; /**< GTP-U header with all extension headers */
	uint8_t unknown;    /**< first type that must be understood and is not; 0: none */
	struct gtpu_ext psc;
	bool has_psc, has_udp_port;
	uint16_t udp_port; /**< source port of the G-PDU an Error Indication answers, §5.2.2.1 */
};

/**
 * Reads the header at the begin of a UDP payload of `len` octets; octets behind the message's
 * own length are not its business.
 * @return GTPU_HDR_BYTES or GTPU_HDR_OPT_BYTES; -CODEC_SHORT; -CODEC_UNSUPPORTED for another
 *         version or GTP'; -CODEC_CONTRADICTION when the length excludes the optional fields.
 */
int gtpu_hdr_decode(const uint8_t *p, size_t len, struct gtpu_hdr *h);

/** Writes the header as `h` says. @return its octets or -CODEC_SHORT. */
int gtpu_hdr_encode(uint8_t *p, size_t room, const struct gtpu_hdr *h);

/** Starts a walk over the extension headers of a message whose header was decoded. */
void gtpu_ext_open(struct gtpu_ext_iter *it, const uint8_t *p, const struct gtpu_hdr *h);

/**
 * Takes the next extension header.
 * @return 1; 0 at the end, it->at octets from the message's begin; -CODEC_SHORT beyond the
 *         message; -CODEC_CONTRADICTION for a length of 0.
 */
int gtpu_ext_next(struct gtpu_ext_iter *it, struct gtpu_ext *ext);

/**
 * Writes an extension header, content padded with zeros to 4n - 2 octets.
 * @param next type of the one behind it; its own stands in what is before it
 * @return octets, -CODEC_SHORT or -CODEC_CONTRADICTION (above GTPU_EXT_CONTENT_MAX)
 */
int gtpu_ext_encode(uint8_t *p, size_t room, const struct gtpu_ext *ext, uint8_t next);

/** @return whether the reader must understand headers of this type to use the message. */
static inline bool
gtpu_ext_must_understand(uint8_t type, enum gtpu_reader reader)
{
	return reader == GTPU_ENDPOINT ? type & 0x80 : (type & 0xC0) == 0xC0;
}

/**
 * Walks the whole chain. Types the codec has no meaning for are passed by when `understood`
 * lists them or nobody has to understand them; chain->unknown names the first other one, which
 * asks for a Supported Extension Headers Notification in place of the message's use (§7.2.3).
 * @param understood types the caller serves, as it would list them in that notification
 * @return chain->hdr_bytes, or an error of gtpu_ext_next()
 */
int gtpu_chain_decode(const uint8_t *p, const struct gtpu_hdr *h, enum gtpu_reader reader,
		      const uint8_t *understood, unsigned nb, struct gtpu_chain *chain);

#define GTPU_NO_QFI 0xFF

/** What forwarding needs of a G-PDU. */
struct gtpu_gpdu {
	uint32_t teid;
	uint32_t hdr_bytes;  /**< the T-PDU lies behind them */
	uint16_t tpdu_bytes; /**< its length, may be 0 */
	uint8_t qfi;         /**< 0..63, or GTPU_NO_QFI without a PDU session container */
	uint8_t psc_type;    /**< enum psc_type, when there is a QFI */
	bool rqi;
	uint8_t unknown; /**< as in struct gtpu_chain: then the T-PDU is not to be used */
};

/**
 * gtpu_gpdu_decode() of any form. Extension headers other than the container are passed by.
 * @return g->hdr_bytes; the errors of gtpu_hdr_decode(), gtpu_ext_next() and psc_decode();
 *         -CODEC_UNSUPPORTED for another message type too.
 */
int gtpu_gpdu_decode_any(const uint8_t *p, size_t len, enum gtpu_reader reader,
			 const uint8_t *understood, unsigned nb, struct gtpu_gpdu *g);

/** Whether the octets of a container of this size are complete and name nothing more. */
static inline bool
gtpu_psc_is_plain(uint8_t first, uint8_t second)
{
	return first == PSC_DL << 4 ? !(second & 0x80) : first == PSC_UL << 4 && !(second & 0xC0);
}

/**
 * Decodes the usual G-PDUs: no optional field, or one PDU session container of QFI and flags
 * alone, sequence numbers or not. Parameters are those of gtpu_gpdu_decode_any().
 * @return g->hdr_bytes, or 0 for everything else, good or bad.
 */
static inline int
gtpu_gpdu_decode_fast(const uint8_t *p, size_t len, struct gtpu_gpdu *g)
{
	unsigned length, hdr;

	if (len < GTPU_HDR_BYTES || p[1] != GTPU_G_PDU)
		return 0;
	length = be16_get(p + 2);
	if (len < GTPU_HDR_BYTES + length)
		return 0;
	g->teid = be32_get(p + 4);
	g->unknown = 0;
	if ((p[0] & 0xF4) == 0x34 && length >= GTPU_HDR_PSC_BYTES - GTPU_HDR_BYTES &&
	    p[11] == GTPU_EXT_PDU_SESSION_CONTAINER && p[12] == 1 && p[15] == GTPU_EXT_NONE &&
	    gtpu_psc_is_plain(p[13], p[14])) {
		hdr = GTPU_HDR_PSC_BYTES;
		g->psc_type = p[13] >> 4;
		g->qfi = p[14] & PSC_QFI_MAX;
		g->rqi = p[14] & 0x40;
	} else if ((p[0] & 0xF7) == 0x30) {
		hdr = GTPU_HDR_BYTES;
		g->psc_type = PSC_DL;
		g->qfi = GTPU_NO_QFI;
		g->rqi = false;
	} else {
		return 0;
	}
	g->hdr_bytes = hdr;
	g->tpdu_bytes = (uint16_t)(GTPU_HDR_BYTES + length - hdr);
	return (int)hdr;
}

/** Decodes a G-PDU: the fast form inline, any other one out of line. */
static inline int
gtpu_gpdu_decode(const uint8_t *p, size_t len, enum gtpu_reader reader, const uint8_t *understood,
		 unsigned nb, struct gtpu_gpdu *g)
{
	int n = gtpu_gpdu_decode_fast(p, len, g);

	return n ? n : gtpu_gpdu_decode_any(p, len, reader, understood, nb, g);
}

/** Writes the GTPU_HDR_BYTES of a G-PDU without optional fields; `tpdu_bytes` ≤ 65535. */
static inline void
gtpu_gpdu_put(uint8_t *p, uint32_t teid, uint16_t tpdu_bytes)
{
	be32_put(p, 0x30FF0000U | tpdu_bytes);
	be32_put(p + 4, teid);
}

/**
 * Writes the GTPU_HDR_PSC_BYTES of a G-PDU with a PDU session container of QFI and, in a DL
 * frame, RQI. `tpdu_bytes` ≤ 65527; `qfi` ≤ PSC_QFI_MAX.
 */
static inline void
gtpu_gpdu_psc_put(uint8_t *p, uint32_t teid, uint16_t tpdu_bytes, enum psc_type type, uint8_t qfi,
		  bool rqi)
{
	be32_put(p, 0x34FF0000U | (uint16_t)(tpdu_bytes + GTPU_HDR_PSC_BYTES - GTPU_HDR_BYTES));
	be32_put(p + 4, teid);
	be32_put(p + 8, GTPU_EXT_PDU_SESSION_CONTAINER);
	be32_put(p + 12,
		 1U << 24 | (uint32_t)type << 20 | (uint32_t)rqi << 14 | (uint32_t)qfi << 8);
}

#endif
